# SPDX-License-Identifier: Apache-2.0
"""Causal masks that scaled_dot_product_attention knows as such."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from ... import _functions
from ..._C import Tensor
from ..._overrides import DisableTorchFunctionSubclass
from ..._types import DeviceLike
from .. import functional

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """Where the diagonal of a mask that is not square begins or ends."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask, which scaled_dot_product_attention takes as attn_mask: bool [q, kv]."""

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"CausalBias: variant is {variant!r}, wanted a CausalVariant")
        whole = _functions.ones((seq_len_q, seq_len_kv), dtype=bool)
        offset = seq_len_kv - seq_len_q if variant is CausalVariant.LOWER_RIGHT else 0
        result = _functions.tril(whole, offset).as_subclass(cls)
        result.variant, result.seq_len_q, result.seq_len_kv = variant, seq_len_q, seq_len_kv
        return result

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > "
                "seq_len_kv!",
                stacklevel=3,
            )

    def _materialize(self, device: DeviceLike | None = None) -> Tensor:
        """The mask as a plain tensor."""
        with DisableTorchFunctionSubclass():
            plain = self.as_subclass(Tensor)
            return plain if device is None else plain.to(device)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is functional.scaled_dot_product_attention:
            return cls._dispatch(*args, **kwargs)
        with DisableTorchFunctionSubclass():
            return func(*args, **kwargs)

    @staticmethod
    def _dispatch(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: CausalBias = None,  # type: ignore[assignment]
        dropout_p: float = 0.0,
        is_causal: bool = False,
        *args: Any,
        **kwargs: Any,
    ) -> Tensor:
        if is_causal:
            raise ValueError(
                "scaled_dot_product_attention: is_causal is True, wanted False beside a CausalBias"
            )
        argument = (query, key, value)
        attend = functional.scaled_dot_product_attention
        if attn_mask.seq_len_q == attn_mask.seq_len_kv or (
            attn_mask.variant is CausalVariant.UPPER_LEFT
        ):
            return attend(*argument, None, dropout_p, True, *args, **kwargs)
        return attend(
            *argument, attn_mask._materialize(query.device), dropout_p, False, *args, **kwargs
        )

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return repr(self._materialize())


def _two(name: str, size: tuple[int, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise AssertionError(f"{name}: found {len(size)} sizes, wanted 2")
    return size


def causal_upper_left(*size: int) -> CausalBias:
    """The mask [q, kv] whose diagonal begins in the upper left corner."""
    return CausalBias(CausalVariant.UPPER_LEFT, *_two("causal_upper_left", size))


def causal_lower_right(*size: int) -> CausalBias:
    """The mask [q, kv] whose diagonal ends in the lower right corner."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *_two("causal_lower_right", size))
