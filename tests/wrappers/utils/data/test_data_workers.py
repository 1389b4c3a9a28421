# SPDX-License-Identifier: Apache-2.0
"""Workers of a DataLoader: beside PyTorch, resumed, seeded, and what they share."""

import gc
import json
import warnings
from pathlib import Path

import numpy
import pytest
from answered import Stored
from wrappers.utils.data import seen_loader
from wrappers.processes import program

import libdl
from libdl.utils import data
from libdl.utils.data.ring import Ring, packed, slots_freed, unpacked

WORKERS = [(0, "process"), (2, "process"), (2, "thread")]
by_every_worker = pytest.mark.parametrize(("num_workers", "worker_method"), WORKERS)
SEEN = Stored(seen_loader)


@pytest.mark.parametrize("case", seen_loader.PROGRAMS, ids=lambda p: p.__name__)
def test_programs_do_what_they_do_with_pytorch(case):
    SEEN.check(case, libdl)


class Stream(data.IterableDataset):
    """A dataset that each worker has whole."""

    def __iter__(self):
        return iter(range(8))

    def __len__(self):
        return 8


def test_samples_that_every_worker_gives_are_noticed():
    """PyTorch compares the number of batches with that of samples, and notices nothing here."""
    loader = data.DataLoader(Stream(), 2, num_workers=2)
    assert len(loader) == 4
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        # Python 3.12 and later, of a process with threads.
        warnings.filterwarnings("ignore", ".*use of fork", DeprecationWarning)
        assert len(list(loader)) == 8
    # The fifth could have been a second short one.
    assert "promised 4 batches, but 6 have been loaded" in str(seen[0].message) and len(seen) == 3


# -- an epoch's end -------------------------------------------------------------------------------


def epochs_of(loader, count):
    return [[batch.tolist() for batch in loader] for _ in range(count)]


@by_every_worker
@pytest.mark.parametrize("own", [False, True])
def test_after_an_epoch_comes_the_next_one(num_workers, worker_method, own):
    """As with torchdata's StatefulDataLoader: a state from behind the last batch is of that epoch,
    in which nothing is left; one from behind StopIteration is of the next."""

    def make(seed):
        libdl.manual_seed(seed)
        generator = libdl.Generator().manual_seed(seed) if own else None
        return data.DataLoader(
            range(6),
            2,
            shuffle=True,
            generator=generator,
            num_workers=num_workers,
            worker_method=worker_method,
        )

    whole = epochs_of(make(3), 3)
    loader = make(3)
    epochs_of(loader, 1)
    state, trainers = loader.state_dict(), libdl.get_rng_state()
    resumed = make(99)
    resumed.load_state_dict(state)
    libdl.set_rng_state(trainers)
    assert epochs_of(resumed, 2) == whole[1:]
    alone = make(98)  # the trainer's generator is another one
    alone.load_state_dict(state)
    assert epochs_of(alone, 1) == whole[1:2]
    loader = make(3)
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    state, trainers = loader.state_dict(), libdl.get_rng_state()
    resumed = make(97)
    resumed.load_state_dict(state)
    libdl.set_rng_state(trainers)
    assert epochs_of(resumed, 2) == [[], whole[1]]


@by_every_worker
def test_after_a_streams_end_it_begins_again(num_workers, worker_method):
    def make():
        return data.DataLoader(Stream(), 4, num_workers=num_workers, worker_method=worker_method)

    whole = epochs_of(make(), 1)
    loader, resumed = make(), make()
    epochs_of(loader, 1)
    resumed.load_state_dict(loader.state_dict())
    assert epochs_of(resumed, 2) == whole * 2


# -- seeds ----------------------------------------------------------------------------------------


def test_numpy_is_seeded_when_a_worker_imports_it():
    drawn = program("""
    import sys
    import libdl
    from libdl.utils import data

    class Late(data.Dataset):
        def __len__(self): return 4
        def __getitem__(self, i):
            import numpy
            return [data.get_worker_info().id, float(numpy.random.rand())]

    assert "numpy" not in sys.modules
    for _ in range(2):
        libdl.manual_seed(1)
        print(list(data.DataLoader(Late(), None, num_workers=2, multiprocessing_context="fork")))
    """).stdout.splitlines()
    assert drawn[0] == drawn[1]
    rows = json.loads(drawn[0])
    assert rows[0][0] != rows[1][0] and len({number for _, number in rows}) == 4


# -- strings --------------------------------------------------------------------------------------


def test_a_list_of_strings_is_two_tensors():
    texts = ["", "a", "Grüße, 世界", "x" * 1000, "\udcff.png", ""]
    packed = data.StringList(iter(texts))
    assert list(packed) == texts == packed[:] and packed == texts and len(packed) == 6
    assert packed[-1] == "" and packed[2] == texts[2] and packed[1:5:2] == texts[1:5:2]
    assert packed[numpy.int64(1)] == "a" and "a" in packed and packed.index("a") == 1
    assert (
        packed != texts[:5]
        and packed != ["b", *texts[1:]]
        and list(reversed(packed)) == texts[::-1]
    )
    assert data.StringList() == [] and repr(packed).startswith("StringList of 6: ['', 'a', 'Grüße")
    for wrong in (6, -7):
        with pytest.raises(IndexError, match=f"index {wrong}, wanted at least -6 and < 6"):
            packed[wrong]
    with pytest.raises(TypeError, match="element 1 is a int, wanted strings"):
        data.StringList(["a", 1])
    with pytest.raises(TypeError):
        packed[0] = "b"


def private_kilobytes():
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_Dirty"))


class Names(data.Dataset):
    """How much memory of its own a worker has after it read all names."""

    def __init__(self, names):
        self.names = names

    def __len__(self):
        return 2

    def __getitem__(self, i):
        before = private_kilobytes()
        assert sum(map(len, self.names)) == 200_000 * 40
        return private_kilobytes() - before


def test_reading_a_list_of_strings_copies_no_memory():
    texts = [f"{i:040}" for i in range(200_000)]  # 18 MB as objects, 9.6 MB packed
    grown = [
        max(data.DataLoader(Names(names), None, num_workers=1, multiprocessing_context="fork"))
        for names in (texts, data.StringList(texts))
    ]
    # Reading an object writes its count: of a list's strings every page is copied.
    assert grown[0] > 10_000 and grown[1] < 2000, grown


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_are_started_anew_share_the_strings(method, tmp_path):
    done = program(f"""
    import sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    import libdl
    from libdl.utils import data
    from test_data_workers import Names, Shared
    if __name__ == "__main__":
        names = data.StringList(f"{{i:040}}" for i in range(1000))
        loader = data.DataLoader(
            Shared(names), None, num_workers=2, multiprocessing_context={method!r}
        )
        print(list(loader))
    """)
    assert done.stdout.split() == ["[[True,", "40],", "[True,", "40]]"]


class Shared(Names):
    def __getitem__(self, i):
        return [self.names._text.is_shared(), len(self.names[i])]


# -- what goes through the ring -------------------------------------------------------------------


class Arrays(data.Dataset):
    """Arrays that stay NumPy's, as a collate_fn of the user's may want them."""

    def __len__(self):
        return 30

    def __getitem__(self, i):
        random = numpy.random.default_rng(i)
        return {
            "image": random.integers(0, 255, (40 + i, 30, 3), "uint8"),
            "turned": random.random((50, 40)).T,
            "when": numpy.array(["2026-01-01"], "M8[D]") + i,
            "words": numpy.array(["a", None], object),
            "empty": numpy.zeros((0, 3)),
            "bytes": bytearray(b"x" * (i + 1)),
            "tensor": libdl.full((20, 20), i),
        }


def _as_it_is(sample):
    return sample


def equal(a, b):
    return type(a) is type(b) and (
        numpy.array_equal(a, b) and a.dtype == b.dtype
        if isinstance(a, numpy.ndarray)
        else libdl.equal(a, b)
        if isinstance(a, libdl.Tensor)
        else a == b
    )


def test_arrays_come_through_the_ring_and_may_be_kept_and_written_to():
    wanted = Arrays()
    loader = data.DataLoader(
        wanted, None, collate_fn=_as_it_is, num_workers=2, multiprocessing_context="fork"
    )
    pickled, layout = packed(wanted[20])
    assert len(pickled) < 2000 and layout.size > 60 * 90 + 8 * 50 * 40, (
        "the arrays are beside the pickle"
    )
    kept = list(loader)
    for i, sample in enumerate(kept):
        assert all(equal(sample[key], x) for key, x in wanted[i].items()), i
    kept[0]["image"][:] = 7
    kept[0]["turned"][:] = 7
    assert equal(kept[1]["image"], wanted[1]["image"]) and equal(
        kept[2]["turned"], wanted[2]["turned"]
    )
    for i, sample in enumerate(loader):  # not kept: slots are used again
        assert all(equal(sample[key], x) for key, x in wanted[i].items()), i


def test_small_arrays_stay_in_the_pickle():
    kept = [numpy.arange(6.0).reshape(2, 3).T, numpy.array(["a", None], object), numpy.array(3)]
    pickled, layout = packed(kept)
    found = unpacked(pickled, layout.pieces, b"", copied=True)
    assert layout.size == 0 and all(map(equal, found, kept))
    found[0][:] = 1  # they may be written to


@pytest.mark.parametrize("content", [libdl.ones(3), numpy.ones(600)], ids=["tensor", "array"])
def test_a_batch_that_is_gone_gives_its_slot_back_without_the_collector(content):
    """While a slot is held, the next batches are copied out, which can cost more than their
    work."""
    pickled, layout = packed([content])
    ring = Ring(8192, 2)
    gc.disable()
    try:
        batch = ring.read(1, pickled, layout.pieces, most_held=2)
        assert ring.held == {1} and slots_freed(ring.freed) == []
        del batch
        assert ring.held == set() and slots_freed(ring.freed) == [1]
    finally:
        gc.enable()
        ring.close()
