# SPDX-License-Identifier: Apache-2.0
"""libdl's own files: what comes back is what was saved, of the same types, with the same memory;
one flipped bit is an error; files of earlier versions load."""

import collections
import enum
import io
import json
import struct
import sys
import tracemalloc
from collections import Counter, OrderedDict, defaultdict, namedtuple
from pathlib import Path

import libdl
import pytest

sys.path.append(str(Path(__file__).parent))
import mutations  # noqa: E402
from made import refused, same, stored  # noqa: E402
from torch_programs import PROGRAMS  # noqa: E402

OLD = Path(__file__).parent / "own_files"  # as libdl wrote them before it had checksums
Pair = namedtuple("Pair", "left right")


class Colour(enum.IntEnum):
    RED = 1


class Marked(libdl.Tensor):
    pass


class Names(dict):
    pass


class Strings(str):
    pass


class Cache(OrderedDict):
    pass


def own(value):
    return libdl.load(stored(value, format="safetensors"))


# -- files of before -------------------------------------------------------------------------------


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(
    "name", ["dtypes", "views", "parameters", "state_dict", "training", "plain"]
)
def test_files_of_earlier_versions_load(name, mmap):
    wanted = PROGRAMS[name](libdl)
    if name == "parameters":  # whose attributes they did not hold
        del wanted["p"].rank, wanted["tagged"].note
    same(libdl.load(OLD / f"{name}.safetensors", mmap=mmap), wanted, geometry=False)


def test_numpys_values_in_files_of_earlier_versions_load():
    numpy = pytest.importorskip("numpy")
    found = libdl.load(OLD / "numpy.safetensors")
    array = numpy.arange(6, dtype=numpy.int16).reshape(2, 3)
    assert found["best"] == 0.1 and type(found["best"]) is numpy.float64
    for x, y in (
        (found["array"], array),
        (found["transposed"], array.T),
        (found["again"][1], array),
    ):
        assert (x == y).all() and x.dtype == y.dtype
    assert found["empty"].shape == (0, 2) and found["sets"] == frozenset({1, 2})


# -- checksums -------------------------------------------------------------------------------------


def several():
    return {"w": libdl.arange(5.0), "b": libdl.tensor([True, False]), "n": 3, "name": "é"}


def test_every_flipped_bit_is_an_error(tmp_path):
    data = stored(several(), format="safetensors").getvalue()
    path = tmp_path / "x"
    for place in range(8 * len(data)):
        made = bytearray(data)
        made[place // 8] ^= 1 << place % 8
        with pytest.raises(libdl.Error):
            libdl.load(io.BytesIO(made))
        if place % 97 == 0:
            path.write_bytes(made)
            with pytest.raises(libdl.Error, match="file_|load"):
                libdl.load(path)


def test_flipped_bits_in_random_places_of_larger_files_are_errors():
    generator = libdl.Generator().manual_seed(5)
    for name in ("dtypes", "views", "training", "plain"):
        data = mutations.own(name)
        for place in libdl.randint(8 * len(data), (150,), generator=generator).tolist():
            made = bytearray(data)
            made[place // 8] ^= 1 << place % 8
            with pytest.raises(libdl.Error):
                libdl.load(io.BytesIO(made))


def test_the_error_tells_what_is_damaged():
    data = bytearray(stored(several(), format="safetensors").getvalue())
    changed = data.copy()
    changed[data.index(struct.pack("<f", 3.0))] ^= 1
    refused(io.BytesIO(changed), 'bytes of tensor "w"', "CRC-32 differs")
    changed = data.replace(b'"n', b'"m', 1)
    refused(io.BytesIO(changed), "the header is not the one that was written", "CRC-32 differs")
    changed = data.replace(b'"libdl.crc32"', b'"libdl.crc33"')
    refused(io.BytesIO(changed), "the checksums in the metadata are damaged")


def test_a_mapped_file_is_not_read_so_that_only_its_header_is_compared(tmp_path):
    data = stored(several(), format="safetensors").getvalue()
    at = data.index(struct.pack("<f", 3.0))
    path = tmp_path / "x"
    path.write_bytes(data[:at] + b"\1" + data[at + 1 :])
    assert libdl.load(path, mmap=True)["n"] == 3
    path.write_bytes(data.replace(b'"n', b'"m', 1))
    with pytest.raises(libdl.Error, match="CRC-32 differs"):
        libdl.load(path, mmap=True)


def test_other_programs_read_files_with_checksums():
    package = pytest.importorskip("safetensors")
    state = PROGRAMS["state_dict"](libdl)
    found = dict(package.deserialize(stored(state, format="safetensors").getvalue()))
    assert sorted(found) == sorted(state)
    assert bytes(found["0.weight"]["data"]) == state["0.weight"].numpy().tobytes()


# -- types -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        defaultdict(list, a=[1]),
        defaultdict(None, {1: 2}),
        defaultdict(int),
        Counter("aab"),
        OrderedDict(b=1),
        {True: 1},
        {1.5: 2, b"x": 3, None: 4},
        (1, [2]),
        frozenset((1,)),
        2.0,
        True,
        bytearray(b"ab"),
        libdl.Size([1, 2]),
        {"s": {1, (2, "x")}},
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_come_back_with_their_types(value):
    found = own([value])[0]
    assert found == value and type(found) is type(value)
    if isinstance(value, defaultdict):
        assert found.default_factory is value.default_factory


def test_keys_that_no_entry_may_have_as_its_name_come_back():
    x = libdl.arange(2.0)
    value = {
        "a\0b": x,
        "\ud800": x + 1,
        "__metadata__": x + 2,
        "": x + 3,
        "tensor": x + 4,
        "é": x + 5,
    }
    found = own(value)
    assert list(found) == list(value)
    for key in value:
        assert libdl.equal(found[key], value[key]), repr(key)


def test_what_exceeds_a_headers_limit_goes_into_pytorchs_format():
    value = {"blob": bytes(60_000_000), "x": libdl.ones(2)}
    with pytest.raises(OverflowError, match="the header would exceed 100 MB"):
        stored(value, format="safetensors")
    found = libdl.load(stored(value))
    assert found["blob"] == value["blob"] and found["x"].tolist() == [1, 1]


def test_a_packed_sequence_comes_back():
    packed = libdl.nn.utils.rnn.pack_sequence([libdl.ones(2, 1), libdl.zeros(3, 1)], False)
    found = own({"p": packed})["p"]
    assert type(found) is type(packed)
    for x, y in zip(found, packed, strict=True):
        assert libdl.equal(x, y)


STRANGE = {
    "a namedtuple": Pair(1, 2),
    "an IntEnum": Colour.RED,
    "a dict's subclass": Names(a=1),
    "a string's subclass": Strings("a"),
    "an OrderedDict's subclass": Cache(a=1),
    "a deque": collections.deque([1]),
    "a tensor's subclass": libdl.ones(2).as_subclass(Marked),
    "a result": libdl.ones(2, 2).max(0),
    "a factory of code": defaultdict(lambda: 1),
    "a key of its own kind": {Colour.RED: 1},
    "a string as key": {Strings("a"): 1},
    "an enum in a set": {Colour.RED},
    "a range": range(3),
    "a slice": slice(2),
    "a class": Names,
    "a function": json.dumps,
    "a tuple inside itself": None,
    "a NumPy string": None,
}
_loop = []
STRANGE["a tuple inside itself"] = (_loop,)
_loop.append(STRANGE["a tuple inside itself"])


@pytest.mark.parametrize("name", STRANGE)
def test_what_would_come_back_as_something_else_is_refused(name):
    value = STRANGE[name]
    if name == "a NumPy string":
        value = pytest.importorskip("numpy").str_("a")
    with pytest.raises(TypeError, match="save: "):
        stored({"a": [value]}, format="safetensors")


def test_attributes_and_buffers_come_back():
    p = libdl.nn.Parameter(libdl.ones(2))
    p.rank, state = 3, OrderedDict(a=libdl.nn.Buffer(libdl.ones(1), persistent=False))
    state.note = "of a dict"
    found = own([p, state])
    assert found[0].rank == 3 and type(found[0]) is libdl.nn.Parameter
    assert found[1].note == "of a dict"
    assert isinstance(found[1]["a"], libdl.nn.Buffer) and found[1]["a"].persistent is False


# -- the same object, the same memory --------------------------------------------------------------


def test_an_object_that_stands_twice_is_one_again():
    p, shared = libdl.nn.Parameter(libdl.ones(2)), [1]
    found = own({"a": p, "b": p, "c": shared, "d": (shared, (shared,)), "e": {"x": shared}})
    assert found["a"] is found["b"]
    assert found["c"] is found["d"][0] is found["d"][1][0] is found["e"]["x"]


def test_a_list_and_a_dict_may_hold_themselves():
    rows, table = [1], {}
    rows.append((rows,))
    table["self"] = [table]
    found = own([rows, table])
    assert found[0][1][0] is found[0] and found[1]["self"][0] is found[1]


BASE = {
    "rows": lambda x: [x, x[0], x[1:]],
    "columns": lambda x: [x, x[:, 1], x.t()],
    "a step": lambda x: [x[:, ::2], x],
    "parts": lambda x: [x[:2], x[1:]],
    "columns alone": lambda x: [x[:, :2], x[:, 1:]],
    "bytes": lambda x: [x, x.view(libdl.int32)],
    "wider": lambda x: [x.view(-1)[:3], x.view(-1)[:2].view(libdl.float64)],
    "expanded": lambda x: [x, x[0, 0].expand(5)],
    "parameters": lambda x: [libdl.nn.Parameter(x), libdl.nn.Parameter(x[0])],
    "detached": lambda x: [x, x.detach()],
    "truth": lambda x: [x > 1, (y := x > 2), y[0]],
    "complex": lambda x: [z := libdl.complex(x, x).to(libdl.complex128), z[1], z.t()],
    "mixed": lambda x: [x.view(-1)[1:3], x.view(-1)[2:].view(libdl.uint8)],
}


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", BASE)
def test_views_share_memory_as_they_did(name, mmap, tmp_path):
    def written(tensors):
        """What each write of one tensor changes in the others."""
        seen = []
        for x in tensors:
            flat = x.detach()
            flat[(0,) * flat.ndim] = 0 if flat.dtype is libdl.bool else 33
            seen.append([y.detach().tolist() for y in tensors])
        return seen

    tensors = BASE[name](libdl.arange(12.0).reshape(3, 4) + 0.5)
    path = tmp_path / "x"
    libdl.save(tensors, path, format="safetensors")
    found = libdl.load(path, mmap=mmap)
    for x, y in zip(found, tensors, strict=True):
        assert (type(x), x.dtype, x.shape) == (type(y), y.dtype, y.shape)
        assert libdl.equal(x, y) and x.requires_grad == y.requires_grad
    assert written(found) == written(tensors)


def test_what_does_not_overlap_is_stored_once():
    x = libdl.arange(1000.0)
    size = len(stored([x[:500], x[500:]], format="safetensors").getvalue())
    assert size < 5000
    assert own([x[:500], x[500:]])[1][0] == 500


# -- bounds ----------------------------------------------------------------------------------------


def with_structure(structure, tensors=1000):
    """A file without checksums: that structure, and one tensor x of so many numbers."""
    header = {
        "__metadata__": {"libdl": structure},
        "x": {"dtype": "F32", "shape": [tensors], "data_offsets": [0, 4 * tensors]},
    }
    return io.BytesIO(mutations.joined(header, bytes(4 * tensors)))


ARRAY = '{"array":{"tensor":"x","requires_grad":false}}'
GREEDY = {
    "arrays": "[" + ",".join([ARRAY] * 20000) + "]",
    "wide arrays": '[{"array":{"tensor":"x","memory":["x",0,[1000000000,1000],[0,1],"float32"]}}]',
    "arrays of one": '[{"id":1,' + ARRAY[1:] + "]",
    "dicts": "[" + ",".join(['{"dict":[]}'] * 20000) + "]",
    "tensors": "[" + ",".join(['{"tensor":"x"}'] * 5000) + "]",
    "parameters": "[" + ",".join(['{"tensor":"x","parameter":true}'] * 5000) + "]",
    "views": "["
    + ",".join(['{"tensor":"x","memory":["x",0,[9,1000],[0,1],"float32"]}'] * 5000)
    + "]",
    "sets": "[" + ",".join(['{"set":[]}'] * 20000) + "]",
    "sizes": "[" + ",".join(['{"size":[]}'] * 20000) + "]",
    "again": '[{"list":[],"id":1},' + ",".join(['{"again":1}'] * 20000) + "]",
}


@pytest.mark.parametrize("name", GREEDY)
def test_memory_is_a_bounded_multiple_of_the_file(name):
    file = with_structure('{"list":' + GREEDY[name] + "}")
    size = len(file.getvalue())
    tracemalloc.start()
    try:
        outcome = mutations.attempt(file.getvalue())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * size
    assert outcome == ("FormatError" if "arrays" in name else "loaded")


MALFORMED = {
    "a view beyond its bytes": '{"tensor":"x","memory":["x",0,[1001],[1],"float32"]}',
    "a view before its bytes": '{"tensor":"x","memory":["x",-4,[1],[1],"float32"]}',
    "a view inside an element": '{"tensor":"x","memory":["x",2,[1],[1],"float32"]}',
    "a view with a negative stride": '{"tensor":"x","memory":["x",8,[2],[-1],"float32"]}',
    "truth values over numbers": '{"tensor":"x","memory":["x",0,[1],[1],"bool"]}',
    "a view of no entry": '{"tensor":"x","memory":["y",0,[1],[1],"float32"]}',
    "a view of no dtype": '{"tensor":"x","memory":["x",0,[1],[1],"quint8"]}',
    "a view of too little": '{"tensor":"x","memory":["x"]}',
    "again of nothing": '{"again":1}',
    "again of a list": '{"again":[]}',
    "a tuple inside itself": '{"tuple":[{"again":1}],"id":1}',
    "a factory of code": '{"dict":[],"default":"exec"}',
    "an attribute that hides a method": (
        '{"tensor":"x","attributes":{"dict":[["sum",{"value":1}]]}}'
    ),
    "attributes that are no dict": '{"tensor":"x","attributes":{"list":[]}}',
    "a packed sequence of numbers": '{"packed":[{"value":1},{"value":1}]}',
    "a packed sequence of one": '{"packed":[{"tensor":"x"}]}',
    "a packed sequence whose order has to be computed": '{"packed":[{"tensor":"x"},{"tensor":"x"},'
    '{"tensor":"x","memory":["x",0,[1000000000000],[0],"int64"]},{"value":null}]}',
    "a key that is a list": '{"dict":[[{"list":[]},{"value":1}]]}',
    "a kind that nobody knows": '{"pickle":"cos\\\\nsystem\\\\n"}',
    "depth": '{"list":[' * 3000 + "]}" * 3000,
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_structures_are_refused(name):
    refused(with_structure(MALFORMED[name]), "the structure in the file's metadata is malformed")
