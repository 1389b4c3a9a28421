# SPDX-License-Identifier: Apache-2.0
"""How the arguments of a function are drawn: from the names and annotations of its parameters, or
by a recipe where parameters hang together (recipes.py)."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

FLOATS = ("float64", "float32", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
WIDE = ("uint16", "uint32", "uint64")  # PyTorch has few operators for them
SHAPES = [
    (),
    (1,),
    (3,),
    (5,),
    (2, 3),
    (3, 2),
    (1, 3),
    (2, 1),
    (0,),
    (2, 0),
    (2, 3, 2),
    (2, 1, 3),
    (0, 3),
    (1, 1),
    (4, 4),
    (2, 2, 2, 2),
    (17,),
    (3, 33),
]
LAYOUTS = ("plain", "plain", "plain", "transposed", "step", "expanded", "overlap")
KINDS = ("plain", "plain", "positive", "few", "special", "unit", "count", "far")


class Unknown(Exception):
    """A parameter that nothing here can be drawn for."""


class Draw:
    """The random choices of one case, and its lines so far."""

    def __init__(self, seed: int, mode: str, inplace: bool = False, function: str = "") -> None:
        self.r = random.Random(seed)
        self.function = function  # its name, without the underscore of the form in place
        self.mode, self.inplace = mode, inplace
        self.lines: list[str] = []
        self.tensors: list[str] = []
        self.leaves: list[str] = []
        self.shape: tuple[int, ...] = ()
        self.dtype = self.some_dtype()
        self.kind = self.r.choice(KINDS)

    def some(self, *choices: Any) -> Any:
        return self.r.choice(choices)

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    def some_dtype(self) -> str:
        if self.mode != "value":
            return self.r.choice(("float64",) * 6 + ("float32",) * 2 + FLOATS + COMPLEX)
        p = self.r.random()
        if p < 0.5:
            return self.r.choice(FLOATS[:2] + FLOATS)
        if p < 0.75:
            return self.r.choice(INTEGERS)
        return self.r.choice(COMPLEX) if p < 0.87 else "bool" if p < 0.97 else self.r.choice(WIDE)

    def tensor(
        self,
        shape: tuple[int, ...] | None = None,
        dtype: str | None = None,
        kind: str | None = None,
        layout: str | None = None,
        grad: bool = True,
    ) -> str:
        shape = self.some_shape() if shape is None else tuple(shape)
        dtype = dtype or self.dtype
        name = "abcdeghijk"[len(self.tensors)]
        layout = layout or self.r.choice(LAYOUTS)
        if self.inplace and not self.tensors and layout in ("expanded", "overlap"):
            layout = "step"
        if self.mode == "forward" and layout in ("expanded", "overlap"):
            layout = "step"  # written: several elements in one place are refused, rarely tried
        kind = kind or self.kind
        floating = dtype in FLOATS + COMPLEX
        leaf = grad and self.mode != "value" and floating and not self.chance(0.15)
        if leaf:
            self.leaves.append(name)
        tail = ", grad=true" if leaf else ""
        self.lines.append(
            f"{name} = make({dtype!r}, {shape}, {layout!r}, {kind!r}, {self.r.randrange(40)}{tail})"
        )
        self.tensors.append(name)
        return name

    def indices(self, shape: tuple[int, ...], below: int, dtype: str = "int64") -> str:
        name = "abcdeghijk"[len(self.tensors)]
        if self.chance(0.03):
            below += 1  # out of range
        tail = f", {dtype!r}" if dtype != "int64" else ""
        below_zero = " - 1" if self.chance(0.03) else ""
        self.lines.append(
            f"{name} = indices({tuple(shape)}, {below}, {self.r.randrange(40)}{tail}){below_zero}"
        )
        self.tensors.append(name)
        return name

    def some_shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        fits = [s for s in SHAPES if least <= len(s) <= most]
        return self.r.choice(fits)

    # -- what belongs to the input -----------------------------------------------------------------

    def input(self, least: int = 0, most: int = 4, **how: Any) -> str:
        self.shape = self.some_shape(least, most)
        return self.tensor(self.shape, **how)

    def partner_shape(self) -> tuple[int, ...]:
        """Broadcasts with the input's, mostly."""
        shape = list(self.shape)
        p = self.r.random()
        if p < 0.4:
            return tuple(shape)
        if p < 0.5:
            return ()
        if p < 0.7 and shape:
            return tuple(shape[self.r.randrange(len(shape)) :])
        if p < 0.85 and shape:
            shape[self.r.randrange(len(shape))] = 1
            return tuple(shape)
        if p < 0.93 and not self.inplace:
            return (self.some(1, 2), *shape)
        return self.some_shape()

    def partner(self, numbers: bool = True) -> str:
        if numbers and self.chance(0.3):
            return self.number()
        dtype = self.dtype
        if self.chance(0.25):
            dtype = self.some_dtype()
        return self.tensor(self.partner_shape(), dtype)

    def number(self) -> str:
        p = self.r.random()
        if p < 0.35:
            return str(self.some(0, 1, 2, 3, -1, -2, 5))
        if p < 0.85:
            return str(self.some(0.0, 0.5, 1.0, 2.0, -1.0, -1.5, 0.1, 3.0, 0.5, -0.5))
        if p < 0.93:
            return self.some("True", "False")
        if p < 0.97:
            return self.some("float('inf')", "float('nan')", "300", "-float('inf')")
        return self.some("1j", "1 + 2j")

    def dim(self, least: int | None = None) -> str:
        n = len(self.shape)
        if self.chance(0.04):
            return str(self.some(n, -n - 1, n + 2))
        return str(self.r.randrange(-max(n, 1), max(n, 1)))

    def dims(self) -> str:
        n = len(self.shape)
        p = self.r.random()
        if p < 0.4:
            return self.dim()
        if p < 0.5:
            return "None"
        if p < 0.55:
            return "()"
        some = [d for d in range(n) if self.chance(0.6)]
        self.r.shuffle(some)
        some = [d - n if self.chance(0.4) else d for d in some] or [0]
        if self.chance(0.04):
            some.append(some[0])
        return str(self.some(tuple(some), some))

    def shapes(self) -> str:
        return str(self.some_shape())

    def dtype_word(self) -> str:
        floats = FLOATS if self.mode == "value" else FLOATS[:2]
        return "T." + self.some(*floats, *INTEGERS, "bool", *COMPLEX)


def _maybe(p: float, draw: Callable[[Draw], str]) -> Callable[[Draw], str | None]:
    return lambda d: draw(d) if d.chance(p) else None


def _flag(d: Draw) -> str:
    return d.some("True", "False")


# By a parameter's name, where no recipe is there. None: the argument is left out.
PARAMETERS: dict[str, Callable[[Draw], str | None]] = {
    "input": Draw.input,
    "self": Draw.input,
    "logits": Draw.input,
    "other": Draw.partner,
    "end": Draw.partner,
    "exponent": Draw.partner,
    "tensor1": Draw.partner,
    "tensor2": Draw.partner,
    "min": lambda d: d.partner() if d.chance(0.8) else "None",
    "max": lambda d: d.partner() if d.chance(0.8) else None,
    "dim": Draw.dim,
    "dim0": Draw.dim,
    "dim1": Draw.dim,
    "dim2": Draw.dim,
    "start_dim": Draw.dim,
    "end_dim": Draw.dim,
    "dimension": Draw.dim,
    "source": Draw.dim,
    "destination": Draw.dim,
    "keepdim": _flag,
    "descending": _flag,
    "stable": _flag,
    "largest": _flag,
    "ambiguity_check": _flag,
    "sorted": lambda d: "True",
    "equal_nan": _flag,
    "alpha": Draw.number,
    "value": Draw.number,
    "beta": lambda d: d.some("1", "2.0", "0.5", "5", "0", "-1.5"),
    "dtype": _maybe(0.5, Draw.dtype_word),
    "decimals": lambda d: d.some("0", "1", "2", "-1", "5"),
    "diagonal": lambda d: d.some("0", "1", "-1", "2", "-3"),
    "offset": lambda d: d.some("0", "1", "-1", "2"),
    "rounding_mode": lambda d: d.some("None", "'trunc'", "'floor'", "'floor'", "'round'"),
    "rtol": lambda d: d.some("0.1", "1e-3"),
    "atol": lambda d: d.some("0.5", "0.0"),
    "threshold": lambda d: d.some("0", "1.0", "0.5", "-1", "20.0"),
    "lambd": lambda d: d.some("0.5", "0.0", "1.0", "-0.3"),
    "negative_slope": lambda d: d.some("0.1", "0.0", "1.0"),
    "lower": lambda d: d.some("0.1", "0.0", "-0.5"),
    "upper": lambda d: d.some("0.5", "0.1", "1"),
    "min_val": lambda d: d.some("-1.0", "-2", "0", "0.5"),
    "max_val": lambda d: d.some("1.0", "2", "0.5", "-0.5"),
    "tau": lambda d: d.some("1", "0.5", "2.0"),
    "hard": _flag,
    "approximate": lambda d: d.some("'none'", "'tanh'", "'other'"),
    "eps": lambda d: d.some("1e-5", "1e-3", "0.1"),
    "correction": lambda d: d.some("0", "1", "2", "0.5"),
    "repeats": lambda d: d.some("2", "0", "1", "3"),
    "inplace": lambda d: "False",
    "training": lambda d: "False",
    "train": lambda d: "False",
    "p": lambda d: d.some("0.5", "2", "1", "0", "3", "float('inf')", "-float('inf')"),
    "_stacklevel": lambda d: None,
    "_last": lambda d: None,
}
# Never given: they choose where and how, and change no number, or have cases of their own.
QUIET = {
    "out",
    "axis",
    "keepdims",
    "layout",
    "pin_memory",
    "device",
    "generator",
    "memory_format",
    "non_blocking",
    "requires_grad",
    "sparse_grad",
    "unbiased",
    "kwargs",
    "size_average",
    "reduce",
    "as_tuple",
    "output_size",
}


def generic(d: Draw, parameters: list[Any]) -> tuple[list[str], dict[str, str]]:
    """Arguments for what inspect.signature tells."""
    args: list[str] = []
    named: dict[str, str] = {}
    for p in parameters:
        if p.name in QUIET:
            continue
        required = p.default is p.empty
        draw = PARAMETERS.get(p.name)
        if draw is None:
            raise Unknown(f"{p.name}: {p.annotation}")
        if "Sequence[int]" in str(p.annotation) and p.name == "dim":
            draw = Draw.dims
        if not required and d.chance(0.5):
            continue
        text = draw(d)
        if text is None:
            continue
        if p.kind is p.KEYWORD_ONLY or (not required and (named or d.chance(0.4))):
            named[p.name] = text
        elif not required and len(args) < parameters.index(p):
            named[p.name] = text
        else:
            args.append(text)
    return args, named
