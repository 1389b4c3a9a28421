# SPDX-License-Identifier: Apache-2.0
"""PyTorch's names around checkpoints: archives record by record, and settings."""

import io
import sys
import typing
from pathlib import Path

import libdl
import pytest
from libdl import serialization

sys.path.append(str(Path(__file__).parent))
from made import stored  # noqa: E402
from torch_programs import FOLDER  # noqa: E402


def test_the_records_of_a_checkpoint_are_read_one_by_one():
    for file in (str(FOLDER / "views.pt"), io.BytesIO((FOLDER / "views.pt").read_bytes())):
        reader = libdl.PyTorchFileReader(file)
        assert reader.has_record("data.pkl") and not reader.has_record("data/9")
        assert reader.get_all_records()[0] == "data.pkl" and "data/0" in reader.get_all_records()
        assert reader.get_record("version") == b"3\n" and reader.get_record_size("data/0") == 96
        assert reader.get_record_offset("data/0") % 64 == 0
        assert reader.get_storage_from_record("data/0", 24, libdl.float32).tolist() == [*range(24)]
        octets = reader.get_storage_from_record("data/0", 96, libdl.UntypedStorage)
        assert octets.dtype is libdl.uint8 and octets.view(libdl.float32)[23] == 23
        assert len(reader.serialization_id()) == 40
        for wrong in (
            lambda: reader.get_record("x"),
            lambda: reader.get_record_size("x"),
            lambda: reader.get_storage_from_record("x", 1, libdl.float32),
        ):
            with pytest.raises(RuntimeError, match="no record 'x'"):
                wrong()
        with pytest.raises(RuntimeError, match="has 96 bytes, wanted 100"):
            reader.get_storage_from_record("data/0", 25, libdl.float32)
    with serialization._open_zipfile_reader(FOLDER / "views.pt") as reader:
        assert reader.has_record("data.pkl")


def test_a_damaged_record_is_not_given(tmp_path):
    data = bytearray((FOLDER / "views.pt").read_bytes())
    reader = libdl.PyTorchFileReader(io.BytesIO(data))
    data[reader.get_record_offset("data/0")] ^= 1
    with pytest.raises(libdl.Error, match="CRC-32"):
        libdl.PyTorchFileReader(io.BytesIO(data)).get_storage_from_record(
            "data/0", 24, libdl.float32
        )
    with pytest.raises(libdl.Error):
        libdl.PyTorchFileReader(stored([1], format="safetensors"))


@pytest.mark.parametrize("to_path", [True, False])
def test_an_archive_is_written_record_by_record(tmp_path, to_path):
    path, buffer = tmp_path / "model.pt", io.BytesIO()
    writer = libdl.PyTorchFileWriter(str(path) if to_path else buffer)
    pickle = libdl.PyTorchFileReader(stored({"a": libdl.arange(3.0)}, format="torch"))
    writer.write_record(
        "data.pkl", pickle.get_record("data.pkl"), pickle.get_record_size("data.pkl")
    )
    writer.write_record("data/0", libdl.arange(3.0).untyped_storage(), 12)
    writer.write_record("note", "text and more", 4)
    assert not path.exists()
    with pytest.raises(RuntimeError, match="'note' is there already"):
        writer.write_record("note", b"", 0)
    assert writer.get_all_written_records() == ["data.pkl", "data/0", "note"]
    assert writer.archive_name() == ("model" if to_path else "archive")
    writer.write_end_of_file()
    file = path if to_path else io.BytesIO(buffer.getvalue())
    assert libdl.load(file)["a"].tolist() == [0, 1, 2]
    assert (
        libdl.PyTorchFileReader(path if to_path else io.BytesIO(buffer.getvalue())).get_record(
            "note"
        )
        == b"text"
    )
    with pytest.raises(NotImplementedError, match="storage_alignment is 8"):
        libdl.PyTorchFileWriter(io.BytesIO(), True, 8)


def test_a_writer_whose_block_fails_leaves_nothing(tmp_path):
    with (
        pytest.raises(ZeroDivisionError),
        serialization._open_zipfile_writer(tmp_path / "x") as writer,
    ):
        writer.write_record("a", b"", 0)
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with serialization._open_zipfile_writer(tmp_path / "x") as writer:
        writer.write_record("a", b"b", 1)
    assert libdl.PyTorchFileReader(tmp_path / "x").get_record("a") == b"b"


def test_checksums_of_pytorchs_format_can_be_left_out():
    assert serialization.get_crc32_options() is True
    serialization.set_crc32_options(False)
    try:
        data = bytearray(stored([libdl.arange(3.0)], format="torch").getvalue())
        at = libdl.PyTorchFileReader(io.BytesIO(data)).get_record_offset("data/0")
        data[at + 3] = 64
        assert libdl.load(io.BytesIO(data))[0][0] == 2
    finally:
        serialization.set_crc32_options(True)
    data = bytearray(stored([libdl.arange(3.0)], format="torch").getvalue())
    data[libdl.PyTorchFileReader(io.BytesIO(data)).get_record_offset("data/0") + 3] = 64
    with pytest.raises(libdl.Error, match="CRC-32"):
        libdl.load(io.BytesIO(data))


def test_the_other_settings_are_pytorchs():
    assert serialization.get_default_load_endianness() is None
    serialization.set_default_load_endianness(serialization.LoadEndianness.LITTLE)
    assert serialization.get_default_load_endianness() is serialization.LoadEndianness.LITTLE
    serialization.set_default_load_endianness(None)
    with pytest.raises(NotImplementedError, match="big-endian"):
        serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
    with pytest.raises(TypeError, match="is a str, wanted a LoadEndianness"):
        serialization.set_default_load_endianness("little")
    assert serialization.DEFAULT_PROTOCOL == 2 and issubclass(
        serialization.SourceChangeWarning, Warning
    )
    places = typing.get_args(serialization.MAP_LOCATION)
    assert str in places and libdl.device in places and type(None) in places
    assert isinstance(libdl.ones(1).untyped_storage(), libdl.storage.StorageBase)
