# SPDX-License-Identifier: Apache-2.0
"""What holds for all distributions: checks of parameters and values, expand, repr, divergences that
a program registers, distributions of one's own."""

import copy
import pickle

import pytest
from wrappers.distributions.seen_distributions import every, numbers

import libdl as torch
from libdl import distributions as D
from libdl.distributions import constraints, kl, utils

NAN, INF = float("nan"), float("inf")


def t(*values):
    return torch.tensor(values)


WRONG_PARAMETERS = [
    (lambda: D.Normal(0.0, t(1.0, -1.0)), "Normal: scale of shape [2] is tensor"),
    (lambda: D.Normal(t(NAN), 1.0), "Normal: loc"),
    (lambda: D.Bernoulli(t(1.1)), "wanted Interval(lower_bound=0.0, upper_bound=1.0)"),
    (lambda: D.Bernoulli(), "Bernoulli: wanted probs or logits, and not both"),
    (lambda: D.Bernoulli(t(0.5), t(0.0)), "Bernoulli: wanted probs or logits, and not both"),
    (lambda: D.Categorical(t(0.5, -0.5)), "Categorical: probs"),
    (lambda: D.Categorical(torch.tensor(0.5)), "probs has no dimension"),
    (lambda: D.Uniform(1.0, 0.0), "Uniform: low"),
    (lambda: D.Gamma(t(0.0), 1.0), "Gamma: concentration"),
    (lambda: D.Dirichlet(torch.tensor(1.0)), "concentration has no dimension"),
    (lambda: D.Geometric(t(0.0)), "Geometric: probs"),
    (lambda: D.Binomial(t(1.5), t(0.5)), "Binomial: total_count"),
    (lambda: D.MultivariateNormal(torch.zeros(2)), "wanted exactly one of covariance_matrix"),
    (lambda: D.MultivariateNormal(torch.zeros(2), t(1.0)), "covariance_matrix has 1 dimensions"),
    (lambda: D.MultivariateNormal(torch.zeros(2), -torch.eye(2)), "covariance_matrix"),
    (lambda: D.MultivariateNormal(torch.tensor(0.0), torch.eye(2)), "loc has no dimension"),
    (lambda: D.MultivariateNormal(torch.zeros(2), scale_tril=torch.ones(2, 2)), "scale_tril"),
    (
        lambda: D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(3, 1), torch.ones(2)),
        "cov_factor has shape [3, 1], wanted [..., 2, rank]",
    ),
    (
        lambda: D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(3)),
        "cov_diag has shape [3], wanted [..., 2]",
    ),
    (lambda: D.Wishart(1.0, torch.eye(3)), "Wishart: df is 1.0, wanted more than 2"),
    (lambda: D.LKJCholesky(1), "LKJCholesky: dim is 1, wanted 2 or more"),
    (lambda: D.Independent(D.Normal(0.0, 1.0), 1), "reinterpreted_batch_ndims is 1"),
    (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3), "transforms is 3"),
    (
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
        "base_distribution has shape [], wanted 1 or more",
    ),
    (lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)), "mixture_distribution"),
    (
        lambda: D.MixtureSameFamily(D.Categorical(t(0.5, 0.5)), D.Normal(torch.zeros(3), 1.0)),
        "component_distribution has batch shape [3], wanted [..., 2]",
    ),
    (
        lambda: D.MixtureSameFamily(
            D.Categorical(torch.ones(3, 2)), D.Normal(torch.ones(4, 2), 1.0)
        ),
        "mixture_distribution has batch shape [3], wanted [4]",
    ),
    (lambda: D.MixtureSameFamily(D.Categorical(t(0.5, 0.5)), 3), "component_distribution is 3"),
    (lambda: utils.broadcast_all("one", 2.0), "broadcast_all: found 'one'"),
    (lambda: D.Distribution.set_default_validate_args(3), "value is 3"),
]


@pytest.mark.parametrize("make, text", WRONG_PARAMETERS, ids=[text for _, text in WRONG_PARAMETERS])
def test_wrong_parameters_are_named(make, text):
    with pytest.raises(ValueError) as told:
        make()
    assert text in str(told.value)


WRONG_VALUES = [
    (D.Normal(0.0, 1.0), t(NAN), "Normal: value of shape [1] is tensor([nan]), wanted Real()"),
    (D.Normal(0.0, 1.0), 0.5, "Normal: value is 0.5, wanted a tensor"),
    (D.Normal(torch.zeros(2), 1.0), torch.zeros(3), "[3], which does not broadcast with [2]"),
    (D.Bernoulli(t(0.5)), t(0.5), "wanted Boolean()"),
    (D.Categorical(t(0.5, 0.5)), t(2), "wanted IntegerInterval(lower_bound=0, upper_bound=1)"),
    (D.Dirichlet(torch.ones(3)), torch.ones(2) / 2, "does not end in the event shape [3]"),
    (D.Dirichlet(torch.ones(3)), torch.ones(3), "wanted Simplex()"),
    (D.Uniform(0.0, 1.0), t(1.5), "wanted Interval"),
    (D.Multinomial(2, torch.ones(2)), t(2.0, 1.0), "wanted Multinomial(upper_bound=2)"),
]


@pytest.mark.parametrize("d, value, text", WRONG_VALUES, ids=[text for *_, text in WRONG_VALUES])
def test_wrong_values_are_named(d, value, text):
    with pytest.raises(ValueError) as told:
        d.log_prob(value)
    assert text in str(told.value)


def test_checks_can_be_left_out():
    assert D.Normal(0.0, -1.0, validate_args=False).scale == -1
    assert D.Uniform(0.0, 1.0, validate_args=False).log_prob(t(2.0)) == -INF
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Normal(0.0, -1.0).scale == -1
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        D.Normal(0.0, -1.0)


@pytest.mark.parametrize("name", every(torch))
def test_an_expanded_distribution_has_the_densities_of_the_first(name):
    d, _ = every(torch)[name]
    value = d.sample((4,))
    wider = d.expand((5, *d.batch_shape))
    assert type(wider) is type(d) and repr(wider).split("(")[0] == repr(d).split("(")[0]
    wanted = d.log_prob(value)
    found = wider.log_prob(value.unsqueeze(-1 - len(d.batch_shape) - len(d.event_shape)))
    # The same operators on the same numbers, in another shape: only sums may be ordered otherwise.
    for i in range(5):
        assert torch.allclose(found[..., i, *([slice(None)] * len(d.batch_shape))], wanted)


@pytest.mark.parametrize("name", every(torch))
def test_a_distribution_pickles_and_copies(name):
    d, _ = every(torch)[name]
    copies = pickle.loads(pickle.dumps(d)), copy.deepcopy(d)
    assert [repr(other) for other in copies] == [repr(d)] * 2
    for other in copies:
        assert type(other) is type(d)
        value = other.sample()
        assert torch.equal(other.log_prob(value), d.log_prob(value))


def test_reprs_tell_the_parameters():
    assert repr(D.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert (
        repr(D.Normal(torch.zeros(2), 1.0))
        == "Normal(loc: libdl.Size([2]), scale: libdl.Size([2]))"
    )
    assert repr(D.Bernoulli(logits=torch.zeros(2))) == "Bernoulli(logits: libdl.Size([2]))"
    inside = D.Independent(D.Poisson(torch.ones(3)), 1)
    assert repr(inside) == "Independent(Poisson(rate: libdl.Size([3])), 1)"


def test_numbers_beside_integers_keep_their_fractions():
    assert D.Binomial(t(3, 4), 0.25).probs.tolist() == [0.25, 0.25]
    a, b = utils.broadcast_all(t(1, 2), 3)
    assert b.dtype == torch.int64 and a.shape == b.shape


class Ramp(D.Distribution):
    """One of a program's own: density 2 x / height^2 between 0 and height."""

    arg_constraints = {"height": constraints.positive}
    has_rsample = True

    def __init__(self, height, validate_args=None):
        (self.height,) = utils.broadcast_all(height)
        super().__init__(self.height.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(0.0, self.height)

    def rsample(self, sample_shape=()):
        return self.height * torch.rand(self._extended_shape(sample_shape)).sqrt()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (2 * value / self.height.square()).log()


def test_a_distribution_of_ones_own():
    d = Ramp(t(1.0, 2.0))
    assert repr(d) == "Ramp(height: libdl.Size([2]))"
    assert d.expand((3, 2)).sample((4,)).shape == (4, 3, 2)
    assert D.Independent(d, 1).log_prob(t(0.5, 2.0)) == 0
    for name in ("mean", "mode", "variance", "stddev"):
        with pytest.raises(NotImplementedError, match="Ramp has no"):
            getattr(d, name)
    for call in (d.entropy, d.enumerate_support, lambda: d.cdf(t(0.5)), lambda: d.icdf(t(0.5))):
        with pytest.raises(NotImplementedError, match="Ramp has no"):
            call()
    with pytest.raises(ValueError, match="Ramp: height"):
        Ramp(-1.0)
    with pytest.raises(NotImplementedError, match="p of type Ramp"):
        D.kl_divergence(d, d)


def test_a_divergence_is_registered_and_the_nearest_one_is_used(monkeypatch):
    monkeypatch.setattr(kl, "_registered", dict(kl._registered))
    monkeypatch.setattr(kl, "_found", {})

    class Steep(Ramp):
        pass

    D.register_kl(Ramp, Ramp)(lambda p, q: "ramps")
    assert D.kl_divergence(Steep(1.0), Ramp(1.0)) == "ramps"
    D.register_kl(Steep, Ramp)(lambda p, q: "steep first")
    assert D.kl_divergence(Steep(1.0), Ramp(1.0)) == "steep first"
    D.register_kl(Ramp, Steep)(lambda p, q: "steep last")
    with pytest.warns(RuntimeWarning, match=r"register \(Steep, Steep\)"):
        assert D.kl_divergence(Steep(1.0), Steep(1.0)) == "steep first"
    with pytest.raises(TypeError, match="type_p is 1"):
        D.register_kl(1, Ramp)


def test_a_subclass_of_a_distribution_is_one():
    class Unit(D.Normal):
        pass

    d = Unit(torch.zeros(2), 1.0).expand((3, 2))
    assert isinstance(d, Unit) and d.scale.shape == (3, 2)
    assert D.kl_divergence(Unit(0.0, 1.0), D.Normal(0.0, 1.0)) == 0


def test_a_lazy_property_is_computed_once_and_has_history():
    probs = torch.tensor([0.2, 0.8], requires_grad=True)
    d = D.Bernoulli(probs)
    with torch.no_grad():
        logits = d.logits
    assert d.logits is logits and logits.requires_grad
    assert isinstance(D.Bernoulli.logits, utils.lazy_property)


def test_sample_n_is_sample():
    with pytest.warns(UserWarning, match="sample_n"):
        assert D.Normal(torch.zeros(2), 1.0).sample_n(3).shape == (3, 2)


def test_a_factor_of_a_covariance_is_right_and_refuses_what_has_none():
    from libdl.distributions import _triangles

    a = numbers(torch, 2, 4, 4)
    a = a @ a.mT + torch.eye(4).double()
    factor = _triangles.cholesky(a)
    # Products of numbers up to 5, in float64.
    assert (factor @ factor.mT - a).abs().max() < 1e-13 and (factor.triu(1) == 0).all()
    assert (_triangles.inverse_of(factor) @ a - torch.eye(4)).abs().max() < 1e-12
    other = _triangles.factor_of_inverse(a)
    assert (other @ other.mT @ a - torch.eye(4)).abs().max() < 1e-12
    with pytest.raises(RuntimeError, match="not positive definite"):
        _triangles.cholesky(-a)
    symmetric = a.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda a: _triangles.cholesky(a + a.mT), (symmetric,)), (
        "by differences"
    )


def test_a_normal_sample_is_not_the_rsample_of_a_derived_class():
    """As in PyTorch, where sample of a normal distribution draws by itself."""

    class Fixed(D.Normal):
        def rsample(self, sample_shape=torch.Size()):
            return super().rsample(sample_shape) * 0 + 7

    fixed = Fixed(0.0, 1.0)
    assert fixed.sample((100,)).std() > 0.5 and fixed.rsample((2,)).tolist() == [7, 7]
