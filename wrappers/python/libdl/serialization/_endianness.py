# SPDX-License-Identifier: Apache-2.0
"""PyTorch's setting of the order of bytes in old files that do not tell theirs."""

from __future__ import annotations

import enum


class LoadEndianness(enum.Enum):
    """The order of bytes in files that do not tell it."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


_default: LoadEndianness | None = None


def get_default_load_endianness() -> LoadEndianness | None:
    """What set_default_load_endianness was given; None: little-endian, as on every machine that
    libdl runs on."""
    return _default


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Sets the order of bytes in files that do not tell it: little-endian is all that is read."""
    global _default
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(
            "set_default_load_endianness: endianness is a "
            f"{type(endianness).__name__}, wanted a LoadEndianness"
        )
    if endianness is LoadEndianness.BIG:
        raise NotImplementedError("set_default_load_endianness: big-endian files are not read")
    _default = endianness
