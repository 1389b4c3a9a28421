# SPDX-License-Identifier: Apache-2.0
"""Where two runs of a case differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from case import FAMILIES, Run, Seen

# Units in the last place of the largest number of a result. Both libraries add in orders of their
# own, and take their elementary functions from different sources; inner steps of 16 bits are
# rounded in one and not in the other.
EPS = {
    "float64": 256 * 2.0**-52,
    "complex128": 256 * 2.0**-52,
    "float32": 64 * 2.0**-23,
    "complex64": 64 * 2.0**-23,
    "float16": 16 * 2.0**-10,
    "bfloat16": 16 * 2.0**-7,
}


@dataclass
class Difference:
    aspect: str  # outcome, error, warning, kind, dtype, shape, value, stride, requires_grad, ...
    where: str  # the variable, or the line's number
    wanted: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.aspect} of {self.where}: wanted {self.wanted}, found {self.found}"


class Coarse(float):
    """The unit of a comparison, and below what size of the largest number units stay the same."""

    floor = 0.5  # operands are about 1: less is what cancellation leaves


def apart(dtype: str, wanted: Any, found: Any, coarse: float = 0.0) -> Any:
    """A mask of the elements that differ."""
    eps = EPS.get(dtype)
    floor = getattr(coarse, "floor", Coarse.floor)
    eps = eps and max(eps, float(coarse))
    if eps is None:
        return np.asarray(wanted != found)
    if wanted.dtype.kind == "c":
        # Of a complex number that is not finite the parts are nobody's promise.
        finite = np.isfinite(wanted)
        some = np.asarray(finite != np.isfinite(found))
        both = finite & ~some
        w = np.stack((wanted[both].real, wanted[both].imag)).astype(np.float64)
        f = np.stack((found[both].real, found[both].imag)).astype(np.float64)
        some[both] = _far(w, f, eps, floor).any(0)
        return some
    w, f = wanted.astype(np.float64), found.astype(np.float64)
    finite = np.isfinite(w) & np.isfinite(f)
    some = np.asarray(~(finite | (w == f) | (np.isnan(w) & np.isnan(f))))
    some[finite] = _far(w[finite], f[finite], eps, floor)
    return some


def _far(w: Any, f: Any, eps: float, floor: float) -> Any:
    if not w.size:
        return w != f
    top = max(np.abs(w).max(), floor)
    # What exp() made this large has the error of its argument as many times as that was large.
    eps = eps * np.maximum(1, np.log1p(np.abs(w)) / 8)
    with np.errstate(over="ignore"):
        return np.abs(w - f) > eps * (np.abs(w) + 0.25 * top)


def close(dtype: str, wanted: Any, found: Any, coarse: float = 0.0) -> bool:
    return wanted.tobytes() == found.tobytes() or not apart(dtype, wanted, found, coarse).any()


def coarsest(lines: list[str]) -> Coarse:
    """A number of 64 bits that was one of 16 on its way is known to 16."""
    text = "\n".join(lines).replace(".float()", "float32")
    made = Coarse(max((eps for dtype, eps in EPS.items() if dtype in text), default=0.0))
    if "'extreme'" in text:  # the least number that is not subnormal
        made.floor = 2.0**-126 / made
    return made


def differ(where: str, wanted: Any, found: Any, coarse: float = 0.0) -> Iterator[Difference]:
    if isinstance(wanted, Seen) and isinstance(found, Seen):
        for name in ("dtype", "shape", "requires_grad", "is_leaf"):
            w, f = getattr(wanted, name), getattr(found, name)
            if w != f:
                yield Difference(name, where, w, f)
                if name in ("dtype", "shape"):
                    return
        if not close(wanted.dtype, wanted.numbers, found.numbers, coarse):
            yield Difference("value", where, wanted.numbers, found.numbers)
        if where.startswith("r") and wanted.strides is not None and found.strides is None:
            yield Difference("view", where, wanted.strides, None)
        elif where[0] == "r" and wanted.numbers.size:
            yield from _strides("stride", where, wanted.shape, wanted.strides, found.strides)
            yield from _strides("order", where, wanted.shape, wanted.laid, found.laid)
        for name in ("grad", "tangent"):
            w, f = getattr(wanted, name), getattr(found, name)
            if name == "tangent" and (w or f) and not (w and f):
                if not (w or f).numbers.any():
                    continue  # none and zeros are the same to a reader
            if (w is None) != (f is None):
                yield Difference(name, where, w and w.numbers, f and f.numbers)
            elif w is not None:
                for inner in differ(where, w, f, coarse):
                    if inner.aspect in ("dtype", "shape", "value"):
                        yield Difference(name, where, inner.wanted, inner.found)
                        break
    elif isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            yield Difference("kind", where, len(wanted), len(found))
            return
        some = [
            d
            for i, (w, f) in enumerate(zip(wanted, found, strict=True))
            for d in differ(f"{where}[{i}]", w, f, coarse)
        ]
        if (
            some
            and where == "seen"
            and (sorted(map(_few_digits, wanted)) == sorted(map(_few_digits, found)))
        ):
            return  # hooks of several tensors, in an order of its own
        yield from some
    elif isinstance(wanted, float) and isinstance(found, float):
        if not close("float32", np.array(wanted), np.array(found)):
            yield Difference("value", where, wanted, found)
    elif type(wanted) is not type(found):
        yield Difference("kind", where, wanted, found)
    elif not isinstance(wanted, Seen) and wanted != found and repr(wanted) != repr(found):
        yield Difference("value", where, wanted, found)


def _strides(aspect: str, where: str, shape: Any, wanted: Any, found: Any) -> Iterator[Difference]:
    """Of dimensions that somebody walks along."""
    if (
        wanted
        and found
        and any(w != f for n, w, f in zip(shape, wanted, found, strict=True) if n > 1)
    ):
        yield Difference(aspect, where, wanted, found)


def _few_digits(number: Any) -> str:
    return f"{number:.4g}" if isinstance(number, float) else repr(number)


def is_a(error: BaseException, family: str) -> bool:
    return any(kind.__name__ == family for kind in type(error).__mro__)


def differences(wanted: Run, found: Run, coarse: float = 0.0) -> list[Difference]:
    """How lines end comes first: what follows a line that ended differently tells nothing."""
    if found.outside:
        return [Difference("memory", "run", "", "written beside a tensor's memory")]
    for n, (w, f) in enumerate(zip(wanted.outcomes, found.outcomes, strict=True)):
        if bool(w) != bool(f):
            return [Difference("outcome", str(n), _told(wanted, n), _told(found, n))]
        error = found.errors[n]
        if w and w in FAMILIES and error is not None and not is_a(error, w):
            return [Difference("error", str(n), _told(wanted, n), _told(found, n))]
    some = []
    if wanted.warned != found.warned:
        some.append(Difference("warning", "run", wanted.warned, found.warned))
    for name in wanted.values:
        if name in found.values:
            some += differ(name, wanted.values[name], found.values[name], coarse)
        else:
            some.append(Difference("kind", name, wanted.values[name], None))
    return some


def _told(run: Run, n: int) -> str:
    error = run.errors[n]
    if error is None:
        return run.outcomes[n] or "no error"
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:160]}"
