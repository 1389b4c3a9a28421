# SPDX-License-Identifier: Apache-2.0
"""PyTorch's types of tensors, one for each dtype: FloatTensor(2, 3), x.new(), x.type()."""

from __future__ import annotations

from typing import Any

from . import _C
from ._C import Tensor, overridable
from ._creation import tensor
from ._functions import empty
from ._modes import get_default_dtype, set_default_dtype
from ._package_name import shown_name
from ._types import (
    DeviceLike,
    Size,
    bfloat16,
    bool_,
    device as Device,
    dtype as Dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)

_WORDS = {
    float32: "Float",
    float64: "Double",
    float16: "Half",
    bfloat16: "BFloat16",
    int64: "Long",
    int32: "Int",
    int16: "Short",
    int8: "Char",
    uint8: "Byte",
    bool_: "Bool",
}


class TensorType(type):
    """The type of FloatTensor and its kin: they make tensors and answer isinstance."""

    dtype: Dtype
    is_cuda: bool

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.dtype is cls.dtype
            and instance.is_cuda is cls.is_cuda
        )

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


def made(
    function: str,
    dtype: Dtype | None,
    device: Any,
    args: Any,
    named: dict[str, Any],
    kind: type[Tensor] = Tensor,
) -> Tensor:
    """What the older constructors return: without values for sizes, or with those of a sequence.

    A tensor is returned as a view of it, with its history, and must have the dtype; None: any, and
    the default one for what is no tensor. A storage becomes a tensor over its memory."""
    if named and (args or len(named) > 1 or not {"data", "other", "size"} & named.keys()):
        raise TypeError(
            f"{function}: found the arguments {sorted(named)}, wanted sizes, data, size or other"
        )
    value: Any
    if named:
        ((name, value),) = named.items()
    elif len(args) == 1 and not _is_size(args[0]):
        name, value = "size" if isinstance(args[0], Size) else "data", args[0]
        name = "other" if isinstance(value, Tensor) else name
    else:
        name, value = "size", args or (0,)
    if name == "other":
        return _view_of(function, value, dtype, device, kind)
    requested = dtype or get_default_dtype()
    if name == "size":
        if not isinstance(value, (list, tuple)) or not all(map(_is_size, value)):
            raise TypeError(f"{function}: found {value!r} for sizes, wanted integers")
        result = empty([int(n) for n in value], dtype=requested, device=device)
    elif type(value).__name__ in ("TypedStorage", "UntypedStorage") and hasattr(value, "elements"):
        if getattr(value, "dtype", requested) is not requested:
            raise RuntimeError(
                f"{function}: the storage is one of {value.dtype}, wanted {requested}"
            )
        result = value.elements(requested)
    elif isinstance(value, (str, bytes, dict, Tensor)) or not hasattr(value, "__len__"):
        raise TypeError(f"{function}: data is a {type(value).__name__}, wanted sizes or a sequence")
    else:
        result = tensor(value, dtype=requested, device=device)
    made_of: Tensor = result if kind is Tensor else _C.make_subclass(kind, result)
    return made_of


def _is_size(value: Any) -> bool:
    """Whether it stands for a size: an integer, of NumPy or a tensor's too, and no truth value."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    if isinstance(value, Tensor):
        return value.ndim == 0 and value.dtype in (int64, int32, int16, int8, uint8)
    return hasattr(value, "__index__") and not hasattr(value, "__len__")


def _view_of(
    function: str, requested: Any, dtype: Dtype | None, device: Any, kind: type[Tensor]
) -> Tensor:
    if not isinstance(requested, Tensor):
        raise TypeError(f"{function}: other is a {type(requested).__name__}, wanted a tensor")
    if device is not None:
        raise RuntimeError(f"{function}: found a tensor and a device; use tensor.to(device)")
    if dtype is not None and requested.dtype is not dtype:
        raise TypeError(f"{function}: data has dtype {requested.dtype}, wanted {dtype}")
    view: Tensor = _C.as_subclass(requested, kind)
    return view


def _constructed(
    cls: type[Tensor], *args: Any, device: DeviceLike | None = None, **named: Any
) -> Tensor:
    if device is not None and Device(device).type != (expected := _C.default_device().type):
        raise RuntimeError(
            f"Tensor: device is {device}, wanted one of type {expected}, the default"
        )
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
    return TensorType(
        f"{_WORDS[dtype]}Tensor",
        (),
        {"dtype": dtype, "is_cuda": is_cuda, "__doc__": said, "__module__": place},
    )


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


def type_named(values: Any) -> tuple[Dtype, str | None]:
    """The dtype, and the kind of device if one is named, of a dtype, a type or its name.

    Names may begin with torch. as well as libdl., as programs for PyTorch write them. Tensor itself
    stands for the default dtype."""
    if isinstance(values, Dtype):
        return values, None
    if values is Tensor:
        return get_default_dtype(), "cpu"
    if isinstance(values, TensorType):
        return values.dtype, "cuda" if values.is_cuda else "cpu"
    if isinstance(values, str):
        package, _, rest = values.partition(".")
        on_cuda = rest.startswith("cuda.")
        word = rest.removeprefix("cuda.").removesuffix("Tensor")
        for dtype, known in _WORDS.items():
            if package in ("torch", "libdl") and word == known and rest.endswith("Tensor"):
                return dtype, "cuda" if on_cuda else "cpu"
    raise ValueError(
        f"type: found {values!r}, wanted a dtype, a type such as libdl.FloatTensor, or its name"
    )


def set_default_tensor_type(t: Any) -> None:
    """Sets the default dtype and device by an older type or its name; floating types only."""
    if not isinstance(t, (TensorType, str)):
        raise TypeError(
            f"set_default_tensor_type: t is {t!r}, wanted a type such as libdl.FloatTensor"
        )
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
def reinforce(self: Tensor, reward: Any) -> None:
    """Raises, as in PyTorch."""
    raise RuntimeError(
        "reinforce: it is gone from PyTorch, too; use libdl.distributions and log_prob"
    )


for _method in (new, reinforce):
    setattr(Tensor, _method.__name__, _method)
setattr(Tensor, "__new__", _constructed)
for _name in ("rename", "refine_names", "align_to"):
    setattr(Tensor, _name, _refuse_names)
