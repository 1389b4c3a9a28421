# SPDX-License-Identifier: Apache-2.0
"""PyTorch's switches of exactness. libdl's results are the same to the last bit in every run, and
float32 products are computed in float32: the switches are stored and read back."""

from __future__ import annotations

from ._C import overridable

_STATE = {"deterministic": False, "warn_only": False}
_PRECISION = ["highest"]


@overridable
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Stored; every result is deterministic in either mode."""
    _STATE.update(deterministic=bool(mode), warn_only=bool(warn_only))


@overridable
def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms stored."""
    return _STATE["deterministic"]


@overridable
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What use_deterministic_algorithms stored as warn_only."""
    return _STATE["warn_only"]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """ "default" (0), "warn" (1) or "error" (2), stored as use_deterministic_algorithms does."""
    modes = {"default": 0, "warn": 1, "error": 2}
    mode = modes.get(debug_mode, -1) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        raise RuntimeError(
            f"set_deterministic_debug_mode: debug_mode is {debug_mode!r}, wanted "
            "'default', 'warn', 'error' or 0, 1, 2"
        )
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2; see set_deterministic_debug_mode."""
    return (1 if _STATE["warn_only"] else 2) if _STATE["deterministic"] else 0


def set_float32_matmul_precision(precision: str) -> None:
    """Stored; products of float32 are always computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError(
            f"set_float32_matmul_precision: precision is {precision!r}, wanted "
            "'highest', 'high' or 'medium'"
        )
    _PRECISION[0] = precision


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision stored."""
    return _PRECISION[0]
