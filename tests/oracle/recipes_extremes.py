# SPDX-License-Identifier: Apache-2.0
"""Magnitudes whose squares leave the range of float32, and zeros in all arguments at once. Most calls
have few elements, so that a large one does not hide what a small one is off."""

from __future__ import annotations

from arguments import Draw
from recipes import Made
from recipes_corners import corner

FEW = ((), (1,), (2,), (3,), (2, 2))


def of_kind(d: Draw, *shapes: tuple[int, ...], dtype: str = "") -> list[str]:
    """Tensors of one kind and dtype; of float64 zeros alone, as there is no wider dtype that knows
    better."""
    d.mode = d.some("value", "grad", "forward")
    d.kind = d.some("extreme", "extreme", "nothing")
    dtype = dtype or "float32"
    if d.kind == "nothing" and d.chance(0.5):
        dtype = {"float32": "float64", "complex64": "complex128"}[dtype]
    return [d.tensor(shape, dtype, d.kind, d.some("plain", "step")) for shape in shapes]


@corner(
    "atan2",
    "arctan2",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "dist",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "copysign",
    "xlogy",
    "div",
    "divide",
    "true_divide",
)
def pairs(d: Draw) -> Made:
    shape = d.some(*FEW)
    return of_kind(d, shape, shape), {}


@corner("polar")
def polar(d: Draw) -> Made:
    shape = d.some(*FEW)
    d.mode, d.kind = "value", "extreme"
    return [
        d.tensor(shape, "float32", "extreme", "plain"),
        d.tensor(shape, "float32", "nothing", "plain"),
    ], {}


@corner("angle", "abs", "absolute", "sgn", "sqrt")
def of_complex(d: Draw) -> Made:
    return of_kind(d, d.some(*FEW), dtype=d.some("complex64", "float32")), {}


@corner(
    "acosh",
    "arccosh",
    "asinh",
    "arcsinh",
    "atan",
    "arctan",
    "reciprocal",
    "rsqrt",
    "log",
    "log1p",
    "log2",
    "log10",
    "logit",
    "tanh",
    "sigmoid",
    "softplus",
    "logsigmoid",
    "softsign",
)
def of_one(d: Draw) -> Made:
    return of_kind(d, d.some(*FEW)), {}


@corner("norm", "std", "mean")
def reduced(d: Draw) -> Made:
    x = of_kind(d, d.some((3,), (2, 3), (3, 33), (40, 5)))
    args = [d.some("2", "3", "0.5", "1", "float('inf')", "-1")] if "norm" in d.function else []
    return [*x, *args, *(("-1",) if d.chance(0.6) else ())], {}


@corner("normalize", "cosine_similarity", "pairwise_distance", "pdist", "cdist", "renorm")
def distances(d: Draw) -> Made:
    shape = d.some((2, 3), (3, 2), (2, 17))
    some = of_kind(d, *([shape] if d.function in ("normalize", "pdist", "renorm") else [shape] * 2))
    named = {"p": d.some("2.0", "3.0")} if d.function not in ("cosine_similarity", "renorm") else {}
    named |= {"eps": "0.0"} if d.function in ("normalize", "pairwise_distance") else {}
    return [*some, *(("2", "0", "1.0") if d.function == "renorm" else ())], named


@corner("layer_norm", "rms_norm")
def normalised(d: Draw) -> Made:
    n = d.some(3, 5, 17)
    return [*of_kind(d, (2, n)), f"({n},)"], {"eps": d.some("1e-5", "1e-12")}


@corner("group_norm", "instance_norm")
def in_groups(d: Draw) -> Made:
    x = of_kind(d, (2, 2, 3))
    return [*x, *(("2",) if d.function == "group_norm" else ())], {"eps": d.some("1e-5", "1e-12")}


@corner("lp_pool1d")
def powers(d: Draw) -> Made:
    return [*of_kind(d, d.some((2, 4), (1, 2, 6))), d.some("2.0", "3.0", "1.0"), "2"], {}


@corner("ldexp")
def exponents(d: Draw) -> Made:
    d.mode, d.kind = "value", "extreme"  # PyTorch's slope is 2^other in float32
    x = d.tensor((3,), d.some("float32", "float64"), "extreme", "plain")
    return [x, f"T.tensor({d.some([-1100, 0, 1000], [2000, -3, -2000], [1, -130, 130])})"], {}
