# SPDX-License-Identifier: Apache-2.0
"""PyTorch's container: a zip archive of stored entries, each aligned for being mapped.

The reader believes nothing: the directory must describe the file exactly, entries are neither
compressed, encrypted, doubled nor laid over one another, and all lie in one folder.
Source of the layout: PKWARE, APPNOTE.TXT, sections 4.3 and 4.5.3 (zip64)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import NamedTuple

from .._errors import FormatError, UnsupportedError
from ._source import Source

_LOCAL = struct.Struct("<4s5H3I2H")  # what stands before an entry
_CENTRAL = struct.Struct("<4s6H3I5H2I")  # an entry in the directory
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64 = struct.Struct("<4sIQI")
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF  # the number stands in a zip64 field
_DESCRIPTOR, _UTF8 = 0x8, 0x800  # flags: sizes repeated after the bytes; names are UTF-8
_LEAST_ENTRY = _LOCAL.size + _CENTRAL.size
ALIGNMENT = 64


def malformed(text: str) -> FormatError:
    return FormatError(f"load: {text}")


class Record(NamedTuple):
    start: int  # of its bytes in the file
    size: int
    checksum: int  # CRC-32; 0: PyTorch was told not to compute it


class _Place(NamedTuple):
    begin: int
    end: int
    name: str


# -- reading ---------------------------------------------------------------------------------------


def _directory(source: Source) -> tuple[int, int, int]:
    """How many entries there are, where their directory begins and where it ends."""
    if source.size < _END.size:
        raise malformed(f"a zip archive has at least {_END.size} bytes, found {source.size}")
    at = source.size - _END.size
    mark, disk, first_disk, here, count, size, begin, comment = _END.unpack(
        source.read(at, _END.size)
    )
    if mark != b"PK\5\6" or comment:
        raise malformed(
            "the zip archive does not end with its directory: it was cut off, or more "
            "was written behind it"
        )
    if (disk, first_disk) != (0, 0) or here != count:
        raise malformed("a zip archive in several parts")
    end = at
    if at >= _LOCATOR64.size:
        mark, disk, end64, disks = _LOCATOR64.unpack(
            source.read(at - _LOCATOR64.size, _LOCATOR64.size)
        )
        if mark == b"PK\6\7":
            if disk or disks != 1 or end64 + _END64.size != at - _LOCATOR64.size:
                raise malformed("the end of the zip64 directory is not where it must be")
            mark, _, _, _, disk, first_disk, here, count, size, begin = _END64.unpack(
                source.read(end64, _END64.size)
            )
            if mark != b"PK\6\6" or disk or first_disk or here != count:
                raise malformed("the end of the zip64 directory is no such thing")
            end = end64
    if begin + size != end or count * _LEAST_ENTRY > source.size:
        raise malformed("the zip archive's directory does not fit into the file")
    return count, begin, end


def _zip64(extra: bytes, fields: list[int]) -> list[int]:
    """The fields, with those of all ones replaced by the extra field's numbers."""
    at, result = 0, b""
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        if at + 4 + size > len(extra):
            break
        if kind == 1:
            result = extra[at + 4 : at + 4 + size]
        at += 4 + size
    results = []
    for field in fields:
        if field == _FULL32:
            if len(result) < 8:
                raise malformed("a zip64 entry without its sizes")
            field, result = int.from_bytes(result[:8], "little"), result[8:]
        results.append(field)
    return results


def _text(name: bytes) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise malformed(f"an entry's name is no UTF-8: {name[:80]!r}") from None


def _data_start(source: Source, at: int, name: bytes, flags: int) -> int:
    """Where an entry's bytes begin, behind its local header, which must agree."""
    head = source.read(at, _LOCAL.size)
    mark, _, local_flags, method, *_, name_size, extra_size = _LOCAL.unpack(head)
    again = source.read(at + _LOCAL.size, name_size)
    if mark != b"PK\3\4" or method or again != name or local_flags != flags:
        raise malformed(f"the header of {_text(name)!r} and the directory disagree")
    return at + _LOCAL.size + int(name_size) + int(extra_size)


def _entries(source: Source) -> dict[str, Record]:
    count, begin, end = _directory(source)
    directory, at = source.read(begin, end - begin), 0
    records: dict[str, Record] = {}
    places: list[_Place] = []
    for _ in range(count):
        if at + _CENTRAL.size > len(directory):
            raise malformed("the zip archive's directory ends early")
        (
            mark,
            _,
            _,
            flags,
            method,
            _,
            _,
            checksum,
            packed,
            size,
            name_size,
            extra_size,
            comment_size,
            disk,
            _,
            _,
            local,
        ) = _CENTRAL.unpack_from(directory, at)
        at += _CENTRAL.size
        behind = at + name_size
        raw, extra = directory[at:behind], directory[behind : behind + extra_size]
        at = behind + extra_size + comment_size
        name = _text(raw)
        if mark != b"PK\1\2" or at > len(directory) or disk:
            raise malformed("the zip archive's directory is damaged")
        size, packed, local = _zip64(extra, [size, packed, local])
        if "/code/" in name or name.endswith("/constants.pkl"):
            raise UnsupportedError(
                "load: the file is a TorchScript archive, which holds code; "
                "torch.save the module's state_dict()"
            )
        if method or packed != size:
            raise malformed(f"{name!r} is compressed; PyTorch stores its entries as they are")
        if flags & ~(_DESCRIPTOR | _UTF8):
            raise malformed(
                f"{name!r} has the zip flags {flags:#x}: encrypted, or of no kind that "
                "PyTorch writes"
            )
        if name in records:
            raise malformed(f"{name!r} is in the zip archive twice")
        start = _data_start(source, local, raw, flags)
        records[name] = Record(start, size, checksum)
        places.append(_Place(local, start + size, name))
    if at != len(directory):
        raise malformed("the zip archive's directory holds more than its entries")
    _check_places(places, begin)
    return records


def _check_places(places: list[_Place], end: int) -> None:
    before = _Place(0, 0, "")
    for place in sorted(places):
        if place.begin < before.end:
            raise malformed(f"{place.name!r} and {before.name!r} overlap in the zip archive")
        before = place
    if before.end > end:
        raise malformed(f"{before.name!r} reaches into the zip archive's directory")


class Archive:
    """The records of a checkpoint, by their names without the folder."""

    def __init__(self, source: Source) -> None:
        self._source = source
        entries = _entries(source)
        folders = {name.partition("/")[0] for name in entries}
        if len(folders) != 1 or not all("/" in name for name in entries):
            raise malformed("the zip archive is no checkpoint: its entries are not in one folder")
        (folder,) = folders
        self.records = {name[len(folder) + 1 :]: record for name, record in entries.items()}

    def __contains__(self, name: str) -> bool:
        return name in self.records

    def read(self, name: str) -> bytes:
        """A whole record, as its checksum promises it."""
        record = self.records[name]
        data = self._source.read(record.start, record.size)
        check(name, record, data)
        return data


def check(name: str, record: Record, data: bytes | memoryview) -> None:
    """Raises unless the record's bytes are those that were written."""
    if record.checksum and zlib.crc32(data) != record.checksum:
        raise malformed(
            f"the bytes of {name!r} are not those that were written: their CRC-32 "
            "differs; the file was damaged"
        )


# -- writing ---------------------------------------------------------------------------------------

_checksums = True


def get_crc32_options() -> bool:
    """Whether save(format="torch") computes checksums."""
    return _checksums


def set_crc32_options(compute_crc32: bool) -> None:
    """Sets whether save(format="torch") computes checksums. libdl's own files always have them.

    Arguments:
        compute_crc32: False: a damaged file loads as other numbers
    """
    global _checksums
    _checksums = bool(compute_crc32)


class Writer:
    """Writes records one after another into an archive.

    put takes the file's next bytes; checksums: None: as set_crc32_options said."""

    def __init__(
        self,
        put: Callable[[bytes | memoryview], object],
        folder: str,
        checksums: bool | None = None,
    ) -> None:
        self._put, self._folder = put, folder
        self._checksums = get_crc32_options() if checksums is None else checksums
        self._at = 0
        self._central: list[bytes] = []

    def _write(self, data: bytes | memoryview) -> None:
        self._put(data)
        self._at += len(data)

    def add(self, name: str, data: bytes | memoryview) -> None:
        """Adds a record; its first byte is aligned to 64."""
        path = f"{self._folder}/{name}".encode()
        at, size = self._at, len(data)
        checksum = zlib.crc32(data) if self._checksums else 0
        long = size >= _FULL32
        sizes = struct.pack("<2H2Q", 1, 16, size, size) if long else b""
        gap = -(at + _LOCAL.size + len(path) + len(sizes) + 4) % ALIGNMENT
        extra = sizes + b"FB" + struct.pack("<H", gap) + b"Z" * gap  # PyTorch's own filling
        short = _FULL32 if long else size
        dates = (0, 0)  # like PyTorch's, so that equal content gives equal files
        self._write(
            _LOCAL.pack(
                b"PK\3\4", 0, _UTF8, 0, *dates, checksum, short, short, len(path), len(extra)
            )
            + path
            + extra
        )
        self._write(data)
        far = at >= _FULL32
        numbers = [size, size] * long + [at] * far
        extra = struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers)
        extra = extra if numbers else b""
        self._central.append(
            _CENTRAL.pack(
                b"PK\1\2",
                0,
                0,
                _UTF8,
                0,
                *dates,
                checksum,
                short,
                short,
                len(path),
                len(extra),
                0,
                0,
                0,
                0,
                _FULL32 if far else at,
            )
            + path
            + extra
        )

    def close(self) -> None:
        """Writes the directory."""
        begin, count = self._at, len(self._central)
        for entry in self._central:
            self._write(entry)
        size, end = self._at - begin, self._at
        if begin >= _FULL32 or count >= _FULL16 or size >= _FULL32:
            self._write(
                _END64.pack(b"PK\6\6", _END64.size - 12, 45, 45, 0, 0, count, count, size, begin)
            )
            self._write(_LOCATOR64.pack(b"PK\6\7", 0, end, 1))
        self._write(
            _END.pack(
                b"PK\5\6",
                0,
                0,
                min(count, _FULL16),
                min(count, _FULL16),
                min(size, _FULL32),
                min(begin, _FULL32),
                0,
            )
        )
