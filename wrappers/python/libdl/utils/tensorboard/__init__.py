# SPDX-License-Identifier: Apache-2.0
"""Writing what TensorBoard shows: scalars, histograms, images and text, through its own package."""

from __future__ import annotations

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
