# SPDX-License-Identifier: Apache-2.0
"""Passes over graphs."""

from . import graph_drawer, shape_prop, split_module

__all__ = ["graph_drawer", "shape_prop", "split_module"]
