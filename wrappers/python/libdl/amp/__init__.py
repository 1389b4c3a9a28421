# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: autocast, and scaled gradients for float16."""

from __future__ import annotations

from . import autocast_mode as autocast_mode, grad_scaler as grad_scaler
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
