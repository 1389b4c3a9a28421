# SPDX-License-Identifier: Apache-2.0
"""Programs with distributions, for test_distributions.py. `m` is libdl, or PyTorch, whose answers
tests/answered.py stores."""

import itertools
import math

from wrappers.answers import digest, numbers, told

TOGETHER = True

INF, NAN = math.inf, math.nan


def tensor(m, data, dtype=None):
    return m.tensor(data, dtype=dtype or m.float64)


def spread(m, *shape, low=0.0, high=1.0, shift=0.0):
    """Numbers between low and high."""
    return low + (high - low) * (0.5 + 0.49 * numbers(m, *shape, shift=shift))


def covariance(m, *batch, n=3, shift=0.0):
    a = numbers(m, *batch, n, n, shift=shift)
    return a @ a.mT + 0.5 * m.eye(n, dtype=m.float64)


def simplex(m, *shape, shift=0.0):
    return numbers(m, *shape, shift=shift).mul(1.5).softmax(-1)


def every(m):
    """A distribution of each kind, with a batch, and values to score."""
    D, s = m.distributions, spread
    a, b = s(m, 2, 3, low=0.3, high=4.0), s(m, 3, low=0.5, high=5.0, shift=0.7)
    loc, p = numbers(m, 2, 3), s(m, 2, 3, shift=0.4)
    logits = numbers(m, 2, 3, shift=0.2) * 3
    real, unit = numbers(m, 4, 2, 3, shift=0.1) * 3, s(m, 4, 2, 3, shift=0.6)
    above, bits = s(m, 4, 2, 3, low=0.0, high=6.0), (s(m, 4, 2, 3) > 0.5).double()
    counts = s(m, 4, 2, 3, low=0.0, high=7.0).floor()
    vectors, simplices = numbers(m, 4, 2, 3, shift=0.3), simplex(m, 4, 2, 3)
    classes = counts % 3
    hot = m.nn.functional.one_hot(classes[..., 0].long(), 3).double()
    S = covariance(m, 2)
    tril = m.tensor([[1.2, 0, 0], [0.3, 0.8, 0], [-0.4, 0.2, 1.5]], dtype=m.float64)
    corr = m.tensor([[1.0, 0, 0], [0.6, 0.8, 0], [0.0, 0.6, 0.8]], dtype=m.float64)
    t = tensor(m, 0.7)
    return {
        "Bernoulli": (D.Bernoulli(p), bits),
        "Bernoulli logits": (D.Bernoulli(logits=logits), bits),
        "Beta": (D.Beta(a, b), unit),
        "Binomial": (D.Binomial(7, p), counts),
        "Binomial logits": (D.Binomial(tensor(m, [7, 8, 9.0]), logits=logits), counts),
        "Categorical": (D.Categorical(simplex(m, 2, 3, 4)), classes),
        "Categorical logits": (D.Categorical(logits=numbers(m, 2, 3, 4) * 3), classes),
        "Cauchy": (D.Cauchy(loc, b), real),
        "Chi2": (D.Chi2(a), above),
        "ContinuousBernoulli": (D.ContinuousBernoulli(p), unit),
        "ContinuousBernoulli near": (
            D.ContinuousBernoulli(tensor(m, [[0.5, 0.4995, 0.5005], [0.498, 0.4989, 0.502]])),
            unit,
        ),
        "ContinuousBernoulli logits": (D.ContinuousBernoulli(logits=logits), unit),
        "Dirichlet": (D.Dirichlet(a), simplices),
        "Exponential": (D.Exponential(a), above),
        "FisherSnedecor": (D.FisherSnedecor(a * 2, b * 2), above),
        "Gamma": (D.Gamma(a, b), above),
        "GeneralizedPareto": (D.GeneralizedPareto(loc, b, tensor(m, [0.3, 0.0, 1.2])), above + 1),
        "GeneralizedPareto short": (D.GeneralizedPareto(0.0, tensor(m, 9.0), -0.4), above),
        "Geometric": (D.Geometric(p), counts),
        "Geometric logits": (D.Geometric(logits=logits), counts),
        "Gumbel": (D.Gumbel(loc, b), real),
        "HalfCauchy": (D.HalfCauchy(a), above),
        "HalfNormal": (D.HalfNormal(a), above),
        "Independent": (D.Independent(D.Normal(loc, b), 1), real),
        "Independent 0": (D.Independent(D.Bernoulli(p), 0), bits),
        "InverseGamma": (D.InverseGamma(a, b), above),
        "Kumaraswamy": (D.Kumaraswamy(a, b), unit),
        "Laplace": (D.Laplace(loc, b), real),
        "LKJCholesky": (D.LKJCholesky(3, b), corr),
        "LogNormal": (D.LogNormal(loc, b), above),
        "LogisticNormal": (D.LogisticNormal(loc[:, :2], b[:2]), simplices),
        "LowRankMultivariateNormal": (
            D.LowRankMultivariateNormal(loc, numbers(m, 2, 3, 2), a[0]),
            vectors,
        ),
        "MixtureSameFamily": (
            D.MixtureSameFamily(D.Categorical(simplex(m, 2, 3)), D.Normal(loc, b)),
            real[..., 0],
        ),
        "MixtureSameFamily vectors": (
            D.MixtureSameFamily(D.Categorical(simplex(m, 2)), D.Independent(D.Normal(loc, b), 1)),
            real[:, 0],
        ),
        "Multinomial": (D.Multinomial(9, simplex(m, 2, 3)), tensor(m, [2.0, 3.0, 4.0])),
        "Multinomial logits": (D.Multinomial(3, logits=logits), hot * 3),
        "MultivariateNormal": (D.MultivariateNormal(loc, S), vectors),
        "MultivariateNormal precision": (D.MultivariateNormal(loc[0], precision_matrix=S), vectors),
        "MultivariateNormal tril": (D.MultivariateNormal(loc, scale_tril=tril), vectors),
        "NegativeBinomial": (D.NegativeBinomial(a, p), counts),
        "NegativeBinomial logits": (
            D.NegativeBinomial(tensor(m, [0.0, 1.0, 2.5]), logits=logits),
            counts,
        ),
        "Normal": (D.Normal(loc, b), real),
        "OneHotCategorical": (D.OneHotCategorical(simplex(m, 2, 3)), hot),
        "OneHotCategoricalStraightThrough": (
            D.OneHotCategoricalStraightThrough(logits=logits),
            hot,
        ),
        "Pareto": (D.Pareto(a, b), above + 4),
        "Poisson": (D.Poisson(a), counts),
        "RelaxedBernoulli": (D.RelaxedBernoulli(t, p), unit),
        "RelaxedBernoulli logits": (D.RelaxedBernoulli(t, logits=logits), unit),
        "RelaxedOneHotCategorical": (D.RelaxedOneHotCategorical(t, simplex(m, 2, 3)), simplices),
        "StudentT": (D.StudentT(tensor(m, [0.8, 1.5, 3.0]), loc, b), real),
        "TransformedDistribution": (
            D.TransformedDistribution(
                D.Normal(loc, b), [D.SigmoidTransform(), D.AffineTransform(1.0, -2.0)]
            ),
            unit * -2 + 1,
        ),
        "TransformedDistribution vectors": (
            D.TransformedDistribution(
                D.Normal(loc, b), [D.AffineTransform(loc, 3.0), D.StickBreakingTransform()]
            ),
            simplex(m, 4, 2, 4),
        ),
        "Uniform": (D.Uniform(loc - 4.1, b + 3), real),
        "VonMises": (D.VonMises(loc, b), real),
        "Weibull": (D.Weibull(a, b), above),
        "Wishart": (D.Wishart(tensor(m, [3.5, 6.0]), S), S + 1),
        "Wishart tril": (D.Wishart(5.0, scale_tril=tril), S),
        "numbers": (D.Normal(0, 2), m.tensor(0.5)),
        "float32": (D.Normal(m.zeros(3), m.ones(3)), m.ones(3)),
    }


def parts(m, found):
    """A tensor's dtype and digest; of infinite numbers their places."""
    if not isinstance(found, m.Tensor):
        return found
    y = found.detach().double()
    infinite = m.where(y == INF, 1.0, m.where(y == -INF, -1.0, 0.0))
    y = m.where(y.isinf(), tensor(m, 0.0), y)
    return [str(found.dtype).split(".")[-1], digest(m, y), digest(m, infinite)]


def of(m, call, *args, **kwargs):
    return parts(m, told(call, *args, **kwargs))


def moments(m):
    answers = {}
    for name, (d, _) in every(m).items():
        found = {key: of(m, getattr, d, key) for key in ("mean", "mode", "variance", "stddev")}
        found["entropy"], found["perplexity"] = of(m, d.entropy), of(m, d.perplexity)
        answers[name] = found
    return answers


def shapes(m):
    answers = {}
    for name, (d, _) in every(m).items():
        wider = told(d.expand, (5, *d.batch_shape))
        answers[name] = [
            list(d.batch_shape),
            list(d.event_shape),
            d.has_rsample,
            d.has_enumerate_support,
            type(d.support).__name__,
            d.support.event_dim,
            d.support.is_discrete,
            list(wider.batch_shape),
            list(wider.event_shape),
            list(wider.sample((4,)).shape),
            of(m, wider.entropy),
            of(m, getattr, wider, "mean"),
            list(d.sample().shape),
            told(lambda d=d: list(d.sample((2, 0)).shape)),
            d.sample().requires_grad,
            str(d.sample().dtype).split(".")[-1],
            of(m, d.enumerate_support),
            of(m, d.enumerate_support, expand=False),
            told(lambda d=d: list(d.rsample((1,)).shape)),
        ]
    return answers


def densities(m):
    before, answers = m.get_default_dtype(), {}
    m.set_default_dtype(m.float64)  # PyTorch's GeneralizedPareto makes numbers of that dtype
    for name, (d, value) in every(m).items():
        probability = spread(m, *value.shape, shift=0.2)
        answers[name] = [of(m, d.log_prob, value), of(m, d.cdf, value), of(m, d.icdf, probability)]
        answers[name].append(bool(d.support.check(value).all()))
    m.set_default_dtype(before)
    return answers


def parameters(m):
    """The parameters that are leaves: classes are built again from them."""
    D = m.distributions

    def pos(*shape, shift=0.0):
        return spread(m, *shape, low=0.4, high=3.0, shift=shift)

    def unit(*shape):
        return spread(m, *shape, low=0.1, high=0.9)

    def real(*shape):
        return numbers(m, *shape)

    S = covariance(m, 2)
    return {
        "Bernoulli": (D.Bernoulli, [unit(2, 3)]),
        "Beta": (D.Beta, [pos(2, 3), pos(3, shift=0.5)]),
        "Categorical": (D.Categorical, [simplex(m, 2, 3, 4)]),
        "Cauchy": (D.Cauchy, [real(2, 3), pos(3)]),
        "Chi2": (D.Chi2, [pos(2, 3)]),
        "ContinuousBernoulli": (D.ContinuousBernoulli, [unit(2, 3)]),
        "Dirichlet": (D.Dirichlet, [pos(2, 3)]),
        "Exponential": (D.Exponential, [pos(2, 3)]),
        "FisherSnedecor": (D.FisherSnedecor, [pos(2, 3), pos(3) + 4]),
        "Gamma": (D.Gamma, [pos(2, 3), pos(3)]),
        "Geometric": (D.Geometric, [unit(2, 3)]),
        "Gumbel": (D.Gumbel, [real(2, 3), pos(3)]),
        "HalfCauchy": (D.HalfCauchy, [pos(2, 3)]),
        "HalfNormal": (D.HalfNormal, [pos(2, 3)]),
        "InverseGamma": (D.InverseGamma, [pos(2, 3), pos(3)]),
        "Kumaraswamy": (D.Kumaraswamy, [pos(2, 3), pos(3)]),
        "Laplace": (D.Laplace, [real(2, 3), pos(3)]),
        "LogNormal": (D.LogNormal, [real(2, 3), pos(3)]),
        "LowRankMultivariateNormal": (
            D.LowRankMultivariateNormal,
            [real(2, 3), numbers(m, 2, 3, 2, shift=0.3), pos(3)],
        ),
        "MultivariateNormal": (D.MultivariateNormal, [real(2, 3), S]),
        "NegativeBinomial": (D.NegativeBinomial, [pos(2, 3), unit(2, 3)]),
        "Normal": (D.Normal, [real(2, 3), pos(3)]),
        "OneHotCategorical": (D.OneHotCategorical, [simplex(m, 2, 3)]),
        "Pareto": (D.Pareto, [pos(2, 3), pos(3)]),
        "Poisson": (D.Poisson, [pos(2, 3)]),
        "RelaxedBernoulli": (D.RelaxedBernoulli, [tensor(m, 0.7), unit(2, 3)]),
        "RelaxedOneHotCategorical": (
            D.RelaxedOneHotCategorical,
            [tensor(m, 0.7), simplex(m, 2, 3)],
        ),
        "StudentT": (D.StudentT, [pos(2, 3), real(2, 3), pos(3)]),
        "Uniform": (D.Uniform, [real(2, 3) - 9, pos(3) + 9]),
        "VonMises": (D.VonMises, [real(2, 3), pos(3)]),
        "Weibull": (D.Weibull, [pos(2, 3), pos(3)]),
        "Wishart": (D.Wishart, [tensor(m, [3.5, 6.0]), S]),
    }


def slopes(m):
    """Gradients of log_prob, entropy, variance and mean with respect to the parameters and value."""
    answers, values = {}, every(m)
    for name, (make, given) in parameters(m).items():
        found = {}
        for key in ("log_prob", "entropy", "mean", "variance"):
            leaves = [x.clone().requires_grad_() for x in given]
            d = make(*leaves)
            value = values[name][1].clone().requires_grad_()
            y = told(
                lambda: (
                    d.log_prob(value)
                    if key == "log_prob"
                    else d.entropy()
                    if key == "entropy"
                    else getattr(d, key)
                )
            )
            if isinstance(y, dict) or not y.requires_grad:
                continue
            y = m.where(y.isfinite(), y, tensor(m, 0.0))
            wanted = [*leaves, *([value] if key == "log_prob" else [])]
            grads = m.autograd.grad((y * numbers(m, *y.shape)).sum(), wanted, allow_unused=True)
            found[key] = [parts(m, g) for g in grads]
        answers[name] = found
    return answers


def divergences(m):
    """kl_divergence of every two, of which one is changed; no rule is an error."""
    D, made, answers = m.distributions, parameters(m), {}
    for (a, (first, p)), (b, (second, q)) in itertools.product(made.items(), made.items()):
        same = a == b and not {
            "Categorical",
            "OneHotCategorical",
            "MultivariateNormal",
            "LowRankMultivariateNormal",
            "Wishart",
        } & {a}
        near = [x * 1.1 for x in q] if same and a not in ("Bernoulli", "Geometric") else q
        found = of(m, D.kl_divergence, first(*p), second(*near))
        if not isinstance(found, dict):
            answers[f"{a} {b}"] = found
    return answers


def divergences_at_edges(m):
    D, t = m.distributions, lambda *x: tensor(m, x)
    kl = D.kl_divergence
    return [
        parts(m, kl(p, q))
        for p, q in (
            (D.Bernoulli(t(0, 1, 0, 1, 0.5, 0.5)), D.Bernoulli(t(0, 1, 1, 0, 0, 1))),
            (D.Categorical(t(0, 0.5, 0.5)), D.Categorical(t(0.5, 0.5, 0))),
            (D.Categorical(t(0, 0.5, 0.5)), D.Categorical(t(0.25, 0.5, 0.25))),
            (D.Uniform(t(0, 0, 0), t(1, 1, 1)), D.Uniform(t(0, 0.5, -1), t(1, 2, 2))),
            (D.Uniform(t(0, -1, 0.5), t(1, 1, 0.7)), D.Beta(2.0, t(3))),
            (D.Uniform(t(0.2, -1, 0.5), t(1, 1, 0.7)), D.Gamma(2.0, t(3))),
            (D.Uniform(t(0.2, -1, 0.5), t(1, 1, 0.7)), D.Exponential(t(3))),
            (D.Uniform(t(0.2, 2, 0.5), t(1, 3, 0.7)), D.Pareto(t(0.4), 2.0)),
            (D.Uniform(t(0.2, 2, 0.5), t(1, 3, 0.7)), D.ContinuousBernoulli(t(0.4))),
            (D.Beta(t(2), 3.0), D.Uniform(t(0, 0.1, -1), t(1, 2, 0.5))),
            (D.ContinuousBernoulli(t(0.3)), D.Uniform(t(0, 0.1, -1), t(1, 2, 0.5))),
            (D.Pareto(1.0, t(0.5, 1, 1.5, 3)), D.Exponential(t(2))),
            (D.Pareto(1.0, t(1.5, 2, 3)), D.Normal(t(2), 1.0)),
            (D.Pareto(1.0, t(2)), D.Pareto(t(0.5, 1, 2), 2.0)),
            (D.Binomial(t(3, 4), 0.3), D.Binomial(t(3, 3), 0.4)),
            (D.Independent(D.Normal(t(0, 1), 1.0), 1), D.Independent(D.Normal(t(2, 1), 2.0), 1)),
            (D.LogNormal(t(0, 1), 1.0), D.LogNormal(t(2, 1), 2.0)),
            (D.Poisson(t(1, 2)), D.Poisson(t(2, 5))),
            (D.LogisticNormal(t(0, 1), 1.0), D.LogisticNormal(t(2, 1), 2.0)),
        )
    ]


def edges(m):
    """Values and parameters at the ends of what is allowed."""
    D, t = m.distributions, lambda *x: tensor(m, x)
    off = {"validate_args": False}
    unit = t(0, 0.5, 1)
    calls = [
        (D.Bernoulli(t(0, 1, 0, 1)), t(0, 1, 1, 0)),
        (D.Bernoulli(logits=t(-900, 900)), t(1, 1)),
        (D.Beta(t(1, 2, 0.5), 1.0), unit),
        (D.Beta(t(1, 2, 0.5), 2.0), 1 - unit),
        (D.Binomial(3, t(0, 1, 1)), t(0, 3, 3)),
        (D.Binomial(0, t(0.3)), t(0)),
        (D.Categorical(t(0, 0.5, 0.5)), t(0, 1)),
        (D.Categorical(logits=t(-INF, 0, 1)), t(0, 1)),
        (D.Categorical(logits=t(-900, 0, 900)), t(0, 1, 2)),
        (D.ContinuousBernoulli(t(0, 0.5, 1)), unit),
        (D.Dirichlet(t(1, 1, 2)), t(0, 0, 1)),
        (D.Exponential(t(2)), t(0)),
        (D.Gamma(t(1, 2, 0.5), 1.0), t(0, 0, 0)),
        (D.Geometric(t(1, 1, 0.5)), t(0, 2, 0)),
        (D.Gumbel(t(0), 1.0), t(-800, 800)),
        (D.HalfCauchy(t(1), **off), t(-1, 0)),
        (D.HalfNormal(t(1), **off), t(-1, 0)),
        (D.Kumaraswamy(t(2), 3.0), unit),
        (D.LogNormal(t(0), 1.0), t(1e-300, 1e300)),
        (D.Multinomial(2, t(0, 0.5, 0.5)), t(0, 1, 1)),
        (D.NegativeBinomial(0.0, t(0.3)), t(0, 1)),
        (D.Normal(t(0), 1.0), t(-40, 1e200, INF)),
        (D.OneHotCategorical(t(0, 0.5, 0.5)), t(0, 1, 0)),
        (D.Pareto(t(1), 2.0), t(1, 1e300)),
        (D.Poisson(t(0, 0, 2)), t(0, 1, 0)),
        (D.StudentT(t(3)), t(-1e200, 1e200)),
        (D.Uniform(t(0), 1.0), unit),
        (D.Uniform(t(0), 1.0, **off), t(-1, 2)),
        (D.VonMises(t(0), 700.0), t(0, 3)),
        (D.Weibull(t(1), 1.0), t(1e-300, 1e3)),
        (D.RelaxedBernoulli(t(0.5), t(0.3)), t(1e-9, 0.5)),
    ]
    return [
        [of(m, d.log_prob, x), of(m, d.entropy), of(m, d.icdf, unit), of(m, d.cdf, x)]
        for d, x in calls
    ]


PROGRAMS = [moments, shapes, densities, slopes, divergences, divergences_at_edges, edges]
