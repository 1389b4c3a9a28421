# SPDX-License-Identifier: Apache-2.0
"""Functions that arrange, join and multiply tensors, composed of others as in PyTorch."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _C, _functions as f
from ._C import Overridden, Tensor, overridable
from ._errors import ArgumentValueError, Error, ShapeError, rename_error
from ._overrides import override

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "cdist", "einsum", "ger", "meshgrid", "tensor_split",
    "tensordot",
]  # fmt: skip


def _each(tensors: Any) -> list[Tensor]:
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


@overridable
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """See outer."""
    return f.outer(input, vec2, out=out)


def _atleast(ndim: int) -> Any:
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
    """A matrix of zeros with the matrices along its diagonal; vectors are rows. Without tensors [1, 0]."""
    return f.block_diag(tensors)


@overridable
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one element of each vector, as rows."""
    return f.cartesian_prod(tensors)


def split_by(function: Any, input: Tensor, parts: Any, *dim: int) -> tuple[Tensor, ...]:
    """The views that C's function of a number of parts makes, or its other one, of indices."""
    name = function.__name__
    given = parts.tolist() if isinstance(parts, Tensor) else parts
    try:
        if isinstance(given, int):
            return getattr(_C, name)(input, given, *dim)
        return getattr(_C, f"{name}_indices")(input, given, *dim)
    except Overridden:
        return override(function, input, parts, *dim)
    except Error as error:
        rename_error(error, name)
        raise


@overridable
def tensor_split(input: Tensor, indices_or_sections: Any = None, dim: int = 0, *,
                 sections: Any = None, indices: Any = None) -> tuple[Tensor, ...]:  # fmt: skip
    """Views of equal parts, the first ones larger by one where needed; or parts between indices."""
    return split_by(tensor_split, input, _given("tensor_split", indices_or_sections, sections, indices), dim)


def _given(function: str, *parts: Any) -> Any:
    """The one argument that says where parts end."""
    found = [x for x in parts if x is not None]
    if len(found) != 1:
        raise TypeError(f"{function}: wanted one of a number of sections and indices, found {len(found)}")
    return found[0]


def splitter(name: str, along: str) -> Any:
    """hsplit and its like."""

    @overridable
    def split(input: Tensor, indices_or_sections: Any = None, *, sections: Any = None,
              indices: Any = None) -> tuple[Tensor, ...]:  # fmt: skip
        return split_by(split, input, _given(name, indices_or_sections, sections, indices))

    split.__name__ = split.__qualname__ = name
    split.__doc__ = f"Views of equal parts, or of those between indices, along {along}."
    return split


@overridable
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


_COMPUTE_MODES = (
    None, "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)  # fmt: skip


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


@overridable
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors themselves where they have the common shape, and else views expanded to it."""
    return f.broadcast_tensors(_each(tensors))


for _method in (
    ger, tensor_split,
):  # fmt: skip
    setattr(Tensor, _method.__name__, _method)
