# SPDX-License-Identifier: Apache-2.0
"""Known differences of values, gradients and tangents in calls."""

from __future__ import annotations

import re

import numpy as np

from case import Seen
from known import Context, predicate


@predicate
def ties(c: Context) -> bool:
    if c.difference.aspect not in ("value", "grad"):
        return False
    return c.base() in ("topk", "kthvalue") and _repeated(c.inputs()[:1])


@predicate
def stable_sort(c: Context) -> bool:
    return c.base() in ("sort", "argsort") and c.difference.aspect == "value" and (
        "stable=True" not in c.call) and _repeated(c.inputs()[:1])


def _repeated(some: list[Seen]) -> bool:
    return any(v.numbers.size > len(np.unique(v.numbers)) for v in some)


@predicate
def float_to_integer(c: Context) -> bool:
    """A number that the integers do not hold is on the way."""
    if c.difference.aspect not in ("value", "dtype"):
        return False
    whole = re.search(r"int|byte|char|short|long|copy_|T\.bool|type_as|to\(", c.text)
    some = [v.numbers for v in c.inputs() if v.numbers.dtype.kind in "fc"]
    far = any(not np.isfinite(x).all() or (np.abs(x) >= 127).any() or (x.real < 0).any()
              for x in some)
    target = [v for v in c.wanted.values.values() if isinstance(v, Seen)]
    return bool(whole) and far and any(v.dtype.startswith(("int", "uint")) for v in target)


@predicate
def wrapped_numbers(c: Context) -> bool:
    """uint8_tensor > -3."""
    ranges = [np.iinfo(v.dtype) for v in c.inputs() if v.dtype.startswith(("int", "uint"))]
    if c.difference.aspect != "value" or not ranges:
        return False
    some = [float(n) for n in re.findall(r"(?<![\w.])-?\d+\.?\d*|inf|nan", c.call)]
    some += [float(v.numbers) for v in c.inputs() if not v.shape and v.numbers.dtype.kind in "iuf"]
    low, high = max(r.min for r in ranges), min(r.max for r in ranges)
    return any(not low <= n <= high for n in some)


@predicate
def sign_of_nan(c: Context) -> bool:
    before = [v for run in (c.wanted, c.found) for v in run.values.values() if isinstance(v, Seen)]
    nans = any(np.isnan(v.numbers).any() for v in before if v.numbers.dtype.kind in "fc")
    words = r"\b(sign|sgn|abs|absolute|l1_loss|norm|normalize|cosine_similarity)_?\b|__abs__"
    return nans and c.difference.aspect in ("value", "grad", "tangent") and bool(
        re.search(words, c.name + c.text))


@predicate
def gradients_beside_nan(c: Context) -> bool:
    """PyTorch divides by how many are the largest, or by the factor, and all become NaN."""
    w, f = c.difference.wanted, c.difference.found
    if c.difference.aspect not in ("value", "grad") or not isinstance(w, np.ndarray):
        return False
    if not isinstance(f, np.ndarray) or w.shape != f.shape or w.dtype.kind not in "fc":
        return False
    finer = bool(np.isnan(w[~((w == f) | (np.isnan(w) & np.isnan(f)))]).all())
    return finer and bool(np.isnan(w).any()) and bool(
        re.search(r"\b(amax|amin|aminmax|max|min|prod)\(", c.text))


@predicate
def product_times_zero(c: Context) -> bool:
    return c.difference.aspect in ("value", "grad") and bool(re.search(r"alpha=(0\b|False)", c.call))


@predicate
def index_of_nothing(c: Context) -> bool:
    return c.refuses() and "no index into a dimension of size 0" in c.found_text()


@predicate
def topk_of_one(c: Context) -> bool:
    return c.refuses() and c.base() == "topk" and "for input is 0-d" in c.found_text()


@predicate
def limits_of_silu(c: Context) -> bool:
    low = any((v.numbers == -np.inf).any() for v in c.inputs() if v.numbers.dtype.kind in "fc")
    return low and c.difference.aspect == "value" and bool(re.search("silu|gelu", c.name))


@predicate
def all_of_nothing(c: Context) -> bool:
    return c.base() in ("all", "any") and ("()" in c.call or c.dtype() == "uint8")


@predicate
def power_at_zero(c: Context) -> bool:
    zero = re.search(r"False \*\*|\b0(\.0)? \*\*|pow", c.text) is not None
    zero |= any((v.numbers == 0).any() for v in c.inputs())
    wanted = c.difference.wanted
    endless = isinstance(wanted, np.ndarray) and not np.isfinite(wanted).all()
    return zero and endless and c.difference.aspect in ("value", "grad", "tangent") and (
        "pow" in c.name or "**" in c.text)


@predicate
def powers_as_roots(c: Context) -> bool:
    return "'special'" in c.text and bool(re.search(r"(pow|\*\*).*-?0\.5\b", c.text))


@predicate
def slopes_at_nan(c: Context) -> bool:
    slope = c.difference.where.startswith(("g[", "h[", "t["))
    return slope and "'special'" in c.text and bool(
        re.search(r"relu6|\belu\b|\bELU\b", c.text))


@predicate
def conj_copy(c: Context) -> bool:
    return c.difference.aspect == "view" and "conj" in c.text or c.name == "property.H" and (
        c.difference.aspect in ("view", "stride"))


@predicate
def fewer_warnings(c: Context) -> bool:
    return c.difference.aspect == "warning" and set(c.found.warned) < set(c.wanted.warned) and (
        c.name not in ("F.mse_loss", "F.l1_loss") or "size_average" in c.call or "reduce=" in c.call)
