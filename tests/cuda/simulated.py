# SPDX-License-Identifier: Apache-2.0
"""Programs on the simulated driver, each in a process of its own: a process opens one driver."""

import os
import pathlib
import subprocess
import sys
import textwrap

import libdl

BUILD = pathlib.Path(libdl.__file__).absolute().parents[2]
SIMULATION = BUILD / "libsimulated_cuda.so"


def run(program: str, **environment: str) -> str:
    """What the program prints with the simulated driver, or with the variables given."""
    variables = {"LIBDL_CUDA_DRIVER": str(SIMULATION), "LIBDL_SIMULATED_LOUD": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "simulated driver:" not in done.stderr, done.stderr
    return done.stdout
