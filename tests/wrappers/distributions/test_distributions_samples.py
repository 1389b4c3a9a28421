# SPDX-License-Identifier: Apache-2.0
"""Samples have the moments and densities that their distributions claim, within 6 standard errors:
by chance, one of some 5e8 comparisons would fail. The seed is fixed."""

import math

import pytest
from wrappers.distributions.seen_distributions import every, parameters, simplex, spread, tensor

import libdl as torch
from libdl import distributions as D

N = 20000
DISTRIBUTIONS = every(torch)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(20)


def near(x, wanted, errors=6.0):
    """Whether the mean over the first dimension is the wanted one, by its own standard error."""
    x = x.double()
    error = x.std(0) / math.sqrt(len(x))
    return bool(((x.mean(0) - wanted).abs() <= errors * error + 1e-12).all())


def has(d, name):
    try:
        value = getattr(d, name)
        return value() if callable(value) else value
    except NotImplementedError:
        return None


# A standard error can be estimated only if the fourth moment is finite.
HEAVY = {
    "Cauchy",
    "HalfCauchy",
    "FisherSnedecor",
    "GeneralizedPareto",
    "InverseGamma",
    "LogNormal",
    "Pareto",
    "StudentT",
    "MixtureSameFamily vectors",
    "VonMises",
}
WITH_MOMENTS = [
    name
    for name, (d, _) in DISTRIBUTIONS.items()
    if name not in HEAVY and has(d, "mean") is not None and not has(d, "mean").isnan().any()
]


@pytest.mark.parametrize("name", WITH_MOMENTS)
def test_mean_and_variance(name):
    d = DISTRIBUTIONS[name][0]
    x = d.sample((N,)).double()
    assert x.shape == (N, *d.batch_shape, *d.event_shape)
    assert d.support.check(x[:1000].to(d.mean.dtype)).all()
    assert near(x, d.mean)
    assert near((x - d.mean).square(), d.variance)


WITH_ENTROPY = [name for name, (d, _) in DISTRIBUTIONS.items() if has(d, "entropy") is not None]


@pytest.mark.parametrize("name", WITH_ENTROPY)
def test_the_mean_of_minus_log_prob_is_the_entropy(name):
    d = DISTRIBUTIONS[name][0]
    if name.startswith("Wishart"):
        d = D.Wishart(5.0, d.covariance_matrix, validate_args=False)
    assert near(-d.log_prob(d.sample((N // 4,))), d.entropy())


def pairs():
    """Two distributions near each other, whose densities' ratio is bounded or nearly so."""
    a, b = spread(torch, 3, low=0.5, high=3.0), spread(torch, 3, low=0.8, high=3.0, shift=0.4)
    t, p = tensor(torch, 0.7), spread(torch, 3, low=0.2, high=0.8)
    probs, others = simplex(torch, 3), simplex(torch, 3, shift=0.2)
    N01 = D.Normal(tensor(torch, [0.0, 0.5]), 1.0)
    N02 = D.Normal(tensor(torch, [0.2, 0.4]), 0.9)
    return {
        "LKJCholesky": (D.LKJCholesky(3, b), D.LKJCholesky(3, b + 0.3)),
        "LKJCholesky of five": (D.LKJCholesky(5, b), D.LKJCholesky(5, b + 0.3)),
        "RelaxedBernoulli": (D.RelaxedBernoulli(t, p), D.RelaxedBernoulli(t, p * 0.9)),
        "RelaxedOneHotCategorical": (
            D.RelaxedOneHotCategorical(t, probs),
            D.RelaxedOneHotCategorical(t, others),
        ),
        "NegativeBinomial": (D.NegativeBinomial(a, p), D.NegativeBinomial(a, p * 0.9)),
        "VonMises": (D.VonMises(a, b), D.VonMises(a + 0.3, b * 0.8)),
        "VonMises flat": (D.VonMises(a, b * 1e-6), D.VonMises(a, b * 0.1)),
        "FisherSnedecor": (D.FisherSnedecor(a, b), D.FisherSnedecor(a * 1.1, b * 1.1)),
        "InverseGamma": (D.InverseGamma(a, b), D.InverseGamma(a * 1.1, b)),
        "LogisticNormal": (
            D.LogisticNormal(*(N01.loc, N01.scale)),
            D.LogisticNormal(*(N02.loc, N02.scale)),
        ),
        "MixtureSameFamily": (
            D.MixtureSameFamily(D.Categorical(probs[:2]), N01),
            D.MixtureSameFamily(D.Categorical(others[:2]), N02),
        ),
        "TransformedDistribution": (
            D.TransformedDistribution(N01, [D.TanhTransform(), D.AffineTransform(1.0, -3.0)]),
            D.TransformedDistribution(N02, [D.TanhTransform(), D.AffineTransform(1.0, -3.0)]),
        ),
        "Multinomial": (D.Multinomial(5, probs), D.Multinomial(5, others)),
        "Wishart": (
            D.Wishart(tensor(torch, 4.0), torch.eye(2).double()),
            D.Wishart(tensor(torch, 4.2), torch.eye(2).double() * 0.9),
        ),
    }


@pytest.mark.parametrize("name", pairs())
def test_the_mean_ratio_of_two_densities_is_one(name):
    p, q = pairs()[name]
    x = p.sample((N,))
    assert near((q.log_prob(x) - p.log_prob(x)).exp(), 1.0)


WITH_CDF = [
    name
    for name, (d, value) in DISTRIBUTIONS.items()
    if not d.support.is_discrete
    and not d.event_shape
    and name.split()[0]
    not in ("Beta", "StudentT", "FisherSnedecor", "VonMises", "RelaxedBernoulli")
]


@pytest.mark.parametrize("name", WITH_CDF)
def test_cdf_makes_samples_uniform_and_icdf_is_its_inverse(name):
    d = DISTRIBUTIONS[name][0]
    x = d.sample((N,))
    u = d.cdf(x)
    assert near(u, 0.5) and near(u.square(), 1 / 3)
    if not name.startswith(("MixtureSameFamily", "Gamma", "Chi2", "InverseGamma")):
        back = d.cdf(d.icdf(u[:100].clamp(min=0.01, max=0.99)))
        # float32 has 7 digits, of which erf and erfinv lose some
        bound = 1e-9 if u.dtype == torch.float64 else 1e-5
        assert (back - u[:100].clamp(min=0.01, max=0.99)).abs().max() < bound


PATHWISE = """
    Beta Chi2 ContinuousBernoulli Exponential Gamma Gumbel HalfNormal Kumaraswamy Laplace LogNormal
    Normal Uniform Weibull
""".split()


@pytest.mark.parametrize("name", PATHWISE)
def test_the_gradient_of_a_sample_is_that_of_the_mean_on_average(name):
    make, given = parameters(torch)[name]
    given = torch.broadcast_tensors(*given)
    if name == "LogNormal":
        given = (given[0], given[1] * 0.2)  # a wide one has no estimate of its error
    single = [x.clone().requires_grad_() for x in given]
    many = [x.expand((N, *x.shape)).clone().requires_grad_() for x in given]
    wanted = torch.autograd.grad(make(*single).mean.sum(), single, allow_unused=True)
    found = torch.autograd.grad(make(*many).rsample().sum(), many)
    for g, mean in zip(found, wanted):
        assert near(g, 0.0 if mean is None else mean)


def test_the_gradient_of_vectors_is_that_of_their_second_moments():
    for make, given in (
        (D.MultivariateNormal, parameters(torch)["MultivariateNormal"][1]),
        (D.LowRankMultivariateNormal, parameters(torch)["LowRankMultivariateNormal"][1]),
        (D.Dirichlet, parameters(torch)["Dirichlet"][1]),
    ):
        given = [given[0][0], given[1][0], *given[2:]] if len(given) > 1 else [given[0][0]]
        single = [x.clone().requires_grad_() for x in given]
        many = [x.expand((N, *x.shape)).clone().requires_grad_() for x in given]
        d = make(*single)
        wanted = torch.autograd.grad((d.variance + d.mean.square()).sum(), single)
        found = torch.autograd.grad(make(*many).rsample().square().sum(), many)
        for g, mean in zip(found, wanted):
            assert near(g, mean)


def test_a_straight_through_sample_has_the_gradient_of_probs():
    probs = simplex(torch, 3).requires_grad_()
    d = D.OneHotCategoricalStraightThrough(probs)
    x = d.rsample((7,))
    assert D.constraints.one_hot.check(x.round()).all()
    weights = torch.arange(3).double()
    (g,) = torch.autograd.grad((x * weights).sum(), probs, retain_graph=True)
    (wanted,) = torch.autograd.grad(7 * (d.probs * weights).sum(), probs)
    assert torch.allclose(g, wanted)


def test_samples_repeat_with_the_seed_and_know_their_dtype():
    for name, (d, _) in DISTRIBUTIONS.items():
        torch.manual_seed(3)
        x = d.sample((2,))
        torch.manual_seed(3)
        assert torch.equal(x, d.sample((2,))), name
        assert not x.requires_grad


# -- concentrations so small that most gamma numbers are below the least number -------------------


def share(x):
    """The share of the elements that are true, as a mean with a standard error."""
    return x.double().mean(), math.sqrt(max(float(x.double().mean()), 1 / len(x)) / len(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("a", [0.01, 1e-3, 1e-5])
def test_a_beta_of_small_concentration_is_near_its_ends(a, dtype):
    x = D.Beta(torch.tensor(a, dtype=dtype), a).sample((N,))
    middle, error = share((x > 0.1) & (x < 0.9))  # of the density a / (2 x (1 - x))
    assert abs(float(middle) - a * math.log(9)) <= 6 * error
    upper, error = share(x > 0.5)
    assert abs(float(upper) - 0.5) <= 6 * error
    assert x.dtype is dtype and ((x > 0) & (x < 1)).all()


def test_a_dirichlet_of_small_concentration_is_near_its_corners():
    a = torch.tensor([0.01, 0.02, 0.03, 1e-4])
    x = D.Dirichlet(a).sample((N,))
    assert near(x, a.double() / a.double().sum())
    assert float(share(x.max(-1).values < 0.9)[0]) < 0.1
    assert (x.sum(-1) - 1).abs().max() < 1e-6


def test_gradients_of_small_concentrations():
    a = torch.full((N,), 0.05, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(D.Beta(a, 0.05).rsample().sum(), a)
    assert near(found, 0.05 / 0.1**2)
    a = torch.full((N, 3), 0.02, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(D.Dirichlet(a).rsample()[:, 0].sum(), a)
    assert near(found, torch.tensor([0.04, -0.02, -0.02]) / 0.06**2)


def test_ratios_of_small_degrees_of_freedom():
    """Tails fall with the power df: P(|t| > 1e36) is 1e17^-df times P(|t| > 1e19)."""
    t = D.StudentT(torch.tensor(0.02)).sample((N,)).abs()
    assert t.isfinite().all()
    far, error = share(t[t > 1e19] > 1e36)
    assert abs(float(far) - 1e17**-0.02) <= 6 * error
    x = D.FisherSnedecor(torch.tensor(0.02), 0.02).sample((N,))
    middle, error = share((x > 0.1) & (x < 10))  # log(x) is Laplace's, of scale 1 / 0.01
    assert abs(float(middle) - -math.expm1(-0.01 * math.log(10))) <= 6 * error
    assert ((x > 0) & x.isfinite()).all()
