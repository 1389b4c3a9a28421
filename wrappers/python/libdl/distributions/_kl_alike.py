# SPDX-License-Identifier: Apache-2.0
"""Divergences of two distributions of one type."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from .. import inf, where
from .._C import Tensor
from ..nn.functional import softplus
from .bernoulli import Bernoulli
from .categorical import Categorical
from .kl import register_kl
from .normal import Normal
from .uniform import Uniform


@register_kl(Bernoulli, Bernoulli)
def bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    success = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    failure = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    success = where(q.probs == 0, inf, success)
    failure = where(q.probs == 1, inf, failure)
    return where(p.probs == 0, 0.0, success) + where(p.probs == 1, 0.0, failure)


@register_kl(Categorical, Categorical)
def categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = where(q.probs == 0, inf, terms)
    return where(p.probs == 0, 0.0, terms).sum(-1)


@register_kl(Normal, Normal)
def normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).square()
    shift = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (ratio + shift - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), inf, result)
