# SPDX-License-Identifier: Apache-2.0
"""PyTorch's older words for autocast and scaled gradients on CUDA devices."""

from __future__ import annotations

from .. import amp as _amp
from .._types import dtype as Dtype, float16

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
custom_bwd, custom_fwd = _amp.custom_bwd, _amp.custom_fwd


class autocast(_amp.autocast):
    """libdl.amp.autocast("cuda"). As in PyTorch it changes nothing where there is no CUDA
    device."""

    def __init__(
        self, enabled: bool = True, dtype: Dtype = float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_amp.GradScaler):
    """libdl.amp.GradScaler("cuda"), which is disabled where there is no CUDA device."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
