# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's names, and of one that is only here."""

from ..multihead import NonDynamicallyQuantizableLinear
from . import names_of_nn

__all__ = ["NonDynamicallyQuantizableLinear"]

__getattr__ = names_of_nn(__name__)
