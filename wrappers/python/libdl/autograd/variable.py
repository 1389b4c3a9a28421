# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of Variable."""

from . import Variable as Variable
