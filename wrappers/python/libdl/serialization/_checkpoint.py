# SPDX-License-Identifier: Apache-2.0
"""Reads PyTorch's checkpoints: a zip archive with a pickle and one record for each storage.

Beside the pickle's values, a load allocates each storage once, after its size was checked against
the file; mapped, it allocates nothing for them."""

from __future__ import annotations

from typing import Any

from .. import _C, _functions
from .._C import Tensor
from .._errors import FormatError, UnsupportedError
from .._types import bool_, dtype as Dtype, uint8
from . import _names
from ._archive import Archive, check, malformed
from ._machine import Machine
from ._places import Foreign, Placing
from ._source import Source
from ._values import Maker, Unbuilt

_PICKLE = "data.pkl"
_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # the magic number, pickled


def is_archive(head: bytes) -> bool:
    return head[:4] == b"PK\3\4"


def refuse_other_formats(head: bytes) -> None:
    """Raises for the formats that are known by their first bytes, and not read."""
    if head.startswith(_LEGACY):
        description = "a checkpoint as PyTorch wrote it before 1.6, no zip archive"
        instead = "load it in PyTorch and save it again"
    elif head[:1] == b"\x80" and head[1:2] in b"\2\3\4\5" and head[8:9] != b"{":
        description = "a bare pickle"
        instead = "it can run any code; torch.save writes zip archives"
    elif head[257:262] == b"ustar":
        description = "a tar archive, as PyTorch wrote it before 0.1.10"
        instead = "load it in PyTorch and save it again"
    else:
        return
    raise UnsupportedError(f"load: the file is {description}; {instead}")


def archive_of(source: Source) -> Archive:
    archive = Archive(source)
    if _PICKLE not in archive:
        raise malformed("the zip archive is no checkpoint of PyTorch: it has no data.pkl")
    order = archive.read("byteorder") if "byteorder" in archive else b"little"
    if order == b"big":
        raise UnsupportedError("load: the file was written on a big-endian machine")
    if order != b"little":
        raise malformed(f"the file's byte order is {order[:20]!r}, wanted b'little'")
    version = archive.read("version").strip() if "version" in archive else b""
    if not version.isdigit() or not 1 <= int(version[:9]) <= 10:
        raise malformed(f"the file's version is {version[:20]!r}, wanted 1 to 10")
    return archive


def _bytes_of(x: Tensor) -> memoryview:
    array: Any = x.view(uint8).numpy()
    return memoryview(array)


def _clean(x: Tensor) -> None:
    """A file may say anything in a byte; a bool is 0 or 1."""
    octets = x.view(uint8)
    if x.numel() and int(octets.max()) > 1:
        octets.copy_(octets.ne(0))


class Storages:
    """The table of a pickle's names, and the storages that it refers to, each read once."""

    def __init__(self, source: Source, archive: Archive, placing: Placing) -> None:
        self._source, self._archive, self._placing = source, archive, placing
        self._read: dict[str, tuple[str, Tensor]] = {}  # place and storage, by key
        self.named = _names.resolve

    def storage(self, key: Any) -> Tensor:
        """The storage of a persistent id, in one dimension and of its own dtype."""
        if not isinstance(key, tuple) or len(key) != 5 or key[0] != "storage":
            raise FormatError("load: a persistent id that is no storage's")
        _, kind, name, location, count = key
        dtype = self.dtype_of(kind)
        if not isinstance(name, str) or not isinstance(location, str) or type(count) is not int:
            raise FormatError("load: a storage without name, location and size")
        if name not in self._read:
            loaded = self._load(name, dtype, count * dtype.itemsize)
            self._read[name] = location, self._placing.placed(loaded, location)
        place, known = self._read[name]
        if place != location:
            raise FormatError(f"load: storage {name!r:.80} is on two devices")
        if known.numel() * known.dtype.itemsize != count * dtype.itemsize:
            raise FormatError(f"load: storage {name!r:.80} has two sizes")
        if known.dtype is not dtype and bool_ in (known.dtype, dtype):
            raise FormatError(f"load: storage {name!r:.80} has truth values and other elements")
        return known if known.dtype is dtype else known.view(dtype)

    @staticmethod
    def dtype_of(kind: Any) -> Dtype:
        name = kind.name.rpartition(".")[2] if type(kind) is Maker else ""
        if name == "UntypedStorage":
            return uint8
        if name not in _names.STORAGES:
            raise FormatError("load: a storage of no kind")
        return _names.STORAGES[name]

    def _load(self, name: str, dtype: Dtype, size: int) -> Tensor:
        path = f"data/{name}"
        record = self._archive.records.get(path)
        if record is None or record.size != size:
            description = "does not have" if record is None else f"has with {record.size} bytes"
            raise FormatError(
                f"load: the pickle wants {size} bytes of {path!r:.80}, which the file {description}"
            )
        whole = self._source.mapped
        if whole is not None and size and record.start % dtype.itemsize == 0:
            result: Tensor = _C.from_buffer(whole[record.start : record.start + size])
            result = result.view(dtype).detach()
        else:
            result = _functions.empty((size // dtype.itemsize,), dtype=dtype, device="cpu")
            if size:
                into = _bytes_of(result)
                self._source.read_into(record.start, into)
                check(path, record, into)
        if dtype is bool_:
            _clean(result)
        return result


def read(source: Source, map_location: object) -> Any:
    """The object in a checkpoint."""
    archive = archive_of(source)
    data = archive.read(_PICKLE)
    table = Storages(source, archive, Placing(map_location))
    try:
        return Machine(data, table, _PICKLE, source.size).run()
    except Foreign as foreign:
        raise foreign.error from None


class _Names:
    """A table that has every name and builds nothing."""

    def __init__(self) -> None:
        self.found: dict[str, None] = {}

    def named(self, module: str, name: str) -> Unbuilt:
        path = f"{'builtins' if module == '__builtin__' else module}.{name}"
        self.found[path] = None
        return Unbuilt(path, None)

    def storage(self, key: Any) -> None:
        return None


def unsafe_names(source: Source) -> list[str]:
    """The names in a checkpoint's pickle that loading it would refuse."""
    table = _Names()
    Machine(archive_of(source).read(_PICKLE), table, _PICKLE).run()
    return [path for path in table.found if _names.unsafe(path)]
