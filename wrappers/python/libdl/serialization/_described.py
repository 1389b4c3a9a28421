# SPDX-License-Identifier: Apache-2.0
"""An object as libdl's own files hold it: JSON, and tensors by their names. What would come back as
something else (a subclass of a container, number or tensor) is refused."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict
from typing import Any

from .._C import Tensor
from .._creation import from_numpy
from .._overrides import DisableTorchFunctionSubclass
from .._types import Size, device as Device, dtype as Dtype, layout as Layout
from . import _memories
from ._memories import View
from ._numpy import is_array, letters_of, little_endian
from ._values import Unkept, is_key, no_meaning

# What an absent key of a defaultdict may become; other factories are code.
FACTORIES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (list, dict, set, frozenset, tuple, int, float, complex, str, bytes, bool)
}
DICTS: dict[str, type[dict[Any, Any]]] = {"ordered": OrderedDict, "counter": Counter}
_DICT_MARKS = {kind: mark for mark, kind in DICTS.items()}
_SEQUENCES: dict[type, str] = {
    list: "list",
    tuple: "tuple",
    set: "set",
    frozenset: "frozenset",
    Size: "size",
}
_MUTABLE = (list, dict, OrderedDict, Counter, defaultdict)


class Described:
    """Attributes:
    root: the object as JSON
    tensors: what stands in the file, by name
    """

    def __init__(self, value: Any) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._views: list[View] = []
        self._first: dict[tuple[Any, ...], str] = {}  # names, by place and geometry
        self._nodes: dict[int, tuple[Any, dict[str, Any]]] = {}  # of what may come again, by id
        self._open: set[int] = set()
        self._numbered = 0
        with DisableTorchFunctionSubclass():
            self.root = self._node(value, "")
            self._tell_memories()

    # -- what comes again --------------------------------------------------------------------------

    def _node(self, value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, Tensor) and type(value) not in _BY_KIND:
            return self._once(value, path)
        known = self._nodes.get(id(value))
        if known is not None:
            return self._reference(value, known[1], path)
        marks: dict[str, Any] = {}
        self._nodes[id(value)] = value, marks
        self._open.add(id(value))
        node = self._once(value, path)
        self._open.discard(id(value))
        node.update(marks)
        self._nodes[id(value)] = value, node
        return node

    def _reference(self, value: Any, node: dict[str, Any], path: str) -> dict[str, Any]:
        if id(value) in self._open and type(value) not in _MUTABLE:
            raise Unkept(f"save: {path} is inside itself")
        if isinstance(value, Tensor):  # other programs find it under both names
            self.tensors[self._free_name(path)] = _memories.stored(value.detach())
        if "id" not in node:
            self._numbered += 1
            node["id"] = self._numbered
        return {"again": node["id"]}

    def _once(self, value: Any, path: str) -> dict[str, Any]:
        kind = type(value)
        if isinstance(value, Tensor):
            return self._tensor(value, path)
        if kind in _BY_KIND:
            result: dict[str, Any] = _BY_KIND[kind](self, value, path)
            return result
        letters = letters_of(value)
        if letters is None:
            return _atom(value, path)
        plain = little_endian(value, letters)
        if is_array(value):
            return {"array": self._tensor(from_numpy(plain), path)}
        return {"number": [letters, plain.tobytes().hex()]}

    # -- containers --------------------------------------------------------------------------------

    def _sequence(self, value: Any, path: str) -> dict[str, Any]:
        if isinstance(value, (set, frozenset)) and not all(map(is_key, value)):
            raise Unkept(
                f"save: the set {path} has elements that are neither strings, "
                "numbers of 64 bits nor short tuples of them"
            )
        node: dict[str, Any] = {_SEQUENCES[type(value)]: (items := [])}
        for i, item in enumerate(value):
            items.append(self._node(item, f"{path}.{i}" if path else str(i)))
        return node

    def _dict(self, value: dict[Any, Any], path: str) -> dict[str, Any]:
        node: dict[str, Any] = {"dict": (items := [])}
        if type(value) in _DICT_MARKS:
            node[_DICT_MARKS[type(value)]] = True
        if type(value) is defaultdict:
            node["default"] = _factory(value, path)
        for key, item in value.items():
            if not is_key(key):
                raise Unkept(
                    f"save: the keys of {path or 'a dict'} must be strings, numbers of "
                    "64 bits or short tuples of them, found a "
                    f"{type(key).__name__}"
                )
            name = f"{path}.{key}" if path else str(key)
            plain = type(key) in (str, int, bool)
            items.append([key if plain else self._once(key, path), self._node(item, name)])
        self._attributes(node, value, path)
        return node

    def _attributes(self, node: dict[str, Any], value: Any, path: str) -> None:
        """What an object has beside its class's own, such as a state_dict's _metadata: the versions
        of its modules."""
        attributes = dict(getattr(value, "__dict__", ()))
        metadata = attributes.pop("_metadata", None)
        if metadata is not None:
            node["metadata"] = self._node(metadata, f"{path}._metadata" if path else "_metadata")
        if attributes:
            node["attributes"] = self._node(attributes, f"{path}.__dict__" if path else "__dict__")

    def _packed(self, value: Any, path: str) -> dict[str, Any]:
        return {"packed": self._sequence(tuple(value), path)["tuple"]}

    # -- tensors -----------------------------------------------------------------------------------

    def _tensor(self, x: Tensor, path: str) -> dict[str, Any]:
        from ..nn import Buffer, Parameter

        if type(x) not in (Tensor, Parameter, Buffer) or x.is_sparse or x.is_meta:
            raise no_meaning(x, path)
        name = self._free_name(path)
        node = {"tensor": name, "requires_grad": x.requires_grad}
        if isinstance(x, Parameter):
            node["parameter"] = True
        elif isinstance(x, Buffer):
            node["buffer"] = x.persistent
        plain = x.detach()
        view = View(name, node, plain)
        first = self._first.setdefault((_storage(plain), *view.geometry()), name)
        if first != name:
            node["same"] = first
        self.tensors[name] = _memories.stored(plain)
        if self.tensors[name] is not plain:
            node["complex128"] = True
        self._views.append(view)
        if type(x) is not Buffer:
            self._attributes(node, x, path)
        return node

    def _free_name(self, path: str) -> str:
        """A name that an entry of the file may have."""
        name = path.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")
        name = name or "tensor"
        while name in self.tensors or name == "__metadata__":
            name += "'"
        return name

    def _tell_memories(self) -> None:
        for group in _memories.overlapping(self._views):
            name = self._free_name(f"libdl.memory.{len(self.tensors)}")
            memory = _memories.tell(group, name)
            if memory is not None:
                self.tensors[name] = memory


def _storage(x: Tensor) -> int:
    from .. import _C

    return int(_C.tensor_storage_id(x))


def _factory(value: defaultdict[Any, Any], path: str) -> str | None:
    factory = value.default_factory
    if factory is None:
        return None
    name = getattr(factory, "__name__", "")
    if FACTORIES.get(name) is not factory:
        raise Unkept(f"save: {path or 'the object'} is a defaultdict whose factory is code")
    return str(name)


def _atom(value: Any, path: str) -> dict[str, Any]:
    kind = type(value)
    if kind in (type(None), str, bool):
        return {"value": value}
    if kind is int:
        return {"value": value} if value.bit_length() < 64 else {"integer": hex(value)}
    if kind is float:
        return {"float": value.hex()}
    if kind is complex:
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if isinstance(value, Dtype):
        return {"dtype": value.name}
    if isinstance(value, Device):
        return {"device": str(value)}
    if isinstance(value, Layout):
        return {"layout": str(value).rpartition(".")[2]}
    raise no_meaning(value, path)


_BY_KIND: dict[type, Any] = {
    **dict.fromkeys(_SEQUENCES, Described._sequence),
    **dict.fromkeys((dict, OrderedDict, Counter, defaultdict), Described._dict),
    bytearray: lambda self, value, path: {"bytearray": value.hex()},
}


def described(value: Any) -> tuple[dict[str, Tensor], str]:
    """Tensors and JSON.

    Errors: Unkept, a TypeError, for what would not come back as it is."""
    from ..nn.utils.rnn import PackedSequence

    _BY_KIND[PackedSequence] = Described._packed
    try:
        result = Described(value)
        return result.tensors, json.dumps(result.root)
    except RecursionError:
        raise Unkept("save: the object nests too deeply") from None
