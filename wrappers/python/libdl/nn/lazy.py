# SPDX-License-Identifier: Apache-2.0
"""Layers that learn the size of their input from the first one."""

from __future__ import annotations

from itertools import chain
from typing import Any

from .._C import Tensor
from .._functions import zeros
from .._modes import no_grad
from .._types import int64
from .convolution import (
    Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Sizes,
)  # fmt: skip
from .layer import Linear
from ._state import _WrappedHook
from .module import Module
from .normalisation import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d,
    _BatchNorm, _InstanceNorm,
)  # fmt: skip
from .parameter import UninitializedBuffer, UninitializedParameter, is_lazy

class LazyModuleMixin(Module):
    """Comes before a layer's class, and makes it one whose parameters get their shapes at the first call, or from a state.

    A subclass assigns UninitializedParameter and UninitializedBuffer, and materializes them in
    initialize_parameters, which has forward's arguments. cls_to_become: the class afterwards."""

    cls_to_become: type[Any] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = type(self)
        # Functions of the class, not bound to the module: a module is no part of a cycle.
        self._load_hook = self._register_load_state_dict_pre_hook(
            kind._lazy_load_hook, with_module=True
        )
        self._initialize_hook = self.register_forward_pre_hook(
            _WrappedHook(kind._infer_parameters, self), with_kwargs=True
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return any(map(is_lazy, chain(self._parameters.values(), self._buffers.values())))

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materializes parameters and buffers for these arguments of forward."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method initialize_parameters"
        )

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            raise RuntimeError(f"{type(self).__name__}: initialize_parameters left a parameter or "
                               "buffer without a shape")  # fmt: skip
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *others: Any) -> None:
        parts: dict[str, Any] = {**self._parameters, **self._buffers}
        for name, value in parts.items():
            given = state_dict.get(prefix + name)
            if is_lazy(value) and isinstance(given, Tensor) and not is_lazy(given):
                with no_grad():
                    value.materialize(given.shape)


def _materialize(part: Any, *shape: int) -> None:
    """Gives a part its shape; None has none, and one from a state keeps its own."""
    if is_lazy(part):
        part.materialize(shape)


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear layer whose in_features is the size of the first input's last dimension.

    Shape: [..., in_features] to [..., out_features].

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(in_features).
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws new parameters, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            with no_grad():
                _materialize(self.weight, self.out_features, self.in_features)
                _materialize(self.bias, self.out_features)
                self.reset_parameters()
        if self.in_features == 0:  # the parameters were loaded
            self.in_features = self.weight.shape[-1]


class _LazyConvXdMixin(LazyModuleMixin):
    _dims: int
    transposed: bool
    in_channels: int
    out_channels: int
    groups: int
    kernel_size: tuple[int, ...]

    def _await(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws new parameters, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        if not self.has_uninitialized_params():
            if self.in_channels == 0:  # the parameters were loaded
                self.in_channels = self._get_in_channels(input)
            return
        name, channels = type(self).__name__, self._get_in_channels(input)
        if channels % self.groups or self.out_channels % self.groups:
            raise ValueError(f"{name}: groups is {self.groups}, wanted a divisor of the input's "
                             f"{channels} channels and of out_channels, {self.out_channels}")  # fmt: skip
        self.in_channels = channels
        pair = (channels, self.out_channels) if self.transposed else (self.out_channels, channels)
        with no_grad():
            _materialize(self.weight, pair[0], pair[1] // self.groups, *self.kernel_size)
            _materialize(self.bias, self.out_channels)
            self.reset_parameters()

    def _get_num_spatial_dims(self) -> int:
        return self._dims

    def _get_in_channels(self, input: Tensor) -> int:
        dims = self._get_num_spatial_dims()
        if input.ndim not in (dims + 1, dims + 2):
            raise RuntimeError(f"{type(self).__name__}: the input has {input.ndim} dimensions, "
                               f"wanted {dims + 1} or {dims + 2}")  # fmt: skip
        return int(input.shape[-1 - dims])


class _LazyForward(_LazyConvXdMixin):
    def __init__(self, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: str | Sizes = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode,
                         device, dtype)  # fmt: skip
        self._await(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, Conv1d):  # type: ignore[misc]
    """A Conv1d whose in_channels is that of the first input.

    Shape: [n, in_channels, l] to [n, out_channels, l'] as of Conv1d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(in_channels
    kernel_size / groups).
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyForward, Conv2d):  # type: ignore[misc]
    """A Conv2d whose in_channels is that of the first input.

    Shape: [n, in_channels, h, w] to [n, out_channels, h', w'] as of Conv2d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(in_channels kh kw
    / groups).
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyForward, Conv3d):  # type: ignore[misc]
    """A Conv3d whose in_channels is that of the first input.

    Shape: [n, in_channels, d, h, w] to [n, out_channels, d', h', w'] as of Conv3d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(in_channels kd kh
    kw / groups).
    """

    cls_to_become = Conv3d


class _LazyTransposed(_LazyConvXdMixin):
    def __init__(self, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
                 dilation: Sizes = 1, padding_mode: str = "zeros", device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False,
                         dilation, padding_mode, device, dtype)  # fmt: skip
        self._await(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):  # type: ignore[misc]
    """A ConvTranspose1d whose in_channels is that of the first input.

    Shape: [n, in_channels, l] to [n, out_channels, l'] as of ConvTranspose1d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(out_channels
    kernel_size / groups).
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):  # type: ignore[misc]
    """A ConvTranspose2d whose in_channels is that of the first input.

    Shape: [n, in_channels, h, w] to [n, out_channels, h', w'] as of ConvTranspose2d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(out_channels kh
    kw / groups).
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):  # type: ignore[misc]
    """A ConvTranspose3d whose in_channels is that of the first input.

    Shape: [n, in_channels, d, h, w] to [n, out_channels, d', h', w'] as of ConvTranspose3d.

    Initialisation: at the first call, weight and bias from U(-k, k), k = 1 / sqrt(out_channels kd
    kh kw / groups).
    """

    cls_to_become = ConvTranspose3d


class _LazyNormBase(LazyModuleMixin):
    num_features: int

    def __init__(self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: Any = None, dtype: Any = None, *,
                 bias: bool = True) -> None:  # fmt: skip
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
                    _materialize(part, self.num_features)
                self.reset_parameters()

    def _features(self, input: Tensor) -> int:
        self._check_input_dim(input)
        return int(input.shape[1])


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):  # type: ignore[misc]
    """A BatchNorm1d whose num_features is the number of channels of the first input.

    Shape: [n, c] or [n, c, l]; the result has the same.

    Initialisation: at the first call, weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):  # type: ignore[misc]
    """A BatchNorm2d whose num_features is the number of channels of the first input.

    Shape: [n, c, h, w]; the result has the same.

    Initialisation: at the first call, weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):  # type: ignore[misc]
    """A BatchNorm3d whose num_features is the number of channels of the first input.

    Shape: [n, c, d, h, w]; the result has the same.

    Initialisation: at the first call, weight = 1, bias = 0; running_mean = 0, running_var = 1.
    """

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class _LazyInstanceNorm(_LazyNormBase):
    _dims: int

    def _features(self, input: Tensor) -> int:
        self._check_input_dim(input)
        return int(input.shape[-1 - self._dims])  # of one sample, too


class LazyInstanceNorm1d(_LazyInstanceNorm, _InstanceNorm):  # type: ignore[misc]
    """An InstanceNorm1d whose num_features is the number of channels of the first input.

    Shape: [n, c, l] or [c, l]; the result has the same.

    Initialisation: that of InstanceNorm1d, at the first call: weight = 1 and bias = 0 with affine.
    """

    cls_to_become = InstanceNorm1d
    _dims = 1


class LazyInstanceNorm2d(_LazyInstanceNorm, _InstanceNorm):  # type: ignore[misc]
    """An InstanceNorm2d whose num_features is the number of channels of the first input.

    Shape: [n, c, h, w] or [c, h, w]; the result has the same.

    Initialisation: that of InstanceNorm2d, at the first call: weight = 1 and bias = 0 with affine.
    """

    cls_to_become = InstanceNorm2d
    _dims = 2


class LazyInstanceNorm3d(_LazyInstanceNorm, _InstanceNorm):  # type: ignore[misc]
    """An InstanceNorm3d whose num_features is the number of channels of the first input.

    Shape: [n, c, d, h, w] or [c, d, h, w]; the result has the same.

    Initialisation: that of InstanceNorm3d, at the first call: weight = 1 and bias = 0 with affine.
    """

    cls_to_become = InstanceNorm3d
    _dims = 3
