# SPDX-License-Identifier: Apache-2.0
"""Writes checkpoints that PyTorch reads with weights_only=True: a pickle of protocol 2 with the
names that PyTorch itself uses, and one record for each storage.

A view is saved as a view: its whole storage is written, once for all tensors that share it."""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from .. import _C
from .._C import Tensor
from .._types import Size, device as Device, dtype as Dtype, layout as Layout, uint8
from ._archive import Writer
from ._names import STORAGES
from ._numpy import is_array, letters_of, little_endian
from ._values import Unkept, is_key, no_meaning

_KINDS = {dtype: f"torch.{kind}" for kind, dtype in STORAGES.items()}
_MULTIARRAY = "numpy.core.multiarray"  # as NumPy 1 and PyTorch call it; NumPy 2 knows it, too
_UNTYPED = "torch.storage.UntypedStorage"  # of the dtypes that are younger than typed storages


def _memo_opcode(short: bytes, long: bytes, number: int) -> bytes:
    return short + bytes([number]) if number < 256 else struct.pack("<cI", long, number)


class Pickler:
    """Pickles values, and collects the storages that they refer to."""

    def __init__(self) -> None:
        self._out: list[bytes] = [b"\x80\2"]
        self._memo: dict[Any, int] = {}
        self._alive: list[Any] = []  # what the memo knows by its address
        self._storages: dict[int, tuple[str, str]] = {}  # key and kind, by the storage's number
        self.tensors: list[Tensor] = []  # one of each storage, in the order of their keys

    def pickled(self, value: Any) -> bytes:
        self._value(value, "")
        return b"".join([*self._out, b"."])

    # -- parts -------------------------------------------------------------------------------------

    def _put(self, key: object) -> None:
        number = self._memo[key] = len(self._memo)
        self._out.append(_memo_opcode(b"q", b"r", number))

    def _known(self, key: object) -> bool:
        number = self._memo.get(key)
        if number is None:
            return False
        self._out.append(_memo_opcode(b"h", b"j", number))
        return True

    def _named(self, path: str) -> None:
        if not self._known(("name", path)):
            module, _, name = path.rpartition(".")
            self._out.append(f"c{module}\n{name}\n".encode())
            self._put(("name", path))

    def _call(self, path: str, arguments: tuple[Any, ...], at: str) -> None:
        self._named(path)
        self._tuple(arguments, at)
        self._out.append(b"R")

    def _text(self, text: str) -> None:
        if not self._known(("text", text)):
            data = text.encode("utf-8", "surrogatepass")
            self._out.append(struct.pack("<cI", b"X", len(data)) + data)
            self._put(("text", text))

    def _integer(self, n: int) -> None:
        if 0 <= n < 256:
            self._out.append(b"K" + bytes([n]))
        elif -(1 << 31) <= n < 1 << 31:
            self._out.append(struct.pack("<ci", b"J", n))
        else:
            data = n.to_bytes(n.bit_length() // 8 + 1, "little", signed=True)
            if len(data) > 255:
                raise Unkept(
                    "save: an integer of more than 255 bytes, which PyTorch does not "
                    "load with weights_only=True"
                )
            self._out.append(b"\x8a" + bytes([len(data)]) + data)

    def _tuple(self, values: tuple[Any, ...], at: str) -> None:
        if not values:
            self._out.append(b")")
            return
        if len(values) > 3:
            self._out.append(b"(")
        for i, value in enumerate(values):
            self._value(value, f"{at}[{i}]")
        self._out.append([b"", b"\x85", b"\x86", b"\x87"][len(values)] if len(values) < 4 else b"t")

    def _items(self, items: dict[Any, Any], at: str) -> None:
        if not items:
            return
        self._out.append(b"(")
        for key, value in items.items():
            if not is_key(key):
                raise Unkept(
                    f"save: {at or 'the object'} has the key {key!r:.80}, wanted a "
                    "string, a number of 64 bits or a short tuple of them"
                )
            self._value(key, at)
            self._value(value, f"{at}[{key!r}]")
        self._out.append(b"u")

    # -- values ------------------------------------------------------------------------------------

    def _value(self, value: Any, at: str) -> None:
        kind = type(value)
        if isinstance(value, Tensor):
            self._once(value, at, Pickler._tensor)
        elif kind in _CONTAINERS:
            self._once(value, at, _CONTAINERS[kind])
        elif kind in _ATOMS:
            _ATOMS[kind](self, value)
        elif kind in (Size, Device, complex, bytes, bytearray, set, Layout):
            path, arguments = _recipe(value)
            self._call(path, arguments, at)
        elif letters_of(value):
            self._once(value, at, Pickler._numpy)
        else:
            raise no_meaning(value, at)

    def _once(self, value: Any, at: str, write: Callable[..., None]) -> None:
        """Writes an object, or refers to it where it was written before."""
        if not self._known(id(value)):
            self._alive.append(value)
            write(self, value, at)

    def _list(self, value: list[Any], at: str) -> None:
        self._out.append(b"]")
        self._put(id(value))
        if value:
            self._out.append(b"(")
            for i, item in enumerate(value):
                self._value(item, f"{at}[{i}]")
            self._out.append(b"e")

    def _shared_tuple(self, value: tuple[Any, ...], at: str) -> None:
        self._tuple(value, at)
        if value:
            self._put(id(value))

    def _dict(self, value: dict[Any, Any], at: str) -> None:
        if type(value) is dict:
            self._out.append(b"}")
        else:
            self._call(f"collections.{type(value).__name__}", (), at)
        self._put(id(value))
        self._items(value, at)
        if getattr(value, "__dict__", None):
            self._value(dict(value.__dict__), f"{at}.__dict__")
            self._out.append(b"b")

    # -- tensors -----------------------------------------------------------------------------------

    def _numpy(self, value: Any, at: str) -> None:
        """Of NumPy; PyTorch loads it with weights_only=False alone, or after add_safe_globals."""
        letters = str(letters_of(value))
        data = little_endian(value, letters).tobytes()
        if is_array(value):
            self._named(f"{_MULTIARRAY}._reconstruct")
            self._out.append(b"(")
            self._named("numpy.ndarray")
            self._value((0,), at)
            self._value(b"b", at)
            self._out.append(b"tR")
            self._put(id(value))
            self._out.append(b"(")
            self._value(1, at)
            self._value(value.shape, at)
            self._numpy_dtype(letters, at)
            self._value(False, at)
            self._value(data, at)
            self._out.append(b"tb")
        else:
            self._named(f"{_MULTIARRAY}.scalar")
            self._numpy_dtype(letters, at)
            self._value(data, at)
            self._out.append(b"\x86R")
            self._put(id(value))

    def _numpy_dtype(self, letters: str, at: str) -> None:
        self._call("numpy.dtype", (letters, False, True), at)
        order = "|" if letters.endswith("1") else "<"
        self._value((3, order, None, None, None, -1, -1, 0), at)
        self._out.append(b"b")

    def _tensor(self, x: Tensor, at: str) -> None:
        from ..nn import Buffer, Parameter

        if type(x) not in (Tensor, Parameter, Buffer):
            raise no_meaning(x, at)
        state = dict(x.__dict__) if type(x) is not Buffer else {}  # to PyTorch it is a tensor
        if type(x) is Parameter:
            name = "_rebuild_parameter" + "_with_state" * bool(state)
            self._named(f"torch._utils.{name}")
            self._out.append(b"(")
            self._plain_tensor(x.detach(), at)
            self._value(x.requires_grad, at)
            self._call("collections.OrderedDict", (), at)
            if state:
                self._value(state, f"{at}.__dict__")
            self._out.append(b"tR")
        elif state:
            self._named("torch._tensor._rebuild_from_type_v2")
            self._out.append(b"(")
            self._named(self._function(x))
            self._named("torch.Tensor")
            self._arguments(x, at)
            self._value(state, f"{at}.__dict__")
            self._out.append(b"tR")
        else:
            self._plain_tensor(x, at)
        self._put(id(x))

    def _plain_tensor(self, x: Tensor, at: str) -> None:
        self._named(self._function(x))
        self._arguments(x, at)
        self._out.append(b"R")

    @staticmethod
    def _function(x: Tensor) -> str:
        if x.is_sparse:
            return "torch._utils._rebuild_sparse_tensor"
        if x.is_meta:
            return "torch._utils._rebuild_meta_tensor_no_storage"
        return f"torch._utils._rebuild_tensor_v{2 if x.dtype in _KINDS else 3}"

    def _arguments(self, x: Tensor, at: str) -> None:
        if x.is_sparse:
            self._value((x.layout, (x.indices(), x.values(), x.shape, True)), at)
            return
        if x.is_meta:
            self._value((x.dtype, tuple(x.shape), tuple(x.stride()), x.requires_grad), at)
            return
        self._out.append(b"(")
        self._storage(x, at)
        self._value(x.storage_offset(), at)
        self._value(tuple(x.shape), at)
        self._value(tuple(x.stride()), at)
        self._value(x.requires_grad, at)
        self._call("collections.OrderedDict", (), at)
        if x.dtype not in _KINDS:
            self._value(x.dtype, at)
        self._out.append(b"t")

    def _storage(self, x: Tensor, at: str) -> None:
        number = _C.tensor_storage_id(x)
        kind = _KINDS.get(x.dtype, _UNTYPED)
        if number not in self._storages:
            self._storages[number] = str(len(self.tensors)), kind
            self.tensors.append(x)
        key, known = self._storages[number]
        if known != kind:
            raise Unkept(
                f"save: {at or 'the tensor'} has the dtype {x.dtype} and shares its "
                "memory with a tensor of another; PyTorch's format has one dtype for "
                "each memory: save a clone()"
            )
        size = _C.tensor_storage_nbytes(x)
        self._out.append(b"(")
        self._text("storage")
        self._named(kind)
        self._text(key)
        self._text(str(x.device))
        self._integer(size if kind == _UNTYPED else size // x.dtype.itemsize)
        self._out.append(b"tQ")


def _recipe(value: Any) -> tuple[str, tuple[Any, ...]]:
    """The name that makes a value, and its arguments."""
    if isinstance(value, Size):
        return "torch.Size", (tuple(value),)
    if isinstance(value, Device):
        return "torch.device", (value.type,) if value.index is None else (value.type, value.index)
    if isinstance(value, complex):
        return "__builtin__.complex", (value.real, value.imag)
    if isinstance(value, bytes):
        return "_codecs.encode", (value.decode("latin1"), "latin1")
    if isinstance(value, bytearray):
        return "__builtin__.bytearray", (bytes(value),)
    if isinstance(value, Layout):
        return "torch.serialization._get_layout", (f"torch.{str(value).removeprefix('libdl.')}",)
    return "__builtin__.set", (list(value),)


_ATOMS: dict[type, Callable[[Pickler, Any], None]] = {
    type(None): lambda p, value: p._out.append(b"N"),
    bool: lambda p, value: p._out.append(b"\x88" if value else b"\x89"),
    int: Pickler._integer,
    float: lambda p, value: p._out.append(b"G" + struct.pack(">d", value)),
    str: Pickler._text,
    Dtype: lambda p, value: p._named(f"torch.{value.name}"),
}
_CONTAINERS: dict[type, Callable[[Pickler, Any, str], None]] = {
    list: Pickler._list,
    tuple: Pickler._shared_tuple,
    dict: Pickler._dict,
    OrderedDict: Pickler._dict,
    Counter: Pickler._dict,
}


def _bytes_of_storage(x: Tensor) -> memoryview:
    size = _C.tensor_storage_nbytes(x)
    if size == 0:
        return memoryview(b"")
    one = x.detach().as_strided((1,), (1,), 0)
    array: Any = one.view(uint8).as_strided((size,), (1,), 0).cpu().numpy()
    return memoryview(array)


def pickled(value: Any) -> tuple[bytes, list[Tensor]]:
    """The pickle, and one tensor of each storage that it refers to.

    Errors: Unkept, a TypeError, for what PyTorch would not load with weights_only=True."""
    pickler = Pickler()
    try:
        return pickler.pickled(value), pickler.tensors
    except RecursionError:
        raise Unkept("save: the object nests too deeply, or a tuple holds itself") from None


def write(put: Callable[[bytes | memoryview], object], data: bytes, tensors: list[Tensor]) -> None:
    """Writes a checkpoint of a pickle and the storages of tensors. put takes the file's next
    bytes."""
    writer = Writer(put, "archive")
    writer.add("data.pkl", data)
    writer.add(".format_version", b"1")
    writer.add(".storage_alignment", b"64")
    writer.add("byteorder", b"little")
    for key, x in enumerate(tensors):
        writer.add(f"data/{key}", _bytes_of_storage(x))
    writer.add("version", b"3\n")
    writer.close()
