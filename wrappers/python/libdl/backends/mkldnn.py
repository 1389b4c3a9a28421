# SPDX-License-Identifier: Apache-2.0
"""oneDNN's switches. libdl does not use oneDNN."""

from __future__ import annotations

from contextlib import AbstractContextManager

from ._flags import switched

enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """False: there is no oneDNN."""
    return False


def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True
) -> AbstractContextManager[None]:
    """Sets the switches for the time of a with statement."""
    return switched(__name__, enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32)
