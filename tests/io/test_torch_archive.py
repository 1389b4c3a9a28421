# SPDX-License-Identifier: Apache-2.0
"""The zip archive around a checkpoint: what PyTorch would not write is refused."""

import io
import struct
import sys
import zipfile
from pathlib import Path

from libdl import serialization
from libdl.serialization._archive import Writer

sys.path.append(str(Path(__file__).parent))
from made import pickled, refused  # noqa: E402


def changed(at, value, size=2, data=None):
    """An archive with a number changed in the directory's first entry."""
    data = bytearray(data or pickled(b"N").getvalue())
    struct.pack_into({2: "<H", 4: "<I"}[size], data, data.index(b"PK\1\2") + at, value)
    return io.BytesIO(data)


def test_archives_that_pytorch_would_not_write_are_refused():
    refused(changed(10, 8), "compressed")
    refused(changed(8, 0x801), "encrypted")
    refused(changed(8, 0x808), "disagree")
    refused(changed(24, 9, 4), "compressed")
    refused(changed(20, 1 << 31, 4), "compressed")
    refused(changed(42, 1 << 31, 4), "file that has")
    refused(changed(34, 1), "directory is damaged")
    refused(io.BytesIO(pickled(b"N").getvalue() + b"\0"), "cut off, or more was written")
    refused(io.BytesIO(b"PK\3\4" + pickled(b"N").getvalue()), "does not fit")


def test_doubled_and_overlapping_entries_are_refused():
    out = io.BytesIO()
    writer = Writer(out.write, "archive")
    for _ in range(2):
        writer.add("data.pkl", b"\x80\2N.")
    writer.close()
    refused(out, "twice")
    data = bytearray(pickled(b"N", a=b"x", b=b"x").getvalue())
    last = data.rindex(b"PK\1\2", 0, data.rindex(b"PK\1\2"))
    first = data.index(b"PK\1\2")
    data[last + 42 : last + 46] = data[first + 42 : first + 46]  # both at one place
    refused(io.BytesIO(data), "disagree")


def test_entries_inside_one_another_are_refused():
    inner = io.BytesIO()
    writer = Writer(inner.write, "archive")
    writer.add("data/0", b"x")
    hidden = inner.getvalue()
    out = io.BytesIO()
    outer = Writer(out.write, "archive")
    outer.add("data.pkl", hidden)
    at = out.getvalue().index(hidden)
    central = bytearray(writer._central[0])
    struct.pack_into("<I", central, 42, at)
    outer._central.append(bytes(central))
    outer.close()
    refused(out, "overlap")


def test_compressed_archives_are_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", b"\x80\2N." * 1000)
    refused(out, "compressed")


def test_archives_beyond_4_gib_are_described_in_64_bits():
    """Written and read without the bytes: a file that says what it is asked for."""
    size = (1 << 32) + 5
    pieces = []

    class Huge(bytes):
        def __len__(self):
            return size

    writer = Writer(pieces.append, "archive")
    writer.add("data/0", Huge())
    writer.add("data.pkl", b"\x80\2N.")
    writer.close()
    places, at = [], 0
    for piece in pieces:
        places.append((at, piece))
        at += len(piece)

    class Sparse:
        size = at

        def read(self, begin, count):
            made = bytearray(count)
            for place, piece in places:
                if len(piece) == size:
                    continue
                for i in range(max(begin, place), min(begin + count, place + len(piece))):
                    made[i - begin] = piece[i - place]
            return bytes(made)

    found = serialization._archive.Archive(Sparse())
    assert found.records["data/0"].size == size and found.records["data/0"].start % 64 == 0
    assert found.read("data.pkl") == b"\x80\2N." and found.records["data.pkl"].start > size


def test_reading_a_directory_copies_each_byte_a_few_times():
    """However many entries there are."""
    from libdl.serialization._archive import Archive
    from libdl.serialization._source import Source

    class Counted(bytes):
        copied = 0

        def __getitem__(self, key):
            part = super().__getitem__(key)
            Counted.copied += len(part) if isinstance(key, slice) else 1
            return part

    class Counting(Source):
        def read(self, at, size):
            return Counted(super().read(at, size))

    file = pickled(b"N", **{f"data/{i}": b"" for i in range(500)})
    archive = Archive(Counting(file, False))
    assert len(archive.records) == 503
    assert 0 < Counted.copied < 2 * len(file.getvalue())
