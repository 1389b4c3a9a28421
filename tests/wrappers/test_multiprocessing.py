# SPDX-License-Identifier: Apache-2.0
"""libdl.multiprocessing: what goes from process to process, and what is left when one is killed."""

import gc
import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import threading
import time

import pytest

import libdl
import libdl.multiprocessing as mp
from libdl.multiprocessing.memory import memory_of

METHODS = ["fork", "spawn", "forkserver"]
by_every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(autouse=True)
def nothing_left():
    """No process and no file is left, whatever became of the test."""
    before = set(os.listdir("/dev/shm"))
    yield
    for process in mp.active_children():
        process.kill()
        process.join()
    # Semaphores of queues have names until they are made, as those of the standard library.
    assert {name for name in os.listdir("/dev/shm") if not name.startswith("sem.")} <= before


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def ended(process, code=0):
    process.join(60)
    assert process.exitcode == code


def there_and_back(obj):
    """Through a queue."""
    q = mp.SimpleQueue()
    q.put(obj)
    found = q.get()
    q.close()
    return found


# -- what is shared -------------------------------------------------------------------------------


def _writes(q, pipe, x, model):
    x.add_(1)
    with libdl.no_grad():
        model.weight.fill_(7)
    y = pipe.recv()
    y.mul_(2)
    q.put((y[1:], libdl.full((50_000,), 3.0)))
    pipe.send(x)


@by_every_method
def test_what_one_process_writes_the_other_sees(method):
    context = mp.get_context(method)
    q, (mine, theirs) = context.Queue(), context.Pipe()
    x, y, model = libdl.zeros(3).share_memory_(), libdl.ones(4), libdl.nn.Linear(2, 2)
    model.share_memory()
    process = context.Process(target=_writes, args=(q, theirs, x, model))
    process.start()
    mine.send(y)
    tail, large = q.get(timeout=60)
    again = mine.recv()
    ended(process)
    assert x.tolist() == [1, 1, 1] and y.tolist() == [2, 2, 2, 2]
    assert (model.weight == 7).all() and model.weight.requires_grad
    assert large.sum() == 150_000  # its sender has ended
    tail.zero_()
    assert y.tolist() == [2, 0, 0, 0]
    again.zero_()
    assert x.tolist() == [0, 0, 0]


def _adds(x):
    x.add_(1)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_process_of_the_standard_library_shares_its_arguments(method):
    x = libdl.zeros(2).share_memory_()
    process = multiprocessing.get_context(method).Process(target=_adds, args=(x,))
    process.start()
    ended(process)
    assert x.tolist() == [1, 1]


class Keeps(mp.get_context("spawn").Process):
    """A subclass with a tensor among its attributes."""

    def __init__(self, x):
        super().__init__()
        self.x = x

    def run(self):
        self.x += 5


def test_a_subclass_of_process_shares_its_attributes():
    process = Keeps(libdl.zeros(2))  # shared when it is sent
    process.start()
    ended(process)
    assert process.x.tolist() == [5, 5] and process.x.is_shared()


def test_tensors_of_one_storage_arrive_as_such():
    x = libdl.arange(12.0).view(3, 4)
    whole, row, turned, same, as_bits = there_and_back([x, x[1], x.t(), x, x.view(libdl.int32)])
    assert whole is same and whole is not x
    row.zero_()
    assert whole[1].tolist() == [0] * 4 and turned[:, 1].tolist() == [0] * 4
    assert turned.stride() == (1, 4) and as_bits[1].tolist() == [0] * 4
    assert x[1].tolist() == [0] * 4, "the sender shares it"
    again = there_and_back(x)
    again.fill_(9)
    assert (whole == 9).all()


def test_a_tensor_whose_views_would_stay_behind_is_sent_as_a_copy():
    x = libdl.zeros(6)
    half = x[:3]
    found = there_and_back(x)
    half += 1
    assert x[0] == 1 and found[0] == 0
    del half
    found = there_and_back(x)
    found += 1
    assert x.tolist() == [2, 2, 2, 1, 1, 1]


def test_a_view_that_is_sent_alone_is_a_copy():
    base = libdl.zeros(1000, 1000)
    row = base[3]
    found = there_and_back(row)
    assert memory_of(found)[0].size < 10**6, "the rest stays where it is"
    found.fill_(1)
    row += 5
    assert base[3, 0] == 5 and (found == 1).all() and not base.is_shared()


DTYPES = [libdl.bool, libdl.uint8, libdl.int16, libdl.int64, libdl.float16, libdl.bfloat16,
          libdl.float32, libdl.float64, libdl.complex64, libdl.complex128]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_layout_arrives(dtype):
    x = libdl.arange(24).to(dtype).view(2, 3, 4)
    for sent in (x, x.permute(2, 0, 1), x[:, ::2, 1:3], x[0, 0, 0], x[:0], x[:, :1].expand(2, 5, 4)):
        found = there_and_back(sent)
        assert libdl.equal(found, sent) and found.dtype is dtype
        assert found.stride() == sent.stride() and found.shape == sent.shape


class Point(libdl.Tensor):
    pass


def test_kinds_of_tensors_stay_what_they_are():
    parameter = libdl.nn.Parameter(libdl.ones(2))
    leaf = libdl.ones(3, requires_grad=True)
    point = libdl.ones(2).as_subclass(Point)
    point.name = "p"
    sparse = libdl.sparse_coo_tensor([[0, 2]], [[1.0], [2.0]], (3, 1))
    found = there_and_back([parameter, leaf, point, sparse, libdl.nn.Parameter(libdl.ones(1), False)])
    assert [type(x).__name__ for x in found] == ["Parameter", "Tensor", "Point", "Tensor", "Parameter"]
    assert [x.requires_grad for x in found] == [True, True, False, False, False]
    assert all(x.is_leaf for x in found) and found[2].name == "p"
    assert found[3].is_sparse and found[3].to_dense().tolist() == [[1], [0], [2]]
    found[0].data.fill_(4)
    assert parameter.tolist() == [4, 4]
    module = there_and_back(libdl.nn.Sequential(libdl.nn.Linear(2, 3), libdl.nn.LazyLinear(1)))
    assert module(libdl.ones(1, 2)).shape == (1, 1)
    generator = libdl.Generator().manual_seed(5)
    libdl.rand(3, generator=generator)
    copied = there_and_back(generator)
    assert libdl.equal(libdl.rand(4, generator=generator), libdl.rand(4, generator=copied))


def test_a_tensor_with_history_is_refused():
    x = libdl.ones(3, requires_grad=True)
    q = mp.Queue()
    with pytest.raises(RuntimeError, match="send its detach"):
        q.put(x * 2)
    with pytest.raises(Exception, match="pickle"):
        q.put(lambda: None)
    q.put((x * 2).detach())
    assert q.get().tolist() == [2, 2, 2]


def test_share_memory_moves_a_tensor_and_what_shares_a_modules_storage():
    x = libdl.arange(3.0)
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared()
    there = x.data_ptr()
    assert x.share_memory_().data_ptr() == there and x[1:].is_shared()
    assert x.tolist() == [0, 1, 2] and x._base is None
    reshaped = libdl.arange(4.0).view(2, 2).t().share_memory_()
    assert reshaped.is_shared() and reshaped.tolist() == [[0, 2], [1, 3]]
    base = libdl.zeros(4)
    views = base.chunk(2)
    for one in (base, views[0]):
        with pytest.raises(RuntimeError, match="with other views of it, which would stay"):
            one.share_memory_()
    del views, one
    assert base.share_memory_().is_shared()
    turned = libdl.from_numpy(libdl.arange(4.0).numpy()[::-1]).share_memory_()
    assert turned.tolist() == [3, 2, 1, 0]

    net = libdl.nn.Sequential(libdl.nn.Linear(3, 3), libdl.nn.Linear(3, 3), libdl.nn.BatchNorm1d(3))
    net[1].weight.data = net[0].weight.data
    net(libdl.ones(2, 3)).sum().backward()
    optimizer = libdl.optim.SGD([*net[0].parameters(), *net[2].parameters()], lr=1.0)
    assert net.share_memory() is net
    places = [*net.parameters(), *net.buffers(), net[0].weight.grad]
    memories = {memory_of(x)[0] for x in places}
    assert len(memories) == 1, "one descriptor for a module"
    with libdl.no_grad():
        net[0].weight.zero_()
    assert (net[1].weight == 0).all()
    bias = net[2].bias.clone()
    optimizer.step()
    assert not libdl.equal(net[2].bias, bias)


def test_the_standard_librarys_queues_carry_copies():
    q = multiprocessing.SimpleQueue()
    x = libdl.ones(3).share_memory_()
    q.put(x)
    assert q.get().add_(1).tolist() == [2, 2, 2] and x.tolist() == [1, 1, 1]


# -- messages -------------------------------------------------------------------------------------


def test_many_memories_and_a_long_pickle_make_one_message():
    before = descriptors()
    sent = [libdl.full((5000,), float(i)) for i in range(600)]  # each too large to lie with others
    numbers = list(range(100_000))
    arrived, also = there_and_back((sent, numbers))
    assert [x[7].item() for x in arrived] == list(range(600)) and also == numbers
    assert len({memory_of(x)[0].key for x in arrived}) == 600
    del sent, arrived
    assert descriptors() <= before + 1, "the memory for small tensors may have been made"


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


def program(text, **options):
    lines = "\n".join(line[4:] for line in text.splitlines())
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", lines], env=environment, text=True, timeout=120,
                          capture_output=True, **options)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


# -- what goes wrong ------------------------------------------------------------------------------


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


@pytest.mark.parametrize("what, error, text", [
    ("raises", mp.ProcessRaisedException, "Process 1 raised an exception(?s:.*)in _task(?s:.*)wanted by"),
    ("exits", mp.ProcessExitedException, "process 1 ended with exit code 5"),
    ("dies", mp.ProcessExitedException, "process 1 was ended by signal SIGKILL"),
])  # fmt: skip
def test_if_one_process_fails_the_others_are_ended(what, error, text):
    x = libdl.zeros(2).share_memory_()
    context = mp.start_processes(_task, (x, what), nprocs=2, join=False, start_method="fork")
    start = time.monotonic()
    with pytest.raises(error, match=text) as caught:
        while not context.join():
            pass
    assert time.monotonic() - start < 30  # of the other's 60
    assert caught.value.error_index == 1 and caught.value.pid == context.pids()[1]
    if what == "raises":
        assert isinstance(caught.value.__cause__, Odd)
    if what == "dies":
        assert (caught.value.exit_code, caught.value.signal_name) == (-9, "SIGKILL")
    assert not any(process.is_alive() for process in context.processes)


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_spawned_processes_end_with_a_parent_that_is_killed(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import time, os, libdl.multiprocessing as mp\n"
        "def task(i):\n    os.write(1, b'%d\\n' % os.getpid())\n    time.sleep(60)\n"
        "if __name__ == '__main__':\n    mp.spawn(task, nprocs=2)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment) as parent:
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
