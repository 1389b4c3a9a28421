# SPDX-License-Identifier: Apache-2.0
"""Batch normalisations that keep no statistics, which transforms could not write."""

from __future__ import annotations

from typing import TypeVar

from ..nn.modules.module import Module
from ..nn.modules.batchnorm import _BatchNorm

M = TypeVar("M", bound=Module)


def replace_all_batch_norm_modules_(root: M) -> M:
    """Lets all batch normalisations of a module forget their running statistics, so that they use
    those of the batch; in place. Returns the module."""
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
