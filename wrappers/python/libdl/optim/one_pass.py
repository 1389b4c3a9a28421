# SPDX-License-Identifier: Apache-2.0
"""Steps of all parameters of a group in one call, whatever their dtypes and layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._functions import view_as_real
from .._sparse import sparse_coo_tensor
from .._types import float32, float64
from .optimizer import Optimizer
from .options import scalar

_IN_PLACE = (float32, float64)


class OnePassOptimizer(Optimizer):
    """Optimizers whose step is one call of C with the parameters' gradients and states."""

    _scalars: tuple[str, ...] = ("step",)

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

    def _call(self, group: dict[str, Any], numbers: Any, params: Any, grads: Any,
              lists: list[Any]) -> None:  # fmt: skip
        raise NotImplementedError

    def _step(self, group: dict[str, Any], params: list[Tensor]) -> None:
        parts: dict[Any, list[Tensor]] = {}
        for param in params:
            state = self.state[param]
            if not state:
                self._begin(state, param, group)
            parts.setdefault(self._advance(state, group), []).append(param)
        names = self._names(group)
        for numbers, part in parts.items():

            def run(some: Any, grads: Any, lists: Any, numbers: Any = numbers) -> None:
                self._call(group, numbers, some, grads, lists)

            in_one_pass(part, run, [[self.state[p][name] for p in part] for name in names])


def in_one_pass(params: list[Tensor], run: Callable[..., None], lists: list[list[Tensor]]) -> None:
    """Calls run(params, gradients, lists) once for the parameters that C can write in place. For
    others (another dtype, not row-major) it uses float32 or float64 copies and copies them back."""
    plain = [i for i, p in enumerate(params) if p.dtype in _IN_PLACE and p.is_contiguous()
             and all(entries[i].is_contiguous() for entries in lists)]  # fmt: skip
    if plain:
        whole = len(plain) == len(params)
        chosen = params if whole else [params[i] for i in plain]
        parts = lists if whole else [[entries[i] for i in plain] for entries in lists]
        run(chosen, [_gradient(p) for p in chosen], parts)
    for i in sorted(set(range(len(params))) - set(plain)):
        _by_copies(params[i], run, [entries[i] for entries in lists])


def _gradient(param: Tensor) -> Tensor:
    gradient = param.grad
    assert gradient is not None
    return gradient if gradient.is_contiguous() else gradient.contiguous()


def _copied(view: Tensor, kind: Any) -> Tensor:
    """The view in row-major order as another dtype; the view itself where it is both."""
    if view.is_sparse:
        return sparse_coo_tensor(view.indices(), view.values().to(kind), view.shape)
    return view.to(kind).contiguous()


def _by_copies(param: Tensor, run: Callable[..., None], entries: list[Tensor]) -> None:
    if param.dtype.is_complex:
        views = [view_as_real(t) for t in (param, param.grad, *entries) if t is not None]
        kind = views[0].dtype
    else:
        views = [t for t in (param.detach(), param.grad, *entries) if t is not None]
        kind = param.dtype if param.dtype in _IN_PLACE else float32
    copies = [_copied(view.detach(), kind) for view in views]
    run([copies[0]], [copies[1]], [[copy] for copy in copies[2:]])
    for i, view in enumerate(views):
        if i != 1 and copies[i] is not view:
            view.detach().copy_(copies[i])
