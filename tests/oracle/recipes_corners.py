# SPDX-License-Identifier: Apache-2.0
"""Arguments where the two libraries are known to part, which a draw at random seldom meets. Each
stands beside the function's own recipe."""

from __future__ import annotations

from arguments import Draw
from recipes import Made, Recipe

CORNERS: dict[str, list[Recipe]] = {}
SHARE = 0.25  # of the calls of a function that has corners


def corner(*names: str):  # type: ignore[no-untyped-def]
    def put(made: Recipe) -> Recipe:
        for name in names:
            CORNERS.setdefault(name, []).append(made)
        return made

    return put


@corner("softplus")
def at_the_threshold(d: Draw) -> Made:
    d.mode = "grad"
    x = d.tensor(d.some((3,), (2, 3), (17,)), "float64", "few")
    return [x, "1", d.some("2.0", "1.0")], {}


@corner("pow")
def roots(d: Draw) -> Made:
    d.mode = "value"
    return [d.tensor((3, 33), d.some("float64", "float32"), "special"), d.some("0.5", "-0.5")], {}


@corner("pow")
def real_to_complex(d: Draw) -> Made:
    d.mode = "forward"
    wide = d.chance(0.5)
    return [
        d.tensor((3,), "float64" if wide else "float32"),
        d.tensor((3,), "complex128" if wide else "complex64"),
    ], {}


@corner("cumprod")
def real_parts(d: Draw) -> Made:
    d.mode = d.some("grad", "forward")
    return [d.tensor((3,), d.some("complex64", "complex128")), "0"], {"dtype": "T.float64"}


@corner("addmm")
def factors_of_nothing(d: Draw) -> Made:
    d.mode = "value"
    dtype, kind = d.some("float64", "bfloat16", "float16"), d.some("special", "plain")
    args = [d.tensor(shape, dtype, kind) for shape in ((2, 3), (2, 4), (4, 3))]
    return args, {"alpha": d.some("0", "0.0", "float('inf')", "-float('inf')")}


@corner("std", "var")
def of_too_few(d: Draw) -> Made:
    d.mode = "grad"
    return [d.tensor(d.some((3,), (2, 3), (1,)), "float64")], {"correction": d.some("5", "3", "6")}


@corner("layer_norm")
def rounded(d: Draw) -> Made:
    if d.chance(0.5):  # large numbers of which none is left
        d.mode = "value"
        return [d.tensor((3, 1), d.some("float32", "float16", "bfloat16"), "far"), "(1,)"], {}
    d.mode = "grad"
    dtype = d.some("float16", "bfloat16")
    return [d.tensor((2, 3), dtype, "positive"), "(3,)", d.tensor((3,), dtype, "positive")], {}


@corner("triu", "tril")
def of_several(d: Draw) -> Made:
    d.mode = "value"
    d.shape = (2, 2, 2, 2)
    return [d.tensor(d.shape)], {}


# -- many elements of 16 bits ----------------------------------------------------------------------

MANY = 5000  # bfloat16 stops at 256 ones, float16 at 2048


def _half(d: Draw, mode: str) -> str:
    d.mode = mode
    d.dtype = d.some("float16", "bfloat16")
    return d.dtype


@corner("scatter_add")
def into_few_places(d: Draw) -> Made:
    dtype, places = _half(d, d.some("value", "grad", "forward")), d.some(1, 3, 40)
    if d.chance(0.5):
        return [
            d.tensor((places,), dtype),
            "0",
            d.indices((MANY,), places),
            d.tensor((MANY,), dtype, d.some("ones", "positive")),
        ], {}
    return [
        d.tensor((places, 2), dtype),
        "0",
        d.indices((MANY, 2), places),
        d.tensor((MANY, 2), dtype, d.some("ones", "positive")),
    ], {}


@corner("gather")
def out_of_few_places(d: Draw) -> Made:
    dtype, places = _half(d, "grad"), d.some(1, 3, 40)
    return [d.tensor((places,), dtype), "0", d.indices((MANY,), places)], {}


@corner("amax", "amin", "max", "min")
def of_equals(d: Draw) -> Made:
    """Their count is no float16. (A share of that many is compared as one of a larger number.)"""
    dtype = _half(d, "grad")
    x = d.tensor((d.some(300, 5000, 70_000),), dtype, d.some("ones", "few"))
    return [f"{x} * 16384"], {}
