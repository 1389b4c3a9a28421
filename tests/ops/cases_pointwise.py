# SPDX-License-Identifier: Apache-2.0
"""Pointwise operators: a line each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import libdl
from libdl.nn import functional as F
from refusals import refusals
from samples import SHAPES, SPECIAL, Case, Reject, Sample, binary, integers, numbers, unary

erf = np.vectorize(math.erf, otypes=[float])


def no_strings(name: str, function: Any) -> list[Reject]:
    return [Reject(TypeError, (name, "input"), lambda: function("a"))]


def no_shapes(name: str, function: Any, dtype: Any = None) -> list[Reject]:
    a, b = np.ones((2, 2)), np.ones(3)
    return refusals(
        f"""
            function(libdl.tensor(a, dtype=dtype), libdl.tensor(b, dtype=dtype))
                # ValueError | RuntimeError: {name} ... broadcast
        """,
        globals() | locals(),
    )


def one(name: str, reference: Any, *domain: float, result: str = "float", **how: Any) -> Case:
    function = getattr(libdl, name)
    domain_of = {k: how.pop(k) for k in ("away",) if k in how}
    return Case(
        name,
        function,
        reference,
        unary(*domain, **domain_of),
        result=result,
        out=True,
        inplace=hasattr(libdl.Tensor, name + "_"),
        rejects=no_strings(name, function),
        **how,
    )


def two(name: str, reference: Any, *domain: float, result: str = "same", **how: Any) -> Case:
    function = getattr(libdl, name)
    domain_of = {k: how.pop(k) for k in ("away", "low2", "high2", "special") if k in how}
    return Case(
        name,
        function,
        reference,
        binary(*domain, **domain_of),
        result=result,
        out=True,
        inplace=hasattr(libdl.Tensor, name + "_"),
        rejects=no_shapes(name, function),
        **how,
    )


def sigmoid(x: Any) -> Any:
    return np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))


UNARY = [
    one("neg", np.negative, result="same", dtypes="fiu", exact=True),
    one("abs", np.abs, result="same", dtypes="fiu", exact=True, away=0.01),
    one("sign", np.sign, result="same", away=0.01),
    one("sgn", np.sign, result="same", away=0.01),
    one("reciprocal", lambda x: 1 / x, 0.5, 2.0),
    one("square", np.square, result="own"),
    one("sqrt", np.sqrt, 0.1, 4.0),
    one("rsqrt", lambda x: 1 / np.sqrt(x), 0.3, 4.0),
    one("exp", np.exp),
    one("exp2", np.exp2),
    one("expm1", np.expm1),
    one("log", np.log, 0.1, 5.0),
    one("log2", np.log2, 0.1, 5.0),
    one("log10", np.log10, 0.1, 5.0),
    one("log1p", np.log1p, -0.5, 5.0),
    one("sin", np.sin),
    one("cos", np.cos),
    one("tan", np.tan, -1.2, 1.2),
    one("tanh", np.tanh),
    one("sigmoid", sigmoid),
    one("erf", erf),
    one(
        "relu",
        lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)),
        result="same",
        dtypes="fiu",
        away=0.01,
    ),
    one("floor", np.floor, result="same", dtypes="fiu", away=0.01),
    one("ceil", np.ceil, result="same", dtypes="fiu", away=0.01),
    one("round", np.round, -0.4, 0.4, result="same", dtypes="fiu"),
    one("trunc", np.trunc, result="same", dtypes="fiu", away=0.01),
    one("logical_not", np.logical_not, result="bool", differentiable=False),
    one("signbit", np.signbit, result="bool", differentiable=False, exact=True),
]
for name in ("isnan", "isinf", "isfinite"):
    UNARY.append(
        Case(
            name,
            getattr(libdl, name),
            getattr(np, name),
            unary(),
            result="bool",
            differentiable=False,
            exact=True,
            rejects=no_strings(name, getattr(libdl, name)),
        )
    )
UNARY += [
    Case(
        "gelu",
        F.gelu,
        lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
        unary(special=False),
        dtypes="f",
        scale=4,
        rejects=no_strings("gelu", F.gelu),
    ),
    Case(
        "gelu_tanh",
        lambda x: F.gelu(x, approximate="tanh"),
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        unary(special=False),
        dtypes="f",
        scale=4,
        operators=("gelu",),
        rejects="""
            F.gelu(libdl.ones(2), approximate="no")
                # ValueError | RuntimeError: gelu ... approximate
        """,
    ),
    Case(
        "silu",
        F.silu,
        lambda x: x * sigmoid(x),
        unary(special=False),
        dtypes="f",
        scale=4,
        rejects=no_strings("silu", F.silu),
    ),
    Case(
        "elu",
        F.elu,
        lambda x, alpha=1.0: np.where(x < 0, alpha * np.expm1(x), x),
        lambda: unary(away=0.01)() + unary(away=0.01, alpha=-0.5)(),
        dtypes="f",
        rejects=no_strings("elu", F.elu),
    ),
    Case(
        "leaky_relu",
        F.leaky_relu,
        lambda x, negative_slope=0.01: np.where(x > 0, x, negative_slope * x),
        lambda: unary(away=0.01)() + unary(away=0.01, negative_slope=-0.5)(),
        dtypes="f",
        rejects=no_strings("leaky_relu", F.leaky_relu),
    ),
    Case(
        "hardshrink",
        F.hardshrink,
        lambda x, lambd=0.5: np.where((-lambd <= x) & (x <= lambd), 0, x),
        lambda: unary()() + unary(away=0.01, lambd=0.0)(),
        dtypes="f",
        rejects=no_strings("hardshrink", F.hardshrink),
    ),
    Case(
        "softplus",
        F.softplus,
        lambda x, beta=1.0, threshold=20.0: np.where(
            beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta
        ),
        lambda: unary()() + unary(beta=0.5, threshold=0.7)(),
        dtypes="f",
        rejects=no_strings("softplus", F.softplus),
    ),
    Case(
        "logsigmoid",
        F.logsigmoid,
        lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
        unary(),
        dtypes="f",
        rejects=no_strings("logsigmoid", F.logsigmoid),
    ),
    Case(
        "clamp",
        libdl.clamp,
        lambda x, min=None, max=None: np.clip(x, min, max),
        lambda: unary(away=0.01, min=-0.995, max=1.0)() + unary(away=0.01, min=0.0)(),
        result="own",
        out=True,
        inplace=True,
        dtypes="f",
        rejects=no_strings("clamp", libdl.clamp),
    ),
]

DIVISOR = {1: (None, None)}  # whatever an integer may be divided by
BINARY = [
    two("add", np.add, exact=True),
    two("sub", np.subtract, exact=True, dtypes="fiu"),
    two("mul", np.multiply, exact=True),
    two("div", np.divide, -2, 2, low2=0.5, high2=2.0, result="float"),
    two("pow", np.power, 0.3, 2.0, low2=0.5, high2=2.0, scale=8, dtypes="fiu", ranges={1: (0, 9)}),
    two("maximum", np.maximum, exact=True),
    two("minimum", np.minimum, exact=True),
    two("fmax", np.fmax, exact=True),
    two("fmin", np.fmin, exact=True),
    two("copysign", np.copysign, result="float", away=0.01, exact=True),
    two("heaviside", lambda x, h: np.where(x == 0, h, x > 0), away=0.01, exact=True),
    two(
        "remainder",
        np.mod,
        -1.9,
        1.9,
        low2=2.1,
        high2=3.0,
        away=0.01,
        special=False,
        dtypes="fiu",
        ranges=DIVISOR,
    ),
    two(
        "fmod", np.fmod, -1.9, 1.9, low2=2.1, high2=3.0, special=False, dtypes="fiu", ranges=DIVISOR
    ),
    two(
        "floor_divide",
        np.floor_divide,
        0.1,
        1.9,
        low2=2.1,
        high2=3.0,
        special=False,
        differentiable=False,
        dtypes="fiu",
        ranges=DIVISOR,
    ),
]
for name, reference in {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}.items():
    BINARY.append(two(name, reference, result="bool", differentiable=False, exact=True))


def whole(low: int = -9, high: int = 9, low2: int = -9, high2: int = 9) -> Any:
    from samples import PAIRS

    return lambda: [
        Sample((integers(a, 10 * i + n, low, high), integers(b, 700 + 10 * i + n, low2, high2)))
        for i, (a, b) in enumerate(PAIRS)
        for n in (1, 2)
    ]


ANY = {0: ("any", None), 1: ("any", None)}
DISTANCES = {0: ("any", None), 1: (-2, 70)}  # NumPy and PyTorch agree beyond the width, too
for name, reference, made, ranges in [
    ("bitwise_and", np.bitwise_and, whole(), ANY),
    ("bitwise_or", np.bitwise_or, whole(), ANY),
    ("bitwise_xor", np.bitwise_xor, whole(), ANY),
    ("bitwise_left_shift", np.left_shift, whole(0, 99, 0, 8), DISTANCES),
    ("bitwise_right_shift", np.right_shift, whole(-99, 99, 0, 8), DISTANCES),
]:
    function = getattr(libdl, name)
    BINARY.append(
        Case(
            name,
            function,
            reference,
            made,
            differentiable=False,
            exact=True,
            out=True,
            inplace=True,
            ranges=ranges,
            rejects=no_shapes(name, function, libdl.int64),
        )
    )
UNARY.append(
    Case(
        "bitwise_not",
        libdl.bitwise_not,
        np.bitwise_not,
        lambda: [Sample(s.args[:1]) for s in whole()()],
        differentiable=False,
        exact=True,
        out=True,
        inplace=True,
        ranges={0: ("any", None)},
        rejects="""
            libdl.bitwise_not(libdl.ones(2))
                # TypeError: bitwise_not ... input ... float32
        """,
    )
)


def three(low: float = 0.5) -> Any:
    return lambda: [
        Sample((s.args[0], s.args[1], numbers(s.args[0].shape, 900 + i, low, 2.0)))
        for i, s in enumerate(binary(special=False)())
    ]


def no_three(name: str, function: Any, third: str) -> list[Reject]:
    def call(*sizes: Any, **kwargs: Any) -> Any:
        return lambda: function(
            *[libdl.ones(s) for s in sizes], **{k: libdl.empty(s) for k, s in kwargs.items()}
        )

    return [
        Reject(ValueError, (f"{name}: argument 2", "broadcast"), call((2, 2), 3, (2, 2))),
        Reject(ValueError, (f"{name}: argument 3 ({third})", "broadcast"), call((2, 2), (2, 2), 3)),
        Reject(
            ValueError,
            ("(out) has shape [3], wanted [2, 2]", name),
            call((2, 2), (2, 2), (2, 2), out=3),
        ),
    ]


def no_value(name: str, function: Any) -> list[Reject]:
    return refusals(
        f"""
            function(*[libdl.ones(2, dtype=libdl.int64)] * 3, value=0.5)
                # TypeError: {name}: argument 4 (value) is float64 ... int64
        """,
        globals() | locals(),
    )


def close() -> list[Sample]:
    """Equal, or apart by far more than the tolerance: no rounding of the inputs decides."""
    apart = [
        Sample((a, a + 0.5 * (numbers(a.shape, i) > 0)), kw)
        for i, a in enumerate(numbers(s, 40 + k) for k, s in enumerate(SHAPES))
        for kw in ({"rtol": 1e-2}, {"rtol": 0.0, "atol": 0.02})
    ]
    return apart + [
        Sample((SPECIAL[:, None], SPECIAL[None, :]), {"equal_nan": e}, smooth=False)
        for e in (False, True)
    ]


def as_tensor(function: Any) -> Any:
    return lambda *args, **kwargs: libdl.tensor(function(*args, **kwargs))


def pairs_of(same: Any) -> Any:
    return lambda: [
        Sample((x, y))
        for i, s in enumerate(SHAPES)
        for x in [numbers(s, i)]
        for y in (x, x + 1, np.zeros((*s, 2)))[:same]
    ]


TERNARY = [
    Case(
        "lerp",
        libdl.lerp,
        lambda a, b, w: a + w * (b - a),
        three(),
        dtypes="fc",
        out=True,
        scale=4,
        inplace=True,
        terms=4.0,
        rejects=[
            *no_three("lerp", libdl.lerp, "weight"),
            """
            libdl.lerp(libdl.ones(2), libdl.ones(2).double(), 0.5)
                # TypeError: lerp: argument 2 (end) is float64, wanted float32
            """,
        ],
    ),
    Case(
        "addcmul",
        libdl.addcmul,
        lambda a, b, c: a + b * c,
        three(),
        dtypes="fiuc",
        out=True,
        scale=4,
        inplace=True,
        terms=4.0,
        rejects=no_three("addcmul", libdl.addcmul, "tensor2") + no_value("addcmul", libdl.addcmul),
    ),
    Case(
        "addcmul_scaled",
        lambda a, b, c: libdl.addcmul(a, b, c, value=0.25),
        lambda a, b, c: a + 0.25 * b * c,
        three(),
        dtypes="fc",
        scale=4,
        terms=4.0,
        operators=("addcmul",),
        rejects=no_value("addcmul", libdl.addcmul),
    ),
    Case(
        "addcdiv",
        libdl.addcdiv,
        lambda a, b, c: a + b / c,
        three(),
        dtypes="fc",
        out=True,
        scale=4,
        inplace=True,
        terms=4.0,
        rejects=no_three("addcdiv", libdl.addcdiv, "tensor2"),
    ),
    Case(
        "where",
        libdl.where,
        np.where,
        lambda: [Sample((np.asarray(s.args[0] > 0), *s.args), smooth=s.smooth) for s in binary()()],
        exact=True,
        out=True,
        dtypes="fiubc",
        rejects="""
            libdl.where(libdl.ones(2), 1.0, 2.0)
                # TypeError: where: argument 1 (condition) is float32, wanted bool
            libdl.where(libdl.ones(2) > 0, libdl.ones(2), libdl.ones(3))
                # ValueError: where: argument 3 (other) ... broadcast
        """,
    ),
    Case(
        "isclose",
        libdl.isclose,
        np.isclose,
        close,
        result="bool",
        differentiable=False,
        exact=True,
        dtypes="fiubc",
        rejects="""
            libdl.isclose(libdl.ones(2), libdl.ones(2), rtol=-1.0)
                # ValueError: isclose: argument 3 (rtol) is -1 ... 0 or more
            libdl.isclose(libdl.ones(2), libdl.ones(2).double())
                # TypeError: isclose: argument 2 (other) is float64, wanted float32
        """,
    ),
    Case(
        "allclose",
        as_tensor(libdl.allclose),
        lambda *a, **k: np.asarray(np.allclose(*a, **k)),
        close,
        result="bool",
        differentiable=False,
        exact=True,
        dtypes="fiubc",
        rejects="""
            libdl.allclose(libdl.ones(2), libdl.ones(2), atol=math.nan)
                # ValueError: allclose: argument 4 (atol) is nan
            libdl.allclose(libdl.ones(2), libdl.ones(3))
                # ValueError: allclose: argument 2 (other) ... broadcast
        """,
    ),
    Case(
        "equal",
        as_tensor(libdl.equal),
        lambda x, y: np.asarray(np.array_equal(x, y)),
        pairs_of(3),
        result="bool",
        differentiable=False,
        exact=True,
        dtypes="fiubc",
        rejects=[Reject(TypeError, ("equal", "other"), lambda: libdl.equal(libdl.ones(2), "a"))],
    ),
]
for name, reference in (("conj", np.conj), ("real", np.real)):
    UNARY.append(
        Case(
            name,
            getattr(libdl, name),
            reference,
            unary(),
            exact=True,
            dtypes="fiubc",
            rejects=no_strings(name, getattr(libdl, name)),
        )
    )
# What NumPy computes for complex numbers by the same names, too.
COMPLEX = set(
    """neg abs sgn reciprocal square sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos
    tan tanh sigmoid isnan isinf isfinite logical_not silu add sub mul div pow eq ne logical_and
    logical_or logical_xor""".split()
)
CASES = UNARY + BINARY + TERNARY
for case in CASES:
    case.dtypes += "c" if case.name in COMPLEX else ""
