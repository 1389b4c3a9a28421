# SPDX-License-Identifier: Apache-2.0
"""The whole way without a GPU: what prepare has gathered runs on the simulated driver, in a folder
outside of the source tree, so that what was forgotten is missing."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from prepare import prepare

# Of the caller's environment; PYTHONPATH and the variables of libdl would lead back to the tree.
KEPT = ("PATH", "HOME", "TMPDIR", "LANG")


def simulated(build: pathlib.Path) -> dict[str, str]:
    """An environment whose driver, and cuBLASLt, is the simulated one."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    driver = str(build.absolute() / "libsimulated_cuda.so")
    return kept | {
        "LIBDL_CUDA_DRIVER": driver,
        "LIBDL_SIMULATED_BLAS": "1",
        "LIBDL_SIMULATED_LOUD": "1",
    }


def reports(out: pathlib.Path) -> list[str]:
    """The parts in which the simulated driver has seen a fault."""
    return [
        path.stem
        for path in sorted(out.glob("*.json"))
        if "simulated driver:" in json.loads(path.read_text())["output"]
    ]


def rehearse(
    build: pathlib.Path, parts: list[str], budget: float, limit: float, wheels: list[pathlib.Path]
) -> int:
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / "lease"
        if prepare(build, folder, limit, wheels) != 0:
            return 1
        out = pathlib.Path(place) / "out"
        command = [
            sys.executable,
            "-B",
            str(folder / "tests/cuda/lease"),
            "run",
            *parts,
            "--out",
            str(out),
            "--budget",
            str(budget),
            "--rehearsal",
        ]
        done = subprocess.run(command, cwd=place, env=simulated(build), check=False)
        if reports(out):
            print(
                f"lease: the simulated driver reports faults in {', '.join(reports(out))}",
                file=sys.stderr,
            )
        return done.returncode or bool(reports(out))
