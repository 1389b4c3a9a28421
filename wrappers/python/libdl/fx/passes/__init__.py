# SPDX-License-Identifier: Apache-2.0
"""Passes over graphs."""

from . import shape_prop, split_module

__all__ = ["shape_prop", "split_module"]
