# SPDX-License-Identifier: Apache-2.0
"""How a tensor prints: as in PyTorch, columns aligned, long ones shortened in the middle."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _C, _functions
from ._C import Tensor
from ._modes import get_default_dtype
from ._types import bool_, int64


class Options:
    def __init__(self, precision: int = 4, threshold: float = 1000, edgeitems: int = 3) -> None:
        self.precision = precision
        self.threshold = threshold
        self.edgeitems = edgeitems
        self.linewidth = 80
        self.sci_mode: bool | None = None


OPTIONS = Options()
_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """How tensors print.

    Arguments:
        precision: digits behind the point
        threshold: from how many elements on the middle is left out
        edgeitems: how many are then shown at each end of a dimension
        linewidth: characters in a line
        profile: "default", "short" or "full", before the other options
        sci_mode: whether numbers have exponents; None: where they differ much
    """
    if profile is not None:
        chosen = _PROFILES[profile.lower()]
        for name, value in vars(chosen).items():
            setattr(OPTIONS, name, value)
    for name, value in (
        ("precision", precision), ("threshold", threshold), ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):  # fmt: skip
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


class _Formatter:
    """One width for all elements, found by looking at those that are shown."""

    def __init__(self, values: list[Any], is_float: bool) -> None:
        self.integers = False
        self.scientific = False
        self.width = 1
        self.is_float = is_float
        if not is_float:
            self.width = max((len(str(value)) for value in values), default=1)
            return
        regular = [abs(value) for value in values if math.isfinite(value) and value != 0]
        self.integers = all(value == math.floor(value) for value in regular)
        if regular:
            low, high = min(regular), max(regular)
            tiny = not self.integers and low < 1.0e-4
            self.scientific = high / low > 1000.0 or high > 1.0e8 or tiny
        if OPTIONS.sci_mode is not None:
            self.scientific = OPTIONS.sci_mode
        self.width = max((len(self._text(value)) for value in values), default=1)

    def _text(self, value: Any) -> str:
        if not self.is_float:
            return str(value)
        if self.scientific:
            return f"{value:.{OPTIONS.precision}e}"
        if self.integers:
            text = f"{value:.0f}"
            return text + "." if math.isfinite(value) else text
        return f"{value:.{OPTIONS.precision}f}"

    def __call__(self, value: Any) -> str:
        return self._text(value).rjust(self.width)


class _ComplexFormatter:
    def __init__(self, values: list[complex]) -> None:
        self.real = _Formatter([value.real for value in values], True)
        self.imag = _Formatter([value.imag for value in values], True)

    def __call__(self, value: complex) -> str:
        imag = self.imag(value.imag).lstrip()
        sign = "" if imag.startswith("-") else "+"
        return f"{self.real(value.real)}{sign}{imag}j"

    @property
    def width(self) -> int:
        return self.real.width + self.imag.width + 2


def _lines(data: Any, depth: int, indent: int, summarize: bool, formatter: Any) -> str:
    if depth == 0:
        return str(formatter(data))
    edge = OPTIONS.edgeitems
    cut = summarize and len(data) > 2 * edge
    items = [*data[:edge], *data[-edge:]] if cut else data
    if depth == 1:
        per_line = max(1, (OPTIONS.linewidth - indent) // (formatter.width + 2))
        texts = [formatter(item) for item in items]
        if cut:
            texts.insert(edge, " ...")
        rows = [texts[i : i + per_line] for i in range(0, len(texts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(", ".join(row) for row in rows) + "]"
    texts = [_lines(item, depth - 1, indent + 1, summarize, formatter) for item in items]
    if cut:
        texts.insert(edge, "...")
    return "[" + ("," + "\n" * (depth - 1) + " " * (indent + 1)).join(texts) + "]"


def _shown(data: Any, depth: int, summarize: bool) -> list[Any]:
    if depth == 0:
        return [data]
    edge = OPTIONS.edgeitems
    items = [*data[:edge], *data[-edge:]] if summarize and len(data) > 2 * edge else data
    return [value for item in items for value in _shown(item, depth - 1, summarize)]


def _cut(x: Tensor) -> Tensor:
    """Only the edges of each dimension are read out of a large tensor."""
    edge = OPTIONS.edgeitems
    for dim, size in enumerate(x.shape):
        if size > 2 * edge + 1:
            ends = [x.narrow(dim, 0, edge + 1), x.narrow(dim, size - edge, edge)]
            x = _functions.cat(ends, dim=dim)
    return x


def _elements(x: Tensor, indent: int) -> str:
    summarize = x.numel() > OPTIONS.threshold
    data = (_cut(x) if summarize else x).tolist()
    shown = _shown(data, x.ndim, summarize)
    if x.dtype.is_complex:
        formatter: Any = _ComplexFormatter(shown)
    else:
        formatter = _Formatter(shown, x.dtype.is_floating_point)
    if x.ndim == 0:
        return str(formatter(data)).strip()
    return _lines(data, x.ndim, indent, summarize, formatter)


def format_tensor(x: Tensor) -> str:
    before = _C.disable_overriding(True)
    try:
        return _format(x)
    finally:
        _C.disable_overriding(before)


def _format(x: Tensor) -> str:
    name = "tensor(" if type(x) is Tensor else f"{type(x).__name__}("
    suffixes = []
    if x.device.type != "cpu":
        suffixes.append(f"device='{x.device}'")
    default = (get_default_dtype(), get_default_dtype().to_complex(), int64, bool_)
    if x.numel() == 0:
        body = "[]"
        if x.ndim != 1:
            suffixes.append(f"size={tuple(x.shape)}")
        if x.dtype is not get_default_dtype():
            suffixes.append(f"dtype={x.dtype}")
    else:
        body = _elements(x.detach(), len(name))
        if x.dtype not in default:
            suffixes.append(f"dtype={x.dtype}")
    node = x.grad_fn
    if node is not None:
        suffixes.append(f"grad_fn=<{node.name()}>")
    elif x.requires_grad:
        suffixes.append("requires_grad=True")
    text = name + body
    for suffix in suffixes:
        last = text.rsplit("\n", 1)[-1]
        long = len(last) + len(suffix) + 3 > OPTIONS.linewidth
        text += (",\n" + " " * len(name) if long else ", ") + suffix
    return text + ")"


_C.register("format", format_tensor)
