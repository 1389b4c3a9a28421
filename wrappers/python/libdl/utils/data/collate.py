# SPDX-License-Identifier: Apache-2.0
"""Samples to a batch: numbers and tensors are stacked, containers are kept."""

from __future__ import annotations

import copy
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from operator import attrgetter
from typing import Any

from ... import _creation, _functions as F
from ..._C import Tensor
from ..._types import dtype as Dtype, float64

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

_TEXT = (str, bytes)


def _is_numpy(x: Any) -> bool:
    """Whether it is an array or a scalar of NumPy, which need not be installed."""
    return type(x).__module__ == "numpy" and hasattr(x, "dtype")


def _is_text(x: Any) -> bool:
    """Of NumPy's arrays and scalars, whether it cannot become a tensor."""
    return x.dtype.kind in "SUaO"


def _is_named(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def default_convert(data: Any) -> Any:
    """NumPy's arrays in the data become tensors; containers are kept, and all else, too."""
    if isinstance(data, Tensor):
        return data
    if _is_numpy(data):
        return data if _is_text(data) else _creation.as_tensor(data)
    if isinstance(data, Mapping):
        return _as_mapping(data, {key: default_convert(data[key]) for key in data})
    if _is_named(data):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(x) for x in data]
    if isinstance(data, Sequence) and not isinstance(data, _TEXT):
        return _as_sequence(data, [default_convert(x) for x in data])
    return data


def _as_mapping(like: Mapping[Any, Any], content: dict[Any, Any]) -> Any:
    """Of the same type where that can be made."""
    try:
        if isinstance(like, MutableMapping):
            copied = copy.copy(like)
            copied.update(content)
            return copied
        return type(like)(content)  # type: ignore[call-arg]
    except TypeError:
        return content


def _as_sequence(like: Sequence[Any], content: list[Any]) -> Any:
    try:
        if isinstance(like, MutableSequence):
            copied = copy.copy(like)
            for i, x in enumerate(content):
                copied[i] = x
            return copied
        return type(like)(content)  # type: ignore[call-arg]
    except TypeError:
        return content


def collate(
    batch: Any,
    *,
    collate_fn_map: dict[type | tuple[type, ...], Callable[..., Any]] | None = None,
) -> Any:
    """A batch of a list of samples. collate_fn_map tells by the samples' type which function
    collates them: f(samples, collate_fn_map=...)."""
    first = batch[0]
    function = _function_for(first, collate_fn_map)
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)

    def columns(samples: Iterable[Any]) -> list[Any]:
        return [collate(x, collate_fn_map=collate_fn_map) for x in zip(*samples, strict=True)]

    if isinstance(first, Mapping):
        return _as_mapping(
            first,
            {key: collate([x[key] for x in batch], collate_fn_map=collate_fn_map) for key in first},
        )
    if _is_named(first):
        return type(first)(*columns(batch))
    if isinstance(first, Sequence) and not isinstance(first, _TEXT):
        sizes = [len(x) for x in batch]
        if any(size != sizes[0] for size in sizes):
            raise RuntimeError("each element in list of batch should be of equal size")
        found = columns(batch)
        return found if isinstance(first, tuple) else _as_sequence(first, found)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first)}"
    )


def _function_for(first: Any, functions: Any) -> Callable[..., Any] | None:
    """The function for samples like the first: that of its type, or of the first type in the map
    that it is an instance of."""
    if not functions:
        return None
    chosen: Callable[..., Any] | None = functions.get(type(first))
    if chosen is not None:
        return chosen
    return next((f for kind, f in functions.items() if isinstance(first, kind)), None)


_Empty = Callable[[tuple[int, ...], Dtype], Tensor | None]


class _Place(threading.local):
    """Where this thread's batches are to lie."""

    empty: _Empty | None = None
    opened = False  # a batch is being collated


_place = _Place()
_LEAST = 16 * 1024  # bytes: smaller ones are copied there later, which costs less than a tensor


_PLAIN = {Tensor}
_dtype_of, _shape_of = attrgetter("dtype"), attrgetter("shape")
_requires_grad = attrgetter("requires_grad")


def collate_into(empty: _Empty | None) -> None:
    """In this thread, batches are stacked into tensors that `empty` makes, unless it returns
    None."""
    _place.empty = empty


def collated(collate_fn: Callable[[Any], Any], samples: Any) -> Any:
    """The batch. Only here is it stacked into its place: what else is collated, such as parts of a
    sample, may be kept for longer."""
    _place.opened = True
    try:
        return collate_fn(samples)
    finally:
        _place.opened = False


def _place_for(tensors: list[Any]) -> Tensor | None:
    """Where they are to be stacked, if the result is a plain tensor of their dtype."""
    if _place.empty is None or not _place.opened:
        return None
    first, count = tensors[0], len(tensors)
    dtype = first.dtype
    if first.numel() * dtype.itemsize * count < _LEAST or first.is_sparse or not first.is_cpu:
        return None
    if set(map(type, tensors)) != _PLAIN or set(map(_dtype_of, tensors)) != {dtype}:
        return None
    if any(map(_requires_grad, tensors)):
        return None
    return _place.empty((count, *first.shape), dtype)


def stacks_rows(collate_fn: Callable[[Any], Any], tensors: Iterable[Tensor]) -> bool:
    """Whether tuples of rows of these tensors become what indexing the tensors gives."""
    functions = default_collate_fn_map
    return (
        collate_fn is default_collate
        and _function_for((), functions) is None
        and functions.get(Tensor) is collate_tensor_fn
        and all(type(x) is Tensor and not x.is_sparse for x in tensors)
    )


def _stacked(tensors: list[Any]) -> Tensor:
    return F.stack(tensors, out=_place_for(tensors))


class _OfNumpy(type):
    """A class of what is an instance of some of NumPy's types, which need not be installed, and is
    not imported here."""

    names: tuple[str, ...]

    def __instancecheck__(cls, instance: Any) -> bool:
        numpy = sys.modules.get("numpy")
        return numpy is not None and isinstance(
            instance, tuple(getattr(numpy, n) for n in cls.names)
        )


class _Array(metaclass=_OfNumpy):
    names = ("ndarray",)


class _Scalar(metaclass=_OfNumpy):
    names = ("bool_", "number", "object_")


def _stacked_arrays(arrays: Sequence[Any]) -> Tensor | None:
    """All at once, if they are alike; else None."""
    numpy = sys.modules["numpy"]
    shapes, dtypes = set(map(_shape_of, arrays)), set(map(_dtype_of, arrays))
    plain = set(map(type, arrays)) <= {numpy.ndarray, numpy.memmap}
    if not plain or len(shapes) > 1 or len(dtypes) > 1 or not arrays[0].dtype.isnative:
        return None
    (shape,), dtype = shapes, _creation.from_numpy(numpy.empty(0, *dtypes)).dtype
    count = len(arrays)
    made = None
    if _place.empty and _place.opened and count * arrays[0].nbytes >= _LEAST:
        made = _place.empty((count, *shape), dtype)
    if made is None:
        made = F.empty((count, *shape), dtype=dtype)
    there = made.numpy()
    if shape:
        numpy.concatenate(arrays, out=there.reshape((count * shape[0], *shape[1:])))
    else:
        there[:] = arrays
    return made


_Map = dict[type | tuple[type, ...], Callable[..., Any]]


def collate_tensor_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Tensor:
    """Tensors, stacked."""
    return _stacked(list(batch))


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Any:
    """Arrays, as tensors."""
    if _is_text(batch[0]):
        raise TypeError(
            "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
            f"found an array of {batch[0].dtype}"
        )
    if collate_fn_map is not None and collate_fn_map.get(Tensor) is collate_tensor_fn:
        stacked = _stacked_arrays(batch)
        if stacked is not None:
            return stacked
    return collate([_creation.as_tensor(x) for x in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Tensor:
    """NumPy's numbers: a vector."""
    if len(set(map(type, batch))) == 1 and not _is_text(batch[0]):
        made: Tensor = _creation.from_numpy(sys.modules["numpy"].array(batch))
        return made
    return F.stack([_creation.as_tensor(x) for x in batch])


def collate_float_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Tensor:
    """Numbers: a vector of float64."""
    return _creation.tensor(list(batch), dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Tensor:
    """Integers or bools: a vector."""
    return _creation.tensor(list(batch))


def collate_str_fn(batch: Any, *, collate_fn_map: _Map | None = None) -> Any:
    """Texts as they are."""
    return batch


# Which function collates samples of which type; collate() asks in this order.
default_collate_fn_map: _Map = {
    Tensor: collate_tensor_fn,
    _Array: collate_numpy_array_fn,
    _Scalar: collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """What a DataLoader does with a list of samples unless it has another collate_fn.

    Tensors and NumPy's arrays are stacked along a new first dimension; ints, floats (float64) and
    bools become a tensor; texts a list; dictionaries, named tuples, tuples and lists keep their
    structure, with a batch in place of each value. A tuple becomes a list, as in PyTorch."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
