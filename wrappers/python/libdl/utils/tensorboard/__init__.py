# SPDX-License-Identifier: Apache-2.0
"""Writing what TensorBoard shows: scalars, histograms, images and text, through its own package."""

from __future__ import annotations

from ..._missing import missing, public
from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]

__getattr__ = missing(__name__)
__dir__ = public(__name__)
