# SPDX-License-Identifier: Apache-2.0
"""The package's name in what it prints: libdl, or torch as soon as libdl.as_torch is installed."""

from __future__ import annotations

_NAME = ["libdl"]


def shown_name() -> str:
    return _NAME[0]


def show_as(name: str) -> None:
    _NAME[0] = name


def is_own(module: str) -> bool:
    """Whether the module's path is one of the package, under either name."""
    return module.partition(".")[0] in ("libdl", _NAME[0])
