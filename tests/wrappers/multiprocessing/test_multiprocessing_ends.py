# SPDX-License-Identifier: Apache-2.0
"""libdl.multiprocessing when processes fail or are killed, and when something runs out."""

import linecache
import os
import signal
import subprocess
import sys
import time
from queue import Full

import pytest
from wrappers.processes import (
    by_every_method,
    descriptors,
    ended,
    nothing_left,  # noqa: F401
    program,
    running,
)

import libdl
import libdl.multiprocessing as mp
from libdl.multiprocessing.memory import memory_of


def _puts_and_dies(q, x):
    x.fill_(3)
    q.put(x)
    q.put(libdl.full((100_000,), 2.0))
    os.kill(os.getpid(), signal.SIGKILL)


@by_every_method
def test_messages_of_a_sender_that_was_killed_arrive(method):
    context = mp.get_context(method)
    q = context.Queue()
    process = context.Process(target=_puts_and_dies, args=(q, libdl.zeros(2)))
    process.start()
    ended(process, -signal.SIGKILL)
    assert q.get().tolist() == [3, 3] and q.get().sum() == 200_000


def _sends_for_ever(q):
    i = 0
    while True:
        q.put((i, libdl.full((3,), float(i)), libdl.full((6000,), float(i))))
        i += 1


# Whole: 300 kills.
KILLS = 300 if os.environ.get("LIBDL_WHOLE") else 12


def test_senders_killed_at_any_moment_leave_whole_messages_and_nothing_else():
    context = mp.get_context("fork")
    q = context.SimpleQueue()
    q.put(libdl.ones(1))
    q.get()
    before, messages = descriptors(), 0
    moments = libdl.rand(KILLS, generator=libdl.Generator().manual_seed(1)) * 0.02
    for moment in moments.tolist():
        process = context.Process(target=_sends_for_ever, args=(q,))
        process.start()
        i, small, large = q.get()
        time.sleep(moment)
        process.kill()
        process.join()
        process.close()
        while True:
            assert (small == i).all() and (large == i).all() and large.numel() == 6000
            messages += 1
            if q.empty():
                break
            i, small, large = q.get()
    assert messages > KILLS
    del small, large
    assert descriptors() <= before
    q.put("still in use")
    assert q.get() == "still in use"


def _reads_for_ever(q):
    while True:
        q.get()


def test_a_reader_that_was_killed_holds_nobody_up():
    context = mp.get_context("fork")
    q = context.Queue()
    reader = context.Process(target=_reads_for_ever, args=(q,))
    reader.start()
    time.sleep(0.05)
    reader.kill()  # while it waits: a lock would be lost with it
    reader.join()
    q.put(libdl.ones(2))
    assert q.get(timeout=5).tolist() == [1, 1]


def test_a_limit_on_descriptors_is_an_error_that_says_so():
    done = program("""
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    import libdl, libdl.multiprocessing as mp
    q, kept = mp.SimpleQueue(), []
    try:
        for _ in range(100):
            q.put(libdl.ones(10_000))
            kept.append(q.get())
    except OSError as error:
        assert 40 < len(kept) < 64
        print(error)
    # A message that is refused is lost; those after it arrive.
    kept.clear()
    reader, writer = mp.Pipe(duplex=False)
    sent = [libdl.ones(10_000) for _ in range(30)]
    writer.send(sent)
    del sent
    fill = [open("/dev/null") for _ in range(40)]
    try:
        reader.recv()
    except OSError as error:
        print(error)
    fill.clear()
    writer.send(libdl.ones(10_000))
    assert reader.recv().sum() == 10_000
    """)
    assert done.stdout.count("raise the limit (ulimit -n)") == 2, done.stdout


def test_memory_that_does_not_fit_is_an_error_and_no_signal():
    done = program("""
    import resource
    import libdl, libdl.multiprocessing as mp
    x = libdl.ones(1_000_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        x.share_memory_()
    except OSError as error:
        print(error)
    assert x.sum() == 1_000_000 and not x.is_shared()
    """)
    assert "File too large" in done.stdout


def _puts(q, first, count):
    for i in range(count):
        q.put((first, i, libdl.full((1 + i,), float(first))))


def test_a_forked_process_places_small_tensors_elsewhere():
    mine = libdl.ones(1).share_memory_()
    context = mp.get_context("fork")
    q = context.SimpleQueue()
    process = context.Process(target=_puts, args=(q, 8, 3))
    process.start()
    later = libdl.full((1,), 2.0).share_memory_()
    theirs = [q.get()[2] for _ in range(3)]
    ended(process)
    assert mine.item() == 1 and later.item() == 2 and all((x == 8).all() for x in theirs)
    assert not {memory_of(x)[0].key for x in theirs} & {memory_of(mine)[0].key}


# -- spawn ----------------------------------------------------------------------------------------


class Odd(Exception):
    def __init__(self, number, why):
        super().__init__(number, why)


def _task(i, x, what):
    x[i] = i + 1
    if what == "raises" and i == 1:
        raise Odd(i, "wanted by the test")
    if what == "exits" and i == 1:
        sys.exit(5)
    if what == "dies" and i == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if what != "ends":
        time.sleep(60)


def test_spawn_runs_a_function_in_several_processes():
    x = libdl.zeros(3)
    assert mp.spawn(_task, (x, "ends"), nprocs=3) is None
    assert x.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="start_processes takes others"):
        mp.spawn(_task, (x, "ends"), start_method="fork")


@pytest.mark.parametrize(
    "what, error, text",
    [
        ("raises", mp.ProcessRaisedException, "Process 1 raised(?s:.*)in _task(?s:.*)wanted by"),
        ("exits", mp.ProcessExitedException, "process 1 ended with exit code 5"),
        ("dies", mp.ProcessExitedException, "process 1 was ended by signal SIGKILL"),
    ],
)
def test_if_one_process_fails_the_others_are_ended(what, error, text):
    x = libdl.zeros(2).share_memory_()
    context = mp.start_processes(_task, (x, what), nprocs=2, join=False, start_method="fork")
    start = time.monotonic()
    with pytest.raises(error, match=text) as caught:
        while not context.join():
            pass
    assert time.monotonic() - start < 30  # of the other's 60
    assert caught.value.error_index == 1 and caught.value.error_pid == context.pids()[1]
    if what == "raises":
        assert isinstance(caught.value.__cause__, Odd)
    if what == "dies":
        assert (caught.value.exit_code, caught.value.signal_name) == (-9, "SIGKILL")
    assert not any(process.is_alive() for process in context.processes)


def test_spawned_processes_end_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import time, os, libdl.multiprocessing as mp\n"
        "def task(i):\n    os.write(1, b'%d\\n' % os.getpid())\n    time.sleep(60)\n"
        "if __name__ == '__main__':\n    mp.spawn(task, nprocs=2)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        pids = [int(parent.stdout.readline()) for _ in range(2)]
        parent.kill()
        parent.wait()
        end = time.monotonic() + 20
        while any(map(running, pids)) and time.monotonic() < end:
            time.sleep(0.01)
        left = [pid for pid in pids if running(pid)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert not left


class _Killer:
    """Ends the process that packs it."""

    def __reduce__(self):
        os.kill(os.getpid(), signal.SIGKILL)
        return int, ()


@by_every_method
@pytest.mark.parametrize("kind", ["Queue", "JoinableQueue"])
def test_a_producer_that_is_killed_while_it_packs_takes_no_place(method, kind):
    context = mp.get_context(method)
    q = getattr(context, kind)(1)
    process = context.Process(target=_puts_killer, args=(q,))
    process.start()
    ended(process, -signal.SIGKILL)
    q.put(libdl.ones(3), timeout=20)
    with pytest.raises(Full):
        q.put(libdl.ones(3), block=False)
    assert q.get(timeout=20).tolist() == [1, 1, 1]


def _puts_killer(q):
    q.put(_Killer())


def _dies_while_it_sends(q):
    q._outbox.writer.try_send = lambda packet: os.kill(os.getpid(), signal.SIGKILL)
    q.put(1)


def _goes_on(q):
    for i in range(20):
        q.put(i, timeout=20)
        assert q.get(timeout=20) == i
        getattr(q, "task_done", int)()


@pytest.mark.parametrize("kind", ["Queue", "JoinableQueue"])
def test_a_producer_that_is_killed_while_it_sends_keeps_no_lock(kind):
    """Its place is lost, with multiprocessing's own queues, too; what it held is not."""
    context = mp.get_context("fork")
    q = getattr(context, kind)(2)
    process = context.Process(target=_dies_while_it_sends, args=(q,))
    process.start()
    ended(process, -signal.SIGKILL)
    process = context.Process(target=_goes_on, args=(q,))
    process.start()
    ended(process)


def test_a_put_that_fails_leaves_nothing_to_be_done(monkeypatch):
    def fails(packet):
        raise KeyboardInterrupt

    q = mp.JoinableQueue(2)
    q.put(1)
    with pytest.raises(AttributeError, match="Can't pickle local object"):
        q.put(lambda: 0)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(q._outbox.writer, "try_send", fails)
        q.put(2)
    assert q.get(timeout=20) == 1 and q.qsize() == 0
    q.task_done()
    process = mp.get_context("fork").Process(target=q.join)
    process.start()
    ended(process)
    with pytest.raises(ValueError, match="called too many times"):
        q.task_done()


class _Interrupting:
    """Raises at the n-th line of queues.py and of what it calls beside it."""

    def __init__(self, n):
        self.left = n

    def __call__(self, frame, event, argument):
        if f"{os.sep}multiprocessing{os.sep}" not in frame.f_code.co_filename:
            return None
        # The line of a "with" comes again at its end, where no signal's handler is called.
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        if event == "line" and not line.startswith("with "):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("large", [False, True])  # large: the kernel has no room for it
def test_a_put_that_is_interrupted_at_any_line_takes_no_place(large):
    x, kept = bytes(20_000) if large else b"x", []
    for n in range(1, 60):
        q = mp.Queue(40)
        kept.append(q)  # what ends a queue is not to be interrupted
        for _ in range(20 if large else 0):
            q.put(x)
        sys.settrace(_Interrupting(n))
        try:
            q.put(x)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        for _ in range(2):
            arrived = 0
            while True:
                try:
                    q.put(x, block=False)
                except Full:
                    break
            # The one that was interrupted may have been sent, and its place given back.
            while arrived < 40 or not q.empty():
                assert q.get(timeout=20) == x
                arrived += 1
            assert arrived <= 41 and not q.full() and q.qsize() == 0, n
        assert arrived == 40
        q.close()
        q.join_thread()


def _interrupted(number):
    if number == 1:
        raise KeyboardInterrupt
    time.sleep(60)


def _interrupts_itself(number):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)


@pytest.mark.parametrize(("function", "failed"), [(_interrupted, 1), (_interrupts_itself, 0)])
def test_a_process_that_was_interrupted_did_not_succeed(function, failed):
    """PyTorch counts it as done."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored under nohup
    try:
        with pytest.raises(mp.ProcessRaisedException, match="KeyboardInterrupt") as caught:
            mp.spawn(function, nprocs=2 if failed else 1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught.value.error_index == failed and type(caught.value.__cause__) is KeyboardInterrupt
