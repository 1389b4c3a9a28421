# SPDX-License-Identifier: Apache-2.0
"""Divergences of two distributions of one type."""

from __future__ import annotations

from .. import inf, where
from .._C import Tensor
from ..nn.functional import softplus
from .transforms import sum_last
from ._triangles import solve_lower
from .bernoulli import Bernoulli
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .geometric import Geometric
from .half_normal import HalfNormal
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .wishart import Wishart


@register_kl(Bernoulli, Bernoulli)
def bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    success = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    failure = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    success = where(q.probs == 0, inf, success)
    failure = where(q.probs == 1, inf, failure)
    return where(p.probs == 0, 0.0, success) + where(p.probs == 1, 0.0, failure)


@register_kl(Binomial, Binomial)
def binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("kl_divergence: p's total_count is below q's, wanted q's or more")
    one = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return where(p.total_count > q.total_count, inf, p.total_count * one)


@register_kl(Categorical, Categorical)
def categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = where(q.probs == 0, inf, terms)
    return where(p.probs == 0, 0.0, terms).sum(-1)


@register_kl(Cauchy, Cauchy)
def cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """Chyzak and Nielsen 2019."""
    apart = (p.scale + q.scale).square() + (p.loc - q.loc).square()
    return apart.log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    of_p = p._log_norm() + (-p.probs).log1p()
    of_q = q._log_norm() + (-q.probs).log1p()
    return p.mean * (p.logits - q.logits) + of_p - of_q


@register_kl(Dirichlet, Dirichlet)
def dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1, keepdim=True)
    normalizers = q._log_normalizer(b) - p._log_normalizer(a)
    return normalizers + ((a - b) * (a.digamma() - total.digamma())).sum(-1)


@register_kl(ExponentialFamily, ExponentialFamily)
def exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """F(theta_q) - F(theta_p) - <theta_q - theta_p, mean of t(x) under p>."""
    if type(p) is not type(q):
        raise NotImplementedError(
            f"kl_divergence: no rule for p of type {type(p).__name__} and "
            f"q of type {type(q).__name__}; see register_kl"
        )
    theta_p, normalizer, means = p._mean_statistics()
    theta_q = q._natural_params
    result = q._log_normalizer(*theta_q) - normalizer
    for a, b, mean in zip(theta_p, theta_q, means):
        result = result - sum_last((b - a) * mean, len(q.event_shape))
    return result


@register_kl(Geometric, Geometric)
def geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - p.mean * (-q.probs).log1p() - q.probs.log()


@register_kl(HalfNormal, HalfNormal)
def half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence: reinterpreted_batch_ndims of p and q differ")
    result = kl_divergence(p.base_dist, q.base_dist)
    return sum_last(result, p.reinterpreted_batch_ndims)


@register_kl(Laplace, Laplace)
def laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Normal, Normal)
def normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).square()
    shift = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (ratio + shift - 1 - ratio.log())


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, MultivariateNormal)
def multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"kl_divergence: q has event shape {list(q.event_shape)}, wanted {list(p.event_shape)}"
        )
    log_p = p.scale_tril.diagonal(0, -2, -1).log().sum(-1)
    log_q = q.scale_tril.diagonal(0, -2, -1).log().sum(-1)
    spread = solve_lower(q.scale_tril, p.scale_tril).square().sum((-2, -1))
    shift = solve_lower(q.scale_tril, (p.loc - q.loc).unsqueeze(-1)).square().sum((-2, -1))
    return log_q - log_p + 0.5 * (spread + shift - p.event_shape[0])


@register_kl(OneHotCategorical, OneHotCategorical)
def one_hot_categorical(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return categorical(p._categorical, q._categorical)


@register_kl(Poisson, Poisson)
def poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate.xlogy(p.rate) - p.rate.xlogy(q.rate) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """Transforms that both share change nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("kl_divergence: the transforms of p and q differ")
    dims = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_last(kl_divergence(p.base_dist, q.base_dist), dims)


@register_kl(Wishart, Wishart)
def wishart(p: Wishart, q: Wishart) -> Tensor:
    apart = 2 * (q._half_log_det() - p._half_log_det())
    spread = solve_lower(q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril)
    trace = spread.square().sum((-2, -1)) - p.event_shape[-1]
    degrees = 0.5 * (p.df - q.df) * p._halves().digamma().sum(-1)
    return q._log_gamma() - p._log_gamma() + degrees + 0.5 * (q.df * apart + p.df * trace)


@register_kl(Uniform, Uniform)
def uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), inf, result)
