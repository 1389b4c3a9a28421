# SPDX-License-Identifier: Apache-2.0
"""Losses, units and dropouts as users of PyTorch write them. Numbers are PyTorch 2.15's."""

from __future__ import annotations

import math
import warnings

import pytest

import libdl
from libdl import nn
from libdl.nn import functional as F

NAN, INF = math.nan, math.inf
X = libdl.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
T = libdl.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])


def near(found, wanted, tolerance=1e-6):
    wanted = libdl.tensor(wanted) if isinstance(wanted, (float, list)) else wanted
    assert libdl.allclose(found.double(), wanted.double(), rtol=tolerance, atol=tolerance), found


# -- modules do what the functions do -----------------------------------------------------------

SIGNS = libdl.tensor([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]])
PAIRS = [
    (nn.L1Loss(), F.l1_loss, (X, T)),
    (nn.SmoothL1Loss(beta=0.5), lambda x, t: F.smooth_l1_loss(x, t, beta=0.5), (X, T)),
    (nn.HuberLoss("sum", 0.7), lambda x, t: F.huber_loss(x, t, "sum", 0.7), (X, T)),
    (
        nn.BCELoss(reduction="none"),
        lambda x, t: F.binary_cross_entropy(x, t, reduction="none"),
        (X.sigmoid(), T),
    ),
    (
        nn.BCEWithLogitsLoss(pos_weight=libdl.tensor([1.0, 2.0, 3.0])),
        lambda x, t: F.binary_cross_entropy_with_logits(
            x, t, pos_weight=libdl.tensor([1.0, 2.0, 3.0])
        ),
        (X, T),
    ),
    (
        nn.KLDivLoss(reduction="batchmean"),
        lambda x, t: F.kl_div(x, t, reduction="batchmean"),
        (X.log_softmax(1), X.softmax(1)),
    ),
    (nn.PoissonNLLLoss(full=True), lambda x, t: F.poisson_nll_loss(x, t, full=True), (X, T * 3)),
    (
        nn.GaussianNLLLoss(full=True),
        lambda x, t, v: F.gaussian_nll_loss(x, t, v, full=True),
        (X, T, X.abs()),
    ),
    (nn.HingeEmbeddingLoss(0.5), lambda x, t: F.hinge_embedding_loss(x, t, 0.5), (X, SIGNS)),
    (
        nn.CosineEmbeddingLoss(0.1),
        lambda a, b, t: F.cosine_embedding_loss(a, b, t, 0.1),
        (X, T, libdl.tensor([1.0, -1.0])),
    ),
    (nn.MarginRankingLoss(0.1), lambda a, b, t: F.margin_ranking_loss(a, b, t, 0.1), (X, T, SIGNS)),
    (
        nn.MultiMarginLoss(2, 0.5),
        lambda x, t: F.multi_margin_loss(x, t, 2, 0.5),
        (X, libdl.tensor([2, 0])),
    ),
    (
        nn.MultiLabelMarginLoss(),
        F.multilabel_margin_loss,
        (X, libdl.tensor([[2, 0, -1], [1, -1, 0]])),
    ),
    (nn.MultiLabelSoftMarginLoss(), F.multilabel_soft_margin_loss, (X, T)),
    (nn.SoftMarginLoss(), F.soft_margin_loss, (X, SIGNS)),
    (
        nn.TripletMarginLoss(2.0, 1.0, swap=True),
        lambda a, b, c: F.triplet_margin_loss(a, b, c, 2.0, 1.0, swap=True),
        (X, T, -X),
    ),
    (
        nn.TripletMarginWithDistanceLoss(margin=2.0),
        lambda a, b, c: F.triplet_margin_loss(a, b, c, 2.0),
        (X, T, -X),
    ),
    (nn.PairwiseDistance(1.0), lambda a, b: F.pairwise_distance(a, b, 1.0), (X, T)),
    (nn.CosineSimilarity(0), lambda a, b: F.cosine_similarity(a, b, 0), (X, T)),
    (nn.LocalResponseNorm(2, 0.5), lambda x: F.local_response_norm(x, 2, 0.5), (X[None],)),
]


@pytest.mark.parametrize(
    ("module", "function", "inputs"), PAIRS, ids=[type(p[0]).__name__ for p in PAIRS]
)
def test_a_module_calls_its_function(module, function, inputs):
    assert libdl.equal(module(*inputs), function(*inputs))


UNITS = [
    (nn.Hardtanh(-0.5, 0.75), [[0.5, -0.5, 0.75], [0.75, 0.25, -0.5]]),
    (nn.ReLU6(), [[0.5, 0.0, 2.0], [1.5, 0.25, 0.0]]),
    (nn.Hardsigmoid(), [[3.5 / 6, 2 / 6, 5 / 6], [4.5 / 6, 3.25 / 6, 2.25 / 6]]),
    (nn.Hardswish(), [[1.75 / 6, -2 / 6, 10 / 6], [6.75 / 6, 0.8125 / 6, -1.6875 / 6]]),
    (nn.SELU(), [[0.52535049, -1.11133074, 2.10140197], [1.57605148, 0.26267525, -0.92763202]]),
    (nn.CELU(2.0), [[0.5, -0.78693868, 2.0], [1.5, 0.25, -0.62542144]]),
    (nn.Mish(), [[0.37524521, -0.30340146, 1.94395896], [1.40337827, 0.16957241, -0.27649471]]),
    (nn.Softsign(), [[1 / 3, -0.5, 2 / 3], [0.6, 0.2, -3 / 7]]),
    (
        nn.Tanhshrink(),
        [[0.03788284, -0.23840584, 1.03597242], [0.59485175, 0.00508134, -0.11485105]],
    ),
    (nn.Softshrink(0.25), [[0.25, -0.75, 1.75], [1.25, 0.0, -0.5]]),
    (nn.PReLU(init=0.5), [[0.5, -0.5, 2.0], [1.5, 0.25, -0.375]]),
    (nn.RReLU(0.5, 0.5), [[0.5, -0.5, 2.0], [1.5, 0.25, -0.375]]),
    (nn.Threshold(0.3, 20.0), [[0.5, 20.0, 2.0], [1.5, 20.0, 20.0]]),
    (
        nn.LogSigmoid(),
        [[-0.47407698, -1.31326169, -0.12692801], [-0.20141328, -0.57593942, -1.13687101]],
    ),
    (nn.Softmin(1), (-X).softmax(1).tolist()),
]


@pytest.mark.parametrize(("unit", "wanted"), UNITS, ids=[type(u[0]).__name__ for u in UNITS])
def test_units(unit, wanted):
    near(unit(X), wanted, 2e-6)


def test_in_place_units_have_the_gradient_of_their_input():
    for name, unit in (
        ("hardtanh", F.hardtanh),
        ("relu6", F.relu6),
        ("hardsigmoid", F.hardsigmoid),
        ("hardswish", F.hardswish),
        ("selu", F.selu),
        ("celu", F.celu),
        ("mish", F.mish),
        ("rrelu", F.rrelu),
    ):
        x = X.clone().requires_grad_()
        y = x * 1
        assert unit(y, inplace=True) is y, name
        (found,) = libdl.autograd.grad(y.sum(), x)
        (wanted,) = libdl.autograd.grad(unit(x).sum(), x)
        assert libdl.equal(found, wanted), name


def test_the_text_of_layers():
    assert repr(nn.Hardtanh(-2, 2, inplace=True)) == "Hardtanh(min_val=-2, max_val=2, inplace=True)"
    assert repr(nn.ReLU6()) == "ReLU6()"
    assert repr(nn.PReLU(3)) == "PReLU(num_parameters=3)"
    assert repr(nn.GLU(1)) == "GLU(dim=1)"
    assert repr(nn.Dropout2d(0.2)) == "Dropout2d(p=0.2, inplace=False)"
    assert repr(nn.LocalResponseNorm(2)) == "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)"
    wanted = "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)"
    assert repr(nn.Bilinear(2, 3, 4)) == wanted


def test_layers_refuse_what_pytorch_refuses():
    for make in (
        lambda: nn.Hardtanh(1, 1),
        lambda: nn.TripletMarginLoss(0.0),
        lambda: nn.MultiMarginLoss(3),
        lambda: nn.Dropout2d(1.5),
        lambda: nn.Bilinear(0, 1, 1),
        lambda: nn.Softmax2d()(X),
    ):
        with pytest.raises((ValueError, AssertionError)):
            make()


def test_older_words_of_hardtanh():
    with pytest.warns(FutureWarning, match="min_value"):
        assert nn.Hardtanh(min_value=-3).min_val == -3


def test_glu_halves_a_dimension():
    near(nn.GLU(0)(X), (X[0] * X[1].sigmoid())[None])
    with pytest.raises(RuntimeError, match=r"glu: argument 1 \(input\) has shape \[2, 3\]"):
        F.glu(X)


def test_softmax2d_is_over_channels():
    x = libdl.randn(2, 3, 2, 2)
    assert libdl.equal(nn.Softmax2d()(x), x.softmax(1))


def test_prelu_trains_its_slope():
    layer = nn.PReLU(3)
    layer(X).sum().backward()
    assert layer.weight.grad.tolist() == [0.0, -1.0, -0.75]


# -- sums, means and older words ------------------------------------------------------------------


def test_size_average_and_reduce_take_precedence():
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert libdl.equal(
            F.smooth_l1_loss(X, T, size_average=False), F.smooth_l1_loss(X, T, reduction="sum")
        )
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.SoftMarginLoss(reduce=False).reduction == "none"


def test_other_sizes_warn():
    for function in (F.l1_loss, F.smooth_l1_loss, F.huber_loss):
        with pytest.warns(UserWarning, match="different to the input size"):
            function(X, T[0])


def test_a_mean_of_a_divergence_warns():
    with pytest.warns(UserWarning, match="batchmean"):
        F.kl_div(X.log_softmax(1), X.softmax(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.kl_div(X.log_softmax(1), X.softmax(1), reduction="batchmean")


def test_l1_loss_of_integers_and_complex_numbers():
    assert F.l1_loss(libdl.tensor([3, -1]), libdl.tensor([1, 1]), reduction="sum").item() == 4
    found = F.l1_loss(libdl.tensor([3 + 4j]), libdl.tensor([0j]))
    assert found.item() == 5 and not found.is_complex()


def test_a_weighted_mean_divides_by_the_weights_in_l1_only():
    w = libdl.tensor([[1.0, 2.0, 3.0], [0.5, 0.5, 0.0]])
    near(F.l1_loss(X, T, weight=w), (w * (X - T).abs()).sum() / w.sum())
    near(F.huber_loss(X, T, weight=w), (w * F.huber_loss(X, T, "none")).mean())


def test_cross_entropy_of_certainty_is_cut_at_100():
    x, t = libdl.tensor([0.0, 1.0, 0.0]), libdl.tensor([0.0, 0.0, 0.5])
    assert F.binary_cross_entropy(x, t, reduction="none").tolist() == [0.0, 100.0, 50.0]


def test_logits_far_from_0_lose_nothing():
    x, t = libdl.tensor([-1000.0, 1000.0]), libdl.tensor([0.0, 0.0])
    assert F.binary_cross_entropy_with_logits(x, t, reduction="none").tolist() == [0.0, 1000.0]
    assert nn.SoftMarginLoss()(libdl.tensor([-200.0]), libdl.tensor([1.0])).item() == 200.0


def test_a_variance_below_eps_counts_as_eps_and_has_a_gradient():
    var = libdl.tensor([0.0, 4.0], requires_grad=True)
    loss = F.gaussian_nll_loss(libdl.zeros(2), libdl.ones(2), var, eps=0.5, reduction="sum")
    near(loss, 0.5 * (math.log(0.5) + 2 + math.log(4) + 0.25))
    loss.backward()
    near(var.grad, [0.5 * (2 - 4), 0.5 * (0.25 - 1 / 16)])
    assert var.tolist() == [0.0, 4.0]


def test_numbers_as_variance():
    assert libdl.equal(F.gaussian_nll_loss(X, T, 2.0), F.gaussian_nll_loss(X, T, X * 0 + 2))


# -- sequences ------------------------------------------------------------------------------------


def test_ctc_loss_takes_padded_and_joined_targets_and_lists():
    x = libdl.randn(6, 2, 4).log_softmax(2)
    padded = F.ctc_loss(x, libdl.tensor([[1, 2, 3], [2, 0, 0]]), libdl.tensor([6, 5]), (3, 1))
    joined = nn.CTCLoss()(x, libdl.tensor([1, 2, 3, 2]), [6, 5], libdl.tensor([3, 1]))
    assert libdl.equal(padded, joined)


def test_ctc_loss_of_a_batch_is_that_of_each():
    x = libdl.randn(6, 2, 4).log_softmax(2)
    t = libdl.tensor([[1, 2, 3], [2, 2, 0]])
    both = F.ctc_loss(x, t, [6, 4], [3, 2], reduction="none")
    near(both[0], F.ctc_loss(x[:, 0], t[0], libdl.tensor(6), libdl.tensor(3), reduction="none"))
    near(both[1], F.ctc_loss(x[:4, 1:], t[1:, :2], [4], [2], reduction="sum"))


def test_what_lies_beyond_a_sequence_does_not_count():
    x = libdl.randn(6, 1, 4)
    x[4:] = NAN
    x.requires_grad_()
    loss = F.ctc_loss(x.log_softmax(2), libdl.tensor([[1, 2]]), [4], [2])
    assert math.isfinite(loss.item())
    loss.backward()
    assert bool(x.grad[:4].isfinite().all())


def test_targets_that_do_not_fit():
    x = libdl.zeros(2, 1, 3, requires_grad=True)
    t = libdl.tensor([[1, 1]])  # which takes a blank between
    loss = F.ctc_loss(x.log_softmax(2), t, [2], [2], reduction="sum")
    assert loss.item() == INF
    (gradient,) = libdl.autograd.grad(loss, x)
    assert bool(gradient.isnan().all())
    loss = F.ctc_loss(x.log_softmax(2), t, [2], [2], reduction="sum", zero_infinity=True)
    (gradient,) = libdl.autograd.grad(loss, x)
    assert loss.item() == 0 and gradient.abs().sum().item() == 0


def test_the_gradient_by_log_probabilities_is_pytorchs():
    """Minus the share of paths through each class, plus the probability."""
    x = libdl.zeros(2, 1, 2).log_softmax(2).requires_grad_()
    F.ctc_loss(x, libdl.tensor([[1]]), [2], [1], reduction="sum").backward()
    near(x.grad, [[[0.5 - 1 / 3, 0.5 - 2 / 3]]] * 2)


# -- distances ------------------------------------------------------------------------------------


def test_pdist_is_the_upper_triangle():
    x = libdl.randn(4, 3)
    wanted = [(x[i] - x[j]).norm().item() for i in range(4) for j in range(i + 1, 4)]
    near(F.pdist(x), wanted)
    assert F.pdist(x[:1]).shape == (0,)


def test_a_bilinear_layer_is_what_einsum_would_say():
    layer, a, b = nn.Bilinear(3, 2, 4), libdl.randn(5, 3), libdl.randn(5, 2)
    rows = [
        [(a[n] @ layer.weight[k] @ b[n] + layer.bias[k]).item() for k in range(4)] for n in range(5)
    ]
    near(layer(a, b), rows, 1e-5)


def test_any_distance_makes_a_triplet_loss():
    def apart(a, b):
        return 1 - F.cosine_similarity(a, b, -1)

    found = nn.TripletMarginWithDistanceLoss(distance_function=apart, margin=0.5)(X, T, -X)
    near(found, (apart(X, T) - apart(X, -X) + 0.5).clamp(min=0).mean())


# -- dropouts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Dropout1d(0.5), (4, 50, 3)),
        (nn.Dropout1d(0.5), (50, 3)),
        (nn.Dropout2d(0.5), (4, 50, 2, 3)),
        (nn.Dropout3d(0.5), (4, 50, 1, 2, 3)),
        (nn.Dropout3d(0.5), (50, 1, 2, 3)),
    ],
)
def test_channels_are_dropped_whole(layer, shape):
    y = layer(libdl.ones(shape)).reshape(-1, math.prod(shape[2 if shape[0] == 4 else 1 :]))
    assert set(y[:, 0].tolist()) == {0.0, 2.0}
    assert libdl.equal(y, y[:, :1].expand(y.shape))
    assert libdl.equal(layer.eval()(libdl.ones(shape)), libdl.ones(shape))


def test_dropouts_in_place():
    for function, shape in (
        (F.dropout1d, (20, 4)),
        (F.dropout1d, (2, 20, 4)),
        (F.dropout2d, (2, 20, 4, 4)),
        (F.dropout3d, (20, 2, 2, 2)),
        (F.alpha_dropout, (40,)),
        (F.feature_alpha_dropout, (20, 4)),
    ):
        x = libdl.ones(shape)
        assert function(x, 0.5, True, True) is x
        assert len(set(x.reshape(-1).tolist())) == 2


def test_the_number_of_dimensions():
    with pytest.raises(RuntimeError, match=r"dropout1d: argument 1 \(input\) has shape \[2\]"):
        F.dropout1d(libdl.ones(2))
    with pytest.warns(UserWarning, match="3D input"):
        F.dropout2d(libdl.ones(2, 3, 4))
    with pytest.warns(UserWarning, match="3-D input"):
        F.dropout3d(libdl.ones(2, 3, 4))
    with pytest.raises(RuntimeError, match="feature_dropout"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        F.dropout2d(libdl.ones(2))


@pytest.mark.parametrize("layer", [nn.AlphaDropout(0.3), nn.FeatureAlphaDropout(0.3)])
def test_alpha_dropout_keeps_mean_and_variance(layer):
    libdl.manual_seed(1)
    x = libdl.randn(400, 300)
    y = layer(x)
    assert abs(y.mean().item()) < 0.02 and abs(y.std().item() - 1) < 0.02
    assert layer.eval()(x).tolist() == x.tolist()
    assert nn.AlphaDropout(1.0)(x).abs().sum().item() == 0


def test_dropped_elements_have_no_gradient():
    x = libdl.ones(6, 5, requires_grad=True)
    y = F.feature_alpha_dropout(x, 0.5, True)
    y.sum().backward()
    assert bool(((x.grad == 0) == (y < 0)).all())


def test_rrelu_draws_slopes_between_its_bounds():
    x = -libdl.ones(1000, requires_grad=True)
    x.retain_grad()
    y = F.rrelu(x, 0.25, 0.5, training=True)
    assert -0.5 <= y.min().item() < -0.45 and -0.3 < y.max().item() <= -0.25
    y.sum().backward()
    assert libdl.equal(x.grad, -y)
    assert F.rrelu(x, 0.25, 0.75).tolist() == [-0.5] * 1000


def test_gumbel_softmax():
    libdl.manual_seed(3)
    x = libdl.zeros(2000, 3, requires_grad=True)
    soft = F.gumbel_softmax(x, tau=0.5)
    near(soft.sum(1), libdl.ones(2000), 1e-5)
    hard = F.gumbel_softmax(x, hard=True)
    assert sorted(set(hard.detach().round(decimals=5).reshape(-1).abs().tolist())) == [0.0, 1.0]
    assert all(abs(share - 1 / 3) < 0.05 for share in hard.detach().mean(0).tolist())
    hard[:, 0].sum().backward()
    assert x.grad.abs().sum().item() > 0


WHOLE = libdl.tensor([3, -1, 0, 2])
SIGNS = libdl.tensor([1, -1, -1, 1])
ROWS = libdl.tensor([[1, 0, 1], [0, 1, 3]])


@pytest.mark.parametrize("dtype", [libdl.int8, libdl.int32, libdl.int64])
def test_losses_of_integers_are_those_of_pytorch(dtype):
    x, t, rows = WHOLE.to(dtype), SIGNS.to(dtype), ROWS.to(dtype)
    for reduction, margin, wanted in (
        ("none", 1.0, [3, 2, 1, 2]),
        ("none", 1.9, [3, 2, 1, 2]),
        ("none", -0.5, [3, 1, 0, 2]),
        ("sum", 0.5, 6),
    ):
        found = F.hinge_embedding_loss(x, t, margin, reduction=reduction)
        assert (
            found.dtype is (libdl.int64 if reduction == "sum" else dtype)
            and found.tolist() == wanted
        )
    with pytest.raises(RuntimeError, match="dtype"):
        F.hinge_embedding_loss(x, t)  # a mean
    for found, wanted in (
        (F.poisson_nll_loss(x, t, reduction="none"), [17.0855365, -0.6321206, 1.0, 5.3890562]),
        (F.poisson_nll_loss(t.abs(), x.abs(), full=True), 1.8222537),
        (F.poisson_nll_loss(x.abs(), t, log_input=False), -3.5531101),
        (F.gaussian_nll_loss(x, t, 2.0), 0.72157359),
        (
            F.cosine_embedding_loss(rows, rows.flip(0), t[:2], reduction="none"),
            [0.3291796, 0.6708204],
        ),
        (F.triplet_margin_loss(rows, rows.flip(0), rows), 3.4494889),
        (F.triplet_margin_loss(rows, rows.flip(0), rows, p=1.0, swap=True), 5.0),
    ):
        assert found.dtype is libdl.float32
        assert found.tolist() == pytest.approx(wanted, rel=1e-5)
    weight = libdl.tensor([[[1, 2, 0], [0, 1, 1], [1, 0, 0]]]).to(dtype)
    found = F.bilinear(rows, rows.flip(0), weight, libdl.tensor([1]).to(dtype))
    assert found.dtype is dtype and found.tolist() == [[3], [5]]


def test_integers_wrap_before_they_are_lost():
    x = libdl.tensor([20, 1], dtype=libdl.uint8)
    found = F.poisson_nll_loss(libdl.tensor([3, 3], dtype=libdl.uint8), x * 5, reduction="none")
    assert found.tolist() == pytest.approx([20.0855369 - 44, 20.0855369 - 15])
    rows = libdl.tensor([[0, 1]], dtype=libdl.uint8)
    assert F.triplet_margin_loss(rows, rows.flip(1), rows).item() == pytest.approx(256.0, abs=0.01)


# By probability and target: PyTorch's second derivative by the probability, and by both.
TWICE = [
    (0.0, 0.0, 0.0, -1e12),
    (1.0, 1.0, 0.0, -1e12),
    (0.0, 1.0, 1e24, -1e12),
    (1.0, 0.0, 1e24, -1e12),
    (0.5, 0.5, 4.0, -4.0),
    (0.3, 0.3, 4.7619047619, -4.7619047619),
    (1e-12, 0.0, 0.25, -1e12),
    (0.2, 1.0, 25.0, -6.25),
    (0.2, 0.0, 1.5625, -6.25),
]


@pytest.mark.parametrize(("x", "t", "by_input", "by_both"), TWICE)
@pytest.mark.parametrize("dtype", [libdl.float64, libdl.float32])
def test_second_derivatives_of_binary_cross_entropy(x, t, by_input, by_both, dtype):
    x, t = (libdl.tensor([v], dtype=dtype, requires_grad=True) for v in (x, t))
    weight = libdl.tensor([3.0], dtype=dtype)
    near = {"rel": 1e-5 if dtype is libdl.float32 else 1e-9, "abs": 1e-6}
    (first,) = libdl.autograd.grad(F.binary_cross_entropy(x, t, weight), x, create_graph=True)
    found = libdl.autograd.grad(first, (x, t), retain_graph=True)
    assert [g.item() for g in found] == pytest.approx([3 * by_input, 3 * by_both], **near)
    third = libdl.autograd.grad(libdl.autograd.grad(first, x, create_graph=True)[0], x)
    assert third[0].shape == (1,)
    loss = lambda x: F.binary_cross_entropy(x, t.detach(), weight)  # noqa: E731
    jvp = libdl.func.jvp(libdl.func.grad(loss), (x.detach(),), (libdl.ones_like(x),))[1]
    assert jvp.item() == pytest.approx(3 * by_input, **near)
    nested = libdl.func.jvp(
        lambda x: libdl.func.jvp(loss, (x,), (libdl.ones_like(x),))[1],
        (x.detach(),),
        (libdl.ones_like(x),),
    )[1]
    assert nested.item() == pytest.approx(3 * by_input, **near)


def test_second_derivatives_of_binary_cross_entropy_of_batches():
    x = libdl.tensor([[0.0, 0.2], [0.3, 1.0]], dtype=libdl.float64)
    t = libdl.tensor([[0.0, 1.0], [0.3, 1.0]], dtype=libdl.float64)
    each = libdl.vmap(
        libdl.func.hessian(lambda x, t: F.binary_cross_entropy(x, t, reduction="sum"))
    )(x, t)
    assert each[0].flatten().tolist() == pytest.approx([0, 0, 0, 25], rel=1e-9)
    assert each[1].flatten().tolist() == pytest.approx([4.7619047619, 0, 0, 0], rel=1e-9)
    inner = libdl.tensor([0.2, 0.7], dtype=libdl.float64, requires_grad=True)
    target = libdl.tensor([0.4, 0.9], dtype=libdl.float64, requires_grad=True)
    assert libdl.autograd.gradgradcheck(lambda x, t: F.binary_cross_entropy(x, t), (inner, target))


def test_triplets_of_complex_numbers():
    anchor = libdl.tensor([[1 + 1j, 0], [2j, 1]], requires_grad=True)
    others = libdl.tensor([[1j, 1], [1, 1 + 1j]])
    found = F.triplet_margin_loss(anchor, others, anchor.detach().flip(0), reduction="none")
    assert found.tolist() == pytest.approx([0.6821629, 1.7174386], rel=1e-5)
    (gradient,) = libdl.autograd.grad(found.sum(), anchor)
    wanted = [0.1297566 + 0.5773503j, -0.1297564, 0.1691017 + 0.2391465j, -0.5773504 - 0.4082484j]
    assert gradient.flatten().tolist() == pytest.approx(wanted, abs=1e-5)
