# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of Muon."""

from .muon import Muon as Muon
