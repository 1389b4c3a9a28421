# SPDX-License-Identifier: Apache-2.0
"""The operators of neural networks as functions."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import builtins
from typing import Any

from .. import _C, _functional as _generated, _functions
from .._C import Tensor, overridable
from .._convolution import conv1d, conv2d, conv3d
from .._dropping import drops_nothing
from .._errors import ArgumentValueError, DtypeError, ShapeError
from .._functional import (
    batch_norm, bilinear, channel_shuffle, conv_transpose1d, conv_transpose2d, conv_transpose3d,
    cosine_similarity, fold, glu, group_norm, hardshrink, instance_norm, layer_norm, linear,
    local_response_norm, logsigmoid, normalize, one_hot, pad, pairwise_distance, pdist,
    pixel_shuffle, pixel_unshuffle, prelu, rms_norm, scaled_dot_product_attention, sigmoid,
    softplus, softshrink, softsign, tanh, tanhshrink, unfold,
)  # fmt: skip
from .._modes import no_grad
from . import (
    _attention, _dropouts, _grouped_products, _linear_cross_entropy, _losses, _margin_losses,
    _pooling, _units,
)  # fmt: skip
from ._attention import *
from ._attention_masks import canonical_mask as _canonical_mask, none_or_dtype as _none_or_dtype
from ._dropouts import *
from ._grouped_products import *
from ._image import affine_grid, grid_sample, interpolate
from ._image import upsample, upsample_bilinear, upsample_nearest
from ._linear_cross_entropy import *
from ._losses import *
from ._losses import cross_entropy, l1_loss, mse_loss, nll_loss
from ._margin_losses import *
from ._pooling import *
from ._units import *

__all__ = [
    "affine_grid", "batch_norm", "bilinear", "channel_shuffle", "conv1d", "conv2d", "conv3d",
    "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity",
    "cross_entropy", "dropout", "elu", "embedding", "embedding_bag", "fold", "gelu", "glu",
    "grid_sample", "group_norm", "hardshrink", "instance_norm", "interpolate", "l1_loss",
    "layer_norm", "leaky_relu", "linear", "local_response_norm", "log_softmax", "logsigmoid",
    "mse_loss", "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance", "pdist",
    "pixel_shuffle", "pixel_unshuffle", "prelu", "relu", "rms_norm",
    "scaled_dot_product_attention", "sigmoid", "silu", "softmax", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "unfold", "upsample",
    "upsample_bilinear", "upsample_nearest",
]  # fmt: skip
__all__ += _attention.__all__ + _dropouts.__all__ + _losses.__all__ + _margin_losses.__all__
__all__ += _pooling.__all__ + _units.__all__ + _grouped_products.__all__
__all__ += _linear_cross_entropy.__all__


@overridable
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The larger of each element and 0.

    Example:
        >>> F.relu(torch.tensor([-1., 2.]))
        tensor([0., 2.])
    """
    return input.relu_() if inplace else _functions.relu(input)


@overridable
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Each element times the normal distribution function at it; "tanh" approximates."""
    return _generated.gelu(input, approximate=approximate)


@overridable
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element times its sigmoid.

    Example:
        >>> F.silu(torch.tensor([-1., 2.]))
        tensor([-0.2689,  1.7616])
    """
    if inplace:
        return _C.silu_into(input, input)
    return _generated.silu(input)


def _implicit(name: str, ndim: int) -> int:
    """The dimension that PyTorch uses if none is given."""
    return 0 if ndim in (0, 1, 3) else 1


@overridable
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: Any = None) -> Tensor:  # fmt: skip
    """exp(input) scaled so that its sum along dim is 1.

    Example:
        >>> F.softmax(torch.tensor([[0., 1., 2.]]), dim=1)
        tensor([[0.0900, 0.2447, 0.6652]])
    """
    return _functions.softmax(
        input, _implicit("softmax", input.ndim) if dim is None else dim, dtype
    )


@overridable
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
                dtype: Any = None) -> Tensor:  # fmt: skip
    """The logarithm of softmax.

    Example:
        >>> F.log_softmax(torch.tensor([0., 1., 2.]), dim=0)
        tensor([-2.4076, -1.4076, -0.4076])
    """
    return _functions.log_softmax(
        input, _implicit("log_softmax", input.ndim) if dim is None else dim, dtype
    )


@overridable
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: Any = None) -> Tensor:  # fmt: skip
    """softmax of the negated input."""
    return softmax(-input, dim, dtype=dtype)


@overridable
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """conv1d of steps: input [t, n, in], weight [width, in, out] and bias [out] give [t', n, out]."""
    if input.ndim != 3 or weight.ndim != 3:
        raise ShapeError(f"conv_tbc: shapes are {list(input.shape)} and {list(weight.shape)}, wanted "
                         "three dimensions each")  # fmt: skip
    made = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return made.permute(2, 0, 1)


@overridable
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False,
            *, generator: Any = None) -> Tensor:  # fmt: skip
    """Elements set to zero with probability p, the others divided by 1 - p.

    Example:
        >>> F.dropout(torch.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])
        >>> x = F.dropout(torch.ones(100), p=0.5)
        >>> x.unique()
        tensor([0., 2.])
    """
    if drops_nothing(input, p, training):
        return input
    if inplace:
        return _C.dropout_into(input, p, training, generator, input)
    return _generated.dropout(input, p, training, generator=generator)


def _kept(input: Tensor) -> Tensor:
    """The tensor to read for a function that overwrites its input: backward needs old elements."""
    return _functions.clone(input) if input.requires_grad else input


@overridable
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The element where positive, alpha (exp(element) - 1) elsewhere."""
    if inplace:
        return _C.elu_into(input, alpha, input)
    return _generated.elu(input, alpha)


@overridable
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """The element where positive, negative_slope times it elsewhere."""
    if inplace:
        return _C.leaky_relu_into(input, negative_slope, input)
    return _generated.leaky_relu(input, negative_slope)


@overridable
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """The element where above the threshold, value elsewhere."""
    if inplace:
        return input.copy_(_THRESHOLD(_kept(input), threshold, value))
    low: Any = value
    if not input.dtype.is_floating_point or isinstance(threshold, complex) or isinstance(
        value, complex
    ):  # as the dtype holds them, or refused
        threshold, low = (
            _functions.full((), n, dtype=input.dtype, device="cpu").item()
            for n in (threshold, value)
        )
    kept = input
    if input.requires_grad:  # itself, recorded: the second derivative is 0 rather than absent
        kept = _generated.leaky_relu(input, 1.0)
    return _functions.where(input <= threshold, low, kept)


_THRESHOLD = threshold  # an argument has its name


@overridable
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:  # fmt: skip
    """weight[input]: rows of a table. With max_norm, rows that are read and have a larger norm are
    first scaled down in the table itself, without history.

    Arguments:
        input: int64 or int32 indices of rows, any shape
        weight: [rows, columns]
        padding_idx: a row that receives no gradient; negative counts from the end
        max_norm: the largest norm of a row; None: no limit
        norm_type: the p of the norm
        scale_grad_by_freq: whether a row's gradient is divided by how often the row was read
        sparse: whether weight's gradient is a sparse tensor, which holds the rows that were read
    """
    if max_norm is not None:
        _shorten(input, weight, max_norm, norm_type)
    return _generated.embedding(input, weight, padding_idx, scale_grad_by_freq, sparse)


@overridable
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None,
                  max_norm: float | None = None, norm_type: float = 2,
                  scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> Tensor:  # fmt: skip
    """Rows of a table in bags, each reduced to one row.

    Arguments:
        input: int64 or int32 indices of rows: [n], or [bags, n], where each row is a bag
        weight: [rows, columns]
        offsets: where in input each bag begins; None if input has two dimensions
        max_norm: as in embedding; None: no limit
        norm_type: the p of the norm
        scale_grad_by_freq: whether a row's gradient is divided by how often the row was read
        mode: "sum", "mean" or "max"
        sparse: whether weight's gradient is a sparse tensor, which holds the rows that were read
        per_sample_weights: of a sum, a factor for each index
        include_last_offset: whether offsets also tells where the last bag ends
        padding_idx: a row that is in no bag and receives no gradient; negative counts from the end
    """
    options = (scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset)
    if max_norm is not None:
        with no_grad():  # what is refused must leave the table as it was
            _generated.embedding_bag(input, weight, offsets, *options, padding_idx)
        _shorten(input, weight, max_norm, norm_type)
    return _generated.embedding_bag(input, weight, offsets, *options, padding_idx)


def _shorten(input: Tensor, weight: Tensor, max_norm: float, norm_type: float) -> None:
    with no_grad():
        rows = _generated.embedding(input.detach().reshape(-1), weight)
        if weight.is_meta:
            return
        norms = rows.norm(norm_type, 1, keepdim=True)
        long = (norms > max_norm).squeeze(1)
        if long.any():
            # PyTorch's guard against norms close to 0.
            shorter = rows[long] * (max_norm / (norms[long] + 1e-7))
            weight.index_put_((input.detach().reshape(-1)[long],), shorter)


assert all((_canonical_mask, _none_or_dtype, cross_entropy, hardshrink, l1_loss, layer_norm, linear,
            logsigmoid, mse_loss, nll_loss, sigmoid, softplus, tanh))  # fmt: skip


from . import _in_place  # noqa: E402
from ._in_place import *  # noqa: E402

__all__ += _in_place.__all__

import typing as _typing  # noqa: E402

from .._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
