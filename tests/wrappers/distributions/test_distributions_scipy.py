# SPDX-License-Identifier: Apache-2.0
"""Moments, entropies, log densities, cdf and quantiles are SciPy's, to 1e-9 of their size: SciPy
and libdl compute them in float64 by different formulas."""

import math

import pytest
from answered import Stored
from wrappers.distributions import seen_scipy
from wrappers.distributions.seen_scipy import FAMILIES, QUANTILES

import libdl as torch
from libdl import distributions as D

SEEN = Stored(seen_scipy)
CASES = [(name, i) for name, (rows, *_) in FAMILIES.items() for i in range(len(rows))]


def made(name, i):
    given = [torch.tensor(float(x), dtype=torch.float64) for x in FAMILIES[name][0][i]]
    return getattr(D, name)(*given), SEEN[""][seen_scipy.line(name, FAMILIES[name][0][i])]


def close(found, wanted):
    wanted = torch.tensor(wanted, dtype=torch.float64)
    return torch.allclose(found, wanted, rtol=1e-9, atol=1e-12, equal_nan=True)


# SciPy's mean of a VonMises is the angle itself; its variance is that of the angle, libdl's the
# circular one, which test_distributions.py compares with an integral.
@pytest.mark.parametrize("name, i", [c for c in CASES if c[0] != "VonMises"])
def test_moments(name, i):
    d, wanted = made(name, i)
    # Where there is no mean to begin with, or it is infinite, PyTorch says inf for SciPy's NaN.
    variance = math.inf if math.isnan(wanted["variance"]) else wanted["variance"]
    assert close(d.mean, wanted["mean"]) and close(d.variance, variance)


LACK_ENTROPY = {"VonMises", "Poisson", "NegativeBinomial", "FisherSnedecor"}


@pytest.mark.parametrize("name, i", [c for c in CASES if c[0] not in LACK_ENTROPY])
def test_entropy(name, i):
    d, wanted = made(name, i)
    assert close(d.entropy(), wanted["entropy"])


@pytest.mark.parametrize("name, i", CASES)
def test_log_prob(name, i):
    d, wanted = made(name, i)
    assert close(
        d.log_prob(torch.tensor(wanted["values"], dtype=torch.float64)), wanted["log_prob"]
    )


LACK_CDF = {"Beta", "StudentT", "FisherSnedecor", "VonMises"}
LACK_ICDF = {"Gamma", "Chi2", "InverseGamma"}


@pytest.mark.parametrize(
    "name, i", [c for c in CASES if c[0] not in LACK_CDF and not made(*c)[0].support.is_discrete]
)
def test_cdf_and_its_inverse(name, i):
    d, wanted = made(name, i)
    values = torch.tensor(wanted["values"], dtype=torch.float64)
    assert close(d.cdf(values), wanted["cdf"])
    if name not in LACK_ICDF:
        assert close(d.icdf(torch.tensor(QUANTILES, dtype=torch.float64)), wanted["values"])


def test_the_cases_have_numbers_of_every_kind():
    means = [made(*case)[1]["mean"] for case in CASES]
    assert math.inf in means and any(map(math.isnan, means)) and len(CASES) > 35
