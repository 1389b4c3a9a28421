# SPDX-License-Identifier: Apache-2.0
"""Threads that share tensors without agreeing: nothing crashes and nobody waits for ever. Each case
is a process of its own, so that one that hangs or dies fails alone."""

import subprocess
import sys
import textwrap

import pytest

HEAD = """
    import os, random, signal, sys, threading, time
    import libdl
    libdl.set_num_threads(1)
    sys.setswitchinterval(1e-5)
    def end(told):  # the others may wait for this thread
        sys.__excepthook__(told.exc_type, told.exc_value, told.exc_traceback)
        os._exit(1)
    threading.excepthook = end
    def together(*functions):
        threads = [threading.Thread(target=f) for f in functions]
        for t in threads: t.start()
        for t in threads: t.join()
"""


def runs(body: str, seconds: int = 120) -> None:
    program = textwrap.dedent(HEAD) + textwrap.dedent(body)
    done = subprocess.run(
        [sys.executable, "-c", program], timeout=seconds, capture_output=True, text=True
    )
    assert done.returncode == 0, f"ended with {done.returncode}\n{done.stderr[-2000:]}"


def test_two_threads_train_one_model() -> None:
    runs("""
        w = libdl.randn(256, 256, requires_grad=True)
        v = libdl.randn(256, 256, requires_grad=True)
        x = libdl.randn(160, 256)
        def train():
            for _ in range(300):
                try:
                    (libdl.tanh(x @ w) @ v.T).sum().backward()
                except libdl.VersionError:
                    pass  # the other one wrote a weight meanwhile
                with libdl.no_grad():
                    for p in (w, v):
                        if p.grad is not None:
                            p.sub_(p.grad, alpha=1e-6)
                w.grad = None
        together(train, train, train)
    """)


def test_one_writes_in_place_what_others_read() -> None:
    runs("""
        leaf = libdl.ones(300, 300, requires_grad=True)
        one = libdl.ones(300, 300)
        for _ in range(10):
            base = leaf * 1
            view = base.T
            def write():
                for _ in range(60):
                    base.mul_(one)
            def read():
                for _ in range(60):
                    (base + view).sum()
                    base[:2].requires_grad
                    base.grad_fn
            together(write, write, read, read)
    """)


def test_hooks_come_and_go_during_backward() -> None:
    runs("""
        leaf = libdl.ones(200, 200, requires_grad=True)
        done = []
        def passes():
            for _ in range(300):
                (leaf * leaf).sum().backward()
            done.append(1)
        def hooks():
            while len(done) < 2:
                leaf.register_hook(lambda g: None).remove()
                leaf.grad = None
        together(passes, passes, hooks)
    """)


@pytest.mark.parametrize("anomaly", [False, True])
def test_grad_is_read_while_passes_add_to_it(anomaly: bool) -> None:
    runs(f"""
        libdl.autograd.set_detect_anomaly({anomaly})
        x = libdl.ones(300, 300, requires_grad=True)
        done = []
        def passes():
            libdl.autograd.set_detect_anomaly({anomaly})
            for _ in range(200):
                (x * 2).sum().backward()
            done.append(1)
        def look():
            while len(done) < 2:
                x.grad
        together(passes, passes, look)
        assert x.grad[0, 0].item() == 2 * 2 * 200
    """)


def test_data_is_replaced_while_others_read_it() -> None:
    runs("""
        shapes = [(1500, 1200), (300, 2), (1100, 700)]
        p = libdl.zeros(1500, 1200)
        done = []
        def read():
            for _ in range(400):
                y = p * 1
                assert tuple(y.shape) in shapes, y.shape
                assert not y.any(), "of memory that p had before"
            done.append(1)
        def replace():
            while len(done) < 2:
                for shape in shapes:
                    p.data = libdl.zeros(*shape)
                    libdl.full((1500, 1200), 7.0)  # takes the memory that was freed
        together(read, read, replace)
    """)


def test_a_hook_may_wait_for_a_thread_that_replaces_data() -> None:
    runs("""
        lock = threading.Lock()
        p = libdl.ones(400, 400, requires_grad=True)
        q = libdl.ones(400, 400)
        def hook(gradient):
            with lock:
                q.data = libdl.ones(400, 400)
        p.register_hook(hook)
        done = []
        def passes():
            for _ in range(200):
                (p * p).sum().backward()
            done.append(1)
        def replace():
            while not done:
                with lock:
                    q.data = libdl.ones(400, 400)
        together(passes, replace)
    """)


def test_a_list_is_emptied_while_cat_reads_it() -> None:
    runs("""
        parts = []
        done = []
        def join():
            for _ in range(300):
                parts[:] = [libdl.ones(100, 1000) for _ in range(10)]
                try:
                    whole = libdl.cat(parts)
                except ValueError:
                    continue  # there was none left
                assert whole.sum().item() == whole.numel()
            done.append(1)
        def empty():
            while not done:
                parts.clear()
                libdl.full((10, 100, 1000), 7.0)  # takes the memory that was freed
                for _ in range(10): libdl.full((100, 1000), 7.0)
        together(join, empty)
    """)


def test_a_child_forked_during_work_replaces_data() -> None:
    runs("""
        p = libdl.ones(1500, 1200)
        stop = []
        def work():
            while not stop:
                p * 2
        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(50):
            child = os.fork()
            if child == 0:
                signal.alarm(10)
                p.data = libdl.zeros(3)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        stop.append(1)
        thread.join()
    """)


def test_children_of_a_training_process_work() -> None:
    runs(
        """
        w = libdl.ones(128, 128, requires_grad=True)
        x = libdl.ones(64, 128)
        stop = []
        def step():
            (x @ w).sum().backward()
        def train():
            while not stop:
                step()
        threads = [threading.Thread(target=train) for _ in range(3)]
        for t in threads: t.start()
        lost = []
        for i in range(100):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                w.grad = None
                step()
                os._exit(0 if w.grad[0, 0].item() == 64 else 1)
            status = os.waitpid(child, 0)[1]
            if status:
                lost.append((i, status))
        stop.append(1)
        for t in threads: t.join()
        assert not lost, lost
    """,
        300,
    )
