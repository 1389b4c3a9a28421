# SPDX-License-Identifier: Apache-2.0
"""The names that a checkpoint of PyTorch may use, and what each of them makes here. A name that is
not in these tables is refused; nothing is ever imported because a file asks for it."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from .. import _functions, _types
from .._C import Tensor
from .._errors import FormatError, UnsupportedError
from .._types import Size, device as Device, dtype as Dtype, layout as Layout
from ._numpy import NUMPY
from ._values import Maker, Unbuilt, attach, checked_key

DTYPES: dict[str, Dtype] = {
    name: _types.by_name(name)
    for name in (
        "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
        "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
    )
}  # fmt: skip
# The kinds of storage that name a dtype; UntypedStorage counts bytes.
STORAGES: dict[str, Dtype] = {
    f"{name}Storage": DTYPES[dtype]
    for name, dtype in {
        "Bool": "bool", "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32",
        "Long": "int64", "Half": "float16", "BFloat16": "bfloat16", "Float": "float32",
        "Double": "float64", "ComplexFloat": "complex64", "ComplexDouble": "complex128",
    }.items()
}  # fmt: skip
_WITHOUT = {
    "_rebuild_qtensor": "quantized tensors",
    "_rebuild_nested_tensor": "nested tensors",
    "_rebuild_meta_tensor_no_storage": "tensors without elements (device meta)",
    "_rebuild_wrapper_subclass": "wrapped tensors",
}
_safe: list[Any] = []  # as add_safe_globals got them


def name_of(entry: Any) -> str:
    """The name under which a file refers to it: "module.name"."""
    if isinstance(entry, tuple):
        return str(entry[1])
    return entry if isinstance(entry, str) else f"{entry.__module__}.{entry.__qualname__}"


def safe_list() -> list[Any]:
    return _safe


# -- tensors ---------------------------------------------------------------------------------------


def _numbers(values: Any, what: str) -> tuple[int, ...]:
    if not isinstance(values, tuple) or not all(type(n) is int and n >= 0 for n in values):
        raise FormatError(f"load: a tensor's {what} are no tuple of counts")
    return values


def _no_hooks(hooks: Any) -> None:
    if hooks:
        raise UnsupportedError("load: a tensor has hooks, which are code; remove them before saving")


def _bits(x: Tensor, metadata: Any) -> Tensor:
    if metadata is not None and type(metadata) is not dict:
        raise FormatError("load: a tensor's marks are no dict")
    for bit, is_set in (metadata or {}).items():
        if bit not in ("conj", "neg"):
            raise UnsupportedError(f"load: a tensor has the mark {bit!r}, which libdl does not know")
        if is_set:
            x = _functions.conj(x) if bit == "conj" else -x
    return x


def _tensor(storage: Any, dtype: Dtype, offset: Any, size: Any, strides: Any, requires_grad: Any,
            metadata: Any) -> Tensor:  # fmt: skip
    if not isinstance(storage, Tensor) or storage.ndim != 1:
        raise FormatError(f"load: a tensor over a {type(storage).__name__}, wanted a storage")
    size, strides = _numbers(size, "sizes"), _numbers(strides, "strides")
    (offset,) = _numbers((offset,), "offsets")
    if len(size) != len(strides) or len(size) > 64:
        raise FormatError(f"load: a tensor has {len(size)} sizes and {len(strides)} strides")
    if dtype is _types.bool_ and storage.dtype is not dtype:
        raise FormatError("load: a tensor of truth values over a storage of other elements")
    held = storage if storage.dtype is dtype else storage.view(dtype)
    made = _bits(held.as_strided(size, strides, offset).detach(), metadata)
    if requires_grad is not False:
        made.requires_grad = bool(requires_grad)
    return made


def _old_tensor(storage: Any, offset: Any, size: Any, strides: Any) -> Tensor:
    return _tensor(storage, storage.dtype, offset, size, strides, False, None)


def _typed_tensor(storage: Any, offset: Any, size: Any, strides: Any, requires_grad: Any = False,
                  hooks: Any = None, metadata: Any = None) -> Tensor:  # fmt: skip
    _no_hooks(hooks)
    return _tensor(storage, storage.dtype, offset, size, strides, requires_grad, metadata)


def _any_tensor(storage: Any, offset: Any, size: Any, strides: Any, requires_grad: Any, hooks: Any,
                dtype: Any, metadata: Any = None) -> Tensor:  # fmt: skip
    _no_hooks(hooks)
    if not isinstance(dtype, Dtype):
        raise FormatError(f"load: a tensor's dtype is a {type(dtype).__name__}")
    return _tensor(storage, dtype, offset, size, strides, requires_grad, metadata)


def _sparse_tensor(layout: Any, parts: Any) -> Tensor:
    from .._sparse import sparse_coo_tensor

    if layout is not _types.sparse_coo:
        raise UnsupportedError(f"load: a tensor of layout {layout}; convert it before saving")
    if not isinstance(parts, tuple) or len(parts) < 3:
        raise FormatError("load: a sparse tensor without indices, values and size")
    indices, values, size = parts[:3]
    if not (isinstance(indices, Tensor) and isinstance(values, Tensor) and isinstance(size, Size)):
        raise FormatError("load: a sparse tensor without indices, values and size")
    return sparse_coo_tensor(indices, values, size)


def _cost_of_bits(arguments: tuple[Any, ...]) -> int:
    """Conjugation and negation make a copy of all elements, and a view may repeat its storage's."""
    if type(arguments[-1]) is not dict:
        return 0
    return 16 * math.prod(_numbers(arguments[2], "sizes"))


def _cost_of_type(arguments: tuple[Any, ...]) -> int:
    function, inner = arguments[0], arguments[2]
    return function.cost(inner) if type(function) is Maker and function.cost else 0


def _cost_of_sparse(arguments: tuple[Any, ...]) -> int:
    parts = arguments[-1]
    tensors = [x for x in parts if isinstance(x, Tensor)] if isinstance(parts, tuple) else []
    return sum(x.numel() * x.dtype.itemsize for x in tensors)


def _parameter(data: Any, requires_grad: Any, hooks: Any = None, state: Any = None) -> Tensor:
    from ..nn import Parameter

    _no_hooks(hooks)
    if not isinstance(data, Tensor):
        raise FormatError(f"load: a Parameter over a {type(data).__name__}")
    made: Tensor = Parameter(data.detach(), bool(requires_grad))
    _attributes(made, state)
    return made


def _attributes(made: Tensor, state: Any) -> None:
    own, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if slots:
        raise UnsupportedError("load: a tensor with __slots__")
    if own:
        attach(made, own)


def _of_type(function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
    if type(function) is not Maker or not function.name.startswith("torch._utils._rebuild"):
        raise FormatError("load: a tensor that is made by no function for tensors")
    made: Tensor = function.make(*arguments)
    if getattr(kind, "name", None) == "torch.nn.parameter.Parameter":
        made = _parameter(made, made.requires_grad)
    elif getattr(kind, "name", None) != "torch.Tensor":
        raise UnsupportedError(f"load: a tensor of the class {getattr(kind, 'name', kind)}")
    _attributes(made, state)
    return made


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


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise FormatError("load: bytes that are not text in latin1")
    return text.encode("latin1")


def _octets(content: Any = b"") -> bytearray:
    if not isinstance(content, bytes):  # a number would be a size
        raise FormatError(f"load: a bytearray of a {type(content).__name__}")
    return bytearray(content)


def _no_octets() -> bytes:
    """Python 3 pickles others as text, see _encode."""
    return b""


def _complex(real: Any, imaginary: Any) -> complex:
    if not isinstance(real, float) or not isinstance(imaginary, float):
        raise FormatError("load: a complex number of other things than two numbers")
    return complex(real, imaginary)


def _size(sizes: Any = ()) -> Size:
    return Size(_numbers(tuple(sizes) if isinstance(sizes, list) else sizes, "sizes"))


def _device(kind: Any, index: Any = None) -> Device:
    if not isinstance(kind, str) or not (index is None or type(index) is int):
        raise FormatError("load: a device without a name")
    return Device(kind, index)


def _layout(name: Any) -> Layout:
    if not isinstance(name, str):
        raise FormatError("load: a layout without a name")
    if name == "torch.strided":
        return _types.strided
    if name == "torch.sparse_coo":
        return _types.sparse_coo
    raise UnsupportedError(f"load: the layout {name!r:.80}")


def _never(name: str) -> Callable[..., Any]:
    def make(*arguments: Any) -> Any:
        raise FormatError(f"load: a call of {name}, which is a kind")

    return make


TABLE: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _old_tensor,
    "torch._utils._rebuild_tensor_v2": _typed_tensor,
    "torch._utils._rebuild_tensor_v3": _any_tensor,
    "torch._utils._rebuild_sparse_tensor": _sparse_tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._tensor._rebuild_from_type_v2": _of_type,
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


_COSTS = {
    "torch._utils._rebuild_tensor_v2": _cost_of_bits,
    "torch._utils._rebuild_tensor_v3": _cost_of_bits,
    "torch._utils._rebuild_sparse_tensor": _cost_of_sparse,
    "torch._tensor._rebuild_from_type_v2": _cost_of_type,
}


def resolve(module: str, name: str) -> Any:
    """What a file's name stands for: a Maker, or a dtype.

    Errors: UnsupportedError, naming what is refused."""
    path = f"{'builtins' if module == '__builtin__' else module}.{name}"
    if path in TABLE:
        return Maker(path, TABLE[path], _COSTS.get(path))
    if module == "torch" and name in DTYPES:
        return DTYPES[name]
    if path in map(name_of, _safe):
        return Unbuilt(path, None)
    if module == "torch._utils" and name in _WITHOUT:
        raise UnsupportedError(f"load: the file has {_WITHOUT[name]}, which libdl does not have")
    if module == "torch":
        raise UnsupportedError(f"load: the file uses torch.{name:.80}, which libdl does not have")  # fmt: skip
    raise UnsupportedError(
        f"load: the file wants {path[:160]}, and libdl builds tensors and plain values alone, "
        "running no code. Save a state_dict() instead; or load it as a mere record after "
        f"serialization.add_safe_globals([{path[:160]!r}])"
    )


def unsafe(path: str) -> bool:
    """Whether `resolve` refuses a name."""
    try:
        resolve(*path.rsplit(".", 1))
    except UnsupportedError:
        return True
    return False
