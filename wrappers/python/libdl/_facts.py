# SPDX-License-Identifier: Apache-2.0
"""What a tensor is, asked as PyTorch's programs do. Conjugates and negatives are computed at once, so
that nothing is ever left to resolve."""

from __future__ import annotations

from . import _C
from ._C import Tensor
from ._errors import ArgumentValueError

__all__ = [
    "get_device", "is_conj", "is_distributed", "is_inference", "is_neg", "is_nonzero",
    "is_same_size", "is_signed", "resolve_conj", "resolve_neg",
]  # fmt: skip


def get_device(input: Tensor) -> int:
    """The number of the tensor's CUDA device; -1 on the CPU."""
    number: int | None = input.device.index
    return -1 if number is None or input.device.type == "cpu" else number


def is_conj(input: Tensor) -> bool:
    """False: a conjugate is computed at once."""
    return False


def is_neg(input: Tensor) -> bool:
    """False: a negative is computed at once."""
    return False


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: a conjugate is computed at once."""
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: a negative is computed at once."""
    return input


def is_distributed(input: Tensor) -> bool:
    """False: a tensor lies in one process."""
    return False


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    made: bool = _C.tensor_is_inference(input)
    return made


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not 0."""
    if input.numel() != 1:
        raise ArgumentValueError(f"is_nonzero: argument 1 (input) has {input.numel()} elements, wanted one")
    return bool(input.item())


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return input.shape == other.shape


def is_signed(input: Tensor) -> bool:
    """Whether the dtype holds negative numbers."""
    return input.dtype.is_signed


def _dim_order(self: Tensor) -> tuple[int, ...]:
    """The dimensions from the one that lies outermost in memory to the innermost."""
    strides = self.stride()
    return tuple(sorted(range(self.ndim), key=lambda d: -strides[d]))


for _method in (get_device, is_conj, is_distributed, is_neg, is_nonzero, resolve_conj, resolve_neg):
    setattr(Tensor, _method.__name__, _method)
_dim_order.__name__ = _dim_order.__qualname__ = "dim_order"
setattr(Tensor, "dim_order", _dim_order)
