# SPDX-License-Identifier: Apache-2.0
"""Normalisation of channels: batch_norm, instance_norm, group_norm; and rms_norm."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from samples import Case, Fixed, Sample, numbers

SHAPES = [(3, 2), (5, 3, 1), (2, 3, 4), (2, 2, 3, 2), (1, 2, 2, 1, 3), (2, 1, 1, 2, 1, 2)]


def vectors(channels: int, seed: int) -> list[Any]:
    return [numbers((channels,), seed + n) for n in range(2)]


def statistics(channels: int, seed: int) -> list[Any]:
    """A running mean and variance, which get no gradient."""
    mean, var = numbers((channels,), seed), numbers((channels,), seed + 1, 0.5, 2.0)
    return [mean.view(Fixed), var.view(Fixed)]


def affine(x: Any, weight: Any, bias: Any) -> Any:
    along = (-1,) + (1,) * (x.ndim - 2)
    return x * (1.0 if weight is None else weight.reshape(along)) + (
        0.0 if bias is None else bias.reshape(along)
    )


def normalised(x: Any, axes: Any, eps: float) -> Any:
    if not x.size:
        return x
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


# -- over the batch --------------------------------------------------------------------------------


def batch_samples() -> list[Sample]:
    made = []
    for i, shape in enumerate(SHAPES):
        x, (w, b), kept = numbers(shape, i), vectors(shape[1], i + 9), statistics(shape[1], i + 5)
        made += [
            Sample((x, None, None, w, b, True)),
            Sample((x, *kept, w, b, False)),
            Sample((x, None, None), {"training": True, "eps": 0.1}),
            Sample((x, *kept, None, b), {"eps": 0.1}),
            Sample((x, None, None, w), {"training": True}),
        ]
    empty = np.zeros((0, 3, 2))
    made += [
        Sample((empty, None, None), {"training": True}),
        Sample((empty, *statistics(3, 1), *vectors(3, 2))),
    ]
    # Several runs of 64 pixels, and more channels than are summed at once.
    return [
        *made,
        Sample((numbers((3, 70, 7, 9), 4), None, None, *vectors(70, 5), True), smooth=False),
    ]


def batch_norm(
    x: Any,
    mean: Any,
    var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    eps: float = 1e-5,
) -> Any:
    axes = tuple(d for d in range(x.ndim) if d != 1)
    if training:
        return affine(normalised(x, axes, eps), weight, bias)
    along = (-1,) + (1,) * (x.ndim - 2)
    z = (x - mean.reshape(along)) / np.sqrt(var.reshape(along) + eps)
    return affine(z, weight, bias)


# -- within a sample -------------------------------------------------------------------------------


def group_samples() -> list[Sample]:
    made = []
    for i, (shape, groups) in enumerate(
        [
            ((3, 4), 2),
            ((2, 4, 3), 2),
            ((2, 3, 2, 2), 1),
            ((2, 4, 3, 1), 4),
            ((1, 6, 2, 1, 2), 3),
            ((0, 4, 2), 2),
        ]
    ):
        x, (w, b) = numbers(shape, i), vectors(shape[1], i + 7)
        made += [
            Sample((x, groups)),
            Sample((x, groups, w, b)),
            Sample((x, groups, w)),
            Sample((x, groups, None, b), {"eps": 0.1}),
        ]
    return made


def group_norm(x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    if not x.size:
        return x
    rows = x.reshape(x.shape[0] * groups, -1)
    return affine(normalised(rows, 1, eps).reshape(x.shape), weight, bias)


def instance_samples() -> list[Sample]:
    made = []
    for i, shape in enumerate([(2, 3, 4), (3, 2, 2), (2, 2, 3, 2), (1, 2, 2, 1, 3), (2, 1, 5)]):
        x, (w, b), kept = numbers(shape, i), vectors(shape[1], i + 9), statistics(shape[1], i + 5)
        made += [
            Sample((x,)),
            Sample((x, None, None, w, b)),
            Sample((x, None, None, w), {"eps": 0.1}),
            Sample((x, *kept, w, b), {"use_input_stats": False}),
        ]
    return [*made, Sample((np.zeros((0, 3, 2)),))]


def instance_norm(
    x: Any,
    mean: Any = None,
    var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    eps: float = 1e-5,
) -> Any:
    if not use_input_stats:
        return batch_norm(x, mean, var, weight, bias, eps=eps)
    return affine(normalised(x, tuple(range(2, x.ndim)), eps), weight, bias)


# -- by the mean square ----------------------------------------------------------------------------


def square_samples() -> list[Sample]:
    made = []
    for i, (shape, k) in enumerate(
        [
            ((5,), 1),
            ((2, 3), 1),
            ((2, 3), 2),
            ((3, 1, 4), 1),
            ((4, 65), 1),
            ((0, 3), 1),
            ((2, 2, 3), 2),
        ]
    ):
        x, last = numbers(shape, i), shape[-k:]
        made += [
            Sample((x, last), {"eps": 0.1}),
            Sample((x, last, numbers(last, i + 7), 1e-3)),
            Sample((x, last, numbers(last, i + 5)), {"eps": 0.01}),
        ]
    return made


def rms_norm(x: Any, shape: Any, weight: Any = 1.0, eps: float = 0.0) -> Any:
    axes = tuple(range(-len(shape), 0))
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + eps) * weight


ones = libdl.ones
# A mean of few elements may cancel: the scale is that of the quotient by a small deviation.
rows = {"dtypes": "f", "scale": 400}
CASES = [
    Case(
        "batch_norm",
        F.batch_norm,
        batch_norm,
        batch_samples,
        rejects="""
            F.batch_norm(ones(3), None, None, training=True)
                # ValueError | RuntimeError: batch_norm: argument 1 (input) has shape [3]
            F.batch_norm(ones(1, 3, 1), None, None, training=True)
                # ValueError | RuntimeError: batch_norm: argument 1 (input) has shape [1, 3, 1] ...
                #    more than one value per channel when training
            F.batch_norm(libdl.arange(4).reshape(2, 2), None, None, training=True)
                # TypeError | ValueError | RuntimeError: batch_norm ... input ... int64
            F.batch_norm(ones(2, 3), ones(3), None)
                # ValueError | RuntimeError | TypeError: batch_norm: argument 3 (running_var)
            F.batch_norm(ones(4, 3), ones(2), ones(2))
                # ValueError | RuntimeError: batch_norm: argument 1 (input) has 3 channels, wanted
                #    2, as the vectors of the channels
            F.batch_norm(ones(2, 3), ones(3), ones(3), ones(2))
                # ValueError | RuntimeError: batch_norm: argument 4 (weight) has shape [2] ...
                #    wanted [3], one a channel
            F.batch_norm(ones(2, 3), ones(3), ones(3), None, ones(3, dtype=libdl.float64))
                # TypeError | ValueError | RuntimeError: batch_norm: argument 5 (bias) is float64,
                #    wanted float32
            F.batch_norm(
                ones(2, 3),
                libdl.from_numpy(np.broadcast_to(np.float32(1), 3)),
                ones(3),
                training=True,
            )
                # TypeError | ValueError | RuntimeError: batch_norm: argument 2 (running_mean) has
                #    read-only memory
            F.batch_norm(ones(2, 3), ones(3), ones(3), eps=-1.0)
                # ValueError | RuntimeError: batch_norm: argument 8 (eps) is -1
        """,
        **rows,
    ),
    Case(
        "group_norm",
        F.group_norm,
        group_norm,
        group_samples,
        rejects="""
            F.group_norm(ones(2, 3), 2)
                # ValueError | RuntimeError: group_norm: argument 2 (num_groups) is 2 ... wanted a
                #    divisor of the channels, 3
            F.group_norm(ones(2, 3), 2, ones(4), ones(4))
                # ValueError | RuntimeError: group_norm: argument 1 (input) has 3 channels, wanted 4
            F.group_norm(ones(3), 1)
                # ValueError | RuntimeError: group_norm: argument 1 (input) has shape [3]
            F.group_norm(ones(1, 2), 2)
                # ValueError | RuntimeError: group_norm: argument 1 (input) has shape [1, 2], wanted
                #    more
            F.group_norm(ones(2, 3), 1, bias=ones(1))
                # ValueError | RuntimeError: group_norm: argument 4 (bias) has shape [1]
        """,
        **rows,
    ),
    Case(
        "instance_norm",
        F.instance_norm,
        instance_norm,
        instance_samples,
        rejects="""
            F.instance_norm(ones(2, 3))
                # ValueError | RuntimeError: instance_norm: argument 1 (input) has shape [2, 3],
                #    wanted more
            F.instance_norm(ones(3), ones(3), ones(3), use_input_stats=False)
                # ValueError | RuntimeError: instance_norm: argument 1 (input) has shape [3], wanted
                #    [n, c
            F.instance_norm(ones(2, 3, 1))
                # ValueError | RuntimeError: instance_norm ... [2, 3, 1], wanted more than one
            F.instance_norm(ones(2, 3, 4), use_input_stats=False)
                # ValueError | RuntimeError | TypeError: instance_norm: argument 2 (running_mean) is
                #    absent
            F.instance_norm(ones(2, 3, 4), ones(3), ones(3), use_input_stats=False, eps=-1.0)
                # ValueError | RuntimeError: instance_norm: argument 8 (eps) is -1
        """,
        **rows,
    ),
    Case(
        "rms_norm",
        F.rms_norm,
        rms_norm,
        square_samples,
        rejects="""
            F.rms_norm(ones(2, 3), (2,))
                # ValueError | RuntimeError: rms_norm: argument 1 (input) has shape [2, 3], wanted
                #    [2], which is normalized_shape
            F.rms_norm(ones(2, 3), ())
                # ValueError | RuntimeError: rms_norm: argument 2 (normalized_shape) is []
            F.rms_norm(ones(2, 3), (2,), ones(3))
                # ValueError | RuntimeError: rms_norm: argument 2 (normalized_shape) is [2]
            F.rms_norm(ones(2, 3), (3,), ones(2))
                # ValueError | RuntimeError: rms_norm: argument 3 (weight) has shape [2]
        """,
        **rows,
    ),
]
