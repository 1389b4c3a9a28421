# SPDX-License-Identifier: Apache-2.0
"""How linear_cross_entropy goes through the batch."""

from __future__ import annotations

import dataclasses

from ..._types import bfloat16, dtype as Dtype, float16, float32, float64

__all__ = ["LinearCrossEntropyOptions"]

_ASPECT = "aspect_ratio"


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How linear_cross_entropy goes through the batch: in chunks of rows, whose scores are computed
    once more in backward instead of being kept. Gradients of any order are as without options.

    Arguments:
        allow_retain_graph: stored but not used; backward may run again in any case
        batch_chunk_size: rows of a chunk; None: all, or what chunking_method tells
        chunking_method: "aspect_ratio": the scores of a chunk take about as much memory as the
            input; "aspect_ratio:N": the Nth part of it; "auto": as "aspect_ratio", unless
            batch_chunk_size is given; None: batch_chunk_size rows
        acc_policy: "auto", "accurate" or "compact": stored but not used
        acc_dtype: the dtype of the loss before it is rounded; None: float32 for 16 bits
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "compact"):
            raise ValueError(
                f"acc_policy is {self.acc_policy!r}, wanted 'auto', 'accurate' or 'compact'"
            )
        method, colon, parts = (self.chunking_method or "auto").partition(":")
        if (
            colon
            and (method != _ASPECT or not parts.isdigit() or int(parts) == 0)
            or (method not in ("auto", _ASPECT))
        ):
            raise ValueError(
                f"chunking_method is {self.chunking_method!r}, wanted 'auto', "
                f"'{_ASPECT}', '{_ASPECT}:N' or None"
            )
        size = self.batch_chunk_size
        if size is not None and (not isinstance(size, int) or size < 1):
            raise ValueError(f"batch_chunk_size is {size!r}, wanted a positive integer or None")
        if self.acc_dtype not in (None, float16, bfloat16, float32, float64):
            raise ValueError(f"acc_dtype is {self.acc_dtype}, wanted a floating dtype or None")

    def rows(self, batch: int, features: int, classes: int) -> int:
        """Of a chunk: a power of two by chunking_method."""
        method = self.chunking_method
        size = self.batch_chunk_size
        if method is None or (method == "auto" and size is not None):
            return min(size or batch, batch)
        expected = -(-batch // -(-classes // features))
        power = 1 << (expected - 1).bit_length()
        chosen = max(1, min(power // int(method.partition(":")[2] or 1), batch))
        if size is not None and min(size, batch) != chosen:
            raise ValueError(
                f"linear_cross_entropy: options have batch_chunk_size={size}, and "
                f"chunking_method={method!r} gives {chosen}; only one is wanted"
            )
        return chosen
