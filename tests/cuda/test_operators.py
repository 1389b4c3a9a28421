# SPDX-License-Identifier: Apache-2.0
"""Every operator's cases on the device give what they give on the CPU, and refuse tensors of both.
On a machine without one the driver is a simulated one, unless LIBDL_CUDA_DRIVER names another."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

import harness
from libdl import _C

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(_C.__file__).parents[2]
CASES = harness.cases()


class Device:
    """A process in which the cases run."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "on_device.py")], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, **environment})
        self.state = self.answer()

    def answer(self) -> object:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"the process ended with {self.process.wait()}"
        return json.loads(line)

    def failures(self, case: str) -> list[str]:
        assert self.process.stdin
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        found = self.answer()
        assert isinstance(found, list)
        return found

    def end(self) -> None:
        self.process.communicate()


def start() -> Device:
    device = Device({})
    if device.state == "ready" or "LIBDL_CUDA_DRIVER" in os.environ:
        return device
    device.end()
    simulated = BUILD / "libsimulated_cuda.so"
    return Device({"LIBDL_CUDA_DRIVER": str(simulated), "LIBDL_SIMULATED_LOUD": "1"})


class Devices:
    """One for all cases, and a new one after a case that ended it."""

    def __init__(self) -> None:
        self.device = start()

    def failures(self, case: str) -> list[str]:
        try:
            return self.device.failures(case)
        except (AssertionError, BrokenPipeError) as e:
            self.device.end()
            self.device = start()
            return [f"{case} ended the process: {e}"]


@pytest.fixture(scope="module")
def devices() -> Iterator[Devices]:
    if not (BUILD / "libdlcuda.so").exists():
        pytest.skip("the CUDA plugin was not built: cmake found no nvcc")
    made = Devices()
    assert made.device.state == "ready", made.device.state
    yield made
    made.device.end()


@pytest.mark.parametrize("case", [c.name for c in CASES])
def test_device_computes_what_the_cpu_does(case: str, devices: Devices) -> None:
    failed = devices.failures(case)
    assert not failed, f"{len(failed)} failures of {case}:\n" + "\n".join(failed[:3])


@pytest.mark.parametrize("check", ["sums", "orders", "moments", "softmax", "layer_norm", "random",
                                   "optimizers", "scans"])
def test_sizes_that_fill_many_blocks_give_what_the_cpu_does(check: str, devices: Devices) -> None:
    failed = devices.failures(f"large {check}")
    assert not failed, f"{len(failed)} failures of {check}:\n" + "\n".join(failed[:3])
