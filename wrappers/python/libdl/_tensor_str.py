# SPDX-License-Identifier: Apache-2.0
"""How tensors are printed, under the name of PyTorch's module: the options, and the text."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ._C import Tensor
from ._printing import (
    OPTIONS as PRINT_OPTS,
    Options as PrinterOptions,
    format_tensor,
    set_printoptions as set_printoptions,
)

__all__ = ["PRINT_OPTS", "PrinterOptions", "get_printoptions", "printoptions", "set_printoptions"]


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
        suffixes.append("requires_grad=True" if function is None else f"grad_fn=<{function.name()}>")
    name = "tensor(" if type(self) is Tensor else f"{type(self).__name__}("
    return _add_suffixes(name + tensor_contents, suffixes, len(name), False)


_str_intern = _str


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements alone, lines after the first indented."""
    text = format_tensor(self.detach(), "tensor").removeprefix("tensor(").split("\n")
    last = text[-1].rsplit("]", 1)
    inside = [*text[:-1], last[0] + "]" if len(last) > 1 else last[0].split(",")[0].rstrip(")")]
    moved = [" " * (indent - 7) + line if indent > 7 else line[max(7 - indent, 0) :] for line in inside[1:]]
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
