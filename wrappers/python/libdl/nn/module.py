# SPDX-License-Identifier: Apache-2.0
"""Modules: parts of a network, with parameters, buffers and submodules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .. import _C
from .._C import Tensor
from .._missing import NoAttribute
from .._modes import no_grad
from .parameter import Buffer, Parameter

T = TypeVar("T", bound="Module")


class IncompatibleKeys(NamedTuple):
    """The names that load_state_dict missed, and those that it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class Hook:
    """A registered hook; remove() removes it, and so does the end of a with statement."""

    count = 0

    def __init__(self, hooks: dict[int, Any], hook: Any, first: bool = False) -> None:
        Hook.count += 1
        self._hooks, self._number = hooks, Hook.count
        hooks[self._number] = hook
        if first and isinstance(hooks, OrderedDict):
            hooks.move_to_end(self._number, last=False)

    def remove(self) -> None:
        self._hooks.pop(self._number, None)

    def __enter__(self) -> Hook:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def _no_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(f"{type(self).__name__} has no method forward")


class Module(_C.ModuleBase):
    """The base of all parts of networks. Subclasses call super().__init__() first, assign
    parameters, buffers and modules as attributes, and write forward."""

    training: bool
    forward: Callable[..., Any] = _no_forward

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fields: dict[str, Any] = {
            "training": True,
            "_parameters": {},
            "_buffers": {},
            "_modules": {},
            "_non_persistent": set(),
            "_forward_hooks": OrderedDict(),
            "_forward_pre_hooks": OrderedDict(),
            "_backward_hooks": OrderedDict(),
            "_state_dict_hooks": OrderedDict(),
            "_load_hooks": OrderedDict(),
        }
        self.__dict__.update(fields)

    # -- parts -------------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter under a name."""
        self._check_name(name, "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"parameter {name!r} is a {type(param).__name__}, wanted libdl.nn.Parameter or None"
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that moves with the module but is not trained; saved if persistent."""
        self._check_name(name, "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"buffer {name!r} is a {type(tensor).__name__}, wanted a tensor")
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Adds a submodule under a name."""
        self._check_name(name, "module")
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"module {name!r} is a {type(module).__name__}, wanted a Module")
        self._modules[name] = module

    add_module = register_module

    def _check_name(self, name: str, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                f"cannot assign {name!r} before Module.__init__() call: "
                f"{type(self).__name__} must call super().__init__() first"
            )
        if not name or "." in name:
            raise KeyError(f"{name!r} cannot name a {what}")
        taken = name in self.__dict__ or hasattr(type(self), name)
        if taken and not any(name in parts for parts in self._parts()):
            raise KeyError(f"attribute {name!r} exists already")

    def _parts(self) -> tuple[dict[str, Any], ...]:
        return self._parameters, self._buffers, self._modules

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        kinds = ((Parameter, "_parameters"), (Module, "_modules"), (Buffer, "_buffers"))
        for kind, place in kinds:
            if isinstance(value, kind):
                if place not in fields:
                    raise AttributeError(
                        f"cannot assign {name!r} before Module.__init__() call: "
                        f"{type(self).__name__} must call super().__init__() first"
                    )
                fields.pop(name, None)
                for parts in self._parts():
                    parts.pop(name, None) if parts is not fields[place] else None
                fields[place][name] = value
                if isinstance(value, Buffer) and not value.persistent:
                    self._non_persistent.add(name)
                return
        allowed = {"_parameters": Parameter, "_modules": Module, "_buffers": Tensor}
        for place, wanted in allowed.items():
            known = fields.get(place)
            if known is not None and name in known:
                if value is not None and not isinstance(value, wanted):
                    raise TypeError(
                        f"{name!r} is one of the module's {place[1:]}: it cannot become a "
                        f"{type(value).__name__}"
                    )
                known[name] = value
                return
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__
        for place in ("_parameters", "_buffers", "_modules"):
            parts = fields.get(place)
            if parts is not None and name in parts:
                return parts[name]
        raise NoAttribute(self, name)

    def __delattr__(self, name: str) -> None:
        for parts in self._parts():
            if name in parts:
                del parts[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    # -- walks -------------------------------------------------------------------------------------

    def named_modules(self, memo: set[Module] | None = None, prefix: str = "",
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:  # fmt: skip
        """The module and all of its submodules, with their names."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                inner = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(seen, inner, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """The module and all of its submodules."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules, with their names."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        return (module for _, module in self.named_children())

    def _named(self, place: str, prefix: str, recurse: bool,
               once: bool) -> Iterator[tuple[str, Any]]:  # fmt: skip
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=once)
        for path, module in modules if recurse else [(prefix, self)]:
            for name, value in getattr(module, place).items():
                if value is None or (once and id(value) in seen):
                    continue
                seen.add(id(value))
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, with their names."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, for an optimizer."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:  # fmt: skip
        """All buffers, with their names."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The submodule with that name, such as "encoder.2"."""
        module: Any = self
        for name in filter(None, target.split(".")):
            module = getattr(module, name)
        if not isinstance(module, Module):
            raise AttributeError(f"{target!r} is no module")
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with that name, such as "encoder.2.weight"."""
        path, _, name = target.rpartition(".")
        found: Parameter = self.get_submodule(path)._parameters[name]
        return found

    # -- calls -------------------------------------------------------------------------------------

    def _call_hooked(self, *args: Any, **kwargs: Any) -> Any:
        """Called by ModuleBase.__call__ if there are hooks; otherwise that calls forward."""
        for hook, with_kwargs in list(self._forward_pre_hooks.values()):
            answer = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if answer is not None:
                if with_kwargs:
                    args, kwargs = answer
                else:
                    args = answer if isinstance(answer, tuple) else (answer,)
        watch: Any = None
        if self._backward_hooks:
            from ._backward_hooks import Watch

            watch = Watch(self, list(self._backward_hooks.values()))
            args = watch.arguments(args)
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self._forward_hooks.values()):
            answer = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            result = result if answer is None else answer
        return result if watch is None else watch.result(result)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Hook:  # fmt: skip
        """Calls hook(module, args, output) after forward; its result replaces the output."""
        return Hook(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_forward_pre_hook(self, hook: Callable[..., Any], *, prepend: bool = False,
                                  with_kwargs: bool = False) -> Hook:  # fmt: skip
        """Calls hook(module, args) before forward; its result replaces the arguments."""
        return Hook(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Hook:
        """Calls hook(module, grad_input, grad_output) in backward; a tuple replaces grad_input."""
        return Hook(self._backward_hooks, hook, prepend)

    # -- state -------------------------------------------------------------------------------------

    def _own_state(self) -> dict[str, Tensor]:
        buffers = {k: v for k, v in self._buffers.items() if k not in self._non_persistent}
        return {k: v for k, v in {**self._parameters, **buffers}.items() if v is not None}

    def state_dict(self, *, destination: Any = None, prefix: str = "",
                   keep_vars: bool = False) -> dict[str, Any]:  # fmt: skip
        """All parameters and persistent buffers by name, sharing their memory, without history."""
        state: dict[str, Any] = OrderedDict() if destination is None else destination
        for name, value in self._own_state().items():
            state[prefix + name] = value if keep_vars else value.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            hook(self, state, prefix, {})
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> IncompatibleKeys:  # fmt: skip
        """Copies a state into the parameters and buffers. strict: names must agree exactly."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"load_state_dict: argument 1 (state_dict) is a {type(state_dict).__name__}, "
                "wanted a dict of tensors"
            )
        wanted: dict[str, tuple[Module, str, Tensor]] = {}
        for path, module in self.named_modules(remove_duplicate=False):
            for name, value in module._own_state().items():
                wanted[f"{path}.{name}" if path else name] = (module, name, value)
        missing = [name for name in wanted if name not in state_dict]
        unexpected = [name for name in state_dict if name not in wanted]
        problems = []
        if strict and missing:
            problems.append(f"missing key(s) in state_dict: {', '.join(missing)}")
        if strict and unexpected:
            problems.append(f"unexpected key(s) in state_dict: {', '.join(unexpected)}")
        for name, (_, _, value) in wanted.items():
            given = state_dict.get(name)
            if given is not None and given.shape != value.shape:
                problems.append(
                    f"size mismatch for {name}: found {list(given.shape)}, "
                    f"wanted {list(value.shape)}"
                )
        if problems:
            raise RuntimeError(
                f"load_state_dict: error(s) in loading state_dict for {type(self).__name__}:\n    "
                + "\n    ".join(problems)
            )
        with no_grad():
            for name, (module, own, value) in wanted.items():
                if name not in state_dict:
                    continue
                given = state_dict[name]
                if not assign:
                    value.copy_(given)
                elif own in module._parameters:
                    module._parameters[own] = (
                        given if isinstance(given, Parameter)
                        else Parameter(given, value.requires_grad)
                    )  # fmt: skip
                else:
                    module._buffers[own] = given
        return IncompatibleKeys(missing, unexpected)

    # -- modes and conversions ---------------------------------------------------------------------

    def train(self: T, mode: bool = True) -> T:
        """Sets training mode for the module and its submodules."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: T) -> T:
        """Sets evaluation mode, in which layers such as dropout do nothing."""
        return self.train(False)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Sets whether the parameters are trained or frozen."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the parameters' gradients."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad = parameter.grad.detach().zero_()

    def apply(self: T, fn: Callable[[Module], Any]) -> T:
        """Calls fn for each submodule, and last for the module itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self: T, convert: Callable[[Tensor], Tensor]) -> T:
        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is not None:
                    gradient = parameter.grad
                    parameter.grad = None
                    parameter.data = convert(parameter.detach())
                    if gradient is not None:
                        parameter.grad = convert(gradient.detach())
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = convert(buffer)
        return self

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """Moves parameters and buffers to a device, and converts floating ones to a dtype."""
        from .._types import dtype as Dtype

        dtype = kwargs.pop("dtype", None)
        device = kwargs.pop("device", None)
        for value in args:
            if isinstance(value, Tensor):
                dtype, device = value.dtype, value.device
            elif isinstance(value, Dtype):
                dtype = value
            elif not isinstance(value, bool):
                device = value
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"to: a module's dtype must be floating or complex, found {dtype}")

        def convert(x: Tensor) -> Tensor:
            wanted = dtype if x.is_floating_point() or x.is_complex() else None
            return x.to(dtype=wanted, device=device)

        return self._apply(convert)

    def float(self: T) -> T:
        """Converts floating parameters and buffers to float32."""
        return self._apply(lambda x: x.float() if x.is_floating_point() else x)

    def double(self: T) -> T:
        """Converts floating parameters and buffers to float64."""
        return self._apply(lambda x: x.double() if x.is_floating_point() else x)

    def half(self: T) -> T:
        """Converts floating parameters and buffers to float16."""
        return self._apply(lambda x: x.half() if x.is_floating_point() else x)

    def bfloat16(self: T) -> T:
        """Converts floating parameters and buffers to bfloat16."""
        return self._apply(lambda x: x.bfloat16() if x.is_floating_point() else x)

    def type(self: T, dst_type: Any) -> T:
        """Converts all parameters and buffers to a dtype."""
        return self._apply(lambda x: x.type(dst_type))

    def cpu(self: T) -> T:
        """Moves parameters and buffers to the host's memory."""
        return self._apply(lambda x: x.cpu())

    def cuda(self: T, device: Any = None) -> T:
        """Moves parameters and buffers to a CUDA device."""
        return self._apply(lambda x: x.cuda(device))

    # -- printing ----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """The subclass's part of the repr."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        parts = []
        for name, module in self._modules.items():
            text = repr(module).replace("\n", "\n  ")
            parts.append(f"({name}): {text}")
        lines = extra + parts
        if not parts and len(extra) <= 1:
            return f"{self._get_name()}({extra[0] if extra else ''})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


if TYPE_CHECKING:

    class Layer(Module):
        """A module that maps a tensor to a tensor; exists for type checkers only."""

        def __call__(self, input: Tensor) -> Tensor: ...

    class Loss(Module):
        """A module that maps a prediction and a target to a loss, likewise."""

        def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

else:
    Layer = Loss = Module
