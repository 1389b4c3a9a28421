# SPDX-License-Identifier: Apache-2.0
"""Without a device these tests run on the simulated driver, which lies in the build beside
libdl."""

import os
import pathlib
from collections.abc import Generator
from typing import Any

import libdl as dl
import pytest

# Before anything asks for devices: the driver is opened once. A build without the plugin has none.
BUILD = pathlib.Path(dl.__file__).absolute().parents[2]
if "LIBDL_CUDA_DRIVER" not in os.environ and not pathlib.Path("/dev/nvidiactl").exists():
    if (BUILD / "libdlcuda.so").exists() and (BUILD / "libsimulated_cuda.so").exists():
        os.environ["LIBDL_CUDA_DRIVER"] = str(BUILD / "libsimulated_cuda.so")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """A failing test tells the seed of the simulated driver's order of work, blocks and threads."""
    result = (yield).get_result()
    if result.failed and "LIBDL_CUDA_DRIVER" in os.environ:
        seed = os.environ.get("LIBDL_SIMULATED_SEED", "1")
        result.sections.append(("simulated driver", f"LIBDL_SIMULATED_SEED={seed}"))
