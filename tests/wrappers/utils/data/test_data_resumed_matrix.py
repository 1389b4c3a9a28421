# SPDX-License-Identifier: Apache-2.0
"""Every kind of dataset, of sampler and of worker, persistent or not: an iteration that is resumed
in another loader gives what would have come, to the last bit, and so does the epoch behind it."""

import io
import itertools
import os
import random
import time

import numpy
import pytest

import libdl
from libdl.utils import data


def draw():
    """From all generators of this process."""
    return (
        int(libdl.randint(0, 100, ()))
        + 100 * random.randrange(100)
        + 10000 * int(numpy.random.randint(100))
    )


class Indexed(data.Dataset):
    """Samples that draw; in threads, which share the program's generators, from the sample's
    own."""

    def __init__(self, shared):
        self.shared = shared

    def __len__(self):
        return 22

    def drawn(self):
        own = data.sample_generator() if self.shared else None
        return int(libdl.randint(0, 100, (), generator=own)) if self.shared else draw()

    def __getitem__(self, i):
        info = data.get_worker_info()
        return libdl.tensor([i, self.drawn(), 0 if info is None else info.seed % 2**31])


class CountedIndexed(Indexed):
    """Samples that also depend on how many were loaded."""

    count = 0

    def __getitem__(self, i):
        self.count += 1
        return libdl.cat([super().__getitem__(i), libdl.tensor([self.count])])

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]


class Stream(data.IterableDataset):
    def __init__(self, shared):
        self.shared = shared

    def begin(self):
        info = data.get_worker_info()
        own = libdl.Generator().manual_seed(1 if info is None else info.seed)
        return (own, 0, 1) if info is None else (own, info.id, info.num_workers)

    def drawn(self, own):
        return int(libdl.randint(0, 100, (), generator=own)) + (0 if self.shared else draw())

    def __iter__(self):
        own, first, step = self.begin()
        for i in range(first, 22, step):
            yield libdl.tensor([i, self.drawn(own)])


class CountedStream(Stream):
    """Goes on where its state says."""

    at = epoch = 0

    def __iter__(self):
        own, first, step = self.begin()
        while first + self.at * step < 22:
            self.at += 1
            yield libdl.tensor([first + (self.at - 1) * step, draw(), self.epoch])
        self.at, self.epoch = 0, self.epoch + 1

    def state_dict(self):
        return {"at": self.at, "epoch": self.epoch}

    def load_state_dict(self, state):
        self.at, self.epoch = state["at"], state["epoch"]


class Drawn(data.Sampler):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __iter__(self):
        for _ in range(self.size):
            yield draw() % self.size


def _seeded_alike(worker):
    libdl.manual_seed(worker)
    random.seed(worker)


def _seeded_anyhow(worker):
    seed = int.from_bytes(os.urandom(4), "little")
    libdl.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed)


def seed(n):
    libdl.manual_seed(n)
    random.seed(n)
    numpy.random.seed(n)


def saved(state):
    file = io.BytesIO()
    libdl.save(state, file)
    return libdl.load(io.BytesIO(file.getvalue()))


def values(batches, count=None):
    return [b.tolist() for b in itertools.islice(batches, count)]


def generators():
    return libdl.get_rng_state(), random.getstate(), numpy.random.get_state()


def restore(states):
    libdl.set_rng_state(states[0])
    random.setstate(states[1])
    numpy.random.set_state(states[2])


def check(make, epochs, stop, more=True):
    """more: the next epoch is the same as well, for a program that restores its own generators."""
    seed(3)
    loader = make()
    for _ in range(epochs - 1):
        values(loader)
    begun = iter(loader)
    values(begun, stop)
    state, programs = saved(loader.state_dict()), generators()
    whole = values(begun)
    following = values(loader)
    seed(97)
    resumed = make()
    resumed.load_state_dict(state)
    assert values(resumed) == whole
    resumed.load_state_dict(state)  # workers that have worked already
    begun = iter(resumed)
    some = values(begun, 2)
    again = make()
    again.load_state_dict(saved(resumed.state_dict()))
    assert some + values(again) == whole
    restored = make()
    restored.load_state_dict(state)
    restore(programs)
    assert values(restored) == whole
    assert not more or values(restored) == following


def workers_of(count, persistent, method):
    if count == 0:
        return {}
    how = (
        {"multiprocessing_context": "fork"} if method == "process" else {"worker_method": "thread"}
    )
    return {"num_workers": count, "persistent_workers": persistent, **how}


WORKERS = [
    workers_of(0, False, "process"),
    *(
        workers_of(count, persistent, method)
        for count in (1, 2)
        for persistent in (False, True)
        for method in ("process", "thread")
    ),
]


def _name(workers):
    kind = workers.get("worker_method", "process")
    persistent = "-persistent" if workers.get("persistent_workers") else ""
    return f"{workers.get('num_workers', 0)}-{kind}{persistent}"


by_every_worker = pytest.mark.parametrize("workers", WORKERS, ids=_name)


KINDS = [
    pytest.param(kind, workers, id=f"{kind.__name__}-{_name(workers)}")
    for kind in (Indexed, CountedIndexed, Stream, CountedStream)
    for workers in WORKERS
    # Threads share one dataset, and so its state.
    if "worker_method" not in workers or kind in (Indexed, Stream)
]


@pytest.mark.parametrize(("kind", "workers"), KINDS)
@pytest.mark.parametrize("size", [None, 2])
def test_datasets_that_draw(kind, size, workers):
    shared = "worker_method" in workers
    persists = not workers or workers.get("persistent_workers", False)
    for epochs, stop in ((1, 3), (2, 0), (3, 2)):
        # A dataset's state belongs to the iteration; what it is behind it is the program's.
        more = kind is not CountedStream or persists
        check(lambda: data.DataLoader(kind(shared), size, **workers), epochs, stop, more)


@by_every_worker
@pytest.mark.parametrize("shuffle", ["drawn", "shuffled", "own"])
def test_samplers_that_draw_as_well(shuffle, workers):
    shared = "worker_method" in workers

    def make():
        dataset = Indexed(shared)
        if shuffle == "drawn":
            return data.DataLoader(dataset, 3, sampler=Drawn(22), **workers)
        own = libdl.Generator().manual_seed(8) if shuffle == "own" else None
        return data.DataLoader(dataset, 3, shuffle=True, generator=own, **workers)

    for epochs, stop in ((1, 0), (2, 4)):
        check(make, epochs, stop)


@pytest.mark.parametrize("init", [_seeded_alike, _seeded_anyhow])
@pytest.mark.parametrize("kind", [Indexed, Stream, CountedStream])
@pytest.mark.parametrize(
    "workers", [w for w in WORKERS if "worker_method" not in w and w], ids=_name
)
def test_workers_that_the_program_seeds(workers, kind, init):
    persists = workers["persistent_workers"]
    more = persists or (init is _seeded_alike and kind is not CountedStream)
    for epochs, stop in ((1, 0), (2, 3)):
        check(
            lambda: data.DataLoader(kind(False), 2, worker_init_fn=init, **workers),
            epochs,
            stop,
            more,
        )


@by_every_worker
@pytest.mark.parametrize("kind", [Indexed, Stream])
def test_between_two_epochs(kind, workers):
    shared = "worker_method" in workers

    def make():
        return data.DataLoader(kind(shared), 2, **workers)

    seed(3)
    loader = make()
    for _ in range(2):
        values(loader)
        state, programs = saved(loader.state_dict()), generators()
        following = values(loader)
        resumed = make()
        resumed.load_state_dict(state)
        seed(97)
        assert values(resumed) == following
        resumed.load_state_dict(state)
        restore(programs)
        assert values(resumed) == following


@pytest.mark.parametrize("kind", [Indexed, Stream])
def test_an_epoch_behind_one_that_was_left(kind):
    workers = workers_of(2, True, "process")

    def make():
        return data.DataLoader(kind(False), 2, **workers)

    seed(3)
    loader = make()
    values(iter(loader), 2)
    for stop in (0, 3):
        begun = iter(loader)
        values(begun, stop)
        resumed = make()
        resumed.load_state_dict(saved(loader.state_dict()))
        assert values(resumed) == values(begun)


def test_fewer_batches_than_workers():
    workers = workers_of(2, True, "process")

    def make():
        return data.DataLoader(data.Subset(Indexed(False), [0, 1, 2]), 3, **workers)

    seed(3)
    loader = make()
    values(loader)
    begun = iter(loader)
    state, programs = saved(loader.state_dict()), generators()
    whole = values(begun), values(loader)
    resumed = make()
    resumed.load_state_dict(state)
    restore(programs)
    assert (values(resumed), values(resumed)) == whole


class Slow(data.Dataset):
    """The first batch comes last."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 0:
            time.sleep(0.5)
        return i


def test_batches_that_overtook_others():
    how = {"in_order": False, **workers_of(2, False, "process")}
    loader = data.DataLoader(Slow(), 1, **how)
    begun = iter(loader)
    assert next(begun).item() == 1
    with pytest.raises(
        RuntimeError, match="1 batches were handed out, but not the first 1: with in_order=False"
    ):
        loader.state_dict()
    assert sorted(values(begun)) == [[0], [2], [3], [4], [5], [6], [7]]
    assert loader.state_dict()["ended"]
    loader = data.DataLoader(Stream(False), 2, **how)
    begun = iter(loader)
    first = values(begun, 4)
    resumed = data.DataLoader(Stream(False), 2, **how)
    state = data.DataLoader(Stream(False), 2, **{**how, "in_order": True})
    values(iter(state), 4)
    resumed.load_state_dict(state.state_dict())
    whole = sorted(row[0] for b in values(resumed) for row in b)
    assert whole == sorted(set(range(22)) - {0, 2, 1, 3, 4, 6, 5, 7}), first
