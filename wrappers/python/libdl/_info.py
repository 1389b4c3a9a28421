# SPDX-License-Identifier: Apache-2.0
"""Versions, processor, threads, devices: what a report of a problem should tell."""

from __future__ import annotations

import os
import platform
import sys

from . import _C

VERSION = f"{_C.LIBDL_VERSION_MAJOR}.{_C.LIBDL_VERSION_MINOR}.{_C.LIBDL_VERSION_PATCH}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def config() -> str:
    limit = _C.memory_get_limit()
    variables = {key: value for key, value in os.environ.items() if key.startswith("LIBDL_")}
    lines = {
        "libdl": VERSION,
        "Python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "processor": _processor(),
        "threads": f"{_C.get_threads()} of {os.cpu_count()} processors",
        "memory limit": f"{limit / 2**30:.1f} GiB",
        "devices": "cpu",
        "operators": str(_C.op_count()),
        "environment": ", ".join(f"{k}={v}" for k, v in sorted(variables.items())) or "none",
    }
    return "\n".join(f"{name + ':':<14}{text}" for name, text in lines.items())


def show_config() -> str:
    """Versions, processor, threads and devices, a line each."""
    return config()
