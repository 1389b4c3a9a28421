# SPDX-License-Identifier: Apache-2.0
"""Layers that normalise the channels of each sample."""

from __future__ import annotations

import warnings

from ..._C import Tensor
from ..._types import DeviceLike, DtypeLike
from .. import functional as F
from .batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    _dims: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input: Tensor) -> None:
        self._wanted(input, self._dims + 1, self._dims + 2)

    def _get_no_batch_dim(self) -> int:
        return self._dims + 1

    def _handle_no_batch_input(self, input: Tensor) -> Tensor:
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _apply_instance_norm(self, input: Tensor) -> Tensor:
        of_input = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            of_input,
            momentum,
            self.eps,
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        dims = self._get_no_batch_dim()
        channels = input.shape[-dims]
        if channels != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={input.ndim - dims} to match "
                    f"num_features ({self.num_features}), but got: {channels}."
                )
            warnings.warn(
                f"input's size at dim={input.ndim - dims} does not match num_features. You can "
                "silence this warning by not passing in num_features, which is not used because "
                "affine=False",
                stacklevel=2,
            )
        if input.ndim == dims:
            return self._handle_no_batch_input(input)
        return self._apply_instance_norm(input)


class _LazyInstanceNorm(_LazyNormBase):
    _dims: int

    def _features(self, input: Tensor) -> int:
        self._check_input_dim(input)
        return int(input.shape[-1 - self._dims])  # of one sample, too


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of [n, c, l] or [c, l]; arguments as of BatchNorm1d.

    Shape: [n, c, l] or [c, l]; the result has the same.

    Initialisation: with affine, weight = 1 and bias = 0; with track_running_stats, running_mean = 0
    and running_var = 1.
    """

    _dims = 1


class LazyInstanceNorm1d(_LazyInstanceNorm, _InstanceNorm):  # type: ignore[misc]
    """An InstanceNorm1d whose num_features is the number of channels of the first input.

    Shape: [n, c, l] or [c, l]; the result has the same.

    Initialisation: that of InstanceNorm1d, at the first call: weight = 1 and bias = 0 with affine.
    """

    cls_to_become = InstanceNorm1d
    _dims = 1


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each image of [n, c, h, w] or [c, h, w]; arguments as of
    BatchNorm1d.

    Shape: [n, c, h, w] or [c, h, w]; the result has the same.

    Initialisation: with affine, weight = 1 and bias = 0; with track_running_stats, running_mean = 0
    and running_var = 1.
    """

    _dims = 2


class LazyInstanceNorm2d(_LazyInstanceNorm, _InstanceNorm):  # type: ignore[misc]
    """An InstanceNorm2d whose num_features is the number of channels of the first input.

    Shape: [n, c, h, w] or [c, h, w]; the result has the same.

    Initialisation: that of InstanceNorm2d, at the first call: weight = 1 and bias = 0 with affine.
    """

    cls_to_become = InstanceNorm2d
    _dims = 2


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each volume of [n, c, d, h, w] or [c, d, h, w]; arguments as of
    BatchNorm1d.

    Shape: [n, c, d, h, w] or [c, d, h, w]; the result has the same.

    Initialisation: with affine, weight = 1 and bias = 0; with track_running_stats, running_mean = 0
    and running_var = 1.
    """

    _dims = 3


class LazyInstanceNorm3d(_LazyInstanceNorm, _InstanceNorm):  # type: ignore[misc]
    """An InstanceNorm3d whose num_features is the number of channels of the first input.

    Shape: [n, c, d, h, w] or [c, d, h, w]; the result has the same.

    Initialisation: that of InstanceNorm3d, at the first call: weight = 1 and bias = 0 with affine.
    """

    cls_to_become = InstanceNorm3d
    _dims = 3
