# SPDX-License-Identifier: Apache-2.0
"""Numbers and their parts, and functions that need care at the ends of their domain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import libdl
from cases_pointwise import no_shapes, no_strings, one, two
from cases_special import each
from samples import SPECIAL, Case, Reject, Sample, binary, integers, unary

COMPLEX = libdl.complex64


def refuses(name: str, error: Any, *words: str, of: Any) -> Reject:
    return Reject(error, (f"{name}: argument", *words), of)


def angle(x: np.ndarray) -> Any:
    """Unlike NumPy's, 0 of -0."""
    return np.angle(x if np.iscomplexobj(x) else x + 0.0)


def logit(x: np.ndarray, eps: float | None = None) -> Any:
    with np.errstate(all="ignore"):
        x = x if eps is None else np.clip(x, eps, 1 - eps)
        return np.log(x / (1 - x))


def xlogy(x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))


def xlog1py(x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log1p(y))


def mvlgamma(x: np.ndarray, p: int = 2) -> Any:
    terms = sum(each(math.lgamma)(x - i / 2) for i in range(p))
    return terms + p * (p - 1) / 4 * math.log(math.pi)


def parts_of(function: Any) -> Any:
    """The complex result as real numbers. There are none of 16 bits."""

    def call(a: Any, b: Any) -> Any:
        wide = (x.float() if x.itemsize == 2 else x for x in (a, b))
        return libdl.view_as_real(function(*wide)).to(a.dtype)

    return call


def whole(name: str, reference: Any) -> Case:
    """Of integers, of which products of two fit into 64 bits."""
    function = getattr(libdl, name)

    def samples() -> list[Sample]:
        shapes = [((), ()), ((5,), (5,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0,), (1,))]
        return [
            Sample((integers(a, 10 * i + n, -99, 99), integers(b, 10 * i + n + 50, -99, 99)))
            for i, (a, b) in enumerate(shapes)
            for n in range(4)
        ]

    return Case(
        name,
        function,
        reference,
        samples,
        differentiable=False,
        dtypes="",
        out=True,
        inplace=True,
        exact=True,
        rejects=[
            refuses(
                name,
                NotImplementedError,
                "1 (input)",
                "float32",
                of=lambda: function(libdl.ones(2), libdl.arange(2)),
            ),
            refuses(
                name,
                NotImplementedError,
                "2 (other)",
                "bool",
                of=lambda: function(libdl.arange(2), libdl.ones(2) > 0),
            ),
            refuses(
                name, TypeError, "2 (other)", "number", of=lambda: function(libdl.arange(2), 2)
            ),
        ],
    )


def classes(options: dict[str, int]) -> list[Sample]:
    return [
        Sample((integers(s, 10 * i + n, 0, 5),), options)
        for i, s in enumerate([(1,), (4,), (2, 3), (7,), (3, 1, 2)])
        for n in range(6)
    ]


def one_hot(x: np.ndarray, num_classes: int = -1) -> Any:
    count = num_classes if num_classes >= 0 else int(x.max()) + 1
    return np.eye(count, dtype=np.int64)[x]


def pairs_of_signs() -> list[Sample]:
    """Finite numbers, and each special one beside each."""
    return [*binary(special=False)(), Sample((SPECIAL[:, None], SPECIAL[None, :]), smooth=False)]


CASES = [
    one("deg2rad", np.deg2rad, -90, 90),
    one("rad2deg", np.rad2deg, dtypes="fiu"),
    one("sinc", np.sinc, dtypes="fiu", scale=8),
    one("frac", lambda x: x - np.trunc(x), result="same", dtypes="f", away=0.01),
    Case(
        "angle",
        libdl.angle,
        angle,
        unary(away=0.01),
        result="float",
        dtypes="fiuc",
        rejects=no_strings("angle", libdl.angle),
    ),
    Case(
        "isposinf",
        libdl.isposinf,
        np.isposinf,
        unary(),
        result="bool",
        differentiable=False,
        out=True,
        exact=True,
        rejects=[
            refuses(
                "isposinf",
                TypeError,
                "complex64",
                of=lambda: libdl.isposinf(libdl.ones(2, dtype=COMPLEX)),
            )
        ],
    ),
    Case(
        "isneginf",
        libdl.isneginf,
        np.isneginf,
        unary(),
        result="bool",
        differentiable=False,
        out=True,
        exact=True,
        rejects=[
            refuses(
                "isneginf",
                TypeError,
                "complex64",
                of=lambda: libdl.isneginf(libdl.ones(2, dtype=COMPLEX)),
            )
        ],
    ),
    Case(
        "isreal",
        libdl.isreal,
        np.isreal,
        unary(),
        result="bool",
        differentiable=False,
        dtypes="fiubc",
        exact=True,
        rejects=no_strings("isreal", libdl.isreal),
    ),
    Case(
        "nan_to_num",
        libdl.nan_to_num,
        lambda x, nan=0.0, posinf=None, neginf=None: np.nan_to_num(
            x, nan=nan, posinf=posinf, neginf=neginf
        ),
        lambda: [
            *unary(special=False)(),
            *(
                Sample((SPECIAL[:6],), kw, smooth=False)
                for kw in (
                    {"posinf": 1.5, "neginf": -2.5},
                    {"nan": 0.5, "posinf": 1.0, "neginf": 3.0},
                )
            ),
        ],
        out=True,
        inplace=True,
        dtypes="f",
        rejects=no_strings("nan_to_num", libdl.nan_to_num),
    ),
    Case(
        "complex",
        parts_of(libdl.complex),
        lambda a, b: np.stack(np.broadcast_arrays(a, b), -1),
        binary(special=False),
        dtypes="f",
        rejects=[
            refuses(
                "complex",
                TypeError,
                "2 (imag)",
                "float32",
                of=lambda: libdl.complex(libdl.ones(2), libdl.ones(2).double()),
            ),
            refuses(
                "complex",
                TypeError,
                "1 (real)",
                "int64",
                of=lambda: libdl.complex(libdl.arange(2), libdl.arange(2)),
            ),
            *no_shapes("complex", libdl.complex, libdl.float32),
        ],
    ),
    Case(
        "polar",
        parts_of(libdl.polar),
        lambda r, t: np.stack([r * np.cos(t), r * np.sin(t)], -1),
        binary(0.1, 2.0, special=False),
        dtypes="f",
        scale=4,
        rejects=[
            refuses(
                "polar",
                TypeError,
                "float16",
                of=lambda: libdl.polar(libdl.ones(2).half(), libdl.ones(2).half()),
            ),
            refuses(
                "polar",
                TypeError,
                "2 (angle)",
                "float32",
                of=lambda: libdl.polar(libdl.ones(2), libdl.ones(2).double()),
            ),
        ],
    ),
    two(
        "float_power", np.float_power, 0.2, 2.0, -2.0, 2.0, result="own", dtypes="f", special=False
    ),
    two("ldexp", lambda x, n: x * 2.0**n, special=False, result="float", dtypes="fiu"),
    Case(
        "frexp",
        lambda x: libdl.frexp(x)[0],
        lambda x: np.frexp(x)[0],
        unary(away=0.01),
        dtypes="f",
        exact=True,
        rejects=[
            refuses("frexp", NotImplementedError, "int64", of=lambda: libdl.frexp(libdl.arange(3)))
        ],
    ),
    # In 16 bits the neighbour is one of 16 bits.
    Case(
        "nextafter",
        libdl.nextafter,
        np.nextafter,
        pairs_of_signs,
        dtypes="f",
        exact=True,
        out=True,
        inplace=True,
        roundings=2,
        rejects=[
            *no_shapes("nextafter", libdl.nextafter, libdl.float32),
            refuses(
                "nextafter",
                NotImplementedError,
                "int64",
                of=lambda: libdl.nextafter(libdl.arange(3), libdl.arange(3)),
            ),
        ],
    ),
    Case(
        "logit",
        libdl.logit,
        logit,
        lambda: [*unary(0.1, 0.9, special=False)(), *unary(0.1, 0.9, special=False, eps=0.05)()],
        dtypes="f",
        out=True,
        inplace=True,
        scale=8,
        rejects=no_strings("logit", libdl.logit),
    ),
    Case(
        "xlogy",
        libdl.xlogy,
        xlogy,
        binary(0.1, 2.0),
        result="float",
        dtypes="f",
        out=True,
        inplace=True,
        rejects=no_shapes("xlogy", libdl.xlogy),
    ),
    Case(
        "xlog1py",
        libdl.special.xlog1py,
        xlog1py,
        binary(0.1, 2.0),
        result="float",
        dtypes="f",
        out=True,
        rejects=no_shapes("xlog1py", libdl.special.xlog1py),
    ),
    Case(
        "mvlgamma",
        lambda x, p=2: libdl.mvlgamma(x, p),
        mvlgamma,
        lambda: [s for p in (1, 2, 3) for s in unary(2.1, 3, special=False, p=p)()],
        result="float",
        dtypes="f",
        scale=32,
        rejects=[
            refuses(
                "mvlgamma",
                ValueError,
                "2 (p)",
                "1 or more",
                of=lambda: libdl.mvlgamma(libdl.ones(2), 0),
            )
        ],
    ),
    whole("gcd", np.gcd),
    whole("lcm", np.lcm),
    Case(
        "one_hot_counted",
        libdl.nn.functional.one_hot,
        one_hot,
        lambda: classes({}),
        differentiable=False,
        dtypes="",
        result="own",
        exact=True,
        operators=("one_hot",),
        rejects="""
            libdl.nn.functional.one_hot(libdl.ones(0).long())
                # ValueError: one_hot: argument 1 (tensor) has no class
        """,
    ),
    Case(
        "one_hot",
        libdl.nn.functional.one_hot,
        one_hot,
        lambda: classes({"num_classes": 5}) + classes({"num_classes": 7}),
        differentiable=False,
        dtypes="",
        result="own",
        exact=True,
        rejects="""
            libdl.nn.functional.one_hot(libdl.tensor([0, -1]))
                # ValueError: one_hot: argument 1 (tensor) holds a negative class
            libdl.nn.functional.one_hot(libdl.tensor([0, 2]), 2)
                # ValueError: one_hot: argument 2 (num_classes) is 2 ... largest class, 2
            libdl.nn.functional.one_hot(libdl.ones(2))
                # TypeError: one_hot: argument 1 (tensor) is float32 ... int64
        """,
    ),
]
