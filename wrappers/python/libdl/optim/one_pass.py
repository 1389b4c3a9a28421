# SPDX-License-Identifier: Apache-2.0
"""Steps of all parameters of a group in one call, whatever their dtypes and layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _C, _functions as F
from .._C import Tensor
from .._errors import ArgumentValueError, DtypeError
from .._functions import view_as_real
from .._modes import no_grad
from .._sparse import sparse_coo_tensor
from .._types import DtypeLike, float32, float64
from .optimizer import Optimizer
from .options import scalar

_IN_PLACE = (float32, float64)


class OnePassOptimizer(Optimizer):
    """Optimizers whose step is one call of C with the parameters' gradients and states."""

    _scalars: tuple[str, ...] = ("step",)
    _slots: tuple[str, ...] = ()  # the states, in the order of _init_group's lists
    _of_one_dtype: tuple[str, ...] = ()  # those that must have the gradient's dtype

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        """Fills in a parameter's state before its first step."""
        state["step"] = scalar(0.0)
        for name in self._names(group):
            state[name] = F.zeros_like(param)

    def _names(self, group: dict[str, Any]) -> list[str]:
        """The states of a parameter's shape, in the order in which C takes them."""
        raise NotImplementedError

    def _advance(self, state: dict[str, Any], group: dict[str, Any]) -> Any:
        """Counts a step; parameters with equal numbers are stepped by one call."""
        state["step"] += 1
        return state["step"].item()

    def _call(
        self, group: dict[str, Any], numbers: object, params: Any, grads: object, lists: list[Any]
    ) -> None:
        raise NotImplementedError

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        *lists: list[Any],
    ) -> bool:
        """Fills in the parameters that have a gradient, their gradients and states. A subclass may
        leave some out, or hand out others. Returns whether one of them is complex."""
        used = {*self._names(group), *self._scalars}
        for param in group["params"]:
            if param.grad is None:
                continue
            params_with_grad.append(param)
            grads.append(param.grad)
            state = self.state[param]
            if not state:
                self._begin(state, param, group)
            for name, entries in zip(self._slots, lists, strict=True):
                if name in used:
                    entries.append(state[name])
        return any(param.is_complex() for param in params_with_grad)

    def _step_group(self, group: dict[str, Any]) -> None:
        params: list[Tensor] = []
        grads: list[Tensor] = []
        lists: list[list[Any]] = [[] for _ in self._slots]
        self._init_group(group, params, grads, *lists)
        self._step_lists(group, params, grads, lists)

    def _step_lists(
        self,
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        lists: list[list[Any]],
    ) -> None:
        slots = dict(zip(self._slots, lists, strict=True))
        self._check_dtypes(grads, slots)
        parts: dict[Any, list[int]] = {}
        for i in range(len(params)):
            state = {name: entries[i] for name, entries in slots.items() if entries}
            parts.setdefault(self._advance(state, group), []).append(i)
        names = self._names(group)
        for numbers, part in parts.items():

            def run(some: Any, grads: Any, lists: Any, numbers: Any = numbers) -> None:
                self._call(group, numbers, some, grads, lists)

            in_one_pass(
                [params[i] for i in part],
                [grads[i] for i in part],
                run,
                [[slots[name][i] for i in part] for name in names],
            )

    def _check_dtypes(self, grads: list[Tensor], slots: dict[str, list[Any]]) -> None:
        for name in self._of_one_dtype:
            for i, entry in enumerate(slots[name]):
                if entry.dtype is not grads[i].dtype:
                    raise DtypeError(
                        f"{type(self).__name__}: the state {name!r} of parameter {i} is "
                        f"{entry.dtype}, wanted {grads[i].dtype}, as its gradient: was the model "
                        "converted after the first step?"
                    )


def step_lists(
    kind: type[OnePassOptimizer],
    group: dict[str, Any],
    params: list[Tensor],
    grads: list[Tensor],
    *lists: list[Any],
) -> None:
    """A step of an optimizer that is not there: the parameters and states are in lists."""
    with no_grad():
        kind.__new__(kind)._step_lists(group, params, grads, list(lists))


def in_one_pass(
    params: list[Tensor], grads: list[Tensor], run: Callable[..., None], lists: list[list[Tensor]]
) -> None:
    """Calls run(params, gradients, lists) once for the parameters that C can write in place. For
    others (other or mixed dtypes, not row-major) it uses float32 or float64 copies and copies them
    back. What shares memory is stepped one after the other."""
    plain = [
        i
        for i, p in enumerate(params)
        if p.dtype in _IN_PLACE
        and p.is_contiguous()
        and all(entries[i].is_contiguous() and entries[i].dtype is p.dtype for entries in lists)
    ]

    def step(places: list[int]) -> None:
        chosen = [params[i] for i in places]
        run(chosen, [_in_rows(grads[i]) for i in places], [[e[i] for i in places] for e in lists])

    def step_one(i: int) -> None:
        if i in plain:
            step([i])
        else:
            _by_copies(params[i], grads[i], run, [entries[i] for entries in lists])

    every = range(len(params))
    if len(plain) < len(params) and shares_memory(params, lists):
        for i in every:
            step_one(i)
        return
    if plain:
        try:
            step(plain)
        except ArgumentValueError:  # before anything is written
            if not shares_memory(params, lists):
                raise
            for i in plain:
                step([i])
    for i in sorted(set(every) - set(plain)):
        step_one(i)


def shares_memory(params: list[Tensor], lists: list[list[Tensor]]) -> bool:
    """Whether two of them have one memory."""
    tensors = [tensor for entries in (params, *lists) for tensor in entries]
    return len({_C.tensor_storage_id(tensor) for tensor in tensors}) < len(tensors)


def _in_rows(gradient: Tensor) -> Tensor:
    return gradient if gradient.is_contiguous() else gradient.contiguous()


def _copied(view: Tensor, kind: DtypeLike) -> Tensor:
    """The view in row-major order as another dtype; the view itself where it is both."""
    if view.is_sparse:
        return sparse_coo_tensor(view.indices(), view.values().to(kind), view.shape)
    return view.to(kind).contiguous()


def _by_copies(
    param: Tensor, grad: Tensor, run: Callable[..., None], entries: list[Tensor]
) -> None:
    views = [param.detach(), grad, *entries]
    if param.dtype.is_complex:
        views = [view_as_real(t) for t in views]
    kind = float64 if any(view.dtype is float64 for view in views) else float32
    copies = [_copied(view.detach(), kind) for view in views]
    run([copies[0]], [copies[1]], [[copy] for copy in copies[2:]])
    for i, view in enumerate(views):
        if i != 1 and copies[i] is not view:
            view.detach().copy_(copies[i])
