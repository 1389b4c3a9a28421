# SPDX-License-Identifier: Apache-2.0
"""Rules of views, joins and indexing."""

from __future__ import annotations

import functools
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._creation import tensor
from .._vmap_levels import Batched, needs_loop, own_copy, spread, take_value, value_at
from ..functional import broadcast_shapes
from .._types import promote_types
from ._indices import Key
from ._rules import Call, elementwise, ranked, rule, shifted
from ._rules_layers import folded


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
        sizes = list(F.zeros(0).expand(*call.args[0].shape, 0).reshape(*sizes, 0).shape[:-1])
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
    **dict.fromkeys(
        "transpose swapaxes swapdims".split(), {"dim0": 0, "dim1": 1, "axis0": None, "axis1": None}
    ),
    **dict.fromkeys("movedim moveaxis".split(), {"source": None, "destination": None}),
    "flatten": {"start_dim": 0, "end_dim": -1},
    "unflatten": {"dim": None},
    "select": {"dim": None},
    "narrow": {"dim": None},
    "unfold": {"dimension": None, "dim": None},
    **dict.fromkeys(
        "unbind chunk split split_with_sizes tensor_split unsafe_chunk".split(), {"dim": 0}
    ),
    "diagonal": {"dim1": 0, "dim2": 1},
    "rot90": {"dims": (0, 1)},
    "diag_embed": {"dim1": -2, "dim2": -1},
}


@rule(*_DIMENSIONS)
def along(call: Call) -> Any:
    """Views that name dimensions of a sample."""
    given = call.named()
    x = given.pop("input")
    if "kernel_size" in given:  # nn.functional.unfold
        return folded(call, 4)
    if value_at(x, call.level) is None:
        return NotImplemented
    rank = x.ndim + (call.name == "diag_embed")  # whose dimensions are the result's
    if x.ndim == 0:
        return _of_one_element(call, x, given)
    for name, default in _DIMENSIONS[call.name].items():
        dim = given.get(name, default)
        if dim is not None:
            given[name] = shifted(dim, rank)
    if "axis0" in given:
        given.pop("dim0"), given.pop("dim1")
    return call.wrapped(call.func(x.value, **given))


def _of_one_element(call: Call, x: Any, given: dict[str, Any]) -> Any:
    """What is a view of a 0-d sample x stays one: its element keeps its place."""
    probe = call.func(F.empty((), dtype=x.dtype, device="meta"), **given)
    if not isinstance(probe, Tensor) or probe.numel() != 1:
        return NotImplemented
    return call.wrapped(x.value.view(x.value.shape[0], *probe.shape))


@rule("contiguous")
def contiguous(call: Call) -> Any:
    """A sample without gaps is itself, wherever the batch's dimension lies in memory."""
    x = call.args[0]
    return x if len(call.args) == 1 and not call.kwargs and x.is_contiguous() else elementwise(call)


@rule("unsqueeze")
def unsqueeze(call: Call) -> Any:
    given = call.named()
    x = given["input"]
    return call.wrapped(x.value.unsqueeze(shifted(given["dim"], x.ndim + 1)))


@rule("squeeze")
def squeeze(call: Call) -> Any:
    given = call.named()
    x, dim = given.pop("input"), given.get("dim")
    if dim is None:
        dim = [i for i, size in enumerate(x.shape) if size == 1]
    dims = [dim] if isinstance(dim, int) else list(dim)
    if x.ndim == 0:
        return _of_one_element(call, x, given)
    return call.wrapped(
        x.value.squeeze(shifted(dims, x.ndim)) if dims else x.value.view(x.value.shape)
    )


@rule("real.__get__", "imag.__get__", "data.__get__", "grad.__get__")
def attribute(call: Call) -> Any:
    """An attribute that is a tensor, or None."""
    return call.wrapped(getattr(call.args[0].value, call.name.removesuffix(".__get__")))


@rule("t", "T.__get__")
def transposed(call: Call) -> Any:
    x = call.args[0]
    if x.ndim > 2:  # with a warning, or an error
        call.func(F.empty(x.shape, dtype=x.dtype, device="meta"))
    return call.wrapped(x.value.permute(0, *range(x.ndim, 0, -1)))


@rule("mT.__get__", "mH.__get__", "adjoint", "tril", "triu", "H.__get__")
def trailing(call: Call) -> Any:
    """What counts dimensions from the end."""
    if call.args[0].ndim == 0 and call.name not in ("tril", "triu"):
        return _of_one_element(call, call.args[0], {})
    if call.args[0].ndim < 2:
        return NotImplemented
    if call.name == "H.__get__" and call.args[0].ndim > 2:
        return call.func(F.empty(call.args[0].shape, device="meta"))  # an error
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
    if call.name != "stack":
        tensors = _without_nothing(tensors)
    rank = max(x.ndim for x in tensors) + (call.name == "stack")
    values = [spread(x, call.level) for x in tensors]
    return call.wrapped(call.func(values, dim=shifted(dim, rank)))


def _without_nothing(tensors: list[Any]) -> list[Any]:
    """What is joined: vectors without elements fit beside any shape, and give their dtype alone."""
    kept = [x for x in tensors if x.ndim != 1 or x.numel()]
    if not kept or all(x.ndim == 1 for x in kept):
        return tensors
    dtype = functools.reduce(promote_types, [x.dtype for x in tensors])
    return [x.to(dtype) for x in kept]


# -- in place --------------------------------------------------------------------------------------


RESHAPING = {"unsqueeze_", "squeeze_", "t_", "transpose_", "swapaxes_", "swapdims_"}


@rule(*RESHAPING)
def reshaped(call: Call) -> Any:
    """The tensor stands for a view of its values from now on."""
    x = call.args[0]
    with call.seen():
        y = getattr(x, call.name[:-1])(*call.args[1:], **call.kwargs)
        if y is not x:
            take_value(x, y.value)
    return x


@rule("resize_", "resize_as_", "set_", "data.__set__")
def replaced(call: Call) -> Any:
    raise needs_loop(
        f"vmap: {call.name.removesuffix('.__set__')} of a tensor that is mapped over "
        "would give it other memory, which its samples do not have"
    )


# -- indexing --------------------------------------------------------------------------------------


@rule("__getitem__")
def getitem(call: Call) -> Any:
    x, key = call.args[0], call.args[1]
    return call.wrapped(Key(call, key, x.shape).read(x))


@rule("__setitem__")
def setitem(call: Call) -> Any:
    x, key, new = call.args
    if value_at(x, call.level) is None:
        raise call.unwritable()
    mask = _mapped_mask(call, key)
    if mask is not None:
        _fill_where(call, x, key, mask, new)
    else:
        Key(call, key, x.shape).write(x, new)


def _mapped_mask(call: Call, key: Any) -> Tensor | None:
    """The mask among the keys that differs between samples, of this level or another."""
    for part in key if isinstance(key, (tuple, list)) else (key,):
        if type(part) is Batched and part.dtype.name in ("bool", "uint8"):
            return part
    return None


def _is_whole(part: Any) -> bool:
    return part is Ellipsis or (isinstance(part, slice) and part == slice(None))


def _fill_where(call: Call, x: Tensor, key: Any, mask: Tensor, new: Any) -> None:
    """x[mask] = a number, which may differ between samples, too."""
    parts = list(key) if isinstance(key, (tuple, list)) else [key]
    at = next(i for i, part in enumerate(parts) if part is mask)
    before, behind = parts[:at], parts[at + 1 :]
    if not all(map(_is_whole, (*before, *behind))) or (
        isinstance(new, Tensor) and new.numel() != 1
    ):
        raise needs_loop(
            "vmap: x[mask] = values with a mask that differs between samples takes a number, and "
            "beside the mask whole dimensions; where(mask, values, x) takes all others"
        )
    after = len(behind) if Ellipsis in before else x.ndim - at - mask.ndim
    with call.seen():
        x.masked_fill_(
            mask.bool().reshape(*mask.shape, *[1] * after),
            new.reshape(()) if isinstance(new, Tensor) else new,
        )


@rule("index_put", "index_put_")
def index_put(call: Call) -> Any:
    given = call.named()
    x, indices, new = given["input"], given["indices"], given["values"]
    if any(
        value_at(part, call.level) is not None and part.dtype.name == "bool" for part in indices
    ):
        return NotImplemented
    if call.writes and value_at(x, call.level) is None:
        raise call.unwritable()
    if not call.writes:
        x = own_copy(x, (new, *indices))
    key = tuple(slice(None) if part is None else part for part in indices)
    Key(call, key, x.shape, numbers_advance=True).write(x, new, given.get("accumulate", False))
    return x


_PLACES = {
    "select_scatter": ("dim",),
    "slice_scatter": ("dim",),
    "diagonal_scatter": ("dim1", "dim2"),
}


@rule(*_PLACES)
def scattered_view(call: Call) -> Any:
    """A copy of the input in which a part is another tensor: both become one of each sample."""
    given = call.named()
    x, src = given.pop("input"), given.pop("src")
    if x.ndim == 0:
        return NotImplemented
    for place, default in zip(_PLACES[call.name], (0, 1)):
        given[place] = shifted(given.get(place, default), x.ndim)
    return call.wrapped(call.func(spread(x, call.level), spread(src, call.level), **given))


@rule("masked_select")
def masked_select(call: Call) -> Any:
    """Where all samples share the mask, and so the result's shape."""
    x, mask = call.args
    if call.value(mask) is not None:
        raise needs_loop(
            "vmap: masked_select with a mask that differs between samples has results of "
            "different shapes; where(mask, x, 0) has one shape"
        )
    shape = broadcast_shapes(x.shape, mask.shape)
    with call.seen():
        return x.expand(shape)[mask.expand(shape)]


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


@rule(
    "gather",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "scatter_reduce",
    "scatter_reduce_",
)
def gather(call: Call) -> Any:
    """Every sample has its own rows."""
    given = call.named()
    index = given["index"]
    if index.ndim != given["input"].ndim or given.get("out") is not None:
        return NotImplemented
    return _with_all_spread(call, ("index", "src", "value"))


@rule("searchsorted", "bucketize")
def searched(call: Call) -> Any:
    """In one row for all samples, or in each sample's own rows."""
    given = call.named()
    if given.get("out") is not None:
        return NotImplemented
    name = "boundaries" if call.name == "bucketize" else "sorted_sequence"
    rows, x, sorter = given.pop(name), given.pop("input"), given.pop("sorter", None)
    if not isinstance(x, Tensor):
        x = tensor(x, device=rows.device)
    value = spread(x, call.level)
    if call.value(rows) is None and call.value(sorter) is None and rows.ndim == 1:
        return call.wrapped(F.searchsorted(rows, value, sorter=sorter, **given))
    sorter = spread(sorter, call.level) if sorter is not None else None
    flat = value.flatten(1) if rows.ndim == 1 and x.ndim else value
    flat = flat if x.ndim else value.unsqueeze(1)
    found = F.searchsorted(spread(rows, call.level), flat, sorter=sorter, **given)
    return call.wrapped(found.reshape(value.shape))


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
        if value_at(given["value"], call.level) is not None:
            return NotImplemented
    return _with_all_spread(call, ("source",))


@rule("put", "put_")
def put(call: Call) -> Any:
    """Each sample's elements are a row, whose places are written; put writes to a copy."""
    given = call.named()
    x, places, source = given.pop("input"), given.pop("index"), given.pop("source")
    if given.pop("out", None) is not None:
        return NotImplemented
    if call.writes and call.value(x) is None:
        raise call.unwritable()
    with call.seen():
        y = x if call.writes else own_copy(x, (places, source))
        flat = y.view(-1) if y.is_contiguous() else y.flatten()
        write = flat.index_add_ if given.get("accumulate") else flat.index_copy_
        write(0, places.flatten(), source.flatten())
        return y if y.is_contiguous() else y.copy_(flat.reshape(y.shape))


@rule("split_copy", "split_with_sizes_copy", "unbind_copy")
def copies_of_parts(call: Call) -> Any:
    """Copies of the views: C's parts of an operator answer single tensors."""
    if call.kwargs.get("out") is not None:
        return NotImplemented
    with call.seen():
        parts = getattr(Tensor, call.name.removesuffix("_copy"))(*call.args, **call.kwargs)
        return tuple(part.clone() for part in parts)


@rule("slice_copy")
def slice_copy(call: Call) -> Any:
    """A copy of the view, which has no function."""
    given = call.named()
    if given.get("out") is not None:
        return NotImplemented
    x, dim = given["input"], given.get("dim", 0)
    wanted = slice(given.get("start"), given.get("end"), given.get("step", 1))
    with call.seen():
        if not -x.ndim <= dim < x.ndim:
            raise IndexError(
                f"slice_copy: argument 2 (dim) is {dim}, wanted {-x.ndim} to {x.ndim - 1}"
            )
        return x[(slice(None),) * (dim % x.ndim) + (wanted,)].clone()


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


@rule("as_strided", "as_strided_", "as_strided_scatter")
def as_strided(call: Call) -> Any:
    raise needs_loop(
        "vmap: as_strided reads memory as it lies, and where a sample lies there is "
        "not defined; use select, narrow or unfold"
    )


@rule("sparse_coo_tensor")
def sparse(call: Call) -> Any:
    raise NotImplementedError("vmap: sparse tensors cannot be mapped over")
