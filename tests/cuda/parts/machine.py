# SPDX-License-Identifier: Apache-2.0
"""What the machine is; it fails where the plugin finds no device or no cuBLASLt."""

from __future__ import annotations

import ctypes
import datetime
import importlib.util
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import warnings
from typing import Any

from part import Part


def driver() -> str:
    """The version of the installed driver, as NVIDIA counts."""
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False)
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.split()[0]
    told = pathlib.Path("/proc/driver/nvidia/version")
    version = re.search(r"\b\d+\.\d+(\.\d+)?\b", told.read_text()) if told.exists() else None
    return version[0] if version else "unknown"


def cuda_version() -> str:
    """The newest CUDA that the driver supports."""
    number = ctypes.c_int()
    library = ctypes.CDLL(os.environ.get("LIBDL_CUDA_DRIVER", "libcuda.so.1"))
    if library.cuDriverGetVersion(ctypes.byref(number)) != 0:
        return "unknown"
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


def cublaslt() -> dict[str, str]:
    """The library that this process has opened, and its version."""
    mapped = pathlib.Path("/proc/self/maps").read_text()
    place = re.search(r"/\S*libcublasLt\.so\S*", mapped)
    if not place:
        return {"path": "", "version": "unknown"}
    library = ctypes.CDLL(place[0])
    library.cublasLtGetVersion.restype = ctypes.c_size_t
    number = library.cublasLtGetVersion()
    return {"path": place[0], "version": f"{number // 10000}.{number // 100 % 100}.{number % 100}"}


def versions() -> dict[str, Any]:
    found: dict[str, Any] = {"Python": platform.python_version()}
    for name in ("numpy", "torch"):
        try:
            found[name] = importlib.import_module(name).__version__
        except Exception as e:  # a package that is broken is of no use, and no harm
            there = importlib.util.find_spec(name)
            found[name] = f"cannot be imported: {e}" if there else "missing"
    return found


def main() -> None:
    part = Part()
    import libdl

    try:
        x = libdl.ones(64, 64, device="cuda")
        with warnings.catch_warnings():  # the plugin's only one: that there is no cuBLASLt
            warnings.simplefilter("error")
            product = (x @ x).sum().item()
    except Exception as e:
        part.fail(str(e))
        part.write()
        sys.exit(f"lease: {e}")
    part.expect(product == 64**3, f"the sum of a product of ones is {product}, wanted {64**3}")
    free, total = libdl.cuda.mem_get_info()
    part.write(
        device=libdl.cuda.get_device_name(),
        capability=libdl.cuda.get_device_capability(),
        memory=total,
        free=free,
        driver=driver(),
        CUDA=cuda_version(),
        cuBLASLt=cublaslt(),
        libdl=libdl.__version__,
        versions=versions(),
        processors=os.cpu_count(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
    )
    sys.exit(1 if part.found["failures"] else 0)


if __name__ == "__main__":
    main()
