# SPDX-License-Identifier: Apache-2.0
"""PyTorch's place for pipes of datasets: the classes that programs derive theirs from."""

from . import datapipe, iter, map

__all__ = ["datapipe", "iter", "map"]
