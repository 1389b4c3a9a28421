# SPDX-License-Identifier: Apache-2.0
"""Queues, pipes and pools of libdl.multiprocessing."""

import multiprocessing
import os
import queue
import signal
import threading
import time

import pytest
from wrappers.processes import (
    METHODS,
    by_every_method,
    descriptors,
    ended,
    nothing_left,  # noqa: F401
    program,
    running,
    there_and_back,  # noqa: F401
)

import libdl
import libdl.multiprocessing as mp
from libdl.multiprocessing.memory import memory_of


def test_many_memories_and_a_long_pickle_make_one_message():
    before = descriptors()
    # Each is too large to lie with others.
    sent = [libdl.full((5000,), float(i)).share_memory_() for i in range(600)]
    numbers = list(range(100_000))
    arrived, also = there_and_back((sent, numbers))
    assert [x[7].item() for x in arrived] == list(range(600)) and also == numbers
    assert len({memory_of(x)[0].key for x in arrived}) == 600
    del sent, arrived
    assert descriptors() <= before + 1, "the memory for small tensors may have been made"


def test_many_large_tensors_that_are_sent_together_share_a_descriptor():
    sent = [libdl.full((5000 + i,), float(i)) for i in range(1000)]
    few = [libdl.full((5000,), float(i)) for i in range(60)]
    arrived, apart = there_and_back(sent), there_and_back(few)
    assert len({memory_of(x)[0].key for x in arrived}) == 1
    assert len({memory_of(x)[0].key for x in apart}) == 60, "one that is kept keeps no others"
    for x, found in zip(sent, arrived, strict=True):
        assert libdl.equal(x, found)
    arrived[7].zero_()
    assert (sent[7] == 0).all() and (sent[6] == 6).all() and (sent[8] == 8).all()


def test_small_tensors_share_a_descriptor():
    there_and_back(libdl.ones(1))
    before = descriptors()
    kept = [there_and_back(libdl.full((10,), float(i))) for i in range(300)]
    assert descriptors() <= before + 2
    assert [x[0].item() for x in kept] == list(range(300))


def _puts(q, first, count):
    for i in range(count):
        q.put((first, i, libdl.full((1 + i,), float(first))))


def test_more_messages_than_the_kernel_takes_arrive_in_order():
    q = mp.SimpleQueue()
    for i in range(2000):
        q.put(i)
    assert [q.get() for _ in range(2000)] == list(range(2000))
    context = mp.get_context("fork")
    q = context.Queue()
    writers = [context.Process(target=_puts, args=(q, n, 600)) for n in range(2)]
    for process in writers:
        process.start()
    found = [q.get(timeout=60) for _ in range(1200)]
    for process in writers:
        ended(process)
    for n in range(2):
        assert [i for first, i, _ in found if first == n] == list(range(600))
    assert all((x == first).all() and x.numel() == 1 + i for first, i, x in found)


def test_a_connection_sends_bytes_as_well():
    a, b = mp.Pipe()
    a.send_bytes(b"x" * 100_000)
    a.send_bytes(b"")
    a.send("text")
    assert b.recv_bytes() == b"x" * 100_000 and b.recv_bytes() == b"" and b.recv() == "text"
    assert not b.poll() and not b.poll(0.01)
    b.send([1])
    assert a.poll(5) and mp.connection.wait([a], 5) == [a] and a.recv() == [1]
    a.send(libdl.ones(2))
    with pytest.raises(OSError, match=r"call recv\(\)"):
        b.recv_bytes()
    a.close()
    with pytest.raises(EOFError):
        b.recv()
    with pytest.raises(BrokenPipeError):
        b.send(1)
    reader, writer = mp.Pipe(duplex=False)
    with pytest.raises(OSError, match="write-only"):
        writer.recv()
    with pytest.raises(OSError, match="read-only"):
        reader.send(1)


def test_a_queue_counts_and_waits():
    q = mp.Queue(2)
    q.put(1)
    q.put(libdl.ones(1), timeout=5)
    assert q.full() and q.qsize() == 2 and not q.empty()
    with pytest.raises(queue.Full):
        q.put_nowait(3)
    with pytest.raises(queue.Full):
        q.put(3, timeout=0.01)
    assert q.get() == 1 and q.get_nowait() == 1
    with pytest.raises(queue.Empty):
        q.get_nowait()
    with pytest.raises(queue.Empty):
        q.get(timeout=0.01)
    assert q.empty() and q.qsize() == 0
    q.close()
    q.join_thread()
    with pytest.raises(ValueError, match="is closed"):
        q.put(1)


def _works(q, out):
    while (x := q.get()) is not None:
        out.put(x * 2)
        q.task_done()


def test_a_joinable_queue_is_joined():
    context = mp.get_context("fork")
    q, out = context.JoinableQueue(), context.SimpleQueue()
    process = context.Process(target=_works, args=(q, out))
    process.start()
    for i in range(5):
        q.put(libdl.tensor(float(i)))
    q.join()
    assert [out.get().item() for _ in range(5)] == [0, 2, 4, 6, 8]
    q.put(None)
    ended(process)


def _twice(x):
    return x * 2


@by_every_method
def test_a_pool_works_on_tensors(method):
    with mp.get_context(method).Pool(2) as pool:
        found = pool.map(_twice, [libdl.full((n,), 1.0) for n in (1, 10, 20_000)])
        assert [x.sum().item() for x in found] == [2, 20, 40_000]
        assert pool.apply_async(_twice, (libdl.ones(2),)).get(60).tolist() == [2, 2]


def test_a_pool_that_is_terminated_at_work_ends():
    for _ in range(5):
        with mp.get_context("fork").Pool(2) as pool:  # whose end terminates it
            found = pool.imap(_twice, (libdl.full((3,), float(i)) for i in range(3000)))
            assert next(found).sum() == 0


def test_a_killed_worker_of_a_pool_is_replaced():
    with mp.get_context("fork").Pool(1) as pool:
        pid = pool.apply(os.getpid)
        os.kill(pid, signal.SIGKILL)  # while it waits for a task
        while running(pid):
            time.sleep(0.001)
        assert pool.apply_async(os.getpid).get(60) != pid


def test_a_manager_and_a_shared_value_are_the_standard_ones():
    with mp.get_context("fork").Manager() as manager:
        shared = manager.dict(x=libdl.ones(2))
        assert shared["x"].tolist() == [1, 1]
    assert mp.Value("i", 3).value == 3 and mp.cpu_count() == multiprocessing.cpu_count()


def test_names_are_those_of_the_standard_module_and_of_pytorch():
    assert all(hasattr(mp, name) for name in multiprocessing.__all__)
    assert mp.get_sharing_strategy() == "file_descriptor"
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    mp.set_sharing_strategy("file_descriptor")
    with pytest.raises(ValueError, match="wanted one of"):
        mp.set_sharing_strategy("carrier pigeon")
    with pytest.raises(AttributeError, match="near it: Process"):
        mp.Proces  # noqa: B018
    assert mp.get_all_start_methods() == multiprocessing.get_all_start_methods()
    for method in METHODS:
        assert mp.get_context(method).get_start_method() == method
    assert issubclass(mp.Process, multiprocessing.Process)


def test_the_start_method_is_the_standard_modules():
    run = """
    import multiprocessing, libdl.multiprocessing as mp
    mp.set_start_method("spawn")
    assert multiprocessing.get_start_method() == "spawn" == mp.get_context().get_start_method()
    multiprocessing.set_start_method("forkserver", force=True)
    assert mp.get_start_method() == "forkserver"
    try:
        mp.set_start_method("fork")
    except RuntimeError as error:
        print(error)
    """
    assert "already been set" in program(run).stdout


def test_threads_send_and_receive_at_once():
    q, found = mp.Queue(), []
    lock = threading.Lock()

    def read():
        while (x := q.get()) is not None:
            with lock:
                found.append(int(x[0]))

    def write(first):
        for i in range(100):
            q.put(libdl.full((2,), first + i))

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(n * 100,)) for n in range(3)]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    for _ in readers:
        q.put(None)
    for thread in readers:
        thread.join()
    assert sorted(found) == list(range(300))
