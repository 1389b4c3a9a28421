# SPDX-License-Identifier: Apache-2.0
"""Small types: dtypes, devices, sizes, generators, finfo and iinfo."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex, TypeAlias, TypedDict, overload

from . import _C
from ._C import Tensor
from ._package_name import shown_name

Number: TypeAlias = bool | int | float | complex


class dtype:
    """An element type. There is one object for each: libdl.float32 and the others.

    Example:
        >>> x = torch.zeros(2, dtype=torch.float16)
        >>> x.dtype, x.dtype.itemsize, x.dtype.is_floating_point
        (libdl.float16, 2, True)
    """

    __slots__ = ("code", "name", "itemsize", "is_floating_point", "is_complex", "is_signed")

    code: int
    name: str
    itemsize: int
    is_floating_point: bool
    is_complex: bool
    is_signed: bool

    def __init__(self, code: int) -> None:
        self.code = code
        self.name = _C.dtype_name(code)
        self.itemsize = _C.dtype_size(code)
        self.is_floating_point = "float" in self.name
        self.is_complex = "complex" in self.name
        self.is_signed = not (self.name.startswith("uint") or self.name == "bool")

    def __repr__(self) -> str:
        return f"{shown_name()}.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: object) -> dtype:
        return self

    def to_complex(self) -> dtype:
        if self.is_complex:
            return self
        if self.name not in _COMPLEX_OF:
            raise RuntimeError(f"to_complex: there is no complex dtype of {self.name}")
        return _COMPLEX_OF[self.name]

    def to_real(self) -> dtype:
        return _REAL_OF.get(self.name, self)


dtype.__module__ = "libdl"
_C.register("dtype", dtype)


def _make(name: str) -> dtype:
    code = getattr(_C, f"LIBDL_DTYPE_{name.upper()}")
    result = dtype(code)
    _C.register_dtype(code, result)
    return result


bool_: dtype = _make("bool")
uint8: dtype = _make("uint8")
uint16: dtype = _make("uint16")
uint32: dtype = _make("uint32")
uint64: dtype = _make("uint64")
int8: dtype = _make("int8")
int16: dtype = _make("int16")
int32: dtype = _make("int32")
int64: dtype = _make("int64")
float16: dtype = _make("float16")
bfloat16: dtype = _make("bfloat16")
float32: dtype = _make("float32")
float64: dtype = _make("float64")
complex64: dtype = _make("complex64")
complex128: dtype = _make("complex128")


@_C.overridable
def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The dtype in which an operator computes with elements of both dtypes."""
    return _C.dtype_of_code(_C.dtype_promote(type1, type2))


@_C.overridable
def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether values of one dtype may be stored into a tensor of another."""
    return _C.dtype_can_cast(from_, to)


can_cast.__module__ = promote_types.__module__ = "libdl"


class _Unserved:
    """In place of a number that the core would know a dtype or a device by: it refuses to be
    one."""

    __slots__ = ("_reason",)

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __index__(self) -> int:
        raise NotImplementedError(self._reason)


# Element types that no tensor has here: bytes of one element, and what numbers they hold.
_NAMED_ONLY = {
    **dict.fromkeys(
        (
            "float8_e4m3fn",
            "float8_e4m3fnuz",
            "float8_e5m2",
            "float8_e5m2fnuz",
            "float8_e8m0fnu",
            "float4_e2m1fn_x2",
        ),
        1,
    ),
    "complex32": 4,
    "bcomplex32": 4,
    **dict.fromkeys((f"{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)), 1),
    **dict.fromkeys(("quint8", "qint8", "quint4x2", "quint2x4", "bits8"), 1),
    "qint32": 4,
    "bits16": 2,
}


def _name(name: str, itemsize: int) -> dtype:
    instance = object.__new__(dtype)
    reason = f"no tensor has the dtype {name}: it can be named, and finfo tells what it would hold"
    instance.code = _Unserved(reason)  # type: ignore[assignment]
    instance.name, instance.itemsize = name, itemsize
    instance.is_floating_point, instance.is_complex = "float" in name, "complex" in name
    instance.is_signed = not name.startswith(("uint", "quint", "bits")) and name != "float8_e8m0fnu"
    return instance


NAMED_ONLY: dict[str, dtype] = {name: _name(name, size) for name, size in _NAMED_ONLY.items()}

_COMPLEX_OF = {"float16": complex64, "float32": complex64, "float64": complex128}
_REAL_OF = {
    "complex32": float16,
    "bcomplex32": bfloat16,
    "complex64": float32,
    "complex128": float64,
}


def by_name(name: str) -> dtype:
    for result in (
        bool_,
        uint8,
        uint16,
        uint32,
        uint64,
        int8,
        int16,
        int32,
        int64,
        float16,
        bfloat16,
        float32,
        float64,
        complex64,
        complex128,
    ):
        if result.name == name:
            return result
    if name in NAMED_ONLY:
        return NAMED_ONLY[name]
    raise ValueError(f"no dtype is called {name!r}")


# PyTorch's types of devices that no tensor is on here: programs compare with them.
_NAMED_DEVICES = (
    "fpga",
    "hip",
    "hpu",
    "ideep",
    "ipu",
    "lazy",
    "maia",
    "mkldnn",
    "mps",
    "mtia",
    "opencl",
    "opengl",
    "privateuseone",
    "ve",
    "vulkan",
    "xla",
    "xpu",
)


class _DevicesBefore(threading.local):
    def __init__(self) -> None:
        self.stack: list[device] = []


_devices_before = _DevicesBefore()


class device:
    """Where a tensor's elements are: device("cpu"), device("cuda", 1), device("cuda:1").

    Tensors on device("meta") have shape, strides, dtype and history, but no elements, and cost no
    memory: a large module is made there at once, then filled by `load_state_dict(assign=True)` or
    `to_empty`. `load_plugin` adds further types of devices.

    Example:
        >>> torch.device("cuda", 1)
        device(type='cuda', index=1)
        >>> torch.zeros(2).device.type
        'cpu'
    """

    __slots__ = ("_type", "_index", "type", "index")

    _type: int
    _index: int
    type: str
    index: int | None

    def __init__(self, type: str | int | device, index: int | None = None) -> None:
        if isinstance(type, device):
            index = type.index
            type = type.type
        elif isinstance(type, int):
            type, index = _type_and_index(type, index)
        elif ":" in type:
            type, _, digits = type.partition(":")
            if index is not None or not digits.isdigit():
                raise RuntimeError(f"device: {type + ':' + digits!r} is no device")
            index = int(digits)
        number = _C.device_type_named(type)
        if number == 0:
            number = _unserved_type(type)
        self.type = type
        self.index = index
        self._type = number
        self._index = 0 if type == "meta" else index or 0  # there is one, whatever its index

    def __enter__(self) -> device:
        """Inside a with block, functions that make tensors use this device if none is given."""
        _devices_before.stack.append(_C.default_device())
        _C.set_default_device(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _C.set_default_device(_devices_before.stack.pop())

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)


def _unserved_type(type: str) -> Any:
    """In place of a device's number, for a type that can be named."""
    if type not in _NAMED_DEVICES:
        raise RuntimeError(f"device: {type!r} is neither cpu, cuda, meta nor a loaded plugin's")
    return _Unserved(
        f"device: no tensor can be on {type!r}: the devices are cpu, cuda, meta and "
        "those of loaded plugins"
    )


def _type_and_index(number: int, index: int | None) -> tuple[str, int | None]:
    if index is None:  # device(1) is the accelerator's number 1
        return "cuda", number
    name: str | None = _C.device_type_name(number)
    if name is None:
        return f"type {number}", index
    return name, None if name in ("cpu", "meta") and index == 0 else index


device.__module__ = "libdl"
_C.register("device", device)
_C.register_cpu(device("cpu"))

DtypeLike: TypeAlias = dtype | type[bool] | type[int] | type[float] | type[complex]
DeviceLike: TypeAlias = device | str | int


def _integers(sizes: tuple[Any, ...]) -> list[int]:
    results = []
    for place, size in enumerate(sizes):
        try:
            results.append(int(operator.index(size)))
        except TypeError:
            raise TypeError(
                f"Size: item {place} is a {type(size).__name__}, wanted an integer"
            ) from None
    return results


class Size(tuple[int, ...]):
    """A tensor's sizes: a tuple with numel(), their product.

    Example:
        >>> shape = torch.zeros(2, 3).shape
        >>> shape, shape[0], shape.numel()
        (libdl.Size([2, 3]), 2, 6)
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        instance: Size = tuple.__new__(cls, sizes)
        return (
            instance
            if all(type(x) is int for x in instance)
            else tuple.__new__(cls, _integers(instance))
        )

    def numel(self) -> int:
        product = 1
        for size in self:
            product *= size
        return product

    def __repr__(self) -> str:
        return f"{shown_name()}.Size([{', '.join(map(str, self))}])"

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Size: ...
    def __getitem__(self, key: Any) -> Any:
        result = tuple.__getitem__(self, key)
        return Size(result) if isinstance(key, slice) else result

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]
        return Size(tuple.__add__(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)


Size.__module__ = "libdl"
_C.register("size", Size)


class layout:
    """What a tensor shows of how its elements are kept: libdl.strided or libdl.sparse_coo."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"{shown_name()}.{self._name}"

    def __reduce__(self) -> str:
        return self._name

    def __copy__(self) -> layout:
        return self

    def __deepcopy__(self, memo: object) -> layout:
        return self


layout.__module__ = "libdl"
strided, sparse_coo = layout("strided"), layout("sparse_coo")
# Named by programs that ask which layout a tensor has; no tensor has them.
sparse_csr, sparse_csc, sparse_bsr, sparse_bsc, jagged, mkldnn = (
    layout(name)
    for name in ("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged", "_mkldnn")
)


class memory_format:
    """The order of a copy's dimensions in memory: contiguous_format is row-major, preserve_format
    keeps the order of the original.

    Example:
        >>> x = torch.zeros(2, 3).t()
        >>> x.clone(memory_format=torch.contiguous_format).stride()
        (2, 1)
        >>> x.clone(memory_format=torch.preserve_format).stride()
        (1, 3)
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{shown_name()}.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> memory_format:
        return self

    def __deepcopy__(self, memo: object) -> memory_format:
        return self


memory_format.__module__ = "libdl"
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")


def in_format(x: Tensor, memory_format: object) -> Tensor:
    """The new tensor, row-major if contiguous_format is wanted."""
    return x.contiguous() if memory_format is contiguous_format else x


class ValuesIndices(NamedTuple):
    """The result of max, min, sort, topk and kthvalue along a dimension."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        kind = f"{type(self).__module__}.{type(self).__qualname__}"
        return f"{kind}(\nvalues={self.values!r},\nindices={self.indices!r})"


_LIMITS = {  # exponents: smallest normal, digits of the significand
    "float16": (-14, 10),
    "bfloat16": (-126, 7),
    "float32": (-126, 23),
    "float64": (-1022, 52),
    "float8_e4m3fn": (-6, 3),
    "float8_e4m3fnuz": (-7, 3),
    "float8_e5m2": (-14, 2),
    "float8_e5m2fnuz": (-15, 2),
    "float8_e8m0fnu": (-127, 0),
}
# Where the largest number is not the one that mirrors the smallest normal one.
_LARGEST = {
    "float8_e4m3fn": 448.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2fnuz": 57344.0,
    "float8_e8m0fnu": 2.0**127,
}


def default_dtype() -> dtype:
    return _DEFAULT[0]


_DEFAULT = [float32]


class finfo:
    """The limits of a floating dtype: eps, max, min, tiny, smallest_normal, resolution, bits."""

    def __init__(self, type: dtype | None = None) -> None:
        type = type or default_dtype()
        if type.is_complex:
            type = type.to_real()
        if type.name not in _LIMITS:
            raise TypeError(f"finfo: {type} is not floating; see iinfo")
        exponent, digits = _LIMITS[type.name]
        self.dtype = type.name
        self.bits = type.itemsize * 8
        self.eps = 2.0**-digits
        self.max = _LARGEST.get(type.name) or (2.0 - self.eps) * 2.0 ** (1 - exponent)
        self.tiny = self.smallest_normal = 2.0**exponent
        self.min = -self.max if type.is_signed else self.tiny
        self.resolution = 10.0 ** -int(digits * 0.30103)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype: min, max, bits."""

    def __init__(self, type: dtype) -> None:
        if type.is_floating_point or type.is_complex or type is bool_:
            raise TypeError(f"iinfo: {type} is no integer dtype; see finfo")
        self.dtype = type.name
        self.bits = type.itemsize * 8
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -self.max - 1 if type.is_signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


class Generator:
    """A source of random numbers: the same seed gives the same bits everywhere.

    Example:
        >>> generator = torch.Generator().manual_seed(7)
        >>> x = torch.rand(2, generator=generator)
        >>> torch.equal(x, torch.rand(2, generator=generator.manual_seed(7)))
        True
    """

    _handle: Any

    def __init__(self, device: DeviceLike = "cpu") -> None:
        self._device = as_device(device)
        operator.index(self._device._type)  # a device that can only be named refuses
        self._handle = _C.generator_new(_FIRST_SEED)

    @classmethod
    def _default(cls) -> Generator:
        return cls._of(_C.generator_default())

    @classmethod
    def _of(cls, handle: object) -> Generator:
        instance = object.__new__(cls)
        instance._device = device("cpu")
        instance._handle = handle
        return instance

    @property
    def device(self) -> device:
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Restarts from a seed; the same seed gives the same bits everywhere."""
        _C.generator_set_seed(self, seed)
        return self

    def initial_seed(self) -> int:
        """The seed."""
        return _C.generator_get_seed(self)

    def seed(self) -> int:
        """Restarts from a seed drawn from the system, and returns the seed."""
        import os

        chosen = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(chosen)
        return chosen

    def get_state(self) -> Tensor:
        """Key and position as bytes."""
        return _C.from_buffer(bytearray(_C.generator_get_state(self)))

    def set_state(self, new_state: Tensor) -> None:
        """Continues from a state returned by get_state."""
        _C.generator_set_state(self, bytes(new_state.tolist()))

    def clone_state(self) -> Generator:
        """A new generator that will give the same numbers as this one from here on."""
        result = Generator(self._device)
        result.set_state(self.get_state())
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _generator_from, (self.device, _C.generator_get_state(self))


_FIRST_SEED = 67280421310721  # PyTorch's, for a Generator() that was not seeded


def _generator_from(device: DeviceLike, state: bytes) -> Generator:
    result = Generator(device)
    _C.generator_set_state(result, state)
    return result


Generator.__module__ = "libdl"
_C.register("generator", Generator)


def as_device(value: DeviceLike) -> device:
    return value if isinstance(value, device) else device(value)


class FactoryOptions(TypedDict):
    """Where, and of which dtype, something is made."""

    device: DeviceLike | None
    dtype: DtypeLike | None


Real: TypeAlias = SupportsFloat | Tensor
Sizes: TypeAlias = Iterable[int]
