# SPDX-License-Identifier: Apache-2.0
"""Printing of tensors, as in PyTorch; done by the C half."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _C
from ._C import Tensor
from ._sparse import format_sparse


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
            setattr(OPTIONS, name, value)
    for name, value in (
        ("precision", precision), ("threshold", threshold), ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):  # fmt: skip
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


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
    linewidth = max(OPTIONS.linewidth - shift, 1)
    numbers = [OPTIONS.precision, min(OPTIONS.threshold, 2**62), OPTIONS.edgeitems, linewidth]
    # To the library, 0 means the default and -1 means 0.
    settings = [int(number) or -1 for number in numbers]
    text: str = _C.tensor_to_string(x, *settings, {None: 0, True: 1, False: -1}[OPTIONS.sci_mode])
    if shift == 0:
        return text
    first, *lines = text.removeprefix("tensor").split("\n")
    moved = [" " * shift + line if line and shift > 0 else line[max(-shift, 0):] for line in lines]
    return "\n".join([name + first, *moved])


_C.register("format", format_tensor)
