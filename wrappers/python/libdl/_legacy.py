# SPDX-License-Identifier: Apache-2.0
"""PyTorch's first words for tensors: a type for each dtype, FloatTensor(2, 3), x.new(), x.type()."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from . import _C
from ._C import Tensor, overridable
from ._creation import tensor
from ._errors import DeviceError, DtypeError
from ._functions import empty, full
from ._modes import get_default_dtype, set_default_dtype
from ._info import shown_name
from ._types import (
    DeviceLike, Size, bfloat16, bool_, device as Device, dtype as Dtype, float16, float32, float64, int8, int16,
    int32, int64, uint8,
)  # fmt: skip

_WORDS = {
    float32: "Float", float64: "Double", float16: "Half", bfloat16: "BFloat16", int64: "Long",
    int32: "Int", int16: "Short", int8: "Char", uint8: "Byte", bool_: "Bool",
}  # fmt: skip


class TensorType(type):
    """The type of FloatTensor and its kin: they make tensors and answer isinstance."""

    dtype: Dtype
    is_cuda: bool

    def __instancecheck__(cls, instance: object) -> bool:
        return (isinstance(instance, Tensor) and instance.dtype is cls.dtype
                and instance.is_cuda is cls.is_cuda)  # fmt: skip

    def __call__(cls, *args: Any, device: DeviceLike | None = None, **named: Any) -> Tensor:
        kind = "cuda" if cls.is_cuda else "cpu"
        if device is not None and Device(device).type != kind:
            raise RuntimeError(f"{cls.__name__}: device is {device}, wanted one of type {kind}")
        if named.keys() == {"other"} or (len(args) == 1 and isinstance(args[0], Tensor)):
            return made(cls.__name__, cls.dtype, device, args, named)
        return made(cls.__name__, cls.dtype, device or kind, args, named)

    def __repr__(cls) -> str:
        return f"<class '{cls}'>"

    def __str__(cls) -> str:
        return f"{shown_name()}.{'cuda.' if cls.is_cuda else ''}{cls.__name__}"


def made(function: str, dtype: Dtype | None, device: Any, args: Any, named: dict[str, Any],
         kind: type[Tensor] = Tensor) -> Tensor:  # fmt: skip
    """What the older constructors return: without values for sizes, or with those of a sequence.

    A tensor is returned as a view of it, with its history, and must have the dtype; None: any, and
    the default one for what is no tensor. A storage becomes a tensor over its memory."""
    if named and (args or len(named) > 1 or not {"data", "other", "size"} & named.keys()):
        raise TypeError(f"{function}: found the arguments {sorted(named)}, wanted sizes, data, "
                        "size or other")  # fmt: skip
    given: Any
    if named:
        ((name, given),) = named.items()
    elif len(args) == 1 and not _is_size(args[0]):
        name, given = "size" if isinstance(args[0], Size) else "data", args[0]
        name = "other" if isinstance(given, Tensor) else name
    else:
        name, given = "size", args or (0,)
    if name == "other":
        return _view_of(function, given, dtype, device, kind)
    wanted = dtype or get_default_dtype()
    if name == "size":
        if not isinstance(given, (list, tuple)) or not all(map(_is_size, given)):
            raise TypeError(f"{function}: found {given!r} for sizes, wanted integers")
        found = empty([int(n) for n in given], dtype=wanted, device=device)
    elif type(given).__name__ in ("TypedStorage", "UntypedStorage") and hasattr(given, "elements"):
        if getattr(given, "dtype", wanted) is not wanted:
            raise RuntimeError(f"{function}: the storage is one of {given.dtype}, wanted {wanted}")
        found = given.elements(wanted)
    elif isinstance(given, (str, bytes, dict, Tensor)) or not hasattr(given, "__len__"):
        raise TypeError(f"{function}: data is a {type(given).__name__}, wanted sizes or a sequence")
    else:
        found = tensor(given, dtype=wanted, device=device)
    made_of: Tensor = found if kind is Tensor else _C.make_subclass(kind, found)
    return made_of


def _is_size(value: Any) -> bool:
    """Whether it stands for a size: an integer, of NumPy or a tensor's too, and no truth value."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    if isinstance(value, Tensor):
        return value.ndim == 0 and value.dtype in (int64, int32, int16, int8, uint8)
    return hasattr(value, "__index__") and not hasattr(value, "__len__")


def _view_of(function: str, given: Any, dtype: Dtype | None, device: Any,
             kind: type[Tensor]) -> Tensor:  # fmt: skip
    if not isinstance(given, Tensor):
        raise TypeError(f"{function}: other is a {type(given).__name__}, wanted a tensor")
    if device is not None:
        raise RuntimeError(f"{function}: found a tensor and a device; use tensor.to(device)")
    if dtype is not None and given.dtype is not dtype:
        raise TypeError(f"{function}: data has dtype {given.dtype}, wanted {dtype}")
    view: Tensor = _C.as_subclass(given, kind)
    return view


def _constructed(cls: type[Tensor], *args: Any, device: DeviceLike | None = None,
                 **named: Any) -> Tensor:  # fmt: skip
    if device is not None and Device(device).type != (wanted := _C.default_device().type):
        raise RuntimeError(f"Tensor: device is {device}, wanted one of type {wanted}, the default")
    return made("Tensor", None, device, args, named, cls)


def _type(dtype: Dtype, is_cuda: bool) -> TensorType:
    said = f"Makes tensors of {dtype}: of sizes, without values, or of a sequence's values."
    place = "libdl.cuda" if is_cuda else "libdl"
    if not is_cuda:
        name = f"{_WORDS[dtype]}Tensor"
        said += f"""

    Example:
        >>> torch.{name}(2, 3).shape
        libdl.Size([2, 3])
        >>> torch.{name}([0, 1]).dtype
        {dtype}
    """
    return TensorType(f"{_WORDS[dtype]}Tensor", (), {
        "dtype": dtype, "is_cuda": is_cuda, "__doc__": said, "__module__": place})  # fmt: skip


FloatTensor, DoubleTensor = _type(float32, False), _type(float64, False)
HalfTensor, BFloat16Tensor = _type(float16, False), _type(bfloat16, False)
LongTensor, IntTensor, ShortTensor = _type(int64, False), _type(int32, False), _type(int16, False)
CharTensor, ByteTensor, BoolTensor = _type(int8, False), _type(uint8, False), _type(bool_, False)


def cuda_types() -> dict[str, TensorType]:
    """libdl.cuda.FloatTensor and its kin, by name."""
    return {f"{word}Tensor": _type(dtype, True) for dtype, word in _WORDS.items()}


def type_name(x: Tensor) -> str:
    """libdl.FloatTensor, libdl.cuda.LongTensor, ..."""
    word = _WORDS.get(x.dtype, x.dtype.name.capitalize())
    kind = "" if x.is_cpu else f"{x.device.type}."
    return f"{shown_name()}.{kind}{word}Tensor"


def type_named(given: Any) -> tuple[Dtype, str | None]:
    """The dtype, and the kind of device if one is named, of a dtype, a type or its name.

    Names may begin with torch. as well as libdl., as programs for PyTorch write them. Tensor itself
    stands for the default dtype."""
    if isinstance(given, Dtype):
        return given, None
    if given is Tensor:
        return get_default_dtype(), "cpu"
    if isinstance(given, TensorType):
        return given.dtype, "cuda" if given.is_cuda else "cpu"
    if isinstance(given, str):
        package, _, rest = given.partition(".")
        on_cuda = rest.startswith("cuda.")
        word = rest.removeprefix("cuda.").removesuffix("Tensor")
        for dtype, known in _WORDS.items():
            if package in ("torch", "libdl") and word == known and rest.endswith("Tensor"):
                return dtype, "cuda" if on_cuda else "cpu"
    raise ValueError(f"type: found {given!r}, wanted a dtype, a type such as libdl.FloatTensor, or its name")


def set_default_tensor_type(t: Any) -> None:
    """Sets the default dtype and device by an older type or its name; floating types only."""
    if not isinstance(t, (TensorType, str)):
        raise TypeError(f"set_default_tensor_type: t is {t!r}, wanted a type such as libdl.FloatTensor")
    dtype, kind = type_named(t)
    if not dtype.is_floating_point:
        raise TypeError(f"set_default_tensor_type: t is {t}, wanted a floating type")
    set_default_dtype(dtype)
    _C.set_default_device(kind)


@overridable
def new(self: Tensor, *args: Any, device: DeviceLike | None = None, **named: Any) -> Tensor:
    """A tensor of this one's dtype and device: of sizes, without values, or of a sequence's values.

    Example:
        >>> torch.tensor([1, 2]).new([3, 4])
        tensor([3, 4])
    """
    if named.keys() == {"other"} or (len(args) == 1 and isinstance(args[0], Tensor)):
        return made("new", self.dtype, device, args, named)
    return made("new", self.dtype, device or self.device, args, named)


@overridable
def _refuse_names(self: Tensor, *names: Any, **renamed: Any) -> Tensor:
    """Raises: dimensions have no names."""
    raise NotImplementedError("dimensions have no names: use their numbers")


@overridable
def resize_(self: Tensor, *sizes: Any, memory_format: object = None) -> Tensor:
    """Gives the tensor another shape, row-major, over the same memory if that is large enough.

    Otherwise it gets new memory with its elements and undefined ones behind them; unlike in PyTorch,
    other tensors over the old memory stay there."""
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
def storage(self: Tensor) -> Any:
    """The memory that the tensor lies in, as elements of its dtype."""
    from .storage import TypedStorage

    return TypedStorage(_whole(self))


@overridable
def untyped_storage(self: Tensor) -> Any:
    """The memory that the tensor lies in, as bytes."""
    from .storage import UntypedStorage

    return UntypedStorage(_whole(self))


@overridable
def record_stream(self: Tensor, stream: Any) -> None:
    """Changes nothing: memory is reused only after every stream that used it has passed that point."""


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
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None,
         stride: Any = None) -> Tensor:  # fmt: skip
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
def storage_type(self: Tensor) -> Any:
    """FloatStorage and its kin: the type of the tensor's storage()."""
    from .storage import of_dtype

    return of_dtype(self.dtype)


@overridable
def reinforce(self: Tensor, reward: Any) -> None:
    """Raises, as in PyTorch."""
    raise RuntimeError("reinforce: it is gone from PyTorch, too; use libdl.distributions and log_prob")


@overridable
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replaces each element by callable(element, the other's); slow, for experiments."""
    return _mapped(self, callable, tensor)


@overridable
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replaces each element by callable(element, x's, y's); slow, for experiments."""
    return _mapped(self, callable, x, y)


def _mapped(self: Tensor, function: Callable[..., Any], *others: Tensor) -> Tensor:
    if self.requires_grad or any(x.requires_grad for x in others):
        raise RuntimeError("map_: a tensor requires grad, and functions of the host have none")
    rows = [self, *(x.expand(self.shape) for x in others)]
    values = map(function, *(x.reshape(-1).tolist() for x in rows))
    self.copy_(tensor(list(values), dtype=self.dtype).view(self.shape))
    return self


@overridable
def scalar_tensor(s: Any, *, dtype: Dtype | None = None, device: DeviceLike | None = None,
                  requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A 0-d tensor of a number, of the default dtype unless another is given."""
    return full((), s, dtype=dtype or get_default_dtype(), device=device, requires_grad=requires_grad)


for _method in (
    map2_, map_, new, record_stream, reinforce, resize, resize_, resize_as, resize_as_, set_, storage,
    storage_type, untyped_storage,
):  # fmt: skip
    setattr(Tensor, _method.__name__, _method)
setattr(Tensor, "__new__", _constructed)
for _name in ("rename", "refine_names", "align_to"):
    setattr(Tensor, _name, _refuse_names)


class _Symbolic:
    """A name for annotations and isinstance: sizes are Python's numbers, and no object is one."""

    def __init__(self, *args: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__}: sizes are Python's own numbers")


class SymInt(_Symbolic):
    __doc__ = _Symbolic.__doc__


class SymFloat(_Symbolic):
    __doc__ = _Symbolic.__doc__


class SymBool(_Symbolic):
    __doc__ = _Symbolic.__doc__
