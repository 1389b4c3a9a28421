# SPDX-License-Identifier: Apache-2.0
"""Functions composed in Python: products that are added, parts, slopes, scans, bits; and in-place
methods as functions."""

from __future__ import annotations

from arguments import Draw
from recipes import RECIPES, Made, near, recipe, sizes

ALONE = (
    "acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil cos cosh "
    "erf erfc exp exp2 expm1 fix floor i0 log log10 log1p log2 neg negative reciprocal relu round "
    "rsqrt sigmoid sin sinh sqrt square tan tanh trunc detach_copy alias_copy squeeze_copy t_copy "
    "conj_physical"
).split()


for _name in ALONE:
    if _name not in RECIPES:
        recipe(f"T.{_name}")(lambda d: ([d.input()], {}))


@recipe("T.clamp", "T.clip")
def clamp(d: Draw) -> Made:
    return [d.input(), d.some("-0.5", "0")], {"max": d.some("1", "0.5")}


@recipe("select_scatter")
def select_scatter(d: Draw) -> Made:
    x = d.input(1, 3, layout="plain")
    dim = near(d)
    shape = [n for i, n in enumerate(d.shape) if i != int(dim) % len(d.shape)]
    return [x, d.tensor(tuple(shape), d.dtype), dim, d.some("0", "-1", "1")], {}


@recipe("slice_scatter")
def slice_scatter(d: Draw) -> Made:
    x = d.input(1, 3, layout="plain")
    dim = near(d)
    shape = list(d.shape)
    begin, end, step = d.some((0, 2, 1), (1, 9, 1), (0, 9, 2), (-2, 9, 1))
    shape[int(dim)] = len(range(shape[int(dim)])[begin:end:step])
    return [x, d.tensor(tuple(shape), d.dtype), dim, str(begin), str(end), str(step)], {}


@recipe("diagonal_scatter")
def diagonal_scatter(d: Draw) -> Made:
    n, m = sizes(d, 2)
    return [d.tensor((n, m), layout="plain"), d.tensor((min(n, m),), d.dtype)], {}


@recipe("hsplit", "vsplit", "dsplit")
def hsplit(d: Draw) -> Made:
    return [d.input(1, 3), d.some("1", "2", "[1]", "[1, 2]")], {}


@recipe("unsafe_chunk", "unsafe_split")
def unsafe_chunk(d: Draw) -> Made:
    return [d.input(1, 3), d.some("1", "2"), near(d)], {}


@recipe("gradient")
def gradient(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    x = d.input(1, 3)
    dim = near(d)
    return [x], {"dim": dim, "spacing": d.some("1", "0.5"), "edge_order": d.some("1", "2")}


@recipe("trapz", "trapezoid", "cumulative_trapezoid")
def trapz(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    x = d.tensor((d.some(1, 2, 3), d.some(1, 2, 4)))
    return [x], {"dx": d.some("1", "0.25"), "dim": d.some("0", "1", "-1")}


@recipe("cov", "corrcoef")
def cov(d: Draw) -> Made:
    d.dtype = "float64"
    n = d.some(2, 3, 4)
    return [d.tensor((d.some(1, 2, 3), n + 1))], {}


@recipe("nansum", "nanmean")
def nansum(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    return [d.input(1, 3)], {"dim": near(d)} if d.chance(0.6) else {}


@recipe("igamma", "igammac")
def igamma(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    x = d.tensor((d.some(1, 2, 3),), kind="unit", grad=False)
    return [x, d.tensor(d.some((3, 1), ()), d.dtype, kind="unit")], {}


@recipe("ldexp")
def ldexp(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64", "int64")
    x = d.input(0, 3)
    return [x, d.tensor(d.shape, d.some("float32", "int32"), kind="unit")], {}


@recipe("F.conv_tbc")
def conv_tbc(d: Draw) -> Made:
    n, c, out = (d.some(1, 2, 3) for _ in range(3))
    d.dtype = d.some("float32", "float64")
    x, w = (
        d.tensor((4, n, c), kind="unit", layout="plain"),
        d.tensor((d.some(1, 2, 3), c, out), kind="unit"),
    )
    return [x, w, d.tensor((out,), kind="unit"), d.some("0", "1")], {}
