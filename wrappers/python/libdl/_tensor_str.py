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


def _str(self: Tensor) -> str:
    """The tensor as text."""
    return format_tensor(self)


import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
