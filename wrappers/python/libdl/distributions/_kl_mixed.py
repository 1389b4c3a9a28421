# SPDX-License-Identifier: Apache-2.0
"""Divergences of two distributions of different types: -H(p) - E log q(x), with x of p.

A rule says what E log q(x) is, or it is -inf because p has values that q does not have."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from .. import broadcast_shapes, inf, where
from .._C import Tensor
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .distribution import Distribution
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant


def _mean_log(p: Any) -> Tensor:
    """E log x. Where Uniform has negative numbers it is NaN."""
    match p:
        case Beta():
            return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
        case Exponential():
            return -euler_constant - p.rate.log()
        case Gamma():
            return p.concentration.digamma() - p.rate.log()
        case Pareto():
            return p.scale.log() + 1 / p.alpha
        case Uniform():
            return (p.high.xlogy(p.high) - p.low.xlogy(p.low)) / (p.high - p.low) - 1
    raise TypeError(type(p).__name__)


def _mean_exp_minus(p: Any, scale: Tensor) -> Tensor:
    """E exp(-x / scale)."""
    match p:
        case Exponential():
            return p.rate / (p.rate + 1 / scale)
        case Gamma():
            return (1 + 1 / (p.rate * scale)).pow(-p.concentration)
        case Gumbel():
            return (-p.loc / scale + (1 + p.scale / scale).lgamma()).exp()
        case Normal():
            return (-p.loc / scale + 0.5 * (p.scale / scale).square()).exp()
        case Uniform():
            change = (-p.low / scale).exp() - (-p.high / scale).exp()
            return scale * change / (p.high - p.low)
    raise TypeError(type(p).__name__)


def _outside(p: Distribution, low: Tensor | float, high: Tensor | float = inf) -> Tensor:
    """Whether p has values that do not lie between low and high."""
    if isinstance(p, Uniform):
        return (p.low < low) | (p.high > high)
    if isinstance(p, Pareto):
        return p.scale < low
    if isinstance(p, (Beta, ContinuousBernoulli)):
        one = p.mean * 0 + 1
        return (one * 0 < low) | (one > high)
    return p.mean != p.mean  # exponential and gamma numbers, for q of the same support


def _divergence(p: Any, mean_log: Tensor, outside: Any = None) -> Tensor:
    result = -p.entropy() - mean_log
    return result if outside is None else where(outside, inf, result)


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Pareto, Normal)
@register_kl(Uniform, Normal)
def to_normal(p: Any, q: Normal) -> Tensor:
    squares = (p.variance + (p.mean - q.loc).square()) / q.scale.square()
    mean_log = -0.5 * squares - q.scale.log() - 0.5 * math.log(2 * math.pi)
    # Of a Pareto distribution of infinite mean, that is inf - inf.
    return _divergence(p, mean_log, p.variance == inf)


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Exponential, Exponential)
@register_kl(Gamma, Exponential)
@register_kl(Pareto, Exponential)
@register_kl(Uniform, Exponential)
def to_exponential(p: Any, q: Exponential) -> Tensor:
    return _divergence(p, q.rate.log() - q.rate * p.mean, _outside(p, 0))


@register_kl(Beta, Gamma)
@register_kl(Exponential, Gamma)
@register_kl(Gamma, Gamma)
@register_kl(Pareto, Gamma)
@register_kl(Uniform, Gamma)
def to_gamma(p: Any, q: Gamma) -> Tensor:
    a = q.concentration
    normalizer = a * q.rate.log() - a.lgamma()
    return _divergence(p, normalizer + (a - 1) * _mean_log(p) - q.rate * p.mean, _outside(p, 0))


@register_kl(Exponential, Gumbel)
@register_kl(Gamma, Gumbel)
@register_kl(Gumbel, Gumbel)
@register_kl(Normal, Gumbel)
@register_kl(Uniform, Gumbel)
def to_gumbel(p: Any, q: Gumbel) -> Tensor:
    z = (p.mean - q.loc) / q.scale
    powers = (q.loc / q.scale).exp() * _mean_exp_minus(p, q.scale)
    return _divergence(p, -q.scale.log() - z - powers)


@register_kl(Normal, Laplace)
def normal_to_laplace(p: Normal, q: Laplace) -> Tensor:
    z = (p.loc - q.loc) / p.scale
    density = math.sqrt(2 / math.pi) * (-0.5 * z.square()).exp()
    mean_distance = p.scale * (density + z * (z / math.sqrt(2)).erf())
    return _divergence(p, -(2 * q.scale).log() - mean_distance / q.scale)


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def to_uniform(p: Any, q: Uniform) -> Tensor:
    return _divergence(p, -(q.high - q.low).log(), _outside(p, q.low, q.high))


@register_kl(Pareto, Pareto)
@register_kl(Uniform, Pareto)
def to_pareto(p: Any, q: Pareto) -> Tensor:
    mean_log = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)
    return _divergence(p, mean_log, _outside(p, q.scale))


@register_kl(Beta, Beta)
@register_kl(Uniform, Beta)
def to_beta(p: Any, q: Beta) -> Tensor:
    """1 - x is distributed as x, with low and high, or the concentrations, exchanged."""
    if isinstance(p, Beta):
        mirrored: Any = Beta(p.concentration0, p.concentration1, validate_args=False)
    else:
        mirrored = Uniform(1 - p.high, 1 - p.low, validate_args=False)
    a, b = q.concentration1, q.concentration0
    mean_log = (a - 1) * _mean_log(p) + (b - 1) * _mean_log(mirrored) - q._log_normalizer(a, b)
    return _divergence(p, mean_log, _outside(p, 0, 1))


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    mean_log = q._log_norm() + p.mean * q.logits + (-q.probs).log1p()
    return _divergence(p, mean_log, _outside(p, 0, 1))


@register_kl(Bernoulli, Poisson)
def bernoulli_to_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return _divergence(p, p.probs * q.rate.log() - q.rate)


def _infinite(p: Any, q: Any) -> Tensor:
    return p.mean.new_full(broadcast_shapes(p.batch_shape, q.batch_shape), inf)


for _p, _others in {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Uniform, Pareto, ContinuousBernoulli, Beta),
    Gamma: (Uniform, Pareto, ContinuousBernoulli, Beta),
    Gumbel: (Uniform, Pareto, Gamma, Exponential, ContinuousBernoulli, Beta),
    Laplace: (Uniform, Pareto, Gamma, Exponential, ContinuousBernoulli, Beta),
    Normal: (Uniform, Pareto, Gamma, Exponential, ContinuousBernoulli, Beta),
    Pareto: (Uniform, ContinuousBernoulli, Beta),
    Poisson: (Binomial, Bernoulli),
}.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)
