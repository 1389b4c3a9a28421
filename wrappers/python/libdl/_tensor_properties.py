# SPDX-License-Identifier: Apache-2.0
"""What a tensor is, asked as PyTorch's programs do. Conjugates and negatives are computed at once,
so that nothing is ever left to resolve."""

from __future__ import annotations

from . import _C
from ._C import Tensor, overridable
from ._errors import ArgumentValueError
from ._types import memory_format

__all__ = [
    "get_device",
    "is_conj",
    "is_distributed",
    "is_inference",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "resolve_conj",
    "resolve_neg",
]


@overridable
def get_device(input: Tensor) -> int:
    """The number of the tensor's CUDA device; -1 on the CPU."""
    number: int | None = input.device.index
    return -1 if number is None or input.device.type == "cpu" else number


@overridable
def is_conj(input: Tensor) -> bool:
    """False: a conjugate is computed at once."""
    return False


@overridable
def is_neg(input: Tensor) -> bool:
    """False: a negative is computed at once."""
    return False


@overridable
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: a conjugate is computed at once."""
    return input


@overridable
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: a negative is computed at once."""
    return input


@overridable
def is_distributed(input: Tensor) -> bool:
    """False: a tensor lies in one process."""
    return False


@overridable
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    made: bool = _C.tensor_is_inference(input)
    return made


@overridable
def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not 0."""
    if input.numel() != 1:
        raise ArgumentValueError(
            f"is_nonzero: argument 1 (input) has {input.numel()} elements, wanted one"
        )
    return bool(input.item())


@overridable
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return input.shape == other.shape


@overridable
def is_signed(input: Tensor) -> bool:
    """Whether the dtype holds negative numbers."""
    return input.dtype.is_signed


@overridable
def _dim_order(
    self: Tensor, *, ambiguity_check: bool | list[memory_format | None] = False
) -> tuple[int, ...]:
    """The dimensions from the one that lies outermost in memory to the innermost. Those of stride 0
    lie nowhere, and keep their places.

    ambiguity_check: raises if another order is as right; a list: unless the tensor has exactly one
    of these memory formats."""
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    fitting = [
        x for x in formats if (_is_channels_last(self) if x is None else self.is_contiguous())
    ]
    if ambiguity_check is not False and len(fitting) != 1 and _has_several_orders(self):
        raise RuntimeError(
            "dim_order: the tensor does not have one order of its dimensions, nor exactly one of "
            f"the memory formats {formats}"
        )
    last = self.ndim == 4 and self.numel() > 0 and _is_channels_last(self)
    if self.ndim < 2 or self.numel() == 0 or self.is_contiguous() != last:
        return (0, 2, 3, 1) if last else tuple(range(self.ndim))
    order = list(reversed(range(self.ndim)))  # the innermost first
    for i in range(1, self.ndim):
        at = i
        for before in reversed(range(i)):
            inner = _compare_places(self, order[at], order[before])
            if inner < 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif inner > 0:
                break
    pairs = zip(order, order[1:], strict=False)
    if ambiguity_check and any(_compare_places(self, a, b) >= 0 for a, b in pairs):
        raise RuntimeError("dim_order: the tensor does not have one order of its dimensions")
    return tuple(reversed(order))


def _is_channels_last(tensor: Tensor) -> bool:
    """Of images or volumes; libdl.channels_last is None, for there is no such format."""
    return tensor.ndim in (4, 5) and tensor.movedim(1, -1).is_contiguous()


def _has_several_orders(tensor: Tensor) -> bool:
    strides = tensor.stride()
    return 1 in tensor.shape or any(a == b for a, b in zip(strides, strides[1:], strict=False))


def _compare_places(tensor: Tensor, a: int, b: int) -> int:
    """Below 0: the dimension a lies within b; 0: either may."""
    strides, shape = tensor.stride(), tensor.shape
    if 0 in (strides[a], strides[b]):
        return 0
    if strides[a] != strides[b]:
        return -1 if strides[a] < strides[b] else 1
    return -1 if shape[a] < shape[b] else 0


for _method in (get_device, is_conj, is_distributed, is_neg, is_nonzero, resolve_conj, resolve_neg):
    setattr(Tensor, _method.__name__, _method)
_dim_order.__name__ = _dim_order.__qualname__ = "dim_order"
setattr(Tensor, "dim_order", _dim_order)
