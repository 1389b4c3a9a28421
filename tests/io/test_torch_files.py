# SPDX-License-Identifier: Apache-2.0
"""PyTorch's checkpoints. The files in torch_files are PyTorch's own (torch_programs.py wrote them);
tests/oracle/exchange.py has PyTorch read what libdl writes."""

import io
import os
import pickle
import random
import struct
import sys
import tracemalloc
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import libdl
import pytest
from libdl import serialization
from libdl.serialization._archive import Writer

sys.path.append(str(Path(__file__).parent))
import mutations  # noqa: E402
from torch_programs import DTYPES, FOLDER, PROGRAMS, anything  # noqa: E402


STEP = 1 if os.environ.get("LIBDL_WHOLE") else 7  # of the flipped bits


def same(found, wanted, at="the object", geometry=True):
    """Types, order, geometry and every bit."""
    assert type(found) is type(wanted), at
    if isinstance(wanted, libdl.Tensor):
        for name in ("dtype", "shape", "layout"):
            assert getattr(found, name) == getattr(wanted, name), at
        assert found.requires_grad == wanted.requires_grad, at
        assert found.__dict__ == wanted.__dict__, at
        # Here a conjugate is a copy.
        if geometry and not wanted.is_sparse and "conjugate" not in at:
            assert found.storage_offset() == wanted.storage_offset(), at
            assert found.stride() == wanted.stride(), at
        left, right = (
            x.detach().to_dense().contiguous().view(-1).view(libdl.uint8) for x in (found, wanted)
        )
        assert libdl.equal(left, right), at
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted), at
        for key in wanted:
            same(found[key], wanted[key], f"{at}[{key!r}]", geometry)
        assert getattr(found, "_metadata", None) == getattr(wanted, "_metadata", None)
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted), at
        for i, (x, y) in enumerate(zip(found, wanted, strict=True)):
            same(x, y, f"{at}[{i}]", geometry)
    elif isinstance(wanted, float):
        assert struct.pack("d", found) == struct.pack("d", wanted), at
    else:
        assert found == wanted, at


def stored(value, **options):
    out = io.BytesIO()
    libdl.save(value, out, **options)
    out.seek(0)
    return out


def pickled(body, **records):
    """A sound archive around a pickle of protocol 2, with storages under their keys."""
    wanted = {"data.pkl": b"\x80\2" + body + b".", "byteorder": b"little", "version": b"3\n"}
    return io.BytesIO(mutations.packed(wanted | records))


def refused(file, *words):
    if isinstance(file, io.BytesIO):
        file.seek(0)
    with pytest.raises(libdl.Error) as caught:
        libdl.load(file)
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)


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


class _Torch(pickle.Pickler):
    """Any protocol, with Python's own pickler."""

    def persistent_id(self, value):
        return value[1] if isinstance(value, tuple) and value[:1] == ("pid",) else None


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_python_pickles_of_plain_values_load(protocol):
    wanted = {
        "a": [1, -1, 300, 1 << 40, -(1 << 90)], "b": (b"x" * 300, b"", "é" * 300), "c": 1.5,
        "d": {1, 2}, "e": frozenset({"x"}), "f": OrderedDict(a=1), "g": [None, True, (), {}, []],
        "h": Counter("aa"), "i": 1 + 2j, "j": bytearray(b"ab"), "k": list(range(2000)),
    }  # fmt: skip
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


# -- what is refused, and how ----------------------------------------------------------------------


def test_other_formats_are_refused_by_name(tmp_path):
    refused(FOLDER / "legacy.pt", "before 1.6", "load it in PyTorch and save it again")
    refused(FOLDER / "script.pt", "TorchScript archive", "state_dict()")
    refused(io.BytesIO(pickle.dumps({"a": 1}, 4)), "a bare pickle")
    refused(io.BytesIO(b"\0" * 257 + b"ustar" + b"\0" * 250), "tar archive")
    refused(pickled(b"N", byteorder=b"big"), "big-endian")
    refused(pickled(b"N", byteorder=b"middle"), "byte order")
    refused(pickled(b"N", version=b"11\n"), "version is b'11'")
    refused(pickled(b"N", version=b""), "version is b''")
    refused(io.BytesIO(mutations.packed({"a": b""})), "no data.pkl")
    refused(io.BytesIO(b""), "0 bytes")


EVIL = {
    "os.system": b"cos\nsystem\nX\4\0\0\0true\x85R",
    "posix.system": b"cposix\nsystem\nX\4\0\0\0true\x85R",
    "builtins.eval": b"c__builtin__\neval\nX\4\0\0\0exit\x85R",
    "builtins.getattr": b"cbuiltins\ngetattr\nN\x85R",
    "torch.load": b"ctorch\nload\nX\1\0\0\0x\x85R",
    "torch.hub": b"ctorch\nhub\n)R",
    "torch.serialization.load": b"ctorch.serialization\nload\n)R",
    "collections.OrderedDict.fromkeys": b"ccollections\nOrderedDict.fromkeys\n]\x85R",
    "argparse.Namespace": b"cargparse\nNamespace\n)\x81}b",
}


@pytest.mark.parametrize("name", EVIL)
def test_other_names_are_refused_and_nothing_runs(name, monkeypatch):
    ran = []
    monkeypatch.setattr(os, "system", ran.append)
    refused(pickled(EVIL[name]), name, "at byte 2 of data.pkl")
    assert not ran
    assert serialization.get_unsafe_globals_in_checkpoint(pickled(EVIL[name])) == [name]


MALFORMED = {
    "nothing": b"", "two values": b"NN", "no mark": b"t", "an open mark": b"(N",
    "an empty stack": b"\x85", "below the mark": b"N(\x85", "no such memo": b"h\7",
    "an opcode of code": b"ios\nsystem\n", "an instance": b"(o", "a persistent id in text": b"P0\n",
    "a long name": b"ccollections", "text beyond the end": b"X\xff\xff\xff\xff",
    "bad UTF-8": b"X\1\0\0\0\xff", "a call of a value": b"NNR", "a call without a tuple": b"h\0R",
    "a call of a list": b"]N\x85R", "items for a number": b"K\1NNs", "a key alone": b"}(Nu",
    "a list as a key": b"}]Ns", "a tensor's odd key": b"}}\x85Ns", "elements for a dict": b"}Na",
    "a state for a list": b"]Nb", "a bare name": b"ccollections\nOrderedDict\n",
    "a name in a list": b"]ccollections\nOrderedDict\na",
    "an attribute that hides a method": b"ccollections\nOrderedDict\n)R}X\5\0\0\0itemsNsb",
    "an attribute that is no string": b"ccollections\nOrderedDict\n)R}K\1Nsb",
    "a size as bytearray": b"cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R",
    "bytes in zip": b"c_codecs\nencode\nX\1\0\0\0aX\3\0\0\0zip\x86R",
    "a negative size": b"ctorch\nSize\nJ\xff\xff\xff\xff\x85\x85R",
    "a device of no kind": b"ctorch\ndevice\nX\1\0\0\0x\x85R",
    "a persistent id": b"NQ", "a short persistent id": b"X\7\0\0\0storage\x85Q",
    "protocol 5": b"\x80\5N", "a buffer": b"\x97", "an extension": b"\x82\1",
    "deep marks": b"(" * 1001, "a tensor over a list": b"ctorch._utils\n_rebuild_tensor\n(]K\0))tR",
    "deep lists": b"]" * 1500 + b"a" * 1499, "a set of lists": b"c__builtin__\nset\n]]a\x85R",
    "a big key": b"}\x8a\x09" + b"\1" * 9 + b"Ns",
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_pickles_are_refused_at_their_byte(name):
    assert "of data.pkl" in refused(pickled(MALFORMED[name]))


def storage(kind=b"torch\nFloatStorage", key=b"0", place=b"cpu", count=4):
    text = b"".join(b"X" + struct.pack("<I", len(t)) + t for t in (key, place))
    return b"(X\7\0\0\0storagec" + kind + b"\n" + text + b"K" + bytes([count]) + b"tQ"


def tensor(*, offset=b"K\0", size=b"K\4\x85", stride=b"K\1\x85", grad=b"\x89", hooks=b"N",
           of=None, more=b"", function=b"_rebuild_tensor_v2"):  # fmt: skip
    of = storage() if of is None else of
    return (b"ctorch._utils\n" + function + b"\n(" + of + offset + size + stride + grad + hooks
            + more + b"tR")  # fmt: skip


DATA = {"data/0": struct.pack("<4f", 1, 2, 3, 4)}
TENSORS = {
    "more bytes than there are": tensor(of=storage(count=5)),
    "fewer bytes than there are": tensor(of=storage(count=3)),
    "a storage that is not there": tensor(of=storage(key=b"1")),
    "a path": tensor(of=storage(key=b"../data.pkl")),
    "a device that nobody knows": tensor(of=storage(place=b"moon")),
    "a storage of no kind": tensor(of=storage(kind=b"collections\nOrderedDict")),
    "more elements than the storage": tensor(size=b"K\5\x85"),
    "an offset beyond the storage": tensor(offset=b"K\1"),
    "a negative offset": tensor(offset=b"J\xff\xff\xff\xff"),
    "a negative stride": tensor(stride=b"J\xff\xff\xff\xff\x85"),
    "a huge stride": tensor(stride=b"\x8a\x08" + b"\xff" * 7 + b"\x7f\x85"),
    "a stride beyond 64 bits": tensor(stride=b"\x8a\x09" + b"\1" * 9 + b"\x85"),
    "sizes that overflow": tensor(size=b"\x8a\x05" + b"\1" * 5 + b"2\x86"[1:] + b"\x85"),
    "as many sizes as strides": tensor(stride=b")"),
    "65 dimensions": tensor(size=b"(" + b"K\1" * 65 + b"t", stride=b"(" + b"K\1" * 65 + b"t"),
    "a truth value as size": tensor(size=b"\x88\x85"),
    "hooks": tensor(hooks=b"]Na"),
    "an unknown mark": tensor(more=b"}X\5\0\0\0ghost\x88s"),
    "a gradient of integers": tensor(of=storage(kind=b"torch\nIntStorage"), grad=b"\x88"),
    "a conjugate larger than the file": tensor(
        size=b"J\0\0\0\x7f\x85", stride=b"K\0\x85", more=b"}X\4\0\0\0conj\x88s"),
    "truth values over bytes": tensor(
        of=storage(kind=b"torch.storage\nUntypedStorage", count=16), more=b"ctorch\nbool\n",
        function=b"_rebuild_tensor_v3"),
    "a dtype that is none": tensor(more=b"N", function=b"_rebuild_tensor_v3"),
    "a Parameter of a list": b"ctorch._utils\n_rebuild_parameter\n]\x88N\x87R",
}  # fmt: skip


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_that_do_not_fit_their_storage_are_refused(name):
    assert "of data.pkl" in refused(pickled(TENSORS[name], **DATA))


def test_the_tensor_that_those_are_made_from_loads():
    assert libdl.load(pickled(tensor(), **DATA)).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "complex32", "quint8", "bits8", "Generator"])
def test_what_libdl_lacks_is_named(dtype):
    refused(pickled(f"ctorch\n{dtype}\n".encode()), f"torch.{dtype}")


def test_kinds_of_tensors_that_libdl_lacks_are_named():
    for function, word in {"_rebuild_qtensor": "quantized", "_rebuild_nested_tensor": "nested",
                           "_rebuild_meta_tensor_no_storage": "meta"}.items():  # fmt: skip
        refused(pickled(f"ctorch._utils\n{function}\n".encode()), word)


def test_bytes_of_truth_values_become_zero_or_one():
    body = tensor(of=storage(kind=b"torch\nBoolStorage"))
    found = libdl.load(pickled(body, **{"data/0": b"\0\1\2\xff"}))
    assert found.view(libdl.uint8).tolist() == [0, 1, 1, 1]
    both = storage(kind=b"torch\nByteStorage") + b"0" + body
    refused(pickled(both, **{"data/0": b"\0\1\2\xff"}), "truth values and other elements")


def test_weights_only_false_and_other_unpicklers_do_not_run_code_either():
    with pytest.raises(libdl.Error, match=r"os\.system.*never runs code"):
        libdl.load(pickled(EVIL["os.system"]), weights_only=False)
    with pytest.raises(RuntimeError, match="never lets a file run code"):
        libdl.load(FOLDER / "views.pt", pickle_module=pickle)
    same(libdl.load(FOLDER / "views.pt", weights_only=False), PROGRAMS["views"](libdl))


def test_names_that_the_program_vouches_for_become_records_and_do_not_run():
    import argparse

    body = b"cargparse\nNamespace\n)\x81}X\2\0\0\0lrG?\xe0\0\0\0\0\0\0sb"
    with serialization.safe_globals([argparse.Namespace]):
        assert serialization.get_safe_globals() == [argparse.Namespace]
        assert serialization.get_unsafe_globals_in_checkpoint(pickled(body)) == []
        found = libdl.load(pickled(body))
    assert serialization.get_safe_globals() == []
    assert type(found) is serialization.Unbuilt and found.lr == 0.5 and found.state == {"lr": 0.5}
    assert repr(found) == "<argparse.Namespace, unbuilt>"
    with pytest.raises(AttributeError, match=r"argparse\.Namespace, unbuilt, has no attribute"):
        found.rate  # noqa: B018
    serialization.add_safe_globals(["os.system", (print, "posix.system")])
    try:
        found = libdl.load(pickled(EVIL["os.system"]))
        assert (found.name, found.arguments) == ("os.system", ("true",))
        assert libdl.load(pickled(EVIL["posix.system"])).name == "posix.system"
    finally:
        serialization.clear_safe_globals()
    refused(pickled(body), "argparse.Namespace")


# -- the container ---------------------------------------------------------------------------------


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


# -- damage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["views", "parameters", "training"])
def test_every_truncation_is_refused(name):
    data = (FOLDER / f"{name}.pt").read_bytes()
    for size in range(len(data)):
        assert mutations.attempt(data[:size]) != "loaded", size


@pytest.mark.parametrize("checksums", [True, False])
def test_every_flipped_bit_gives_an_object_or_an_error(checksums):
    data = (FOLDER / "parameters.pt").read_bytes()
    data = data if checksums else mutations.without_checksums(data)
    outcomes = Counter()
    for place in range(0, 8 * len(data), STEP):
        made = bytearray(data)
        made[place // 8] ^= 1 << place % 8
        outcomes[mutations.attempt(bytes(made))] += 1
    assert outcomes["loaded"] and outcomes["FormatError"] > outcomes["loaded"]


def test_a_flipped_bit_that_loads_changes_nothing_where_checksums_are():
    data, wanted = (FOLDER / "parameters.pt").read_bytes(), PROGRAMS["parameters"](libdl)
    for at in range(0, len(data), 3):
        made = bytearray(data)
        made[at] ^= 1 << at % 8
        try:
            found = libdl.load(io.BytesIO(made))
        except libdl.Error:
            continue
        same(found, wanted)


def test_a_sample_of_mutations():
    found = mutations.run(2000, seed=7)
    assert found["loaded"] > 50 and found["FormatError"] > 1000


# -- amplification ---------------------------------------------------------------------------------

TIMES = 400  # bytes of memory for one byte of a pickle, at most; an empty set takes 216
EMPTY = b"ccollections\nOrderedDict\nq\0"
GREEDY = {
    "dicts": b"(" + b"}" * 20000 + b"t", "sets": b"(" + b"\x8f" * 20000 + b"t",
    "ordered dicts": EMPTY + b"0(" + b"h\0)R" * 5000 + b"t",
    "bytes": b"c_codecs\nencode\nq\0X\x10\x27\0\0" + b"a" * 10000 + b"q\1(h\1t0"
             + b"(" + b"h\0h\1\x85R" * 4000 + b"t",
    "octets": b"cbuiltins\nbytearray\nq\0B\x10\x27\0\0" + b"a" * 10000 + b"\x85q\1("
              + b"h\0h\1R" * 4000 + b"t",
    "sets of lists": b"cbuiltins\nset\nq\0](" + b"K\1" * 5000 + b"e\x85q\1(" + b"h\0h\1R" * 4000
                     + b"t",
}  # fmt: skip


@pytest.mark.parametrize("name", GREEDY)
def test_memory_is_a_bounded_multiple_of_the_pickle(name):
    file = pickled(GREEDY[name])
    size = len(file.getvalue())
    tracemalloc.start()
    try:
        mutations.attempt(file.getvalue())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < TIMES * size


def test_shared_tuples_are_neither_hashed_nor_printed():
    """Each has two of the one before: 2^60 leaves from a few hundred bytes, never walked."""
    laughs = b")q\0" + b"0h\0h\0\x86q\0" * 60
    for body in (b"}" + laughs + b"Ns", b"ctorch\nSize\n" + laughs + b"\x85R",
                 b"c__builtin__\nset\n]" + laughs + b"a\x85R",
                 b"c_codecs\nencode\nX\1\0\0\0a" + laughs + b"\x86R",
                 b"cnumpy\ndtype\n" + laughs + b"\x85R", b"ctorch\ndevice\n" + laughs + b"\x85R",
                 tensor(size=laughs), tensor(more=laughs), laughs + b"Q"):  # fmt: skip
        refused(pickled(body, **DATA))
    assert isinstance(libdl.load(pickled(b")q\0" + b"0h\0h\0\x86q\0" * 60)), tuple)


# -- writing ---------------------------------------------------------------------------------------


def test_names_of_dtypes_cover_all():
    assert {name for name in DTYPES} == {
        x.name for x in vars(libdl).values() if isinstance(x, libdl.dtype)
    }


def test_what_has_no_meaning_in_pytorchs_format_is_refused_with_its_place():
    class Strange:
        pass

    with pytest.raises(TypeError, match=r"save: \['a'\]\[1\] is a .*Strange; a checkpoint holds"):
        stored({"a": [1, Strange()]}, format="torch")
    with pytest.raises(TypeError, match=r"is a Linear; .*state_dict\(\)"):
        stored(libdl.nn.Linear(1, 1), format="torch")
    with pytest.raises(TypeError, match="more than 255 bytes"):
        stored(1 << 5000, format="torch")
    with pytest.raises(TypeError, match="has the key"):
        stored({frozenset(): 1}, format="torch")
    x = libdl.zeros(4)
    with pytest.raises(TypeError, match="shares its memory with a tensor of another"):
        stored([x, x.view(libdl.int32)], format="torch")
    endless = []
    endless.append((endless,))
    with pytest.raises(TypeError, match="frozenset"):
        stored(frozenset(), format="torch")
    loop = libdl.load(stored(endless, format="torch"))
    assert loop[0][0] is loop
    with pytest.raises(ValueError, match="format is 'pickle', wanted 'safetensors' or 'torch'"):
        stored(1, format="pickle")
    for options in ({"pickle_protocol": 4}, {"_use_new_zipfile_serialization": False}):
        with pytest.raises(NotImplementedError, match="wanted pickle_protocol=2 and the zip"):
            stored(1, format="torch", **options)


def test_a_failed_save_leaves_the_file_before(tmp_path):
    path = tmp_path / "x.pt"
    libdl.save({"a": 1}, path, format="torch")
    os.chmod(path, 0o640)
    with pytest.raises(TypeError):
        libdl.save({"a": object()}, path, format="torch")
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
    with pytest.raises(FileNotFoundError):
        libdl.load(tmp_path / "nowhere")
