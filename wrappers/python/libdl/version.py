# SPDX-License-Identifier: Apache-2.0
"""libdl's version, and what PyTorch says here of its build."""

from __future__ import annotations

from . import _C

libdl = f"{_C.LIBDL_VERSION_MAJOR}.{_C.LIBDL_VERSION_MINOR}.{_C.LIBDL_VERSION_PATCH}"
__version__ = libdl
debug = False
cuda: str | None = None  # the plugin is loaded at run time, with the driver's version
hip: str | None = None
git_version = "Unknown"

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "libdl"]
