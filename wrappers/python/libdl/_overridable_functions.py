# SPDX-License-Identifier: Apache-2.0
"""Which functions modes and classes can override, under which names, and with which arguments
PyTorch shows a call of theirs."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ._C import Overridable, Tensor, attribute

if TYPE_CHECKING:
    from inspect import Signature

# Not seen by modes in PyTorch either: settings, files, questions about objects.
UNSEEN = {
    "clear_autocast_cache",
    "compile",
    "from_file",
    "from_numpy",
    "frombuffer",
    "initial_seed",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "load",
    "manual_seed",
    "save",
    "seed",
    "show_config",
    "typename",
}
UNSEEN_METHODS = {"as_subclass"}
_UNSEEN_PREFIXES = ("_", "get_", "set_")

# Functions of nn.functional that are no Python in PyTorch: a call is seen as it was written. Of the
# others arguments with a default are seen by name, all of them.
_AS_WRITTEN = {
    "adaptive_avg_pool1d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "bilinear",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "gelu",
    "hardshrink",
    "linear",
    "logsigmoid",
    "one_hot",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "scaled_dot_product_attention",
    "sigmoid",
    "softplus",
    "softshrink",
    "tanh",
}
# They are no more than another function, which is seen in their place.
_PASSING_ON = {"upsample_bilinear", "upsample_nearest"}
# Functions of Python in PyTorch, of those that are in no module of their own.
_FILLED = {(space, name) for space in ("libdl", "libdl.Tensor") for name in ("norm", "split")}
_METHODS_WITH_DUNDERS = {
    "__array__",
    "__complex__",
    "__contains__",
    "__deepcopy__",
    "__format__",
    "__reduce_ex__",
    "__reversed__",
}

_OPERATORS = {
    f"__{name}__"
    for name in (
        "abs add and bool contains delitem eq float floordiv ge gt iadd iand ifloordiv "
        "ilshift imod imul index int invert ior ipow irshift isub itruediv ixor le len lshift lt "
        "matmul mod mul ne neg or pos pow radd rand repr rfloordiv rlshift rmatmul rmod rmul ror "
        "rpow rrshift rshift rsub rtruediv rxor setitem sub truediv xor"
    ).split()
}


class Shown(NamedTuple):
    """What modes and classes are told of a function."""

    name: str
    filled: bool  # arguments with a default by name, all of them
    indexed: Callable[..., Any] | None  # what PyTorch calls for return_indices


@functools.lru_cache(maxsize=2048)
def signature_of(func: Callable[..., Any]) -> Signature:
    """That of an overridable function."""
    import inspect

    return inspect.signature(func)


def is_seen_method(name: str) -> bool:
    """Whether classes and modes see calls of Tensor's method, if it is written in Python."""
    if name.startswith("__"):
        return name in _METHODS_WITH_DUNDERS
    return name not in UNSEEN_METHODS


class Namespace(NamedTuple):
    """A module whose functions programs call as names of `name`."""

    name: str
    module: types.ModuleType
    names: Iterable[str]


# The package gives a function that imports its public modules and lists them.
NAMESPACES: list[Callable[[], list[Namespace]]] = []


def namespaces() -> list[Namespace]:
    return [space for listed in NAMESPACES for space in listed()]


def _is_filled(space: str, name: str) -> bool:
    if space == "libdl.nn.functional":
        return name not in _AS_WRITTEN
    return space == "libdl.nn.init" or (space, name) in _FILLED


def public_functions() -> Iterator[tuple[str, Any, bool]]:
    """(qualified name, function, whether calls are filled) for all functions and methods."""
    for space, module, names in namespaces():
        for name in sorted(names):
            if name.startswith(_UNSEEN_PREFIXES) or name in UNSEEN | _PASSING_ON:
                continue
            yield f"{space}.{name}", getattr(module, name), _is_filled(space, name)
    for name, function in vars(Tensor).items():
        if is_seen_method(name):
            yield f"libdl.Tensor.{name}", function, _is_filled("libdl.Tensor", name)


@functools.cache
def functions() -> dict[Any, Shown]:
    """All that can be overridden; one under several names has the first."""
    collected: dict[Any, tuple[str, bool]] = {}
    for name, function, filled in public_functions():
        if isinstance(function, Overridable):
            collected.setdefault(function, (name, filled))
    named = {name: function for function, (name, _) in collected.items()}
    return {
        function: Shown(name, filled, named.get(f"{name}_with_indices"))
        for function, (name, filled) in collected.items()
    }


@functools.cache
def of_c() -> dict[str, Any]:
    """What Tensor has of C's and modes see: operators, methods and attributes, by name."""
    kinds = (types.MethodDescriptorType, types.GetSetDescriptorType, attribute)
    return {
        name: own
        for name, own in vars(Tensor).items()
        if (isinstance(own, types.WrapperDescriptorType) and name in _OPERATORS)
        or (isinstance(own, kinds) and not name.startswith("__"))
    }


def as_seen(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with which PyTorch shows the call."""
    shown = functions().get(func)
    return _filled(func, args, kwargs) if shown is not None and shown.filled else (args, kwargs)


def instead(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], dict[str, Any]] | None:
    """What PyTorch calls where the call asks for indices, and its arguments by name; or None."""
    shown = functions().get(func)
    if shown is None or shown.indexed is None:
        return None
    value = _given(func, args, kwargs)
    if value is None or value.get("return_indices") is not True:
        return None
    if "return_indices" not in signature_of(shown.indexed).parameters:
        del value["return_indices"]
    return shown.indexed, value


def _given(func: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any] | None:
    try:
        return dict(signature_of(func).bind(*args, **kwargs).arguments)
    except TypeError:
        return None  # the function itself will say what is wrong


def _filled(
    func: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Required arguments by position, the others by name with their defaults; what PyTorch does not
    have (keyword-only here) only if it was given."""
    value = _given(func, args, kwargs)
    if value is None:
        return args, kwargs
    positions, names = [], {}
    for name, parameter in signature_of(func).parameters.items():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            names.update({name: value[name]} if name in value else {})
        elif parameter.default is parameter.empty:
            positions.append(value[name])
        else:
            names[name] = value.get(name, parameter.default)
    return tuple(positions), names
