# SPDX-License-Identifier: Apache-2.0
"""Functions that arrange, join and multiply tensors, composed of others as in PyTorch."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from . import _functions as f
from ._C import Tensor
from ._cast_operands import in_float32
from ._creation import tensor
from ._errors import (
    ArgumentValueError, Error, IndexRangeError, ShapeError, rename_error, want_tensors,
)  # fmt: skip
from ._out import copied
from ._overloads import arange

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "cdist", "column_stack", "combinations", "complex",
    "diag", "diag_embed", "dist", "dstack", "einsum", "ger", "hstack", "meshgrid", "polar", "rot90",
    "tensor_split", "tensordot", "tile", "trace", "vstack",
]  # fmt: skip


def _each(tensors: Any) -> list[Tensor]:
    return list(tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors)


def einsum(*args: Any) -> Tensor:
    """Einstein's summation: einsum("bij,bjk->bik", a, b), or einsum(a, [0, 1], b, [1, 2], [0, 2]).

    A number from 0 to 51 in a list stands for a letter, Ellipsis for "...".

    Example:
        >>> x = torch.tensor([[1, 2], [3, 4]])
        >>> torch.einsum("ij->ji", x)
        tensor([[1, 3],
                [2, 4]])
        >>> torch.einsum("ij,j->i", x, torch.tensor([1, 10]))
        tensor([21, 43])
    """
    if args and isinstance(args[0], str):
        return f.einsum(args[0], _each(args[1:]))
    if len(args) < 2:
        raise ArgumentValueError("einsum: wanted an equation and tensors, or tensors and lists")
    operands, lists = list(args[0 : len(args) // 2 * 2 : 2]), list(args[1::2])
    equation = ",".join(map(_term, lists))
    if len(args) % 2:
        equation += "->" + _term(args[-1])
    return f.einsum(equation, operands)


def _term(subscripts: Sequence[Any]) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    for entry in subscripts:
        if entry is not Ellipsis and not 0 <= entry < 52:
            raise ArgumentValueError(f"einsum: a list holds {entry}, wanted 0 to 51 or Ellipsis")
    return "".join("..." if entry is Ellipsis else letters[entry] for entry in subscripts)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinates of a grid: tensor i, [n_i] or 0-d, along dimension i of [n_0, n_1, ...].

    indexing: "ij" (also if None), or "xy", which swaps the first two dimensions.

    Example:
        >>> rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
        >>> rows
        tensor([[0, 0, 0],
                [1, 1, 1]])
        >>> columns
        tensor([[0, 1, 2],
                [0, 1, 2]])
    """
    if indexing not in (None, "ij", "xy"):
        raise ArgumentValueError(f'meshgrid: indexing is {indexing!r}, wanted "ij" or "xy"')
    given = _each(tensors)
    if not given:
        raise ArgumentValueError("meshgrid: no tensors, wanted at least one")
    for x in given:
        if x.ndim > 1:
            raise ShapeError(f"meshgrid: a tensor has shape {list(x.shape)}, wanted 0-d or 1-d")
        if x.dtype != given[0].dtype:
            raise ArgumentValueError(f"meshgrid: a tensor is {x.dtype}, wanted {given[0].dtype}")
    swapped = indexing == "xy" and len(given) > 1
    if swapped:
        given[:2] = given[1::-1]
    shape = [x.numel() for x in given]
    grids = [
        x.reshape([1] * i + [-1] + [1] * (len(given) - 1 - i)).expand(shape)
        for i, x in enumerate(given)
    ]
    if swapped:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """See outer."""
    return f.outer(input, vec2, out=out)


def _wants_ndim(op: str, ndim: int, x: Tensor, argument: int) -> None:
    if x.ndim != ndim:
        raise ShapeError(f"{op}: argument {argument} has shape {list(x.shape)}, wanted {ndim}-d")


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, copied; or the matrix [n, n] whose diagonal a vector is."""
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    _wants_ndim("diag", 2, input, 1)
    return f.diagonal(input, diagonal).clone()


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices, in dim1 and dim2 of the result, whose diagonals lie along input's last dimension."""
    ndim = input.ndim + 1
    first, second = (d + ndim if d < 0 else d for d in (dim1, dim2))
    if first == second or not (0 <= first < ndim and 0 <= second < ndim):
        error = ArgumentValueError if first == second else IndexRangeError
        raise error(f"diag_embed: dim1 and dim2 are {dim1} and {dim2}, wanted two of {ndim} dimensions")
    size = input.shape[-1] + abs(offset)
    if first > second:
        offset, first, second = -offset, second, first
    column = arange(size, device=input.device)
    row = column.unsqueeze(1)
    held = column - row == offset
    padded = f.cat([input.new_zeros((*input.shape[:-1], max(-offset, 0))), input,
                    input.new_zeros((*input.shape[:-1], max(offset, 0)))], -1)  # fmt: skip
    square = f.where(held, padded.unsqueeze(-1), padded.new_zeros(()))
    return f.movedim(square, (-2, -1), (first, second))


@in_float32
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    _wants_ndim("trace", 2, input, 1)
    return f.diagonal(input).sum()


def tile(input: Tensor, *dims: Any) -> Tensor:
    """Copies side by side: repeat, but with missing counts in front taken as 1."""
    counts = list(dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims)
    return input.repeat([1] * (input.ndim - len(counts)) + counts)


def _raised(x: Tensor, ndim: int) -> Tensor:
    if x.ndim >= ndim:
        return x
    if ndim == 3 and x.ndim == 2:
        return x.unsqueeze(2)
    if ndim == 1:
        return x.reshape(1)
    return x.reshape((1, -1) if ndim == 2 else (1, -1, 1))


def _atleast(ndim: int) -> Any:
    def atleast(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return _raised(tensors[0], ndim)
        return tuple(_raised(x, ndim) for x in _each(tensors))

    atleast.__name__ = atleast.__qualname__ = f"atleast_{ndim}d"
    atleast.__doc__ = f"Each tensor with {ndim} dimensions at least."
    return atleast


atleast_1d, atleast_2d, atleast_3d = _atleast(1), _atleast(2), _atleast(3)


def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined along dimension 1, or 0 where they are vectors."""
    parts = [_raised(x, 1) for x in tensors]
    return f.cat(parts, 0 if parts and parts[0].ndim == 1 else 1, out=out)


def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined along dimension 0; vectors are rows."""
    return f.cat([_raised(x, 2) for x in tensors], 0, out=out)


def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined along dimension 2."""
    return f.cat([_raised(x, 3) for x in tensors], 2, out=out)


def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Joined along dimension 1; vectors are columns."""
    return f.cat([x if x.ndim > 1 else x.reshape(-1, 1) for x in tensors], 1, out=out)


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix of zeros with the matrices along its diagonal; vectors are rows. Without tensors [1, 0]."""
    if not tensors:
        return f.empty((1, 0))
    blocks = [_raised(x, 2) for x in tensors]
    for x in blocks:
        _wants_ndim("block_diag", 2, x, 1)
    columns, rows, left = sum(x.shape[1] for x in blocks), [], 0
    for x in blocks:
        height, width = x.shape
        sides = [x.new_zeros((height, left)), x, x.new_zeros((height, columns - left - width))]
        rows.append(f.cat(sides, 1))
        left += width
    return f.cat(rows, 0)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one element of each vector, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    return f.stack([grid.flatten() for grid in meshgrid(*tensors)], 1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements of a vector, as rows, in its order."""
    _wants_ndim("combinations", 1, input, 1)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = [i for chosen in choose(range(input.numel()), r) for i in chosen]
    if r == 0:  # PyTorch's answer is a vector
        return f.narrow(input, 0, 0, 0)
    index = tensor(places, dtype=int, device=input.device)
    return f.index_select(input, 0, index).reshape(-1, r)


def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of equal parts, the first ones larger by one where needed; or parts between indices."""
    if input.ndim == 0:
        raise ShapeError("tensor_split: argument 1 (input) is 0-d, wanted dimensions")
    size = input.shape[dim]
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count < 1:
            raise ArgumentValueError(f"tensor_split: argument 2 is {count}, wanted 1 or more parts")
        ends = [size * 0 + (i + 1) * (size // count) + min(i + 1, size % count)
                for i in range(count)]  # fmt: skip
    else:
        ends = [range(size)[:end].stop for end in indices_or_sections] + [size]
    starts = [0, *ends[:-1]]
    return tuple(f.narrow(input, dim, min(a, size), max(b - a, 0)) for a, b in zip(starts, ends))


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Products summed over dims: the last n of a and the first n of b, or two lists."""
    if isinstance(dims, Tensor):
        dims = dims.item() if dims.numel() == 1 else dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise ArgumentValueError(f"tensordot: argument 3 (dims) is {dims}, wanted 0 to "
                                     f"{min(a.ndim, b.ndim)}")  # fmt: skip
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
    try:
        return f.tensordot(a, b, left, right, out=out)
    except Error as error:
        rename_error(error, "tensordot", arguments={"dims_a": (3, "dims"), "dims_b": (3, "dims"), "out": (4, "out")})
        raise


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turned by k quarters, from the first of the two dimensions towards the second."""
    if input.ndim < 2 or len(dims) != 2 or (dims[0] - dims[1]) % input.ndim == 0:
        raise ShapeError(f"rot90: argument 3 (dims) is {tuple(dims)}, wanted two of {list(input.shape)}")
    a, b = dims
    if k % 4 == 2:
        return f.flip(input, (a, b))
    turned = f.flip(input, (b if k % 4 == 1 else a,)) if k % 2 else input.clone()
    return turned.transpose(a, b) if k % 2 else turned


_COMPUTE_MODES = (
    None, "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)  # fmt: skip


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """Distances of all pairs of rows, in p-norms: [.., n, d] and [.., m, d] give [.., n, m].

    compute_mode: one of PyTorch's; the differences are always formed."""
    if compute_mode not in _COMPUTE_MODES:
        raise ArgumentValueError(
            f"cdist: compute_mode is {compute_mode!r}, wanted one of {_COMPUTE_MODES}"
        )
    return f.cdist(x1, x2, p)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference."""
    return f.norm(input - other, p)


def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor of its parts, both float32 or both float64."""
    want_tensors("complex", real=real, imag=imag)
    if real.dtype != imag.dtype or real.dtype.name not in ("float32", "float64"):
        raise ArgumentValueError(
            f"complex: real is {real.dtype} and imag {imag.dtype}, wanted both float32 or float64"
        )
    return copied(f.view_as_complex(f.stack(broadcast_tensors(real, imag), -1)), out)


@in_float32
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor of its magnitude and angle."""
    want_tensors("polar", abs=abs, angle=angle)
    return complex(abs * angle.cos(), abs * angle.sin(), out=out)


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape to which shapes broadcast."""
    from ._types import Size

    each = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    made = [1] * max((len(s) for s in each), default=0)
    for shape in each:
        for d in range(1, len(shape) + 1):
            if shape[-d] != 1 and made[-d] not in (1, shape[-d]):
                raise ShapeError(f"broadcast_shapes: {shape} does not broadcast with {made}")
            made[-d] = made[-d] if shape[-d] == 1 else shape[-d]
    return Size(made)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors themselves where they have the common shape, and else views expanded to it."""
    each = _each(tensors)
    shape = broadcast_shapes(*(x.shape for x in each))
    return tuple(x if x.shape == shape else x.expand(shape) for x in each)


for _method in (
    rot90, ger, diag, diag_embed, trace, tile, tensor_split, dist,
):  # fmt: skip
    setattr(Tensor, _method.__name__, _method)
