# SPDX-License-Identifier: Apache-2.0
"""What tests of processes share. They end their processes, whatever became of the test."""

import gc
import os
import subprocess
import sys

import pytest

import libdl.multiprocessing as mp

METHODS = ["fork", "spawn", "forkserver"]
by_every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(autouse=True)
def nothing_left():
    """No process is left, whatever became of the test."""
    yield
    for process in mp.active_children():
        process.kill()
        process.join()


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


def program(text, **options):
    lines = "\n".join(line[4:] for line in text.splitlines())
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", lines],
        env=environment,
        text=True,
        timeout=120,
        capture_output=True,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return done


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends between open and read
        return False
