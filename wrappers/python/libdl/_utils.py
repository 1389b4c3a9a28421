# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private torch._utils, as far as programs reach for it: groups of tensors as one, and
exceptions on their way from another thread or process."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Any

from . import Tensor, cat


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """One vector of all elements."""
    return cat([x.reshape(-1) for x in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of the vector with the tensors' shapes."""
    parts = flat.split([x.numel() for x in tensors])
    return tuple(part.view(x.shape) for part, x in zip(parts, tensors, strict=True))


class KeyErrorMessage(str):
    """Shown as it is: a KeyError shows the repr() of its argument, in which lines are not broken."""

    __slots__ = ()

    def __repr__(self) -> str:
        return self


class ExceptionWrapper:
    """An exception's type and traceback, by default of the one that is being handled."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> None:
        """Raises one of the same type here, with the traceback as its text; a RuntimeError if the
        type is not made of a text."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        try:
            named = getattr(self.exc_type, "message", None)
            error = self.exc_type(message=text) if named else self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        raise error
