# SPDX-License-Identifier: Apache-2.0
"""Tensors from Python values, arrays and other libraries' tensors."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from . import _C
from ._C import Tensor, from_sequence as _from_sequence, overridable
from ._functions import empty, empty_strided, full, view_as_complex, zeros
from ._modes import get_default_dtype
from ._types import (
    DeviceLike,
    DtypeLike,
    Number,
    bool_,
    complex128,
    complex64,
    device as Device,
    dtype as Dtype,
    float64,
    int64,
)

_NO_SEQUENCES = (str, bytes, dict, set, frozenset)
_KINDS = {bool: 0, int: 1, float: 2, complex: 3}


def _is_array(data: object) -> bool:
    return hasattr(data, "__array_interface__") or hasattr(data, "__dlpack__")


def _plain(data: object) -> Any:
    """The array of data with only __array__, such as a pandas Series, or its objects as a list."""
    if _is_array(data) or not hasattr(data, "__array__"):
        return data
    array = data.__array__()
    return array.tolist() if array.dtype.kind == "O" else array


class _Numbers:
    """The numbers in nested sequences. Python's numbers promote by kind, others by dtype."""

    def __init__(self, data: Any) -> None:
        self.shape: list[int] = []  # filled while descending to the first number
        self.flat: list[Any] = []
        self.own: set[type] = set()
        self.foreign: dict[Any, Dtype] = {}
        self._take(data, 0, True)

    def _take(self, data: Any, depth: int, own: bool) -> None:
        shape = self.shape
        data = _plain(data)
        if own and hasattr(data, "dtype"):
            own = False
            if data.dtype not in self.foreign:
                is_ours = isinstance(data, Tensor)
                self.foreign[data.dtype] = data.dtype if is_ours else _share(data).dtype
        if isinstance(data, Tensor) and data.numel() == 1:
            data = data.item()  # a number, whatever its dimensions, as in PyTorch
        elif isinstance(data, Tensor) or (hasattr(data, "tolist") and not isinstance(data, array)):
            data = data.tolist()
        if isinstance(data, _NO_SEQUENCES) or not hasattr(data, "__len__"):
            if hasattr(data, "item"):
                data = data.item()
            if depth < len(shape):
                raise ValueError(
                    f"tensor: found a number, wanted a sequence of {shape[depth]} in dimension "
                    f"{depth}"
                )
            self.flat.append(data)
            if own:
                self.own.add(type(data))
            return
        count = len(data)
        if depth == len(shape):
            if self.flat:
                raise ValueError(f"tensor: found a sequence in dimension {depth}, wanted a number")
            shape.append(count)
        elif shape[depth] != count:
            raise ValueError(
                f"tensor: found a sequence of {count} in dimension {depth}, wanted {shape[depth]}"
            )
        if count and depth + 1 == len(shape):
            kinds = set(map(type, data))
            if _KINDS.keys() >= kinds:  # a row of Python numbers, the most frequent case
                self.flat.extend(data)
                if own:
                    self.own |= kinds
                return
        for item in data:
            self._take(item, depth + 1, own)

    def dtype(self) -> Dtype:
        """The dtype to which all of them promote."""
        results = list(self.foreign.values())
        default = get_default_dtype()
        if self.own or not results:
            rank = _kind(self.own) if self.own else 2
            results.append(
                (bool_, int64, default, complex128 if default is float64 else complex64)[rank]
            )
        return reduce(lambda a, b: _C.dtype_of_code(_C.dtype_promote(a, b)), results)


def _kind(types: Iterable[type]) -> int:
    highest = 0
    for kind in types:
        rank = _KINDS.get(kind)
        if rank is None:
            if hasattr(kind, "__index__"):
                rank = 1
            elif hasattr(kind, "__float__"):
                rank = 2
            else:
                raise TypeError(f"tensor: found a {kind.__name__}, wanted numbers")
        highest = max(highest, rank)
    return highest


def _from_numbers(numbers: _Numbers, dtype: Dtype | None) -> Tensor:
    flat = numbers.flat
    types = set(map(type, flat))
    kind = _kind(types) if flat else 2
    if dtype is None:
        dtype = numbers.dtype()
    if kind == 3 and dtype.name == "bool":  # compares with 0, so nothing is dropped
        flat = [bool(v) for v in flat]
    elif kind == 3 and not dtype.is_complex:
        raise TypeError(f"tensor: complex numbers do not fit into {dtype}")
    if not types <= _KINDS.keys():
        flat = [v if type(v) in _KINDS else (int, int, float, complex)[kind](v) for v in flat]
    return _C.from_sequence(flat, dtype, numbers.shape)


def _scalar(value: Any, dtype: Dtype) -> Tensor:
    """A 0-d tensor of a Python number; floating dtypes round numbers out of range to infinity."""
    if type(value) is complex and not dtype.is_complex:
        return full((), value, dtype=dtype)
    return _from_sequence([value], dtype, ())


def _as_dtype(dtype: DtypeLike | None) -> Dtype | None:
    if dtype is None or isinstance(dtype, Dtype):
        return dtype
    classes: dict[Any, Dtype] = {bool: bool_, int: int64, float: float64, complex: complex128}
    if dtype not in classes:
        raise TypeError(f"found {dtype!r}, wanted a dtype such as libdl.float32")
    return classes[dtype]


def _move(result: Tensor, dtype: Dtype | None, device: DeviceLike | None) -> Tensor:
    if dtype is not None and result.dtype is not dtype:
        result = result.to(dtype)
    if device is not None and result.device != Device(device):
        result = result.to(device=device)
    return result


def _place(device: DeviceLike | None) -> DeviceLike | None:
    """Where data that lies somewhere already goes; None: it stays."""
    if device is not None:
        return device
    default: Device = _C.default_device()
    return None if default.type == "cpu" else default


@overridable
def tensor(
    data: Any,
    *,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new leaf with a copy of the data.

    Arguments:
        data: a number, nested sequences of numbers, an array or a tensor
        dtype: the element type; None: bool, int64, the default floating or complex dtype, by data
        device: the device; None: the default device
        requires_grad: whether operations on it are recorded
        pin_memory: whether it is in memory that a device copies from by itself

    Example:
        >>> torch.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
        >>> torch.tensor([1, 2], dtype=torch.float32)
        tensor([1., 2.])
    """
    requested = dtype if dtype is None or type(dtype) is Dtype else _as_dtype(dtype)
    kind = type(data)
    if device is not None and _C.default_device().type != "cpu":
        with Device("cpu"):  # not by way of the default device, which may keep no elements
            result = tensor(data, dtype=requested, pin_memory=pin_memory)
        return _move(result, None, device).requires_grad_(requires_grad)
    if kind is list or kind is tuple:
        plain = _from_sequence(data, requested)
        result = _from_numbers(_Numbers(data), requested) if plain is None else plain
        if plain is not None and device is None and not pin_memory:
            if requires_grad:
                result.requires_grad = True
            return result
    elif kind is float or kind is int or kind is bool or kind is complex:
        result = full((), data) if requested is None else _scalar(data, requested)
    elif isinstance(data, Tensor):
        result, device = data.detach().clone(), _place(device)
    elif not _is_array(data) and hasattr(data, "__array__"):
        return tensor(
            _plain(data),
            dtype=requested,
            device=device,
            requires_grad=requires_grad,
            pin_memory=pin_memory,
        )
    elif _is_array(data):  # NumPy's scalars too: their dtype counts
        result, device = _share(data).clone(), _place(device)
    else:
        result = _from_numbers(_Numbers(data), requested)
    result = _move(result, requested, device)
    if pin_memory:
        result = _C.pin_memory(result, None)
    if requires_grad:
        result.requires_grad = True
    return result


def _share(data: object) -> Tensor:
    if hasattr(data, "__array_interface__"):
        return from_numpy(data)
    return from_dlpack(data)


@overridable
def as_tensor(
    data: Any, dtype: DtypeLike | None = None, device: DeviceLike | None = None
) -> Tensor:
    """The data as a tensor: a tensor itself, an array's memory shared, or a copy of numbers.

    Example:
        >>> x = torch.tensor([1, 2])
        >>> torch.as_tensor(x) is x
        True
        >>> torch.as_tensor([1, 2])
        tensor([1, 2])
    """
    if isinstance(data, Tensor):
        return _move(data, _as_dtype(dtype), _place(device))
    data = _plain(data)
    if _is_array(data) and (hasattr(data, "__setitem__") or not hasattr(data, "dtype")):
        return _move(_share(data), _as_dtype(dtype), _place(device))
    return tensor(data, dtype=dtype, device=device)


@overridable
def asarray(
    obj: Any,
    *,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """as_tensor with control over copying: copy=True always copies, copy=False never does. The
    bytes of an object with the buffer protocol are read as elements of dtype, see frombuffer.
    requires_grad: None, as the data; False cuts a history off, and switches a leaf off."""
    if _is_buffer(obj):
        read = _in_buffer(obj) if dtype is None else dtype
        shared = frombuffer(obj, dtype=read)
        shared = shared.clone() if copy else shared
        shared = _move(shared, None, _place(device))
        return shared.requires_grad_() if requires_grad else shared
    if copy and not isinstance(obj, Tensor):
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    obj = _plain(obj)
    if copy is False:
        if not isinstance(obj, Tensor) and not _is_array(obj):
            raise ValueError("asarray: copy=False, but the data can only be copied")
        obj = as_tensor(obj)
    result = as_tensor(obj, dtype, device)
    if copy is False and result is not obj:
        raise ValueError(
            f"asarray: copy=False, but the data is {obj.dtype} on {obj.device}, and "
            f"{result.dtype} on {result.device} is wanted"
        )
    if copy and result is obj:
        result = result.clone()
    if requires_grad and not result.requires_grad:
        result.requires_grad_()
    if requires_grad is False and result.requires_grad:
        result = result.requires_grad_(False) if result.is_leaf else result.detach()
    return result


def _is_buffer(obj: Any) -> bool:
    """Whether only the buffer protocol tells what obj holds."""
    if isinstance(obj, (Tensor, list, tuple, int, float)) or hasattr(obj, "__array_interface__"):
        return False
    try:
        memoryview(obj)
    except TypeError:
        return False
    return not (hasattr(obj, "__dlpack__") or hasattr(obj, "__array__"))


def _in_buffer(obj: Any) -> Dtype:
    """The dtype of what a buffer says that it holds; bytes else."""
    from . import _types

    name = _BUFFERS.get((memoryview(obj).format or "B").lstrip("<@="), "uint8")
    return getattr(_types, name)


_BUFFERS = {  # of the struct module's letters
    "?": "bool",
    "b": "int8",
    "h": "int16",
    "H": "uint16",
    "i": "int32",
    "I": "uint32",
    "l": "int64",
    "q": "int64",
    "L": "uint64",
    "Q": "uint64",
    "e": "float16",
    "f": "float32",
    "d": "float64",
}

from_numpy = _C.from_numpy


def frombuffer(
    buffer: Any,
    *,
    dtype: DtypeLike,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A one-dimensional tensor that shares the bytes of an object with the buffer protocol."""
    requested = _as_dtype(dtype)
    if requested is None:
        raise TypeError("frombuffer: argument 2 (dtype) is None, wanted a dtype")
    try:
        view = memoryview(buffer).cast("B")
    except TypeError as error:
        raise ValueError(f"frombuffer: argument 1 (buffer) is no buffer: {error}") from None
    size = requested.itemsize
    if len(view) == 0 or count == 0:
        raise ValueError(
            f"frombuffer: the buffer has {len(view)} bytes and argument 3 (count) is {count}, "
            "wanted neither to be 0"
        )
    if not 0 <= offset < len(view):
        raise ValueError(
            f"frombuffer: argument 4 (offset) is {offset}, wanted 0 to {len(view) - 1} in a buffer "
            f"of {len(view)} bytes"
        )
    left = len(view) - offset
    if count > 0 and count * size > left:
        raise ValueError(
            f"frombuffer: argument 3 (count) is {count}, that is {count * size} bytes, wanted no "
            f"more than the {left} behind the offset"
        )
    if count < 0 and left % size:
        raise ValueError(
            f"frombuffer: found {left} bytes behind the offset, wanted a multiple of the "
            f"element size {size}"
        )
    view = view[offset : offset + count * size] if count > 0 else view[offset:]
    result: Tensor = _C.from_buffer(view).view(requested).detach()  # not a view of the byte tensor
    if requires_grad:
        result.requires_grad = True
    return result


from_dlpack = _C.from_dlpack


def complex_(real: Tensor, imag: Tensor) -> Tensor:
    """A complex tensor from its real and imaginary parts."""
    from ._functions import stack

    return view_as_complex(stack([real, imag], dim=-1))


@overridable
def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """libdl.tensor with this tensor's dtype and device as defaults."""
    return tensor(
        data,
        dtype=dtype or self.dtype,
        device=device or self.device,
        requires_grad=requires_grad,
    )


def _sizes(values: tuple[Any, ...], size: Sequence[int] | None) -> Any:
    if size is not None:
        return size
    return values[0] if len(values) == 1 and not isinstance(values[0], int) else values


@overridable
def new_empty(
    self: Tensor,
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: object = None,
    pin_memory: bool = False,
) -> Tensor:
    """libdl.empty with this tensor's dtype and device as defaults."""
    return empty(
        _sizes(sizes, size),
        dtype=dtype or self.dtype,
        device=device or self.device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )


@overridable
def new_zeros(
    self: Tensor,
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: object = None,
    pin_memory: bool = False,
) -> Tensor:
    """libdl.zeros with this tensor's dtype and device as defaults.

    Example:
        >>> torch.tensor([1, 2]).new_zeros(3)
        tensor([0, 0, 0])
    """
    return zeros(
        _sizes(sizes, size),
        dtype=dtype or self.dtype,
        device=device or self.device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )


@overridable
def new_ones(
    self: Tensor,
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: object = None,
    pin_memory: bool = False,
) -> Tensor:
    """libdl.ones with this tensor's dtype and device as defaults.

    Example:
        >>> torch.tensor([1, 2]).new_ones(2, 2)
        tensor([[1, 1],
                [1, 1]])
    """
    return new_full(
        self,
        _sizes(sizes, size),
        1,
        dtype=dtype,
        device=device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )


@overridable
def new_full(
    self: Tensor,
    size: Sequence[int],
    fill_value: Number,
    *,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: object = None,
    pin_memory: bool = False,
) -> Tensor:
    """libdl.full with this tensor's dtype and device as defaults."""
    return full(
        size,
        fill_value,
        dtype=dtype or self.dtype,
        device=device or self.device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )


@overridable
def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: object = None,
    pin_memory: bool = False,
) -> Tensor:
    """libdl.empty_strided with this tensor's dtype and device as defaults."""
    return empty_strided(
        size,
        stride,
        dtype=dtype or self.dtype,
        device=device or self.device,
        requires_grad=requires_grad,
    )


for _method in (new_tensor, new_empty, new_empty_strided, new_zeros, new_ones, new_full):
    setattr(Tensor, _method.__name__, _method)
_C.register("to_tensor", as_tensor)
assert complex64.is_complex


@overridable
def scalar_tensor(
    s: Number,
    *,
    dtype: Dtype | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A 0-d tensor of a number, of the default dtype unless another is given."""
    return full(
        (), s, dtype=dtype or get_default_dtype(), device=device, requires_grad=requires_grad
    )


# Modes see these, and classes do not: they take the values of what they are given.
for _function in (as_tensor, asarray, tensor):
    setattr(_function, "of_values", True)
