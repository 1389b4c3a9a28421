# SPDX-License-Identifier: Apache-2.0
"""Rules of views, joins and indexing."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import functools
from typing import Any, NoReturn

from .. import _functions as F
from .._C import Tensor
from .._creation import tensor
from .._vmap_levels import Batched, needs_loop, own_copy, spread, take_value, value_at
from ..functional import broadcast_shapes
from .._types import promote_types
from ._indices import Key
from ._rules import Answer, Call, elementwise, ranked, rule, shifted
from ._rules_layers import folded


def _sizes(values: dict[str, Any]) -> list[int]:
    """Sizes, however they were written."""
    results = [value for name, value in values.items() if name != "input"]
    flat: list[int] = []
    for value in results:
        flat.extend(value) if isinstance(value, (tuple, list)) else flat.append(value)
    while len(flat) == 1 and isinstance(flat[0], (tuple, list)):
        flat = list(flat[0])
    return flat


@rule("view", "reshape")
def view(call: Call) -> Answer:
    value = call.args[0].value
    arguments = call.named()
    if any(isinstance(x, type(call.args[0].dtype)) for x in (*call.args, *call.kwargs.values())):
        return call.wrapped(call.func(value, *call.args[1:], **call.kwargs))
    sizes = _sizes(arguments)
    if -1 in sizes and value.shape[0] == 0:
        sizes = list(F.zeros(0).expand(*call.args[0].shape, 0).reshape(*sizes, 0).shape[:-1])
    return call.wrapped(getattr(value, call.name)(value.shape[0], *sizes))


@rule("expand", "repeat", "tile", "broadcast_to")
def expand(call: Call) -> Answer:
    value = call.args[0].value
    sizes = _sizes(call.named())
    name = "expand" if call.name == "broadcast_to" else call.name
    first = value.shape[0] if name == "expand" else 1
    if call.name == "tile":
        sizes = [1] * (value.ndim - 1 - len(sizes)) + sizes
    value = ranked(value, len(sizes))
    return call.wrapped(getattr(value, name)(first, *sizes))


@rule("expand_as", "view_as", "reshape_as")
def as_other(call: Call) -> Answer:
    x, other = call.args
    with call.seen():
        return getattr(x, call.name.removesuffix("_as"))(other.shape)


@rule("permute")
def permute(call: Call) -> Answer:
    x = call.args[0]
    return call.wrapped(x.value.permute(0, *shifted(_sizes(call.named()), x.ndim)))


@rule("new_zeros", "new_ones", "new_empty", "new_full")
def new(call: Call) -> Answer:
    arguments = call.named()
    value = arguments.pop("input").value
    size = arguments.pop("size", arguments.pop("sizes", ()))
    while isinstance(size, (tuple, list)) and len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    size = (size,) if isinstance(size, int) else tuple(size)
    fill = [arguments.pop("fill_value")] if call.name == "new_full" else []
    return call.wrapped(getattr(value, call.name)((value.shape[0], *size), *fill, **arguments))


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
def along(call: Call) -> Answer:
    """Views that name dimensions of a sample."""
    arguments = call.named()
    x = arguments.pop("input")
    if "kernel_size" in arguments:  # nn.functional.unfold
        return folded(call, 4)
    if value_at(x, call.level) is None:
        return NotImplemented
    rank = x.ndim + (call.name == "diag_embed")  # whose dimensions are the result's
    if x.ndim == 0:
        return _of_one_element(call, x, arguments)
    for name, default in _DIMENSIONS[call.name].items():
        dim = arguments.get(name, default)
        if dim is not None:
            arguments[name] = shifted(dim, rank)
    if "axis0" in arguments:
        arguments.pop("dim0"), arguments.pop("dim1")
    return call.wrapped(call.func(x.value, **arguments))


def _of_one_element(call: Call, x: Any, values: dict[str, Any]) -> Answer:
    """What is a view of a 0-d sample x stays one: its element keeps its place."""
    probe = call.func(F.empty((), dtype=x.dtype, device="meta"), **values)
    if not isinstance(probe, Tensor) or probe.numel() != 1:
        return NotImplemented
    return call.wrapped(x.value.view(x.value.shape[0], *probe.shape))


@rule("contiguous")
def contiguous(call: Call) -> Answer:
    """A sample without gaps is itself, wherever the batch's dimension lies in memory."""
    x = call.args[0]
    return x if len(call.args) == 1 and not call.kwargs and x.is_contiguous() else elementwise(call)


@rule("unsqueeze")
def unsqueeze(call: Call) -> Answer:
    arguments = call.named()
    x = arguments["input"]
    return call.wrapped(x.value.unsqueeze(shifted(arguments["dim"], x.ndim + 1)))


@rule("squeeze")
def squeeze(call: Call) -> Answer:
    arguments = call.named()
    x, dim = arguments.pop("input"), arguments.get("dim")
    if dim is None:
        dim = [i for i, size in enumerate(x.shape) if size == 1]
    dims = [dim] if isinstance(dim, int) else list(dim)
    if x.ndim == 0:
        return _of_one_element(call, x, arguments)
    return call.wrapped(
        x.value.squeeze(shifted(dims, x.ndim)) if dims else x.value.view(x.value.shape)
    )


@rule("real.__get__", "imag.__get__", "data.__get__", "grad.__get__")
def attribute(call: Call) -> Answer:
    """An attribute that is a tensor, or None."""
    return call.wrapped(getattr(call.args[0].value, call.name.removesuffix(".__get__")))


@rule("t", "T.__get__")
def transposed(call: Call) -> Answer:
    x = call.args[0]
    if x.ndim > 2:  # with a warning, or an error
        call.func(F.empty(x.shape, dtype=x.dtype, device="meta"))
    return call.wrapped(x.value.permute(0, *range(x.ndim, 0, -1)))


@rule("mT.__get__", "mH.__get__", "adjoint", "tril", "triu", "H.__get__")
def trailing(call: Call) -> Answer:
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
def join(call: Call) -> Answer:
    arguments = call.named()
    tensors = list(arguments.pop("input"))
    if arguments.pop("out", None) is not None:
        return NotImplemented
    dim = arguments.pop("dim", arguments.pop("axis", 0))
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
def reshaped(call: Call) -> Answer:
    """The tensor stands for a view of its values from now on."""
    x = call.args[0]
    with call.seen():
        y = getattr(x, call.name[:-1])(*call.args[1:], **call.kwargs)
        if y is not x:
            take_value(x, y.value)
    return x


@rule("resize_", "resize_as_", "set_", "data.__set__")
def replaced(call: Call) -> NoReturn:
    raise needs_loop(
        f"vmap: {call.name.removesuffix('.__set__')} of a tensor that is mapped over "
        "would give it other memory, which its samples do not have"
    )


# -- indexing --------------------------------------------------------------------------------------


@rule("__getitem__")
def getitem(call: Call) -> Answer:
    x, key = call.args[0], call.args[1]
    return call.wrapped(Key(call, key, x.shape).read(x))


@rule("__setitem__")
def setitem(call: Call) -> None:
    x, key, new = call.args
    if value_at(x, call.level) is None:
        raise call.unwritable()
    mask = _mapped_mask(call, key)
    if mask is not None:
        _fill_where(call, x, key, mask, new)
    else:
        Key(call, key, x.shape).write(x, new)


def _mapped_mask(call: Call, key: object) -> Tensor | None:
    """The mask among the keys that differs between samples, of this level or another."""
    for part in key if isinstance(key, (tuple, list)) else (key,):
        if type(part) is Batched and part.dtype.name in ("bool", "uint8"):
            return part
    return None


def _is_whole(part: object) -> bool:
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
def index_put(call: Call) -> Answer:
    arguments = call.named()
    x, indices, new = arguments["input"], arguments["indices"], arguments["values"]
    if any(
        value_at(part, call.level) is not None and part.dtype.name == "bool" for part in indices
    ):
        return NotImplemented
    if call.writes and value_at(x, call.level) is None:
        raise call.unwritable()
    if not call.writes:
        x = own_copy(x, (new, *indices))
    key = tuple(slice(None) if part is None else part for part in indices)
    Key(call, key, x.shape, numbers_advance=True).write(x, new, arguments.get("accumulate", False))
    return x


_PLACES = {
    "select_scatter": ("dim",),
    "slice_scatter": ("dim",),
    "diagonal_scatter": ("dim1", "dim2"),
}


@rule(*_PLACES)
def scattered_view(call: Call) -> Answer:
    """A copy of the input in which a part is another tensor: both become one of each sample."""
    arguments = call.named()
    x, src = arguments.pop("input"), arguments.pop("src")
    if x.ndim == 0:
        return NotImplemented
    for place, default in zip(_PLACES[call.name], (0, 1)):
        arguments[place] = shifted(arguments.get(place, default), x.ndim)
    return call.wrapped(call.func(spread(x, call.level), spread(src, call.level), **arguments))


@rule("masked_select")
def masked_select(call: Call) -> Answer:
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


def _with_all_spread(call: Call, names: tuple[str, ...]) -> Answer:
    arguments = call.named()
    rank = arguments["input"].ndim
    if rank == 0:
        return NotImplemented
    if call.writes and value_at(arguments["input"], call.level) is None:
        raise call.unwritable()
    for name in names:
        if isinstance(arguments.get(name), Tensor):
            arguments[name] = spread(arguments[name], call.level)
    arguments["dim"] = shifted(arguments["dim"], rank)
    x = arguments.pop("input")
    value = spread(x, call.level)
    answer = call.func(value, **arguments)
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
def gather(call: Call) -> Answer:
    """Every sample has its own rows."""
    arguments = call.named()
    index = arguments["index"]
    if index.ndim != arguments["input"].ndim or arguments.get("out") is not None:
        return NotImplemented
    return _with_all_spread(call, ("index", "src", "value"))


@rule("searchsorted", "bucketize")
def searched(call: Call) -> Answer:
    """In one row for all samples, or in each sample's own rows."""
    arguments = call.named()
    if arguments.get("out") is not None:
        return NotImplemented
    name = "boundaries" if call.name == "bucketize" else "sorted_sequence"
    rows, x, sorter = arguments.pop(name), arguments.pop("input"), arguments.pop("sorter", None)
    if not isinstance(x, Tensor):
        x = tensor(x, device=rows.device)
    value = spread(x, call.level)
    if call.value(rows) is None and call.value(sorter) is None and rows.ndim == 1:
        return call.wrapped(F.searchsorted(rows, value, sorter=sorter, **arguments))
    sorter = spread(sorter, call.level) if sorter is not None else None
    flat = value.flatten(1) if rows.ndim == 1 and x.ndim else value
    flat = flat if x.ndim else value.unsqueeze(1)
    result = F.searchsorted(spread(rows, call.level), flat, sorter=sorter, **arguments)
    return call.wrapped(result.reshape(value.shape))


@rule("roll")
def roll(call: Call) -> Answer:
    arguments = call.named()
    x, dims = arguments["input"], arguments.get("dims")
    if dims is None or x.ndim == 0 or dims == ():
        flat = x.value.flatten(1) if x.ndim else x.value.unsqueeze(1)
        return call.wrapped(flat.roll(arguments["shifts"], 1).view(x.value.shape))
    return call.wrapped(x.value.roll(arguments["shifts"], shifted(dims, x.ndim)))


@rule("index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_fill_")
def index_write(call: Call) -> Answer:
    arguments = call.named()
    if value_at(arguments["index"], call.level) is not None or arguments.get("out") is not None:
        return NotImplemented
    if call.name.startswith("index_fill") and isinstance(arguments["value"], Tensor):
        if value_at(arguments["value"], call.level) is not None:
            return NotImplemented
    return _with_all_spread(call, ("source",))


@rule("put", "put_")
def put(call: Call) -> Answer:
    """Each sample's elements are a row, whose places are written; put writes to a copy."""
    arguments = call.named()
    x, places, source = arguments.pop("input"), arguments.pop("index"), arguments.pop("source")
    if arguments.pop("out", None) is not None:
        return NotImplemented
    if call.writes and call.value(x) is None:
        raise call.unwritable()
    with call.seen():
        y = x if call.writes else own_copy(x, (places, source))
        flat = y.view(-1) if y.is_contiguous() else y.flatten()
        write = flat.index_add_ if arguments.get("accumulate") else flat.index_copy_
        write(0, places.flatten(), source.flatten())
        return y if y.is_contiguous() else y.copy_(flat.reshape(y.shape))


@rule("split_copy", "split_with_sizes_copy", "unbind_copy")
def copies_of_parts(call: Call) -> Answer:
    """Copies of the views: C's parts of an operator answer single tensors."""
    if call.kwargs.get("out") is not None:
        return NotImplemented
    with call.seen():
        parts = getattr(Tensor, call.name.removesuffix("_copy"))(*call.args, **call.kwargs)
        return tuple(part.clone() for part in parts)


@rule("slice_copy")
def slice_copy(call: Call) -> Answer:
    """A copy of the view, which has no function."""
    arguments = call.named()
    if arguments.get("out") is not None:
        return NotImplemented
    x, dim = arguments["input"], arguments.get("dim", 0)
    expected = slice(arguments.get("start"), arguments.get("end"), arguments.get("step", 1))
    with call.seen():
        if not -x.ndim <= dim < x.ndim:
            raise IndexError(
                f"slice_copy: argument 2 (dim) is {dim}, wanted {-x.ndim} to {x.ndim - 1}"
            )
        return x[(slice(None),) * (dim % x.ndim) + (expected,)].clone()


@rule("index_select")
def index_select(call: Call) -> Answer:
    arguments = call.named()
    x, dim, index = arguments["input"], arguments["dim"], arguments["index"]
    if x.ndim == 0 or arguments.get("out") is not None:
        return NotImplemented
    if value_at(index, call.level) is None:
        return call.wrapped(x.value.index_select(shifted(dim, x.ndim), index))
    with call.seen():
        return x.movedim(dim, 0)[index.reshape(-1)].movedim(0, dim)


@rule("as_strided", "as_strided_", "as_strided_scatter")
def as_strided(call: Call) -> NoReturn:
    raise needs_loop(
        "vmap: as_strided reads memory as it lies, and where a sample lies there is "
        "not defined; use select, narrow or unfold"
    )


@rule("sparse_coo_tensor")
def sparse(call: Call) -> NoReturn:
    raise NotImplementedError("vmap: sparse tensors cannot be mapped over")
