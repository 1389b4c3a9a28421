# SPDX-License-Identifier: Apache-2.0
"""A file that replaces another one whole, or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


@contextmanager
def replacement(path: str) -> Iterator[IO[bytes]]:
    """A temporary file in the same folder. When the block ends it is synced and renamed into place,
    with the permissions of the file before; when the block fails it is removed.

    Errors: OSError, also where the path names anything but a regular file."""
    path = os.fspath(path)
    mode = None
    if os.path.lexists(path):
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError(f"save: {path} is no regular file, wanted one or a new name")
        mode = None if os.path.islink(path) else stat.S_IMODE(os.stat(path).st_mode)
    if mode is None:
        mode = 0o666 & ~_umask()
    number, temporary = tempfile.mkstemp(prefix=".libdl-", dir=os.path.dirname(path) or ".")
    try:
        with open(number, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(os.path.dirname(path) or ".")
    except BaseException:
        with suppress(FileNotFoundError):  # it was renamed already
            os.unlink(temporary)
        raise


def _sync_folder(path: str) -> None:
    """Puts the new name on the disk, too."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _umask() -> int:
    """The process's mask, as /proc tells it: asking os.umask would set it for a moment."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022
