# SPDX-License-Identifier: Apache-2.0
"""The names that a checkpoint of PyTorch may use, and what each of them makes here. A name that is
not in these tables is refused; nothing is ever imported because a file asks for it."""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .. import _types
from .._errors import FormatError, UnsupportedError
from .._types import Size, device as Device, dtype as Dtype, layout as Layout
from ._numpy import NUMPY
from ._tensors import COSTS, TENSORS, counts
from ._values import Maker, Unbuilt, checked_key

DTYPES: dict[str, Dtype] = {
    name: _types.by_name(name)
    for name in (
        "bool",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    )
}
# The kinds of storage that name a dtype; UntypedStorage counts bytes.
STORAGES: dict[str, Dtype] = {
    f"{name}Storage": DTYPES[dtype]
    for name, dtype in {
        "Bool": "bool",
        "Byte": "uint8",
        "Char": "int8",
        "Short": "int16",
        "Int": "int32",
        "Long": "int64",
        "Half": "float16",
        "BFloat16": "bfloat16",
        "Float": "float32",
        "Double": "float64",
        "ComplexFloat": "complex64",
        "ComplexDouble": "complex128",
    }.items()
}
_WITHOUT = {
    "_rebuild_qtensor": "quantized tensors",
    "_rebuild_nested_tensor": "nested tensors",
    "_rebuild_wrapper_subclass": "wrapped tensors",
}
_safe: list[Any] = []  # as add_safe_globals got them


class RefusedName(UnsupportedError, pickle.UnpicklingError):
    """A file wants a class or function that is not in the table. PyTorch raises UnpicklingError."""


def name_of(entry: Any) -> str:
    """The name under which a file refers to it: "module.name"."""
    if isinstance(entry, tuple):
        return str(entry[1])
    return entry if isinstance(entry, str) else f"{entry.__module__}.{entry.__qualname__}"


def safe_list() -> list[Any]:
    return _safe


# -- plain values ----------------------------------------------------------------------------------


def _dict(kind: Any) -> Callable[..., Any]:
    def make(content: Any = ()) -> Any:
        if not isinstance(content, (dict, list, tuple)):
            raise FormatError(f"load: a {kind.__name__} of a {type(content).__name__}")
        pairs = content.items() if isinstance(content, dict) else content
        return kind({checked_key(key): value for key, value in pairs})

    return make


def _set(kind: Any) -> Callable[..., Any]:
    def make(content: Any = ()) -> Any:
        if not isinstance(content, (list, tuple)):
            raise FormatError(f"load: a set of a {type(content).__name__}")
        return kind(map(checked_key, content))

    return make


def _encode(text: object, encoding: object = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise FormatError("load: bytes that are not text in latin1")
    return text.encode("latin1")


def _octets(content: object = b"") -> bytearray:
    if not isinstance(content, bytes):  # a number would be a size
        raise FormatError(f"load: a bytearray of a {type(content).__name__}")
    return bytearray(content)


def _no_octets() -> bytes:
    """Python 3 pickles others as text, see _encode."""
    return b""


def _complex(real: object, imaginary: object) -> complex:
    if not isinstance(real, float) or not isinstance(imaginary, float):
        raise FormatError("load: a complex number of other things than two numbers")
    return complex(real, imaginary)


def _size(sizes: Sequence[int] = ()) -> Size:
    return Size(counts(tuple(sizes) if isinstance(sizes, list) else sizes, "sizes"))


def _device(kind: object, index: Any = None) -> Device:
    if not isinstance(kind, str) or not (index is None or type(index) is int):
        raise FormatError("load: a device without a name")
    return Device(kind, index)


def _layout(name: object) -> Layout:
    if not isinstance(name, str):
        raise FormatError("load: a layout without a name")
    if name == "torch.strided":
        return _types.strided
    if name == "torch.sparse_coo":
        return _types.sparse_coo
    raise UnsupportedError(f"load: the layout {name!r:.80}")


def _never(name: str) -> Callable[..., Any]:
    def make(*arguments: object) -> NoReturn:
        raise FormatError(f"load: a call of {name}, which is a kind")

    return make


TABLE: dict[str, Callable[..., Any]] = {
    **TENSORS,
    "torch.Tensor": _never("torch.Tensor"),
    "torch.nn.parameter.Parameter": _never("torch.nn.parameter.Parameter"),
    "torch.storage.UntypedStorage": _never("torch.storage.UntypedStorage"),
    "torch.UntypedStorage": _never("torch.UntypedStorage"),
    "torch.Size": _size,
    "torch.device": _device,
    "torch.serialization._get_layout": _layout,
    "collections.OrderedDict": _dict(OrderedDict),
    "collections.Counter": _dict(Counter),
    "builtins.set": _set(set),
    "builtins.frozenset": _set(frozenset),
    "builtins.complex": _complex,
    "builtins.bytearray": _octets,
    "builtins.bytes": _no_octets,
    "_codecs.encode": _encode,
    **NUMPY,
    **{f"torch.{name}": _never(name) for name in STORAGES},
    **{f"torch.cuda.{name}": _never(name) for name in STORAGES},
}


def resolve(module: str, name: str) -> Maker | Unbuilt | Dtype:
    """What a file's name stands for: a Maker, or a dtype.

    Errors: UnsupportedError, naming what is refused."""
    path = f"{'builtins' if module == '__builtin__' else module}.{name}"
    if path in TABLE:
        return Maker(path, TABLE[path], COSTS.get(path))
    if module == "torch" and name in DTYPES:
        return DTYPES[name]
    if path in map(name_of, _safe):
        return Unbuilt(path, None)
    if module == "torch._utils" and name in _WITHOUT:
        raise UnsupportedError(f"load: the file has {_WITHOUT[name]}, which libdl does not have")
    if module == "torch":
        raise UnsupportedError(f"load: the file uses torch.{name:.80}, which libdl has not")
    raise RefusedName(
        f"load: the file wants {path[:160]}, and load builds tensors and plain values alone, "
        "running no code (weights_only=True). If you trust whoever wrote the file, "
        "load(..., weights_only=False) runs what it says, which may be anything; else save a "
        "state_dict() instead, or load it as a mere record after "
        f"serialization.add_safe_globals([{path[:160]!r}])"
    )


def unsafe(path: str) -> bool:
    """Whether `resolve` refuses a name."""
    try:
        resolve(*path.rsplit(".", 1))
    except UnsupportedError:
        return True
    return False
