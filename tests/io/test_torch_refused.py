# SPDX-License-Identifier: Apache-2.0
"""What load refuses of PyTorch's checkpoints: other formats, names, malformed pickles and tensors
that do not fit. Nothing in a file runs."""

import io
import os
import pickle
import sys
from pathlib import Path

import libdl
import pytest
from libdl import serialization

sys.path.append(str(Path(__file__).parent))
import mutations  # noqa: E402
from made import DATA, pickled, refused, same, storage, tensor  # noqa: E402
from torch_programs import FOLDER, PROGRAMS  # noqa: E402


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


def test_errors_tell_the_files_name(tmp_path):
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "array.npy", numpy.zeros(3))
    words = refused(tmp_path / "array.npy", "array.npy is not a safetensors file", "(.npy)")
    assert words.count("array.npy") == 1
    for name, data, said in (
        ("bare.pkl", pickle.dumps({"a": 1}, 4), "a bare pickle"),
        ("cut.pt", (FOLDER / "views.pt").read_bytes()[:-9], "cut off"),
        ("text.pt", b"some text that is no file of ours", "is not a safetensors file"),
        ("evil.pt", pickled(EVIL["os.system"]).getvalue(), "os.system"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        assert refused(path, said, str(path)).count(str(path)) == 1
        if name != "text.pt":  # whose bytes alone the core sees
            with open(path, "rb") as file:
                with pytest.raises(libdl.Error, match=rf"\(in {path}\)"):
                    libdl.load(file)


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
    "nothing": b"",
    "two values": b"NN",
    "no mark": b"t",
    "an open mark": b"(N",
    "an empty stack": b"\x85",
    "below the mark": b"N(\x85",
    "no such memo": b"h\7",
    "an opcode of code": b"ios\nsystem\n",
    "an instance": b"(o",
    "a persistent id in text": b"P0\n",
    "a long name": b"ccollections",
    "text beyond the end": b"X\xff\xff\xff\xff",
    "bad UTF-8": b"X\1\0\0\0\xff",
    "a call of a value": b"NNR",
    "a call without a tuple": b"h\0R",
    "a call of a list": b"]N\x85R",
    "items for a number": b"K\1NNs",
    "a key alone": b"}(Nu",
    "a list as a key": b"}]Ns",
    "a tensor's odd key": b"}}\x85Ns",
    "elements for a dict": b"}Na",
    "a state for a list": b"]Nb",
    "a bare name": b"ccollections\nOrderedDict\n",
    "a name in a list": b"]ccollections\nOrderedDict\na",
    "an attribute that hides a method": b"ccollections\nOrderedDict\n)R}X\5\0\0\0itemsNsb",
    "an attribute that is no string": b"ccollections\nOrderedDict\n)R}K\1Nsb",
    "a size as bytearray": b"cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R",
    "bytes in zip": b"c_codecs\nencode\nX\1\0\0\0aX\3\0\0\0zip\x86R",
    "a negative size": b"ctorch\nSize\nJ\xff\xff\xff\xff\x85\x85R",
    "a device of no kind": b"ctorch\ndevice\nX\1\0\0\0x\x85R",
    "a persistent id": b"NQ",
    "a short persistent id": b"X\7\0\0\0storage\x85Q",
    "protocol 5": b"\x80\5N",
    "a buffer": b"\x97",
    "an extension": b"\x82\1",
    "deep marks": b"(" * 1001,
    "a tensor over a list": b"ctorch._utils\n_rebuild_tensor\n(]K\0))tR",
    "deep lists": b"]" * 1500 + b"a" * 1499,
    "a set of lists": b"c__builtin__\nset\n]]a\x85R",
    "a big key": b"}\x8a\x09" + b"\1" * 9 + b"Ns",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_pickles_are_refused_at_their_byte(name):
    assert "of data.pkl" in refused(pickled(MALFORMED[name]))


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
    "sizes that overflow": tensor(
        size=2 * (b"\x8a\x05" + b"\1" * 5) + b"\x86", stride=b"K\0K\0\x86"
    ),
    "as many sizes as strides": tensor(stride=b")"),
    "65 dimensions": tensor(size=b"(" + b"K\1" * 65 + b"t", stride=b"(" + b"K\1" * 65 + b"t"),
    "a truth value as size": tensor(size=b"\x88\x85"),
    "hooks": tensor(hooks=b"]Na"),
    "an unknown mark": tensor(more=b"}X\5\0\0\0ghost\x88s"),
    "a gradient of integers": tensor(of=storage(kind=b"torch\nIntStorage"), grad=b"\x88"),
    "a conjugate larger than the file": tensor(
        size=b"J\0\0\0\x7f\x85", stride=b"K\0\x85", more=b"}X\4\0\0\0conj\x88s"
    ),
    "truth values over bytes": tensor(
        of=storage(kind=b"torch.storage\nUntypedStorage", count=16),
        more=b"ctorch\nbool\n",
        function=b"_rebuild_tensor_v3",
    ),
    "a dtype that is none": tensor(more=b"N", function=b"_rebuild_tensor_v3"),
    "a Parameter of a list": b"ctorch._utils\n_rebuild_parameter\n]\x88N\x87R",
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_that_do_not_fit_their_storage_are_refused(name):
    assert "of data.pkl" in refused(pickled(TENSORS[name], **DATA))


def test_the_tensor_that_those_are_made_from_loads():
    assert libdl.load(pickled(tensor(), **DATA)).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "complex32", "quint8", "bits8", "Generator"])
def test_what_libdl_lacks_is_named(dtype):
    refused(pickled(f"ctorch\n{dtype}\n".encode()), f"torch.{dtype}")


def test_kinds_of_tensors_that_libdl_lacks_are_named():
    for function, word in {
        "_rebuild_qtensor": "quantized",
        "_rebuild_nested_tensor": "nested",
    }.items():
        refused(pickled(f"ctorch._utils\n{function}\n".encode()), word)


def test_bytes_of_truth_values_become_zero_or_one():
    body = tensor(of=storage(kind=b"torch\nBoolStorage"))
    found = libdl.load(pickled(body, **{"data/0": b"\0\1\2\xff"}))
    assert found.view(libdl.uint8).tolist() == [0, 1, 1, 1]
    both = storage(kind=b"torch\nByteStorage") + b"0" + body
    refused(pickled(both, **{"data/0": b"\0\1\2\xff"}), "truth values and other elements")


def test_other_unpicklers_want_weights_only_false():
    for weights_only in (None, True):
        with pytest.raises(RuntimeError, match="weights_only is not False"):
            libdl.load(FOLDER / "views.pt", pickle_module=pickle, weights_only=weights_only)
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
