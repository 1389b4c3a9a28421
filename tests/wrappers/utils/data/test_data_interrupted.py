# SPDX-License-Identifier: Apache-2.0
"""A loader that Ctrl-C interrupts at any point, as a notebook's cell is. The next epoch is right,
and the same iterator goes on rightly or says that it cannot; nothing hangs."""

import copy
import gc
import os
import pickle
import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from wrappers.processes import program, running

import libdl
from libdl.utils import data

FOLDER = str(Path(data.__file__).resolve().parent)
WHOLE = bool(os.environ.get("LIBDL_WHOLE"))
by_both = pytest.mark.parametrize("method", ["process", "thread"])


class Pictures(data.Dataset):
    """A sample of 20 kB that tells its number, so that batches go through slots."""

    def __len__(self):
        return 24

    def __getitem__(self, i):
        return libdl.full((5000,), float(i)), i


def loader(method, **options):
    context = "fork" if method == "process" else None
    return data.DataLoader(
        Pictures(),
        2,
        num_workers=2,
        persistent_workers=True,
        worker_method=method,
        multiprocessing_context=context,
        **options,
    )


def numbers(batches, wanted=None):
    found = []
    for images, labels in batches:
        assert (images == labels[:, None]).all(), "other samples' pixels than labels"
        found += labels.tolist()
    assert wanted is None or found == wanted
    return found


class Interrupted(KeyboardInterrupt):
    pass


class At:
    """Raises at the n-th line, in order of time, of the loader's code in this thread."""

    def __init__(self, n):
        self.left = n

    def __call__(self, frame, event, argument):
        if not os.path.realpath(frame.f_code.co_filename).startswith(FOLDER):
            return None
        return self._line

    def _line(self, frame, event, argument):
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise Interrupted
        return self._line

    def __enter__(self):
        sys.settrace(self)

    def __exit__(self, *exception):
        sys.settrace(None)


def lines_of(function):
    counting = At(-1)
    with counting:
        function()
    return -1 - counting.left


def points(count, step):
    return range(1, count + 1, 1 if WHOLE else step)


# An error in a destructor or a callback is shown and goes no further, there as everywhere.
unraisable = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@unraisable
@by_both
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_epoch_after_one_that_was_interrupted_at_any_line(method, shuffle):
    epoch = loader(method, shuffle=shuffle)
    count = lines_of(lambda: [batch for batch, _ in zip(epoch, range(5), strict=False)])
    assert count > 300
    for n in points(count, 29):
        try:
            with At(n):
                for _ in zip(epoch, range(5), strict=False):
                    pass
        except Interrupted:
            pass
        found = numbers(epoch)
        assert (sorted(found) if shuffle else found) == list(range(24)), n


@unraisable
@by_both
def test_the_iterator_that_was_interrupted_goes_on_or_says_that_it_cannot(method):
    epoch = loader(method)
    begun = iter(epoch)
    count = lines_of(lambda: next(begun))
    outcomes = set()
    for n in points(4 * count, 17):
        begun, found = iter(epoch), []
        try:
            with At(n):
                while len(found) < 8:
                    images, labels = next(begun)
                    assert (images == labels[:, None]).all()
                    found += labels.tolist()
        except Interrupted:
            pass
        try:
            found += numbers(begun)
            # The batch that was under way when the error came may be lost with it.
            assert found == sorted(set(found)) and len(found) >= 22 and found[-1] == 23, (n, found)
            outcomes.add("goes on")
        except RuntimeError as error:
            assert "cannot go on" in str(error), n
            outcomes.add("says so")
    assert outcomes == {"goes on", "says so"}


def in_fork(frame):
    """Whether os.fork() is under way, with what modules do before and after it."""
    while frame is not None:
        if frame.f_code.co_filename.endswith(("popen_fork.py", "logging/__init__.py")):
            return True
        frame = frame.f_back
    return False


@unraisable
@by_both
def test_signals_at_random_moments(method):
    """Not only between lines: while a message is read, or waited for."""
    moments, epoch = random.Random(3), loader(method)
    longest = 0.004 if method == "process" else 0.001  # seconds: some fall within an epoch

    def interrupt(number, frame):
        if in_fork(frame):  # an error there would leave the lock of logging held in this process
            signal.setitimer(signal.ITIMER_REAL, 0.001)
        else:
            raise Interrupted

    before, interrupted = signal.signal(signal.SIGALRM, interrupt), 0
    try:
        for _ in range(300 if WHOLE else 30):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0001 + longest * moments.random())
                for _ in epoch:
                    pass
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupted:
                interrupted += 1
            numbers(epoch, list(range(24)))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 3


@unraisable
@by_both
def test_a_resumed_epoch_that_is_interrupted_while_it_begins_is_resumed_again(method):
    epoch = loader(method)
    begun = iter(epoch)
    numbers([next(begun) for _ in range(4)])
    state = epoch.state_dict()

    def begin():
        epoch.load_state_dict(state)
        iter(epoch)

    interrupted = 0
    for n in points(lines_of(begin), 31):
        epoch.load_state_dict(state)
        try:
            with At(n):
                iter(epoch)
        except Interrupted:
            interrupted += 1
            numbers(epoch, list(range(8, 24)))
        # Else it began in fewer lines than before, and the next epoch is a new one.
    assert interrupted > 3


@by_both
def test_what_was_waited_for_comes_after_the_interruption(method):
    """Ctrl-C mostly comes there, and loses nothing."""
    hold = threading.Event() if method == "thread" else None

    class Slow(Pictures):
        def __getitem__(self, i):
            if i == 4:
                time.sleep(0.3) if hold is None else hold.wait()
            return super().__getitem__(i)

    epoch = data.DataLoader(
        Slow(),
        2,
        num_workers=2,
        worker_method=method,
        multiprocessing_context="fork" if hold is None else None,
    )
    begun = iter(epoch)
    found = numbers([next(begun), next(begun)])

    def interrupt(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(Interrupted):
            next(begun)
    finally:
        signal.signal(signal.SIGALRM, before)
    if hold is not None:
        hold.set()
    assert found + numbers(begun) == list(range(24))


# -- exits of other kinds -------------------------------------------------------------------------


@by_both
def test_an_error_of_a_sampler_ends_the_iteration_and_not_silently(method):
    class Failing(data.Sampler):
        fails = True

        def __len__(self):
            return 24

        def __iter__(self):
            for i in range(24):
                if i == 15 and self.fails:
                    raise KeyboardInterrupt
                yield i

    sampler = Failing()
    for workers in ({}, {"num_workers": 2, "persistent_workers": True, "worker_method": method}):
        sampler.fails = True
        epoch = data.DataLoader(Pictures(), 2, sampler=sampler, **workers)
        begun = iter(epoch)
        with pytest.raises(KeyboardInterrupt):
            numbers(begun)
        with pytest.raises(RuntimeError, match="cannot go on"):
            numbers(begun)
        sampler.fails = False
        numbers(epoch, list(range(24)))


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_ends_a_thread_worker_comes_out_of_the_loader(error):
    class Exits(Pictures):
        def __getitem__(self, i):
            if i == 4:
                raise error(7)
            return super().__getitem__(i)

    def init(number):
        raise error(8)

    found = data.DataLoader(Exits(), 2, num_workers=2, worker_method="thread", timeout=60)
    begun = iter(found)
    next(begun), next(begun)
    with pytest.raises(error, match="7"):
        next(begun)
    assert numbers(begun) == list(range(6, 24))
    found = data.DataLoader(
        Pictures(), num_workers=1, worker_method="thread", worker_init_fn=init, timeout=60
    )
    with pytest.raises(error, match="8"):
        next(iter(found))


class NotHere:
    """Can be unpickled in the process in which it was made."""

    def __init__(self, pid):
        self.pid = pid

    def __reduce__(self):
        return _only_in, (self.pid,)


def _only_in(pid):
    if os.getpid() != pid:
        raise ValueError("this object stays at home")
    return NotHere(pid)


class SomeNotHere(Pictures):
    def __getitem__(self, i):
        image, number = super().__getitem__(i)
        return (NotHere(os.getpid()), image) if i % 3 == 1 else (number, image)


def _as_it_is(sample):
    return sample


def test_a_batch_that_cannot_be_unpickled_is_the_error_of_that_batch():
    epoch = data.DataLoader(
        SomeNotHere(),
        None,
        num_workers=2,
        collate_fn=_as_it_is,
        timeout=60,
        persistent_workers=True,
        multiprocessing_context="fork",
    )
    for _ in range(3):
        begun = iter(epoch)
        for i in range(24):
            if i % 3 == 1:
                with pytest.raises(ValueError, match="stays at home") as caught:
                    next(begun)
                assert "_only_in" in str(caught.value.__cause__)
            else:
                number, image = next(begun)
                assert number == i and (image == i).all()
        with pytest.raises(StopIteration):
            next(begun)
    del image
    for worker in begun._workers_of_epoch.workers:
        assert worker.rings and not any(ring.held for ring in worker.rings), "slots are given back"


def test_indices_that_a_worker_cannot_unpickle_are_the_error_of_their_batch():
    sampler = [3, NotHere(os.getpid()), 5]

    class Numbers(data.Dataset):
        def __getitem__(self, i):
            return i

    found = iter(
        data.DataLoader(
            Numbers(),
            None,
            sampler=sampler,
            num_workers=1,
            timeout=60,
            multiprocessing_context="fork",
        )
    )
    assert next(found) == 3
    with pytest.raises(ValueError, match="stays at home"):
        next(found)
    assert next(found) == 5


@by_both
def test_persistent_workers_have_one_iterator_as_in_pytorch(method):
    epoch = loader(method, timeout=60)
    first = iter(epoch)
    numbers([next(first)], [0, 1])
    second = iter(epoch)
    assert second is first is epoch._iterator
    numbers([next(second), next(first)], [0, 1, 2, 3])
    numbers(second, list(range(4, 24)))
    assert list(first) == []
    pairs = [(a[1].tolist(), b[1].tolist()) for a, b in zip(epoch, epoch, strict=True)]
    assert pairs[0] == ([0, 1], [2, 3])


def test_workers_that_died_between_epochs_are_replaced():
    epoch = loader("process")
    numbers(epoch, list(range(24)))
    victim = epoch._iterator._workers[0]
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    numbers(epoch, list(range(24)))
    epoch._iterator._shutdown_workers()
    numbers(epoch, list(range(24)))


# -- the end of workers ---------------------------------------------------------------------------


@by_both
def test_workers_end_with_their_iteration_not_with_the_loader(method):
    """As after a break."""
    epoch = data.DataLoader(
        Pictures(),
        2,
        num_workers=2,
        worker_method=method,
        multiprocessing_context="fork" if method == "process" else None,
    )
    gc.disable()
    try:
        for how in ("break", "error"):
            begun = iter(epoch)
            next(begun)
            workers = begun._workers
            pids = [process.pid for process in workers] if method == "process" else []
            del begun
            if method == "process":
                assert not any(map(running, pids)), how
            else:
                for thread in workers:
                    thread.join(10)
                    assert not thread.is_alive()
            assert epoch.state_dict()["batches"] == 1
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "workers", [{}, {"num_workers": 1}, {"num_workers": 1, "persistent_workers": True}], ids=str
)
def test_a_loader_that_was_iterated_can_be_copied_and_pickled(workers):
    epoch = data.DataLoader(Pictures(), 2, **workers)
    begun = iter(epoch)
    numbers([next(begun)], [0, 1])
    for copied in (copy.copy(epoch), copy.deepcopy(epoch), pickle.loads(pickle.dumps(epoch))):
        numbers(copied, list(range(24)))
        assert copied.batch_size == 2 and len(copied) == 12
    numbers(begun, list(range(2, 24)))
    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        pickle.dumps(begun)


def test_ctrl_c_in_a_notebook():
    """Whole cells of one interpreter."""
    program("""
    import os, signal, threading, time
    import libdl
    from libdl.utils import data

    class Pictures(data.Dataset):
        def __len__(self): return 64
        def __getitem__(self, i):
            time.sleep(0.002)
            return libdl.full((3, 40, 40), float(i)), i

    loader = data.DataLoader(
        Pictures(), 4, num_workers=2, persistent_workers=True, multiprocessing_context="fork"
    )
    for cell in range(12):
        timer = threading.Timer(0.003 * (cell + 1), os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            for images, labels in loader:
                pass
            timer.join()
            time.sleep(1)
        except KeyboardInterrupt:
            pass
        found = []
        for images, labels in loader:
            assert (images[:, 0, 0, 0] == labels).all()
            found += labels.tolist()
        assert found == list(range(64)), found
    """)
