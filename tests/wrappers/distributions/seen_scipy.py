# SPDX-License-Identifier: Apache-2.0
"""What SciPy 1.17 says of distributions, for test_distributions_scipy.py: at each row of
parameters, mean and variance, entropy, and log density, cdf and quantiles at a few places.
tests/answered.py stores it."""

WHOLE = True
NEAR = 0  # the values are arguments of the test, too

ORACLE = "SciPy 1.17"
QUANTILES = [0.03, 0.4, 0.9]

# libdl's name: rows of libdl's parameters, and SciPy's name and parameters for them
FAMILIES = {
    "Beta": ([(0.5, 2.0), (3.0, 1.2)], "beta", lambda a, b: (a, b)),
    "Cauchy": ([(0.3, 2.0)], "cauchy", lambda m, s: (m, s)),
    "Chi2": ([(0.7,), (4.5,)], "chi2", lambda k: (k,)),
    "Exponential": ([(0.4,), (3.0,)], "expon", lambda r: (0, 1 / r)),
    "FisherSnedecor": ([(3.0, 9.0), (1.5, 12.0)], "f", lambda a, b: (a, b)),
    "Gamma": ([(0.3, 2.0), (5.0, 0.5)], "gamma", lambda a, r: (a, 0, 1 / r)),
    "GeneralizedPareto": (
        [(0.5, 2.0, 0.3), (0.0, 1.0, -0.4), (0.0, 1.0, 0.0), (0.0, 2.0, 1.2)],
        "genpareto",
        lambda m, s, k: (k, m, s),
    ),
    "Gumbel": ([(0.3, 2.0)], "gumbel_r", lambda m, s: (m, s)),
    "HalfCauchy": ([(2.0,)], "halfcauchy", lambda s: (0, s)),
    "HalfNormal": ([(2.0,)], "halfnorm", lambda s: (0, s)),
    "InverseGamma": ([(3.5, 2.0), (7.0, 0.5)], "invgamma", lambda a, r: (a, 0, r)),
    "Laplace": ([(0.3, 2.0)], "laplace", lambda m, s: (m, s)),
    "LogNormal": ([(0.3, 0.5), (-1.0, 1.1)], "lognorm", lambda m, s: (s, 0, 2.718281828459045**m)),
    "Normal": ([(0.3, 2.0)], "norm", lambda m, s: (m, s)),
    "Pareto": ([(2.0, 3.5), (0.5, 1.5)], "pareto", lambda s, a: (a, 0, s)),
    "StudentT": ([(3.5, 0.3, 2.0), (1.5, 0.0, 1.0)], "t", lambda k, m, s: (k, m, s)),
    "Uniform": ([(-1.0, 3.0)], "uniform", lambda a, b: (a, b - a)),
    "VonMises": ([(0.3, 2.0), (0.0, 50.0)], "vonmises", lambda m, k: (k, m)),
    "Weibull": ([(2.0, 1.5), (0.5, 0.8)], "weibull_min", lambda s, k: (k, 0, s)),
    "Bernoulli": ([(0.3,)], "bernoulli", lambda p: (p,)),
    "Binomial": ([(9, 0.3), (4, 0.9)], "binom", lambda n, p: (n, p)),
    "Geometric": ([(0.3,)], "geom", lambda p: (p, -1)),
    "NegativeBinomial": ([(2.5, 0.3), (7.0, 0.6)], "nbinom", lambda n, p: (n, 1 - p)),
    "Poisson": ([(0.4,), (9.5,)], "poisson", lambda r: (r,)),
}


def row(name, given):
    from scipy import stats

    _, scipys, arguments = FAMILIES[name]
    d = getattr(stats, scipys)(*arguments(*given))
    mean, variance = d.stats("mv")
    x = [float(d.ppf(q)) for q in QUANTILES]
    log = d.logpdf if hasattr(d.dist, "logpdf") else d.logpmf
    return {
        "mean": float(mean),
        "variance": float(variance),
        "entropy": float(d.entropy()),
        "values": x,
        "log_prob": [float(log(v)) for v in x],
        "cdf": [float(d.cdf(v)) for v in x],
    }


def line(name, given):
    return f"{name}{given!r}"


def answers(_):
    return {
        line(name, given): row(name, given)
        for name, (rows, *_) in FAMILIES.items()
        for given in rows
    }
