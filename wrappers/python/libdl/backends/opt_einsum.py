# SPDX-License-Identifier: Apache-2.0
"""The package opt_einsum is not used: einsum contracts from left to right."""

from __future__ import annotations

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """False: the package is not used, installed or not."""
    return False
