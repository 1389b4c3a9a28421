# SPDX-License-Identifier: Apache-2.0
"""Probability distributions, transforms of them, and what lies between two of them.

Parameters are tensors, so that log probabilities, moments and, where has_rsample is true, samples
have gradients with respect to them."""

from . import constraints as constraints, transforms as transforms
from .bernoulli import Bernoulli
from .categorical import Categorical
from .constraint_registry import biject_to, transform_to
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .kl import kl_divergence, register_kl
from .normal import Normal
from .transforms import *
from .uniform import Uniform

__all__ = [
    "Bernoulli", "Categorical", "Distribution", "ExponentialFamily", "Normal", "Uniform",
    "biject_to", "kl_divergence", "register_kl", "transform_to", *transforms.__all__,
]  # fmt: skip


import typing as _typing  # noqa: E402

from .._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
