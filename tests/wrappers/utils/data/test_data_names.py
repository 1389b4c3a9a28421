# SPDX-License-Identifier: Apache-2.0
"""Names of PyTorch's by which programs derive their own loaders, iterators, workers and pipes."""

import multiprocessing
import os
import pickle
import sys

import pytest

import libdl
from libdl._utils import ExceptionWrapper
from libdl.utils import data
from libdl.utils.data import _utils, dataloader, graph_settings
from libdl.utils.data.datapipes.datapipe import (
    _IterDataPipeSerializationWrapper,
    _MapDataPipeSerializationWrapper,
)


def test_an_exception_comes_back_with_its_traceback():
    class Own(Exception):
        def __init__(self, first, second):
            super().__init__(first, second)

    def wrapped(error):
        try:
            raise error
        except Exception:
            return pickle.loads(pickle.dumps(ExceptionWrapper(where="in a worker")))

    for error, kind in ((ValueError("why"), ValueError), (KeyError("a\nb"), KeyError)):
        with pytest.raises(kind) as caught:
            wrapped(error).reraise()
        text = str(caught.value)
        assert (
            text.startswith(f"Caught {kind.__name__} in a worker.\nOriginal Traceback")
            and "raise error" in text
        )
    try:
        raise Own(1, 2)
    except Own:
        held = ExceptionWrapper(sys.exc_info())
    with pytest.raises(RuntimeError, match="Caught Own in background"):
        held.reraise()


def test_a_program_has_workers_of_its_own(monkeypatch):
    assert data.get_worker_info() is None
    told = _utils.worker.WorkerInfo(id=1, num_workers=2, seed=3, dataset=None)
    monkeypatch.setattr(_utils.worker, "_worker_info", told)
    assert data.get_worker_info() is told
    monkeypatch.undo()
    seeds = [_utils.worker._generate_state(5, worker) for worker in range(3)]
    assert seeds[0] == _utils.worker._generate_state(5, 0) and len({tuple(s) for s in seeds}) == 3
    assert all(len(s) == 4 and all(0 <= n < 2**32 for n in s) for s in seeds)
    watchdog = _utils.worker.ManagerWatchdog()
    assert watchdog.is_alive() and watchdog.manager_pid == os.getppid()
    watchdog.manager_pid = -1
    assert not watchdog.is_alive() and not watchdog.is_alive()
    assert _utils.worker._ResumeIteration(7).seed == 7 and _utils.MP_STATUS_CHECK_INTERVAL > 0
    assert pickle.loads(pickle.dumps(_utils.worker._IterableDatasetStopIteration(1))).worker_id == 1
    _utils.signal_handling._set_worker_signal_handlers()
    _utils.signal_handling._set_SIGCHLD_handler()
    _utils.signal_handling._set_worker_pids(1, (2, 3))
    _utils.signal_handling._remove_worker_pids(1)


def test_a_loader_with_a_constructor_of_its_own():
    class Loader(data.DataLoader):
        def __init__(self, dataset):
            self.dataset, self.num_workers, self.timeout, self.generator = dataset, 0, 0, None
            self.sampler = data.SequentialSampler(dataset)
            self.batch_size, self.drop_last = 2, False
            self.batch_sampler = data.BatchSampler(self.sampler, 2, False)
            self.pin_memory, self.pin_memory_device, self.persistent_workers = False, "", False
            self.collate_fn, self._dataset_kind = sum, dataloader._DatasetKind.Map

    loader = Loader(range(5))
    assert list(loader) == [1, 5, 4] and loader.state_dict()["ended"]


def test_what_an_iterator_of_workers_tells():
    found = iter(data.DataLoader(range(20), 2, num_workers=2, prefetch_factor=3))
    assert isinstance(found, dataloader._MultiProcessingDataLoaderIter)
    assert found._prefetch_factor == 3 and found._send_idx == 6 and found._rcvd_idx == 0
    assert list(found._task_info) == list(range(6)) and found._workers_status == [True, True]
    assert all(process.is_alive() for process in found._workers) and not found._shutdown
    next(found)
    assert found._rcvd_idx == 1 and found._send_idx == 7 and found._num_yielded == 1
    assert found._tasks_outstanding <= 6
    found._shutdown_workers()
    assert found._shutdown and found._workers == []
    with pytest.raises(RuntimeError, match="cannot go on"):
        next(found)


def test_contexts_of_multiprocessing():
    for given in (
        "fork",
        multiprocessing.get_context("fork"),
        libdl.multiprocessing.get_context("fork"),
    ):
        loader = data.DataLoader(range(4), 2, num_workers=1, multiprocessing_context=given)
        assert loader.multiprocessing_context.get_start_method() == "fork"
        assert [b.tolist() for b in loader] == [[0, 1], [2, 3]]
    for options, error, text in (
        ({"num_workers": 1, "multiprocessing_context": "teleport"}, ValueError, "wanted one of"),
        ({"multiprocessing_context": "fork"}, ValueError, "is for workers, but num_workers is 0"),
        ({"num_workers": 1, "multiprocessing_context": 3}, TypeError, "is a int, wanted a context"),
    ):
        with pytest.raises(error, match=text):
            data.DataLoader(range(4), **options)


# -- pipes ----------------------------------------------------------------------------------------


class Numbers(data.IterDataPipe):
    def __init__(self, size):
        self.size, self.seed, self.part = size, None, (1, 0)

    def __iter__(self):
        return iter(range(self.part[1], self.size, self.part[0]))

    def __len__(self):
        return self.size

    def apply_sharding(self, count, number):
        self.part = (count, number)

    def set_seed(self, seed):
        self.seed = seed

    def set_shuffle(self, shuffle):
        self.shuffled = shuffle


def test_pipes_are_chained_by_registered_names():
    @data.functional_datapipe("times_of_the_test")
    class Times(data.IterDataPipe):
        def __init__(self, source, by):
            self.source, self.by = source, by

        def __iter__(self):
            return (self.by * i for i in self.source)

    pipe = Numbers(6).times_of_the_test(by=3)
    assert type(pipe) is Times and list(pipe) == [0, 3, 6, 9, 12, 15]
    assert [b.tolist() for b in data.DataLoader(pipe, 4)] == [[0, 3, 6, 9], [12, 15]]
    with pytest.raises(Exception, match="'times_of_the_test' is taken"):
        data.functional_datapipe("times_of_the_test")(Times)
    with pytest.raises(TypeError, match="wanted a class of IterDataPipe or MapDataPipe"):
        data.functional_datapipe("other_of_the_test")(dict)
    with pytest.raises(AttributeError, match="'Numbers' object has no attribute 'absent'"):
        Numbers(1).absent
    data.MapDataPipe.register_function("first_of_the_test", lambda pipe: pipe[0])

    class Letters(data.MapDataPipe):
        def __getitem__(self, i):
            return "abc"[i]

        def __len__(self):
            return 3

    assert Letters().first_of_the_test() == "a" and not hasattr(Numbers(1), "first_of_the_test")
    wrapped = _MapDataPipeSerializationWrapper(Letters())
    assert (wrapped[2], len(wrapped)) == ("c", 3)
    inner = _IterDataPipeSerializationWrapper(Numbers(3))
    assert (list(inner), len(inner)) == ([0, 1, 2], 3)
    assert pickle.loads(pickle.dumps(Numbers(4))).size == 4
    assert list(data.DataChunk([1, 2]).raw_iterator()) == [1, 2] and issubclass(
        data.DFIterDataPipe, data.IterDataPipe
    )


def test_settings_reach_every_pipe():
    class Pair(data.IterDataPipe):
        def __init__(self, *sources):
            self.sources = sources

        def __iter__(self):
            return iter(self.sources)

    first, second = Numbers(6), Numbers(4)
    pair = Pair(first, Pair(second))
    graph_settings.apply_sharding(pair, 3, 1)
    assert list(first) == [1, 4] and list(second) == [1]
    graph_settings.apply_random_seed(pair, libdl.Generator().manual_seed(2))
    assert isinstance(first.seed, int) and first.seed != second.seed
    graph_settings.apply_shuffle_settings(pair, True)
    assert first.shuffled and second.shuffled

    @data.non_deterministic
    class Marked(Numbers):
        @data.runtime_validation
        @data.argument_validation
        def __iter__(self):
            return iter(range(self.size))

    assert data.non_deterministic(lambda: True)(Numbers) is Numbers
    with data.guaranteed_datapipes_determinism(), data.runtime_validation_disabled():
        assert list(Marked(2)) == [0, 1]
    assert dataloader._get_distributed_settings() == (1, 0)
    libdl.manual_seed(1)
    seed = dataloader._share_dist_seed(None, None)
    libdl.manual_seed(1)
    assert dataloader._share_dist_seed(None, None) == seed


def test_settings_that_a_pipe_cannot_have():
    class Grouped(Numbers):
        def apply_sharding(self, count, number, sharding_group="none"):
            self.part, self.group = (count, number), sharding_group

    pipe = Grouped(4)
    graph_settings.apply_sharding(pipe, 2, 1)
    assert (pipe.part, pipe.group) == ((2, 1), "none")
    graph_settings.apply_sharding(pipe, 3, 0, "distributed")
    assert (pipe.part, pipe.group) == ((3, 0), "distributed")
    pipe.inner = [Numbers(3)]
    with pytest.raises(RuntimeError, match="Grouped and Numbers, of which it is made, both divide"):
        graph_settings.apply_sharding(pipe, 2, 0)

    class Plain(data.IterDataPipe):
        def __iter__(self):
            return iter(range(3))

    with pytest.warns(UserWarning, match="no pipe of Plain shuffles"):
        shuffled = data.DataLoader(Plain(), shuffle=True)
    assert isinstance(shuffled.dataset, data.datapipes.iter.Shuffler)
    assert sorted(libdl.cat(list(shuffled)).tolist()) == [0, 1, 2]
    assert len(list(data.DataLoader(Plain(), shuffle=False))) == 3


@pytest.mark.parametrize("worker_method", ["process", "thread"])
def test_workers_shard_a_pipe(worker_method):
    """And no epoch has the seeds of another."""
    pipe, seeds = Numbers(7), []
    for _ in range(2):
        found = data.DataLoader(pipe, None, num_workers=2, worker_method=worker_method)
        assert sorted(found) == list(range(7))
        data.DataLoader(pipe).__iter__()
        seeds.append(pipe.seed)
    assert seeds[0] != seeds[1] and pipe.part == (1, 0)


def test_a_resumed_epoch_of_a_pipe_has_its_seeds():
    class Seeded(Numbers):
        def __iter__(self):
            return iter([self.seed] * self.size)

    loader = data.DataLoader(Seeded(4), None)
    batches = iter(loader)
    first = next(batches)
    resumed = data.DataLoader(Seeded(4), None)
    resumed.load_state_dict(loader.state_dict())
    assert list(resumed) == [first] * 3 == list(batches)
    assert set(resumed) != {first}


class Asking(data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        info = data.get_worker_info()
        with pytest.raises(AttributeError):
            info.id = 3
        return [info.id, info.num_workers, info.rng, info.worker_method, info.dataset is self]


@pytest.mark.parametrize("method", ["process", "thread"])
def test_a_worker_cannot_change_what_it_is_told(method):
    told = "thread" if method == "thread" else "multiprocessing"
    for sample in data.DataLoader(Asking(), None, num_workers=1, worker_method=method):
        assert sample == [0, 1, None, told, True]


def test_the_older_spelling_of_sizes():
    with pytest.warns(FutureWarning, match="cummulative_sizes is spelled cumulative_sizes"):
        assert data.ConcatDataset([range(2), range(3)]).cummulative_sizes == [2, 5]
