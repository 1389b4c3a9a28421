# SPDX-License-Identifier: Apache-2.0
"""A file that replaces another one whole, or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from .._errors import FileError

_NO_UNNAMED = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL)  # of file systems and old kernels


class _Missing(FileError, FileNotFoundError):  # noqa: N818
    """A folder is not there."""


class _Forbidden(FileError, PermissionError):  # noqa: N818
    """A folder or file may not be written."""


@contextmanager
def path_errors() -> Iterator[None]:
    """An OSError becomes a FileError, too: PyTorch raises RuntimeError where it cannot write."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        kind = {FileNotFoundError: _Missing, PermissionError: _Forbidden}.get(
            type(error), FileError
        )
        result = kind(f"save: {error}")
        if error.errno is not None:
            result.errno, result.filename = error.errno, error.filename
            result.strerror = f"save: {error.strerror}"
        raise result from error


def is_device(path: str) -> bool:
    """Whether it is one that takes bytes, such as /dev/null: there is nothing to be replaced."""
    try:
        return stat.S_ISCHR(os.stat(path).st_mode)
    except OSError:
        return False


def target(path: str) -> str:
    """The file that a path means, behind symbolic links, which stay what they are.

    Errors: OSError unless it is a regular file that may be written, or a new name."""
    path = os.path.realpath(path) if os.path.islink(path) else path
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return path
    if not stat.S_ISREG(mode):
        raise FileError(f"save: {path} is no regular file, wanted one or a new name")
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "the file may not be written", path)
    return path


@contextmanager
def replacement(path: str) -> Iterator[IO[bytes]]:
    """A file in the same folder. When the block ends it is synced and renamed into place, with the
    permissions of the file before, and its owner where the process may give files away; when the
    block fails it is removed. Until then it has no name where the file system can do without, so
    that a process that is killed leaves nothing behind.

    Errors: OSError, also where the path means anything but a regular file."""
    path = target(os.fspath(path))
    folder = os.path.dirname(path) or "."
    number, name = _new(folder)
    try:
        with open(number, "wb") as file:
            _inherit(path, number)
            yield file
            file.flush()
            os.fsync(number)
            name = name or _named(number, folder)
        os.replace(name, path)
        name = None
        _sync_folder(folder)
    except BaseException:
        if name is not None:
            with suppress(FileNotFoundError):
                os.unlink(name)
        raise


def _new(folder: str) -> tuple[int, str | None]:
    """A descriptor, and the file's name if it has to have one."""
    number = _unnamed(folder)
    if number is not None:
        return number, None
    number, name = tempfile.mkstemp(prefix=".libdl-", dir=folder)
    os.fchmod(number, 0o666 & ~_umask())
    return number, name


def _unnamed(folder: str) -> int | None:
    """A new file without a name; None: the system has no such files, or could not name it."""
    try:
        number = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno not in _NO_UNNAMED:
            raise
        return None
    if os.path.exists(f"/proc/self/fd/{number}"):
        return number
    os.close(number)
    return None


def _inherit(path: str, number: int) -> None:
    """Gives the new file what the one before had, before anything stands in it."""
    try:
        before = os.stat(path)
    except FileNotFoundError:
        return
    status = os.fstat(number)
    if (status.st_uid, status.st_gid) != (before.st_uid, before.st_gid):
        for owner in (before.st_uid, -1):
            with suppress(PermissionError):
                os.fchown(number, owner, before.st_gid)
                break
    os.fchmod(number, stat.S_IMODE(before.st_mode))


def _named(number: int, folder: str) -> str:
    """Gives an unnamed file a name that was free."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        while True:
            name = f".libdl-{os.getpid()}-{os.urandom(6).hex()}.tmp"
            with suppress(FileExistsError):
                # With a folder's descriptor it is linkat, which follows the link in /proc.
                os.link(f"/proc/self/fd/{number}", name, src_dir_fd=at, dst_dir_fd=at)
                return os.path.join(folder, name)
    finally:
        os.close(at)


def _sync_folder(path: str) -> None:
    """Puts the new name on the disk, too."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _umask() -> int:
    """The process's mask, as /proc tells it: asking os.umask would set it for a moment."""
    with (
        suppress(FileNotFoundError),
        open("/proc/self/status", encoding="ascii", errors="replace") as lines,
    ):
        for line in lines:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022
