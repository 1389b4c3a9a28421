# SPDX-License-Identifier: Apache-2.0
"""A loader that is resumed in the middle of an epoch gives what would have come, to the last bit,
whatever its sampler and its dataset draw from, and whether or not the program restores its own
generators."""

import io
import random

import numpy
import pytest

import libdl
from libdl.utils import data

WORKERS = [
    {},
    {"num_workers": 2, "multiprocessing_context": "fork"},
    {"num_workers": 3, "worker_method": "thread"},
]
by_every_worker = pytest.mark.parametrize("workers", WORKERS, ids=["here", "processes", "threads"])


def _by_default():
    return int(libdl.randint(0, 1000, ()))


def _by_random():
    return random.randrange(1000)


def _by_numpy():
    return int(numpy.random.randint(1000))


def _by_all():
    return (_by_default() + _by_random() + _by_numpy()) % 1000


DRAWS = [_by_default, _by_random, _by_numpy, _by_all]
by_every_draw = pytest.mark.parametrize("draw", DRAWS, ids=lambda f: f.__name__)


class Lazy(data.Sampler):
    """Draws each index when it is wanted."""

    def __init__(self, draw):
        self.draw = draw

    def __len__(self):
        return 30

    def __iter__(self):
        for _ in range(30):
            yield self.draw()


class Eager(Lazy):
    """Draws all indices at first."""

    def __iter__(self):
        return iter([self.draw() for _ in range(30)])


class Rejecting(Lazy):
    """How much it draws depends on what it drew."""

    def __iter__(self):
        seen = set()
        while len(seen) < 30:
            i = self.draw()
            if i not in seen and i % 3:
                seen.add(i)
                yield i


class Stream(data.IterableDataset):
    def __init__(self, draw):
        self.draw = draw

    def __iter__(self):
        info = data.get_worker_info()
        for i in range(30 if info is None else 30 // info.num_workers):
            yield 1000 * i + self.draw()


def seed(n):
    libdl.manual_seed(n)
    random.seed(n)
    numpy.random.seed(n)


def states():
    return libdl.get_rng_state(), random.getstate(), numpy.random.get_state()


def restore(state):
    libdl.set_rng_state(state[0])
    random.setstate(state[1])
    numpy.random.set_state(state[2])


def trained(batches, count=None):
    """A trainer that draws from all generators between its batches."""
    found = []
    for batch in batches:
        found.append((batch.tolist(), float(libdl.rand(())), random.random(), numpy.random.rand()))
        if len(found) == count:
            break
    return found


def by_file(state):
    """As a checkpoint is saved and loaded."""
    file = io.BytesIO()
    libdl.save(state, file)
    return libdl.load(io.BytesIO(file.getvalue()))


def check(make, stops=(0, 1, 4, 9)):
    for stop in stops:
        seed(3)
        loader = make()
        trained(loader, 3)  # an epoch that was left
        begun = iter(loader)
        trained(begun, stop) if stop else None
        state, whole_states = by_file(loader.state_dict()), states()
        whole = trained(begun)
        after = trained(loader)
        # The program's generators restored, as a checkpoint does: the trainer's numbers agree, too.
        seed(99)
        resumed = make()
        resumed.load_state_dict(state)
        restore(whole_states)
        assert trained(resumed) == whole, stop
        assert trained(resumed) == after, stop
        if stop in stops[1:3]:  # not restored
            seed(98)
            resumed = make()
            resumed.load_state_dict(state)
            here = trained(resumed)
            seed(98)
            assert [row[1:] for row in here] == trained_alone(len(here)), (
                "the program's are its own"
            )


def trained_alone(count):
    return [(float(libdl.rand(())), random.random(), numpy.random.rand()) for _ in range(count)]


COMBINED = [
    pytest.param(w, d, id=f"{n}-{d.__name__}")
    for w, n in zip(WORKERS, ("here", "processes", "threads"), strict=True)
    for d in (DRAWS if not w else DRAWS[3:])
]
by_every_worker_and_draw = pytest.mark.parametrize(("workers", "draw"), COMBINED)


@by_every_worker_and_draw
@pytest.mark.parametrize("sampler", [Lazy, Eager, Rejecting])
def test_samplers_that_draw(sampler, draw, workers):
    check(lambda: data.DataLoader(range(1000), 2, sampler=sampler(draw), **workers))


@by_every_draw
def test_streams_that_draw_from_the_programs_generators(draw):
    check(lambda: data.DataLoader(Stream(draw), 2))


def alone(make, stops=(0, 1, 4, 9)):
    """With a trainer that draws nothing, nothing need be restored."""
    for stop in stops:
        seed(3)
        loader = make()
        list(loader)
        begun = iter(loader)
        head = [next(begun).tolist() for _ in range(stop)]
        state = by_file(loader.state_dict())
        whole = [b.tolist() for b in begun]
        for other in (98, 97):
            seed(other)
            resumed = make()
            resumed.load_state_dict(state)
            assert [b.tolist() for b in resumed] == whole, stop
        resumed = make()
        resumed.load_state_dict(state)
        begun = iter(resumed)
        some = [next(begun).tolist() for _ in range(min(2, len(whole)))]
        again = make()
        again.load_state_dict(by_file(resumed.state_dict()))  # of one that was resumed itself
        assert some + [b.tolist() for b in again] == whole
        assert len(head) == stop


@by_every_worker_and_draw
@pytest.mark.parametrize("sampler", [Lazy, Eager, Rejecting])
def test_nothing_need_be_restored_for_samplers(sampler, draw, workers):
    alone(lambda: data.DataLoader(range(1000), 2, sampler=sampler(draw), **workers))


# Threads draw from the same generators in no order.
@pytest.mark.parametrize(("workers", "draw"), [c for c in COMBINED if "threads" not in c.id])
def test_nothing_need_be_restored_for_streams(workers, draw):
    alone(lambda: data.DataLoader(Stream(draw), 2, **workers))


@pytest.mark.parametrize("workers", [WORKERS[0], WORKERS[2]], ids=["here", "threads"])
def test_samplers_with_generators_of_their_own(workers):
    def make(number):
        own = libdl.Generator().manual_seed(5)
        samplers = [
            data.RandomSampler(range(60), generator=own),
            data.RandomSampler(range(60), True, 100, own),
            data.RandomSampler(range(10), num_samples=55, generator=own),
            data.SubsetRandomSampler(range(50), own),
            data.WeightedRandomSampler([1.0] * 60, 70, True, own),
            data.RandomSampler(range(60), True, 100),
        ]
        return data.DataLoader(range(60), 2, sampler=samplers[number], **workers)

    for number in range(6):
        alone(lambda n=number: make(n), stops=(0, 20))


# -- datasets that tell where they are ------------------------------------------------------------


class Counted(data.IterableDataset):
    """Its own state is what it is resumed by: what came before is not loaded again."""

    def __init__(self):
        self.at, self.loaded = 0, []

    def __iter__(self):
        info = data.get_worker_info()
        step, first = (1, 0) if info is None else (info.num_workers, info.id)
        while self.at * step + first < 41:
            self.at += 1
            self.loaded.append(self.at)
            yield 100 * len(self.loaded) + (self.at - 1) * step + first
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


class Walk:
    """An iterator with a state."""

    def __init__(self, first, step):
        self.now, self.step = first, step

    def __iter__(self):
        return self

    def __next__(self):
        if self.now >= 41:
            raise StopIteration
        self.now += self.step
        return self.now - self.step

    def state_dict(self):
        return {"now": self.now}

    def load_state_dict(self, state):
        self.now = state["now"]


class Walked(data.IterableDataset):
    def __iter__(self):
        info = data.get_worker_info()
        return Walk(0, 1) if info is None else Walk(info.id, info.num_workers)


# Threads share a dataset, and so its state.
@pytest.mark.parametrize(
    ("kind", "workers"),
    [(Counted, WORKERS[0]), (Counted, WORKERS[1]), *((Walked, w) for w in WORKERS)],
)
@pytest.mark.parametrize("size", [None, 2])
def test_a_datasets_own_state(kind, workers, size):
    def values(batches):
        return [[int(x) % 100 for x in (b if size else [b])] for b in batches]

    whole = values(data.DataLoader(kind(), size, **workers))
    for stop in (1, 5, 9, 19):
        loader = data.DataLoader(kind(), size, **workers)
        begun = iter(loader)
        head = values(next(begun) for _ in range(stop))
        state = by_file(loader.state_dict())
        resumed = data.DataLoader(kind(), size, **workers)
        resumed.load_state_dict(state)
        rest = list(resumed)
        assert head + values(rest) == whole, stop
        if kind is Counted:
            firsts = [int(b[0] if size else b) // 100 for b in rest]
            assert firsts[0] == 1, "nothing was loaded before it"
        assert values(resumed) == whole
    if workers:
        other = data.DataLoader(kind(), size, num_workers=1)
        other.load_state_dict(state)
        with pytest.raises(
            ValueError, match=r"the state is that of \d workers' datasets, wanted 1"
        ):
            iter(other)


class CountedMap(data.Dataset):
    """Samples that depend on how many were loaded."""

    def __init__(self):
        self.count = 0

    def __len__(self):
        return 12

    def __getitem__(self, i):
        self.count += 1
        return 100 * self.count + i

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]


@pytest.mark.parametrize("workers", WORKERS[:2], ids=["here", "processes"])
def test_the_state_of_a_dataset_with_indices(workers):
    whole = [b.tolist() for b in data.DataLoader(CountedMap(), 2, **workers)]
    loader = data.DataLoader(CountedMap(), 2, **workers)
    begun = iter(loader)
    head = [next(begun).tolist() for _ in range(3)]
    resumed = data.DataLoader(CountedMap(), 2, **workers)
    resumed.load_state_dict(by_file(loader.state_dict()))
    assert head + [b.tolist() for b in resumed] == whole
