# SPDX-License-Identifier: Apache-2.0
"""PyTorch's torch.functional: functions that arrange, join and multiply tensors."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _functions as f
from ._C import Tensor, overridable
from ._dimensions import one_or_none
from ._errors import ArgumentValueError, Error, ShapeError, rename_error
from ._functions import unravel_index as unravel_index
from ._missing import NoName
from ._out import copied
from ._overloads import norm as norm, split as split
from ._types import Size

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "einsum",
    "meshgrid",
    "norm",
    "split",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
]


def _each(tensors: Sequence[Tensor]) -> list[Tensor]:
    return list(tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors)


@overridable
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


@overridable
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
    return f.meshgrid(_each(tensors), indexing)


def _atleast(ndim: int) -> Callable[..., Any]:
    raised = getattr(f, f"atleast_{ndim}d")

    @overridable
    def atleast(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return raised(tensors[0])
        return tuple(raised(x) for x in _each(tensors))

    atleast.__name__ = atleast.__qualname__ = f"atleast_{ndim}d"
    atleast.__doc__ = f"Each tensor with {ndim} dimensions at least: itself, or a view of it."
    return atleast


atleast_1d, atleast_2d, atleast_3d = _atleast(1), _atleast(2), _atleast(3)


@overridable
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix of zeros with the matrices along its diagonal; vectors are rows. Without tensors [1,
    0]."""
    return f.block_diag(tensors)


@overridable
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one element of each vector, as rows."""
    return f.cartesian_prod(tensors)


@overridable
def tensordot(
    a: Tensor,
    b: Tensor,
    dims: Any = 2,
    out: Tensor | None = None,
) -> Tensor:
    """Products summed over dims: the last n of a and the first n of b, or two lists."""
    if isinstance(dims, Tensor):
        dims = dims.item() if dims.numel() == 1 else dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise ArgumentValueError(
                f"tensordot: argument 3 (dims) is {dims}, wanted 0 to {min(a.ndim, b.ndim)}"
            )
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
    try:
        return f.tensordot(a, b, left, right, out=out)
    except Error as error:
        rename_error(
            error,
            "tensordot",
            arguments={"dims_a": (3, "dims"), "dims_b": (3, "dims"), "out": (4, "out")},
        )
        raise


_COMPUTE_MODES = (
    None,
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@overridable
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """Distances of all pairs of rows, in p-norms: [.., n, d] and [.., m, d] give [.., n, m].

    compute_mode: one of PyTorch's; the differences are always formed."""
    if compute_mode not in _COMPUTE_MODES:
        raise ArgumentValueError(
            f"cdist: compute_mode is {compute_mode!r}, wanted one of {_COMPUTE_MODES}"
        )
    return f.cdist(x1, x2, p)


@overridable
def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape to which shapes broadcast."""
    each = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    results = [1] * max((len(s) for s in each), default=0)
    for shape in each:
        for d in range(1, len(shape) + 1):
            if shape[-d] != 1 and results[-d] not in (1, shape[-d]):
                raise ShapeError(f"broadcast_shapes: {shape} does not broadcast with {results}")
            results[-d] = results[-d] if shape[-d] == 1 else shape[-d]
    return Size(results)


@overridable
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors themselves where they have the common shape, and else views expanded to it."""
    return f.broadcast_tensors(_each(tensors))


def _wants(function: str, argument: str, x: Tensor, ndim: int) -> None:
    if x.ndim != ndim:
        raise ShapeError(
            f"{function}: argument {argument} has shape {list(x.shape)}, wanted {ndim}-d"
        )


@overridable
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order of least multiplications; see linalg.multi_dot."""
    from .linalg import multi_dot

    each = (
        list(matrices[0])
        if len(matrices) == 1 and not isinstance(matrices[0], Tensor)
        else list(matrices)
    )
    for i, x in enumerate(each):
        _wants("chain_matmul", str(i + 1), x, 2)
    return copied(each[0].clone(), out) if len(each) == 1 else multi_dot(each, out=out)


# -- unique elements -------------------------------------------------------------------------------


def _requested_of(results: tuple[Tensor, ...], *requested: bool) -> Tensor | tuple[Tensor, ...]:
    """The values, and those of the other results that were asked for."""
    kept = (results[0], *(x for x, is_requested in zip(results[1:], requested) if is_requested))
    return kept[0] if len(kept) == 1 else kept


@overridable
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements (or slices along dim), in ascending order; with return_inverse where
    each element went, with return_counts how many went there. NaN differs from NaN."""
    dim = one_or_none("unique", 5, dim, input)
    result = f.unique(input, sorted, return_inverse, return_counts, dim)
    return _requested_of(result, return_inverse, return_counts)


@overridable
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The elements (or slices along dim) that differ from the one before."""
    dim = one_or_none("unique_consecutive", 4, dim, input)
    result = f.unique_consecutive(input, return_inverse, return_counts, dim)
    return _requested_of(result, return_inverse, return_counts)


for _method in (unique, unique_consecutive):
    setattr(Tensor, _method.__name__, _method)

_REFUSING = ("istft", "lu", "stft")  # which are named, and not offered yet

if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> Any:
        if name not in _REFUSING:
            raise NoName(__name__, name)
        return getattr(importlib.import_module("._linalg_names", __package__), name)


def __dir__() -> list[str]:
    return sorted((*__all__, *_REFUSING))
