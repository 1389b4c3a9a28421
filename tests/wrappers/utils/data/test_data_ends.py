# SPDX-License-Identifier: Apache-2.0
"""Workers of a DataLoader that are killed or interrupted, or have few descriptors."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from wrappers.processes import METHODS, descriptors, program, running

import libdl
from libdl.utils import data


class Pictures(data.Dataset):
    """Samples that take about a millisecond."""

    def __len__(self):
        return 10_000

    def __getitem__(self, i):
        return libdl.rand(3, 32, 32), i


# Whole: 300 kills.
KILLS = 300 if os.environ.get("LIBDL_WHOLE") else 8


def test_workers_killed_at_any_moment_are_named_and_leave_nothing():
    moments = random.Random(1)

    def one():
        loader = data.DataLoader(Pictures(), 16, num_workers=2, multiprocessing_context="fork")
        batches = iter(loader)
        next(batches)
        workers = [process.pid for process in batches._workers]
        for worker in batches._workers_of_epoch.workers:
            for ring in worker.rings:
                assert ring.fd < 0, "the mappings are all there is of its memory"
        end = time.monotonic() + moments.random() * 0.02
        while time.monotonic() < end:
            next(batches)
        os.kill(moments.choice(workers), signal.SIGKILL)
        with pytest.raises(
            RuntimeError, match=r"worker [01] \(pid \d+\) was killed by signal 9 \(SIGKILL"
        ):
            for _ in range(10_000):
                images, numbers = next(batches)
                assert images.shape[1:] == (3, 32, 32) and len(numbers) == len(images)
        batches._shutdown_workers()
        return workers

    one()
    before = descriptors()
    workers = [pid for _ in range(KILLS) for pid in one()]
    assert descriptors() <= before
    assert not any(map(running, workers))


def test_eight_workers_need_few_descriptors():
    program("""
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    import libdl
    from libdl.utils import data
    x = libdl.arange(400.0).view(100, 4)
    kept = []
    for _ in range(3):
        loader = data.DataLoader(
            data.TensorDataset(x), 2, num_workers=8, multiprocessing_context="fork"
        )
        kept += [batch[0] for batch in loader]
    assert libdl.equal(libdl.cat(kept), libdl.cat([x, x, x]))
    """)


LOOP = """
import os, sys, time
import libdl
from libdl.utils import data
class Slow(data.Dataset):
    def __len__(self): return 1000
    def __getitem__(self, i):
        os.write(1, b"%d\\n" % os.getpid())
        time.sleep(20)
if __name__ == "__main__":
    try:
        context = sys.argv[1]
        for _ in data.DataLoader(Slow(), 1, num_workers=2, multiprocessing_context=context): pass
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_in_the_middle_of_a_sample_ends_the_workers(tmp_path, method):
    script = tmp_path / "program.py"
    script.write_text(LOOP)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, script, method],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as started:
        workers = {int(started.stdout.readline()) for _ in range(2)}
        start = time.monotonic()
        os.killpg(started.pid, signal.SIGINT)  # as a terminal does
        assert started.stdout.read().endswith("interrupted\n")
        assert started.wait() == 0 and started.stderr.read() == ""
        seconds = time.monotonic() - start
    assert not any(map(running, workers))
    assert seconds < 10  # of a sample's 20
