# SPDX-License-Identifier: Apache-2.0
"""A module's state as a dictionary, and loading it.

Every module writes and reads its own part under a prefix, so that a subclass may change how: it
overrides _save_to_state_dict and _load_from_state_dict, or registers hooks."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .._C import Tensor
from .._modes import no_grad
from ._hooks import RemovableHandle as _Handle, added
from ._walks import ModuleWalks
from .parameter import Parameter, is_lazy

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


class ModuleState(ModuleWalks):
    """state_dict, load_state_dict and their hooks."""

    _version = 1  # of the state's format, kept in the metadata

    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

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

    # -- saving ------------------------------------------------------------------------------------

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "",
                   keep_vars: bool = False) -> dict[str, Any]:  # fmt: skip
        """All parameters and persistent buffers by name, sharing their memory.

        Arguments:
            destination: a dictionary to add them to
            prefix: in front of the names
            keep_vars: whether they are the parameters themselves, and not without history
        """
        if args:
            warnings.warn("state_dict: positional arguments are deprecated, please use keywords",
                          FutureWarning, stacklevel=2)  # fmt: skip
            given = dict(zip(("destination", "prefix", "keep_vars"), args))
            destination = given.get("destination", destination)
            prefix, keep_vars = given.get("prefix", prefix), given.get("keep_vars", keep_vars)
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
                    raise RuntimeError("state_dict: a post-hook returned a "
                                       f"{type(answer).__name__}, wanted None")  # fmt: skip
                destination = answer
        state: dict[str, Any] = destination
        return state

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Adds the module's own state, without that of its submodules, to a dictionary."""
        for name, value in self._own_state().items():
            whole = keep_vars or is_lazy(value)
            destination[prefix + name] = value if whole else value.detach()
        if type(self).get_extra_state is not ModuleState.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    # -- loading -----------------------------------------------------------------------------------

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> _IncompatibleKeys:  # fmt: skip
        """Copies a state into the parameters and buffers.

        Arguments:
            state_dict: tensors by name
            strict: whether names must agree exactly
            assign: whether tensors take the place of parameters and buffers, and are not copied
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError("load_state_dict: argument 1 (state_dict) is a "
                            f"{type(state_dict).__name__}, wanted a dict of tensors")  # fmt: skip
        metadata = getattr(state_dict, "_metadata", None)

        def load(checks: bool) -> _IncompatibleKeys:
            given: Any = OrderedDict(state_dict)
            if metadata is not None:
                given._metadata = metadata
            incompatible, problems = _IncompatibleKeys([], []), list[str]()
            extra = {_ONLY_CHECKS: True} if checks else {}
            if assign:
                extra["assign_to_params_buffers"] = True
            _load_into(self, given, "", metadata, extra, incompatible, problems)
            _raise_problems(type(self).__name__, strict, incompatible, problems)
            return incompatible

        if _only_copies(self):
            load(checks=True)  # so that a failed call changes nothing
        return load(checks=False)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Loads the module's own state, without that of its submodules.

        Arguments:
            state_dict: of names that begin with the prefix
            local_metadata: what _version was when the state was saved, if that is known
            strict: whether to report names
            missing_keys, unexpected_keys, error_msgs: to which reports are added
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                 error_msgs)  # fmt: skip
        own = self._own_state()
        for name, value in own.items():
            key = prefix + name
            if key in state_dict:
                problem = _load_one(self, name, value, state_dict[key], key, local_metadata)
                error_msgs.extend(filter(None, [problem]))
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        has_extra = type(self).set_extra_state is not ModuleState.set_extra_state
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

    # -- hooks -------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> _Handle:
        """Calls hook(module, prefix, keep_vars) before the state is collected."""
        return added(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> _Handle:
        """Calls hook(module, state_dict, prefix, local_metadata) afterwards; it may change the
        dictionary and must return None."""
        hook._from_public_api = True
        return added(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Any) -> _Handle:
        """As register_state_dict_post_hook, but what the hook returns replaces the dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("_register_state_dict_hook: the hook was registered by "
                               "register_state_dict_post_hook before")  # fmt: skip
        return added(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Any) -> _Handle:
        """Calls hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs) before the module's own state is loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Any,
                                           with_module: bool = False) -> _Handle:  # fmt: skip
        return added(self._load_state_dict_pre_hooks, _WrappedHook(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Any) -> _Handle:
        """Calls hook(module, incompatible_keys) after the module and its submodules are loaded; it
        may change both lists."""
        return added(self._load_state_dict_post_hooks, hook)


class _WrappedHook:
    """A hook whose first argument is the module; a copy of the module has it with the copy. Its
    state is PyTorch's, whose modules wrap hooks without the module, too."""

    def __init__(self, hook: Any, module: Any = None) -> None:
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


def _load_into(module: Any, given: Any, prefix: str, metadata: Any, extra: dict[str, bool],
               incompatible: _IncompatibleKeys, problems: list[str]) -> None:  # fmt: skip
    """Loads a module and all below it; given: of names that begin with the prefix."""
    local = {**({} if metadata is None else metadata.get(prefix[:-1], {})), **extra}
    module._load_from_state_dict(given, prefix, local, True, incompatible.missing_keys,
                                 incompatible.unexpected_keys, problems)  # fmt: skip
    for name, child in module._modules.items():
        if child is not None:
            inner = f"{prefix}{name}."
            part = {key: value for key, value in given.items() if key.startswith(inner)}
            _load_into(child, part, inner, metadata, extra, incompatible, problems)
    if _ONLY_CHECKS not in extra:
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, incompatible) is not None:
                raise AssertionError("load_state_dict: a post-hook must return None, and change "
                                     "incompatible_keys in place")  # fmt: skip


def _load_one(module: Any, name: str, value: Tensor, given: Any, key: str,
              local_metadata: Any) -> str | None:  # fmt: skip
    """Loads one parameter or buffer; returns what is wrong, if anything is."""
    if not isinstance(given, Tensor):
        return f'While copying the parameter named "{key}": found {type(given)}, wanted a tensor'
    if is_lazy(given) and not is_lazy(value):
        return f'While copying the parameter named "{key}": it has no shape yet in the state'
    if not is_lazy(value):
        if value.ndim == 0 and given.shape == (1,):
            given = given[0]  # how numbers were saved once
        if given.shape != value.shape:
            return (f"size mismatch for {key}: the state has shape {given.shape}, the model "
                    f"{value.shape}.")  # fmt: skip
    if local_metadata.get(_ONLY_CHECKS) or is_lazy(given):
        return None
    try:
        with no_grad():
            if not local_metadata.get("assign_to_params_buffers"):
                if value.is_meta and not given.is_meta:
                    warnings.warn(f"for {key}: {_NO_COPY}", stacklevel=2)
                value.copy_(given)
                return None
            if isinstance(value, Parameter):
                if isinstance(given, Parameter):
                    given.requires_grad_(value.requires_grad)
                else:
                    given = Parameter(given, value.requires_grad)
            setattr(module, name, given)
    except Exception as error:
        return f'While copying the parameter named "{key}": {error}'
    return None


def _only_copies(module: Any) -> bool:
    """Whether nothing of the user's takes part in loading a module and all below it: the protocol
    may run twice."""
    kind = type(module)
    below = (part for part in module._modules.values() if part is not None)
    return all(map(_only_copies, below)) and (
        kind._load_from_state_dict.__module__.partition(".")[0] == __package__.partition(".")[0]
        and kind.set_extra_state is ModuleState.set_extra_state
        and not module._load_state_dict_pre_hooks
        and not module._load_state_dict_post_hooks
    )


def _raise_problems(name: str, strict: bool, incompatible: _IncompatibleKeys,
                    problems: list[str]) -> None:  # fmt: skip
    told = list(problems)
    if strict:
        for what, keys in (("Unexpected", incompatible.unexpected_keys),
                           ("Missing", incompatible.missing_keys)):  # fmt: skip
            if keys:
                quoted = ", ".join(f'"{key}"' for key in keys)
                told.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
    if told:
        raise RuntimeError(f"Error(s) in loading state_dict for {name}:\n\t" + "\n\t".join(told))
