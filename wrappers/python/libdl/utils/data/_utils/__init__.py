# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private torch.utils.data._utils, for programs that derive their own iterators."""

from __future__ import annotations

import importlib.util

from ...._utils import ExceptionWrapper as ExceptionWrapper

from . import collate, fetch, pin_memory, signal_handling, worker

__all__ = [
    "MP_STATUS_CHECK_INTERVAL",
    "collate",
    "fetch",
    "pin_memory",
    "signal_handling",
    "worker",
]

IS_WINDOWS = False
HAS_NUMPY = importlib.util.find_spec("numpy") is not None
MP_STATUS_CHECK_INTERVAL = 5.0
"""Seconds between two looks at whether workers live, in PyTorch; workers here tell of their end."""
python_exit_status = False
