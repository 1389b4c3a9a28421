# SPDX-License-Identifier: Apache-2.0
"""The memory of tensors, as Tensor.storage() and Tensor.untyped_storage() show it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Self

from ._C import Tensor
from ._creation import tensor
from ._errors import DtypeError
from ._functions import empty
from ._mapped_files import mapped
from ._types import (
    DeviceLike,
    bfloat16,
    bool_,
    complex128,
    complex64,
    device,
    dtype,
    float16,
    float32,
    float64,
    int16,
    int32,
    int64,
    int8,
    uint8,
)

__all__ = [
    "BFloat16Storage",
    "BoolStorage",
    "ByteStorage",
    "CharStorage",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DoubleStorage",
    "FloatStorage",
    "HalfStorage",
    "IntStorage",
    "LongStorage",
    "ShortStorage",
    "Storage",
    "StorageBase",
    "TypedStorage",
    "UntypedStorage",
]


class _Storage:
    """A vector of all elements of the memory; writes are seen by every tensor that lies there."""

    _filename: str | None = None

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
        result = self._whole[index]
        return type(self)(result) if isinstance(index, slice) else result.item()

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

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._whole.data_ptr()

    def tolist(self) -> list[Any]:
        """The elements as Python's numbers."""
        return list(self._whole.tolist())

    def fill_(self, value: Any) -> Self:
        """Writes one number everywhere."""
        self._whole.fill_(value)
        return self

    def copy_(self, source: _Storage, non_blocking: bool = False) -> Self:
        """Writes another storage's elements here, of which there must be as many."""
        self._whole.copy_(source._whole)
        return self

    def clone(self) -> Self:
        """A copy of the memory."""
        return type(self)(self._whole.clone())

    @property
    def filename(self) -> str | None:
        """The file that from_file mapped with shared=True; None of other memory."""
        return self._filename

    def is_shared(self) -> bool:
        """False: libdl makes no memory that processes share."""
        return False

    def resize_(self, size: int) -> Any:
        """Raises: memory keeps its size."""
        raise NotImplementedError(
            "storage.resize_: memory keeps its size; Tensor.resize_ resizes a tensor"
        )

    def elements(self, dtype: dtype) -> Tensor:
        """The memory as a vector of a dtype's elements."""
        return self._whole.view(dtype)


StorageBase = _Storage


class TypedStorage(_Storage):
    """The memory as elements of a dtype.

    Arguments:
        given: how many elements, which are not set; or their values
        wrap_storage: other storage, whose bytes these are
        dtype: of the elements; None: the default dtype
        device: where the elements are
    """

    def __init__(
        self,
        given: Any = 0,
        *,
        wrap_storage: _Storage | None = None,
        dtype: dtype | None = None,
        device: DeviceLike | None = None,
        _internal: bool = False,
    ) -> None:
        if wrap_storage is not None:
            kind = empty(0, dtype=dtype).dtype
            super().__init__(wrap_storage.elements(kind))
        elif isinstance(given, Tensor) and dtype is None:
            super().__init__(given)
        elif isinstance(given, int):
            super().__init__(empty(given, dtype=dtype, device=device))
        else:
            super().__init__(tensor(given, dtype=dtype, device=device))

    @property
    def dtype(self) -> dtype:
        return self._whole.dtype

    def type(self) -> str:
        """The name of its type, as "libdl.FloatStorage"."""
        kind = of_dtype(self.dtype)
        return f"{kind.__module__}.{kind.__name__}"

    @property
    def _untyped_storage(self) -> UntypedStorage:
        return self.untyped()

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        result = UntypedStorage(self._whole)
        result._filename = self._filename
        return result


class UntypedStorage(_Storage):
    """The memory as bytes.

    Arguments:
        whole: how many bytes, which are not set; or their values
        device: where they are
    """

    def __init__(self, whole: Any = 0, *, device: DeviceLike | None = None) -> None:
        if isinstance(whole, int):
            whole = empty(whole, dtype=uint8, device=device)
        elif not isinstance(whole, Tensor):
            whole = tensor(whole, dtype=uint8, device=device)
        super().__init__(whole.view(uint8))

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, mapped.

        Arguments:
            filename: a path
            shared: writes are seen in the file, which is made or made longer where it is too short;
                else they stay in this process
            nbytes: how many
        """
        instance = cls(mapped(filename, shared, nbytes, "UntypedStorage.from_file"))
        instance._filename = os.fspath(filename) if shared else None
        return instance


class StorageType(type):
    """The type of FloatStorage and its kin: they make storages and answer isinstance."""

    dtype: dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype

    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:
        """So many elements of a file, mapped; as UntypedStorage.from_file."""
        count = size * cls.dtype.itemsize
        whole = mapped(filename, shared, count, f"{cls.__name__}.from_file")
        result = TypedStorage(whole.view(cls.dtype))
        result._filename = os.fspath(filename) if shared else None
        return result

    def __call__(cls, given: Any = 0) -> TypedStorage:
        if isinstance(given, int):
            return TypedStorage(empty(given, dtype=cls.dtype))
        return TypedStorage(tensor(given, dtype=cls.dtype))


def _type(word: str, dtype: dtype) -> StorageType:
    said = f"Makes storages of {dtype}: of a size, without values, or of a sequence's values."
    return StorageType(
        f"{word}Storage", (), {"dtype": dtype, "__doc__": said, "__module__": "libdl"}
    )


BFloat16Storage, HalfStorage = _type("BFloat16", bfloat16), _type("Half", float16)
FloatStorage, DoubleStorage = _type("Float", float32), _type("Double", float64)
BoolStorage, ByteStorage, CharStorage = (
    _type("Bool", bool_),
    _type("Byte", uint8),
    _type("Char", int8),
)
ShortStorage, IntStorage, LongStorage = (
    _type("Short", int16),
    _type("Int", int32),
    _type("Long", int64),
)
ComplexFloatStorage = _type("ComplexFloat", complex64)
ComplexDoubleStorage = _type("ComplexDouble", complex128)
Storage = FloatStorage

TYPES = {
    kind.dtype: kind
    for kind in (
        BFloat16Storage,
        HalfStorage,
        FloatStorage,
        DoubleStorage,
        BoolStorage,
        ByteStorage,
        CharStorage,
        ShortStorage,
        IntStorage,
        LongStorage,
        ComplexFloatStorage,
        ComplexDoubleStorage,
    )
}


def of_dtype(dtype: dtype) -> StorageType:
    """The type of storages of a dtype."""
    if dtype not in TYPES:
        raise DtypeError(
            f"storage_type: the dtype is {dtype}, wanted one of those that have a storage type"
        )
    return TYPES[dtype]
