# SPDX-License-Identifier: Apache-2.0
"""How this libdl was built and runs, as texts for people: programs that search them for a library's
name find none of another's."""

from __future__ import annotations

from ._info import config


def show() -> str:
    """Versions, processor, threads and devices, one line each."""
    return config() + "\n"


def parallel_info() -> str:
    """The size of libdl's own pool of threads; there is no OpenMP."""
    from . import get_num_threads

    return f"libdl's pool of threads:\n\tget_num_threads() : {get_num_threads()}\n"


__all__ = ["parallel_info", "show"]
