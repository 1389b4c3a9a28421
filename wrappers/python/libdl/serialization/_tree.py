# SPDX-License-Identifier: Apache-2.0
"""libdl's own files: safetensors.

Tensors are stored under their paths ("model.weight"); everything else (numbers, strings, the
nesting, what is the same object or shares memory) is JSON in the file's metadata. A file without
this metadata, from any other program, loads as a dict of tensors. The core compares checksums."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import json
import operator
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import _C, _functions, _types
from .._C import Tensor
from .._errors import FormatError, OutOfMemoryError
from .._types import Size, bool_, complex128, device as Device, float64, uint8
from ._described import DICTS, FACTORIES, described
from ._numpy import number
from ._source import Source
from ._values import attach, checked_key

if TYPE_CHECKING:
    from ..nn.utils.rnn import PackedSequence

_KEY = "libdl"


# -- out -------------------------------------------------------------------------------------------


Content = tuple[list[str], list[Tensor], list[str], list[str]]


def content(obj: object) -> Content:
    """What stands in a file: names and tensors, keys and texts."""
    tensors, structure = described(obj)
    return list(tensors), list(tensors.values()), [_KEY], [structure]


def write_bytes(obj: object) -> bytes:
    """A whole file."""
    result: bytes = _C.save_bytes(*content(obj))
    return result


def write_file(content: Content, path: str) -> None:
    _C.save_file(path, *content)


# -- in --------------------------------------------------------------------------------------------

_ATOMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda content: content,
    "float": float.fromhex,
    "integer": lambda content: int(content, 16),
    "complex": lambda content: complex(*map(float.fromhex, content)),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "dtype": _types.by_name,
    "device": Device,
    "number": lambda content: number(*content),
    "layout": {"strided": _types.strided, "sparse_coo": _types.sparse_coo}.__getitem__,
}


_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "set": lambda items: set(map(checked_key, items)),
    "frozenset": lambda items: frozenset(map(checked_key, items)),
    "size": lambda items: Size(map(operator.index, items)),
    "packed": lambda items: _packed(*items),
}


def _packed(*parts: Any) -> PackedSequence:
    from ..nn.utils.rnn import PackedSequence

    if not all(isinstance(part, (Tensor, type(None))) for part in parts):
        raise ValueError("a packed sequence of other things than tensors")
    if len(parts) != 4 or (parts[2] is None) != (parts[3] is None):
        raise ValueError("a packed sequence without one of its parts")  # which would be computed
    return PackedSequence(*parts)


class _Rebuilt:
    """Makes the object of its JSON. What is copied is taken from an allowance: of honest files, it
    is what the file holds."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self._tensors = tensors
        self._again: dict[int, Any] = {}
        self._allowance = sum(x.numel() * x.dtype.itemsize for x in tensors.values())

    def value(self, node: Any) -> Any:
        (kind, content), *rest = node.items()
        marks = dict(rest)
        if kind == "again":
            return self._again[content]
        if kind == "list":
            result: Any = []
            self._number(result, marks)  # before its items, among which it may be
            result.extend([self.value(item) for item in content])
        elif kind == "dict":
            result = self._dict(content, marks)
        else:
            result = self._other(kind, content, marks)
            self._number(result, marks)
        return result

    def _number(self, value: object, marks: dict[str, Any]) -> None:
        if "id" in marks:
            self._again[marks["id"]] = value

    def _other(self, kind: str, content: Any, marks: dict[str, Any]) -> Any:
        if kind in _ATOMS:
            return _ATOMS[kind](content)
        if kind == "tensor":
            return self._tensor(content, marks)
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]([self.value(item) for item in content])
        if kind == "array":
            return self._array(self.value(content))
        raise ValueError(f"a node of the kind {kind!r:.80}")

    def _array(self, x: Tensor) -> Any:
        self._allowance -= x.numel() * x.dtype.itemsize
        if self._allowance < 0:
            raise ValueError("arrays of more bytes than the file holds")
        return x.numpy(force=True).copy()

    def _memory(
        self, base: str, at: int, shape: Sequence[int], strides: Sequence[int], name: str
    ) -> Tensor:
        """A view of another entry's bytes."""
        dtype, whole = _types.by_name(name), self._tensors[base]
        whole = whole.reshape(-1)  # a view: what was read is contiguous
        if dtype is bool_ and whole.dtype is not bool_:
            raise ValueError("truth values over other elements")
        part = float64 if dtype is complex128 else dtype
        if whole.dtype is not part:
            octets = whole.view(uint8)
            whole = octets[: len(octets) // dtype.itemsize * dtype.itemsize].view(part)
        if dtype is complex128:
            whole = _functions.view_as_complex(whole.view(-1, 2))
        if at % dtype.itemsize:
            raise ValueError("a view that begins inside an element")
        return whole.as_strided(tuple(shape), tuple(strides), at // dtype.itemsize)

    def _tensor(self, name: str, marks: dict[str, Any]) -> Tensor:
        from ..nn import Buffer, Parameter

        if "memory" in marks:
            x = self._memory(*marks["memory"])
        else:
            x = self._tensors[marks.get("same", name)]
            if marks.get("complex128"):
                x = _functions.view_as_complex(x)
        result, requires_grad = x.detach(), bool(marks.get("requires_grad"))
        if marks.get("parameter"):
            result = Parameter(result, requires_grad)
        elif "buffer" in marks:
            result = Buffer(result, persistent=bool(marks["buffer"]))
        elif requires_grad:
            result.requires_grad_()
        if "attributes" in marks:
            attach(result, self.value(marks["attributes"]))
        return result

    def _dict(self, items: list[Any], marks: dict[str, Any]) -> dict[Any, Any]:
        result: Any = next((cls for mark, cls in DICTS.items() if mark in marks), dict)()
        if "default" in marks:
            factory = marks["default"]
            result = defaultdict(None if factory is None else FACTORIES[factory])
        self._number(result, marks)
        for key, node in items:
            result[checked_key(self.value(key) if isinstance(key, dict) else key)] = self.value(
                node
            )
        if "metadata" in marks:
            result.__dict__["_metadata"] = self.value(marks["metadata"])
        if "attributes" in marks:
            attach(result, self.value(marks["attributes"]))
        return result


@contextmanager
def _reading(part: str) -> Iterator[None]:
    """What goes wrong inside is the file's fault."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except (
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        AttributeError,
        RuntimeError,
    ) as error:
        what = f"{type(error).__name__}: {error}"
        raise FormatError(f"load: {part} is malformed ({what:.200})") from None


def _object(tensors: dict[str, Tensor], metadata: dict[str, str]) -> Any:
    if _KEY not in metadata:
        return tensors
    with _reading("the structure in the file's metadata"):
        return _Rebuilt(tensors).value(json.loads(metadata[_KEY]))


def _mapped(path: str, source: Source) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors over the mapped file, writable. The core has checked the header before."""
    tensors, metadata = _C.load_file(path, True)
    source.map()
    assert source.mapped is not None
    size = int.from_bytes(source.head(8), "little")
    with _reading("the header"):
        for name, entry in json.loads(source.read(8, size)).items():
            if name == "__metadata__":
                continue
            x = tensors[name]
            if x.dtype is bool_:  # its bytes may be others than 0 and 1
                tensors[name] = x.clone()
                continue
            begin, end = (8 + size + at for at in entry["data_offsets"])
            if begin < end and begin % x.dtype.itemsize == 0:
                result: Tensor = _C.from_buffer(source.mapped[begin:end])
                tensors[name] = result.view(x.dtype).view(x.shape).detach()
    return tensors, metadata


def read(f: Any, source: Source, mmap: bool, place: Callable[[Tensor], Tensor]) -> Any:
    """The object in a safetensors file: f, whose bytes are the source's."""
    if hasattr(f, "read"):
        tensors, metadata = _C.load_bytes(source.rest())
    else:
        path = os.fsdecode(f)
        tensors, metadata = _mapped(path, source) if mmap else _C.load_file(path, False)
    return _object({name: place(x) for name, x in tensors.items()}, metadata)
