# SPDX-License-Identifier: Apache-2.0
"""Processes that train together, which are not offered: one process is alone here."""

from __future__ import annotations

from typing import Any, NoReturn


def is_available() -> bool:
    """False: groups of processes are not offered."""
    return False


def is_initialized() -> bool:
    """False: there is no group of processes."""
    return False


def is_torchelastic_launched() -> bool:
    """False: no launcher of PyTorch's started this process."""
    return False


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises: groups of processes are not offered."""
    raise NotImplementedError("distributed.init_process_group: groups of processes are not offered; "
                              "ask distributed.is_available() first")  # fmt: skip


import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
