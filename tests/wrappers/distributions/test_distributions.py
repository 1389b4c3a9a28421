# SPDX-License-Identifier: Apache-2.0
"""Moments, shapes, densities, gradients and divergences of distributions are PyTorch's, to 2e-8:
they are computed in float64, and lgamma and its kin are what differs most."""

import math

import pytest
from answered import Stored, answers_of, gathered
from wrappers.distributions import seen_distributions
from wrappers.distributions.seen_distributions import PROGRAMS

import libdl as torch
from libdl import distributions as D

SEEN = Stored(seen_distributions)

# Where the answers differ, and why: each has a row in docs/coming-from-pytorch.md.
KNOWN = {
    ("moments", "GeneralizedPareto"): "the mean is infinite from concentration 1 on, not NaN",
    ("shapes", "GeneralizedPareto"): "the same",
    ("moments", "Kumaraswamy"): "PyTorch's mode is NaN for concentration0 > 1",
    ("moments", "VonMises"): "PyTorch's Bessel functions have float32's precision",
    ("slopes", "VonMises"): "the same",
    (
        "divergences_at_edges",
        8,
    ): "PyTorch says inf where Uniform ends with ContinuousBernoulli at 1",
    ("divergences_at_edges", 10): "the same, from ContinuousBernoulli",
}


@pytest.fixture(scope="module")
def found():
    torch.manual_seed(0)
    return {p.__name__: by_keys(gathered(answers_of(p, torch))) for p in PROGRAMS}


def by_keys(answers):
    """By their lines; by their places if they come from the same ones."""
    lines = [answer.line for answer in answers]
    return dict(zip(lines if len(set(lines)) == len(lines) else range(len(lines)), answers))


WANTED = {program: by_keys(answers) for program, answers in SEEN.sections.items()}
CASES = [(program, key) for program, answers in WANTED.items() for key in answers]


@pytest.mark.parametrize("program, key", [case for case in CASES if case not in KNOWN], ids=str)
def test_it_answers_as_pytorch(found, program, key):
    assert not SEEN.sentence(program, found[program][key], WANTED[program][key])


@pytest.mark.parametrize("program, key", KNOWN, ids=str)
def test_a_known_difference_is_still_one(found, program, key):
    assert SEEN.sentence(program, found[program][key], WANTED[program][key])


def test_no_pair_has_a_rule_that_pytorch_lacks(found):
    assert list(found["divergences"]) == list(WANTED["divergences"])


# -- what differs from PyTorch, by its definition --------------------------------------------------


def test_a_kumaraswamy_mode_is_the_top_of_the_density():
    d = D.Kumaraswamy(torch.tensor(2.0, dtype=torch.float64), 3.0)
    x = torch.linspace(0.01, 0.99, 9801, dtype=torch.float64)
    # The grid's step is 1e-4.
    assert abs(x[d.log_prob(x).argmax()] - d.mode) <= 1e-4


def test_von_mises_integrates_to_one_and_its_variance_is_that_of_the_angles():
    d = D.VonMises(torch.tensor(0.0, dtype=torch.float64), 1.5)
    x = torch.arange(1000, dtype=torch.float64) * (2 * math.pi / 1000) - math.pi
    weights = d.log_prob(x).exp() * (2 * math.pi / 1000)
    # Equal steps over a period are exact for these functions, up to rounding.
    assert abs(weights.sum() - 1) < 1e-12
    assert abs(1 - (weights * x.cos()).sum() - d.variance) < 1e-12


def test_a_generalized_pareto_mean_is_infinite_for_heavy_tails():
    assert D.GeneralizedPareto(0.0, 1.0, torch.tensor([1.0, 1.5])).mean.tolist() == [math.inf] * 2


def test_a_uniform_within_the_unit_interval_diverges_finitely_from_a_continuous_bernoulli():
    p, q = D.Uniform(0.0, 1.0), D.ContinuousBernoulli(torch.tensor(0.5))
    assert abs(D.kl_divergence(p, q)) < 1e-6 and abs(D.kl_divergence(q, p)) < 1e-6


def test_a_divergence_of_fewer_trials_is_refused():
    with pytest.raises(NotImplementedError, match="total_count"):
        D.kl_divergence(D.Binomial(2, torch.tensor(0.5)), D.Binomial(3, torch.tensor(0.5)))


def test_an_exponential_family_entropy_has_the_gradient_of_the_closed_form():
    for make, given in ((D.Normal, (0.3, 1.7)), (D.Gamma, (2.5, 0.7))):
        leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in given]
        d = make(*leaves)
        closed, general = d.entropy(), D.ExponentialFamily.entropy(d)
        # Numbers near 1, after a few roundings of float64.
        assert abs(closed - general) < 1e-12
        for one, other in zip(
            torch.autograd.grad(closed, leaves, allow_unused=True),
            torch.autograd.grad(general, leaves),
        ):
            assert abs((0 if one is None else one) - other) < 1e-12
