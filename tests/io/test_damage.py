# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile files: an object or an error of libdl, in bounded memory. mutations.py has a
million more."""

import io
import os
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import libdl
import pytest

sys.path.append(str(Path(__file__).parent))
import mutations  # noqa: E402
from made import DATA, pickled, refused, same, storage, tensor  # noqa: E402
from torch_programs import FOLDER, PROGRAMS  # noqa: E402

STEP = 1 if os.environ.get("LIBDL_WHOLE") else 7  # of the flipped bits


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

LOADED = ("dicts", "sets", "ordered dicts")  # the others copy more than they hold
TIMES = 400  # bytes of memory for one byte of a pickle, at most; an empty set takes 216
EMPTY = b"ccollections\nOrderedDict\nq\0"
GREEDY = {
    "dicts": b"(" + b"}" * 20000 + b"t",
    "sets": b"(" + b"\x8f" * 20000 + b"t",
    "ordered dicts": EMPTY + b"0(" + b"h\0)R" * 5000 + b"t",
    "bytes": b"c_codecs\nencode\nq\0X\x10\x27\0\0"
    + b"a" * 10000
    + b"q\1(h\1t0"
    + b"("
    + b"h\0h\1\x85R" * 4000
    + b"t",
    "octets": b"cbuiltins\nbytearray\nq\0B\x10\x27\0\0"
    + b"a" * 10000
    + b"\x85q\1("
    + b"h\0h\1R" * 4000
    + b"t",
    "sets of lists": b"cbuiltins\nset\nq\0]("
    + b"K\1" * 5000
    + b"e\x85q\1("
    + b"h\0h\1R" * 4000
    + b"t",
    "attributes": EMPTY
    + b"0}("
    + b"".join(b"X\3\0\0\0%03dN" % i for i in range(1000))
    + b"uq\1("
    + b"h\0)Rh\1b" * 3000
    + b"t",
    "arrays": b"cnumpy.core.multiarray\n_reconstruct\nq\0(K\1M\x10\x27\x85cnumpy\ndtype\n"
    b"X\2\0\0\0u1\x85R(K\3X\1\0\0\0|tb\x89B\x10\x27\0\0"
    + b"a" * 10000
    + b"tq\1("
    + b"h\0)Rh\1b" * 3000
    + b"t",
    "conjugates": b"ctorch._utils\n_rebuild_tensor_v2\nq\0(" + storage() + b"K\0K\4\x85K\1\x85"
    b"\x89N}X\4\0\0\0conj\x88stq\1(" + b"h\0h\1R" * 4000 + b"t",
    "places": b"(" + b"".join(storage(place=b"cpu:%d" % i) for i in range(1000)) + b"t",
}


@pytest.mark.parametrize("name", GREEDY)
def test_memory_is_a_bounded_multiple_of_the_pickle(name):
    file = pickled(GREEDY[name], **DATA)
    size = len(file.getvalue())
    tracemalloc.start()
    try:
        outcome = mutations.attempt(file.getvalue())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < TIMES * size
    assert outcome == ("loaded" if name in LOADED else "FormatError")


def test_a_storage_is_read_once_whatever_a_file_says():
    two = b"(" + storage() + storage(place=b"cpu:0") + b"t"
    refused(pickled(two, **DATA), "storage '0' is on two devices")


def test_tensors_are_not_walked_as_arguments():
    """This one has 2^31 rows of one element."""
    rows = tensor(size=b"J\0\0\0\x7f\x85", stride=b"K\0\x85")
    body = (
        b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\nctorch\n"
        b"Tensor\n" + rows + b"NtR"
    )
    refused(pickled(body, **DATA), "without a tuple of arguments")
    body = b"ctorch._utils\n_rebuild_sparse_tensor\nctorch.serialization\n_get_layout\n"
    body += b"X\x10\0\0\0torch.sparse_coo\x85R"
    refused(pickled(body + rows + b"\x86R", **DATA), "without indices")
    parts = b"(" + rows + rows + b"ctorch\nSize\n)R\x88t"
    refused(pickled(body + parts + b"\x86R", **DATA), "copy more than the file's size justifies")


def test_shared_tuples_are_neither_hashed_nor_printed():
    """Each has two of the one before: 2^60 leaves from a few hundred bytes, never walked."""
    laughs = b")q\0" + b"0h\0h\0\x86q\0" * 60
    for body in (
        b"}" + laughs + b"Ns",
        b"ctorch\nSize\n" + laughs + b"\x85R",
        b"c__builtin__\nset\n]" + laughs + b"a\x85R",
        b"c_codecs\nencode\nX\1\0\0\0a" + laughs + b"\x86R",
        b"cnumpy\ndtype\n" + laughs + b"\x85R",
        b"ctorch\ndevice\n" + laughs + b"\x85R",
        tensor(size=laughs),
        tensor(more=laughs),
        laughs + b"Q",
    ):
        refused(pickled(body, **DATA))
    assert isinstance(libdl.load(pickled(b")q\0" + b"0h\0h\0\x86q\0" * 60)), tuple)
