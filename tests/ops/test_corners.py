# SPDX-License-Identifier: Apache-2.0
"""Slopes at corners: those of PyTorch's backward, in forward mode too, where PyTorch has others at
some; second derivatives; and slopes of numbers whose squares leave the range."""

import math

import pytest
from answered import parsed

import libdl
from libdl.autograd import forward_ad

F = libdl.nn.functional
INF, NAN = math.inf, math.nan

# Of each call of x: x, its slope and its second derivative.
CORNERS = parsed(
    """
F.relu(x)  # -> [[0., 0., 0.], [-0., 0., 0.], [1., 1., 0.]]
F.leaky_relu(x)  # -> [[0., 0.01, 0.], [-0., 0.01, 0.], [-1., 0.01, 0.]]
F.leaky_relu(x, -0.5)  # -> [[0., -0.5, 0.], [-0., -0.5, 0.]]
F.elu(x, 2.0)  # -> [[0., 2., 0.], [-0., 2., 0.], [-1., 0.7357588823428847, 0.7357588823428847]]
F.celu(x, 2.0)  # -> [[0., 1., 0.], [-0., 1., 0.], [-1., 0.6065306597126334, 0.3032653298563167],
    #    [1., 1., 0.]]
F.selu(x)  # -> [[0., 1.7580993408473766, 0.], [-0., 1.7580993408473766, 0.]]
F.hardtanh(x)  # -> [[-1., 0., 0.], [1., 0., 0.], [0., 1., 0.]]
F.relu6(x)  # -> [[0., 0., 0.], [6., 0., 0.], [1., 1., 0.]]
F.hardsigmoid(x)  # -> [[-3., 0., 0.], [3., 0., 0.], [0., 0.16666666666666666, 0.]]
F.hardswish(x)  # -> [[-3., 0., 0.], [3., 1., 0.], [0., 0.5, 0.3333333333333333]]
F.threshold(x, 1.0, 9.0)  # -> [[1., 0., 0.], [2., 1., 0.]]
F.hardshrink(x)  # -> [[-0.5, 0., 0.], [0.5, 0., 0.], [0., 0., 0.]]
F.softshrink(x)  # -> [[-0.5, 0., 0.], [0.5, 0., 0.], [0., 0., 0.]]
F.softshrink(x, 0.0)  # -> [[0., 0., 0.], [1., 1., 0.]]
F.prelu(x, libdl.tensor([0.25], dtype=x.dtype))  # -> [[0., 0.25, 0.], [-0., 0.25, 0.], [1., 1.,
    #    0.], [-1., 0.25, 0.]]
libdl.clamp(x, -1.0, 1.0)  # -> [[-1., 0., 0.], [1., 0., 0.], [0., 1., 0.], [2., 0., 0.]]
libdl.clamp(x, 1.0, 1.0)  # -> [[1., 0., 0.], [0., 0., 0.]]
libdl.clamp(x, 2.0, -2.0)  # -> [[2., 0., 0.], [-2., 0., 0.], [0., 0., 0.]]
libdl.clamp(x, libdl.full_like(x, -1.0), libdl.full_like(x, 1.0))
    # -> [[-1., 0.5, 0.], [1., 0.5, 0.], [0., 1., 0.], [2., 0., 0.]]
libdl.clamp_min(x, 0.0)  # -> [[0., 0., 0.], [-0., 0., 0.]]
libdl.abs(x)  # -> [[0., 0., 0.], [-0., 0., 0.]]
libdl.maximum(x, 2 * x - x.detach())  # -> [[1., 1.5, 0.], [-1., 1.5, 0.]]
libdl.minimum(x, 2 * x - x.detach())  # -> [[1., 1.5, 0.], [-1., 1.5, 0.]]
libdl.fmax(x, 2 * x - x.detach())  # -> [[1., 1.5, 0.], [-1., 1.5, 0.]]
libdl.fmin(x, 2 * x - x.detach())  # -> [[1., 1.5, 0.], [-1., 1.5, 0.]]
libdl.max(x, libdl.ones_like(x))  # -> [[1., 0.5, 0.], [0., 0., 0.]]
libdl.min(x, libdl.ones_like(x))  # -> [[1., 0.5, 0.], [0., 1., 0.]]
libdl.stack([x, x * 3 - 2 * x.detach()]).amax(0)  # -> [[1., 2., 0.], [-1., 2., 0.]]
libdl.stack([x, x * 3 - 2 * x.detach()]).amin(0)  # -> [[1., 2., 0.], [-1., 2., 0.]]
libdl.stack([x, x * 3 - 2 * x.detach()]).max(0)[0]  # -> [[1., 1., 0.], [-1., 1., 0.]]
libdl.median(libdl.cat([x, x * 3 - 2 * x.detach(), x - 1])).expand(1)  # -> [[1., 2., 0.]]
libdl.logit(x, 0.25)  # -> [[0.25, 5.333333333333333, -14.222222222222221], [0.75,
    #    5.333333333333333, 14.222222222222221], [0.5, 4., 0.], [0.1, 0., 0.]]
F.huber_loss(x, libdl.zeros_like(x), "none", 1.0)  # -> [[-1., -1., 0.], [1., 1., 0.], [0., 0., 1.]]
F.smooth_l1_loss(x, libdl.zeros_like(x), reduction="none")  # -> [[-1., -1., 0.], [1., 1., 0.], [0.,
    #    0., 1.]]
F.smooth_l1_loss(x, libdl.zeros_like(x), reduction="none", beta=0.0)
    # -> [[0., 0., 0.], [1., 1., 0.]]
F.l1_loss(x, libdl.zeros_like(x), reduction="none")  # -> [[0., 0., 0.], [1., 1., 0.]]
F.hinge_embedding_loss(x, -libdl.ones_like(x), 1.0, reduction="none")
    # -> [[1., 0., 0.], [0., -1., 0.]]
F.margin_ranking_loss(x, libdl.zeros_like(x), libdl.ones_like(x), 1.0, reduction="none")
    # -> [[1., -0., 0.], [0., -1., 0.]]
libdl.fmod(x, 2.0)  # -> [[2., 1., 0.], [-2., 1., 0.], [0., 1., 0.]]
libdl.remainder(x, 2.0)  # -> [[2., 1., 0.], [-2., 1., 0.], [0., 1., 0.]]
libdl.frac(x)  # -> [[1., 1., 0.], [-1., 1., 0.], [0., 1., 0.]]
libdl.sign(x) + x  # -> [[0., 1., 0.], [1., 1., 0.]]
libdl.copysign(x, -1.0)  # -> [[0., 0., 0.], [-0., 0., 0.], [1., -1., 0.]]
libdl.hypot(x, libdl.zeros_like(x))  # -> [[1., 1., 0.]]
F.logsigmoid(x)  # -> [[0., 0.5, -0.25]]
"""
)[""]


@pytest.mark.parametrize("corner", CORNERS, ids=lambda corner: corner.line)
def test_slopes_at_corners(corner):
    call = eval(f"lambda x: {corner.line}", {"libdl": libdl, "F": F})
    for at, slope, bend in corner.value:
        x = libdl.tensor([at], dtype=libdl.float64, requires_grad=True)
        (g,) = libdl.autograd.grad(call(x).sum(), x, create_graph=True)
        assert g.item() == pytest.approx(slope, rel=1e-12), at
        h = libdl.autograd.grad(g.sum(), x, allow_unused=True)[0] if g.requires_grad else None
        assert (0 if h is None else h.item()) == pytest.approx(bend, rel=1e-12), at
        with forward_ad.dual_level():
            y = call(forward_ad.make_dual(x.detach(), libdl.ones_like(x.detach())))
            t = forward_ad.unpack_dual(y).tangent
        assert (0 if t is None else t.sum().item()) == pytest.approx(slope, rel=1e-12), at


@pytest.mark.parametrize("dtype", [libdl.float64, libdl.float16, libdl.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        ([1, 2, 2, 2, 9], [0, 1 / 3, 1 / 3, 1 / 3, 0]),
        ([0, 0], [0.5, 0.5]),
        ([3, 1], [0, 1]),
        ([-INF, -INF, 5], [0.5, 0.5, 0]),
        ([INF, INF, INF], [1 / 3] * 3),
        ([4], [1]),
    ],
)
def test_equal_elements_share_the_slope_of_a_median(name, x, wanted, dtype):
    leaf = libdl.tensor(x, dtype=dtype, requires_grad=True)
    getattr(libdl, name)(leaf).backward()
    assert leaf.grad.tolist() == pytest.approx(
        wanted, rel=1e-2 if dtype != libdl.float64 else 1e-12
    )


def test_the_median_of_nothing_has_a_history():
    leaf = libdl.ones(0, 3, requires_grad=True)
    y = leaf.median()
    y.backward()
    assert y.isnan() and leaf.grad.shape == (0, 3)


def test_nans_share_that_of_a_median_too():
    leaf = libdl.tensor([NAN, 1, NAN], requires_grad=True)
    leaf.median().backward()
    assert leaf.grad.tolist() == [0.5, 0, 0.5]
    leaf.grad = None
    leaf.nanmedian().backward()
    assert leaf.grad.tolist() == [0, 1, 0]


# -- beyond the range on the way -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64], ids=str)
def test_powers_of_a_root_need_not_be_in_the_range(dtype):
    """A slope of 1e60, or 1e-45, times what makes it an ordinary number."""
    most = 30 if dtype == libdl.float32 else 250
    for e in (most, -most):
        x = libdl.tensor([10.0**e], dtype=dtype, requires_grad=True)
        x.rsqrt().backward(libdl.tensor([10.0**e], dtype=dtype))
        assert x.grad.item() == pytest.approx(-0.5 * 10.0 ** (-e / 2), rel=1e-5)
        x.grad = None
        x.reciprocal().backward(libdl.tensor([10.0**e], dtype=dtype))
        assert x.grad.item() == pytest.approx(-(10.0**-e), rel=1e-5)


def test_products_are_scaled_from_left_to_right():
    big = libdl.tensor([1e30, -2e30])
    for x in (big, big.expand(3, 2)):  # at once, and by steps
        assert libdl.addcmul(libdl.zeros(2), x, x, value=1e-35).flatten().tolist()[:2] == (
            pytest.approx([1e25, 4e25])
        )
        assert libdl.addcdiv(libdl.zeros(2), x, 1e-10 * x / x, value=1e-35).flatten().tolist()[
            :2
        ] == (pytest.approx([1e5, -2e5]))
    y = libdl.zeros(2).addcmul_(big, big, value=1e-35)
    assert y.tolist() == pytest.approx([1e25, 4e25])
    leaf = big.clone().requires_grad_()
    libdl.addcmul(libdl.zeros(2), leaf, big, value=1e-35).sum().backward()
    assert leaf.grad.tolist() == pytest.approx([1e-5, -2e-5])
    # As PyTorch rounds them, to the last bit.
    a, b, c = (libdl.tensor([v]) for v in (0.1, 0.7, 1.3))
    assert libdl.addcmul(a, b, c, value=0.3).item() == 0.37299999594688416


def test_means_of_what_is_no_nan_are_finite():
    x = libdl.tensor([[3e38, 3e38, NAN], [3e38, -3e38, 2e38]])
    assert libdl.nanmean(x, 1).tolist() == pytest.approx([3e38, 2e38 / 3], rel=1e-6)
    assert libdl.nanmean(x[0].double() * 1e-40).item() == pytest.approx(3e-2, rel=1e-6)
    assert libdl.nanmean(libdl.tensor([1.0, 1.0, NAN])).item() == 1


def test_slopes_of_renorm_of_large_rows():
    x = libdl.tensor([[1e30, -2e30, 3e30]], requires_grad=True)
    y = libdl.renorm(x, 2, 0, 1.0)
    assert y.flatten().tolist() == pytest.approx([v / math.sqrt(14) for v in (1, -2, 3)])
    y.sum().backward()
    u = [v / math.sqrt(14) for v in (1, -2, 3)]
    wanted = [(1 - v * sum(u)) / (1e30 * math.sqrt(14)) for v in u]
    assert x.grad.flatten().tolist() == pytest.approx(wanted, rel=1e-5)
