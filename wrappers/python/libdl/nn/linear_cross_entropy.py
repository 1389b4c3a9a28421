# SPDX-License-Identifier: Apache-2.0
"""A linear layer and the cross entropy of its scores as one loss."""

from __future__ import annotations

import math
from typing import Any

from .._C import Tensor
from .._errors import ArgumentValueError, ShapeError
from . import functional as F
from ._linear_cross_entropy import LinearCrossEntropyOptions
from .layer import Linear
from .loss import _WeightedLoss


class LinearCrossEntropyLoss(_WeightedLoss):
    """cross_entropy of a linear layer's scores; the layer is the attribute linear.

    Arguments:
        in_features: features of the input
        num_classes: number of classes
        out_features: further dimensions of scores and losses
        bias: whether the layer adds a bias
        weight, reduction, label_smoothing: as of CrossEntropyLoss
        ignore_index: the class that does not count; None: -100; not with probabilities
        options: how to go through the batch in chunks, which saves memory; None: at once

    Shape: input [n, in_features] and target [n, *out_features], or [in_features] and [], or
    probabilities [n, num_classes, *out_features]; the loss is [], or [n, *out_features] with
    reduction="none".

    Initialisation: linear.weight and linear.bias from U(-k, k), k = 1 / sqrt(in_features).
    """

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (),
        bias: bool = False, device: Any = None, dtype: Any = None, reduction: str = "mean",
        weight: Tensor | None = None, ignore_index: int | None = None, label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:  # fmt: skip
        if weight is not None and weight.shape != (num_classes,):
            raise ShapeError(f"LinearCrossEntropyLoss: weight has shape {list(weight.shape)}, "
                             f"wanted [{num_classes}]")  # fmt: skip
        if not 0 <= label_smoothing <= 1:
            raise ArgumentValueError(f"LinearCrossEntropyLoss: label_smoothing is "
                                     f"{label_smoothing}, wanted a number from 0 to 1")  # fmt: skip
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        scores = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, scores, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        layer, shape = self.linear, (self.num_classes, *self.out_features)
        return F.linear_cross_entropy(
            input, layer.weight.reshape(*shape, layer.in_features), target,
            linear_bias=None if layer.bias is None else layer.bias.reshape(shape),
            weight=self.weight, reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        told = {"in_features": self.linear.in_features, "num_classes": self.num_classes,
                "out_features": self.out_features, "bias": self.linear.bias is not None,
                "reduction": self.reduction, "ignore_index": self.ignore_index,
                "label_smoothing": self.label_smoothing, "options": self.options}  # fmt: skip
        return ", ".join(f"{name}={value}" for name, value in told.items())
