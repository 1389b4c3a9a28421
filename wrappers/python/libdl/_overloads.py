# SPDX-License-Identifier: Apache-2.0
"""The functions that have several signatures, as in PyTorch."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _C, _functions, return_types
from ._C import Overridden, Tensor, overridable
from ._documents import FUNCTIONS, METHODS
from ._errors import ArgumentValueError, EmptyError, Error, rename_error
from ._out import both_copied, copied, write, write_leaf
from ._overrides import override
from ._types import (
    DeviceLike,
    DtypeLike,
    Generator,
    Number,
    ValuesIndices,
    dtype as Dtype,
    in_format,
)

__all__ = [
    "arange",
    "max",
    "min",
    "norm",
    "randint",
    "randint_like",
    "repeat_interleave",
    "scatter",
    "split",
    "where",
]


# What errors call the destinations, which follow input, dim (or correction) and keepdim.
_WITH_OUT = {
    "dst": (4, "out"),
    "values_dst": (4, "out[0]"),
    "indices_dst": (4, "out[1]"),
    "dims": (2, "dim"),
}


def _extremum(name: str) -> Callable[..., Any]:
    whole, along, pairwise = (
        getattr(_C, name),
        getattr(_C, f"{name}_dim"),
        getattr(_C, f"{name}imum"),
    )
    whole_into = getattr(_C, f"{name}_into")
    along_into = getattr(_C, f"{name}_dim_into")
    pairwise_into = getattr(_C, f"{name}imum_into")
    pair = getattr(return_types, name)

    @overridable
    def extremum(
        input: Tensor,
        dim: Tensor | int | None = None,
        keepdim: bool = False,
        *,
        other: Tensor | None = None,
        axis: int | None = None,
        keepdims: bool | None = None,
        out: Any = None,
    ) -> Any:
        try:
            if axis is not None:
                dim = axis
            if keepdims is not None:
                keepdim = keepdims
            if other is None and isinstance(dim, Tensor):
                dim, other = None, dim
            if other is not None:
                if out is not None:
                    return write(pairwise_into, (input, other), out)
                return pairwise(input, other)
            if dim is None:
                return whole(input) if out is None else write(whole_into, (input,), out)
            if out is not None:
                return pair(*write(along_into, (input, dim, keepdim), *out))
            return pair(*along(input, dim, keepdim))
        except Error as error:
            rename_error(error, name, "", _WITH_OUT)
            raise

    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = FUNCTIONS[name]
    return extremum


if TYPE_CHECKING:

    @overload
    def max(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def max(
        input: Tensor,
        dim: int,
        keepdim: bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> ValuesIndices: ...
    @overload
    def max(input: Tensor, *, axis: int, keepdims: bool = False) -> ValuesIndices: ...
    @overload
    def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    def max(input: Tensor, *arguments: Any, **keywords: Any) -> Any: ...

    @overload
    def min(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def min(
        input: Tensor,
        dim: int,
        keepdim: bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> ValuesIndices: ...
    @overload
    def min(input: Tensor, *, axis: int, keepdims: bool = False) -> ValuesIndices: ...
    @overload
    def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    def min(input: Tensor, *arguments: Any, **keywords: Any) -> Any: ...

else:
    max = _extremum("max")
    min = _extremum("min")


@overridable
def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    try:
        if isinstance(split_size_or_sections, int):
            return _C.split(tensor, split_size_or_sections, dim)
        return _C.split_with_sizes(tensor, split_size_or_sections, dim)
    except Error as error:
        rename_error(error, "split")
        raise


@overridable
def _split_method(
    self: Tensor, split_size: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    return split(self, split_size, dim)


@overridable
def repeat_interleave(
    input: Tensor | None = None,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    axis: int | None = None,
    output_size: int | None = None,
) -> Tensor:
    dim = dim if axis is None else axis
    if input is None or repeats is None:
        return _repeated_places(repeats if input is None else input, output_size)
    if _C.has_override(repeats):
        return override(repeat_interleave, input, repeats, dim, output_size=output_size)
    try:
        result = _repeat_interleave(input, repeats, dim)
    except Error as error:
        rename_error(error, "repeat_interleave")
        raise
    size = result.numel() if dim is None else result.shape[dim]
    if output_size is not None and output_size != size:
        raise ArgumentValueError(
            f"repeat_interleave: output_size is {output_size}, wanted {size}, the sum of repeats"
        )
    return result


def _repeated_places(repeats: Any, output_size: int | None) -> Tensor:
    """Each place of repeats as often as the number that stands there says."""
    if not isinstance(repeats, Tensor) or repeats.ndim != 1:
        raise TypeError("repeat_interleave: wanted an input and repeats, or repeats alone, [n]")
    if _C.has_override(repeats):
        return override(repeat_interleave, repeats, output_size=output_size)
    places = arange(0, repeats.shape[0], dtype=repeats.dtype, device=repeats.device)
    return repeat_interleave(places, repeats, 0, output_size=output_size)


def _repeat_interleave(input: Tensor, repeats: int | Tensor, dim: int | None) -> Tensor:
    if not isinstance(repeats, Tensor):
        return _C.repeat_interleave(input, repeats, dim)
    if repeats.ndim > 1 or repeats.dtype.name not in ("int64", "int32"):
        raise TypeError(
            f"repeat_interleave: argument 2 (repeats) is {repeats.dtype} of shape "
            f"{list(repeats.shape)}, wanted a number or int64 or int32 in one dimension"
        )
    if input.ndim == 0 and dim is not None:
        return _C.repeat_interleave(input, 0, dim)  # raises
    if repeats.numel() == 1:
        return _C.repeat_interleave(input, int(repeats.item()), dim)
    rows = _C.flatten(input, 0, -1) if dim is None else input
    return _C.index_select(rows, dim or 0, _repeated(rows, repeats.tolist(), dim or 0))


def _repeated(rows: Tensor, counts: list[int], dim: int) -> Tensor:
    """The index that reads row i counts[i] times."""
    from ._creation import tensor

    name = "repeat_interleave: argument 2 (repeats)"
    if any(count < 0 for count in counts):
        raise ArgumentValueError(f"{name} holds a negative count, wanted 0 or more each")
    if -rows.ndim <= dim < rows.ndim and len(counts) != rows.shape[dim]:
        raise ArgumentValueError(f"{name} has {len(counts)} entries, wanted 1 or {rows.shape[dim]}")
    return tensor([i for i, count in enumerate(counts) for _ in range(count)], dtype=int)


@overridable
def norm(
    input: Tensor,
    p: float | str | None = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: DtypeLike | None = None,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | None = None,
    out: Tensor | None = None,
) -> Tensor:
    if isinstance(p, str):
        if p == "nuc":
            from ._nuclear_norm import nuclear_norm

            norms = nuclear_norm(
                input,
                dim if axis is None else axis,
                keepdim if keepdims is None else keepdims,
                dtype,
            )
            return norms if out is None else _functions.mul(norms, 1, out=out)
        if p != "fro":
            raise ValueError(f"norm: argument 2 (p) is {p!r}, wanted a number, 'fro' or 'nuc'")
        p = 2
    p = 2 if p is None else p
    return _functions.norm(
        input,
        p,
        dim if axis is None else axis,
        keepdim if keepdims is None else keepdims,
        dtype,
        out=out,
    )


def _view(self: Tensor, *shape: Any, size: Any = None, dtype: DtypeLike | None = None) -> Tensor:
    try:
        if size is not None:
            shape = size
        elif len(shape) == 1 and not isinstance(shape[0], int):
            if isinstance(shape[0], (Dtype, type)):
                return _C.view_dtype(self, shape[0])
            shape = shape[0]
        if dtype is not None:
            return _C.view_dtype(self, dtype)
        return _C.view(self, shape)
    except Overridden:
        return override(Tensor.view, self, *shape)


def _bounds(
    name: str,
    values: list[Any],
    low: Number | None,
    high: Number | None,
    size: Sequence[int] | None,
) -> tuple[Any, Any, Any]:
    if size is None and values and not isinstance(values[-1], int):
        size = values.pop()
    if len(values) == 2:
        low, high = values
    elif len(values) == 1:
        if high is None:
            high = values[0]
        else:
            low = values[0]
    if high is None or len(values) > 2:
        raise TypeError(f"{name}: wanted {name}(high, ...) or {name}(low, high, ...)")
    return low, high, size


@overridable
def arange(
    start: Number = 0,
    end: Number | None = None,
    step: Number = 1,
    *,
    out: Tensor | None = None,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: object = None,
    pin_memory: bool = False,
) -> Tensor:
    if end is None:
        start, end = 0, start
    if out is not None:
        requested = out.dtype if dtype is None else dtype
        return write_leaf(_C.arange_into, (start, end, step, requested, device), out, requires_grad)
    result: Tensor = _C.arange(start, end, step, dtype, device)
    if pin_memory:
        result = _C.pin_memory(result, None)
    if requires_grad:
        result.requires_grad = True
    return result


@overridable
def randint(
    *bounds: Any,
    low: int | None = None,
    high: int | None = None,
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: object = None,
    pin_memory: bool = False,
) -> Tensor:
    low, high, size = _bounds("randint", list(bounds), low, high, size)
    if size is None:
        raise TypeError("randint: size must be given")
    if out is not None:
        requested = out.dtype if dtype is None else dtype
        arguments = (low, high, size, generator, requested, device)
        return write_leaf(_C.randint_into, arguments, out, requires_grad)
    result: Tensor = _C.randint(low, high, size, generator, dtype, device)
    if pin_memory:
        result = _C.pin_memory(result, None)
    if requires_grad:
        result.requires_grad = True
    return result


@overridable
def randint_like(
    input: Tensor,
    *bounds: Any,
    low: int | None = None,
    high: int | None = None,
    generator: Generator | None = None,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: object = None,
    pin_memory: bool = False,
    memory_format: object = None,
) -> Tensor:
    low, high, _ = _bounds("randint_like", list(bounds), low, high, ())
    result = in_format(_C.randint_like(input, low, high, generator, dtype, device), memory_format)
    if pin_memory:
        result = _C.pin_memory(result, None)
    if requires_grad:
        result.requires_grad = True
    return result


@overridable
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    try:
        source: Any = value if src is None else src
        if out is not None:
            return write(_C.scatter_into, (input, dim, index, source, reduce), out)
        return _C.scatter(input, dim, index, source, reduce)
    except Error as error:
        rename_error(error, "scatter", "scatter", {"dst": (6, "out")})
        raise


@overridable
def _scatter_(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """In place: see libdl.scatter."""
    src = value if src is None else src
    try:
        return _C.scatter_into(self, dim, index, src, reduce, self)
    except Error as error:
        rename_error(error, "scatter", "scatter", {"dst": (6, "out")})
        raise


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(
    condition: Tensor, input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None
) -> Tensor: ...
@overridable
def where(
    condition: Tensor,
    input: Any = None,
    other: Any = None,
    *,
    out: Tensor | None = None,
) -> Tensor | tuple[Tensor, ...]:
    if input is None and other is None:
        return _nonzero(condition, as_tuple=True)
    return _functions.where(condition, input, other, out=out)


@overload
def _nonzero(
    input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def _nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
@overridable
def _nonzero(
    input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None
) -> Tensor | tuple[Tensor, ...]:
    if as_tuple:
        if input.ndim == 0:
            input = input.unsqueeze(0)
        return _functions.nonzero(input).unbind(1)
    return _functions.nonzero(input, out=out)


@overridable
def kthvalue(
    input: Tensor,
    k: int,
    dim: int = -1,
    keepdim: bool = False,
    *,
    axis: int | None = None,
    keepdims: bool | None = None,
    out: tuple[Tensor, Tensor] | None = None,
) -> ValuesIndices:
    dim = dim if axis is None else axis
    keepdim = keepdim if keepdims is None else keepdims
    try:
        result = return_types.kthvalue(*_C.kthvalue(input, k, dim, keepdim))
    except ArgumentValueError:
        if input.ndim and input.shape[dim] == 0:
            raise EmptyError(
                f"kthvalue: argument 3 (dim) is {dim}, of size 0, wanted 1 or more"
            ) from None
        raise
    return result if out is None else both_copied("kthvalue", 5, result, out)


@overridable
def _where_method(self: Tensor, condition: Tensor, other: Tensor | Number) -> Tensor:
    """The elements of the tensor where the condition holds, else those of other."""
    return _functions.where(condition, self, other)


def _var_like(name: str) -> Callable[..., Tensor]:
    generated = getattr(_functions, name)
    low, low_into = getattr(_C, name), getattr(_C, f"{name}_into")

    @overridable
    def spread(
        input: Tensor,
        dim: int | Sequence[int] | None = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: object = 1,
        axis: int | Sequence[int] | None = None,
        keepdims: bool | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        if isinstance(dim, bool):  # std(unbiased)
            dim, unbiased = None, dim
        dim = dim if axis is None else axis
        keepdim = keepdim if keepdims is None else keepdims
        if unbiased is not None:
            correction = int(unbiased)
        try:
            if out is not None:
                return write(low_into, (input, dim, correction, keepdim), out)
            return low(input, dim, correction, keepdim)
        except Error as error:
            rename_error(error, name, name, _WITH_OUT)
            raise

    spread.__name__ = spread.__qualname__ = name
    spread.__doc__ = generated.__doc__
    return spread


var = _var_like("var")
std = _var_like("std")


def _document(
    function: Callable[..., Any], name: str, text: str | None, method: bool = False
) -> None:
    function.__name__ = function.__qualname__ = name
    if text:
        function.__doc__ = text
    if method:
        setattr(Tensor, name, function)


for _function in (arange, split, randint, randint_like, scatter):
    _document(_function, _function.__name__, FUNCTIONS.get(_function.__name__))
norm.__doc__ = _functions.norm.__doc__
repeat_interleave.__doc__ = _functions.repeat_interleave.__doc__
where.__doc__ = _functions.where.__doc__
_nonzero.__doc__ = _functions.nonzero.__doc__
_document(_view, "view", METHODS.get("view"))
_C.register("view", _view)
_document(_scatter_, "scatter_", None, method=True)
_document(_where_method, "where", None, method=True)
_document(_split_method, "split", FUNCTIONS.get("split"), method=True)
_document(_nonzero, "nonzero", None)
nonzero = _nonzero
kthvalue.__doc__ = _functions.kthvalue.__doc__


@overridable
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    return copied(_functions.multinomial(input, num_samples, replacement, generator=generator), out)


multinomial.__doc__ = _functions.multinomial.__doc__
for _method in (max, min, norm, repeat_interleave, scatter, nonzero, var, std, kthvalue):
    setattr(Tensor, _method.__name__, _method)
__all__ += ["kthvalue", "multinomial", "nonzero", "std", "var"]

if not TYPE_CHECKING:
    # Calls with only sizes are handled in C; the generated function does the rest, and has the
    # signature.
    for _name in ("empty", "ones", "rand", "randn", "zeros"):
        _general = getattr(_functions, _name)
        _options = ", ".join(f"{key}={value!r}" for key, value in _general.__kwdefaults__.items())
        globals()[_name] = _C.creation(
            _name, _general, f"{_name}(*size_, {_options})\n--\n\n{_general.__doc__}"
        )
        setattr(_functions, _name, globals()[_name])
        __all__.append(_name)
