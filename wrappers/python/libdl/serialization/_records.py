# SPDX-License-Identifier: Apache-2.0
"""PyTorch's archives record by record, for programs that read and write parts of a checkpoint."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _functions
from .._C import Tensor
from .._types import dtype as Dtype, uint8
from ._archive import Archive, Writer, check
from ._replacement import replacement
from ._sink import writer_to
from ._source import opened

if TYPE_CHECKING:
    from ._archive import Record

__all__ = ["PyTorchFileReader", "PyTorchFileWriter"]


class PyTorchFileReader:
    """The records of a checkpoint. Nothing of them is unpickled.

    Arguments:
        file: a path, or a file open for reading in binary mode
    """

    def __init__(self, file: Any) -> None:
        self._source = opened(file, False)
        self._archive = Archive(self._source)

    def _record(self, name: str) -> Record:
        if name not in self._archive:
            raise RuntimeError(f"PyTorchFileReader: there is no record {name!r:.80} in the archive")
        return self._archive.records[name]

    def has_record(self, name: str) -> bool:
        return name in self._archive

    def get_all_records(self) -> list[str]:
        return list(self._archive.records)

    def get_record(self, name: str) -> bytes:
        """The record's bytes, as its checksum promises them."""
        self._record(name)
        return self._archive.read(name)

    def get_record_size(self, name: str) -> int:
        return int(self._record(name).size)

    def get_record_offset(self, name: str) -> int:
        """Where the record's bytes begin in the file."""
        return int(self._record(name).start)

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> Tensor:
        """A record as a tensor of one dimension.

        Arguments:
            numel: the number of elements
            dtype: theirs, or UntypedStorage for bytes
        """
        record = self._record(name)
        kind = dtype if isinstance(dtype, Dtype) else uint8
        result = _functions.empty((numel,), dtype=kind)
        if numel * kind.itemsize != record.size:
            raise RuntimeError(
                f"PyTorchFileReader: record {name!r:.80} has {record.size} bytes, "
                f"wanted {numel * kind.itemsize}"
            )
        if numel:
            array: Any = result.view(uint8).numpy()
            into = memoryview(array)
            self._source.read_into(record.start, into)
            check(name, record, into)
        return result

    def serialization_id(self) -> str:
        """What names the archive's content; empty where the writer gave it none."""
        path = ".data/serialization_id"
        return self.get_record(path).decode("ascii", "replace") if self.has_record(path) else ""


class PyTorchFileWriter:
    """Writes records into an archive, which is whole after write_end_of_file.

    Arguments:
        file: a path, or a file open for writing in binary mode
        compute_crc32: whether records get a checksum
        storage_alignment: 64
    """

    def __init__(self, file: Any, compute_crc32: bool = True, storage_alignment: int = 64) -> None:
        if storage_alignment != 64:
            raise NotImplementedError(
                f"PyTorchFileWriter: storage_alignment is {storage_alignment}, wanted 64"
            )
        self._ends = contextlib.ExitStack()
        self._name = "archive"
        if hasattr(file, "write"):
            put: Any = writer_to(file)
        else:
            self._name = os.path.basename(os.fsdecode(file)).partition(".")[0] or "archive"
            put = self._ends.enter_context(replacement(os.fsdecode(file))).write
        self._writer = Writer(put, self._name, compute_crc32)
        self._written: list[str] = []

    def archive_name(self) -> str:
        return self._name

    def get_all_written_records(self) -> list[str]:
        return list(self._written)

    def set_min_version(self, version: int) -> None:
        """Accepted: the version is 3."""

    def write_record(self, name: str, data: Any, size: int) -> None:
        """Adds a record of the first bytes of data: bytes, text or a storage."""
        if name in self._written:
            raise RuntimeError(f"PyTorchFileWriter: record {name!r} is there already")
        if isinstance(data, str):
            data = data.encode("utf-8")
        elif hasattr(data, "elements"):
            data = data.elements(uint8).cpu().numpy()
        self._writer.add(name, memoryview(data).cast("B")[:size])
        self._written.append(name)

    def write_end_of_file(self) -> None:
        for name, data in (
            (".format_version", b"1"),
            (".storage_alignment", b"64"),
            ("byteorder", b"little"),
            ("version", b"3\n"),
        ):
            if name not in self._written:
                self.write_record(name, data, len(data))
        self._writer.close()
        self._ends.close()

    def __enter__(self) -> PyTorchFileWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.write_end_of_file()
        else:
            self._ends.__exit__(kind, error, trace)


@contextlib.contextmanager
def reader_of(name_or_buffer: object) -> Iterator[PyTorchFileReader]:
    """As PyTorch's _open_zipfile_reader."""
    yield PyTorchFileReader(name_or_buffer)


def writer_of(name_or_buffer: object) -> PyTorchFileWriter:
    """As PyTorch's _open_zipfile_writer."""
    return PyTorchFileWriter(name_or_buffer)
