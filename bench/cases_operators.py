# SPDX-License-Identifier: Apache-2.0
"""A row for every operator that has none by hand: called as its card and tests/samples tell, with
sizes as many times larger as make its largest tensor one of about a hundred thousand elements."""

from __future__ import annotations

import functools
import math
import sys
from pathlib import Path
from typing import Any

from registry import CASES, Call, case, drawn

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/samples")]

import rows  # noqa: E402
from operators import Argument, Operator, PythonLine, read_operators  # noqa: E402

FROM_CARD = " as its card"  # so much is part of the names of rows
ELEMENTS = 100_000
# So many times larger, where the result or the work grows faster than the largest tensor.
TIMES = {
    "convolution": 3,
    "cartesian_prod": 100,
    "combinations": 100,
    "diag_embed": 16,
    "diagflat": 8,
    "embedding_renorm": 128,
    "expand": 100,
    "expand_copy": 100,
    "kron": 8,
    "meshgrid": 100,
    "multilabel_margin_loss": 50,
    "outer": 128,
}
# Only the first size grows: another one is 2 or 3 by what it means.
LEADING = set("cross linalg_cross slice_scatter view_as_complex view_as_complex_copy".split())

# Numbers that are sizes where there are no tensors.
COUNTS = {"n", "m", "steps", "window_length", "row", "col"}

# Python takes the tensors of the list one by one.
APART = {"block_diag", "broadcast_tensors", "cartesian_prod", "meshgrid"}

# Operators without a row, each with its reason.
_ITEM = "x.item() is measured"
REASONS = {
    **dict.fromkeys(("item_bool", "item_i64", "item_u64", "item_f64", "item_c128"), _ITEM),
    "embedding_bag": "EmbeddingBag is measured",
    "pin_memory": "wants a device",
    "standard_log_gamma": "draws as standard_gamma does, which is measured",
}
_DTYPES = {"f64": "float32", "f32": "float32", "i64": "int64", "i32": "int32", "bool": "bool"}
_DTYPES |= {"c128": "complex64"}
_NAMES = {str(number): name for name, number in rows.DTYPES.items()}


@functools.cache
def operators() -> list[Operator]:
    return read_operators(ROOT / "include/libdl")


def has_tensors(operator: Operator) -> bool:
    return any(a.kind in ("tensor", "tensors") and not a.number for a in operator.arguments)


# -- one call ------------------------------------------------------------------------------------


class Sample:
    """What an operator is called with, in module m (libdl or torch), so many times larger."""

    def __init__(self, m: Any, operator: Operator, times: int, ints: str) -> None:
        self.m, self.operator, self.times, self.ints = m, operator, times, ints
        self.tensors: dict[str, Any] = {}

    def sizes(self, text: str, least: int) -> tuple[int, ...]:
        numbers = [int(part) for part in text.split(",") if part]
        grow = 1 if self.operator.name in LEADING else len(numbers)
        return tuple(
            n * self.times if n >= least and k < grow else n for k, n in enumerate(numbers)
        )

    def tensor(self, word: str) -> Any:
        if word not in self.tensors:
            _, dtype, rest = word.split(":")
            shape = self.sizes(rest.partition("#")[0], 2)
            seed = len(self.tensors)
            if dtype in ("bool", "i64", "i32"):  # 0 and 1, which are indices and masks everywhere
                values = drawn(self.m, shape, seed=seed) > 0
            else:
                values = drawn(self.m, shape, seed=seed) + 0.5
            self.tensors[word] = values.to(getattr(self.m, _DTYPES[dtype]))
        return self.tensors[word]

    def value(self, argument: Argument, word: str) -> Any:
        mark, _, rest = word.partition(":")
        if mark in ("t", "!t"):
            return self.tensor(word)
        if mark == "list":
            return [self.tensor(item) for item in rest.split("|")]
        if mark == "ints":
            least = {"none": 1 << 62, "sizes": 2, "all": 1}[self.ints]
            found = self.sizes(rest, least)
            told = rows.sample(self.operator.name).get(argument.name, ["["])[0]
            return found if told.startswith("[") else found[0]
        if mark == "null":
            return None
        if mark == "s":
            return rest
        if argument.kind == "bool":
            return rest != "0"
        if argument.kind == "dtype":
            name = _NAMES[rest]
            return None if name == "none" else getattr(self.m, name)
        number = int(rest) if rest.lstrip("-").isdigit() else float(rest)
        return number * self.times if self.counts(argument) else number

    def counts(self, argument: Argument) -> bool:
        """Whether a number tells how many elements there will be."""
        names = {a.name for a in self.operator.arguments}
        ends = argument.name == "end" and "steps" not in names
        return not has_tensors(self.operator) and (ends or argument.name in COUNTS)

    def arguments(self, line: PythonLine) -> tuple[list[Any], dict[str, Any]]:
        """Those without a default, and those that a row tells."""
        told = rows.sample(self.operator.name)
        kinds = {argument.name: argument for argument in self.operator.arguments}
        has_new = self.operator.has_new  # else a method of names of its own
        positional = [] if has_new else [self.tensor(rows.DESTINATION)]
        named: dict[str, Any] = {}
        for parameter in line.parameters:
            argument = kinds.get(parameter.argument)
            if argument is None or argument.kind in ("generator", "device"):
                continue
            if parameter.default is not None and parameter.argument not in told:
                continue
            value = self.value(argument, rows.operator_words(self.operator, argument)[0])
            if argument.kind == "tensors" and self.operator.name in APART:
                positional += value
            elif not (parameter.keyword_only or named or parameter.default and has_new):
                positional.append(value)
            else:
                named[parameter.name] = value
        return positional, named


def line_of(operator: Operator) -> PythonLine:
    """A function's, else a functional's, else a method's."""
    lines = [line for line in operator.python if "internal" not in line.flags]
    for flag in ("function", "functional", "method", "inplace", "property"):
        for line in lines:
            if flag in line.flags:
                return line
    raise SystemExit(f"bench: PyTorch has no {operator.name}: it wants a reason")


def function_of(m: Any, line: PythonLine) -> Any:
    if not line.flags & {"function", "functional"}:
        return getattr(m.Tensor, line.name + "_" * ("method" not in line.flags))
    area, _, rest = line.name.partition("_")
    if area == "linalg":
        return getattr(m.linalg, rest)
    rooms = (m.nn.functional, m) if "function" not in line.flags else (m, m.special)
    return next(getattr(room, line.name) for room in rooms if hasattr(room, line.name))


def times_of(operator: Operator) -> int:
    words = [rows.operator_words(operator, argument)[0] for argument in operator.arguments]
    shapes = [
        [int(size) for size in shape.split(",") if size]
        for word in words
        for shape in rows.shapes_of(word)
    ]
    largest = max(shapes, key=math.prod, default=[2, 3])
    dimensions = 1 if operator.name in LEADING else sum(size > 1 for size in largest)
    most = int((ELEMENTS / math.prod(largest)) ** (1 / max(dimensions, 1))) & ~1
    return TIMES.get(operator.name, TIMES.get(operator.header, most))


def call_of(m: Any, operator: Operator, times: int) -> Call:
    """Numbers of lists are sizes that grow as well, or windows and dimensions that do not."""
    line = line_of(operator)
    f = function_of(m, line)
    for ints in ("none", "sizes", "all") if has_tensors(operator) else ("sizes",):
        positional, named = Sample(m, operator, times, ints).arguments(line)
        try:
            f(*positional, **named)
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            refused = error
        else:
            break
    else:
        raise SystemExit(f"bench: {operator.name} refuses its sample: {refused}")
    zero = m.zeros(1)
    is_random = any(argument.kind == "generator" for argument in operator.arguments)

    def first() -> Any:
        result = f(*positional, **named)
        while isinstance(result, (tuple, list)):
            result = result[0]
        return result

    def drawn_by_chance() -> Any:  # the numbers differ
        f(*positional, **named)
        return zero

    return drawn_by_chance if is_random or operator.name.startswith("empty") else first


# -- what Python calls with other arguments than C -------------------------------------------------


@case("index 1,000 x 100 by rows and columns")
def _(m: Any) -> Call:
    x, i, j = drawn(m, (1000, 100)), m.arange(1000) * 7 % 1000, m.arange(1000) * 7 % 100
    return lambda: x[i, j]


@case("slice 1,000 x 100, every second column")
def _(m: Any) -> Call:
    x = drawn(m, (1000, 100))
    return lambda: x[:, 2:90:2]


@case("tensordot 64 x 8 x 32, two dimensions")
def _(m: Any) -> Call:
    x, y = drawn(m, (64, 8, 32)), drawn(m, (8, 32, 64))
    return lambda: m.tensordot(x, y, dims=([1, 2], [0, 1]))


@case("grouped_mm 8 groups of 64 x 64 x 64")
def _(m: Any) -> Call:
    a, b = drawn(m, (512, 64)), drawn(m, (8, 64, 64))
    ends = ((m.arange(8) + 1) * 64).to(m.int32)
    return lambda: m.nn.functional.grouped_mm(a, b, offs=ends)


@case("affine_grid 8 of 64 x 64")
def _(m: Any) -> Call:
    theta = drawn(m, (8, 2, 3))
    return lambda: m.nn.functional.affine_grid(theta, [8, 3, 64, 64], align_corners=False)


@case("frexp 100,000")
def _(m: Any) -> Call:
    x = drawn(m, (100_000,))
    return lambda: m.frexp(x)[0]


@case("gradient of calculus, 258 x 386")
def _(m: Any) -> Call:
    x = drawn(m, (258, 386))
    return lambda: m.gradient(x)[0]


@case("histogram 100,000, 64 bins")
def _(m: Any) -> Call:
    x = drawn(m, (100_000,))
    return lambda: m.histogram(x, 64, range=(-0.5, 0.5))[0]


@case("histogram_with_edges 100,000, 64 bins")
def _(m: Any) -> Call:
    x, edges = drawn(m, (100_000,)), m.linspace(-0.5, 0.5, 65)
    return lambda: m.histogram(x, edges)[0]


@case("histogramdd 30,000 x 3, 8 bins")
def _(m: Any) -> Call:
    x = drawn(m, (30_000, 3))
    return lambda: m.histogramdd(x, [8, 8, 8])[0]


@case("range to 100,000")
def _(m: Any) -> Call:
    return lambda: m.range(0, 99_999)


@case("sparse_from_rows 1,000 of 10,000 x 64")
def _(m: Any) -> Call:
    numbers, rows = (m.arange(1000) * 7)[None], drawn(m, (1000, 64))
    return lambda: m.sparse_coo_tensor(numbers, rows, (10_000, 64)).coalesce().values()


@case("sparse_rows 1,000 of 10,000 x 64")
def _(m: Any) -> Call:
    numbers, rows = (m.arange(1000) * 7)[None], drawn(m, (1000, 64))
    x = m.sparse_coo_tensor(numbers, rows, (10_000, 64)).coalesce()
    return lambda: x.values()


@case("standard_gamma 100,000")
def _(m: Any) -> Call:
    concentration, zero = drawn(m, (100_000,)) + 1, m.zeros(1)
    distribution = m.distributions.Gamma(concentration, m.ones(1))

    def run() -> Any:  # the numbers differ
        distribution.sample()
        return zero

    return run


def attention(m: Any, weights: bool) -> Call:
    layer, x = m.nn.MultiheadAttention(256, 8), drawn(m, (64, 8, 256))
    with m.no_grad():
        for k, parameter in enumerate(layer.parameters()):
            parameter.copy_(drawn(m, tuple(parameter.shape), seed=k) / 8)

    def run() -> Any:
        with m.no_grad():
            return layer(x, x, x, need_weights=weights)[0]

    return run


case("multi_head_attention 64 x 8 x 256")(functools.partial(attention, weights=False))
case("multi_head_attention_with_weights 64 x 8 x 256")(functools.partial(attention, weights=True))


def packed(m: Any, kind: str, **how: Any) -> Call:
    layer = getattr(m.nn, kind)(64, 64, **how)
    with m.no_grad():
        for k, parameter in enumerate(layer.parameters()):
            parameter.copy_(drawn(m, tuple(parameter.shape), seed=k) / 4)
    texts = m.nn.utils.rnn.pack_padded_sequence(
        drawn(m, (32, 8, 64)), [32, 28, 24, 20, 16, 12, 8, 4]
    )

    def run() -> Any:
        with m.no_grad():
            return layer(texts)[0].data

    return run


for name, kind, how in (
    ("lstm", "LSTM", {}),
    ("gru", "GRU", {}),
    ("rnn_tanh", "RNN", {}),
    ("rnn_relu", "RNN", {"nonlinearity": "relu"}),
):
    case(f"{name}_packed 8 texts of 4 to 32, 64")(functools.partial(packed, kind=kind, **how))


# -- the rows ------------------------------------------------------------------------------------


def names_of(operator: Operator) -> set[str]:
    return {operator.name, *(line.name for line in operator.python)}


def measured() -> set[str]:
    """What the names of rows begin with; by hand unfold() is the layer's, not that of tensors."""
    by_card = {name.split()[0] for name in CASES if FROM_CARD in name}
    by_hand = {name.split()[0].strip(",").rstrip("_") for name in CASES if FROM_CARD not in name}
    return by_card | by_hand - {"unfold"}


def without_row() -> list[Operator]:
    """Operators that have neither a row nor a reason."""
    found = measured()
    return [o for o in operators() if not names_of(o) & found and o.name not in REASONS]


for operator in without_row():
    times = times_of(operator)
    case(f"{operator.name}{FROM_CARD}, x {times}")(
        functools.partial(call_of, operator=operator, times=times)
    )
