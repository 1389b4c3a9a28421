# SPDX-License-Identifier: Apache-2.0
"""The settings of PyTorch's compiler, which programs set. There is no compiler."""

from . import config as config
from .._missing import missing

__all__ = ["config"]

__getattr__ = missing(__name__)
