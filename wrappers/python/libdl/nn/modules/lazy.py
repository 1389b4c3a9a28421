# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's classes, and of what programs import from there."""

from ..lazy import LazyModuleMixin as LazyModuleMixin
from ..parameter import is_lazy as is_lazy

__all__ = ["LazyModuleMixin"]
