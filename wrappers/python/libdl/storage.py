# SPDX-License-Identifier: Apache-2.0
"""The memory of tensors, as Tensor.storage() and Tensor.untyped_storage() show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import Tensor, device, dtype, uint8

__all__ = ["TypedStorage", "UntypedStorage"]


class _Storage:
    """A vector of all elements of the memory; writes are seen by every tensor that lies there."""

    def __init__(self, whole: Tensor) -> None:
        self._whole = whole

    @property
    def device(self) -> device:
        return self._whole.device

    @property
    def is_cuda(self) -> bool:
        return self._whole.is_cuda

    def __len__(self) -> int:
        return self._whole.numel()

    def __getitem__(self, index: Any) -> Any:
        found = self._whole[index]
        return type(self)(found) if isinstance(index, slice) else found.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._whole[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def size(self) -> int:
        """The number of elements."""
        return len(self)

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._whole.element_size()

    def nbytes(self) -> int:
        """Bytes of all elements."""
        return len(self) * self.element_size()

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._whole.data_ptr()

    def tolist(self) -> list[Any]:
        """The elements as Python's numbers."""
        return list(self._whole.tolist())

    def fill_(self, value: Any) -> Any:
        """Writes one number everywhere."""
        self._whole.fill_(value)
        return self

    def clone(self) -> Any:
        """A copy of the memory."""
        return type(self)(self._whole.clone())

    def is_shared(self) -> bool:
        """False: libdl makes no memory that processes share."""
        return False

    def resize_(self, size: int) -> Any:
        """Raises: memory keeps its size."""
        raise NotImplementedError("storage.resize_: memory keeps its size; Tensor.resize_ resizes a tensor")


class TypedStorage(_Storage):
    """The memory as elements of a dtype."""

    @property
    def dtype(self) -> dtype:
        return self._whole.dtype

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage(self._whole)


class UntypedStorage(_Storage):
    """The memory as bytes."""

    def __init__(self, whole: Tensor) -> None:
        super().__init__(whole.view(uint8))
