# SPDX-License-Identifier: Apache-2.0
"""MKL is not used: products and threads are libdl's own."""

from __future__ import annotations


def is_available() -> bool:
    """False: there is no MKL."""
    return False
