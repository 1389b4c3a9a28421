# SPDX-License-Identifier: Apache-2.0
"""Without a device these tests run on the simulated driver, which lies in the build beside libdl."""

import os
import pathlib

import libdl as dl

# Before anything asks for devices: the driver is opened once.
if "LIBDL_CUDA_DRIVER" not in os.environ and not pathlib.Path("/dev/nvidiactl").exists():
    for folder in pathlib.Path(dl.__file__).parents:
        driver = folder / "libsimulated_cuda.so"
        if driver.exists():
            os.environ["LIBDL_CUDA_DRIVER"] = str(driver)
            break
