# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's names, and of private ones that programs use."""

from ..normalisation import _BatchNorm as _BatchNorm, _NormBase as _NormBase
from . import names_of_nn

__all__ = ["_BatchNorm", "_NormBase"]

__getattr__ = names_of_nn(__name__)
