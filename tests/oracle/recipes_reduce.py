# SPDX-License-Identifier: Apache-2.0
"""Reductions, losses, layers and other arithmetic."""

from __future__ import annotations

import functools

from arguments import Draw
from recipes import Made, near, recipe, size_of


@recipe("max", "min")
def extremum(d: Draw) -> Made:
    x = d.input()
    p = d.r.random()
    if p < 0.3:
        return [x], {}
    if p < 0.5:
        return [x, d.partner(numbers=False)], {}
    return [x, d.dim(), *(("True",) if d.chance(0.3) else ())], {}


@recipe("norm")
def norm(d: Draw) -> Made:
    x = d.input()
    args = [x]
    if d.chance(0.7):
        args.append(
            d.some("2", "1", "0", "3", "float('inf')", "-float('inf')", "0.5", "'fro'", "-1")
        )
        if d.chance(0.7):
            args.append(d.dims())
            if d.chance(0.3):
                args.append("True")
    named = {"dtype": d.dtype_word()} if d.chance(0.15) else {}
    return args, named


@recipe("var", "std")
def var(d: Draw) -> Made:
    x = d.input()
    args, named = [x], {}
    if d.chance(0.7):
        args.append(d.dims())
    if d.chance(0.4):
        named["correction"] = d.some("0", "1", "2", "0.5", "5")
        if d.chance(0.4):
            named["keepdim"] = "True"
    elif len(args) == 1 and d.chance(0.3):
        args.append(d.some("True", "False"))
    return args, named


@recipe("prod", "argmax", "argmin", "all", "any", "sum", "mean", "amax", "amin")
def reduction(d: Draw) -> Made:
    if d.mode != "value" and d.kind == "far" and d.dtype not in ("float64", "complex128"):
        d.kind = "plain"  # 17 times 70000 is beyond float32, and the order decides where
    x = d.input()
    args, named = [x], {}
    if d.chance(0.7):
        args.append(d.dim() if d.chance(0.6) else d.dims())
        if d.chance(0.35):
            named["keepdim"] = "True"
    return args, named


@recipe("cumprod")
def cumprod(d: Draw) -> Made:
    if d.mode != "value" and d.kind == "far" and d.dtype not in ("float64", "complex128"):
        d.kind = "plain"  # as above: where an infinity meets a 0 is the order's choice
    named = {"dtype": d.dtype_word()} if d.chance(0.3) else {}
    return [d.input(), d.dim()], named


@recipe("topk", "kthvalue")
def topk(d: Draw) -> Made:
    x = d.input()
    dim = near(d)
    args = [x, str(d.r.randrange(0, size_of(d, dim) + 2))]
    return args, ({"dim": dim} if d.chance(0.6) else {})


@recipe("cross_entropy", "nll_loss")
def cross_entropy(d: Draw) -> Made:
    n, c = d.some(1, 2, 3), d.some(2, 3)
    shape = d.some((n, c), (c,), (n, c, 2))
    x = d.tensor(shape)
    target = (shape[0], *shape[2:]) if len(shape) > 1 else ()
    named = {}
    args = [x, d.indices(target, c)]
    if d.chance(0.3):
        named["weight"] = d.tensor((c,), kind="positive")
    if d.chance(0.4):
        named["reduction"] = d.some("'sum'", "'mean'", "'none'", "'other'")
    if d.chance(0.3):
        named["ignore_index"] = d.some("1", "0", "-100")
    return args, named


@recipe("cross_entropy.probabilities")
def cross_entropy_of_probabilities(d: Draw) -> Made:
    shape = d.some((2, 3), (3,), (2, 3, 2))
    named = {"label_smoothing": d.some("0.1", "0.5")} if d.chance(0.5) else {}
    if d.chance(0.4):
        named["reduction"] = d.some("'sum'", "'mean'", "'none'")
    return [d.tensor(shape), d.tensor(shape, kind="unit")], named


@recipe("layer_norm")
def layer_norm(d: Draw) -> Made:
    d.shape = d.some_shape(1)
    last = d.shape[-d.some(1, min(2, len(d.shape))) :]
    args = [d.tensor(d.shape), str(last)]
    kind = "plain" if d.kind == "far" else None
    if d.chance(0.6):
        args.append(d.tensor(last, kind=kind))
        if d.chance(0.7):
            args.append(d.tensor(last))
    return args, ({"eps": d.some("1e-5", "1e-2")} if d.chance(0.3) else {})


def _vectors(d: Draw, channels: int, *names: str) -> dict[str, str]:
    kind = "plain" if d.kind == "far" else None
    return {
        name: d.tensor((channels,), kind="positive" if name == "running_var" else kind)
        for name in names
    }


def _of_channels(d: Draw, word: str) -> Made:
    stats, channels = d.chance(0.7), d.some(1, 2, 3)
    d.shape = (d.some(1, 2, 3), channels, *(d.some(1, 2, 3) for _ in range(d.some(0, 1, 1, 2, 3))))
    made = {"running_mean": "None", "running_var": "None"}
    if not stats or d.chance(0.5):
        made = _vectors(d, channels, "running_mean", "running_var")
    names = [name for name in ("weight", "bias") if d.chance(0.6)]
    named = made | _vectors(d, channels, *names) | {word: str(stats)}
    for name, choices in (("eps", ("1e-5", "0.1")), ("momentum", ("0.1", "0.5", "1.0"))):
        if d.chance(0.3):
            named[name] = d.some(*choices)
    return [d.tensor(d.shape)], named


recipe("batch_norm")(functools.partial(_of_channels, word="training"))
recipe("instance_norm")(functools.partial(_of_channels, word="use_input_stats"))


@recipe("group_norm")
def group_norm(d: Draw) -> Made:
    channels = d.some(2, 3, 4)
    d.shape = (d.some(1, 2, 0), channels, *(d.some(1, 2, 3) for _ in range(d.some(0, 1, 2))))
    named = _vectors(d, channels, *(name for name in ("weight", "bias") if d.chance(0.6)))
    return [d.tensor(d.shape), d.some("1", "2", str(channels))], named


@recipe("rms_norm")
def rms_norm(d: Draw) -> Made:
    d.shape = d.some_shape(1)
    last = d.shape[-d.some(1, min(2, len(d.shape))) :]
    named = {"weight": d.tensor(last)} if d.chance(0.6) else {}
    return [d.tensor(d.shape), str(last)], named | ({"eps": "0.1"} if d.chance(0.4) else {})


def convolution(d: Draw, dims: int, transposed: bool) -> Made:
    # A zero of the padding times infinity is the algorithm's choice.
    if d.kind in (
        "special",
        "far",
    ):
        d.kind = "plain"
    groups, c, k = d.some(1, 1, 1, 2, 3), d.some(1, 2, 3), d.some(1, 2, 3)

    def each(*some: int) -> tuple[int, ...]:
        return tuple(d.some(*some) for _ in range(dims))

    batch = d.some((2,), (1,), (), (0,))
    d.shape = (*batch, groups * c, *each(3, 4, 5, 2, 1))
    weight = (*((groups * c, k) if transposed else (groups * k, c)), *each(1, 2, 3))
    args = [d.tensor(d.shape), d.tensor(weight)]
    if d.chance(0.5):
        args.append(d.tensor((groups * k if d.chance(0.95) else 7,)))
    named = {"groups": str(groups)} if groups > 1 else {}
    choices = {
        "stride": ("1", "2", each(1, 2, 3), "0"),
        "padding": ("0", "1", each(0, 1, 2), "-1"),
        "dilation": ("1", "2", each(1, 2)),
    }
    if transposed:
        choices["output_padding"] = ("0", "1", each(0, 1))
    else:
        choices["padding"] += ("'same'", "'valid'", "'full'")
    for name, some in choices.items():
        if d.chance(0.4):
            named[name] = str(d.some(*some))
    return args, named


for _n in (1, 2, 3):
    recipe(f"conv{_n}d")(functools.partial(convolution, dims=_n, transposed=False))
    recipe(f"conv_transpose{_n}d")(functools.partial(convolution, dims=_n, transposed=True))


@recipe("sgn", "abs", "absolute")
def sgn(d: Draw) -> Made:
    return [d.input()], {}


@recipe("logsumexp")
def logsumexp(d: Draw) -> Made:
    return reduction(d)


@recipe("cosine_similarity")
def cosine_similarity(d: Draw) -> Made:
    x = d.input(1)
    return [x, d.tensor(d.partner_shape())], {"dim": near(d)}


@recipe("normalize")
def normalize(d: Draw) -> Made:
    x = d.input(1)
    named = {"dim": near(d)}
    if d.chance(0.5):
        named["p"] = d.some("1.0", "2.0", "3.0", "float('inf')")
    return [x], named


@recipe("lerp")
def lerp(d: Draw) -> Made:
    x = d.input()
    return [x, d.tensor(d.partner_shape()), d.partner()], {}


@recipe(
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "bitwise_not",
)
def bits(d: Draw) -> Made:
    if d.chance(0.9):
        d.dtype = d.some("int64", "int32", "int16", "int8", "uint8", "bool")
    return [d.input(), d.partner()], {}


@recipe("bitwise_not")
def bits_turned(d: Draw) -> Made:
    return bits(d)[0][:1], {}


@recipe("copy")
def copy(d: Draw) -> Made:
    x = d.input()
    return [x, d.tensor(d.partner_shape(), d.some_dtype() if d.chance(0.4) else None)], {}


@recipe("fill")
def fill(d: Draw) -> Made:
    return [d.input(), d.number() if d.chance(0.7) else d.tensor(())], {}


@recipe("repeat_interleave")
def repeat_interleave(d: Draw) -> Made:
    x = d.input()
    if d.chance(0.5):
        return [x, d.some("2", "0", "1"), *((near(d),) if d.chance(0.6) else ())], {}
    dim = near(d)
    return [x, d.indices((size_of(d, dim),), 3), dim], {}


@recipe("dropout")
def dropout(d: Draw) -> Made:
    d.dtype = d.some("float32", "float64")
    return [d.input(), d.some("0.5", "0.0", "1.0", "2.0"), d.some("True", "False")], {}
