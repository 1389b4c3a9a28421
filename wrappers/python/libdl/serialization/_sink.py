# SPDX-License-Identifier: Apache-2.0
"""The file object that save writes to."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable
from typing import Any


def writer_to(file: Any) -> Callable[[bytes | memoryview], None]:
    """A function that writes all of its argument. A file without a buffer may take a part of the
    bytes and tell how many, as on a disk that is full.

    Errors: OSError where nothing more is taken."""

    def put(data: bytes | memoryview) -> None:
        rest = memoryview(data).cast("B")
        while True:
            count = file.write(rest if len(rest) < len(data) else data)
            if count is None and isinstance(file, io.RawIOBase):
                raise BlockingIOError(errno.EAGAIN, "save: the file takes no more bytes now")
            if type(count) is not int or count >= len(rest):  # others tell nothing, or say all
                return
            if count <= 0:
                raise OSError(
                    errno.ENOSPC, f"save: the file took no more bytes, and {len(rest)} are left"
                )
            rest = rest[count:]

    return put
