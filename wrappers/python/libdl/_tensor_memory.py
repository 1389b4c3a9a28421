# SPDX-License-Identifier: Apache-2.0
"""Methods of Tensor for the memory that it lies in: other sizes, other memory, storages."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, TYPE_CHECKING

from . import _C
from ._C import Tensor, overridable
from ._errors import DeviceError, DtypeError
from ._functions import empty

if TYPE_CHECKING:
    from .storage import StorageType, TypedStorage, UntypedStorage


@overridable
def resize_(self: Tensor, *sizes: Any, memory_format: object = None) -> Tensor:
    """Gives the tensor another shape, row-major, over the same memory if that is large enough.

    Otherwise it gets new memory with its elements and undefined ones behind them; unlike in
    PyTorch, other tensors over the old memory stay there."""
    if self.requires_grad:
        raise RuntimeError("resize_: self requires grad, and such a tensor cannot be resized")
    shape = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    whole, offset, count = _whole(self), self.storage_offset(), math.prod(shape)
    if offset + count > whole.numel():
        kept, whole, offset = whole[offset:], empty(count, dtype=self.dtype, device=self.device), 0
        whole[: kept.numel()] = kept
    self.data = whole[offset : offset + count].view(shape)
    return self


@overridable
def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: object = None) -> Tensor:
    """Gives the tensor the other's shape; see resize_."""
    return resize_(self, the_template.shape)


def _whole(x: Tensor) -> Tensor:
    """A vector of all elements of the memory that the tensor lies in."""
    count = _C.tensor_storage_nbytes(x) // x.element_size()
    return x.detach().as_strided((count,), (1,), 0)


@overridable
def storage(self: Tensor) -> TypedStorage:
    """The memory that the tensor lies in, as elements of its dtype."""
    from .storage import TypedStorage

    return TypedStorage(_whole(self))


@overridable
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory that the tensor lies in, as bytes."""
    from .storage import UntypedStorage

    return UntypedStorage(_whole(self))


@overridable
def record_stream(self: Tensor, stream: object) -> None:
    """Changes nothing: memory is reused only after every stream that used it has passed that
    point."""


@overridable
def resize(self: Tensor, *sizes: Any) -> Tensor:
    """The elements in another shape of as many; deprecated, as in PyTorch: use reshape.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     torch.tensor([1, 2, 3, 4]).resize(2, 2)
        tensor([[1, 2],
                [3, 4]])
    """
    warnings.warn("resize is deprecated: use reshape, or resize_ in place", stacklevel=2)
    return self.reshape(sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)


@overridable
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """The elements in the other's shape; deprecated, as in PyTorch: use reshape_as."""
    return resize(self, tensor.shape)


@overridable
def set_(
    self: Tensor,
    source: Tensor | TypedStorage | UntypedStorage | None = None,
    storage_offset: int = 0,
    size: int | Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
) -> Tensor:
    """Lets the tensor refer to the memory of another tensor or storage: all of it, or the part that
    offset, size and strides describe. None: to no elements."""
    if source is None:
        whole = empty(0, dtype=self.dtype, device=self.device)
    elif isinstance(source, Tensor):
        whole = source.detach() if size is None else _whole(source)
    else:
        whole = source.elements(self.dtype)
    if whole.device != self.device:
        raise DeviceError(f"set_: argument 2 (source) is on {whole.device}, wanted {self.device}")
    if whole.dtype is not self.dtype:
        raise DtypeError(f"set_: argument 2 (source) is {whole.dtype}, wanted {self.dtype}")
    if size is not None:
        shape = (size,) if isinstance(size, int) else tuple(size)
        steps = _C.strides(empty(shape)) if stride is None else stride
        whole = whole.as_strided(shape, steps, storage_offset)
    self.data = whole
    return self


@overridable
def storage_type(self: Tensor) -> StorageType:
    """FloatStorage and its kin: the type of the tensor's storage()."""
    from .storage import of_dtype

    return of_dtype(self.dtype)


for _method in (
    record_stream,
    resize,
    resize_,
    resize_as,
    resize_as_,
    set_,
    storage,
    storage_type,
    untyped_storage,
):
    setattr(Tensor, _method.__name__, _method)
