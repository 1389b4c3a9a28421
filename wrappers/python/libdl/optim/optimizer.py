# SPDX-License-Identifier: Apache-2.0
"""What optimizers have in common: groups of parameters, their states, saving and loading."""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from .. import _C
from .._C import Tensor
from .._functions import view_as_real
from .._modes import enable_grad, no_grad
from .._types import float32, float64

Params = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]

_OPTIMIZER = 2  # LIBDL_PHASE_OPTIMIZER: the phase of a step for interceptors


class Optimizer:
    """Parameters in groups, each with its own options; subclasses write _step(group)."""

    _opt_called = False  # whether step() was called, for schedulers

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = _noting(cls.__dict__["step"])  # type: ignore[method-assign]

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError("params must be an iterable of tensors or dicts, found a tensor")
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._step_hooks: list[Callable[..., Any]] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own; missing options have their defaults."""
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        params = [param[1] if isinstance(param, tuple) else param for param in params]
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only take tensors, found a {type(param).__name__}")
            if not param.is_leaf:
                raise ValueError("can't optimize a non-leaf tensor, an operator's result")
        known = {id(param) for group in self.param_groups for param in group["params"]}
        if any(id(param) in known for param in params):
            raise ValueError("a parameter is in more than one group")
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Sets the gradients to None, or to zeros."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param.grad = None
                elif param.grad is not None:
                    param.grad = param.grad.detach().zero_()

    def register_step_post_hook(self, hook: Callable[..., None]) -> None:
        """Calls hook(optimizer, args, kwargs) after each step."""
        self._step_hooks.append(hook)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters. closure computes the loss again and returns it."""
        self._opt_called = True
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        phase = _C.set_phase(_OPTIMIZER)
        try:
            with no_grad():
                for group in self.param_groups:
                    if self._at_once(group):
                        continue
                    params = [param for param in group["params"] if param.grad is not None]
                    if params:
                        self._step(group, params)
        finally:
            _C.set_phase(phase)
        for hook in self._step_hooks:
            hook(self, (), {})
        return loss

    def _at_once(self, group: dict[str, Any]) -> bool:
        """Steps a group in C if possible; False: nothing was done."""
        return False

    def _step(self, group: dict[str, Any], params: list[Tensor]) -> None:
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The groups' options and the parameters' states; parameters appear by number."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            options = {key: value for key, value in group.items() if key != "params"}
            groups.append({**options, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers[id(param)]: value for param, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a result of state_dict, for parameters in the same order."""
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups) or any(
            len(a["params"]) != len(b["params"])
            for a, b in zip(saved, self.param_groups, strict=True)
        ):
            raise ValueError("the state has other groups of parameters than the optimizer")
        by_number: dict[int, Tensor] = {}
        for old, group in zip(saved, self.param_groups, strict=True):
            by_number.update(zip(old["params"], group["params"], strict=True))
            group.update({k: copy.deepcopy(v) for k, v in old.items() if k != "params"})
        self.state = defaultdict(dict)
        for number, value in state_dict["state"].items():
            self.state[by_number[number]] = copy.deepcopy(value)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": dict(self.state),
                "param_groups": self.param_groups}  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.state = defaultdict(dict, state["state"])
        self._step_hooks = []

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for n, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {n}")
            lines += [f"    {k}: {v}" for k, v in sorted(group.items()) if k != "params"]
        return "\n".join([*lines, ")"])


def _noting(step: Callable[..., Any]) -> Callable[..., Any]:
    """A subclass's own step, which also notes that it was called, and shows its phase."""

    @functools.wraps(step)
    def noted(self: Optimizer, *arguments: Any, **options: Any) -> Any:
        self._opt_called = True
        phase = _C.set_phase(_OPTIMIZER)
        try:
            return step(self, *arguments, **options)
        finally:
            _C.set_phase(phase)

    return noted


def check(name: str, value: Any, low: float, high: float = float("inf")) -> None:
    number = value.item() if isinstance(value, Tensor) else value
    if not low <= number < high and not (high == float("inf") and number == high):
        raise ValueError(f"{name} is {value}, wanted at least {low} and below {high}")


def refuse_differentiable(name: str, differentiable: bool) -> None:
    if differentiable:  # steps are not recorded, so the gradient would be lost
        raise NotImplementedError(f"{name}: differentiable=True is not offered")


_IN_PLACE = (float32, float64)


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


def _by_copies(param: Tensor, run: Callable[..., None], entries: list[Tensor]) -> None:
    if param.dtype.is_complex:
        views = [view_as_real(t) for t in (param, param.grad, *entries) if t is not None]
        kind = views[0].dtype
    else:
        views = [t for t in (param.detach(), param.grad, *entries) if t is not None]
        kind = param.dtype if param.dtype in _IN_PLACE else float32
    copies = [view.detach().to(kind).contiguous() for view in views]
    run([copies[0]], [copies[1]], [[copy] for copy in copies[2:]])
    for i, view in enumerate(views):
        if i != 1 and copies[i] is not view:
            view.detach().copy_(copies[i])
