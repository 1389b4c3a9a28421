# SPDX-License-Identifier: Apache-2.0
"""libdl.utils.data: datasets, samplers and what a DataLoader hands out, by every kind of worker."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict, namedtuple

import numpy
import pytest

from wrappers.processes import running

import libdl
from libdl.utils import data

WORKERS = [(0, "process"), (1, "process"), (2, "process"), (1, "thread"), (3, "thread")]
by_every_worker = pytest.mark.parametrize(("num_workers", "worker_method"), WORKERS)


class Squares(data.Dataset):
    """Sample i is i * i."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        if not 0 <= i < self.size:
            raise IndexError(i)
        return i * i


class Augmented(Squares):
    """Draws from the sample's generator; processes and the loading thread also from the default."""

    def __getitem__(self, i):
        own = libdl.rand(3, generator=data.sample_generator())
        if data.get_worker_info() is None or threading.current_thread() is threading.main_thread():
            return own, libdl.rand(2)
        return own


class Shards(data.IterableDataset):
    """The numbers below size, divided among the workers."""

    def __init__(self, size):
        self.size = size

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, self.size, step))


def loader(dataset, num_workers=0, worker_method="process", **options):
    return data.DataLoader(dataset, num_workers=num_workers, worker_method=worker_method, **options)


# -- datasets -------------------------------------------------------------------------------------


def test_datasets_are_joined_stacked_and_cut():
    x, y = libdl.arange(6), libdl.arange(6) * 10
    rows = data.TensorDataset(x, y)
    assert len(rows) == 6 and [int(v) for v in rows[2]] == [2, 20]
    joined = rows + data.TensorDataset(x[:2], y[:2])
    assert len(joined) == 8 and int(joined[6][0]) == 0 and int(joined[-1][1]) == 10
    with pytest.raises(IndexError, match="ConcatDataset: index 8"):
        joined[8]
    part = data.Subset(joined, [7, 0])
    assert [int(v[1]) for v in part] == [10, 0]
    assert [int(v[0]) for v in part.__getitems__([1, 0])] == [0, 1]
    stacked = data.StackDataset(a=Squares(3), b=rows if len(rows) == 3 else Squares(3))
    assert stacked[2] == {"a": 4, "b": 4}
    assert data.StackDataset(Squares(3), Squares(3)).__getitems__([1, 2]) == [(1, 1), (4, 4)]
    chained = Shards(2) + Shards(3)
    assert list(chained) == [0, 1, 0, 1, 2]
    with pytest.raises(TypeError, match="wanted ChainDataset"):
        data.ConcatDataset([Shards(2)])
    with pytest.raises(ValueError, match=r"have \[6, 2\] rows"):
        data.TensorDataset(x, y[:2])


def test_a_split_divides_every_sample_once():
    g = libdl.Generator().manual_seed(3)
    parts = data.random_split(range(10), [0.55, 0.25, 0.2], generator=g)
    assert [len(p) for p in parts] == [6, 2, 2]
    assert sorted(i for p in parts for i in p) == list(range(10))
    again = data.random_split(range(10), [6, 2, 2], libdl.Generator().manual_seed(3))
    assert [list(p) for p in again] == [list(p) for p in parts]
    with pytest.raises(ValueError, match="lengths sum to 9, wanted 10"):
        data.random_split(range(10), [6, 3])


# -- samplers -------------------------------------------------------------------------------------


def test_samplers_draw_what_they_say():
    seeded = lambda: libdl.Generator().manual_seed(1)  # noqa: E731
    assert list(data.SequentialSampler(range(3))) == [0, 1, 2]
    drawn = list(data.RandomSampler(range(10), generator=seeded()))
    assert sorted(drawn) == list(range(10)) and drawn != list(range(10))
    assert drawn == list(data.RandomSampler(range(10), generator=seeded()))
    more = list(data.RandomSampler(range(4), num_samples=10, generator=seeded()))
    assert len(more) == 10 and sorted(more[:4]) == [0, 1, 2, 3] == sorted(more[4:8])
    replaced = list(data.RandomSampler(range(3), True, 100, generator=seeded()))
    assert len(replaced) == 100 and set(replaced) == {0, 1, 2}
    assert sorted(data.SubsetRandomSampler([5, 7, 9])) == [5, 7, 9]
    weighted = list(data.WeightedRandomSampler([0, 1, 0, 3], 400, generator=seeded()))
    assert set(weighted) == {1, 3} and 250 < weighted.count(3) < 350  # 300, 6 deviations
    assert sorted(data.WeightedRandomSampler([1, 1, 1], 3, replacement=False)) == [0, 1, 2]
    assert list(data.BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(data.BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert [len(data.BatchSampler(range(5), 2, drop)) for drop in (False, True)] == [3, 2]
    with pytest.raises(ValueError, match="num_samples is 0, wanted a positive int"):
        data.RandomSampler([])


def test_processes_of_a_training_share_a_permutation():
    def parts(drop_last, epoch=0):
        samplers = [
            data.DistributedSampler(range(10), 4, rank, drop_last=drop_last) for rank in range(4)
        ]
        for sampler in samplers:
            sampler.set_epoch(epoch)
        return [list(sampler) for sampler in samplers]

    assert [len(p) for p in parts(False)] == [3] * 4
    assert set().union(*parts(False)) == set(range(10))
    assert [len(p) for p in parts(True)] == [2] * 4
    assert len(set().union(*parts(True))) == 8
    assert parts(False) == parts(False) != parts(False, epoch=1)
    with pytest.raises(ValueError, match="rank is 4, wanted 0 to 3"):
        data.DistributedSampler(range(10), 4, 4)


# -- collate --------------------------------------------------------------------------------------

Pair = namedtuple("Pair", "x y")


def test_samples_become_a_batch_of_the_same_structure():
    batch = data.default_collate(
        [
            {"a": (1, 2.5), "b": "s", "c": numpy.float32(3), "d": [libdl.ones(2), True]},
            {"a": (2, 3.5), "b": "t", "c": numpy.float32(4), "d": [libdl.zeros(2), False]},
        ]
    )
    assert batch["a"][0].tolist() == [1, 2] and batch["a"][0].dtype is libdl.int64
    assert batch["a"][1].dtype is libdl.float64
    assert batch["b"] == ["s", "t"]
    assert batch["c"].dtype is libdl.float32 and batch["c"].tolist() == [3, 4]
    assert batch["d"][0].shape == (2, 2) and batch["d"][1].dtype is libdl.bool_
    named = data.default_collate([Pair(1, numpy.ones(2)), Pair(2, numpy.zeros(2))])
    assert type(named) is Pair and named.y.shape == (2, 2)
    kept = data.default_collate([OrderedDict(a=1), OrderedDict(a=2)])
    assert type(kept) is OrderedDict and kept["a"].tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="should be of equal size"):
        data.default_collate([[1, 2], [1]])
    with pytest.raises(TypeError, match="found <class 'object'>"):
        data.default_collate([object()])
    with pytest.raises(TypeError, match="found an array of <U1"):
        data.default_collate([numpy.array(["a"])])
    converted = data.default_convert({"a": numpy.ones(2), "b": "text"})
    assert isinstance(converted["a"], libdl.Tensor) and converted["b"] == "text"


# -- what is loaded -------------------------------------------------------------------------------


@by_every_worker
def test_batches_come_whole_and_in_order(num_workers, worker_method):
    found = loader(Squares(23), num_workers, worker_method, batch_size=4)
    assert len(found) == 6
    for _ in range(2):
        assert [b.tolist() for b in found] == [
            [i * i for i in range(k, min(k + 4, 23))] for k in range(0, 23, 4)
        ]
    dropped = loader(Squares(23), num_workers, worker_method, batch_size=4, drop_last=True)
    assert len(dropped) == len(list(dropped)) == 5
    single = loader(Squares(3), num_workers, worker_method, batch_size=None)
    assert list(single) == [0, 1, 4]
    given = loader(Squares(9), num_workers, worker_method, batch_sampler=[[8, 1], [3]])
    assert [b.tolist() for b in given] == [[64, 1], [9]]
    assert list(loader(Squares(0), num_workers, worker_method)) == []


@by_every_worker
def test_an_iterable_dataset_gives_every_sample_once(num_workers, worker_method):
    found = loader(Shards(23), num_workers, worker_method, batch_size=4)
    assert sorted(int(i) for b in found for i in b) == list(range(23))
    single = loader(Shards(5), num_workers, worker_method, batch_size=None)
    assert sorted(single) == [0, 1, 2, 3, 4]


def test_random_numbers_do_not_depend_on_the_workers():
    def epoch(num_workers, worker_method, **options):
        libdl.manual_seed(5)
        found = loader(
            Augmented(13), num_workers, worker_method, batch_size=3, shuffle=True, **options
        )
        return [[x.tolist() for x in (b if isinstance(b, list) else [b])] for b in found]

    alone = epoch(0, "process")
    assert len({str(sample) for batch in alone for sample in batch[0]}) == 13
    for workers in ((1, "process"), (3, "process")):
        assert epoch(*workers) == alone
    for workers in ((1, "thread"), (3, "thread")):
        assert [batch[0] for batch in epoch(*workers)] == [batch[0] for batch in alone]
    libdl.manual_seed(5)
    twice = loader(Augmented(13), batch_size=3, shuffle=True)
    first, second = ([b[0].tolist() for b in twice] for _ in range(2))
    assert first != second


def test_loading_leaves_the_default_generator_alone_but_for_the_seeds():
    def after(dataset):
        libdl.manual_seed(1)
        list(loader(dataset, batch_size=2))
        return libdl.rand(2).tolist()

    assert after(Augmented(6)) == after(Squares(6))


class Seeds(Squares):
    def __getitem__(self, i):
        return data.get_worker_info().id, random.random(), float(numpy.random.rand())


def test_workers_have_seeds_of_their_own():
    def drawn():
        libdl.manual_seed(2)
        g = loader(Seeds(2), 2, batch_size=1)
        return [[float(x) for x in batch] for batch in g]

    first, second = drawn()
    assert first[0] == 0 and second[0] == 1
    assert first[1] != second[1] and first[2] != second[2]
    assert drawn() == [first, second]


@by_every_worker
def test_an_epoch_goes_on_in_its_middle(num_workers, worker_method):
    def make(seed):
        libdl.manual_seed(seed)
        return loader(Augmented(20), num_workers, worker_method, batch_size=3, shuffle=True)

    def numbers(batches):
        return [(b[0] if isinstance(b, list) else b).tolist() for b in batches]

    whole = numbers(make(4))
    begun = make(4)
    iterator = iter(begun)
    head = numbers(next(iterator) for _ in range(3))
    state = begun.state_dict()
    resumed = make(99)
    resumed.load_state_dict(state)
    assert resumed.state_dict()["batches"] == 3
    assert head + numbers(resumed) == whole
    assert numbers(resumed) != whole  # the next epoch has numbers of its own
    rows = loader(Shards(10), num_workers, worker_method, batch_size=2)
    if num_workers < 2:
        rows.load_state_dict({**loader_state(rows), "batches": 2})
        assert [int(i) for b in rows for i in b] == [4, 5, 6, 7, 8, 9]


def loader_state(found):
    next(iter(found))
    return found.state_dict()


@by_every_worker
def test_kept_batches_keep_their_values(num_workers, worker_method):
    x = libdl.arange(40 * 1000).reshape(40, 1000)
    kept = list(loader(data.TensorDataset(x), num_workers, worker_method, batch_size=2))
    assert libdl.equal(libdl.cat([b[0] for b in kept]), x)
    kept[0][0].zero_()  # each has memory of its own
    assert libdl.equal(kept[1][0], x[2:4])


class Growing(Squares):
    """Samples of very different sizes."""

    def __getitem__(self, i):
        return libdl.full((1 + 5000 * (i % 4),), float(i)), f"name {i}"


def test_batches_of_every_size_go_through_a_ring():
    for _ in range(2):
        for i, (x, name) in enumerate(loader(Growing(40), 2, batch_size=None, prefetch_factor=3)):
            assert name == f"name {i}" and x.shape == (1 + 5000 * (i % 4),) and (x == i).all()


def test_workers_may_persist():
    class Pids(Squares):
        def __getitem__(self, i):
            return os.getpid()

    fork = {"multiprocessing_context": "fork"}  # other methods cannot send a local class
    found = loader(Pids(8), 2, batch_size=1, persistent_workers=True, **fork)
    first = {int(p) for p in found}
    iterator = iter(found)
    next(iterator)  # left in its middle
    assert {int(p) for p in found} == first and len(first) == 2
    other = loader(Pids(8), 2, batch_size=1, **fork)
    assert {int(p) for p in other} != {int(p) for p in other}


# -- what goes wrong ------------------------------------------------------------------------------


class Odd(Exception):
    def __init__(self, number, why):
        super().__init__(number, why)


class Failing(Squares):
    def __getitem__(self, i):
        if i == 2:
            raise Odd(i, "wanted by the test")
        return i


@by_every_worker
def test_a_samples_exception_comes_out_as_itself(num_workers, worker_method):
    iterator = iter(loader(Failing(6), num_workers, worker_method, batch_size=1))
    assert [int(next(iterator)) for _ in range(2)] == [0, 1]
    with pytest.raises(Odd, match="wanted by the test") as caught:
        next(iterator)
    if num_workers:
        assert "in __getitem__" in str(caught.value.__cause__)
        assert f"DataLoader worker {worker_method}" in str(caught.value.__cause__)
        assert int(next(iterator)) == 3  # the others are there


class Stopping(Squares):
    def __getitem__(self, i):
        return next(iter(())) if i == 2 else i


@by_every_worker
def test_a_sample_cannot_end_the_epoch(num_workers, worker_method):
    with pytest.raises(RuntimeError, match="a sample raised StopIteration"):
        list(loader(Stopping(6), num_workers, worker_method, batch_size=2))


class Dying(Squares):
    def __getitem__(self, i):
        if i == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return i


def test_a_killed_worker_is_named():
    with pytest.raises(
        RuntimeError, match=r"worker 1 \(pid \d+\) was killed by signal 9 \(SIGKILL"
    ):
        list(loader(Dying(8), 2, batch_size=1))


class Slow(Squares):
    def __getitem__(self, i):
        time.sleep(30)


@pytest.mark.parametrize("worker_method", ["process", "thread"])
def test_a_timeout_is_an_error_and_nobody_waits_for_the_sample(worker_method):
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="timed out after 0.2 seconds"):
        next(iter(loader(Slow(4), 1, worker_method, batch_size=1, timeout=0.2)))
    assert time.monotonic() - start < 10  # of a sample's 30


def test_arguments_that_exclude_each_other_are_refused():
    for options, text in (
        ({"num_workers": -1}, "num_workers is -1"),
        ({"prefetch_factor": 2}, "prefetch_factor is for workers"),
        ({"persistent_workers": True}, "persistent_workers is for workers"),
        ({"shuffle": True, "sampler": [1]}, "shuffle is for loaders without a sampler"),
        ({"batch_sampler": [[1]], "drop_last": True}, "batch_sampler excludes"),
        ({"batch_size": None, "drop_last": True}, "drop_last is for batches"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"num_workers": 1, "worker_method": "fiber"}, "worker_method is 'fiber'"),
    ):
        with pytest.raises(ValueError, match=text):
            data.DataLoader(Squares(3), **options)
    with pytest.raises(ValueError, match="shuffle needs indices"):
        data.DataLoader(Shards(3), shuffle=True)


PROGRAM = r"""
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run by nohup
import libdl
from libdl.utils import data

class Slow(data.Dataset):
    def __len__(self): return 1000
    def __getitem__(self, i):
        os.write(1, b"%d\n" % os.getpid())
        time.sleep(float(sys.argv[1]))
        return libdl.ones(1000)

if __name__ == "__main__":
    for batch in data.DataLoader(Slow(), 1, num_workers=2, multiprocessing_context=sys.argv[2]):
        pass
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path, method, sent):
    """In the middle of a sample, and Ctrl-C shows one traceback."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, script, "20", method],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    ) as program:
        workers = {int(program.stdout.readline()) for _ in range(2)}
        start = time.monotonic()
        if sent == signal.SIGINT:
            os.killpg(program.pid, sent)  # as a terminal does
        else:
            program.kill()
        errors = program.stderr.read()
        program.wait()
        while any(map(running, workers)) and time.monotonic() - start < 10:
            time.sleep(0.01)
        assert not any(map(running, workers))
        assert time.monotonic() - start < 10  # of a sample's 20
        assert errors.count("Traceback") == (1 if sent == signal.SIGINT else 0), errors
