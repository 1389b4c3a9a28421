# SPDX-License-Identifier: Apache-2.0
"""Layers that normalise channels: over the batch, for each sample, or in groups."""

from __future__ import annotations

import warnings
from typing import Any

from .._C import Tensor
from .._functions import empty, ones, zeros
from .._types import int64
from . import functional as F, init
from .module import Layer, Module
from .parameter import Parameter


class _NormBase(Layer):
    """The running statistics and the affine part of batch and instance normalisation."""

    _version = 2  # of the state: num_batches_tracked is in it

    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
                 affine: bool = True, track_running_stats: bool = True, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        how = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = Parameter(empty(num_features, **how)) if wanted else None
            self.register_parameter(name, made)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **how) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **how) if tracked else None)
        count = zeros((), dtype=int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Running mean 0, variance 1, no batches."""
        if self.track_running_stats:
            assert self.running_mean is not None and self.running_var is not None
            assert self.num_batches_tracked is not None
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """As new: no statistics, weight 1, bias 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any,
                              *reports: Any) -> None:  # fmt: skip
        if (local_metadata.get("version") or 1) < 2 and self.num_batches_tracked is not None:
            state_dict.setdefault(f"{prefix}num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *reports)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no method _check_input_dim")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _wanted(self, input: Tensor, *dims: int) -> None:
        if input.ndim not in dims:
            wanted = " or ".join(f"{d}D" for d in dims)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")


class _BatchNorm(_NormBase):
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
                 affine: bool = True, track_running_stats: bool = True, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return self._normalised(input)

    def _normalised(self, input: Tensor) -> Tensor:
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        # Without running statistics those of the batch are used, in evaluation, too.
        of_batch = self.training or (self.running_mean is None and self.running_var is None)
        keeps = not self.training or self.track_running_stats
        mean: Any = self.running_mean if keeps else None
        var: Any = self.running_var if keeps else None
        return F.batch_norm(
            input, mean, var, self.weight, self.bias, of_batch, factor, self.eps)  # fmt: skip


class BatchNorm1d(_BatchNorm):
    """Normalises each of num_features channels of [n, c] or [n, c, l] over all other dimensions.

    Arguments:
        num_features: how many channels
        eps: added to the variance
        momentum: how much a batch changes the running statistics; None: their mean over all batches
        affine: whether channels then have a weight and a bias, which are trained
        track_running_stats: whether running statistics are kept, with which evaluation normalises
        bias: whether an affine layer has a bias

    Shape: [n, c] or [n, c, l]; the result has the same.

    Initialisation: weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._wanted(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of images [n, c, h, w]; arguments as of BatchNorm1d.

    Shape: [n, c, h, w]; the result has the same.

    Initialisation: weight = 1, bias = 0; running_mean = 0, running_var = 1.

    Example:
        >>> nn.BatchNorm2d(3)(torch.zeros(8, 3, 32, 32)).shape
        libdl.Size([8, 3, 32, 32])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._wanted(input, 4)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of volumes [n, c, d, h, w]; arguments as of BatchNorm1d.

    Shape: [n, c, d, h, w]; the result has the same.

    Initialisation: weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._wanted(input, 5)


class _InstanceNorm(_NormBase):
    _dims: int

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
                 affine: bool = False, track_running_stats: bool = False, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)  # fmt: skip

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
            input, self.running_mean, self.running_var, self.weight, self.bias, of_input,
            momentum, self.eps,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        dims = self._get_no_batch_dim()
        channels = input.shape[-dims]
        if channels != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={input.ndim - dims} to match "
                                 f"num_features ({self.num_features}), but got: {channels}.")  # fmt: skip
            warnings.warn(
                f"input's size at dim={input.ndim - dims} does not match num_features. You can "
                "silence this warning by not passing in num_features, which is not used because "
                "affine=False", stacklevel=2)  # fmt: skip
        if input.ndim == dims:
            return self._handle_no_batch_input(input)
        return self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of [n, c, l] or [c, l]; arguments as of BatchNorm1d.

    Shape: [n, c, l] or [c, l]; the result has the same.

    Initialisation: with affine, weight = 1 and bias = 0; with track_running_stats, running_mean = 0
    and running_var = 1.
    """

    _dims = 1


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each image of [n, c, h, w] or [c, h, w]; arguments as of
    BatchNorm1d.

    Shape: [n, c, h, w] or [c, h, w]; the result has the same.

    Initialisation: with affine, weight = 1 and bias = 0; with track_running_stats, running_mean = 0
    and running_var = 1.
    """

    _dims = 2


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each volume of [n, c, d, h, w] or [c, d, h, w]; arguments as of
    BatchNorm1d.

    Shape: [n, c, d, h, w] or [c, d, h, w]; the result has the same.

    Initialisation: with affine, weight = 1 and bias = 0; with track_running_stats, running_mean = 0
    and running_var = 1.
    """

    _dims = 3


class GroupNorm(Layer):
    """Normalises groups of channels of each sample of [n, c, ...].

    Arguments:
        num_groups: into how many groups the channels are cut
        num_channels: how many channels
        eps: added to the variance
        affine: whether channels then have a weight and a bias

    Shape: [n, num_channels, ...]; the result has the same.

    Initialisation: weight = 1, bias = 0.

    Example:
        >>> nn.GroupNorm(2, 6)(torch.zeros(8, 6, 32, 32)).shape
        libdl.Size([8, 6, 32, 32])
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
                 device: Any = None, dtype: Any = None, *, bias: bool = True) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups "
                             f"({num_groups})")  # fmt: skip
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = Parameter(empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight one, bias zero."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Layer):
    """Divides by the root of the mean square over the last dimensions, then multiplies by weight.

    Arguments:
        normalized_shape: the sizes of these dimensions
        eps: added to the mean square; None: the dtype's eps
        elementwise_affine: whether there is a weight

    Shape: [..., *normalized_shape]; the result has the same.

    Initialisation: weight = 1.
    """

    weight: Parameter | None

    def __init__(self, normalized_shape: int | list[int] | tuple[int, ...],
                 eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        self.elementwise_affine = elementwise_affine
        made = empty(self.normalized_shape, device=device, dtype=dtype)
        self.register_parameter("weight", Parameter(made) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight one."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class SyncBatchNorm(_BatchNorm):
    """A batch normalisation over all processes that train together, of inputs of any number of
    dimensions; arguments as of BatchNorm1d. There is one process yet, whose batch is the whole.

    Shape: [n, c, ...]; the result has the same.

    Initialisation: weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
                 affine: bool = True, track_running_stats: bool = True, process_group: Any = None,
                 device: Any = None, dtype: Any = None, *, bias: bool = True) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)  # fmt: skip
        if process_group is not None:
            raise NotImplementedError("SyncBatchNorm: process_group is given, and groups of "
                                      "processes are not offered yet")  # fmt: skip
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")

    def _check_non_zero_input_channels(self, input: Tensor) -> None:
        if input.shape[1] == 0:
            raise ValueError(f"{type(self).__name__}: the input has no channels, wanted at least 1")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        return self._normalised(input)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with a SyncBatchNorm of the same parameters and statistics in the place of each
        batch normalisation."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(module.num_features, module.eps, module.momentum, module.affine,
                       module.track_running_stats, process_group)  # fmt: skip
            if module.affine:
                made.weight, made.bias = module.weight, module.bias
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked = module.num_batches_tracked
            made.training = module.training
            if hasattr(module, "qconfig"):
                made.qconfig = module.qconfig
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
