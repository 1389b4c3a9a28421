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
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=names.get("__name__", "<unknown>"),
        registry={} if _ALWAYS[0] else names.setdefault("__warningregistry__", {}),
    )


_ALWAYS = [False]


def set_warn_always(b: bool, /) -> None:
    """Whether a warning of the library's core is shown each time, as filters allow, and not once a
    line."""
    if not isinstance(b, bool):
        raise RuntimeError(f"set_warn_always: argument 1 (b) is {b!r}, wanted a truth")
    _ALWAYS[0] = b


def is_warn_always_enabled() -> bool:
    """Whether set_warn_always(True) was called last."""
    return _ALWAYS[0]


_C.register("warn", _warn)
