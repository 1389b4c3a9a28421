# SPDX-License-Identifier: Apache-2.0
"""The library's warnings, reported at the line of the program that caused them."""

from __future__ import annotations

import os
import sys
import warnings

from . import _C

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class LibraryWarning(UserWarning):
    """A warning from libdl."""

    code: int = _C.LIBDL_WARNING_OTHER  # LIBDL_WARNING_...


class ConversionWarning(LibraryWarning):
    """A hidden representation of a tensor was made; reported inside check_copies()."""

    code = _C.LIBDL_WARNING_CONVERSION


LibraryWarning.__module__ = ConversionWarning.__module__ = "libdl"
_CLASSES = {kind.code: kind for kind in (LibraryWarning, ConversionWarning)}


def _warn(code: int, message: str) -> None:
    """Called from C. If a filter turns the warning into an error, the operator raises it."""
    category = _CLASSES.get(code, LibraryWarning)
    frame = sys._getframe()
    while frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    names = frame.f_globals
    warnings.warn_explicit(
        message, category, frame.f_code.co_filename, frame.f_lineno,
        module=names.get("__name__", "<unknown>"),
        registry=names.setdefault("__warningregistry__", {}),
    )  # fmt: skip


_C.register("warn", _warn)
