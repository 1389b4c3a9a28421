# SPDX-License-Identifier: Apache-2.0
"""Versions, processor, threads, devices: the information for a bug report."""

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
