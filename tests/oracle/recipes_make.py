# SPDX-License-Identifier: Apache-2.0
"""What makes tensors."""

from __future__ import annotations

from arguments import Draw
from recipes import Made, recipe


def _with_dtype(d: Draw, p: float = 0.5) -> dict[str, str]:
    named = {"dtype": d.dtype_word()} if d.chance(p) else {}
    if d.chance(0.2):
        named["requires_grad"] = "True"
    return named


@recipe("zeros", "ones", "rand", "randn", "empty")
def filled(d: Draw) -> Made:
    return [d.shapes()], _with_dtype(d)


@recipe("new_zeros", "new_ones", "new_empty")
def new_filled(d: Draw) -> Made:
    return [d.input(), d.shapes()], _with_dtype(d, 0.3)


@recipe("new_full")
def new_full(d: Draw) -> Made:
    return [d.input(), d.shapes(), d.number()], _with_dtype(d, 0.3)


@recipe("new_tensor")
def new_tensor(d: Draw) -> Made:
    return [d.input(), d.some("[1, 2]", "[[1.5], [2]]", "3", "[]", "[True]")], _with_dtype(d, 0.3)


@recipe("zeros_like", "ones_like", "rand_like", "randn_like", "empty_like")
def filled_like(d: Draw) -> Made:
    return [d.input()], _with_dtype(d, 0.4)


@recipe("full")
def full(d: Draw) -> Made:
    return [d.shapes(), d.number()], _with_dtype(d)


@recipe("full_like")
def full_like(d: Draw) -> Made:
    return [d.input(), d.number()], _with_dtype(d, 0.3)


@recipe("eye")
def eye(d: Draw) -> Made:
    return [d.some("0", "2", "3"), *((d.some("0", "1", "4"),) if d.chance(0.5) else ())], (
        _with_dtype(d)
    )


@recipe("arange")
def arange(d: Draw) -> Made:
    return d.some(
        ["5"],
        ["0"],
        ["2.5"],
        ["1", "4"],
        ["0", "1", "0.25"],
        ["5", "0", "-2"],
        ["0", "5", "2"],
        ["0", "5", "-1"],
        ["1.0", "2", "0.3"],
        ["0", "3", "0"],
    ), (_with_dtype(d, 0.4))


@recipe("linspace")
def linspace(d: Draw) -> Made:
    return [d.some("0", "-1.5", "2"), d.some("1", "3.5", "-7"), d.some("0", "1", "2", "5", "-1")], (
        _with_dtype(d, 0.4)
    )


@recipe("tensor", "as_tensor", "asarray")
def tensor(d: Draw) -> Made:
    return [
        d.some(
            "[1, 2]",
            "[[1.5], [2]]",
            "3",
            "[]",
            "[True, False]",
            "[1, 2.5, True]",
            "1j",
            "[[], []]",
            "[[1, 2], [3]]",
            "np.arange(3)",
            "np.float32(2)",
            "'x'",
            "[None]",
            "(1, (2, 3))",
            "np.ones((2, 2), np.float16)",
            "[1, 2j]",
            "2**40",
            "[[[1]]]",
            "-1",
            "300",
            "[2.0**70]",
            d.input(grad=False),
        )
    ], _with_dtype(d, 0.4)


@recipe("empty_strided")
def empty_strided(d: Draw) -> Made:
    return [d.some("(2, 3)", "(2,)"), d.some("(3, 1)", "(1, 2)", "(1,)")], _with_dtype(d)


@recipe("randint")
def randint(d: Draw) -> Made:
    return [*d.some(("5",), ("1", "5"), ("5", "1")), d.shapes()], _with_dtype(d)


@recipe("randint_like")
def randint_like(d: Draw) -> Made:
    return [d.input(), *d.some(("5",), ("1", "5"))], _with_dtype(d)


@recipe("randperm")
def randperm(d: Draw) -> Made:
    return [d.some("0", "1", "5")], _with_dtype(d)


@recipe("normal")
def normal(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    return d.some([d.input(grad=False), "1.0"], ["0.0", "1.0", d.shapes()]), {}


@recipe("bernoulli")
def bernoulli(d: Draw) -> Made:
    return [d.input(kind="unit")], {}


@recipe("uniform", "geometric")
def uniform(d: Draw) -> Made:
    return [d.input()], {}


@recipe("promote_types", "can_cast")
def promote_types(d: Draw) -> Made:
    return [d.dtype_word(), d.dtype_word()], {}


@recipe("result_type")
def result_type(d: Draw) -> Made:
    return [d.input(), d.partner()], {}


@recipe("from_numpy")
def from_numpy(d: Draw) -> Made:
    return [
        d.some(
            "np.arange(3)",
            "np.ones((2, 3))[:, ::2]",
            "np.zeros(0)",
            "np.float32(1)",
            "np.array(2.0)",
            "[1]",
        )
    ], {}


@recipe("from_dlpack")
def from_dlpack(d: Draw) -> Made:
    return [d.some(d.input(dtype="float32", grad=False), "np.arange(3)", "5")], {}


@recipe("frombuffer")
def frombuffer(d: Draw) -> Made:
    named = {"dtype": d.some("T.float32", "T.uint8", "T.int16")}
    if d.chance(0.4):
        named["count"] = d.some("1", "2", "-1", "100")
    if d.chance(0.4):
        named["offset"] = d.some("0", "4", "1", "50")
    return ["bytearray(range(16))"], named
