# SPDX-License-Identifier: Apache-2.0
"""Copies and pickles of tensors, modules, optimizers and schedules are as PyTorch's: the same
programs, and its answers; and what libdl's own files keep."""

import copy
import io
import pickle
from collections import Counter, OrderedDict

import pytest
from answered import Stored
import safetensors
from wrappers import seen_pickle

import libdl
from libdl import nn

SEEN = Stored(seen_pickle)


@pytest.mark.parametrize("program", seen_pickle.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_pytorch(program):
    SEEN.check(program, libdl)


def through_a_file(value):
    out = io.BytesIO()
    libdl.save(value, out)
    out.seek(0)
    return libdl.load(out)


# -- deepcopy --------------------------------------------------------------------------------------


def test_storages_that_come_and_go_are_not_confused():
    """A storage's number may come back after it was freed, while one deepcopy still runs."""

    class Made:
        def __init__(self, value):
            self.value = value

        def __deepcopy__(self, memo):
            return copy.deepcopy(libdl.full((3,), float(self.value)), memo)

    assert [x.tolist() for x in copy.deepcopy([Made(i) for i in range(50)])] == [
        [i] * 3 for i in range(50)
    ]


def test_a_copy_is_of_the_dtype_of_the_view():
    x = libdl.arange(4, dtype=libdl.int32)
    for pair in ([x, x.view(libdl.int16)], [x.view(libdl.uint8), x]):
        found = copy.deepcopy(pair)
        assert [y.dtype for y in found] == [y.dtype for y in pair]
        assert [y.tolist() for y in found] == [y.tolist() for y in pair]


def test_a_tensor_that_holds_itself_is_copied():
    x = libdl.ones(2)
    x.own = [x]
    found = copy.deepcopy(x)
    assert found.own[0] is found


# -- libdl's own files -----------------------------------------------------------------------------

VALUES = [
    None,
    True,
    0,
    -1,
    1 << 70,
    1.5,
    float("inf"),
    -0.0,
    1 - 2j,
    "é\ud800\0",
    b"\0\xff",
    bytearray(b"a"),
    (),
    [],
    {},
    set(),
    frozenset({1}),
    {1, "1", (2, 3)},
    [(1, [2, (3,)])],
    {1: "c", "1": "b", None: "d", 2.5: "e", (1, "x"): "f", "": {}},
    OrderedDict(b=1, a=2),
    Counter("aab"),
    libdl.Size([1, 2]),
    libdl.device("cpu"),
    libdl.bfloat16,
    libdl.strided,
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_files_keep_plain_values(value):
    found = through_a_file({"x": [value]})["x"][0]
    assert type(found) is type(value) and found == value and repr(found) == repr(value)


def test_files_keep_parameters_versions_and_what_is_one():
    p = nn.Parameter(libdl.ones(2), requires_grad=False)
    state = nn.BatchNorm1d(2).state_dict()
    leaf = libdl.ones(1, requires_grad=True)
    found = through_a_file({"p": p, "again": p, "state": state, "leaf": leaf})
    assert type(found["p"]) is nn.Parameter and not found["p"].requires_grad
    found["p"].data[0] = 5
    assert found["again"][0] == 5
    assert found["state"]._metadata == state._metadata and found["leaf"].requires_grad


def test_other_programs_find_a_tied_parameter_under_both_names(tmp_path):
    x = libdl.ones(2)
    libdl.save({"a": x, "b": x}, tmp_path / "x")
    found = dict(safetensors.deserialize((tmp_path / "x").read_bytes()))
    assert sorted(found) == ["a", "b"] and found["a"]["data"] == found["b"]["data"]


DTYPES = {d.name: d for d in vars(libdl).values() if isinstance(d, libdl.dtype)}


@pytest.mark.parametrize("name", DTYPES)
def test_files_keep_every_dtype(name, tmp_path):
    x = libdl.tensor([[0, 1], [1, 0]]).to(DTYPES[name])
    libdl.save([x, x.t()], tmp_path / "x")
    for mmap in (False, True):
        for found in libdl.load(tmp_path / "x", mmap=mmap):
            assert found.dtype is x.dtype and libdl.equal(found, x)


def test_a_mapped_file_can_be_trained_on_and_stays_as_it_is(tmp_path):
    libdl.save(nn.Linear(3, 2).state_dict(), tmp_path / "x")
    before = (tmp_path / "x").read_bytes()
    net = nn.Linear(3, 2)
    net.load_state_dict(libdl.load(tmp_path / "x", mmap=True), assign=True)
    net(libdl.ones(1, 3)).sum().backward()
    libdl.optim.SGD(net.parameters(), lr=1.0).step()
    assert (tmp_path / "x").read_bytes() == before
    assert not libdl.equal(net.weight, libdl.load(tmp_path / "x")["weight"])


def test_what_files_do_not_hold_is_named(tmp_path):
    for value, words in (
        ({"a": [object()]}, r"a\.0 is a object; a file holds"),
        ({"a": {frozenset(): 1}}, "the keys of a must be strings"),
        ({(libdl.ones(1),)}, "elements that are neither"),
    ):
        with pytest.raises(TypeError, match=words):
            libdl.save(value, tmp_path / "x", format="safetensors")


@pytest.mark.parametrize("content", [b"", b"no file at all"])
def test_pickles_of_files_errors_keep_their_type(content):
    with pytest.raises(libdl.Error) as caught:
        libdl.load(io.BytesIO(content))
    assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
