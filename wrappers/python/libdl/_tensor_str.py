# SPDX-License-Identifier: Apache-2.0
"""How tensors are printed, as in PyTorch, by the C half: the options, and the text."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

from . import _C
from ._C import Tensor
from ._sparse import format_sparse

__all__ = ["PRINT_OPTS", "PrinterOptions", "get_printoptions", "printoptions", "set_printoptions"]


class PrinterOptions:
    def __init__(self, precision: int = 4, threshold: float = 1000, edgeitems: int = 3) -> None:
        self.precision = precision
        self.threshold = threshold
        self.edgeitems = edgeitems
        self.linewidth = 80
        self.sci_mode: bool | None = None


PRINT_OPTS = PrinterOptions()
_PROFILES = {
    "default": PrinterOptions(),
    "short": PrinterOptions(precision=2, edgeitems=2),
    "full": PrinterOptions(threshold=math.inf),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets how tensors are printed.

    Arguments:
        precision: digits after the decimal point
        threshold: tensors with more elements are abbreviated
        edgeitems: how many elements are then shown at each end of a dimension
        linewidth: characters in a line
        profile: "default", "short" or "full", applied before the other options
        sci_mode: whether numbers have exponents; None: if their magnitudes differ much
    """
    if profile is not None:
        chosen = _PROFILES[profile.lower()]
        for name, value in vars(chosen).items():
            setattr(PRINT_OPTS, name, value)
    for name, value in (
        ("precision", precision),
        ("threshold", threshold),
        ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):
        if value is not None:
            setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def format_tensor(x: Tensor, name: str = "") -> str:
    """The tensor as text, under the name of its class or another."""
    before = _C.disable_overriding(2)
    try:
        return _format(x, name or ("tensor" if type(x) is Tensor else type(x).__name__))
    finally:
        _C.disable_overriding(before)


def _format(x: Tensor, name: str) -> str:
    if x.is_sparse:
        return format_sparse(x.detach(), name, lambda part: _format(part, "tensor"))
    # The lines after the first are indented by the length of the name.
    shift = len(name) - len("tensor")
    linewidth = max(PRINT_OPTS.linewidth - shift, 1)
    threshold = min(PRINT_OPTS.threshold, 2**62)
    sci_mode = {None: 0, True: 1, False: -1}[PRINT_OPTS.sci_mode]
    text = _C.tensor_to_string(
        x,
        # To the library, 0 means the default and -1 means 0.
        int(PRINT_OPTS.precision) or -1,
        int(threshold) or -1,
        int(PRINT_OPTS.edgeitems) or -1,
        int(linewidth) or -1,
        sci_mode,
    )
    if shift == 0:
        return text
    first, *lines = text.removeprefix("tensor").split("\n")
    moved = [" " * shift + line if line and shift > 0 else line[max(-shift, 0) :] for line in lines]
    return "\n".join([name + first, *moved])


_C.register("format", format_tensor)


# -- as programs ask PyTorch's module of this name -------------------------------------------------


def get_printoptions() -> dict[str, Any]:
    """The options in effect, as set_printoptions takes them."""
    return dict(vars(PRINT_OPTS))


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Sets options, those of set_printoptions, inside a with block."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def _str(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The tensor as text; tensor_contents: what stands in the brackets for its elements."""
    if tensor_contents is None:
        return format_tensor(self)
    suffixes = [] if self.dtype.name in ("float32", "int64", "bool") else [f"dtype={self.dtype}"]
    if self.requires_grad:
        function = self.grad_fn
        suffixes.append(
            "requires_grad=True" if function is None else f"grad_fn=<{function.name()}>"
        )
    name = "tensor(" if type(self) is Tensor else f"{type(self).__name__}("
    return _add_suffixes(name + tensor_contents, suffixes, len(name), False)


_str_intern = _str


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements alone, lines after the first indented."""
    text = format_tensor(self.detach(), "tensor").removeprefix("tensor(").split("\n")
    last = text[-1].rsplit("]", 1)
    inside = [*text[:-1], last[0] + "]" if len(last) > 1 else last[0].split(",")[0].rstrip(")")]
    moved = [
        " " * (indent - 7) + line if indent > 7 else line[max(7 - indent, 0) :]
        for line in inside[1:]
    ]
    return "\n".join([inside[0], *moved])


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """The text with what follows the elements, in lines of the width that printing has."""
    lines = [tensor_str]
    length = len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or length + len(suffix) + 2 > PRINT_OPTS.linewidth:
            lines.append(",\n" + " " * indent + suffix)
            length, force_newline = indent + len(suffix), False
        else:
            lines.append(", " + suffix)
            length += len(suffix) + 2
    return "".join([*lines, ")"])
