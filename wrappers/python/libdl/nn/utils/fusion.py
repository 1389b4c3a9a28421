# SPDX-License-Identifier: Apache-2.0
"""Layers followed by a batch normalisation in evaluation, made into one."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from ..._C import Tensor
from ..modules.module import Module
from ..parameter import Parameter

L = TypeVar("L", bound=Module)


def fuse_conv_bn_eval(conv: L, bn: Module, transpose: bool = False) -> L:
    """A copy of a convolution that does the work of the batch normalisation after it, too; both
    must be in evaluation mode. transpose: whether it is a transposed one."""
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_linear_bn_eval(linear: L, bn: Module) -> L:
    """The same for a linear layer, whose out_features is the batch normalisation's num_features."""
    layer, norm = linear, bn
    if not (layer.out_features == norm.num_features or norm.num_features == 1):
        raise AssertionError(
            f"fuse_linear_bn_eval: the normalisation has {norm.num_features} "
            f"features, wanted the layer's {layer.out_features} or 1"
        )
    return _fused(linear, bn, fuse_linear_bn_weights)


def _fused(layer: L, bn: Any, fuse: Any, *options: Any) -> L:
    if layer.training or bn.training:
        raise AssertionError(
            "a layer and its batch normalisation are fused in evaluation: call eval() before"
        )
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("the batch normalisation has no running statistics to be fused")
    fused: Any = copy.deepcopy(layer)
    fused.weight, fused.bias = fuse(
        fused.weight,
        fused.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        *options,
    )
    result: L = fused
    return result


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the fused convolution, in the dtypes of the convolution's."""
    scale, shift = _scale_and_shift(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1, -1] if transpose else [-1, 1]
    groups = scale.numel() // conv_w.shape[1] if transpose else 1
    if groups > 1:  # [in, out / groups, ...]: each group of rows has its own scales
        rows = conv_w.shape[0] // groups
        factor = scale.view(groups, -1).repeat_interleave(rows, 0)
    else:
        factor = scale.reshape(shape)
    factor = factor.reshape(*factor.shape, *[1] * (conv_w.ndim - 2))
    return _parameters(conv_w, conv_b, conv_w * factor, shift)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the fused linear layer, in the dtypes of the layer's."""
    scale, shift = _scale_and_shift(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    return _parameters(linear_w, linear_b, linear_w * scale.unsqueeze(-1), shift)


def _scale_and_shift(
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    weight: Tensor | None,
    shift: Tensor | None,
) -> tuple[Any, Any]:
    scale = (var + eps).rsqrt()
    if weight is not None:
        scale = scale * weight
    moved = (0.0 if bias is None else bias) - mean
    return scale, moved * scale + (0.0 if shift is None else shift)


def _parameters(
    before: Tensor, bias: Tensor | None, weight: Tensor, shift: Tensor
) -> tuple[Parameter, Parameter]:
    like = before if bias is None else bias
    return (
        Parameter(weight.detach().to(before.dtype), before.requires_grad),
        Parameter(shift.detach().to(like.dtype), like.requires_grad),
    )
