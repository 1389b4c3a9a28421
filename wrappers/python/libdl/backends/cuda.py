# SPDX-License-Identifier: Apache-2.0
"""Switches of CUDA's libraries. They are stored and read back: the plugin's kernels are its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)
_SDP = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """Whether a CUDA device can be used: the plugin is loaded, not built in."""
    from .. import cuda

    return cuda.is_available()


def flash_sdp_enabled() -> bool:
    """What enable_flash_sdp stored."""
    return _SDP["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Stored; scaled_dot_product_attention has one kernel."""
    _SDP["flash"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """What enable_mem_efficient_sdp stored."""
    return _SDP["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Stored; scaled_dot_product_attention has one kernel."""
    _SDP["mem_efficient"] = enabled


def math_sdp_enabled() -> bool:
    """What enable_math_sdp stored."""
    return _SDP["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Stored; scaled_dot_product_attention has one kernel."""
    _SDP["math"] = enabled


def cudnn_sdp_enabled() -> bool:
    """What enable_cudnn_sdp stored."""
    return _SDP["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Stored; scaled_dot_product_attention has one kernel."""
    _SDP["cudnn"] = enabled


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Sets the four switches of attention for the time of a with statement."""
    before = dict(_SDP)
    _SDP.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )
    try:
        yield
    finally:
        _SDP.update(before)
