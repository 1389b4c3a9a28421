# SPDX-License-Identifier: Apache-2.0
"""Layers that normalise channels over the batch."""

from __future__ import annotations

from typing import Any

from ..._C import Tensor
from ..._functions import empty, ones, zeros
from ..._modes import no_grad
from ..._types import DeviceLike, DtypeLike, FactoryOptions, int64
from .. import functional as F, init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin, materialize
from .module import Layer, Module

__all__ = [
    "BatchNorm1d",
    "LazyBatchNorm1d",
    "BatchNorm2d",
    "LazyBatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Layer):
    """The running statistics and the affine part of batch and instance normalisation."""

    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    _version = 2  # of the state: num_batches_tracked is in it

    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        how: FactoryOptions = {"device": device, "dtype": dtype}
        for name, enabled in (("weight", affine), ("bias", affine and bias)):
            parameter = Parameter(empty(num_features, **how)) if enabled else None
            self.register_parameter(name, parameter)
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

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *reports: Any
    ) -> None:
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
            expected = " or ".join(f"{d}D" for d in dims)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")


class _BatchNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

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
        return F.batch_norm(input, mean, var, self.weight, self.bias, of_batch, factor, self.eps)


class _LazyNormBase(LazyModuleMixin):
    num_features: int

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
        if affine and bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = zeros((), dtype=int64, device=device)

    def reset_parameters(self) -> None:
        """As new, once the parameters have shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:
        lazy = self.has_uninitialized_params()
        if self.num_features == 0:
            self.num_features = self._features(input)
        if lazy:
            with no_grad():
                for part in (self.weight, self.bias, self.running_mean, self.running_var):
                    materialize(part, self.num_features)
                self.reset_parameters()

    def _features(self, input: Tensor) -> int:
        self._check_input_dim(input)
        return int(input.shape[1])


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


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):  # type: ignore[misc]
    """A BatchNorm1d whose num_features is the number of channels of the first input.

    Shape: [n, c] or [n, c, l]; the result has the same.

    Initialisation: at the first call, weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


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


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):  # type: ignore[misc]
    """A BatchNorm2d whose num_features is the number of channels of the first input.

    Shape: [n, c, h, w]; the result has the same.

    Initialisation: at the first call, weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of volumes [n, c, d, h, w]; arguments as of BatchNorm1d.

    Shape: [n, c, d, h, w]; the result has the same.

    Initialisation: weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        self._wanted(input, 5)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):  # type: ignore[misc]
    """A BatchNorm3d whose num_features is the number of channels of the first input.

    Shape: [n, c, d, h, w]; the result has the same.

    Initialisation: at the first call, weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class SyncBatchNorm(_BatchNorm):
    """A batch normalisation over all processes that train together, of inputs of any number of
    dimensions; arguments as of BatchNorm1d. There is one process yet, whose batch is the whole.

    Shape: [n, c, ...]; the result has the same.

    Initialisation: weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        if process_group is not None:
            raise NotImplementedError(
                "SyncBatchNorm: process_group is given, and groups of processes are not offered yet"
            )
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
        """The module with a SyncBatchNorm of the same parameters and statistics in the place of
        each batch normalisation."""
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            if module.affine:
                result.weight, result.bias = module.weight, module.bias
            result.running_mean, result.running_var = module.running_mean, module.running_var
            result.num_batches_tracked = module.num_batches_tracked
            result.training = module.training
            if hasattr(module, "qconfig"):
                result.qconfig = module.qconfig
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
