# SPDX-License-Identifier: Apache-2.0
"""Module, the base of all parts of networks: what it consists of, the hooks around its calls, its
state, walks over what is below it, and conversions to other dtypes and devices."""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ... import _C
from ..._C import Tensor
from ..._errors import UnsupportedError
from ..._functions import empty_like
from ..._missing import NoAttribute
from ..._modes import no_grad
from ..._types import DeviceLike, DtypeLike, device as Device, dtype as Dtype
from ...utils.hooks import BackwardHook, RemovableHandle, register_on_last_node
from ..parameter import Buffer, Parameter, is_lazy

__all__ = [
    "register_module_forward_pre_hook",
    "register_module_forward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_backward_hook",
    "register_module_full_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
    "Module",
]

# -- hooks -----------------------------------------------------------------------------------------

Hooks = OrderedDict[int, Callable[..., Any]]


def _add_hook(
    hooks: Any,
    hook: Any,
    prepend: bool = False,
    marks: tuple[tuple[Any, bool], ...] = (),
) -> RemovableHandle:
    """Adds a hook, in front of the others if prepend.

    Arguments:
        marks: dictionaries, and whether the hook is to be in each
    """
    handle = RemovableHandle(hooks, extra_dict=[marked for marked, _ in marks])
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    for marked, enabled in marks:
        if enabled:
            marked[handle.id] = True
    return handle


# Those of all modules.
_global_forward_pre_hooks: Hooks = OrderedDict()
_global_forward_hooks: Hooks = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_backward_pre_hooks: Hooks = OrderedDict()
_global_backward_hooks: Hooks = OrderedDict()
_global_parameter_registration_hooks: Hooks = OrderedDict()
_global_buffer_registration_hooks: Hooks = OrderedDict()
_global_module_registration_hooks: Hooks = OrderedDict()

# Whether the global backward hooks are full ones; None: there were none yet.
_global_is_full_backward_hook: bool | None = None

_global_hooks_of_calls = (
    _global_forward_pre_hooks,
    _global_forward_hooks,
    _global_backward_pre_hooks,
    _global_backward_hooks,
)


class _GlobalHandle(RemovableHandle):
    """The handle of a hook of calls, of which the extension must know that there are some."""

    def remove(self) -> None:
        super().remove()
        _tell_extension()


def _tell_extension() -> None:
    _C.hook_all_calls(any(_global_hooks_of_calls))


def _add_global_hook(hooks: Any, hook: Callable[..., Any], *marked: Any) -> RemovableHandle:
    handle = _GlobalHandle(hooks, extra_dict=list(marked))
    hooks[handle.id] = hook
    _tell_extension()
    return handle


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, args) before forward of every module; its result replaces the
    arguments."""
    return _add_global_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Calls hook(module, args, output) after forward of every module, before the module's own
    hooks; see Module.register_forward_hook."""
    marked = (_global_forward_hooks_with_kwargs, _global_forward_hooks_always_called)
    handle = _add_global_hook(_global_forward_hooks, hook, *marked)
    if with_kwargs:
        _global_forward_hooks_with_kwargs[handle.id] = True
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


def _global_backward_hooks_are(full: bool) -> None:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook not in (None, full):
        raise RuntimeError(
            "backward hooks of all modules are either full ones or not: some of the "
            "other kind were registered before"
        )
    _global_is_full_backward_hook = full


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, grad_input, grad_output) for the last operator of every module; a full
    backward hook has the module's gradients."""
    _global_backward_hooks_are(False)
    return _add_global_hook(_global_backward_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, grad_input, grad_output) in backward of every module."""
    _global_backward_hooks_are(True)
    return _add_global_hook(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, grad_output) before backward of every module; its result replaces them."""
    return _add_global_hook(_global_backward_pre_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, name, parameter) when one is registered; its result replaces it."""
    return _add_hook(_global_parameter_registration_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, name, buffer) when one is registered; its result replaces it."""
    return _add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls hook(module, name, submodule) when one is registered; its result replaces it."""
    return _add_hook(_global_module_registration_hooks, hook)


def _through_hooks(hooks: Hooks, module: Module, name: str, value: Any) -> Any:
    """The value, or what hooks of registration replace it by."""
    for hook in hooks.values():
        answer = hook(module, name, value)
        if answer is not None:
            value = answer
    return value


class _WrappedHook:
    """A hook whose first argument is the module; a copy of the module has it with the copy. Its
    state is PyTorch's, whose modules wrap hooks without the module, too."""

    def __init__(self, hook: Callable[..., Any], module: Module | None = None) -> None:
        state = {"hook": hook, "with_module": module is not None, "module": module}
        self.__setstate__(state)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("a hook was called whose module is no longer there")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        return {**state, "module": self.module()} if self.with_module else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("a hook was copied whose module is no longer there")
            self.module = weakref.ref(state["module"])  # no cycle through the module


class _Call:
    """How far one call has come."""

    def __init__(self, args: Any, kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs
        self.result: Any = None
        self.hooks_called: set[int] = set()


class _SignatureOfCalls:
    """What inspect finds of a module: the signature of its call, which is the extension's or, in
    some subclasses, a method. A class has that of its constructor."""

    def __get__(self, module: Any, kind: Any) -> inspect.Signature:
        if module is None:
            raise AttributeError("__signature__")
        return inspect.signature(kind.__call__.__get__(module, kind))


# -- states ----------------------------------------------------------------------------------------

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
_NO_COPY = (
    "copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
    "which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
    "to their corresponding key in the module instead of copying them in place?)"
)
_ONLY_CHECKS = "only_checks"  # in a module's metadata: report what is wrong, and write nothing


class _IncompatibleKeys(
    NamedTuple("IncompatibleKeys", [("missing_keys", list[str]), ("unexpected_keys", list[str])])
):
    """The names that load_state_dict missed, and those that it did not expect."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"

    __str__ = __repr__


# -- the class -------------------------------------------------------------------------------------


def _forward_unimplemented(self: Module, *args: object, **kwargs: object) -> None:
    raise NotImplementedError(f"{type(self).__name__} has no method forward")


class Module(_C.ModuleBase):
    """The base of all parts of networks. Subclasses call super().__init__() first, assign
    parameters, buffers and modules as attributes, and write forward.

    Example:
        >>> class Twice(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.layer = nn.Linear(2, 2)
        ...     def forward(self, x):
        ...         return self.layer(self.layer(x))
        >>> model = Twice()
        >>> model(torch.zeros(5, 2)).shape
        libdl.Size([5, 2])
        >>> [name for name, _ in model.named_parameters()]
        ['layer.weight', 'layer.bias']
    """

    dump_patches = False
    call_super_init = False  # whether __init__ goes on to the next base class, with its arguments
    training: bool
    forward: Callable[..., Any] = _forward_unimplemented
    __signature__ = _SignatureOfCalls()
    _version = 1  # of the state's format, kept in the metadata

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _forward_hooks: Hooks
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: Hooks
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: Hooks
    _backward_pre_hooks: Hooks
    _is_full_backward_hook: bool | None
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            value = (
                f"an unexpected keyword argument {next(iter(kwargs))!r}"
                if kwargs
                else f"{len(args) + 1} positional arguments, wanted 1"
            )
            raise TypeError(f"{type(self).__name__}.__init__() got {value}")
        self.__dict__.update(_new_fields())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**_new_fields(), **state})

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_call_impl" in cls.__dict__ and "__call__" not in cls.__dict__:
            cls.__call__ = cls._wrapped_call_impl  # type: ignore[assignment]

    # -- registration ------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter under a name."""
        self._check_name(name, "parameter", "_parameters")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"parameter {name!r} is a {_type_name(param)}, wanted "
                    "libdl.nn.Parameter or None"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"parameter {name!r} has a history: a module's parameters are leaves"
                )
            hooks = _global_parameter_registration_hooks
            param = _through_hooks(hooks, self, name, param) if hooks else param
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that moves with the module but is not trained; saved if persistent."""
        self._check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"buffer {name!r} is a {_type_name(tensor)}, wanted a tensor or None")
        hooks = _global_buffer_registration_hooks
        self._buffers[name] = _through_hooks(hooks, self, name, tensor) if hooks else tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Adds a submodule under a name."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a submodule under a name."""
        if module is not None and not isinstance(module, _C.ModuleBase):
            raise TypeError(f"module {name!r} is a {_type_name(module)}, wanted a Module or None")
        self._check_name(name, "module", "_modules")
        self._set_module(name, module)

    def _set_module(self, name: str, module: Any) -> None:
        hooks = _global_module_registration_hooks
        self._modules[name] = _through_hooks(hooks, self, name, module) if hooks else module

    def _check_name(self, name: str, what: str, place: str) -> None:
        fields = self.__dict__
        if place not in fields:
            raise _not_ready(self, f"a {what}")
        if not isinstance(name, str):
            raise TypeError(f"the name of a {what} is a {_type_name(name)}, wanted a str")
        if not name or "." in name:
            raise KeyError(f"{name!r} cannot name a {what}")
        if name not in fields[place] and hasattr(self, name):
            raise KeyError(f"attribute {name!r} exists already")

    # -- attributes --------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        parameters, modules = fields.get("_parameters"), fields.get("_modules")
        if isinstance(value, Parameter):
            if parameters is None:
                raise _not_ready(self, "a parameter")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif parameters and name in parameters:
            if value is not None:
                raise _of_another_kind(name, value, "parameter", "libdl.nn.Parameter")
            self.register_parameter(name, None)
        elif isinstance(value, _C.ModuleBase):
            if modules is None:
                raise _not_ready(self, "a module")
            self._forget(name, "_parameters", "_buffers")
            self._set_module(name, value)
        elif modules and name in modules:
            if value is not None:
                raise _of_another_kind(name, value, "submodule", "Module")
            self._set_module(name, None)
        else:
            self._set_other(name, value)

    def _set_other(self, name: str, value: Any) -> None:
        """Sets an attribute that is a buffer or none of the module's parts."""
        known = name in self.__dict__.get("_buffers", ())
        if isinstance(value, Buffer):
            if not known:
                self._forget(name, "_parameters", "_modules")
            self.register_buffer(name, value, value.persistent)
        elif known:
            if value is not None and not isinstance(value, Tensor):
                raise _of_another_kind(name, value, "buffer", "a tensor")
            self.register_buffer(name, value, name not in self._non_persistent_buffers_set)
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, *places: str) -> None:
        """Makes room for a part of that name."""
        fields = self.__dict__
        fields.pop(name, None)
        for place in places:
            fields.get(place, {}).pop(name, None)
        fields.get("_non_persistent_buffers_set", set()).discard(name)

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__
        for place in ("_parameters", "_buffers", "_modules"):
            parts = fields.get(place)
            if parts is not None and name in parts:
                return parts[name]
        raise NoAttribute(self, name)

    def __delattr__(self, name: str) -> None:
        fields = self.__dict__
        for place in ("_parameters", "_buffers", "_modules"):
            if name in fields.get(place, ()):
                del fields[place][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        fields = self.__dict__
        parts = (fields.get(place, ()) for place in ("_parameters", "_modules", "_buffers"))
        names = set(super().__dir__()).union(*parts)
        return sorted(name for name in names if not name[:1].isdigit())

    # -- hooks of calls ----------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Calls hook(module, args) before forward; its result replaces the arguments.

        Arguments:
            prepend: whether it is called before the module's other forward pre-hooks
            with_kwargs: whether it is called as hook(module, args, kwargs), and returns a pair
        """
        marks = ((self._forward_pre_hooks_with_kwargs, with_kwargs),)
        return _add_hook(self._forward_pre_hooks, hook, prepend, marks)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Calls hook(module, args, output) after forward; its result replaces the output.

        Arguments:
            prepend: whether it is called before the module's other forward hooks
            with_kwargs: whether it is called as hook(module, args, kwargs, output)
            always_call: whether it is called even if the call raises; then the output may be None
        """
        marks = (
            (self._forward_hooks_with_kwargs, with_kwargs),
            (self._forward_hooks_always_called, always_call),
        )
        return _add_hook(self._forward_hooks, hook, prepend, marks)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(module, grad_output) in backward before the module's own part; its result
        replaces grad_output."""
        return _add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls hook(module, grad_input, grad_output) in backward; its result replaces grad_input.
        There is one place in grad_input for each argument, None where it requires no grad."""
        self._backward_hooks_are(True)
        return _add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, grad_input, grad_output) for the last operator of the module; a full
        backward hook has the module's gradients."""
        self._backward_hooks_are(False)
        return _add_hook(self._backward_hooks, hook)

    def _backward_hooks_are(self, full: bool) -> None:
        if self._is_full_backward_hook not in (None, full):
            raise RuntimeError(
                "a module's backward hooks are either full ones or not: some of the "
                "other kind were registered before"
            )
        self._is_full_backward_hook = full

    # -- the call ----------------------------------------------------------------------------------

    # ModuleBase, in C, calls forward, or _call_impl if there are hooks.

    def _wrapped_call_impl(self, *args: object, **kwargs: object) -> Any:
        return self._call_impl(*args, **kwargs)

    def _slow_forward(self, *input: object, **kwargs: object) -> Any:
        return self.forward(*input, **kwargs)

    def _call_impl(self, *args: object, **kwargs: object) -> Any:
        always = {**_global_forward_hooks_always_called, **self._forward_hooks_always_called}
        call = _Call(args, kwargs)
        try:
            return self._call_hooked(call)
        except Exception:
            for number, hook in self._global_and_own(_global_forward_hooks, self._forward_hooks):
                if number in always and number not in call.hooks_called:
                    self._call_after_failure(number, hook, call)
            raise

    def _call_hooked(self, call: _Call) -> Any:
        forward = self.forward  # before the hooks, of which a lazy module's changes the class
        args, kwargs = call.args, call.kwargs = self._through_pre_hooks(call.args, call.kwargs)
        hooks: list[Any] = []
        older: list[Any] = []
        pre_hooks: list[Any] = []
        if self._backward_hooks or _global_backward_hooks:
            hooks, older = self._get_backward_hooks()
        if self._backward_pre_hooks or _global_backward_pre_hooks:
            pre_hooks = self._get_backward_pre_hooks()
        backward_hook: Any = None
        if hooks or pre_hooks:
            backward_hook = BackwardHook(self, hooks, pre_hooks)
            args = backward_hook.setup_input_hook(args)
        result = call.result = forward(*args, **kwargs)
        for number, hook in self._global_and_own(_global_forward_hooks, self._forward_hooks):
            call.hooks_called.add(number)
            answer = self._call_forward_hook(number, hook, args, kwargs, result)
            if answer is not None:
                result = call.result = answer
        if backward_hook is not None:
            result = backward_hook.setup_output_hook(result)
        if older:
            register_on_last_node(self, older, result)
        return result

    @staticmethod
    def _global_and_own(of_all_modules: Any, own: Any) -> list[tuple[int, Any]]:
        return [*of_all_modules.items(), *own.items()]

    def _through_pre_hooks(self, args: object, kwargs: object) -> tuple[Any, Any]:
        hooks = self._global_and_own(_global_forward_pre_hooks, self._forward_pre_hooks)
        for number, hook in hooks:
            if number in self._forward_pre_hooks_with_kwargs:
                answer = hook(self, args, kwargs)
                if answer is not None:
                    if not isinstance(answer, tuple) or len(answer) != 2:
                        raise RuntimeError(
                            "a forward pre-hook with kwargs returned a "
                            f"{type(answer).__name__}, wanted None or a pair of "
                            "args and kwargs"
                        )
                    args, kwargs = answer
            else:
                answer = hook(self, args)
                if answer is not None:
                    args = answer if isinstance(answer, tuple) else (answer,)
        return args, kwargs

    def _call_forward_hook(
        self, number: int, hook: Callable[..., Any], args: object, kwargs: object, result: object
    ) -> Any:
        if number in self._forward_hooks_with_kwargs or number in _global_forward_hooks_with_kwargs:
            return hook(self, args, kwargs, result)
        return hook(self, args, result)

    def _call_after_failure(self, number: int, hook: Callable[..., Any], call: _Call) -> None:
        try:
            self._call_forward_hook(number, hook, call.args, call.kwargs, call.result)
        except Exception as error:
            warnings.warn(
                f"a forward hook with always_call=True raised {error!r}, which is hidden "
                "by an earlier error of the call",
                stacklevel=4,
            )

    def _get_backward_pre_hooks(self) -> list[Any]:
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """The full backward hooks, and those of the older kind."""
        full: list[Any] = []
        older: list[Any] = []
        everywhere = _global_backward_hooks.values()
        (full if _global_is_full_backward_hook else older).extend(everywhere)
        (full if self._is_full_backward_hook else older).extend(self._backward_hooks.values())
        return full, older

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Changes nothing; PyTorch would compile forward."""

    # -- the state ---------------------------------------------------------------------------------

    # Every module writes and reads its own part under a prefix, so that a subclass may change how:
    # it overrides _save_to_state_dict and _load_from_state_dict, or registers hooks.

    def get_extra_state(self) -> Any:
        """What a subclass adds to its state beside parameters and buffers."""
        raise RuntimeError(f"{type(self).__name__} has no get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Takes what get_extra_state had returned."""
        raise RuntimeError(f"{type(self).__name__} has no set_extra_state")

    def _own_state(self) -> dict[str, Tensor]:
        kept = self._non_persistent_buffers_set
        buffers = {name: buffer for name, buffer in self._buffers.items() if name not in kept}
        own = {**self._parameters, **buffers}
        return {name: value for name, value in own.items() if value is not None}

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """All parameters and persistent buffers by name, sharing their memory.

        Arguments:
            destination: a dictionary to add them to
            prefix: in front of the names
            keep_vars: whether they are the parameters themselves, and not without history
        """
        if args:
            warnings.warn(
                "state_dict: positional arguments are deprecated, please use keywords",
                FutureWarning,
                stacklevel=2,
            )
            values = dict(zip(("destination", "prefix", "keep_vars"), args))
            destination = values.get("destination", destination)
            prefix, keep_vars = values.get("prefix", prefix), values.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            answer = hook(self, destination, prefix, local_metadata)
            if answer is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError(
                        f"state_dict: a post-hook returned a {type(answer).__name__}, wanted None"
                    )
                destination = answer
        state: dict[str, Any] = destination
        return state

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        """Adds the module's own state, without that of its submodules, to a dictionary."""
        for name, value in self._own_state().items():
            whole = keep_vars or is_lazy(value)
            destination[prefix + name] = value if whole else value.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copies a state into the parameters and buffers.

        Arguments:
            state_dict: tensors by name
            strict: whether names must agree exactly
            assign: whether tensors take the place of parameters and buffers, and are not copied
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                "load_state_dict: argument 1 (state_dict) is a "
                f"{type(state_dict).__name__}, wanted a dict of tensors"
            )
        metadata = getattr(state_dict, "_metadata", None)

        def load(checks: bool) -> _IncompatibleKeys:
            values: Any = OrderedDict(state_dict)
            if metadata is not None:
                values._metadata = metadata
            incompatible, problems = _IncompatibleKeys([], []), list[str]()
            extra = {_ONLY_CHECKS: True} if checks else {}
            if assign:
                extra["assign_to_params_buffers"] = True
            _load_into(self, values, "", metadata, extra, incompatible, problems)
            _raise_problems(type(self).__name__, strict, incompatible, problems)
            return incompatible

        if _only_copies(self):
            load(checks=True)  # so that a failed call changes nothing
        return load(checks=False)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads the module's own state, without that of its submodules.

        Arguments:
            state_dict: of names that begin with the prefix
            local_metadata: what _version was when the state was saved, if that is known
            strict: whether to report names
            missing_keys, unexpected_keys, error_msgs: to which reports are added
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        own = self._own_state()
        for name, value in own.items():
            key = prefix + name
            if key in state_dict:
                problem = _load_one(self, name, value, state_dict[key], key, local_metadata)
                error_msgs.extend(filter(None, [problem]))
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        has_extra = type(self).set_extra_state is not Module.set_extra_state
        if has_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif strict and has_extra:
            missing_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and not (has_extra and key == extra):
                    first, *rest = key[len(prefix) :].split(".", 1)
                    if first not in (self._modules if rest else own):
                        unexpected_keys.append(key)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, prefix, keep_vars) before the state is collected."""
        return _add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Calls hook(module, state_dict, prefix, local_metadata) afterwards; it may change the
        dictionary and must return None."""
        hook._from_public_api = True
        return _add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Any) -> RemovableHandle:
        """As register_state_dict_post_hook, but what the hook returns replaces the dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "_register_state_dict_hook: the hook was registered by "
                "register_state_dict_post_hook before"
            )
        return _add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs) before the module's own state is loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        called = _WrappedHook(hook, self) if with_module else hook
        return _add_hook(self._load_state_dict_pre_hooks, called)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls hook(module, incompatible_keys) after the module and its submodules are loaded; it
        may change both lists."""
        return _add_hook(self._load_state_dict_post_hooks, hook)

    # -- walks over what is below ------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
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

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """The module and all of its submodules."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules, with their names."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[Any] = set()
        modules: Iterable[tuple[str, Any]] = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, with their names."""
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, for an optimizer."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers, with their names."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # -- by name -----------------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """The submodule with that name, such as "encoder.2"; the module itself for ""."""
        module: Any = self
        for name in target.split(".") if target else ():
            module = _attribute(module, name)
            if not isinstance(module, _C.ModuleBase):
                raise AttributeError(
                    f"{name!r} of {target!r} is a {type(module).__name__}, wanted a Module"
                )
        value: Module = module
        return value

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts a module in the place of the submodule with that name, or adds it there; strict:
        whether there must be one already."""
        if not target:
            raise ValueError('set_submodule: argument 1 (target) is "", wanted a name')
        if not isinstance(module, _C.ModuleBase):
            raise ValueError(
                f"set_submodule: argument 2 (module) is a {type(module).__name__}, wanted a Module"
            )
        path, _, name = target.rpartition(".")
        holder: Any = self
        for part in filter(None, path.split(".")):
            holder = _attribute(holder, part)
            if not isinstance(holder, _C.ModuleBase):
                raise AttributeError(
                    f"{part!r} of {target!r} is a {type(holder).__name__}, wanted a Module"
                )
        if strict or hasattr(holder, name):
            before = _attribute(holder, name)
            if not isinstance(before, _C.ModuleBase):
                raise AttributeError(
                    f"{target!r} is a {type(before).__name__}, wanted a Module to be replaced"
                )
        setattr(holder, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with that name, such as "encoder.2.weight"."""
        path, _, name = target.rpartition(".")
        attribute = _attribute(self.get_submodule(path), name)
        if not isinstance(attribute, Parameter):
            raise AttributeError(f"{target!r} is a {type(attribute).__name__}, wanted a parameter")
        return attribute

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with that name, such as "encoder.2.running_mean"."""
        path, _, name = target.rpartition(".")
        holder = self.get_submodule(path)
        attribute = _attribute(holder, name)
        if name not in holder._buffers or not isinstance(attribute, Tensor):
            raise AttributeError(f"{target!r} is a {type(attribute).__name__}, wanted a buffer")
        return attribute

    # -- for all -----------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Calls fn for each submodule, and last for the module itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Sets training mode for the module and its submodules."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: argument 1 (mode) is {mode!r}, wanted True or False")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Sets evaluation mode, in which layers such as dropout do nothing."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Sets whether the parameters are trained or frozen."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the parameters' gradients."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                gradient = parameter.grad
                if gradient.grad_fn is not None:
                    gradient.detach_()
                else:
                    gradient.requires_grad_(False)
                gradient.zero_()

    # -- conversions -------------------------------------------------------------------------------

    # A parameter stays the same object, with other elements; so does its gradient.

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces the elements of parameters, gradients and buffers by fn of them."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is not None:
                    _convert_parameter(parameter, fn)
            for name, buffer in self._buffers.items():
                if is_lazy(buffer):
                    buffer.data = fn(buffer.data)  # type: ignore[union-attr]
                elif buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Moves parameters and buffers to a device, and converts floating ones to a dtype.

        to(device), to(dtype), to(device, dtype), to(tensor), each followed by non_blocking.
        memory_format is accepted and changes nothing.
        """
        device, dtype, non_blocking = _arguments_of_to(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"to: a module's dtype is floating or complex, found {dtype}")

        def convert(x: Tensor) -> Tensor:
            requested = dtype if x.is_floating_point() or x.is_complex() else None
            if x.is_meta and device is not None and device.type != "meta":
                raise UnsupportedError(
                    "Module.to: Cannot copy out of meta tensor; no data! Please use "
                    "Module.to_empty() instead of Module.to() when moving module from meta to a "
                    "different device."
                )
            converted: Tensor = x.to(dtype=requested, device=device, non_blocking=non_blocking)
            return converted

        return self._apply(convert)

    def to_empty(self, *, device: DeviceLike | None, recurse: bool = True) -> Self:
        """Gives parameters and buffers new memory on a device, without copying their elements."""
        return self._apply(lambda x: empty_like(x, device=device), recurse)

    def float(self) -> Self:
        """Converts floating parameters and buffers to float32."""
        return self._apply(lambda x: x.float() if x.is_floating_point() else x)

    def double(self) -> Self:
        """Converts floating parameters and buffers to float64."""
        return self._apply(lambda x: x.double() if x.is_floating_point() else x)

    def half(self) -> Self:
        """Converts floating parameters and buffers to float16."""
        return self._apply(lambda x: x.half() if x.is_floating_point() else x)

    def bfloat16(self) -> Self:
        """Converts floating parameters and buffers to bfloat16."""
        return self._apply(lambda x: x.bfloat16() if x.is_floating_point() else x)

    def type(self, dst_type: DtypeLike | str) -> Self:
        """Converts all parameters and buffers to a dtype."""
        return self._apply(lambda x: x.type(dst_type))

    def cpu(self) -> Self:
        """Moves parameters and buffers to the host's memory."""
        return self._apply(lambda x: x.cpu())

    def cuda(self, device: DeviceLike | None = None) -> Self:
        """Moves parameters and buffers to a CUDA device."""
        return self._apply(lambda x: x.cuda(device))

    def _replicate_for_data_parallel(self) -> Self:
        """A shallow copy without parameters, for others to be set as plain tensors."""
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers = replica._buffers.copy()
        replica._modules = replica._modules.copy()
        replica._is_replica = True
        return replica

    def share_memory(self) -> Self:
        """Moves all parameters, their gradients and the buffers into one memory that processes
        share: what one of them writes, all see."""
        from ...multiprocessing.moving import share

        def refuse_lazy(x: Tensor) -> Tensor:
            return x.share_memory_() if is_lazy(x) else x  # which raises

        self._apply(refuse_lazy)
        tensors = list(_tensors_below(self).values())
        share([*tensors, *(x.grad for x in tensors if x.grad is not None)])
        return self

    # -- printing ----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """The subclass's part of the repr."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        text = self.extra_repr()
        extra = text.split("\n") if text else []
        parts = []
        for name, module in self._modules.items():
            text = repr(module).replace("\n", "\n  ")
            parts.append(f"({name}): {text}")
        lines = extra + parts
        if not parts and len(extra) <= 1:
            return f"{self._get_name()}({extra[0] if extra else ''})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


# -- behind the methods ----------------------------------------------------------------------------


def _new_fields() -> dict[str, Any]:
    return {
        "training": True,
        "_parameters": {},
        "_buffers": {},
        "_non_persistent_buffers_set": set(),
        "_backward_pre_hooks": OrderedDict(),
        "_backward_hooks": OrderedDict(),
        "_is_full_backward_hook": None,
        "_forward_hooks": OrderedDict(),
        "_forward_hooks_with_kwargs": OrderedDict(),
        "_forward_hooks_always_called": OrderedDict(),
        "_forward_pre_hooks": OrderedDict(),
        "_forward_pre_hooks_with_kwargs": OrderedDict(),
        "_state_dict_hooks": OrderedDict(),
        "_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_post_hooks": OrderedDict(),
        "_modules": {},
    }


def _type_name(value: object) -> str:
    return type(value).__name__


def _not_ready(module: object, part: str) -> AttributeError:
    return AttributeError(
        f"cannot assign {part} before Module.__init__() call: "
        f"{_type_name(module)} must call super().__init__() first"
    )


def _of_another_kind(name: str, value: object, what: str, expected: str) -> TypeError:
    return TypeError(
        f"{name!r} is a {what} of the module: it cannot become a {_type_name(value)}, "
        f"wanted {expected} or None"
    )


def _load_into(
    module: Any,
    argument: Any,
    prefix: str,
    metadata: Any,
    extra: dict[str, bool],
    incompatible: _IncompatibleKeys,
    problems: list[str],
) -> None:
    """Loads a module and all below it; given: of names that begin with the prefix."""
    local = {**({} if metadata is None else metadata.get(prefix[:-1], {})), **extra}
    module._load_from_state_dict(
        argument,
        prefix,
        local,
        True,
        incompatible.missing_keys,
        incompatible.unexpected_keys,
        problems,
    )
    for name, child in module._modules.items():
        if child is not None:
            inner = f"{prefix}{name}."
            part = {key: value for key, value in argument.items() if key.startswith(inner)}
            _load_into(child, part, inner, metadata, extra, incompatible, problems)
    if _ONLY_CHECKS not in extra:
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, incompatible) is not None:
                raise AssertionError(
                    "load_state_dict: a post-hook must return None, and change "
                    "incompatible_keys in place"
                )


def _load_one(
    module: Any, name: str, value: Tensor, argument: Any, key: str, local_metadata: Any
) -> str | None:
    """Loads one parameter or buffer; returns what is wrong, if anything is."""
    if not isinstance(argument, Tensor):
        return f'While copying the parameter named "{key}": found {type(argument)}, wanted a tensor'
    if is_lazy(argument) and not is_lazy(value):
        return f'While copying the parameter named "{key}": it has no shape yet in the state'
    if not is_lazy(value):
        if value.ndim == 0 and argument.shape == (1,):
            argument = argument[0]  # how numbers were saved once
        if argument.shape != value.shape:
            return (
                f"size mismatch for {key}: the state has shape {argument.shape}, the model "
                f"{value.shape}."
            )
    if local_metadata.get(_ONLY_CHECKS) or is_lazy(argument):
        return None
    try:
        with no_grad():
            if not local_metadata.get("assign_to_params_buffers"):
                if value.is_meta and not argument.is_meta:
                    warnings.warn(f"for {key}: {_NO_COPY}", stacklevel=2)
                value.copy_(argument)
                return None
            if isinstance(value, Parameter):
                if isinstance(argument, Parameter):
                    argument.requires_grad_(value.requires_grad)
                else:
                    argument = Parameter(argument, value.requires_grad)
            setattr(module, name, argument)
    except Exception as error:
        return f'While copying the parameter named "{key}": {error}'
    return None


def _only_copies(module: Module) -> bool:
    """Whether nothing of the user's takes part in loading a module and all below it: the protocol
    may run twice."""
    kind = type(module)
    below = (part for part in module._modules.values() if part is not None)
    return all(map(_only_copies, below)) and (
        kind._load_from_state_dict.__module__.partition(".")[0] == __package__.partition(".")[0]
        and kind.set_extra_state is Module.set_extra_state
        and not module._load_state_dict_pre_hooks
        and not module._load_state_dict_post_hooks
    )


def _raise_problems(
    name: str, strict: bool, incompatible: _IncompatibleKeys, problems: list[str]
) -> None:
    text = list(problems)
    if strict:
        for what, keys in (
            ("Unexpected", incompatible.unexpected_keys),
            ("Missing", incompatible.missing_keys),
        ):
            if keys:
                quoted = ", ".join(f'"{key}"' for key in keys)
                text.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
    if text:
        raise RuntimeError(f"Error(s) in loading state_dict for {name}:\n\t" + "\n\t".join(text))


def _attribute(module: Module, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute {name!r}")
    return getattr(module, name)


def _tensors_below(module: Module) -> dict[int, Tensor]:
    """The parameters and buffers of a module and of those in it, each once."""
    collected: dict[int, Tensor] = {}
    for inner in module._modules.values():
        if inner is not None:
            collected |= _tensors_below(inner)
    own = [*module._parameters.values(), *module._buffers.values()]
    return collected | {id(x): x for x in own if x is not None}


def _convert_parameter(parameter: Any, fn: Callable[[Tensor], Tensor]) -> None:
    gradient = parameter.grad
    converted = fn(parameter.data)
    of_gradient = None if gradient is None else fn(gradient.detach())
    parameter.grad = None  # which must have the parameter's dtype at every moment
    parameter.data = converted
    if gradient is not None:
        gradient.data = of_gradient
        parameter.grad = gradient


def _arguments_of_to(args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any, bool]:
    """Device, dtype and non_blocking of the forms of to()."""
    values = dict(kwargs)
    rest = list(args)
    tensor = values.pop("tensor", None)
    if rest and isinstance(rest[0], Tensor):
        tensor = rest.pop(0)
    device, dtype = values.pop("device", None), values.pop("dtype", None)
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    elif rest and isinstance(rest[0], Dtype):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], Dtype)):
            dtype = rest.pop(0)
    non_blocking = values.pop("non_blocking", False)
    if rest and isinstance(rest[0], bool):
        non_blocking = rest.pop(0)
    values.pop("memory_format", None)
    if rest or values:
        raise TypeError(
            f"to: found {[*rest, *values]}, wanted a device, a dtype or a tensor, and non_blocking"
        )
    if device is not None:
        device = Device(device)
    return device, dtype, non_blocking


def _addindent(s_: str, numSpaces: int) -> str:
    """The text with all lines but the first indented."""
    return s_.replace("\n", "\n" + " " * numSpaces)


if TYPE_CHECKING:

    class Layer(Module):
        """A module that maps a tensor to a tensor; exists for type checkers only."""

        def __call__(self, input: Tensor) -> Tensor: ...

    class Loss(Module):
        """A module that maps a prediction and a target to a loss, likewise."""

        def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

else:
    Layer = Loss = Module
