# SPDX-License-Identifier: Apache-2.0
"""Profiles of several threads, and of a part of what happens meanwhile."""

import queue
import threading

import pytest

import libdl
from libdl.profiler import _ExperimentalConfig, profile, record_function

ALL = _ExperimentalConfig(profile_all_threads=True)


def work(name, function=libdl.exp):
    with record_function(name):
        function(libdl.ones(3))


def in_a_thread(target, *args):
    thread = threading.Thread(target=target, args=args)
    thread.start()
    thread.join()


class Pool:
    """A thread that is there before the profile."""

    def __enter__(self):
        self.tasks = queue.Queue()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        self.do(libdl.ones, 3)
        return self

    def _run(self):
        while (task := self.tasks.get()) is not None:
            task[0](*task[1:])
            self.tasks.task_done()

    def do(self, *task):
        self.tasks.put(task)
        self.tasks.join()

    def __exit__(self, *_):
        self.tasks.put(None)
        self.thread.join()


def test_a_thread_is_recorded_alone_unless_others_are_asked_for():
    with Pool() as pool, profile() as prof:
        work("mine")
        in_a_thread(work, "new")
        pool.do(work, "old")
    assert [e.name for e in prof.events() if e.is_user_annotation] == ["mine"]


def test_threads_join_when_they_begin_or_open_a_range():
    with Pool() as pool, profile(experimental_config=ALL, profile_memory=True) as prof:
        work("mine")
        in_a_thread(libdl.log, libdl.ones(3))
        pool.do(libdl.sin, libdl.ones(3))  # it has not opened a range yet
        pool.do(work, "old")
        pool.do(libdl.cos, libdl.ones(3))
        old = pool.thread.native_id
    events = prof.events()
    threads = {e.name: e.thread for e in events}
    assert threads["mine"] == threading.get_native_id() and threads["old"] == threads["cos"] == old
    assert threads["log"] not in (old, threads["mine"]) and "sin" not in threads
    starts = [e.time_range.start for e in events]
    assert starts == sorted(starts) and len({e.id for e in events}) == len(events)
    assert all(e.cpu_parent is None or e.cpu_parent.thread == e.thread for e in events)


def test_what_a_thread_does_after_the_profile_is_nobodys():
    with Pool() as pool:
        with profile(experimental_config=ALL):
            pool.do(work, "old")
        pool.do(work, "between")
        with profile(experimental_config=ALL) as prof:
            pool.do(work, "again")
        assert [e.name for e in prof.events() if e.is_user_annotation] == ["again"]


def test_a_second_profile_of_all_threads_is_refused():
    refused = []

    def start():
        try:
            profile(experimental_config=ALL).start()
        except RuntimeError as error:
            refused.append(str(error))

    with profile(experimental_config=ALL), Pool() as pool:
        pool.do(start)
    assert len(refused) == 1 and "runs already" in refused[0]


def test_stacks_are_those_of_their_own_thread():
    with profile(experimental_config=ALL, with_stack=True) as prof:
        libdl.log(libdl.ones(3))
        in_a_thread(work, "other")
        libdl.sin(libdl.ones(3))
    stacks = {e.name: e.stack for e in prof.events() if e.cpu_parent is None}
    assert all(__file__ in stacks[name][0] for name in ("log", "sin")) and stacks["other"] == []


@pytest.mark.parametrize("with_stack", [False, True])
def test_a_profile_pauses(with_stack):
    with profile(with_stack=with_stack, record_shapes=True) as prof:
        x = libdl.ones(3)
        with record_function("before"):
            x.exp()
        prof.toggle_collection_dynamic(False, prof.activities)
        prof.toggle_collection_dynamic(False, prof.activities)
        x.log()
        prof.toggle_collection_dynamic(True, prof.activities)
        with record_function("behind"):
            x.sin()
    events = prof.events()
    assert [e.name for e in events] == ["ones", "before", "exp", "behind", "sin"]
    assert events[2].cpu_parent is events[1] and events[4].cpu_parent is events[3]
    assert events[4].input_shapes == [[3]]
    assert bool(events[4].stack) == with_stack


def test_a_plot_has_rows_for_each_thread():
    pytest.importorskip("matplotlib")
    with profile(experimental_config=ALL) as prof:
        libdl.log(libdl.ones(3))
        in_a_thread(libdl.log, libdl.ones(3))
    (axes,) = prof.plot().axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    threads = dict.fromkeys(e.thread for e in prof.events())
    assert len(threads) == 2
    for number in (1, 2):
        assert f"thread {number}: operators" in labels and f"thread {number}: passes" in labels
