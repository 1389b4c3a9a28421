# SPDX-License-Identifier: Apache-2.0
"""The (values, indices) pairs that functions return, each printed under its function's name."""

from __future__ import annotations

from typing import NamedTuple

from ._C import Tensor
from ._types import ValuesIndices

__all__ = [
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "aminmax",
    "cummax",
    "cummin",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "frexp",
    "histogram",
    "histogramdd",
    "kthvalue",
    "max",
    "max_pool1d_with_indices",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
    "median",
    "min",
    "mode",
    "nanmedian",
    "sort",
    "topk",
]


aminmax = NamedTuple("aminmax", [("min", Tensor), ("max", Tensor)])
frexp = NamedTuple("frexp", [("mantissa", Tensor), ("exponent", Tensor)])
histogram = NamedTuple("histogram", [("hist", Tensor), ("bin_edges", Tensor)])
histogramdd = NamedTuple("histogramdd", [("hist", Tensor), ("bin_edges", tuple[Tensor, ...])])


class cummax(ValuesIndices):
    __slots__ = ()


class cummin(ValuesIndices):
    __slots__ = ()


class max(ValuesIndices):
    __slots__ = ()


class max_pool2d_with_indices(ValuesIndices):
    __slots__ = ()


class min(ValuesIndices):
    __slots__ = ()


class sort(ValuesIndices):
    __slots__ = ()


class median(ValuesIndices):
    __slots__ = ()


class nanmedian(ValuesIndices):
    __slots__ = ()


class mode(ValuesIndices):
    __slots__ = ()


class topk(ValuesIndices):
    __slots__ = ()


class kthvalue(ValuesIndices):
    __slots__ = ()


class adaptive_max_pool1d(ValuesIndices):
    __slots__ = ()


class adaptive_max_pool2d(ValuesIndices):
    __slots__ = ()


class adaptive_max_pool3d(ValuesIndices):
    __slots__ = ()


class fractional_max_pool2d(ValuesIndices):
    __slots__ = ()


class fractional_max_pool3d(ValuesIndices):
    __slots__ = ()


class max_pool1d_with_indices(ValuesIndices):
    __slots__ = ()


class max_pool3d_with_indices(ValuesIndices):
    __slots__ = ()
