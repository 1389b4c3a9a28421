# SPDX-License-Identifier: Apache-2.0
"""save and load: safetensors files. Reading one runs no code.

Tensors are stored under their paths ("model.weight"); everything else (numbers, strings, the
nesting) is JSON in the file's metadata. A file without this metadata, from any other program, loads
as a dict of tensors."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import json
import os
from collections import Counter, OrderedDict
from typing import Any

from . import _C
from ._C import Tensor

_KEY = "libdl"
_PLAIN = (str, int, float, bool, type(None))
_DICTS: dict[str, type[dict[Any, Any]]] = {"ordered": OrderedDict, "counter": Counter}


def _describe(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, Tensor):
        name = path or "tensor"
        while name in tensors:
            name += "'"
        tensors[name] = value
        return {"tensor": name, "requires_grad": value.requires_grad}
    if isinstance(value, _PLAIN):
        return {"value": value} if not isinstance(value, float) else {"float": value.hex()}
    if isinstance(value, dict):
        if not all(isinstance(key, (str, int)) for key in value):
            raise TypeError(f"save: the keys of {path or 'a dict'} must be strings or integers")
        items = [
            [key, _describe(item, f"{path}.{key}" if path else str(key), tensors)]
            for key, item in value.items()
        ]
        marks = {mark: True for mark, kind in _DICTS.items() if isinstance(value, kind)}
        return {"dict": items, **marks}
    if isinstance(value, (list, tuple)):
        items = [
            _describe(item, f"{path}.{i}" if path else str(i), tensors)
            for i, item in enumerate(value)
        ]
        return {"list" if isinstance(value, list) else "tuple": items}
    raise TypeError(
        f"save: {path or 'the object'} is a {type(value).__name__}; a file holds tensors, numbers, "
        "strings, lists, tuples and dicts (of a module, its state_dict())"
    )


def _rebuild(node: Any, tensors: dict[str, Tensor]) -> Any:
    (kind, content), *rest = node.items()
    if kind == "tensor":
        tensor = tensors[content]
        return tensor.requires_grad_() if dict(rest).get("requires_grad") else tensor
    if kind == "value":
        return content
    if kind == "float":
        return float.fromhex(content)
    if kind == "dict":
        made = next((_DICTS[mark] for mark, _ in rest if mark in _DICTS), dict)
        return made({key: _rebuild(item, tensors) for key, item in content})
    items = [_rebuild(item, tensors) for item in content]
    return tuple(items) if kind == "tuple" else items


def _separate(tensors: dict[str, Tensor]) -> list[Tensor]:
    return [tensor.detach() for tensor in tensors.values()]


def save(obj: Any, f: Any, **ignored: Any) -> None:
    """Writes an object made of tensors to a safetensors file.

    Arguments:
        obj: tensors, numbers and strings in dicts, lists and tuples, such as a state_dict
        f: a path, or a file open for writing in binary mode
    """
    tensors: dict[str, Tensor] = {}
    structure = json.dumps(_describe(obj, "", tensors))
    content = list(tensors), _separate(tensors), [_KEY], [structure]
    if hasattr(f, "write"):
        f.write(_C.save_bytes(*content))
    else:
        _C.save_file(os.fspath(f), *content)


def load(
    f: Any, map_location: Any = None, *, weights_only: bool = True, mmap: bool = False,
    **ignored: Any,
) -> Any:  # fmt: skip
    """Reads an object written by save, or any other safetensors file as a dict of tensors.

    Arguments:
        f: a path, or a file open for reading in binary mode
        map_location: the device on which to put the tensors
        mmap: whether tensors are read-only views of the mapped file instead of copies
    """
    if hasattr(f, "read"):
        tensors, metadata = _C.load_bytes(f.read())
    else:
        path = os.fspath(f)
        os.stat(path)  # raises FileNotFoundError and the like
        tensors, metadata = _C.load_file(path, mmap)
    if map_location is not None and not callable(map_location) and not hasattr(map_location, "get"):
        tensors = {name: tensor.to(device=map_location) for name, tensor in tensors.items()}
    if _KEY in metadata:
        return _rebuild(json.loads(metadata[_KEY]), tensors)
    return tensors
