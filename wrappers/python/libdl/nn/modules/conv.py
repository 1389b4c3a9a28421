# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's names, and of private ones that programs use."""

from ..convolution import _ConvNd as _ConvNd, _ConvTransposeNd as _ConvTransposeNd
from . import names_of_nn

__all__ = ["_ConvNd", "_ConvTransposeNd"]

__getattr__ = names_of_nn(__name__)
