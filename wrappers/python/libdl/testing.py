# SPDX-License-Identifier: Apache-2.0
"""Comparisons for tests, with PyTorch's tolerances and the words of its messages.

Example:
    >>> torch.testing.assert_close(torch.tensor([1.]), torch.tensor([1. + 1e-7]))
    >>> torch.testing.assert_close(torch.tensor([1.]), torch.tensor([2.]))
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not close!
    ...
"""

from __future__ import annotations

import cmath
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from . import (
    Tensor,
    as_tensor,
    empty,
    finfo,
    iinfo,
    isclose,
    promote_types,
    randint,
    tensor,
    view_as_complex,
)
from ._types import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    device as Device,
    dtype,
    float16,
    float32,
    float64,
    int64,
    memory_format as MemoryFormat,
)

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

Message = str | Callable[[str], str] | None

# (rtol, atol), about the square root of a rounding error; all other dtypes are compared exactly.
_TOLERANCES = {
    float16: (1e-3, 1e-5),
    bfloat16: (1.6e-2, 1e-5),
    float32: (1.3e-6, 1e-5),
    float64: (1e-7, 1e-7),
    complex64: (1.3e-6, 1e-5),
    complex128: (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Raises an AssertionError unless |actual - expected| <= atol + rtol |expected| everywhere.

    Compares tensors, NumPy's arrays, numbers, None, and sequences and mappings of them.

    Arguments:
        rtol, atol: both or neither; None: by dtype, of two dtypes the larger ones
        equal_nan: whether NaN is equal to NaN
        check_device, check_dtype, check_layout, check_stride: whether these must agree
        msg: the error's text, or a function of the text that makes another
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            "assert_close: both 'rtol' and 'atol' must be either specified or omitted, "
            f"but got no {missing}"
        )
    chosen = None if rtol is None or atol is None else (rtol, atol)
    attributes = [
        name
        for name, enabled in (
            ("device", check_device),
            ("dtype", check_dtype),
            ("layout", check_layout),
            ("stride()", check_stride),
        )
        if enabled
    ]
    _Comparison(chosen, equal_nan, attributes, allow_subclasses, msg).compare(actual, expected, "")


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """assert_close with the wider tolerances of PyTorch's first years, for any two dtypes."""
    a = actual if isinstance(actual, Tensor) else tensor(actual)
    b = expected if isinstance(expected, Tensor) else tensor(expected, dtype=a.dtype)
    if rtol is None and atol is None:
        wider = {float16: (1e-3, 1e-3), float32: (1e-4, 1e-5), float64: (1e-5, 1e-8)}
        pairs = [wider.get(x.dtype, (0.0, 0.0)) for x in (a, b)]
        rtol, atol = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    assert_close(
        a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )


class _Comparison:
    def __init__(
        self,
        tolerances: tuple[float, float] | None,
        equal_nan: bool,
        attributes: list[str],
        allow_subclasses: bool,
        msg: Message,
    ) -> None:
        self.tolerances, self.equal_nan, self.msg = tolerances, equal_nan, msg
        self.attributes, self.allow_subclasses = attributes, allow_subclasses

    def fail(self, text: str, where: str) -> NoReturn:
        text = f"{text}\n\nThe failure occurred for item {where}" if where else text
        raise AssertionError(self.msg(text) if callable(self.msg) else self.msg or text)

    def compare(self, actual: Any, expected: Any, where: str) -> None:
        pair = (actual, expected)
        if _all_are(pair, Mapping):
            self.mappings(actual, expected, where)
        elif _all_are(pair, Sequence) and not any(isinstance(x, (str, bytes)) for x in pair):
            if len(actual) != len(expected):
                self.fail(
                    f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", where
                )
            for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
                self.compare(a, b, f"{where}[{i}]")
        elif actual is None or expected is None:
            if actual is not expected:
                self.fail(f"None mismatch: {actual} is not {expected}", where)
        elif any(isinstance(x, bool) for x in pair) and _all_are(pair, (bool, int, float, complex)):
            if actual is not expected:
                self.fail(f"Booleans mismatch: {actual} is not {expected}", where)
        elif _all_are(pair, (int, float, complex)):
            self.numbers(actual, expected, where)
        elif all(isinstance(x, Tensor) or hasattr(x, "__array__") for x in pair) and self.related(
            pair
        ):
            self.tensors(as_tensor(actual), as_tensor(expected), where)
        else:
            raise TypeError(
                "No comparison pair was able to handle inputs of type "
                f"{type(actual)} and {type(expected)}."
            )

    def related(self, pair: tuple[Any, Any]) -> bool:
        a, b = type(pair[0]), type(pair[1])
        return a is b if not self.allow_subclasses else issubclass(a, b) or issubclass(b, a)

    def mappings(self, actual: Mapping[Any, Any], expected: Mapping[Any, Any], where: str) -> None:
        missing, extra = expected.keys() - actual.keys(), actual.keys() - expected.keys()
        if missing or extra:
            self.fail(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing, key=str)}\n"
                f"Additional keys in the actual mapping: {sorted(extra, key=str)}",
                where,
            )
        for key in actual:
            self.compare(actual[key], expected[key], f"{where}[{key!r}]")

    def numbers(self, actual: complex, expected: complex, where: str) -> None:
        if "dtype" in self.attributes and type(actual) is not type(expected):
            self.fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", where)
        kinds = [tensor(x).dtype if isinstance(x, int) else float64 for x in (actual, expected)]
        rtol, atol = self.tolerances or _defaults(*kinds)
        both_nan = self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)
        difference = abs(actual - expected)
        if (
            actual == expected
            or both_nan
            or (cmath.isfinite(expected) and difference <= atol + rtol * abs(expected))
        ):
            return
        self.fail(_about_scalars(actual, expected, rtol, atol), where)

    def tensors(self, actual: Tensor, expected: Tensor, where: str) -> None:
        for name in ("shape", *self.attributes):
            a, b = (
                x.stride() if name == "stride()" else getattr(x, name) for x in (actual, expected)
            )
            if a != b:
                self.fail(f"The values for attribute {name!r} do not match: {a} != {b}.", where)
        if actual.is_meta or expected.is_meta:  # there are no elements to compare
            return
        actual, expected = actual.detach().cpu(), expected.detach().cpu()
        rtol, atol = self.tolerances or _defaults(actual.dtype, expected.dtype)
        common = promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
        if common.name == "bool":
            actual, expected = actual.int(), expected.int()
        close = isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        if bool(close.all()):
            return
        if actual.ndim == 0:
            self.fail(_about_scalars(actual.item(), expected.item(), rtol, atol), where)
        self.fail(_about_tensors(actual, expected, close, rtol, atol), where)


def _all_are(pair: tuple[Any, Any], kinds: Any) -> bool:
    return all(isinstance(x, kinds) for x in pair)


def _defaults(*dtypes: dtype) -> tuple[float, float]:
    results = [_TOLERANCES.get(kind, (0.0, 0.0)) for kind in dtypes]
    return max(rtol for rtol, _ in results), max(atol for _, atol in results)


def _allowed(tolerance: float, any_at_all: bool) -> str:
    return f" (up to {tolerance} allowed)" if any_at_all else ""


def _about_scalars(actual: complex, expected: complex, rtol: float, atol: float) -> str:
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected else float("inf")
    inexact = rtol > 0 or atol > 0
    return (
        f"Scalars are not {'close' if inexact else 'equal'}!\n\n"
        f"Expected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{_allowed(atol, inexact)}\n"
        f"Relative difference: {relative}{_allowed(rtol, inexact)}"
    )


def _about_tensors(
    actual: Tensor, expected: Tensor, close: Tensor, rtol: float, atol: float
) -> str:
    difference = (actual - expected).abs()
    relative = difference / expected.abs()
    # Where the elements are close, as at two infinities, a difference of NaN says nothing.
    difference, relative = difference.masked_fill(close, 0), relative.masked_fill(close, 0)
    wrong, total = int((~close).sum()), close.numel()
    inexact = rtol > 0 or atol > 0
    lines = [
        f"Tensor-likes are not {'close' if inexact else 'equal'}!",
        "",
        f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})",
    ]
    for name, values, bound in (("absolute", difference, atol), ("relative", relative, rtol)):
        flat = int(values.flatten().argmax())
        place: list[int] = []
        for size in reversed(actual.shape):
            flat, i = divmod(flat, size)
            place.insert(0, i)
        value = values[tuple(place)].item()
        lines.append(
            f"Greatest {name} difference: {value} at index {tuple(place)}{_allowed(bound, inexact)}"
        )
    return "\n".join(lines)


def make_tensor(
    *shape: Any,
    dtype: dtype,
    device: str | Device,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Numbers drawn uniformly from low to below high. By default from -9 to 9, of integers from -9
    (unsigned: 0) to including 9.

    Arguments:
        noncontiguous: every second element of a larger tensor
        exclude_zero: 1 in place of zeros, of floating and complex dtypes the least normal number

    Example:
        >>> x = torch.testing.make_tensor(2, 3, dtype=torch.float32, device="cpu", low=1, high=2)
        >>> x.shape == (2, 3), bool(((x >= 1) & (x < 2)).all())
        (True, True)
    """
    whole = not (dtype.is_floating_point or dtype.is_complex)
    if noncontiguous and memory_format is not None:
        raise ValueError("make_tensor: found noncontiguous and memory_format, wanted one of them")
    if requires_grad and whole:
        raise ValueError(f"make_tensor: requires_grad is True, and {dtype} has no gradients")
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    apart = noncontiguous and math.prod(sizes) > 1
    if apart:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    least, most = _limits(dtype, low, high)
    if whole:
        result = randint(math.ceil(least), math.ceil(most), sizes, dtype=dtype, device=device)
    else:
        # Halves, because the interval may be twice as wide as the largest number.
        result = empty(
            (*sizes, 2) if dtype.is_complex else sizes, dtype=_parts(dtype), device=device
        )
        result.uniform_(least / 2, most / 2).mul_(2)
        result = view_as_complex(result) if dtype.is_complex else result
    if apart:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result.masked_fill_(result == 0, _least_above_zero(dtype))
    return result.requires_grad_(requires_grad) if not whole else result


def _parts(kind: dtype) -> dtype:
    """The dtype of real parts."""
    return {complex64: float32, complex128: float64}.get(kind, kind)


def _least_above_zero(kind: dtype) -> float:
    if not (kind.is_floating_point or kind.is_complex):
        return 1
    return finfo(kind).tiny


def _limits(kind: dtype, low: float | None, high: float | None) -> tuple[float, float]:
    """The interval that numbers are drawn from, cut to those that the dtype has."""
    first: float
    last: float
    if kind is bool_:
        first, last, low, high = 0, 2, 0 if low is None else low, 2 if high is None else high
    elif kind.is_floating_point or kind.is_complex:
        first, last = finfo(kind).min, finfo(kind).max
        low, high = -9 if low is None else low, 9 if high is None else high
    else:
        # randint's end is itself an int64.
        first, last = iinfo(kind).min, iinfo(kind).max + (kind is not int64)
        low, high = -9 if low is None else low, 10 if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"make_tensor: low is {low} and high is {high}, wanted no NaN")
    if low == high and (kind.is_floating_point or kind.is_complex):
        warnings.warn(
            "make_tensor: low and high are equal; use full()", FutureWarning, stacklevel=3
        )
    elif low >= high:
        raise ValueError(f"make_tensor: low is {low}, wanted less than high, which is {high}")
    elif high < first or low >= last:
        raise ValueError(f"make_tensor: found [{low}, {high}), but {kind} has [{first}, {last})")
    return min(max(low, first), last), min(max(high, first), last)
