# SPDX-License-Identifier: Apache-2.0
"""torch.nn.functional's pooling: what differs from the generated functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import _functional as _generated, _functions
from .._C import Tensor, overridable
from .._errors import ArgumentValueError
from .._functional import (
    adaptive_avg_pool1d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d_with_indices,
    max_pool2d_with_indices,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

Sizes = int | Sequence[int]
PartialSizes = int | Sequence[int | None]  # None: the input's size


if TYPE_CHECKING:

    @overload
    def max_pool1d(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def max_pool1d(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None,
        padding: Sizes,
        dilation: Sizes,
        ceil_mode: bool,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def max_pool1d(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        *,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...


@overridable
def max_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window over the last dimension, and with return_indices its
    position."""
    pool: Any = _generated.max_pool1d_with_indices if return_indices else _generated.max_pool1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


if TYPE_CHECKING:

    @overload
    def max_pool2d(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def max_pool2d(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None,
        padding: Sizes,
        dilation: Sizes,
        ceil_mode: bool,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def max_pool2d(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        *,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...


@overridable
def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window over the last two dimensions, and with return_indices its
    position: row * width + column."""
    pool: Any = _generated.max_pool2d_with_indices if return_indices else _generated.max_pool2d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


if TYPE_CHECKING:

    @overload
    def max_pool3d(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def max_pool3d(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None,
        padding: Sizes,
        dilation: Sizes,
        ceil_mode: bool,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def max_pool3d(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
        *,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...


@overridable
def max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window over the last three dimensions, and with return_indices
    its position: (plane * height + row) * width + column."""
    pool: Any = _generated.max_pool3d_with_indices if return_indices else _generated.max_pool3d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


# -- to sizes that are given -----------------------------------------------------------------------


def _completed(op: str, output_size: PartialSizes, input: Tensor, dims: int) -> Any:
    """output_size with the input's sizes for None."""
    if not isinstance(output_size, (tuple, list)) or None not in output_size:
        return output_size
    if len(output_size) != dims or input.ndim < dims:
        raise ArgumentValueError(f"{op}: output_size is {output_size}, wanted {dims} sizes")
    return [
        own if size is None else size
        for size, own in zip(output_size, input.shape[-dims:], strict=True)
    ]


@overridable
def adaptive_avg_pool2d(input: Tensor, output_size: PartialSizes) -> Tensor:
    """Means of windows that divide the last two dimensions into output_size parts."""
    sizes = _completed("adaptive_avg_pool2d", output_size, input, 2)
    return _generated.adaptive_avg_pool2d(input, sizes)


@overridable
def adaptive_avg_pool3d(input: Tensor, output_size: PartialSizes) -> Tensor:
    """Means of windows that divide the last three dimensions into output_size parts."""
    sizes = _completed("adaptive_avg_pool3d", output_size, input, 3)
    return _generated.adaptive_avg_pool3d(input, sizes)


def _adaptive_max(dims: int, input: Tensor, output_size: PartialSizes, return_indices: bool) -> Any:
    name = f"adaptive_max_pool{dims}d"
    sizes = _completed(name, output_size, input, dims)
    values, indices = getattr(_generated, name)(input, sizes)
    return (values, indices) if return_indices else values


if TYPE_CHECKING:

    @overload
    def adaptive_max_pool1d(
        input: Tensor,
        output_size: Sizes,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def adaptive_max_pool1d(
        input: Tensor,
        output_size: Sizes,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def adaptive_max_pool1d(
        input: Tensor,
        output_size: Sizes,
        *,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...


@overridable
def adaptive_max_pool1d(input: Tensor, output_size: Sizes, return_indices: bool = False) -> Any:
    """The largest elements of windows that divide the last dimension into output_size parts, and
    with return_indices their positions."""
    return _adaptive_max(1, input, output_size, return_indices)


if TYPE_CHECKING:

    @overload
    def adaptive_max_pool2d(
        input: Tensor,
        output_size: PartialSizes,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def adaptive_max_pool2d(
        input: Tensor,
        output_size: PartialSizes,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def adaptive_max_pool2d(
        input: Tensor,
        output_size: PartialSizes,
        *,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...


@overridable
def adaptive_max_pool2d(
    input: Tensor, output_size: PartialSizes, return_indices: bool = False
) -> Any:
    """The largest elements of windows that divide the last two dimensions into output_size parts,
    and with return_indices their positions."""
    return _adaptive_max(2, input, output_size, return_indices)


if TYPE_CHECKING:

    @overload
    def adaptive_max_pool3d(
        input: Tensor,
        output_size: PartialSizes,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def adaptive_max_pool3d(
        input: Tensor,
        output_size: PartialSizes,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def adaptive_max_pool3d(
        input: Tensor,
        output_size: PartialSizes,
        *,
        return_indices: Literal[True],
    ) -> tuple[Tensor, Tensor]: ...


@overridable
def adaptive_max_pool3d(
    input: Tensor, output_size: PartialSizes, return_indices: bool = False
) -> Any:
    """The largest elements of windows that divide the last three dimensions into output_size parts,
    and with return_indices their positions."""
    return _adaptive_max(3, input, output_size, return_indices)


@overridable
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Sizes, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool1d with the elements' positions."""
    pair: tuple[Tensor, Tensor] = _adaptive_max(1, input, output_size, True)
    return pair


@overridable
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: PartialSizes, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool2d with the elements' positions."""
    pair: tuple[Tensor, Tensor] = _adaptive_max(2, input, output_size, True)
    return pair


@overridable
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: PartialSizes, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool3d with the elements' positions."""
    pair: tuple[Tensor, Tensor] = _adaptive_max(3, input, output_size, True)
    return pair


# -- to random sizes -------------------------------------------------------------------------------


def _fractional(
    dims: int,
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None,
    output_ratio: float | Sequence[float] | None,
    samples: Tensor | None,
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{dims}d"
    if output_size is None:
        if output_ratio is None:
            raise ArgumentValueError(
                f"{name}: found neither output_size nor output_ratio, wanted one"
            )
        ratios = (output_ratio,) * dims if isinstance(output_ratio, float) else tuple(output_ratio)
        if len(ratios) != dims or input.ndim < dims:
            raise ArgumentValueError(
                f"{name}: output_ratio is {output_ratio}, wanted {dims} numbers"
            )
        output_size = [
            int(size * ratio) for size, ratio in zip(input.shape[-dims:], ratios, strict=True)
        ]
    if samples is None:
        lead = tuple(input.shape[:-dims])
        shape = (lead if len(lead) == 2 else (1, *lead[:1])) + (dims,)
        samples = _functions.rand(shape, dtype=input.dtype, device=input.device)
    values, indices = getattr(_generated, name)(input, kernel_size, output_size, samples)
    return values, indices


if TYPE_CHECKING:

    @overload
    def fractional_max_pool2d(
        input: Tensor,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: Literal[False] = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def fractional_max_pool2d(
        input: Tensor,
        kernel_size: Sizes,
        output_size: Sizes | None,
        output_ratio: float | Sequence[float] | None,
        return_indices: Literal[True],
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def fractional_max_pool2d(
        input: Tensor,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: float | Sequence[float] | None = None,
        *,
        return_indices: Literal[True],
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]: ...


@overridable
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random distances, to output_size or that share of the last
    two dimensions, and with return_indices their positions."""
    pair = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return pair if return_indices else pair[0]


if TYPE_CHECKING:

    @overload
    def fractional_max_pool3d(
        input: Tensor,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: Literal[False] = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def fractional_max_pool3d(
        input: Tensor,
        kernel_size: Sizes,
        output_size: Sizes | None,
        output_ratio: float | Sequence[float] | None,
        return_indices: Literal[True],
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def fractional_max_pool3d(
        input: Tensor,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: float | Sequence[float] | None = None,
        *,
        return_indices: Literal[True],
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]: ...


@overridable
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows at random distances, to output_size or that share of the last
    three dimensions, and with return_indices their positions."""
    pair = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return pair if return_indices else pair[0]


@overridable
def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """fractional_max_pool2d with the elements' positions."""
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


@overridable
def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """fractional_max_pool3d with the elements' positions."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
