# SPDX-License-Identifier: Apache-2.0
"""The bytes that load reads: a path, or a file open for reading, from its present position on."""

from __future__ import annotations

import io
import mmap as maps
import os
from types import TracebackType
from typing import Any, BinaryIO

from .._errors import FormatError

MAP_PRIVATE, MAP_SHARED = maps.MAP_PRIVATE, maps.MAP_SHARED
_options = MAP_PRIVATE


def get_default_mmap_options() -> int:
    """How load(mmap=True) maps a file: mmap.MAP_PRIVATE or mmap.MAP_SHARED."""
    return _options


class set_default_mmap_options:
    """Sets how load(mmap=True) maps PyTorch's files; as a context, for its time.

    Arguments:
        flags: mmap.MAP_PRIVATE: writing a tensor changes this process's copy alone, which is how it
            starts; mmap.MAP_SHARED: writing a tensor writes the file
    """

    def __init__(self, flags: int) -> None:
        global _options
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                f"set_default_mmap_options: flags is {flags}, wanted mmap.MAP_PRIVATE "
                "or mmap.MAP_SHARED"
            )
        self._before, _options = _options, flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        global _options
        _options = self._before


class Source:
    """A file's bytes, read where they are asked for; never beyond the end that it had at first."""

    def __init__(self, file: BinaryIO, owned: bool) -> None:
        if not isinstance(file.read(0), bytes):
            raise TypeError("load: f is open as text, wanted a file open in binary mode")
        self._file, self._owned = file, owned
        self._begin = file.tell()
        self.size = file.seek(0, os.SEEK_END) - self._begin
        file.seek(self._begin)
        self.mapped: memoryview | None = None

    def read(self, at: int, size: int) -> bytes:
        """Exactly so many bytes; raises FormatError where the file does not have them."""
        self._check(at, size)
        self._file.seek(self._begin + at)
        data = self._file.read(size)
        if len(data) != size:
            raise FormatError("load: the file ends early")
        return data

    def read_into(self, at: int, into: memoryview) -> None:
        """Fills the memory from the file."""
        self._check(at, len(into))
        self._file.seek(self._begin + at)
        readinto = getattr(self._file, "readinto", None)
        done = 0
        while done < len(into):
            if readinto:
                count = readinto(into[done:]) or 0
            else:
                part = self._file.read(len(into) - done)
                count = len(part)
                into[done : done + count] = part
            if not count:
                raise FormatError("load: the file ends early")
            done += count

    def head(self, size: int) -> bytes:
        """The first bytes; fewer where the file is shorter."""
        return self.read(0, min(size, self.size))

    def rest(self) -> bytes:
        """All of it."""
        return self.read(0, self.size)

    def map(self) -> None:
        """Maps the file; `mapped` then has its bytes, writable."""
        if self.size:
            access = maps.ACCESS_COPY if _options == MAP_PRIVATE else maps.ACCESS_WRITE
            self.mapped = memoryview(maps.mmap(self._file.fileno(), 0, access=access))

    def _check(self, at: int, size: int) -> None:
        if at < 0 or size < 0 or at + size > self.size:
            raise FormatError(
                f"load: bytes {at} to {at + size} are wanted of a file that has {self.size}"
            )

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._owned:
            self._file.close()


def opened(f: Any, mmap: bool) -> Source:
    """The source behind load's first argument.

    Errors: OSError as open raises it; TypeError for what is neither path nor file."""
    if hasattr(f, "read"):
        if mmap:
            raise ValueError("load: mmap=True wants f to be a path, found a file object")
        if not (hasattr(f, "seek") and hasattr(f, "tell")):
            f = io.BytesIO(f.read())
        elif hasattr(f, "seekable") and not f.seekable():
            f = io.BytesIO(f.read())
        return Source(f, False)
    if not isinstance(f, (str, bytes, os.PathLike)):
        raise TypeError(
            f"load: f is a {type(f).__name__}, wanted a path or a file open for "
            "reading in binary mode"
        )
    writes = mmap and _options == MAP_SHARED
    return Source(open(os.fspath(f), "r+b" if writes else "rb"), True)
