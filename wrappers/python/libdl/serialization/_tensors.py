# SPDX-License-Identifier: Apache-2.0
"""Tensors as checkpoints describe them: a storage, an offset, sizes and strides."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import _functions, _types
from .._C import Tensor
from .._errors import FormatError, UnsupportedError
from .._types import DtypeLike, Size, dtype as Dtype
from ._values import Maker, attach


def counts(values: Any, what: str) -> tuple[int, ...]:
    """The values, if they are a tuple of integers from 0 on."""
    if not isinstance(values, tuple) or not all(type(n) is int and n >= 0 for n in values):
        raise FormatError(f"load: a tensor's {what} are no tuple of counts")
    return values


def _no_hooks(hooks: object) -> None:
    if hooks:
        raise UnsupportedError("load: a tensor has hooks, which are code; save it without")


def _bits(x: Tensor, metadata: object) -> Tensor:
    if metadata is not None and type(metadata) is not dict:
        raise FormatError("load: a tensor's marks are no dict")
    for bit, is_set in (metadata or {}).items():
        if bit not in ("conj", "neg"):
            raise UnsupportedError(f"load: a tensor has the mark {bit!r}, unknown to libdl")
        if is_set:
            x = _functions.conj(x) if bit == "conj" else -x
    return x


def _geometry(
    size: Sequence[int], strides: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    size, strides = counts(size, "sizes"), counts(strides, "strides")
    if len(size) != len(strides) or len(size) > 64:
        raise FormatError(f"load: a tensor has {len(size)} sizes and {len(strides)} strides")
    return size, strides


def _check_dtype(dtype: object) -> None:
    if not isinstance(dtype, Dtype):
        raise FormatError(f"load: a tensor's dtype is a {type(dtype).__name__}")


def _tensor(
    storage: object,
    dtype: Dtype,
    offset: object,
    size: Sequence[int],
    strides: Sequence[int],
    requires_grad: object,
    metadata: object,
) -> Tensor:
    if not isinstance(storage, Tensor) or storage.ndim != 1:
        raise FormatError(f"load: a tensor over a {type(storage).__name__}, wanted a storage")
    size, strides = _geometry(size, strides)
    (offset,) = counts((offset,), "offsets")
    if dtype is _types.bool_ and storage.dtype is not dtype:
        raise FormatError("load: a tensor of truth values over a storage of other elements")
    held = storage if storage.dtype is dtype else storage.view(dtype)
    result = _bits(held.as_strided(size, strides, offset).detach(), metadata)
    if requires_grad is not False:
        result.requires_grad = bool(requires_grad)
    return result


def _old_tensor(storage: Any, offset: Any, size: Any, strides: Any) -> Tensor:
    return _tensor(storage, storage.dtype, offset, size, strides, False, None)


def _typed_tensor(
    storage: Any,
    offset: Any,
    size: Any,
    strides: Any,
    requires_grad: Any = False,
    hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    _no_hooks(hooks)
    return _tensor(storage, storage.dtype, offset, size, strides, requires_grad, metadata)


def _any_tensor(
    storage: Any,
    offset: Any,
    size: Any,
    strides: Any,
    requires_grad: Any,
    hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    _no_hooks(hooks)
    _check_dtype(dtype)
    return _tensor(storage, dtype, offset, size, strides, requires_grad, metadata)


def _meta_tensor(
    dtype: DtypeLike, size: Sequence[int], strides: Sequence[int], requires_grad: object
) -> Tensor:
    """One without elements: all that a file has of it."""
    _check_dtype(dtype)
    size, strides = _geometry(size, strides)
    result = _functions.empty_strided(size, strides, dtype=dtype, device="meta")
    result.requires_grad = bool(requires_grad)
    return result


def _sparse_tensor(layout: object, parts: object) -> Tensor:
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
    return 16 * math.prod(counts(arguments[2], "sizes"))


def _cost_of_type(arguments: tuple[Any, ...]) -> int:
    function, inner = arguments[0], arguments[2]
    known = type(function) is Maker and function.cost and isinstance(inner, tuple)
    return function.cost(inner) if known else 0


def _cost_of_sparse(arguments: tuple[Any, ...]) -> int:
    parts = arguments[-1]
    tensors = [x for x in parts if isinstance(x, Tensor)] if isinstance(parts, tuple) else []
    return sum(x.numel() * x.dtype.itemsize for x in tensors)


def _parameter(
    data: object, requires_grad: object, hooks: object = None, state: object = None
) -> Tensor:
    from ..nn import Parameter

    _no_hooks(hooks)
    if not isinstance(data, Tensor):
        raise FormatError(f"load: a Parameter over a {type(data).__name__}")
    parameter: Tensor = Parameter(data.detach(), bool(requires_grad))
    _attributes(parameter, state)
    return parameter


def _attributes(tensor: Tensor, state: object) -> None:
    if state is not None:
        attach(tensor, state)


def _of_type(function: Any, kind: object, arguments: object, state: object) -> Tensor:
    if type(function) is not Maker or not function.name.startswith("torch._utils._rebuild"):
        raise FormatError("load: a tensor that is made by no function for tensors")
    if not isinstance(arguments, tuple):
        raise FormatError("load: a tensor that is made without a tuple of arguments")
    result: Tensor = function.make(*arguments)
    if getattr(kind, "name", None) == "torch.nn.parameter.Parameter":
        result = _parameter(result, result.requires_grad)
    elif getattr(kind, "name", None) != "torch.Tensor":
        raise UnsupportedError(f"load: a tensor of the class {getattr(kind, 'name', kind)}")
    _attributes(result, state)
    return result


TENSORS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _old_tensor,
    "torch._utils._rebuild_tensor_v2": _typed_tensor,
    "torch._utils._rebuild_tensor_v3": _any_tensor,
    "torch._utils._rebuild_meta_tensor_no_storage": _meta_tensor,
    "torch._utils._rebuild_sparse_tensor": _sparse_tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._tensor._rebuild_from_type_v2": _of_type,
}
# What a call computes, in bytes, beyond making a view.
COSTS: dict[str, Callable[[tuple[Any, ...]], int]] = {
    "torch._utils._rebuild_tensor_v2": _cost_of_bits,
    "torch._utils._rebuild_tensor_v3": _cost_of_bits,
    "torch._utils._rebuild_sparse_tensor": _cost_of_sparse,
    "torch._tensor._rebuild_from_type_v2": _cost_of_type,
}
