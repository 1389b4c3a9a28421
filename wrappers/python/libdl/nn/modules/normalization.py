# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's names."""

from . import names_of_nn

__getattr__ = names_of_nn(__name__)
