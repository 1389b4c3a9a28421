# SPDX-License-Identifier: Apache-2.0
"""What is done with the gradients, parameters and layers of modules."""

from . import rnn
from .clip_grad import clip_grad_norm_, clip_grad_value_
from .convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "rnn", "vector_to_parameters",
]  # fmt: skip


import typing as _typing  # noqa: E402

from ..._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
