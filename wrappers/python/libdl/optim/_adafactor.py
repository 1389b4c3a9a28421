# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of Adafactor."""

from .adafactor import Adafactor as Adafactor
