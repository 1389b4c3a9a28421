# SPDX-License-Identifier: Apache-2.0
"""Versions, processor, threads, devices: the information for a bug report; and the package's name in
what it prints."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import os
import sys

from . import _C

VERSION = f"{_C.LIBDL_VERSION_MAJOR}.{_C.LIBDL_VERSION_MINOR}.{_C.LIBDL_VERSION_PATCH}"


def config() -> str:
    import platform

    variables = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("LIBDL_")]
    lines = [
        _C.show_config().rstrip("\n"),
        f"python: {platform.python_version()} ({sys.executable})",
        f"system: {platform.platform()}",
        f"operators: {_C.op_count()}",
        f"environment: {', '.join(variables) or 'nothing set'}",
    ]
    return "\n".join(lines)


def show_config() -> str:
    """Versions, processor, threads and devices, one line each."""
    return config()


# -- libdl, or torch as soon as libdl.as_torch is installed ----------------------------------------

_NAME = ["libdl"]


def shown_name() -> str:
    return _NAME[0]


def show_as(name: str) -> None:
    _NAME[0] = name


def is_own(module: str) -> bool:
    """Whether the module's path is one of the package, under either name."""
    return module.partition(".")[0] in ("libdl", _NAME[0])
