# SPDX-License-Identifier: Apache-2.0
"""Rules of views, joins and indexing."""

from __future__ import annotations

from typing import Any

import libdl

from .. import _functions as F
from .._C import Tensor
from .._levels import spread, value_at
from .._overrides import DisableTorchFunction
from ._rules import Call, ranked, rule, shifted


def _sizes(given: dict[str, Any]) -> list[int]:
    """Sizes, however they were written."""
    found = [value for name, value in given.items() if name != "input"]
    flat: list[int] = []
    for value in found:
        flat.extend(value) if isinstance(value, (tuple, list)) else flat.append(value)
    while len(flat) == 1 and isinstance(flat[0], (tuple, list)):
        flat = list(flat[0])
    return flat


@rule("view", "reshape")
def view(call: Call) -> Any:
    value = call.args[0].value
    given = call.named()
    if any(isinstance(x, type(call.args[0].dtype)) for x in (*call.args, *call.kwargs.values())):
        return call.wrapped(call.func(value, *call.args[1:], **call.kwargs))
    sizes = _sizes(given)
    if -1 in sizes and value.shape[0] == 0:
        with DisableTorchFunction():
            sizes = list(call.args[0].reshape(sizes).shape)
    return call.wrapped(getattr(value, call.name)(value.shape[0], *sizes))


@rule("expand", "repeat", "tile", "broadcast_to")
def expand(call: Call) -> Any:
    value = call.args[0].value
    sizes = _sizes(call.named())
    name = "expand" if call.name == "broadcast_to" else call.name
    first = value.shape[0] if name == "expand" else 1
    if call.name == "tile":
        sizes = [1] * (value.ndim - 1 - len(sizes)) + sizes
    value = ranked(value, len(sizes))
    return call.wrapped(getattr(value, name)(first, *sizes))


@rule("expand_as", "view_as", "reshape_as")
def as_other(call: Call) -> Any:
    x, other = call.args
    with call.seen():
        return getattr(x, call.name.removesuffix("_as"))(other.shape)


@rule("permute")
def permute(call: Call) -> Any:
    x = call.args[0]
    return call.wrapped(x.value.permute(0, *shifted(_sizes(call.named()), x.ndim)))


@rule("new_zeros", "new_ones", "new_empty", "new_full")
def new(call: Call) -> Any:
    given = call.named()
    value = given.pop("input").value
    size = given.pop("size", given.pop("sizes", ()))
    while isinstance(size, (tuple, list)) and len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    size = (size,) if isinstance(size, int) else tuple(size)
    fill = [given.pop("fill_value")] if call.name == "new_full" else []
    return call.wrapped(getattr(value, call.name)((value.shape[0], *size), *fill, **given))


# The arguments that name dimensions, and their defaults. None: not given is not shifted.
_DIMENSIONS: dict[str, dict[str, Any]] = {
    **dict.fromkeys("transpose swapaxes swapdims".split(), {"dim0": 0, "dim1": 1,
                    "axis0": None, "axis1": None}),
    **dict.fromkeys("movedim moveaxis".split(), {"source": None, "destination": None}),
    "flatten": {"start_dim": 0, "end_dim": -1},
    "unflatten": {"dim": None},
    "select": {"dim": None}, "narrow": {"dim": None}, "unfold": {"dimension": None, "dim": None},
    **dict.fromkeys("unbind chunk split split_with_sizes tensor_split unsafe_chunk".split(),
                    {"dim": 0}),
    "diagonal": {"dim1": 0, "dim2": 1}, "rot90": {"dims": (0, 1)},
}  # fmt: skip


@rule(*_DIMENSIONS)
def along(call: Call) -> Any:
    """Views that name dimensions of a sample."""
    given = call.named()
    x = given.pop("input")
    if value_at(x, call.level) is None or "kernel_size" in given:  # nn.functional.unfold
        return NotImplemented
    if x.ndim == 0:
        return NotImplemented
    for name, default in _DIMENSIONS[call.name].items():
        dim = given.get(name, default)
        if dim is not None:
            given[name] = shifted(dim, x.ndim)
    if "axis0" in given:
        given.pop("dim0"), given.pop("dim1")
    return call.wrapped(call.func(x.value, **given))


@rule("unsqueeze")
def unsqueeze(call: Call) -> Any:
    given = call.named()
    x = given["input"]
    return call.wrapped(x.value.unsqueeze(shifted(given["dim"], x.ndim + 1)))


@rule("squeeze")
def squeeze(call: Call) -> Any:
    given = call.named()
    x, dim = given["input"], given.get("dim")
    if dim is None:
        dim = [i for i, size in enumerate(x.shape) if size == 1]
    dims = [dim] if isinstance(dim, int) else list(dim)
    if x.ndim == 0:
        return x
    return call.wrapped(x.value.squeeze(shifted(dims, x.ndim)) if dims else x.value.view(
        x.value.shape))  # fmt: skip


@rule("t", "T.__get__")
def transposed(call: Call) -> Any:
    x = call.args[0]
    return call.wrapped(x.value.permute(0, *range(x.ndim, 0, -1)))


@rule("mT.__get__", "mH.__get__", "adjoint", "tril", "triu", "diag_embed", "H.__get__")
def trailing(call: Call) -> Any:
    """What counts dimensions from the end."""
    if call.name == "diag_embed" and (len(call.args) > 2 or set(call.kwargs) - {"offset"}):
        return NotImplemented
    if call.args[0].ndim < 2 and call.name != "diag_embed":
        return NotImplemented
    name = call.name.removesuffix(".__get__")
    if name != call.name:
        return call.wrapped(getattr(call.args[0].value, "mH" if name == "H" else name))
    return call.wrapped(call.func(call.args[0].value, *call.args[1:], **call.kwargs))


@rule("cat", "concat", "concatenate", "stack")
def join(call: Call) -> Any:
    given = call.named()
    tensors = list(given.pop("input"))
    if given.pop("out", None) is not None:
        return NotImplemented
    dim = given.pop("dim", given.pop("axis", 0))
    rank = max(x.ndim for x in tensors) + (call.name == "stack")
    values = [spread(x, call.level) for x in tensors]
    return call.wrapped(call.func(values, dim=shifted(dim, rank)))


# -- indexing --------------------------------------------------------------------------------------


def _key(index: Any) -> list[Any]:
    return list(index) if isinstance(index, tuple) else [index]


def _is_advanced(part: Any) -> bool:
    return isinstance(part, (Tensor, list))


def _result_rank(call: Call, x: Tensor, key: list[Any]) -> int:
    with DisableTorchFunction():
        found: Tensor = x[tuple(key)]
        return found.ndim


def _front(key: list[Any]) -> int | None:
    """Where the dimensions of advanced indices end up with the batch before them; None: in front of
    it."""
    places = [i for i, part in enumerate(key) if _is_advanced(part)]
    if not places or all(_is_advanced(part) for part in key[places[0] : places[-1] + 1]):
        return None
    with DisableTorchFunction():
        return max(x.ndim if isinstance(x, Tensor) else 1 for x in key if _is_advanced(x))


@rule("__getitem__")
def getitem(call: Call) -> Any:
    x, key = call.args[0], _key(call.args[1])
    value = value_at(x, call.level)
    if any(value_at(part, call.level) is not None for part in key):
        return _gathered(call, x, key)
    assert value is not None
    apart = _front(key)
    found = value[(slice(None), *key)]
    return call.wrapped(found if apart is None else found.movedim(apart, 0))


def _gathered(call: Call, x: Tensor, key: list[Any]) -> Any:
    """With indices that differ between samples: they must come first, one beside the other."""
    if any(isinstance(part, Tensor) and not _is_integer(part) for part in key):
        raise RuntimeError(
            "vmap: x[mask] with a mask that differs between samples has results of different "
            "shapes; where(mask, x, 0) has one shape"
        )
    count = next((i for i, part in enumerate(key) if not _is_advanced(part)), len(key))
    if any(_is_advanced(part) for part in key[count:]) or not all(
        isinstance(part, Tensor) for part in key[:count]
    ):
        return NotImplemented
    parts = _aligned_indices(call, key[:count])
    value = value_at(x, call.level)
    if value is not None:
        own = libdl.arange(value.shape[0], device=value.device)
        parts.insert(0, own.view(-1, *[1] * (parts[0].ndim - 1)))
    rest = tuple(key[count:])
    return call.wrapped((x if value is None else value)[(*parts, *rest)])


def _is_integer(x: Tensor) -> bool:
    return not x.dtype.is_floating_point and str(x.dtype) not in ("libdl.bool", "libdl.uint8")


def _aligned_indices(call: Call, key: list[Any]) -> list[Any]:
    rank = max(part.ndim for part in key)
    parts = []
    for part in key:
        value = value_at(part, call.level)
        parts.append(part if value is None else ranked(value, rank))
    return parts


@rule("__setitem__")
def setitem(call: Call) -> Any:
    x, key, new = call.args[0], _key(call.args[1]), call.args[2]
    value = value_at(x, call.level)
    if value is None:
        raise call.unwritable()
    mapped = any(value_at(part, call.level) is not None for part in key)
    if mapped and len(key) == 1 and not _is_integer(key[0]) and (
        not isinstance(new, Tensor) or new.ndim == 0
    ):  # fmt: skip
        with call.seen():
            x.masked_fill_(key[0], new)
        return None
    if mapped or _front(key) is not None:
        return NotImplemented
    given = value_at(new, call.level)
    if given is not None:
        given = ranked(given, _result_rank(call, x, key))
    value[(slice(None), *key)] = new if given is None else given
    return None


def _with_all_spread(call: Call, names: tuple[str, ...]) -> Any:
    given = call.named()
    rank = given["input"].ndim
    if rank == 0:
        return NotImplemented
    if call.writes and value_at(given["input"], call.level) is None:
        raise call.unwritable()
    for name in names:
        if isinstance(given.get(name), Tensor):
            given[name] = spread(given[name], call.level)
    given["dim"] = shifted(given["dim"], rank)
    x = given.pop("input")
    value = spread(x, call.level)
    answer = call.func(value, **given)
    return x if call.writes else call.wrapped(answer)


@rule("gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce",
      "scatter_reduce_")  # fmt: skip
def gather(call: Call) -> Any:
    """Every sample has its own rows."""
    given = call.named()
    index = given["index"]
    if index.ndim != given["input"].ndim or given.get("out") is not None:
        return NotImplemented
    return _with_all_spread(call, ("index", "src", "value"))


@rule("roll")
def roll(call: Call) -> Any:
    given = call.named()
    x, dims = given["input"], given.get("dims")
    if dims is None or x.ndim == 0 or dims == ():
        flat = x.value.flatten(1) if x.ndim else x.value.unsqueeze(1)
        return call.wrapped(flat.roll(given["shifts"], 1).view(x.value.shape))
    return call.wrapped(x.value.roll(given["shifts"], shifted(dims, x.ndim)))


@rule("index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_fill_")
def index_write(call: Call) -> Any:
    given = call.named()
    if value_at(given["index"], call.level) is not None or given.get("out") is not None:
        return NotImplemented
    if call.name.startswith("index_fill") and isinstance(given["value"], Tensor):
        return NotImplemented
    return _with_all_spread(call, ("source",))


@rule("index_select")
def index_select(call: Call) -> Any:
    given = call.named()
    x, dim, index = given["input"], given["dim"], given["index"]
    if x.ndim == 0 or given.get("out") is not None:
        return NotImplemented
    if value_at(index, call.level) is None:
        return call.wrapped(x.value.index_select(shifted(dim, x.ndim), index))
    with call.seen():
        return x.movedim(dim, 0)[index.reshape(-1)].movedim(0, dim)


@rule("as_strided", "as_strided_")
def as_strided(call: Call) -> Any:
    raise RuntimeError("vmap: as_strided reads memory as it lies, and where a sample lies there is "
                       "not defined; use select, narrow or unfold")  # fmt: skip


@rule("sparse_coo_tensor")
def sparse(call: Call) -> Any:
    raise NotImplementedError("vmap: sparse tensors cannot be mapped over")
