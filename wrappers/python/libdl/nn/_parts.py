# SPDX-License-Identifier: Apache-2.0
"""The parts of a module: parameters, buffers and submodules, which are also its attributes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .. import _C
from .._C import Tensor
from .._missing import NoAttribute
from . import _hooks
from .parameter import Buffer, Parameter


class ModuleParts(_C.ModuleBase):
    """What a module consists of, and how it is registered."""

    training: bool
    call_super_init = False  # whether __init__ goes on to the next base class, with its arguments

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _is_full_backward_hook: bool | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            given = (f"an unexpected keyword argument {next(iter(kwargs))!r}" if kwargs
                     else f"{len(args) + 1} positional arguments, wanted 1")  # fmt: skip
            raise TypeError(f"{type(self).__name__}.__init__() got {given}")
        self.__dict__.update(_new_fields())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**_new_fields(), **state})

    # -- registration ------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter under a name."""
        self._check_name(name, "parameter", "_parameters")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(f"parameter {name!r} is a {_kind(param)}, wanted "
                                "libdl.nn.Parameter or None")  # fmt: skip
            if param.grad_fn is not None:
                raise ValueError(f"parameter {name!r} has a history: a module's parameters are "
                                 "leaves")  # fmt: skip
            hooks = _hooks._global_parameter_registration_hooks
            param = _hooks.registered(hooks, self, name, param) if hooks else param
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that moves with the module but is not trained; saved if persistent."""
        self._check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"buffer {name!r} is a {_kind(tensor)}, wanted a tensor or None")
        hooks = _hooks._global_buffer_registration_hooks
        self._buffers[name] = _hooks.registered(hooks, self, name, tensor) if hooks else tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Any) -> None:
        """Adds a submodule under a name."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Any) -> None:
        """Adds a submodule under a name."""
        if module is not None and not isinstance(module, _C.ModuleBase):
            raise TypeError(f"module {name!r} is a {_kind(module)}, wanted a Module or None")
        self._check_name(name, "module", "_modules")
        self._set_module(name, module)

    def _set_module(self, name: str, module: Any) -> None:
        hooks = _hooks._global_module_registration_hooks
        self._modules[name] = _hooks.registered(hooks, self, name, module) if hooks else module

    def _check_name(self, name: str, what: str, place: str) -> None:
        fields = self.__dict__
        if place not in fields:
            raise _not_ready(self, f"a {what}")
        if not isinstance(name, str):
            raise TypeError(f"the name of a {what} is a {_kind(name)}, wanted a str")
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


def _kind(value: object) -> str:
    return type(value).__name__


def _not_ready(module: object, part: str) -> AttributeError:
    return AttributeError(f"cannot assign {part} before Module.__init__() call: "
                          f"{_kind(module)} must call super().__init__() first")  # fmt: skip


def _of_another_kind(name: str, value: object, what: str, wanted: str) -> TypeError:
    return TypeError(f"{name!r} is a {what} of the module: it cannot become a {_kind(value)}, "
                     f"wanted {wanted} or None")  # fmt: skip
