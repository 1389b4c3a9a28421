# SPDX-License-Identifier: Apache-2.0
"""Calls on their way to a mode or a class, with the arguments that the program wrote.

The C half finds arguments of overriding classes by itself, but late: inside functions that are
composed of others, and after defaults were filled in. So while somebody wants to see calls, each
public function runs the code of _relay. It stays the same object, whoever imported it, and nothing
is paid while nobody looks."""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from . import _C, _slots
from ._C import Tensor
from ._vmap_levels import Batched
from ._overrides import disabled, modes, override, through_mode

# Not seen by modes in PyTorch either: settings, files, questions about objects.
UNSEEN = {
    "clear_autocast_cache", "compile", "from_file", "from_numpy", "frombuffer", "initial_seed",
    "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
    "is_grad_enabled", "is_inference_mode_enabled", "is_tensor", "load", "manual_seed", "save",
    "seed", "show_config", "typename",
}  # fmt: skip
UNSEEN_METHODS = {"as_subclass"}
_UNSEEN_PREFIXES = ("_", "get_", "set_")

# Functions of nn.functional that are no Python in PyTorch: a call is seen as it was written. Of the
# others arguments with a default are seen by name, all of them.
_AS_WRITTEN = {
    "adaptive_avg_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "channel_shuffle",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "cosine_similarity", "gelu", "hardshrink", "linear", "logsigmoid", "one_hot",
    "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu",
    "scaled_dot_product_attention", "sigmoid", "softplus", "softshrink", "tanh",
}  # fmt: skip
# Functions that take the values of what they are given, whatever its class: modes see them, classes
# do not.
_OF_VALUES = {"libdl.as_tensor", "libdl.asarray", "libdl.tensor"}
# They are no more than another function, which is seen in their place.
_PASSING_ON = {"upsample_bilinear", "upsample_nearest"}
_INIT = ("constant_", "kaiming_uniform_", "normal_", "uniform_")


class Relay:
    """One public function, and what it is while it relays."""

    def __init__(self, function: types.FunctionType, name: str, filled: bool) -> None:
        self.function, self.name, self.filled = function, name, filled
        self.code, self.keyword_defaults = function.__code__, function.__kwdefaults__
        self.own = types.FunctionType(self.code, function.__globals__, function.__name__,
                                      function.__defaults__, function.__closure__)  # fmt: skip
        self.own.__kwdefaults__ = self.keyword_defaults
        self.own.__dict__.update(function.__dict__)
        self.indexed: Callable[..., Any] | None = None  # what PyTorch calls for return_indices
        self._signature: inspect.Signature | None = None
        self._starts = 0
        self._also: Callable[[types.FunctionType], bool] | None = None

    def keep(self, also: Callable[[types.FunctionType], bool] | None) -> None:
        """The function relays for ever; if also(function) holds, whatever the arguments."""
        with _lock:
            self.start()
            self._also = also

    def start(self) -> None:
        """Under the lock. The keyword comes first, and goes last: another thread may call at any
        moment."""
        self._starts += 1
        if self._starts > 1:
            return
        relaying = _relay_code(len(self.code.co_freevars)).replace(co_name=self.code.co_name)
        self.function.__kwdefaults__ = {**(self.keyword_defaults or {}), "_relay": self}
        self.function.__dict__["__wrapped__"] = self.own  # for signatures
        self.function.__code__ = relaying

    def stop(self) -> None:
        self._starts -= 1
        if self._starts:
            return
        self.function.__code__ = self.code
        self.function.__kwdefaults__ = self.keyword_defaults
        del self.function.__dict__["__wrapped__"]
        self.function.__dict__.update(self.own.__dict__)  # its own, if it is decorated

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not (modes.stack or _overrides_among(args)
                or (kwargs and _overrides_among(kwargs.values()))
                or (self._also is not None and self._also(self.function))):
            return self.own(*args, **kwargs)
        if self.name in _OF_VALUES and not modes.stack and not _stand_in_among(args):
            with disabled():
                return self.own(*args, **kwargs)
        if self.indexed is not None and (given := self._asking_for_indices(args, kwargs)):
            return self.indexed(**given)
        if self.filled:
            args, kwargs = self._filled(args, kwargs)
        if modes.stack:
            return through_mode(self.function, args, kwargs)
        return override(self.function, *args, **kwargs)

    def _filled(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Required arguments by position, the others by name with their defaults; what PyTorch
        does not have (keyword-only here) only if it was given."""
        signature = self._signature_of_own()
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return args, kwargs  # the function itself will say what is wrong
        positions, names = [], {}
        for name, parameter in signature.parameters.items():
            if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
                names.update({name: given[name]} if name in given else {})
            elif parameter.default is parameter.empty:
                positions.append(given[name])
            else:
                names[name] = given.get(name, parameter.default)
        return tuple(positions), names


    def _signature_of_own(self) -> inspect.Signature:
        if self._signature is None:
            self._signature = inspect.signature(self.own)
        return self._signature

    def _asking_for_indices(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """The arguments for the function with indices; none, if they are not asked for."""
        if _stand_in_among((*args, *kwargs.values())):  # vmap has a rule for both
            return {}
        try:
            given = dict(self._signature_of_own().bind(*args, **kwargs).arguments)
        except TypeError:
            return {}
        if given.get("return_indices") is not True:
            return {}
        if "return_indices" not in inspect.signature(self.indexed).parameters:  # type: ignore[arg-type]
            del given["return_indices"]
        return given


@functools.cache
def _relay_code(variables: int) -> types.CodeType:
    """The code of _relay for a function that closes over so many variables: it must close over as
    many, and begin by taking them, or whoever looks at the frame's variables reads what is not
    there."""
    names = ", ".join(f"v{i}" for i in range(variables))
    text = f"""
def around({names}):
    def _relay(*args, _relay, **kwargs):
        return _relay.call(args, kwargs)
        ({names})
    return _relay
"""
    space: dict[str, Any] = {}
    exec(compile(text, __file__, "exec"), space)
    code: types.CodeType = space["around"](*[None] * variables).__code__
    return code


def _overrides_among(values: Any) -> bool:
    for value in values:
        if _has_override(value):
            return True
        if type(value) in (tuple, list) and _overrides_among(value):
            return True
    return False


_has_override = _C.has_override


def _stand_in_among(values: Any) -> bool:
    """Whether one is a batch, or a list that holds one."""
    return any(
        type(value) is Batched or (type(value) in (tuple, list) and _stand_in_among(value))
        for value in values
    )


# -- which functions -------------------------------------------------------------------------------


def _public(space: Any, names: Any) -> Iterator[tuple[str, Any]]:
    for name in sorted(names):
        if not name.startswith(_UNSEEN_PREFIXES) and name not in UNSEEN:
            yield name, getattr(space, name)


def _named() -> Iterator[tuple[str, Any, bool]]:
    """(qualified name, function, whether calls are filled) for all functions of Python's."""
    import libdl
    from libdl import _in_place, linalg, special
    from libdl.nn import _top_level, functional, init

    for name, function in _public(libdl, vars(libdl)):
        yield f"libdl.{name}", function, name in ("norm", "split")
    for name, function in _public(functional, dir(functional)):
        if name not in _PASSING_ON:
            yield f"libdl.nn.functional.{name}", function, name not in _AS_WRITTEN
    for space, names in (("linalg", linalg), ("special", special)):
        for name, function in _public(names, names.__all__):
            yield f"libdl.{space}.{name}", function, False
    for place in (_in_place, _top_level):  # where libdl's names are, until somebody asks for them
        for name, function in _public(place, place.__all__):
            yield f"libdl.{name}", function, False
    for name in _INIT:
        yield f"libdl.nn.init.{name}", getattr(init, name), True
    for name, function in vars(Tensor).items():
        hidden = name.startswith("__") and name not in _METHODS_WITH_DUNDERS
        if not hidden and name not in UNSEEN_METHODS:
            yield f"libdl.Tensor.{name}", function, name in ("norm", "split")


_METHODS_WITH_DUNDERS = {
    "__array__", "__complex__", "__contains__", "__deepcopy__", "__format__", "__reduce_ex__",
    "__reversed__",
}  # fmt: skip
_relays: list[Relay] = []


def relays() -> list[Relay]:
    """All functions that can relay. Those under several names have the first one."""
    if not _relays:
        found: dict[int, Relay] = {}
        for name, function, filled in _named():
            if isinstance(function, types.FunctionType) and _slots.is_own(function):
                found.setdefault(id(function), Relay(function, name, filled))
        named = {relay.name: relay for relay in found.values()}
        for name, relay in named.items():
            if (indexed := named.get(f"{name}_with_indices")) is not None:
                relay.indexed = indexed.function
        _relays.extend(found.values())
    return _relays


# -- when ------------------------------------------------------------------------------------------

_lock = threading.RLock()
_watchers = {"calls": 0, "modes": 0}


def watch(*, modes_too: bool = False) -> None:
    """From now on functions relay, and what C does itself if modes are to see it, until unwatch was
    called as often."""
    with _lock:
        _watchers["calls"] += 1
        if _watchers["calls"] == 1:
            for relay in relays():
                relay.start()
        _watchers["modes"] += modes_too
        if modes_too and _watchers["modes"] == 1:
            _slots.stand_in()


def unwatch(*, modes_too: bool = False) -> None:
    """Ends what watch began."""
    with _lock:
        _watchers["modes"] -= modes_too
        if modes_too and _watchers["modes"] == 0:
            _slots.stand_back()
        _watchers["calls"] -= 1
        if _watchers["calls"] == 0:
            for relay in relays():
                relay.stop()
