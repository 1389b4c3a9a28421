# SPDX-License-Identifier: Apache-2.0
"""Recipes from tests/samples: of rows with letters, '...' or alternatives each call is a draw."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from arguments import FLOATS, PARAMETERS, Draw
from recipes import RECIPES, Made

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/samples")]

import rows  # noqa: E402
from operators import Operator, PythonLine, read_operators  # noqa: E402

_LEADS = ((), (2,), (2, 3), (0,))
_WORDS = {"true": "True", "false": "False", "null": "None", "inf": "float('inf')"}


class _Row:
    """A row in one call: its letters mean the same sizes throughout."""

    def __init__(self, d: Draw, row: rows.Row) -> None:
        self.d, self.row = d, row
        self.letters: dict[str, tuple[int, ...]] = {}
        if row.of:
            d.dtype = d.some(*row.of)
        if row.finite and d.kind in ("special", "far"):
            d.kind = "plain"

    def sizes(self, inside: str) -> tuple[int, ...]:
        found: list[int] = []
        parts = inside.split(",")
        for part in filter(None, parts):
            if part.lstrip("-").isdigit():
                found.append(int(part))
                continue
            if part not in self.letters:
                self.letters[part] = self.drawn(part, len(parts) == 1)
            found += self.letters[part]
        return tuple(found)

    def drawn(self, part: str, alone: bool) -> tuple[int, ...]:
        if part == "...":
            return self.d.some_shape() if alone else self.d.some(*_LEADS)
        return (self.d.some(1, 2, 3) if part in rows.FILLED else self.d.some(1, 2, 3, 4, 0, 2, 3),)

    def tensor(self, text: str) -> str:
        match = rows.TENSOR.fullmatch(text)
        if not match:
            return _WORDS.get(text, text)
        d, shape = self.d, self.sizes(match["sizes"])
        fixed = "..." in self.letters or not self.letters or d.dtype not in FLOATS
        if shape and not fixed and d.chance(0.02):  # does not fit, nor is broadcast
            shape = (*shape[:-1], shape[-1] + 2)
        told = match["told"].split(",") if match["told"] else []
        if below := [word[1:] for word in told if word[0] == "<"]:
            return d.indices(shape, self.sizes(below[0])[0])
        kind = next((word for word in told if word != "constant"), None)
        if not d.tensors:
            d.shape = shape
        dtype = {"i": "int64", "b": "bool", "i32": "int32"}.get(match["mark"])
        return d.tensor(shape, dtype, kind, grad="constant" not in told)

    def text(self, operator: Operator, name: str) -> str:
        d = self.d
        kind = next(a.kind for a in operator.arguments if a.name == name)
        texts = self.row.arguments.get(name)
        if texts is None:
            draw = PARAMETERS.get(name)
            return draw(d) or "None" if draw else d.input()
        text = texts[0] if d.inplace and kind == "tensor" and not d.tensors else d.some(*texts)
        if kind == "tensor":
            return self.tensor(text)
        if kind == "tensors":
            return f"[{', '.join(map(self.tensor, rows.items(text)))}]"
        if kind == "ints":
            return str(self.sizes(text[1:-1])) if text[0] == "[" else text
        if kind == "string":
            return repr(text)
        return f"T.{text}" if kind == "dtype" else _WORDS.get(text, text)


def sample(d: Draw, operator: Operator, line: PythonLine, of: str, told: list[rows.Row]) -> Made:
    row = _Row(d, d.some(*told))
    args: list[str] = []
    named: dict[str, str] = {}
    given = list(line.parameters)
    if of == "method":
        given.sort(key=lambda p: p.argument != "input")
    for parameter in given:
        if parameter.default is None and not parameter.keyword_only:
            args.append(row.text(operator, parameter.argument))
        elif parameter.default is None or (
            parameter.argument in row.row.arguments and d.chance(0.5)
        ):
            named[parameter.name] = row.text(operator, parameter.argument)
    return args, named


def fill() -> None:
    """Recipes for what has none that is written by hand."""
    by_hand = set(RECIPES) - {"unfold"}  # of Tensor; the layer of that name has a row
    for operator in read_operators(ROOT / "include/libdl"):
        told = [row for row in rows.rows().get(operator.name, []) if row.draws]
        names = {line.name: line for line in operator.python if told and line.name not in by_hand}
        for name, line in names.items():
            how = {"operator": operator, "line": line, "told": told}
            functional = line.flags == {"functional"}
            RECIPES["F." * functional + name] = functools.partial(sample, of="", **how)
            if not functional:
                RECIPES[f"method.{name}"] = functools.partial(sample, of="method", **how)
    # Functions of PyTorch's with the arguments of another one.
    RECIPES["ger"] = RECIPES["outer"]
    RECIPES["F.triplet_margin_with_distance_loss"] = RECIPES["F.triplet_margin_loss"]
