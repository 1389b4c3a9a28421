# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: autocast, and scaled gradients for float16."""

from __future__ import annotations

import typing as _typing

from . import autocast_mode as autocast_mode, grad_scaler as grad_scaler
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

from .._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
