# SPDX-License-Identifier: Apache-2.0
"""Integers in every width against NumPy, which wraps around as libdl does, and the 16-bit floating
types, whose results are rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np

import checks
import libdl
from checks import is_float, parts, run, tensor
from samples import Case, Sample

INTEGERS = {
    libdl.uint8: np.uint8,
    libdl.int8: np.int8,
    libdl.int16: np.int16,
    libdl.int32: np.int32,
    libdl.int64: np.int64,
}


def wild(shape: tuple[int, ...], dtype: Any, seed: int) -> np.ndarray:
    """The ends of the range, what overflows when added, squared or negated, and small numbers."""
    ends = np.iinfo(dtype)
    pool = np.array(
        [
            ends.min,
            ends.max,
            ends.min + 1,
            ends.max - 1,
            ends.max // 2,
            0,
            1,
            2,
            3,
            7,
            100,
            *([-1, -2, -3, -100] if ends.min else [200, 254]),
        ],
        dtype=dtype,
    )
    return np.asarray(np.random.default_rng(seed).choice(pool, shape))


def wholes(case: Case, sample: Sample, dtype: Any) -> tuple[Any, ...]:
    """The sample's arrays as integers; `case.ranges` bounds those that are divisors, exponents or
    distances."""

    def of(x: Any, place: int, seed: int) -> Any:
        if isinstance(x, (list, tuple)) and any(isinstance(e, np.ndarray) for e in x):
            return type(x)(of(e, place, seed + i) for i, e in enumerate(x))
        if not (is_float(x) or isinstance(x, np.ndarray) and place in case.ranges):
            return x
        low, high = case.ranges.get(place, ("any", None))
        if low == "any":
            return wild(x.shape, dtype, seed)
        if low is None:  # a divisor
            made = wild(x.shape, dtype, seed)
            return np.where(made == 0, 1, made).astype(dtype)
        low = max(low, 0) if dtype == np.uint8 else low
        return np.random.default_rng(seed).integers(low, high, x.shape).astype(dtype)

    return tuple(of(a, i, 100 * i + 17) for i, a in enumerate(sample.args))


def integers(case: Case, sample: Sample) -> None:
    has_array = any(
        is_float(e) for a in sample.args for e in (a if isinstance(a, (list, tuple)) else [a])
    ) or bool(case.ranges)
    if case.result == "float" or "i" not in case.dtypes or not has_array:
        return
    for dtype, kind in INTEGERS.items():
        if kind == np.uint8 and "u" not in case.dtypes:
            continue
        args = wholes(case, sample, kind)
        with np.errstate(all="ignore"):
            wanted = parts((case.integer_reference or case.reference)(*args, **sample.kwargs))
        found = run(case, sample, [tensor(a) for a in args])
        assert len(found) == len(wanted), f"{len(found)} results, wanted {len(wanted)}"
        if case.result == "same":
            assert found[0].dtype == dtype, f"{case.name}({dtype}): gives {found[0].dtype}"
        for f, w in zip(found, wanted):
            right = np.asarray(w).astype(checks.array(f).dtype)
            np.testing.assert_array_equal(
                checks.array(f), right, err_msg=f"{case.name}({sample}) in {dtype}: {args}"
            )


# Digits of the significand, and the exponent of the smallest step.
HALVES = {libdl.float16: (11, -24), libdl.bfloat16: (8, -133)}


def one_rounding(case: Case, sample: Sample) -> None:
    """float16 and bfloat16: the nearest number to the exact result, but that the float32 before it
    was off by a unit or, in sums, by `scale` units of the largest term. Two roundings, of a step
    between for instance, are off by up to a whole unit, which `roundings` must then admit."""
    if "f" not in case.dtypes or not sample.smooth:
        return
    for dtype, (digits, least) in HALVES.items():
        args = [halved(a, dtype) for a in sample.args]
        exact = [widened(a) for a in args]
        found = run(case, sample, args)
        with np.errstate(all="ignore"):
            wanted = parts(case.reference(*exact, **sample.kwargs))
        for f, w in zip(found, wanted):
            if f.dtype != dtype:
                continue
            w = np.asarray(w, dtype=np.float64)
            if w.size == 0:
                continue
            ulp = np.exp2(np.maximum(np.frexp(w)[1] - digits, least))
            largest = max(float(np.max(np.abs(w))), case.terms)
            slack = 2.0**-23 * case.scale * largest
            slack += (case.roundings - 1) * 2.0**-digits * 2 * largest
            off = np.abs(checks.array(f).astype(np.float64) - w) - ulp / 2 - slack
            top = 65504 if dtype == libdl.float16 else 3.3e38
            worst = np.where(np.abs(w) < top, off, 0).max()
            assert worst <= 0, (
                f"{case.name}({sample}) in {dtype}: "
                f"{worst / ulp.reshape(-1)[off.argmax()]:.2f} units too far"
            )


def halved(x: Any, dtype: Any) -> Any:
    if isinstance(x, (list, tuple)) and any(isinstance(e, np.ndarray) for e in x):
        return type(x)(halved(e, dtype) for e in x)
    return tensor(x).to(dtype) if is_float(x) else tensor(x)


def widened(x: Any) -> Any:
    if isinstance(x, (list, tuple)) and any(isinstance(e, libdl.Tensor) for e in x):
        return type(x)(widened(e) for e in x)
    if not isinstance(x, libdl.Tensor):
        return x
    made = checks.array(x)
    return made.astype(np.float64) if made.dtype.kind == "f" else made


CHECKS = [integers, one_rounding]
