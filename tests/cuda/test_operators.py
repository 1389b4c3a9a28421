# SPDX-License-Identifier: Apache-2.0
"""Every operator's cases on the device give what they give on the CPU, and refuse tensors of both.
On a machine without one the driver is a simulated one, unless LIBDL_CUDA_DRIVER names another."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

import pytest

import harness
from cuda.device_process import Device, Devices
from libdl import _C

BUILD = pathlib.Path(_C.__file__).parents[2]
CASES = harness.cases()


def start() -> Device:
    device = Device({})
    if device.state == "ready" or "LIBDL_CUDA_DRIVER" in os.environ:
        return device
    device.end()
    simulated = BUILD / "libsimulated_cuda.so"
    return Device({"LIBDL_CUDA_DRIVER": str(simulated), "LIBDL_SIMULATED_LOUD": "1"})


@pytest.fixture(scope="module")
def devices() -> Iterator[Devices]:
    if not (BUILD / "libdlcuda.so").exists():
        pytest.skip("the CUDA plugin was not built: cmake found no nvcc")
    made = Devices(start)
    assert made.device.state == "ready", made.device.state
    yield made
    made.end()


@pytest.mark.parametrize("case", [c.name for c in CASES])
def test_device_computes_what_the_cpu_does(case: str, devices: Devices) -> None:
    failed, _ = devices.compared(case)
    assert not failed, f"{len(failed)} failures of {case}:\n" + "\n".join(failed[:3])


@pytest.mark.parametrize(
    "check",
    [
        "sums",
        "orders",
        "moments",
        "softmax",
        "layer_norm",
        "random",
        "optimizers",
        "scans",
        "special",
    ],
)
def test_sizes_that_fill_many_blocks_give_what_the_cpu_does(check: str, devices: Devices) -> None:
    failed, _ = devices.compared(f"large {check}")
    assert not failed, f"{len(failed)} failures of {check}:\n" + "\n".join(failed[:3])
