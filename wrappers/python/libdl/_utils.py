# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private torch._utils, as far as programs reach for it: exceptions that travel between
threads, indices of devices, groups of tensors as one."""

from __future__ import annotations

import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from ._C import Tensor
from ._functions import cat
from ._types import device as _Device

if TYPE_CHECKING:
    from .nn import Parameter
    from ._types import dtype

T = TypeVar("T")


class KeyErrorMessage(str):
    """A text whose repr is itself, so that a KeyError shows its line breaks."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception with its traceback as text, to be raised again in another thread or process."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raises an exception of the type, with the text of where it was caught. One whose
        constructor does not take a message becomes a RuntimeError."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        try:
            if getattr(self.exc_type, "message", None):
                error = self.exc_type(message=message)
            else:
                error = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None
        raise error


class classproperty(Generic[T]):  # noqa: N801  (used as property is)
    """A property of a class."""

    def __init__(self, func: Callable[..., T]) -> None:
        self._function: Any = (
            func.__func__ if isinstance(func, (classmethod, staticmethod)) else func
        )

    def __get__(self, instance: object, owner: Any = None) -> T:
        answer: T = self._function(type(instance) if owner is None else owner)
        return answer


# -- devices ---------------------------------------------------------------------------------------


def _get_available_device_type() -> str | None:
    """ "cuda", or None without a device."""
    from . import cuda

    return "cuda" if cuda.is_available() else None


def _get_device_module(device_type: str) -> ModuleType:
    """The module of functions for a type of device, as libdl.cuda."""
    module: ModuleType | None = getattr(sys.modules["libdl"], device_type, None)
    if module is None:
        raise RuntimeError(f"_get_device_module: there is no module libdl.{device_type}")
    return module


def _get_current_device_index() -> int:
    """The index of the device that "cuda" means; -1 without one."""
    from . import cuda

    return cuda.current_device() if cuda.is_available() else -1


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """A device's index: of a number, a text or a device; -1 for the CPU if it is allowed. Without
    an index or a device (if optional), the current one."""
    if isinstance(device, str):
        device = _Device(device)
    if isinstance(device, _Device):
        if not allow_cpu and device.type == "cpu":
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        device = -1 if device.type == "cpu" else device.index
    if isinstance(device, int):
        return device
    if device is None and optional:
        return _get_current_device_index()
    raise ValueError(
        f"Expected a torch.device with a specified index or an integer, but got: {device}"
    )


def _get_all_device_indices() -> list[int]:
    """The indices of all devices."""
    from . import cuda

    return list(range(cuda.device_count()))


# -- tensors ---------------------------------------------------------------------------------------


def _element_size(dtype: dtype) -> int:
    """Bytes of one element."""
    size: int = dtype.itemsize
    return size


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """One vector of all elements."""
    return cat([x.reshape(-1) for x in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of the vector with the tensors' shapes."""
    parts = flat.split([x.numel() for x in tensors])
    return tuple(part.view(x.shape) for part, x in zip(parts, tensors, strict=True))


def _take_tensors(tensors: Sequence[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Groups of one dtype, none of more bytes than the limit unless it is a single tensor."""
    groups: dict[str, list[Any]] = defaultdict(lambda: [[], 0])
    for x in tensors:
        size = x.numel() * x.element_size()
        group = groups[x.type()]
        if group[1] + size > size_limit and group[1] > 0:
            yield group[0]
            group = groups[x.type()] = [[], 0]
        group[0].append(x)
        group[1] += size
    for item, _ in groups.values():
        if item:
            yield item


def _reorder_tensors_as(
    tensors: Sequence[Tensor], ordered_tensors: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """The tensors, which are grouped by dtype, in the order of others of the same dtypes."""
    by_type: dict[str, list[Tensor]] = defaultdict(list)
    for x in tensors:
        by_type[x.type()].append(x)
    left = {kind: iter(item) for kind, item in by_type.items()}
    return tuple(next(left[x.type()]) for x in ordered_tensors)


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """A tensor over a storage."""
    whole = storage._whole
    result: Tensor = whole.as_strided(size, stride, storage_offset)
    return result


def _rebuild_tensor_v2(
    storage: object,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: object,
    metadata: object = None,
) -> Tensor:
    """A tensor over a storage, a leaf."""
    result = _rebuild_tensor(storage, storage_offset, size, stride)
    result.requires_grad = requires_grad
    return result


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: object) -> Parameter:
    """A parameter of these elements."""
    from .nn import Parameter

    return Parameter(data, requires_grad)


def set_vital(name: str, attr: str, value: str) -> bool:
    """False: what a program reports of its use is not kept."""
    return False


def is_compiling() -> bool:
    """False: nothing is compiled."""
    return False
