# SPDX-License-Identifier: Apache-2.0
"""Intel's GPUs, which are not offered."""

from __future__ import annotations

from .._absent_device import *
from .._absent_device import __all__ as __all__, refused as _refused

globals().update(_refused("xpu"))
