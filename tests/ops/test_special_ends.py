# SPDX-License-Identifier: Apache-2.0
"""Special functions at the ends of their range: large orders, poles, infinities, and derivatives
there. The numbers are those of mpmath with 80 digits."""

import math

import pytest

import libdl

INF, NAN = math.inf, math.nan


def at(x, dtype=libdl.float64):
    return libdl.tensor(x, dtype=dtype, requires_grad=True)


def derivatives(call, x, dtype=libdl.float64):
    """The value, the slope and the second derivative at each x."""
    leaf = at(x, dtype)
    made = [call(leaf)]
    for _ in range(2):
        made.append(libdl.autograd.grad(made[-1].sum(), [leaf], create_graph=True)[0])
    return [v.tolist() for v in made]


@pytest.mark.parametrize(
    ("n", "x", "wanted"),
    [
        (1, 12.0, 0.08690187287176838),
        (5, 10.0, 0.0003059451621172682),
        # The asymptotic series begins beyond the order.
        (10, 10.0, -5.7675966863222595e-05),
        (20, 10.5, -0.0010307637762451416),
        (50, 12.0, -2833130684.921961),
        (100, 10.0, -9.333237300479084e56),
        (150, 20.0, -2.002804262779509e66),
        (7, -2.25, 330352695.3912778),
        # The factorial overflows, or the sum vanishes, on the way.
        (100, 1e4, -9.379363201543512e-245),
        (150, 171.5, -4.144445103312318e-75),
        (171, 100.0, 1.5158124172677882e-35),
        (200, 50.0, -2.5829713930705358e33),
        (300, 12.0, -4.4900169806775e289),
        (3, 1e100, 2e-300),
        (1, 1e300, 1e-300),
        # Beside a pole no fraction of it is lost.
        (1, -1e-30, 1e60),
        (2, -1e-30, 2e90),
    ],
)
def test_polygamma_of_every_order(n, x, wanted):
    assert libdl.polygamma(n, at([x])).item() == pytest.approx(wanted, rel=1e-12)


def test_polygamma_at_poles_and_infinities():
    points = [0.0, -0.0, -1.0, -2.0, INF, -INF, NAN]
    odd = libdl.polygamma(1, at(points)).tolist()
    assert (
        odd == [INF, INF, INF, INF, 0, pytest.approx(NAN, nan_ok=True), odd[6]] and odd[6] != odd[6]
    )
    even = libdl.polygamma(2, at(points)).tolist()
    assert even[:6] == [-INF, -INF, -INF, -INF, 0, -INF] and even[6] != even[6]
    for n in (3, 50, 171, 2000, 2**62):
        assert libdl.polygamma(n, at([INF, 1e300])).tolist() == [0, 0]


@pytest.mark.parametrize(
    "dtype", [libdl.float64, libdl.float32, libdl.float16, libdl.bfloat16], ids=str
)
@pytest.mark.parametrize(
    ("call", "order"),
    [(libdl.digamma, 1), (libdl.lgamma, 2), (lambda x: libdl.mvlgamma(x, 3), 2)],
    ids=["digamma", "lgamma", "mvlgamma"],
)
def test_derivatives_end_in_zero(call, order, dtype):
    assert derivatives(call, [INF, INF], dtype)[order] == [0, 0]


@pytest.mark.parametrize(
    ("x", "slope", "bend"),
    [
        (170.0, 0.0, 0.0),
        (30.0, 1.4736461348785476e-196, -4.420938404635642e-195),
        (1.0, 0.2875999709391784, -0.3703137142233946),
        (0.0, math.sqrt(2 / math.pi), -2 / math.pi),
        (-0.5, 1.1410777703680646, -0.731519592844121),
        (-30.0, 30.033259667433676, -0.9988962284881099),
        (-1e5, 100000.00001, -0.9999999999),
        (-1e30, 1e30, -1.0),
        (1e30, 0.0, 0.0),
        (-1e300, 1e300, -1.0),
    ],
)
def test_derivatives_of_log_ndtr(x, slope, bend):
    found = derivatives(libdl.special.log_ndtr, [x])
    assert found[1] == pytest.approx([slope], rel=1e-12)
    assert found[2] == pytest.approx([bend], rel=1e-9)
    if abs(x) < 1e38 and slope > 1e-30 or slope == 0:
        found = derivatives(libdl.special.log_ndtr, [x], libdl.float32)
        assert found[1] == pytest.approx([slope], rel=1e-5)
        assert found[2] == pytest.approx([bend], rel=1e-2)


@pytest.mark.parametrize(
    ("a", "x", "density"),
    [
        (1e3, 1e3, 0.012614611348721499),
        (1e6, 1e6 + 500, 0.0003519040096146755),
        (1e30, 1e30, 3.989422804014327e-16),
        (12.5, 9.0, 0.08490138499305482),
        (10.5, 9.0, 0.12656595355446135),
        (12.0, 0.0, 0.0),
    ],
)
def test_slopes_of_incomplete_gamma_functions(a, x, density):
    order = libdl.tensor([a], dtype=libdl.float64)
    for call, sign in ((libdl.special.gammainc, 1), (libdl.special.gammaincc, -1)):
        leaf = at([x])
        call(order, leaf).sum().backward()
        assert leaf.grad.tolist() == pytest.approx([sign * density], rel=1e-12)
        narrow = at([x], libdl.float32)
        call(order.float(), narrow).sum().backward()
        assert narrow.grad.tolist() == pytest.approx([sign * density], rel=1e-4)


def test_slopes_of_units_at_a_nan():
    leaf = at([NAN, -INF, INF, -4.0, 4.0, -3.0, 3.0])
    libdl.nn.functional.hardswish(leaf).sum().backward()
    assert leaf.grad[0].isnan() and leaf.grad.tolist()[1:] == [0, 1, 0, 1, 0, 1]
    leaf = at([NAN, 0.0, -1.0, 2.0])
    libdl.angle(leaf).sum().backward()
    assert leaf.grad.tolist() == [0, 0, 0, 0]
