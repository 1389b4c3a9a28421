# SPDX-License-Identifier: Apache-2.0
"""How this libdl was built and runs, as texts for people, as a bug report wants them. Programs
that search them for a library's name find none of another's."""

from __future__ import annotations

import os
import sys

from . import _C

__all__ = ["parallel_info", "show"]


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


def show() -> str:
    """Versions, processor, threads and devices, one line each."""
    return config() + "\n"


def parallel_info() -> str:
    """The size of libdl's own pool of threads; there is no OpenMP."""
    return f"libdl's pool of threads:\n\tget_num_threads() : {_C.get_threads()}\n"
