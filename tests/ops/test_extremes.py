# SPDX-License-Identifier: Apache-2.0
"""Numbers whose squares, powers or sums leave the range of their dtype: what is a number of the
dtype must not be lost on the way. float32 is compared with the same call in float64, whose range
holds all steps; float64 with smaller numbers, by homogeneity."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import libdl
from libdl.nn import functional as F
from libdl.nn.utils._norms import directed

Function = Callable[..., Any]
NORMS = (0.5, 1.5, 2.0, 2.5, 3.0, 5.0, -1.0, -2.0, 1.0, math.inf, -math.inf)

# Of matrices [4, 6]; with the power of the factor by which the result of a scaled argument is
# scaled.
OF_ONE: dict[str, tuple[Function, int]] = {
    **{f"norm {p}": (lambda x, p=p: libdl.linalg.vector_norm(x, p), 1) for p in NORMS},
    **{f"norm {p} of rows": (lambda x, p=p: x.norm(p, 1), 1) for p in NORMS},
    **{f"norm {p} of columns": (lambda x, p=p: x.norm(p, 0), 1) for p in NORMS},
    **{f"normalize {p}": (lambda x, p=p: F.normalize(x, p, eps=0), 0) for p in (1, 2, 3)},
    "Frobenius norm": (libdl.linalg.matrix_norm, 1),
    "norm of rows across memory": (lambda x: x.t().contiguous().t().norm(2, 1), 1),
    "mean": (lambda x: x.abs().mean(), 1),
    "mean of rows": (lambda x: x.abs().mean(1), 1),
    "mean of columns": (lambda x: x.abs().mean(0), 1),
    "std": (libdl.std, 1),
    "std of rows": (lambda x: x.std(1), 1),
    "std of columns": (lambda x: x.std(0), 1),
    "std_mean": (lambda x: libdl.cat([y.reshape(1) for y in libdl.std_mean(x)]), 1),
    "layer_norm": (lambda x: F.layer_norm(x, (6,), eps=0), 0),
    "layer_norm of 4 x 6": (
        lambda x: F.layer_norm(x, (4, 6), x[0].detach() * 0 + libdl.ones_like(x), eps=0),
        0,
    ),
    "rms_norm": (lambda x: F.rms_norm(x, (6,), eps=0), 0),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True, eps=0), 0),
    "batch_norm of images": (
        lambda x: F.batch_norm(x.reshape(2, 3, 2, 2), None, None, training=True, eps=0),
        0,
    ),
    "group_norm": (lambda x: F.group_norm(x.reshape(2, 4, 3), 2, eps=0), 0),
    "instance_norm": (lambda x: F.instance_norm(x.reshape(1, 4, 6), eps=0), 0),
    "pdist": (F.pdist, 1),
    "pdist 3": (lambda x: F.pdist(x, 3), 1),
    "cdist": (lambda x: libdl.cdist(x[:2], x[2:]), 1),
    "cdist 1.5": (lambda x: libdl.cdist(x[:2], x[2:], 1.5), 1),
    "dist": (lambda x: libdl.dist(x[0], x[1]), 1),
    "pairwise_distance": (lambda x: F.pairwise_distance(x[:2], x[2:], eps=0), 1),
    "cosine_similarity": (lambda x: F.cosine_similarity(x[:2], x[2:], eps=0), 0),
    "hypot": (lambda x: libdl.hypot(x[:2], x[2:]), 1),
    "atan2": (lambda x: libdl.atan2(x[:2], x[2:]), 0),
    "angle": (lambda x: libdl.angle(libdl.complex(x[:2], x[2:])), 0),
    "abs of complex": (lambda x: libdl.complex(x[:2], x[2:]).abs(), 1),
    "sgn of complex": (lambda x: libdl.view_as_real(libdl.complex(x[:2], x[2:]).sgn()), 0),
    "norm of complex": (lambda x: libdl.complex(x[:2], x[2:]).norm(), 1),
    "norm 3 of complex": (lambda x: libdl.complex(x[:2], x[2:]).norm(3), 1),
    "weight_norm": (lambda x: directed(x, libdl.ones(4, 1, dtype=x.dtype), 0), 0),
    "cosine of itself": (lambda x: F.cosine_similarity(x, x.flip(0), eps=0), 0),
}


def rows(dtype: Any) -> Any:
    generator = libdl.Generator().manual_seed(5)
    return libdl.randn(4, 6, generator=generator, dtype=libdl.float64).to(dtype)


def derivatives(function: Function, x: Any) -> list[Any]:
    """Value, gradient and tangent."""
    leaf = x.clone().requires_grad_()
    y = function(leaf)
    along = libdl.linspace(0.5, 1.5, y.numel(), dtype=y.dtype).reshape(y.shape)
    (gradient,) = libdl.autograd.grad(y, leaf, along)
    direction = libdl.linspace(-1, 1, x.numel(), dtype=x.dtype).reshape(x.shape)
    return [y.detach(), gradient, libdl.func.jvp(function, (x,), (direction,))[1]]


def agree(found: Any, wanted: Any, tolerance: float, least: float) -> None:
    """least: what the smallest numbers that are not subnormal may be off."""
    assert found.shape == wanted.shape
    scale = float(wanted.abs().max())
    for f, w in zip(found.flatten().tolist(), wanted.flatten().tolist(), strict=True):
        near = abs(f - w) <= tolerance * max(abs(w), min(scale, 1e308)) + least
        assert f == w or near or (f != f and w != w), (found, wanted)


@pytest.mark.parametrize("factor", [2.0**-125, 2.0**-100, 2.0**-70, 2.0**70, 2.0**100, 2.0**122])
@pytest.mark.parametrize("name", OF_ONE)
def test_float32_has_what_float64_has(name: str, factor: float) -> None:
    function, _ = OF_ONE[name]
    x = rows(libdl.float32) * factor
    everything = [wanted.to(libdl.float32).double() for wanted in derivatives(function, x.double())]
    for found, wanted in zip(derivatives(function, x), everything, strict=True):
        if everything[0].isfinite().all():  # else derivatives are those of an infinity
            agree(found.double(), wanted, 2e-5, 1e-43)


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**-600, 2.0**600, 2.0**900])
@pytest.mark.parametrize("name", OF_ONE)
def test_float64_is_homogeneous(name: str, factor: float) -> None:
    function, degree = OF_ONE[name]
    near, far = (derivatives(function, rows(libdl.float64) * k) for k in (1.0, factor))
    for found, wanted, power in zip(far, near, (degree, degree - 1, degree - 1), strict=True):
        agree(found * (1 / factor) ** power, wanted, 1e-9, 1e-12)
