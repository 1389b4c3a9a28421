# SPDX-License-Identifier: Apache-2.0
"""libdl's own files: safetensors.

Tensors are stored under their paths ("model.weight"); everything else (numbers, strings, the
nesting) is JSON in the file's metadata. A file without this metadata, from any other program, loads
as a dict of tensors."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import json
import operator
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import _C, _functions, _types
from .._C import Tensor
from .._creation import from_numpy
from .._errors import FormatError, OutOfMemoryError
from .._overrides import DisableTorchFunctionSubclass
from .._types import Size, bool_, complex128, device as Device, dtype as Dtype, layout as Layout
from ._numpy import is_array, letters_of, little_endian, number
from ._source import Source
from ._values import checked_key, is_key, no_meaning

_KEY = "libdl"
_DICTS: dict[str, type[dict[Any, Any]]] = {"ordered": OrderedDict, "counter": Counter}
_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": lambda items: set(map(checked_key, items)),
    "frozenset": lambda items: frozenset(map(checked_key, items)),
    "size": lambda items: Size(map(operator.index, items)),
}
_KIND_OF = {list: "list", set: "set", frozenset: "frozenset", Size: "size"}


# -- out -------------------------------------------------------------------------------------------


class _Described:
    """An object as JSON, and the tensors in it by their names."""

    def __init__(self, value: Any) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._names: dict[tuple[Any, ...], str] = {}
        self.root = self._node(value, "")

    def _node(self, value: Any, path: str) -> Any:
        if isinstance(value, Tensor):
            return self._tensor(value, path)
        if isinstance(value, dict):
            return self._dict(value, path)
        if isinstance(value, (list, tuple, set, frozenset)):
            if isinstance(value, (set, frozenset)) and not all(map(is_key, value)):
                raise TypeError(f"save: the set {path} has elements that are neither strings, "
                                "numbers of 64 bits nor short tuples of them")  # fmt: skip
            items = [self._node(v, f"{path}.{i}" if path else str(i)) for i, v in enumerate(value)]
            kind = next((name for cls, name in _KIND_OF.items() if isinstance(value, cls)), "tuple")
            return {kind: items}
        letters = letters_of(value)
        if letters is not None:
            plain = little_endian(value, letters)
            if not is_array(value):
                return {"number": [letters, plain.tobytes().hex()]}
            return {"array": self._tensor(from_numpy(plain), path)}
        return _atom(value, path)

    def _tensor(self, x: Tensor, path: str) -> Any:
        from ..nn import Parameter

        name = path or "tensor"
        while name in self.tensors:
            name += "'"
        node = {"tensor": name, "requires_grad": x.requires_grad}
        if isinstance(x, Parameter):
            node["parameter"] = True
        x = x.detach()
        if not x.is_sparse:
            place = (_C.tensor_storage_id(x), x.storage_offset(), x.shape, x.stride(), x.dtype)
            first = self._names.setdefault(place, name)
            if first != name:
                node["same"] = first  # other programs find it under both names
        if x.dtype is complex128:  # which safetensors do not have
            node["complex128"] = True
            x = _functions.view_as_real(x.resolve_conj() if hasattr(x, "resolve_conj") else x)
        self.tensors[name] = x
        return node

    def _dict(self, value: dict[Any, Any], path: str) -> Any:
        items = []
        for key, item in value.items():
            if not is_key(key):
                raise TypeError(f"save: the keys of {path or 'a dict'} must be strings, numbers of "
                                "64 bits or short tuples of them, found a "
                                f"{type(key).__name__}")  # fmt: skip
            plain = isinstance(key, (str, int))
            name = f"{path}.{key}" if path else str(key)
            items.append([key if plain else self._node(key, path), self._node(item, name)])
        node: dict[str, Any] = {"dict": items}
        node.update({mark: True for mark, kind in _DICTS.items() if isinstance(value, kind)})
        extra = getattr(value, "__dict__", {}).get("_metadata")
        if isinstance(value, OrderedDict) and extra:  # a state_dict's versions of its modules
            node["metadata"] = self._node(extra, f"{path}._metadata" if path else "_metadata")
        return node


def _atom(value: Any, path: str) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return {"value": value}
    if isinstance(value, int):
        return {"value": value} if value.bit_length() < 64 else {"integer": hex(value)}
    if isinstance(value, float):
        return {"float": float(value).hex()}
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes" if isinstance(value, bytes) else "bytearray": value.hex()}
    if isinstance(value, Dtype):
        return {"dtype": value.name}
    if isinstance(value, Device):
        return {"device": str(value)}
    if isinstance(value, Layout):
        return {"layout": str(value).rpartition(".")[2]}
    raise no_meaning(value, path)


def _content(obj: Any) -> tuple[list[str], list[Tensor], list[str], list[str]]:
    try:
        with DisableTorchFunctionSubclass():
            described = _Described(obj)
        structure = json.dumps(described.root)
    except RecursionError:
        raise ValueError("save: the object contains itself, or nests too deeply") from None
    return list(described.tensors), list(described.tensors.values()), [_KEY], [structure]


def write_bytes(obj: Any) -> bytes:
    """A whole file."""
    made: bytes = _C.save_bytes(*_content(obj))
    return made


def write_file(obj: Any, path: str) -> None:
    _C.save_file(path, *_content(obj))


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


class _Rebuilt:
    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self._tensors = tensors

    def value(self, node: Any) -> Any:
        (kind, content), *rest = node.items()
        marks = dict(rest)
        if kind in _ATOMS:
            return _ATOMS[kind](content)
        if kind == "tensor":
            return self._tensor(content, marks)
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]([self.value(item) for item in content])
        if kind == "dict":
            return self._dict(content, marks)
        if kind == "array":
            return self.value(content).numpy(force=True).copy()
        raise ValueError(f"a node of the kind {kind!r:.80}")

    def _tensor(self, name: str, marks: dict[str, Any]) -> Tensor:
        x = self._tensors[marks.get("same", name)]
        if marks.get("complex128"):
            x = _functions.view_as_complex(x)
        if marks.get("parameter"):
            from ..nn import Parameter

            made: Tensor = Parameter(x.detach(), bool(marks.get("requires_grad")))
            return made
        return x.detach().requires_grad_() if marks.get("requires_grad") else x

    def _dict(self, items: list[Any], marks: dict[str, Any]) -> dict[Any, Any]:
        keys = (checked_key(self.value(k) if isinstance(k, dict) else k) for k, _ in items)
        pairs = zip(keys, (self.value(v) for _, v in items), strict=True)
        made = next((cls for mark, cls in _DICTS.items() if mark in marks), dict)(dict(pairs))
        if "metadata" in marks:
            made.__dict__["_metadata"] = self.value(marks["metadata"])
        return made


@contextmanager
def _reading(part: str) -> Iterator[None]:
    """What goes wrong inside is the file's fault."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
            RuntimeError) as error:  # fmt: skip
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
            begin, end = (8 + size + at for at in entry["data_offsets"])
            if begin < end and begin % x.dtype.itemsize == 0 and x.dtype is not bool_:
                made: Tensor = _C.from_buffer(source.mapped[begin:end])
                tensors[name] = made.view(x.dtype).view(x.shape).detach()
    return tensors, metadata


def read(f: Any, source: Source, mmap: bool, place: Callable[[Tensor], Tensor]) -> Any:
    """The object in a safetensors file: f, whose bytes are the source's."""
    if hasattr(f, "read"):
        tensors, metadata = _C.load_bytes(source.rest())
    else:
        path = os.fsdecode(f)
        tensors, metadata = _mapped(path, source) if mmap else _C.load_file(path, False)
    return _object({name: place(x) for name, x in tensors.items()}, metadata)
