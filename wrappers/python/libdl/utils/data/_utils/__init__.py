# SPDX-License-Identifier: Apache-2.0
"""Parts of the loading of data, where PyTorch keeps them."""

from . import collate, pin_memory, worker

__all__ = ["MP_STATUS_CHECK_INTERVAL", "collate", "pin_memory", "worker"]

MP_STATUS_CHECK_INTERVAL = 5.0
"""Seconds between two looks at whether workers live, in PyTorch; workers here tell of their end."""
