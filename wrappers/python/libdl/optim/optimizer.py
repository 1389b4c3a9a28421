# SPDX-License-Identifier: Apache-2.0
"""What optimizers have in common: groups of parameters, their states, saving and loading."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from .. import _C
from .._C import Tensor
from .._modes import enable_grad, no_grad
from .copied_steps import (
    ParamsT as ParamsT,
    _capturable_doc as _capturable_doc,
    _default_to_fused_or_foreach as _default_to_fused_or_foreach,
    _differentiable_doc as _differentiable_doc,
    _disable_dynamo_if_unsupported as _disable_dynamo_if_unsupported,
    _foreach_doc as _foreach_doc,
    _fused_doc as _fused_doc,
    _get_capturable_supported_devices as _get_capturable_supported_devices,
    _get_scalar_dtype as _get_scalar_dtype,
    _get_value as _get_value,
    _maximize_doc as _maximize_doc,
    _params_doc as _params_doc,
    _stack_if_compiling as _stack_if_compiling,
    _use_grad_for_differentiable as _use_grad_for_differentiable,
    group_by_device_and_dtype,
)
from .hooks import (
    Hooked,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from .options import scalar

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

Params = ParamsT

_OPTIMIZER = 2  # LIBDL_PHASE_OPTIMIZER: the phase of a step for interceptors


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()  # as an option's default: each group must have a value


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step that also notes that it was called, and calls the hooks."""
    if getattr(step, "hooked", False):
        return step

    @functools.wraps(step)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        if not hasattr(self, "_optimizer_step_pre_hooks"):
            return step(*args, **kwargs)  # wraps another one, and did not call __init__
        if self._stepping:  # super().step() of a class derived from this one
            return step(*args, **kwargs)
        self._opt_called = True
        args, kwargs = self._before_step(args, kwargs)
        self._stepping = True
        try:
            result = step(*args, **kwargs)
        finally:
            self._stepping = False
        self._optimizer_step_code()
        self._after_step(args, kwargs)
        return result

    hooked.hooked = True  # type: ignore[attr-defined]
    return hooked


def _in_phase(step: Callable[..., Any]) -> Callable[..., Any]:
    """A subclass's own step, whose operators interceptors see as the optimizer's."""

    @functools.wraps(step)
    def seen(*args: object, **kwargs: object) -> Any:
        phase = _C.set_phase(_OPTIMIZER)
        try:
            return step(*args, **kwargs)
        finally:
            _C.set_phase(phase)

    return seen


class Optimizer(Hooked):
    """Parameters in groups, each with its own options; subclasses write step(closure), or
    _step(group, params) for those of a group that have a gradient.

    Arguments:
        params: tensors, pairs of names and tensors, or groups of them with options of their own
        defaults: the options, for groups that do not have them

    Example:
        >>> class Descent(torch.optim.Optimizer):
        ...     def __init__(self, params, lr):
        ...         super().__init__(params, {"lr": lr})
        ...     @torch.no_grad()
        ...     def step(self, closure=None):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p -= group["lr"] * p.grad
        >>> w = torch.tensor([1., -2.], requires_grad=True)
        >>> (w * w).sum().backward()
        >>> Descent([w], lr=0.25).step()
        >>> w
        tensor([ 0.5000, -1.0000], requires_grad=True)
    """

    _stepping = False  # while a step runs: one that it calls by super() has no hooks of its own
    _opt_called = False  # whether step() was called, for schedulers
    _later: dict[str, Any] = {}  # options that states of older versions lack
    _scalars: tuple[str, ...] = ()  # states that are numbers in those, and tensors now

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in cls.__dict__ and not getattr(cls.__dict__["step"], "hooked", False):
            cls.step = _with_hooks(_in_phase(cls.__dict__["step"]))  # type: ignore[method-assign]

    _group_tensors_by_device_and_dtype = staticmethod(group_by_device_and_dtype)

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError("params must be an iterable of tensors or dicts, found a tensor")
        if isinstance(params, set):
            warnings.warn(
                "params is a set, whose order changes between runs; use a list",
                FutureWarning,
                stacklevel=3,
            )
        self.defaults = defaults
        self._begin_hooks()
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    # -- groups --------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own; missing options have their defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group is a {type(param_group).__name__}, wanted a dict")
        params, names = _separated(param_group["params"])
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only take tensors, found a {type(param).__name__}")
            if not self.defaults.get("differentiable") and not (
                param.is_leaf or param.retains_grad
            ):
                raise ValueError("can't optimize a non-leaf tensor, an operator's result")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"the group has no value of the option {name!r}")
        known = {id(param) for group in self.param_groups for param in group["params"]}
        if any(id(param) in known for param in params):
            raise ValueError("a parameter is in more than one group")
        if len({id(param) for param in params}) != len(params):
            warnings.warn("a group has the same parameter twice", stacklevel=3)
        named = bool(names) or "param_names" in param_group
        if any(("param_names" in group) != named for group in self.param_groups):
            raise ValueError("some groups have names of parameters, others have not")
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Sets the gradients to None, or to zeros."""
        for group in self.param_groups:
            for param in group["params"]:
                grad = param.grad
                if set_to_none or grad is None:
                    param.grad = None
                    continue
                if grad.grad_fn is None:
                    grad.requires_grad_(False)
                else:
                    grad.detach_()
                grad.zero_()

    # -- steps ---------------------------------------------------------------------------------

    profile_hook_step = staticmethod(_with_hooks)

    @_with_hooks
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Updates the parameters. closure computes the loss again and returns it."""
        self._accelerator_graph_capture_health_check()
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        phase = _C.set_phase(_OPTIMIZER)
        try:
            with no_grad():
                for group in self.param_groups:
                    self._step_group(group)
        finally:
            _C.set_phase(phase)
        return loss

    def _step_group(self, group: dict[str, Any]) -> None:
        params = [param for param in group["params"] if param.grad is not None]
        if params:
            self._step(group, params)

    def _step(self, group: dict[str, Any], params: list[Tensor]) -> None:
        raise NotImplementedError

    # -- what a subclass in the way of PyTorch may call or override ----------------------------

    def _optimizer_step_code(self) -> None:
        """Called after each step: a place for profilers to patch."""

    def _accelerator_graph_capture_health_check(self) -> None:
        """Called before each step; nothing is checked: steps can be captured."""

    _cuda_graph_capture_health_check = _accelerator_graph_capture_health_check

    def _patch_step_function(self) -> None:
        """Begins the hooks, where a subclass does not call __init__; its step calls them
        already."""
        self._begin_hooks()

    @staticmethod
    def _process_value_according_to_param_policy(
        param: Tensor,
        value: Tensor,
        param_id: int,
        param_groups: list[dict[Any, Any]],
        key: str | None = None,
    ) -> Tensor:
        """A state that load_state_dict takes from a saved one, in the parameter's dtype."""
        groups = [group for group in param_groups if param_id in group["params"]]
        on_device = any(group.get("fused") or group.get("capturable") for group in groups)
        result: Tensor = _restored(param, value, on_device, key)
        return result

    # -- states --------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The groups' options and the parameters' states; parameters appear by number."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            options = {key: value for key, value in group.items() if key != "params"}
            groups.append({**options, "params": [numbers[id(p)] for p in group["params"]]})
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a result of state_dict, for parameters in the same order. Its tensors are
        copied, and floating states of floating parameters get the parameter's dtype."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError(
                f"the state has {len(saved)} groups of parameters, "
                f"the optimizer {len(self.param_groups)}"
            )
        for n, (old, group) in enumerate(zip(saved, self.param_groups, strict=True)):
            if len(old["params"]) != len(group["params"]):
                raise ValueError(
                    f"group {n} has {len(old['params'])} parameters in the state, "
                    f"{len(group['params'])} in the optimizer"
                )
        by_number: dict[int, Tensor] = {}
        as_float32 = set()  # numbers of parameters whose steps are counted on the device
        for old, group in zip(saved, self.param_groups, strict=True):
            by_number.update(zip(old["params"], group["params"], strict=True))
            if old.get("fused") or old.get("capturable"):
                as_float32.update(old["params"])
            old["params"] = group["params"]
            if "param_names" in group:
                old.setdefault("param_names", group["param_names"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                state[by_number[key]] = _restored(by_number[key], value, key in as_float32)
            else:
                state[key] = value
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if not isinstance(self.state, defaultdict):  # as load_state_dict makes it
            self.state = defaultdict(dict, self.state)
        self._begin_hooks()
        self.defaults.setdefault("differentiable", False)
        for group in self.param_groups:
            for name, value in self._later.items():
                group.setdefault(name, value)
            for param in group["params"]:
                own = self.state.get(param, {})
                for name in self._scalars:
                    if name in own and not isinstance(own[name], Tensor):
                        own[name] = scalar(own[name])

    def __repr__(self) -> str:
        groups = []
        for n, group in enumerate(self.param_groups):
            lines = [f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"]
            groups.append(f"\nParameter Group {n}\n" + "".join(lines))
        return f"{type(self).__name__} ({''.join(groups)})"


def _separated(params: Iterable[Any]) -> tuple[list[Tensor], list[str]]:
    """A group's parameters, and their names if they have any."""
    if isinstance(params, Tensor):
        return [params], []
    if isinstance(params, set):
        raise TypeError("params is a set, whose order changes between runs; wanted a list")
    parameters = list(params)
    names = [entry[0] for entry in parameters if isinstance(entry, tuple)]
    if names and len(names) != len(parameters):
        raise ValueError(
            f"{len(parameters) - len(names)} of {len(parameters)} parameters have no name"
        )
    return [entry[1] if isinstance(entry, tuple) else entry for entry in parameters], names


def _restored(param: Tensor, value: Any, on_device: bool, name: object = None) -> Any:
    """A copy of a saved state of a parameter."""
    if isinstance(value, Tensor):
        if name != "step":
            kind = param.dtype if param.is_floating_point() else value.dtype
            result = value.to(dtype=kind, device=param.device)
        else:
            result = value.float().to(device=param.device) if on_device else value
        return result.detach().clone() if result is value else result
    if isinstance(value, dict):
        return {key: _restored(param, entry, on_device, key) for key, entry in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        entries = (_restored(param, entry, on_device) for entry in value)
        return type(value)(entries)  # type: ignore[call-arg]
    return value
