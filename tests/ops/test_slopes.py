# SPDX-License-Identifier: Apache-2.0
"""Slopes where functions have corners, at infinity and at NaN. The answers are PyTorch 2.15's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
from answered import Answer, parsed

import libdl
from libdl.nn import functional as F

INF, NAN = math.inf, math.nan


def same(found: Any, wanted: list[Any], tolerance: float = 0.0) -> None:
    values = found.detach().tolist()
    for f, w in zip(values, wanted, strict=True):
        close = f == w or (f != f and w != w) or abs(f - w) <= tolerance
        assert close, (values, wanted)


def slopes(function: Callable[..., Any], *inputs: list[float]) -> list[Any]:
    leaves = [libdl.tensor(x, dtype=libdl.float64, requires_grad=True) for x in inputs]
    return list(libdl.autograd.grad(function(*leaves).sum(), leaves))


X = [-3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 6.0, NAN, INF, -INF]
# The first derivatives there, and the second ones, or the one number that all of these are.
CORNERS = parsed(
    """
F.relu(x)  # -> [[0., 0., 0., 0., 0., 1., 1., 1., 1., 1., 0.], 0.]
F.relu6(x)  # -> [[0., 0., 0., 0., 0., 1., 1., 0., 0., 0., 0.], 0.]
x.clamp(-1, 1)  # -> [[0., 0., 1., 1., 1., 1., 0., 0., 0., 0., 0.], 0.]
x.clamp(min=-1)  # -> [[0., 0., 1., 1., 1., 1., 1., 1., 0., 1., 0.], 0.]
x.clamp(max=1)  # -> [[1., 1., 1., 1., 1., 1., 0., 0., 0., 0., 1.], 0.]
x.clamp(1, -1)  # -> [[0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.], 0.]
F.threshold(x, 0.5, 20)  # -> [[0., 0., 0., 0., 0., 0., 1., 1., 1., 1., 0.], 0.]
F.leaky_relu(x, 0.25)  # -> [[0.25, 0.25, 0.25, 0.25, 0.25, 1., 1., 1., 0.25, 1., 0.25], 0.]
F.hardshrink(x)  # -> [[1., 1., 0., 0., 0., 0., 1., 1., 0., 1., 1.], 0.]
libdl.abs(x)  # -> [[-1., -1., -1., 0., 0., 1., 1., 1., nan, 1., -1.], 0.]
F.elu(x, 2.0)  # -> [[0.09957413673572789, 0.7357588823428847, 1.2130613194252668, 2., 2., 1., 1.,
    #    1., 1., 1., 0.], [0.09957413673572789, 0.7357588823428847, 1.2130613194252668, 0., 0., 0.,
    #    0., 0., 0., 0., 0.]]
F.softplus(x)  # -> [[0.04742587317756678, 0.2689414213699951, 0.37754066879814546, 0.5, 0.5,
    #    0.6224593312018546, 0.7310585786300049, 0.9975273768433653, nan, 1., 0.],
    #    [0.045176659730912144, 0.19661193324148188, 0.2350037122015945, 0.25, 0.25,
    #    0.2350037122015945, 0.19661193324148188, 0.002466509291360048, nan, 0., 0.]]
F.logsigmoid(x)  # -> [[0.9525741268224333, 0.7310585786300049, 0.6224593312018546, 0.5, 0.5,
    #    0.37754066879814546, 0.2689414213699951, 0.0024726231566347748, nan, 0., 1.],
    #    [-0.045176659730912144, -0.19661193324148188, -0.2350037122015945, -0.25, -0.25,
    #    -0.2350037122015945, -0.19661193324148188, -0.0024665092913599995, nan, 0., 0.]]
"""
)[""]


@pytest.mark.parametrize("corner", CORNERS, ids=lambda corner: corner.line)
def test_both_derivatives_at_corners(corner: Answer) -> None:
    function = eval(f"lambda x: {corner.line}", {"libdl": libdl, "F": F})
    first, second = corner.value
    x = libdl.tensor(X, dtype=libdl.float64, requires_grad=True)
    (slope,) = libdl.autograd.grad(function(x).sum(), x, create_graph=True)
    same(slope, first, 1e-15)
    assert slope.requires_grad is not corner.line.startswith("x.clamp")  # whose slope is a mask
    if slope.requires_grad:
        (curve,) = libdl.autograd.grad(slope.sum(), x)
        same(curve, second if isinstance(second, list) else [second] * len(X), 1e-15)
    tangent = libdl.func.jvp(function, (x.detach(),), (libdl.ones_like(x),))[1]
    same(tangent, first, 1e-15)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("elu", [math.expm1(-3.0), -0.0, 6.0, NAN, INF, -1.0]),
        ("leaky_relu", [-0.03, -0.0, 6.0, NAN, INF, -INF]),
        ("softplus", [0.04858735157374196, 0.6931471805599453, 6.00247568513773, NAN, INF, 0.0]),
        (
            "logsigmoid",
            [-3.048587351573742, -0.6931471805599453, -0.00247568513773044, NAN, 0.0, -INF],
        ),
    ],
)
def test_values_at_the_ends(name: str, wanted: list[float]) -> None:
    x = libdl.tensor([-3.0, -0.0, 6.0, NAN, INF, -INF], dtype=libdl.float64)
    same(getattr(F, name)(x), wanted, 1e-15)


def test_threshold_keeps_nan_and_the_dtype() -> None:
    same(F.threshold(libdl.tensor([NAN, 1.0, -1.0]), 0, 7), [NAN, 1, 7])
    made = F.threshold(libdl.tensor([1, 20]), 5, 7.5)
    assert made.dtype is libdl.int64 and made.tolist() == [7, 20]


# Ties share where the bounds are tensors; a NaN of input passes the gradient on.
V = [0.0, 1.0, 2.0, NAN]
BETWEEN = {  # (x, min, max): gradients; the others are [0, 0, 0]
    **{
        (x, a, b): (1.0, 0.0, 0.0)
        for x in V
        for a in V
        for b in V
        if not x < a and not x > b and not (a < b and x in (a, b))
    },
    **{(x, a, b): (0.5, 0.5, 0.0) for x in V for a in V for b in V if a < b and x == a},
    **{(x, a, b): (0.5, 0.0, 0.5) for x in V for a in V for b in V if a < b and x == b},
    **{(x, a, b): (0.0, 1.0, 0.0) for x in V for a in V for b in V if x < a <= b},
    **{(x, a, b): (0.0, 0.0, 1.0) for x in V for a in V for b in V if a <= b < x},
    **{(x, a, b): (1.0 if x != x else 0.0, 0.0, 1.0) for x in V for a in V for b in V if a > b},
}


def test_clamp_between_tensors() -> None:
    rows = list(itertools.product(V, V, V))
    found = slopes(lambda x, a, b: x.clamp(a, b), *map(list, zip(*rows, strict=True)))
    for row, *got in zip(rows, *(f.tolist() for f in found), strict=True):
        assert tuple(got) == BETWEEN.get(row, (0.0, 0.0, 0.0)), row


@pytest.mark.parametrize("name", ["min", "max", "maximum", "minimum"])
def test_one_tensor_bound(name: str) -> None:
    rows = list(itertools.product(V, V))
    function = getattr(libdl, name) if len(name) > 3 else lambda x, b: x.clamp(**{name: b})
    found = slopes(function, *map(list, zip(*rows, strict=True)))
    sign = -1 if name in ("max", "minimum") else 1
    for (x, b), gx, gb in zip(rows, *(f.tolist() for f in found), strict=True):
        if x != x or b != b:
            assert (gx, gb) == (1, 1), (x, b)
        elif x == b:
            assert (gx, gb) == (0.5, 0.5), (x, b)
        else:
            assert (gx, gb) == ((1, 0) if sign * x > sign * b else (0, 1)), (x, b)


@pytest.mark.parametrize(("name", "sign"), [("fmax", 1), ("fmin", -1)])
def test_a_nan_leaves_the_gradient_to_the_other(name: str, sign: int) -> None:
    rows = list(itertools.product(V, V))
    found = slopes(getattr(libdl, name), *map(list, zip(*rows, strict=True)))
    for (x, z), *got in zip(rows, *(f.tolist() for f in found), strict=True):
        if z != z:
            assert got == [1, 0], (x, z)
        elif x != x:
            assert got == [0, 1], (x, z)
        elif x == z:
            assert got == [0.5, 0.5], (x, z)
        else:
            assert got == ([1, 0] if sign * x > sign * z else [0, 1]), (x, z)


def test_copysign_and_heaviside() -> None:
    x, y = [-2.0, -0.0, 0.0, 3.0, INF, NAN], [5.0, 5.0, -5.0, -0.0, -1.0, 1.0]
    by_size, by_sign = slopes(libdl.copysign, x, y)
    same(by_size, [-1, 0, 0, -1, -1, NAN])
    same(by_sign, [0] * 6)
    by_place, by_values = slopes(libdl.heaviside, x, y)
    same(by_place, [0] * 6)
    same(by_values, [0, 1, 1, 0, 0, 0])


@pytest.mark.parametrize(
    "function",
    [
        F.relu,
        F.relu6,
        lambda x: x.clamp(min=0),
        lambda x: libdl.maximum(x, libdl.zeros_like(x)),
        lambda x: x.clamp(libdl.zeros_like(x), None),
    ],
)
def test_an_infinite_gradient_stops_where_the_slope_is_0(function: Any) -> None:
    x = libdl.tensor([-1.0, 2.0], requires_grad=True)
    function(x).backward(libdl.tensor([INF, 1.0]))
    same(x.grad, [0, 1])


LOGSUMEXP = [
    ([1.0, INF, 2.0], [0, NAN, 0]),
    ([-INF, -INF], [NAN, NAN]),
    ([-INF, 1.0], [0, 1]),
    ([NAN, 1.0], [NAN, NAN]),
    ([INF, INF], [NAN, NAN]),
    ([INF, -INF], [NAN, 0]),
]


@pytest.mark.parametrize(("x", "wanted"), LOGSUMEXP)
def test_logsumexp_at_infinity(x: list[float], wanted: list[float]) -> None:
    same(slopes(lambda x: libdl.logsumexp(x, 0), x)[0], wanted)


def test_masked_scatter_of_nothing_gives_its_source_zeros() -> None:
    source = libdl.ones(3, requires_grad=True)
    mask = libdl.zeros(3, dtype=libdl.bool)
    libdl.zeros(3).masked_scatter(mask, source).sum().backward()
    same(source.grad, [0, 0, 0])


# Below p = 1 a zero among the elements must not disturb the others' slopes.
NORMS = [
    (-1, [0.0, 1.0], [0, 0], [0, 0]),
    (-1, [-0.5, -0.0], [0, 0], [0, 0]),
    (-1, [1.0, 2.0], [4 / 9, 1 / 9], [-4 / 27, 2 / 27]),
    (0.5, [0.0, 1.0], [0, 1], [0, 0]),
    (0.5, [0.0, -4.0], [0, -1], [0, 0]),
    (0.5, [1.0, 4.0], [3, 1.5], [-0.75, 0.1875]),
    (0.5, [0.0, 0.0], [0, 0], [0, 0]),
]


@pytest.mark.parametrize(("p", "x", "first", "second"), NORMS)
def test_norms_of_small_powers_with_zeros(
    p: float, x: list[float], first: Any, second: Any
) -> None:
    leaf = libdl.tensor(x, dtype=libdl.float64, requires_grad=True)
    (slope,) = libdl.autograd.grad(leaf.norm(p), leaf, create_graph=True)
    same(slope, first, 1e-15)
    (curve,) = libdl.autograd.grad(slope.sum(), leaf)
    same(curve, second, 1e-15)  # 0 at a zero, where PyTorch's is NaN


def test_slopes_of_angles_at_the_origin() -> None:
    """0, as in PyTorch; its tangents are NaN there."""
    zeros, ones = [0.0, -0.0, 0.0, -0.0], libdl.ones(4, dtype=libdl.float64)
    for function in (libdl.atan2, lambda y, x: libdl.complex(x, y).angle()):
        others = [0.0, 0.0, -0.0, -0.0]
        for slope in slopes(function, zeros, others):
            same(slope, [0.0] * 4)
        y, x = (libdl.tensor(v, dtype=libdl.float64) for v in (zeros, others))
        assert libdl.func.jvp(function, (y, x), (ones, ones))[1].tolist() == [0.0] * 4
        y, x = y.requires_grad_(), x.requires_grad_()
        first = libdl.autograd.grad(function(y, x).sum(), (y, x), create_graph=True)
        for second in libdl.autograd.grad(first[0].sum() + first[1].sum(), (y, x)):
            same(second, [0.0] * 4)


def test_polar_at_the_origin() -> None:
    """There and back, as one goes between parts and magnitudes: PyTorch's slopes are NaN or 0."""
    z = libdl.zeros(2, dtype=libdl.complex128, requires_grad=True)
    libdl.view_as_real(libdl.polar(z.abs(), z.angle())).sum().backward()
    assert not libdl.view_as_real(z.grad).isnan().any()


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64])
def test_slopes_of_lp_pool_over_zeros(dtype: Any) -> None:
    for p in (1.0, 1.5, 2.0, 3.0):
        x = libdl.tensor([[[0.0, -0.0, 0.0, 2.0, 1.0, 1.0]]], dtype=dtype, requires_grad=True)
        F.lp_pool1d(x, p, 2).sum().backward()
        assert x.grad[0, 0, :2].tolist() == [0.0, 0.0] and not x.grad.isnan().any()


def test_slopes_of_sinc_near_0_and_far_from_it() -> None:
    """Of the quotient cancellation leaves nothing near 0."""
    places = [0.0, -0.0, 1e-300, -1e-30, 1e-8, 1e-5, 0.003, -0.003]
    z = [math.pi * x for x in places]
    wanted = [-math.pi * x / 3 * (1 - x**2 / 10 + x**4 / 280) for x in z]
    (found,) = slopes(libdl.sinc, places)
    for f, w in zip(found.tolist(), wanted, strict=True):
        assert f == pytest.approx(w, rel=1e-12, abs=0)
    for dtype in (libdl.float32, libdl.float64):
        x = libdl.tensor([1e20, -1e30, 1e38], dtype=dtype, requires_grad=True)
        assert libdl.autograd.grad(libdl.sinc(x).sum(), x)[0].isfinite().all()


def test_infinite_slopes_of_ldexp_and_logit() -> None:
    (slope,) = slopes(
        lambda e: libdl.ldexp(libdl.tensor([1.0, -1, 0, 2]).double(), e),
        [5000.0, 1e30, 5000.0, -5000.0],
    )
    same(slope, [INF, -INF, 0.0, 0.0])
    (slope,) = slopes(libdl.logit, [0.0, -0.0, 1.0, 0.5])
    same(slope, [INF, INF, INF, 4.0])
