# SPDX-License-Identifier: Apache-2.0
"""Functions that leave out elements where a mask is False. MaskedTensor is not offered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from . import _functions as f
from ._C import Tensor
from ._dimensions import one_dimension
from ._types import DtypeLike, bool_, dtype as Dtype, float32, iinfo, int64

__all__ = [
    "MaskedTensor",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "as_masked_tensor",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "masked_tensor",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]


def _filled(input: Tensor, dtype: DtypeLike | None, mask: Tensor | None, value: Any) -> Tensor:
    """The input in the dtype, with the value where the mask is False."""
    x = input if dtype is None else input.to(dtype)
    if mask is None:
        return x
    kept = mask if mask.dtype is bool_ else mask.to(bool_)
    return f.where(kept, x, f.full((), value, dtype=x.dtype, device=x.device))


def _dims(input: Tensor, dim: int | Sequence[int] | None) -> tuple[int, ...]:
    if dim is None:
        return tuple(range(input.ndim))
    return (dim,) if isinstance(dim, int) else tuple(dim)


def _apart(input: Tensor, dim: int | Sequence[int] | None) -> list[int]:
    """The dimensions that are reduced one after the other, the last one first; of none, all."""
    size = max(input.ndim, 1)
    value = _dims(input, dim) or range(input.ndim)
    dims = {one_dimension("masked.prod", 2, d, input.ndim) % size for d in value}
    if len(dims) < len(value):
        raise RuntimeError(f"masked.prod: argument 2 (dim) is {dim}, wanted each dimension once")
    return sorted(dims, reverse=True)


def _whole(input: Tensor, dtype: DtypeLike | None) -> DtypeLike | None:
    """The dtype of sums and products."""
    if dtype is not None or input.is_floating_point() or input.is_complex():
        return dtype
    return int64


def _end(input: Tensor, dtype: Any, largest: bool) -> Any:
    """The largest or smallest number of the dtype."""
    kind = dtype or input.dtype
    if kind.is_floating_point:
        return float("inf") if largest else -float("inf")
    if kind is bool_:
        return largest
    return iinfo(kind).max if largest else iinfo(kind).min


def sum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The sum; of nothing, 0."""
    return _filled(input, _whole(input, dtype), mask, 0).sum(
        _dims(input, dim), keepdim=bool(keepdim)
    )


def prod(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The product; of nothing, 1."""
    result = _filled(input, _whole(input, dtype), mask, 1)
    for d in _apart(input, dim):
        result = result.prod(d, keepdim=bool(keepdim))
    return result


def mean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean; of nothing, NaN."""
    count = sum(f.ones_like(input, dtype=int64), dim, keepdim=keepdim, mask=mask)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / count


def amax(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The largest element; of nothing, the smallest number of the dtype."""
    return _filled(input, dtype, mask, _end(input, dtype, False)).amax(
        _dims(input, dim), bool(keepdim)
    )


def amin(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The smallest element; of nothing, the largest number of the dtype."""
    return _filled(input, dtype, mask, _end(input, dtype, True)).amin(
        _dims(input, dim), bool(keepdim)
    )


def _place(
    input: Tensor,
    dim: int | None,
    keepdim: bool | None,
    dtype: DtypeLike | None,
    mask: Tensor | None,
    largest: bool,
) -> Tensor:
    name = "argmax" if largest else "argmin"
    if input.dtype is bool_:
        raise NotImplementedError(f"masked.{name}: the input is bool, which has no least element")
    held = _filled(input, None, mask, _end(input, None, not largest))
    value: Tensor = (f.argmax if largest else f.argmin)(held, dim, bool(keepdim))
    return value.to(dtype or input.dtype)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the largest element is; of nothing, 0. In the dtype of the elements, as PyTorch's."""
    return _place(input, dim, keepdim, dtype, mask, True)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the smallest element is; of nothing, 0. In the dtype of the elements, as PyTorch's."""
    return _place(input, dim, keepdim, dtype, mask, False)


def median(
    input: Tensor,
    dim: int | None = -1,
    *,
    keepdim: bool = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The median, of two middle elements the smaller one; of nothing, NaN. NaN is left out, too.
    dim: None is the first one, as in PyTorch. dtype: of the result, unless the input is floating.

    Example:
        >>> x = torch.tensor([[1., 5., 3.], [4., 2., 6.]])
        >>> torch.masked.median(x, 1, mask=x > 1)
        tensor([3., 4.])
    """
    dim = 0 if dim is None else dim
    if input.is_floating_point():
        middle: Tensor = _filled(input, None, mask, float("nan")).nanmedian(dim, keepdim).values
        return middle
    if input.is_complex():
        raise TypeError(f"masked.median: the input is {input.dtype}, which has no order")
    whole = input.to(int64)
    kept = f.ones_like(whole, dtype=bool_) if mask is None else mask.to(bool_).expand_as(whole)
    count = kept.sum(dim, keepdim=True)
    if (count == 0).any():
        raise ValueError(
            "masked.median: the mask leaves nothing of a row, and only floating dtypes have NaN "
            f"for that; the input is {input.dtype}"
        )
    last = iinfo(int64).max
    ordered = _filled(whole, None, kept, last).sort(dim).values
    value: Tensor = ordered.gather(dim, (count - 1) // 2).to(dtype or input.dtype)
    return value if keepdim else value.squeeze(dim)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: DtypeLike | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """log(exp(input) + exp(other)), in which a masked element counts as -infinity."""
    nothing = -float("inf")
    return f.logaddexp(
        _filled(input, dtype, input_mask, nothing), _filled(other, dtype, other_mask, nothing)
    )


def logsumexp(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """log of the sum of exp; of nothing, -infinity. Of integers computed in float32, and cut to an
    integer, as in PyTorch, unless dtype is floating."""
    result = dtype or input.dtype
    held = None if result.is_floating_point or result.is_complex else float32
    x = _filled(input, held or dtype, mask, -float("inf"))
    return f.logsumexp(x, _dims(input, dim), keepdim).to(result)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """(sum of |x|^ord)^(1/ord); of nothing, 0, or infinity for an ord below 0."""
    p = 2.0 if ord is None else float(ord)
    held = _filled(input, dtype, mask, 0.0 if p >= 0 else float("inf"))
    return f.norm(held, p, _dims(input, dim), bool(keepdim))


def var(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance, over the count less the correction: 1, or 0 if not unbiased. In the dtype of
    the elements, also of complex ones; of integers in float32."""
    if unbiased is not None and correction is not None:
        raise RuntimeError("masked.var: found unbiased and correction, wanted one of them")
    less = correction if correction is not None else 1 if unbiased in (None, True) else 0
    x = input if dtype is None else input.to(dtype)
    x = x if x.is_floating_point() or x.is_complex() else x.float()
    result = dtype or x.dtype
    count = sum(f.ones_like(input, dtype=int64), dim, keepdim=True, mask=mask)
    middle = sum(x, dim, keepdim=True, mask=mask) / count
    off = x - middle
    squares = sum(off * off.conj(), dim, keepdim=keepdim, mask=mask)
    left = (count if keepdim else count.reshape(squares.shape)) - less
    return (squares / left.clamp(min=0)).to(result)


def std(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    unbiased: bool | None = None,
    *,
    correction: int | None = None,
    keepdim: bool | None = False,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The square root of the variance."""
    return var(
        input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
    ).sqrt()


def softmax(
    input: Tensor, dim: int, *, dtype: DtypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """softmax over the elements that are left, 0 elsewhere; NaN where none is left."""
    return f.softmax(_filled(input, dtype, mask, -float("inf")), dim)


def log_softmax(
    input: Tensor, dim: int, *, dtype: DtypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """log_softmax over the elements that are left, -infinity elsewhere; NaN where none is left."""
    return f.log_softmax(_filled(input, dtype, mask, -float("inf")), dim)


def softmin(
    input: Tensor, dim: int, *, dtype: DtypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """softmax of the negative input."""
    return f.softmax(-_filled(input, dtype, mask, float("inf")), dim)


def _running(input: Tensor, dtype: DtypeLike | None) -> DtypeLike:
    return dtype or (int64 if input.dtype is bool_ else input.dtype)


def cumsum(
    input: Tensor, dim: int, *, dtype: DtypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The running sum of the elements that are left, in their dtype; of bool in int64."""
    result = _running(input, dtype)
    return f.cumsum(_filled(input, result, mask, 0), dim, dtype=result)


def cumprod(
    input: Tensor, dim: int, *, dtype: DtypeLike | None = None, mask: Tensor | None = None
) -> Tensor:
    """The running product of the elements that are left, in their dtype; of bool in int64."""
    result = _running(input, dtype)
    return f.cumprod(_filled(input, result, mask, 1), dim, dtype=result)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: DtypeLike | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The elements that are left, divided by their norm (at least eps); 0 elsewhere."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask).clamp(min=eps)
    return _filled(input, dtype, mask, 0) / length


class MaskedTensor(Tensor):
    """A name for isinstance: none can be made."""

    def __new__(cls, data: Any = None, mask: Any = None, requires_grad: bool = False) -> NoReturn:
        raise NotImplementedError(
            "masked.MaskedTensor: a tensor does not carry a mask; give it to the "
            "functions, masked.sum(x, dim, mask=mask)"
        )


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> NoReturn:
    """Raises: a tensor does not carry a mask."""
    raise NotImplementedError(
        "masked.masked_tensor: a tensor does not carry a mask; give it to the "
        "functions, masked.sum(x, dim, mask=mask)"
    )


as_masked_tensor = masked_tensor


def is_masked_tensor(obj: object) -> bool:
    """False: a tensor does not carry a mask."""
    return False
