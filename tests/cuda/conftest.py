# SPDX-License-Identifier: Apache-2.0
"""Without a device these tests run on the simulated driver, which lies in the build beside libdl."""

import os
import pathlib

import libdl as dl

# Before anything asks for devices: the driver is opened once. A build without the plugin has none.
BUILD = pathlib.Path(dl.__file__).absolute().parents[2]
if "LIBDL_CUDA_DRIVER" not in os.environ and not pathlib.Path("/dev/nvidiactl").exists():
    if (BUILD / "libdlcuda.so").exists() and (BUILD / "libsimulated_cuda.so").exists():
        os.environ["LIBDL_CUDA_DRIVER"] = str(BUILD / "libsimulated_cuda.so")
