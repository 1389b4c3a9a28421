# SPDX-License-Identifier: Apache-2.0
"""PyTorch's checkpoints. The files in torch_files are PyTorch's own (torch_programs.py wrote them);
tests/oracle/checkpoints.py has PyTorch read what libdl writes."""

import io
import os
import pickle
import random
import struct
import sys
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import libdl
import pytest
from libdl import serialization

sys.path.append(str(Path(__file__).parent))
import mutations  # noqa: E402
from made import refused, same, stored  # noqa: E402
from torch_programs import DTYPES, FOLDER, PROGRAMS, anything  # noqa: E402

# -- PyTorch's own files ---------------------------------------------------------------------------


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_pytorchs_files_load_as_they_were_saved(name, mmap):
    same(libdl.load(FOLDER / f"{name}.pt", mmap=mmap), PROGRAMS[name](libdl))


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_libdl_writes_in_pytorchs_format_loads_again(name, tmp_path):
    wanted = PROGRAMS[name](libdl)
    same(libdl.load(stored(wanted, format="torch")), wanted)
    libdl.save(wanted, tmp_path / "x.pt", format="torch")
    same(libdl.load(tmp_path / "x.pt", mmap=True), wanted)
    assert stored(wanted, format="torch").getvalue() == (tmp_path / "x.pt").read_bytes()


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_libraries_pickle_alike(name):
    """The same opcodes and names but for memo numbers, so what PyTorch reads, it reads of both."""
    import pickletools

    def names(data):
        ops = pickletools.genops(mutations.records_of(data)["data.pkl"])
        return {argument for op, argument, _ in ops if op.name == "GLOBAL"}

    ours = stored(PROGRAMS[name](libdl), format="torch").getvalue()
    # weights_only=True does not know how PyTorch itself writes empty bytes
    theirs = names((FOLDER / f"{name}.pt").read_bytes()) - {"__builtin__ bytes"}
    assert names(ours) == theirs


@pytest.mark.parametrize("format", ["safetensors", "torch"])
def test_objects_at_random_load_as_they_were_saved(format):
    for seed in range(100):
        wanted = anything(libdl, random.Random(seed))
        found = libdl.load(stored(wanted, format=format))
        same(found, wanted, geometry=format == "torch")


def test_records_are_aligned_for_mapping_and_zip_programs_read_the_archive():
    data = stored(PROGRAMS["dtypes"](libdl), format="torch").getvalue()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        for entry in archive.infolist():
            name, extra = struct.unpack_from("<2H", data, entry.header_offset + 26)
            assert (entry.header_offset + 30 + name + extra) % 64 == 0


@pytest.mark.parametrize("mmap", [False, True])
def test_views_share_their_storage_after_loading(mmap):
    found = libdl.load(FOLDER / "views.pt", mmap=mmap)
    found["transposed"][0, 0, 0] = 77
    assert found["whole"][0, 0, 0] == found["again"][1][0, 0, 0] == found["expanded"][4, 0] == 77
    assert found["again"][0] is found["again"][1]


def test_a_tied_parameter_is_one_object_again():
    found = libdl.load(FOLDER / "parameters.pt")
    assert found["p"] is found["tied"] and isinstance(found["p"], libdl.nn.Parameter)


def test_writing_a_mapped_tensor_leaves_the_file_as_it_is(tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(before := (FOLDER / "views.pt").read_bytes())
    libdl.load(path, mmap=True)["whole"].zero_()
    assert path.read_bytes() == before
    with serialization.set_default_mmap_options(serialization._source.MAP_SHARED):
        libdl.load(path, mmap=True)["whole"].zero_()
    assert serialization.get_default_mmap_options() == serialization._source.MAP_PRIVATE
    assert libdl.load(path, mmap=True)["whole"].count_nonzero() == 0
    refused(path, "CRC-32 differs")  # which a map cannot write


def test_a_module_and_its_optimizer_train_on_from_pytorchs_file():
    net = PROGRAMS["state_dict"].__globals__["module"](libdl)
    for x in net.parameters():
        x.data.zero_()
    net.load_state_dict(libdl.load(FOLDER / "state_dict.pt"))
    same(net.state_dict(), PROGRAMS["state_dict"](libdl))
    optimizer = libdl.optim.SGD([{"params": net[0].parameters()}, {"params": net[2].parameters()}])
    optimizer.load_state_dict(libdl.load(FOLDER / "training.pt")["optimizer"])
    assert [group["lr"] for group in optimizer.param_groups] == [0.05, 0.025]


def test_an_archive_written_by_pytorch_1_6_loads():
    """It has neither byteorder nor format version, and no alignment that one could rely on."""
    records = mutations.records_of((FOLDER / "views.pt").read_bytes())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in records.items():
            if not name.startswith(".") and name != "byteorder":
                archive.writestr(f"some name/{name}", data)
    out.seek(0)
    same(libdl.load(out), PROGRAMS["views"](libdl))


def test_unaligned_storages_are_copied_instead_of_mapped(tmp_path):
    records = mutations.records_of((FOLDER / "views.pt").read_bytes())
    for filling in ("a", "ab", "abc"):
        with zipfile.ZipFile(tmp_path / "x.pt", "w") as archive:
            for name, data in records.items():
                archive.writestr(f"{filling}/{name}", data)
        same(libdl.load(tmp_path / "x.pt", mmap=True), PROGRAMS["views"](libdl))


def test_checksums_are_compared_where_pytorch_computed_them():
    data = bytearray((FOLDER / "views.pt").read_bytes())
    at = data.index(struct.pack("<3f", 5, 6, 7))
    data[at + 3] ^= 64
    refused(io.BytesIO(data), "data/0", "CRC-32 differs")
    assert libdl.load(io.BytesIO(mutations.without_checksums(bytes(data))))["whole"][0, 1, 1] != 5


# -- protocols -------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_python_pickles_of_plain_values_load(protocol):
    wanted = {
        "a": [1, -1, 300, 1 << 40, -(1 << 90)],
        "b": (b"x" * 300, b"", "é" * 300),
        "c": 1.5,
        "d": {1, 2},
        "e": frozenset({"x"}),
        "f": OrderedDict(a=1),
        "g": [None, True, (), {}, []],
        "h": Counter("aa"),
        "i": 1 + 2j,
        "j": bytearray(b"ab"),
        "k": list(range(2000)),
    }
    records = {"data.pkl": pickle.dumps(wanted, protocol), "version": b"3\n"}
    same(libdl.load(io.BytesIO(mutations.packed(records))), wanted)


@pytest.mark.parametrize("protocol", [2, 4])
def test_numpys_numbers_and_arrays_load(protocol):
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(6, dtype=numpy.int16).reshape(2, 3)
    value = [numpy.float64(0.1), numpy.int64(-3), numpy.bool_(True), array, array.T, array]
    records = {"data.pkl": pickle.dumps(value, protocol), "version": b"3\n"}
    found = libdl.load(io.BytesIO(mutations.packed(records)))
    for x, y in zip(found, value, strict=True):
        assert type(x) is type(y) and x.dtype == y.dtype and (x == y).all()
    assert found[3] is found[5]


def numpys():
    """Numbers and arrays of every dtype that files have."""
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(6, dtype=numpy.int16).reshape(2, 3)
    letters = "b1 u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 c8 c16".split()
    return [numpy.array([0, 1, 2.5]).astype(dtype) for dtype in letters] + [
        numpy.float64(0.1),
        numpy.float32(0.1),
        numpy.int64(-3),
        numpy.bool_(True),
        numpy.complex64(1 + 2j),
        array,
        array.T,
        array[:, ::2],
        numpy.array(3.0),
        numpy.zeros((0, 2)),
        numpy.arange(3, dtype=">i4"),
    ]


@pytest.mark.parametrize("format", ["safetensors", "torch"])
def test_numpys_numbers_and_arrays_are_saved(format):
    value = numpys()
    found = libdl.load(stored({"best": value, "again": value[-1]}, format=format))
    for x, y in zip(found["best"], value, strict=True):
        assert type(x) is type(y) and x.shape == y.shape and (x == y).all()
        assert x.dtype == y.dtype.newbyteorder("<")
    found["best"][0][:] = False  # arrays are the program's own
    if format == "torch":
        assert found["again"] is found["best"][-1]


def test_numpys_values_are_in_pytorchs_format_as_pickle_writes_them():
    value = numpys()[:-1]  # NumPy may swap the last one's bytes on the way
    records = mutations.records_of(stored(value, format="torch").getvalue())
    for x, y in zip(pickle.loads(records["data.pkl"]), value, strict=True):
        assert type(x) is type(y) and x.dtype == y.dtype and (x == y).all()


def test_what_safetensors_do_not_hold_is_refused_and_told_what_to_do():
    numpy = pytest.importorskip("numpy")
    network = libdl.nn.Linear(1, 1)
    optimizer = libdl.optim.SGD(network.parameters())
    for owner in (network, optimizer, libdl.optim.lr_scheduler.StepLR(optimizer, 1)):
        name = type(owner).__name__
        with pytest.raises(TypeError, match=rf"is a {name}; .* save its state_dict\(\)"):
            stored({"a": owner}, format="safetensors")
    for array, kind in ((numpy.array(["a"]), "<U1"), (numpy.array([None]), "object")):
        with pytest.raises(TypeError, match=f"is a ndarray of {kind}; "):
            stored([array], format="safetensors")


# -- map_location ----------------------------------------------------------------------------------


def on_cuda():
    records = mutations.records_of((FOLDER / "sparse.pt").read_bytes())
    records["data.pkl"] = records["data.pkl"].replace(b"X\3\0\0\0cpu", b"X\6\0\0\0cuda:0")
    return io.BytesIO(mutations.packed(records))


@pytest.mark.parametrize(
    "place",
    ["cpu", libdl.device("cpu"), {"cuda:0": "cpu"}, lambda x, name: x, lambda x, name: x.cpu()],
    ids=["name", "device", "dict", "same", "method"],
)
def test_map_location_takes_tensors_to_the_host(place):
    same(libdl.load(on_cuda(), place), PROGRAMS["sparse"](libdl))


@pytest.mark.skipif(libdl.cuda.is_available(), reason="only without a CUDA device")
@pytest.mark.parametrize("place", [None, {}, {"cpu": "cpu"}, lambda x, name: None])
def test_a_device_that_is_not_there_is_named(place):
    with pytest.raises(libdl.Error, match=r"'cuda:0'.*map_location='cpu'"):
        libdl.load(on_cuda(), place)


def test_a_function_sees_each_storage_once_and_its_place():
    seen = []
    libdl.load(FOLDER / "views.pt", lambda x, place: seen.append((x.numel(), place)))
    assert seen == [(24, "cpu"), (1, "cpu"), (0, "cpu"), (2, "cpu")]
    with pytest.raises(TypeError, match=r"returned a int, wanted the storage or None"):
        libdl.load(FOLDER / "views.pt", lambda x, place: 3)
    with pytest.raises(TypeError, match="returned another tensor"):
        libdl.load(FOLDER / "views.pt", lambda x, place: x[:0])
    with pytest.raises(ZeroDivisionError):  # it is not the file's fault
        libdl.load(FOLDER / "views.pt", lambda x, place: 1 / 0)


def test_own_files_take_map_location_too():
    seen = []
    libdl.load(stored([libdl.ones(2)]), lambda x, place: seen.append(place))
    assert seen == ["cpu"]
    with pytest.raises(TypeError, match="map_location is a list, wanted a device"):
        libdl.load(stored(1), [])


# -- writing ---------------------------------------------------------------------------------------


def test_names_of_dtypes_cover_all():
    assert {name for name in DTYPES} == {
        x.name for x in vars(libdl).values() if isinstance(x, libdl.dtype)
    }


def test_other_formats_than_both_are_refused():
    with pytest.raises(
        ValueError, match="format is 'pickle', wanted 'safetensors', 'torch' or None"
    ):
        stored(1, format="pickle")
    with pytest.raises(NotImplementedError, match="_use_new_zipfile_serialization is False"):
        stored(1, format="torch", _use_new_zipfile_serialization=False)
    assert libdl.load(stored(1, _use_new_zipfile_serialization=False)) == 1  # own files are no zip


def test_what_weights_only_does_not_load_is_pickled():
    """1 << 5000 is too long for PyTorch's unpickler, and views of two dtypes share no typed
    storage."""
    x = libdl.arange(4.0)
    for value in (1 << 5000, {frozenset(): 1}, [x, x.view(libdl.int32)], frozenset()):
        found = libdl.load(stored(value, format="torch"), weights_only=False)
        same(found, value)
    assert found == frozenset()
    found = libdl.load(stored([x, x.view(libdl.int32)], format="torch"), weights_only=False)
    found[1][0] = 1 << 30
    assert found[0][0] == 2.0
    endless = []
    endless.append((endless,))
    loop = libdl.load(stored(endless, format="torch"))
    assert loop[0][0] is loop


def test_a_buffer_is_a_tensor_to_pytorch():
    found = libdl.load(stored([libdl.nn.Buffer(libdl.ones(2))], format="torch"))[0]
    assert type(found) is libdl.Tensor and found.tolist() == [1, 1] and not vars(found)


def test_a_failed_save_leaves_the_file_before(tmp_path):
    path = tmp_path / "x.pt"
    libdl.save({"a": 1}, path, format="torch")
    os.chmod(path, 0o640)
    with pytest.raises((AttributeError, pickle.PicklingError), match="Can't pickle"):
        libdl.save({"a": lambda: 1}, path, format="torch")
    assert libdl.load(path) == {"a": 1} and os.listdir(tmp_path) == ["x.pt"]
    libdl.save({"a": 2}, path, format="torch")
    assert libdl.load(path) == {"a": 2} and path.stat().st_mode & 0o777 == 0o640
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        libdl.save(1, tmp_path / "pipe", format="torch")


def test_files_are_read_from_their_position_on_and_left_open(tmp_path):
    with open(tmp_path / "x", "w+b") as file:
        file.write(b"before")
        libdl.save({"a": libdl.ones(2)}, file, format="torch")
        file.seek(6)
        assert libdl.load(file)["a"].tolist() == [1, 1]
        assert not file.closed
    with pytest.raises(ValueError, match="mmap=True wants f to be a path"):
        libdl.load(io.BytesIO(), mmap=True)
    with pytest.raises(TypeError, match="f is a int, wanted a path or a file"):
        libdl.load(3)
    with pytest.raises(TypeError, match="open as text"), open(tmp_path / "x") as text:
        libdl.load(text)
    with pytest.raises(FileNotFoundError):
        libdl.load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        libdl.load(tmp_path)


def test_what_cannot_be_rewound_is_read_whole():
    class Stream(io.RawIOBase):
        def __init__(self, data):
            self._rest = io.BytesIO(data)

        def readable(self):
            return True

        def readinto(self, into):
            return self._rest.readinto(into)

    for format in ("safetensors", "torch"):
        found = libdl.load(Stream(stored({"a": libdl.ones(2)}, format=format).getvalue()))
        assert found["a"].tolist() == [1, 1]
