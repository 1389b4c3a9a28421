# SPDX-License-Identifier: Apache-2.0
"""Choices among kernels of attention: there is one, so that they change nothing."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator, Sequence

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels of scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(
    backends: SDPBackend | Sequence[SDPBackend], set_priority: bool = False
) -> Iterator[None]:
    """Changes nothing: there is one kernel."""
    arguments = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if wrong := [one for one in arguments if not isinstance(one, SDPBackend)]:
        raise TypeError(f"sdpa_kernel: found {wrong}, wanted SDPBackend or a sequence of them")
    yield


_LAZY_MODULES = ("flex_attention",)
