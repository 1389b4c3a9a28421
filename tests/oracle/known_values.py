# SPDX-License-Identifier: Apache-2.0
"""Known differences of values, gradients and tangents in calls."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from case import Seen
from compare import EPS, apart, coarsest
from known import Context, lines_with, predicate
from steady import numbers_at, right
from words import UNITS


@predicate
def ties(c: Context) -> bool:
    """Which index, and so whose gradient; the values are equal. A NaN is the last choice of mode."""
    if c.base() == "mode" and any(
        np.isnan(v.numbers).any() for v in c.inputs() if v.numbers.dtype.kind == "f"
    ):
        return True  # PyTorch's order of a row depends on where its NaNs lie
    index = c.difference.where in ("r[1]", "o1") or c.derivative()
    return index and c.base() in ("topk", "kthvalue", "mode") and _repeated(c.inputs()[:1])


@predicate
def shares_of_extrema(c: Context) -> bool:
    """PyTorch counts an equal element that takes no part, and adds up means in the dtype of the
    elements: without that element, or in 64 bits, it has libdl's answer. Its products have no tangent,
    and divide by a factor that may not be finite; beside a NaN it divides 0 by 0."""
    if c.base() not in ("scatter_reduce", "index_reduce"):
        return False
    given = re.search(r"(?:T\.\w+\((\w), |(\w)\.\w+\()(-?\d), (\w), (\w), '(\w+)'", c.call)
    if given is None:
        return False
    x, (dim, index, source, how) = given[1] or given[2], given.groups()[2:]
    if how in ("prod", "amax", "amin") and c.derivative() and c.not_finite():
        found = np.abs(np.asarray(c.difference.found, float))
        rounding = 64 * coarsest(c.lines) * max(1, found[np.isfinite(found)].max(initial=0))
        if c.only_where(_nan_there, lambda w, f: (how == "prod") & (np.abs(w - f) <= rounding)):
            return True
    if how == "prod" and c.derivative() and right(c):
        return True
    if how == "prod" and (
        c.difference.where.startswith("t")
        or c.refused("Expected a proper Tensor but", "Double backward is unsupported for src")
    ):
        return c.raises() or c.only_where(lambda w, f: w == 0)
    if how == "mean" and "int" in c.dtype():
        wide = _of_another(c.call, f"{x}.long()").replace(
            f"{index}, {source},", f"{index}, {source}.long(),"
        )
        changed = f"{wide}.to({x}.dtype)"
        if "out=o" in c.call:
            changed = f"r = o.copy_({changed.replace(', out=o', '').removeprefix('r = ')})"
    elif how in ("amax", "amin") and "include_self=False" in c.call and c.derivative():
        left_out = "scatter" if c.base() == "scatter_reduce" else "index_fill"
        least = f"{'-' if how == 'amax' else ''}T.finfo({x}.dtype).max"
        changed = _of_another(c.call, f"T.{left_out}({x}, {dim}, {index}, {least})")
    else:
        return False
    return c.gone(lines_with(c.lines, lambda n, line: changed if line == c.call else None))


def _of_another(call: str, x: str) -> str:
    """The same reduction of x."""
    return re.sub(
        r"(T\.\w+_reduce\()\w\b|\b\w(\.\w+_reduce_?\()",
        lambda m: f"{m[1]}{x}" if m[1] else f"{x}{m[2]}",
        call,
        count=1,
    )


@predicate
def stable_sort(c: Context) -> bool:
    index = c.difference.where in (("r", "o") if c.base() == "argsort" else ("r[1]", "o1"))
    if c.base() in ("quantile", "nanquantile"):  # whose gradient one of the equal ones has
        return c.derivative() and _repeated(c.inputs()[:1])
    return (
        (index or c.derivative())
        and c.base() in ("sort", "argsort")
        and ("stable=True" not in c.call)
        and _repeated(c.inputs()[:1])
    )


def _repeated(some: list[Seen]) -> bool:
    return any(v.numbers.size > len(np.unique(v.numbers)) for v in some)


@predicate
def float_to_integer(c: Context) -> bool:
    """A number that the integers do not hold: libdl's answer is an end of their range, or 0."""
    f = c.difference.found
    if not isinstance(f, np.ndarray) or f.dtype.kind not in "iu":
        return False
    whole = re.search(r"int|byte|char|short|long|copy_|T\.bool|type_as|to\(", c.text)
    info = np.iinfo(f.dtype)
    if re.search(r"^(cum)?(sum|prod)_?$", c.name.split(".")[-1]):  # of what was cast before
        lines = list(c.lines)
        lines.insert(1, f"a = saturated(a, '{f.dtype}')")
        return c.inputs()[0].numbers.dtype.kind in "fc" and c.gone(
            lines, [lines[0], "a = a", *lines[2:]]
        )
    return bool(whole) and c.only_where(lambda w, f: (f == info.min) | (f == info.max) | (f == 0))


@predicate
def wrapped_numbers(c: Context) -> bool:
    """uint8_tensor > -3; float16_tensor % 0.1, where 0.1 is no number of 16 bits."""
    if c.difference.aspect != "value" or c.derivative():
        return False
    some = [float(n) for n in re.findall(r"(?<![\w.])-?\d+\.?\d*|inf|nan", c.call)]
    some += [float(v.numbers) for v in c.inputs() if not v.shape and v.numbers.dtype.kind in "iuf"]
    if any(v.dtype in ("float16", "bfloat16") for v in c.inputs()):
        if "pow" in c.name:  # an odd number of 16 bits and more is an even one there
            return c.only_where(lambda w, f: w == -f)
        steps = r"(fmod|remainder|floor_divide|greater|less|[lg][te]|eq|ne|not_equal|div|divide|true_divide|mul|multiply)_?$"
        operators = "__(i?mod|i?floordiv|i?truediv|i?mul|[lg][te]|eq|ne)__"
        step = re.search(steps, c.name) or re.search(operators, c.name)
        # Up to here every whole number is one of 16 bits
        most = 256 if "bfloat16" in c.text else 2048
        wide = any(
            (np.abs(v.numbers.astype(float)) > most).any()
            for v in c.inputs()
            if v.numbers.dtype.kind in "iu"
        )
        return bool(step) and (
            wide or any(n != float(np.float16(n)) or abs(n) > 2048 for n in some)
        )
    ranges = [np.iinfo(v.dtype) for v in c.inputs() if v.dtype.startswith(("int", "uint"))]
    if not ranges:
        return False
    low, high = max(r.min for r in ranges), min(r.max for r in ranges)
    return any(not low <= n <= high for n in some)


def _nan_here(w: Any, f: Any) -> Any:
    return np.isnan(f) & np.isfinite(w)


def _nan_there(w: Any, f: Any) -> Any:
    return np.isnan(w)


@predicate
def sign_of_nan(c: Context) -> bool:
    words = r"\b(sign|sgn|abs|absolute|l1_loss|norm|normalize|cosine_similarity)_?\b|__abs__"
    endless = "complex" in c.text
    if (
        not c.name
        and ".sign()" in c.text
        and c.gone(
            lines_with(
                c.lines,
                lambda n, line: re.sub(
                    r"\b(\w+)\.sign\(\)", r"T.where(\1 != \1, \1.detach(), \1.sign())", line
                ),
            )
        )
    ):
        return True  # what is made of it, and what shares its memory, too
    if not c.name and not c.concerns(words):
        return False
    return bool(re.search(words, c.name + c.text)) and c.only_where(
        lambda w, f: np.isnan(f) & ~np.isnan(w), lambda w, f: np.isnan(w) & np.isinf(f) & endless
    )


@predicate
def gradients_beside_nan(c: Context) -> bool:
    """PyTorch divides by how many are the largest, or by the factor, or multiplies by a tangent of
    zeros, and all become NaN."""
    words = r"\b(amax|amin|aminmax|max|min|prod|cumprod_?|norm|addcdiv_?|cosine_similarity)\("
    divided = c.concerns(words) if not c.name else re.search(words, c.text)
    zeros = re.search(
        r"\b(mm|bmm|mv|dot|matmul|addmm_?|linear|layer_norm|lerp_?)\(| @ |__imatmul__", c.call
    )
    some = (
        bool(divided)
        or bool(zeros)
        and (c.difference.where.startswith("t") or "addmm" in c.name and "alpha=" in c.call)
    )
    scan = "prod" in c.name  # whose products go on over what follows
    found = c.difference.found
    endless = (
        c.not_finite()
        or not c.name
        and (  # slopes may be
            "sqrt()" in c.text
            or " / " in c.text
            or isinstance(found, np.ndarray)
            and np.isinf(found).any()
        )
    )
    return (
        some
        and c.derivative()
        and endless
        and (c.only_where(_nan_there, lambda w, f: np.isnan(f) & scan))
    )


@predicate
def sums_of_nothing(c: Context) -> bool:
    r = c.wanted.values.get("r")
    empty = isinstance(r, Seen) and not r.numbers.size or any(0 in v.shape for v in c.inputs())
    zero = re.search(r"alpha=-?(0\b|0\.0\b|False)", c.call) and "float16" in c.text
    zero = zero or re.search(r"addmm.*alpha=-?float\('(inf|nan)", c.call)  # a sum of such products
    some = empty and re.search("addc(mul|div)", c.name) and c.derivative()
    return bool(some or zero) and c.only_where(_nan_here, _nan_there)


@predicate
def endless_derivatives(c: Context) -> bool:
    """NaN in one library, an infinity in the other; never infinities of two signs."""
    ends = (0, 1) if c.base() == "logit" else (0,)
    nothing = any(np.isin(v.numbers, ends).any() for v in c.inputs())
    return (
        c.derivative()
        and (nothing or c.not_finite())
        and c.only_where(
            lambda w, f: ~np.isfinite(w) & ~np.isfinite(f) & (np.isnan(w) | np.isnan(f))
        )
    )


@predicate
def rounded_steps(c: Context) -> bool:
    """A step of PyTorch's overflows, or in derivatives and powers is rounded; in 64 bits it has
    libdl's answer."""
    narrow = re.search("float16|complex64", c.text + c.dtype()) or c.base() == "layer_norm"
    value = "pow" in c.name and c.dtype() == "complex64" or c.base() == "layer_norm"
    # one of the operands is a Python number
    if value and re.search(r"\b\d+j", c.call) and c.difference.aspect == "value":
        wide = lines_with(
            c.lines,
            lambda n, line: re.sub(r"\ba\b", "a.double()", line) if (line == c.call) else None,
        )
        exact, found = (
            numbers_at(c.theirs.run(wide, c.forward), c.difference.where),
            c.difference.found,
        )
        if exact is not None and exact.shape == np.shape(found):
            return c.only_where(lambda w, f: ~apart("complex64", exact, f))
    if c.base() == "addcdiv" and "float16" in c.text and c.derivative():  # then divided by 0, too
        return c.only_where(lambda w, f: ~np.isfinite(w))
    return (
        bool(narrow)
        and c.difference.aspect != "dtype"
        and (c.derivative() or value or c.only_where(lambda w, f: ~np.isfinite(w)))
        and right(c)
    )


@predicate
def beyond_range(c: Context) -> bool:
    """Squares, powers or sums of PyTorch's leave the range of 32 bits: what it finds in 64 is libdl's
    answer. Where they leave that of 64, too, normalised numbers are 0, huge or NaN in PyTorch."""
    if "'extreme'" not in c.text:
        return False
    if re.fullmatch("(batch|group|instance)_norm", c.base()) and not right(c):
        unit = 16 * EPS["float32"]
        return c.only_where(
            lambda w, f: np.isfinite(f) & ~((np.abs(w) > 1e-30) & (np.abs(w) < 1e15)),
            lambda w, f: np.abs(w - f) <= unit,
        )
    return re.search("float32|complex64", c.text) is not None and right(c)


@predicate
def convolved(c: Context) -> bool:
    """Row-major results; 16 bits summed in 32; no output without elements."""
    if not re.match(r"conv(_transpose)?\d", c.base()):
        return False
    refused = "at least 1 in each dimension|less than stride or dilation"
    if (
        c.difference.aspect == "stride"
        or re.search(refused, c.found_text())
        and ("(0, " in c.text or "at least" in c.found_text())
    ):
        return True
    return bool(re.search("float16", c.text)) and right(c)


@predicate
def running_statistics(c: Context) -> bool:
    """Derivatives of running statistics, and their refusal in training; batches without elements; 16
    bits computed in float32; second derivatives without a weight; groups of one element; weights and
    images with other strides, which PyTorch's gradients read as if they were contiguous."""
    if c.base() == "local_response_norm":
        return c.refuses() and "int" in c.found_text()
    if c.base() not in ("batch_norm", "instance_norm", "group_norm"):
        return False
    if (
        "(0, " in c.text
        or c.refused("respect to argument 'running_", "got None (or an undefined")
        or (
            c.refuses()
            and re.search(
                r"\(running_(mean|var)\) (has a tangent|requires|has elements)", c.found_text()
            )
        )
    ):
        return True
    unit = 16 * coarsest(c.lines)  # bias and what is beside it cancel

    def near(w: Any, f: Any) -> Any:
        return np.abs(w - f) <= unit * np.fmax(1, np.abs(w))

    if "'special'" in c.text:  # infinite weights: infinity less infinity in PyTorch
        return c.only_where(lambda w, f: np.isnan(w) & np.isinf(f), near)
    return (
        right(c)
        or c.only_where(near)
        or _of_equal_elements(c)
        or c.gone(
            lines_with(
                c.lines,
                lambda n, line: (
                    re.sub(r"(?<=[ (=])([a-e])(?=[,)])", r"\1.contiguous()", line)
                    if (line == c.call)
                    else None
                ),
            )
        )
    )


def _of_equal_elements(c: Context) -> bool:
    """Of groups of one element, or of equal ones, all zeros before weight and bias, PyTorch leaves the
    rounding of x times a factor. What a group's first element is taken from leaves none."""
    call = re.search(r"norm\(([a-e])(?:, (\d+)\b)?", c.call)
    if call is None:
        return False
    x = call[1]
    if c.base() == "batch_norm":
        first = (
            f"{x}.detach().movedim(1, 0).flatten(1)[:, 0].reshape([1, -1] + [1] * ({x}.ndim - 2))"
        )
    else:
        groups = call[2] if c.base() == "group_norm" else f"{x}.shape[1]"
        rows = f"{x}.detach().reshape({x}.shape[0], {groups}, -1)"
        first = f"{rows}[..., :1].expand({rows}.shape).reshape({x}.shape)"
    changed = c.call.replace(f"norm({x}", f"norm({x} - {first}", 1)
    return c.gone(lines_with(c.lines, lambda n, line: changed if line == c.call else None))


@predicate
def zero_by_zero(c: Context) -> bool:
    """Second derivatives at 0, or of rows that are all the same: PyTorch divides 0 by 0, or where it
    rounds the mean of equal elements, one rounding by another."""
    if _spread_of_equal_elements(c):
        return True
    words = (
        r"(layer_norm|cosine_similarity|norm|normalize|std|var|prod|cumprod|i?pow_*|addcdiv|div|divide|"
        r"atan2|arctan2|angle|dist|cdist|pdist|pairwise_distance|hypot|lp_pool\dd|xlogy)_?$"
    )
    complex_power = "pow" in c.name and "complex" in c.text and c.derivative()
    second = c.difference.where.startswith("h[") and re.search(words, c.name)
    second = (
        second
        or c.difference.where.startswith("t[")
        and re.search(r"lp_pool\dd|xlogy|a(rc)?tan2", c.name)
    )
    second = second or c.difference.where.startswith("g[") and "xlogy" in c.name
    at_zero = any((v.numbers == 0).any() for v in c.inputs()) or _repeated(c.inputs()[:1])
    if not c.name:  # in programs
        second = (
            "create_graph=True" in c.text and c.derivative() and c.concerns(r"\.(norm|prod|var)\(")
        )
    return (
        at_zero
        and (bool(second) or complex_power)
        and c.only_where(lambda w, f: np.isnan(w) & np.isfinite(f))
    )


def _spread_of_equal_elements(c: Context) -> bool:
    theirs, ours = (numbers_at(run, "r") for run in (c.wanted, c.found))
    if c.base() != "std" or not c.derivative() or theirs is None or ours is None or ours.any():
        return False
    first = c.inputs()[0]
    most = 8 * UNITS.get(first.dtype, 0) * np.abs(first.numbers).max(initial=0)
    return bool((np.abs(theirs) <= most).all()) and c.only_where(lambda w, f: f == 0)


@predicate
def complex_zero_to_zero(c: Context) -> bool:
    """1, as of real numbers; infinity to a negative power is 0."""
    return "pow" in c.name and c.only_where(lambda w, f: np.isnan(w) & ((f == 1) | (f == 0)))


@predicate
def index_of_nothing(c: Context) -> bool:
    nothing = any(0 in v.shape for v in c.wanted.values.values() if isinstance(v, Seen))
    nothing |= c.name in ("__getitem__", "__setitem__") and "False" in c.text  # x[False, i]
    words = r" holds -?\d+ at position .*wanted (no index into a dimension of size 0|-?\d+ to \d)"
    write = (
        re.search("index_(add|copy|fill|put)_?$|__[gs]etitem__", c.name)
        or not c.name
        and (re.search(r"\[\[|index_fill_|index_select", c.line))
    )
    return nothing and c.refuses() and bool(write and re.search(words, c.found_text()))


@predicate
def wrapped_indices(c: Context) -> bool:
    return (
        c.base() == "take_along_dim"
        and "dim=" in c.call
        and c.refuses()
        and bool(re.search(r"\(indices\) holds -?\d+ at position", c.found_text()))
    )


@predicate
def topk_of_one(c: Context) -> bool:
    return c.refuses() and c.base() == "topk" and "for input is 0-d" in c.found_text()


@predicate
def limits_of_silu(c: Context) -> bool:
    return bool(re.search(r"(silu|gelu|sigmoid|softplus)_?$", c.name)) and c.only_where(
        lambda w, f: np.isnan(w) & ~np.isnan(f)
    )


@predicate
def all_of_bytes(c: Context) -> bool:
    return c.base() in ("all", "any") and c.dtype() == "uint8"


@predicate
def powers_as_roots(c: Context) -> bool:
    """NaN there of -infinity; infinities of two signs of -0.0."""
    return bool(re.search(r"(pow|\*\*).*-?0\.5\b", c.text)) and c.only_where(
        _nan_there, lambda w, f: np.isinf(w) & np.isinf(f)
    )


def _fits(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether the first shape is broadcast to the other one."""
    pairs = zip(shape[::-1], other[::-1], strict=False)
    return len(shape) <= len(other) and all(a in (1, b) for a, b in pairs)


@predicate
def slopes_at_nan(c: Context) -> bool:
    """Where an operand is NaN."""
    words = r"(relu6|elu|ELU|hardshrink|maximum|minimum|clamp|clip|max|min)_?$"
    if not c.derivative() or not re.search(words, c.name):
        return False

    def nan(w: Any, f: Any) -> Any:
        some = np.zeros(w.shape, bool)
        for v in c.inputs():
            if v.numbers.dtype.kind == "f" and _fits(v.shape, w.shape):
                some |= np.isnan(v.numbers)
        if c.base() == "elu" and "nan" in c.call:  # alpha
            some |= np.isnan(w) & (f == 0)
        return some

    return c.only_where(nan)


@predicate
def conj_copy(c: Context) -> bool:
    return (
        c.difference.aspect == "view"
        and "conj" in c.text
        or c.name == "property.H"
        and (c.difference.aspect in ("view", "stride"))
    )


@predicate
def fewer_warnings(c: Context) -> bool:
    return (
        c.difference.aspect == "warning"
        and set(c.found.warned) < set(c.wanted.warned)
        and (
            c.name not in ("F.mse_loss", "F.l1_loss")
            or "size_average" in c.call
            or "reduce=" in c.call
        )
    )


@predicate
def tangents_dtype(c: Context) -> bool:
    """A tangent has its tensor's dtype; PyTorch's may be wider, or real where that is complex."""
    r = c.found.values.get("r")
    found = r.dtype if isinstance(r, Seen) else c.found_text()
    return (
        c.difference.aspect == "dtype"
        and c.difference.where.startswith("t[")
        and (c.difference.found == found)
    )


@predicate
def half_complex(c: Context) -> bool:
    """float16 beside complex numbers: complex64 here, complex32 or bcomplex32 there."""
    half = any(v.dtype in ("float16", "bfloat16") for v in c.inputs()) and (
        re.search(r"complex|\dj\b", c.text)
    )
    there = c.wanted_text() in ("raises TypeError", "raises AttributeError") or (
        "complex32" in c.wanted_text()
    )
    return bool(half) and there


@predicate
def class_weights(c: Context) -> bool:
    weight = re.search(r"weight=(\w)", c.call)
    return (
        bool(weight)
        and c.base() in ("nll_loss", "cross_entropy")
        and (c.difference.where.startswith("t["))
        and bool(weight and re.search(rf"^{weight[1]} = .*grad=true", c.text, re.MULTILINE))
    )


@predicate
def real_and_complex_powers(c: Context) -> bool:
    """PyTorch's tangent of a real operand has no imaginary part; it has where that is made complex."""
    wide = re.search("complex128|float64", c.text)
    dtype = "complex128" if wide else "complex64"

    def mixed(n: int, line: str) -> str | None:
        if not line.startswith("f = "):
            return None
        begin, rest = line.split(": ", 1)
        for name, v in c.wanted.values.items():
            if isinstance(v, Seen) and v.numbers.dtype.kind == "f":
                rest = re.sub(rf"\b{name}\b(?!_)", f"{name}.to(T.{dtype})", rest)
        return f"{begin}: {rest}"

    if not c.difference.where.startswith("t[") or "pow" not in c.name:
        return False
    exact = numbers_at(c.theirs.run(lines_with(c.lines, mixed), c.forward), c.difference.where)
    if exact is None or exact.dtype.kind != "c" or exact.shape != np.shape(c.difference.found):
        return False
    return c.only_where(
        lambda w, f: ~apart(exact.dtype.name, exact, f, coarsest(c.lines)),
        lambda w, f: np.isnan(exact) & np.isfinite(f),
    )  # complex_zero_to_zero


@predicate
def places_of_other_strides(c: Context) -> bool:
    """out= that is not contiguous: PyTorch takes another diagonal, writes nothing, or raises."""
    if not re.search(r"^o = make\(.*'(transposed|step)'", c.text, re.MULTILINE):
        return False
    if c.base() == "matmul":
        return c.refused("must match the size")
    some = c.base() in ("triu", "tril", "cat", "concat", "concatenate", "stack")
    return some and c.difference.aspect == "value"


@predicate
def curvature_of_logsumexp(c: Context) -> bool:
    """PyTorch's slopes have the rounding of the result in them, which is large if that is."""
    return (
        c.base() == "logsumexp"
        and c.derivative()
        and c.only_where(lambda w, f: np.abs(w - f) <= 1e-6 * np.abs(f) + 1e-100)
    )


@predicate
def logsumexp_of_nothing(c: Context) -> bool:
    """PyTorch's tangent is NaN, that of std too, and an integer tensor with dim=() is refused."""
    empty = any(v.numbers.size == 0 for v in c.inputs())
    named = c.base() in ("logsumexp", "std") or not c.name and "logsumexp(" in c.text
    return named and (
        empty
        and c.derivative()
        and c.only_where(lambda w, f: np.isnan(w) & ((f == 0) | (np.isfinite(f) & (not c.name))))
        or c.refused("doesn't match the broadcast shape")
    )


@predicate
def corner_of_softplus(c: Context) -> bool:
    """At the threshold itself PyTorch's second derivative is that of the other side."""
    second = c.difference.where.startswith("h[")
    return second and c.base() == "softplus" and (c.only_where(lambda w, f: (w == 0) & (f != 0)))


@predicate
def norm_of_order_zero(c: Context) -> bool:
    """A gradient of zeros; none in PyTorch."""
    d = c.difference
    if c.base() == "dist":
        return re.search(r"[ =]0(\.0)?\)", c.call) is not None and c.refused(
            "Expected a proper Tensor but got None"
        )
    return (
        c.base() == "norm"
        and d.aspect == "kind"
        and d.wanted is None
        and (isinstance(d.found, Seen) and not d.found.numbers.any())
    )


@predicate
def spread_over_nothing(c: Context) -> bool:
    """std(dim=()): all dimensions; PyTorch's derivatives divide by another count, and are those of
    libdl with dim=None."""

    def all_of_them(dims: str) -> list[str]:
        return lines_with(
            c.lines,
            lambda n, line: re.sub(r"(?<=[(,= ])\(\)", dims, line) if (line == c.call) else None,
        )

    dims = str(tuple(range(len(c.inputs()[0].shape)))) if c.inputs() else "None"
    return (
        c.base() in ("std", "var")
        and c.derivative()
        and any(c.gone(all_of_them(some)) for some in ("None", dims))
    )


@predicate
def products_cast_before(c: Context) -> bool:
    """cumprod(dtype=) of complex numbers as real ones: PyTorch's gradient is that of all their parts.
    Of the real parts, taken before, it has that of libdl."""
    real = re.sub(
        r"(cumprod\()a\b|\ba(\.cumprod\()",
        lambda m: "cumprod(a.real" if m[1] else "a.real" + m[2],
        c.call,
    )
    if c.base() != "cumprod" or not c.derivative() or "dtype=T.float" not in c.call:
        return False
    exact = numbers_at(
        c.theirs.run(
            lines_with(c.lines, lambda n, line: real if (line == c.call) else None), c.forward
        ),
        c.difference.where,
    )
    return (
        exact is not None
        and exact.shape == np.shape(c.difference.found)
        and c.only_where(
            lambda w, f: ~apart(exact.dtype.name, exact, f, coarsest(c.lines)),
            lambda w, f: ~np.isfinite(exact),
        )
    )


@predicate
def series_of_trigamma(c: Context) -> bool:
    """The first nine digits of polygamma(1, x) are PyTorch's."""
    words = r"polygamma|digamma|psi|lgamma|gammaln|mvlgamma|multigammaln"
    return bool(re.fullmatch(words, c.base())) and c.only_where(
        lambda w, f: np.abs(w - f) <= 2e-9 * np.abs(f)
    )


@predicate
def means_beside_infinities(c: Context) -> bool:
    return (
        c.base() in ("std_mean", "var_mean")
        and c.difference.where == "r[1]"
        and c.only_where(lambda w, f: np.isnan(w) & np.isinf(f))
    )


@predicate
def corner_of_prelu(c: Context) -> bool:
    """At 0 PyTorch's tangent and second derivative are those from above, its gradient is that from below:
    just below 0 all are libdl's."""
    call = re.search(r"\b([a-e])\.prelu\(", c.call) or re.search(r"prelu\((\w)\b", c.call)
    if c.base() != "prelu" or call is None or not c.derivative():
        return False
    x = call[1]
    below = f"T.where({x}.detach() == 0, {x} - T.finfo({x}.dtype).tiny, {x})"
    changed = re.sub(
        rf"(prelu\(){x}\b|\b{x}(\.prelu\()",
        lambda m: f"{m[1]}{below}" if m[1] else f"{below}{m[2]}",
        c.call,
        count=1,
    )
    return c.gone(lines_with(c.lines, lambda n, line: changed if line == c.call else None))
