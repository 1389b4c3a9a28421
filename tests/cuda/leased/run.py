# SPDX-License-Identifier: Apache-2.0
"""Runs the parts on the machine, one after the other, each a process with a limit of its own; what
one of them does, or leaves undone, costs the others nothing."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import pathlib
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from typing import Any

from plan import PARTS, ROOT
from table import table

PROGRAMS = ROOT / "tests/cuda/parts"
TAIL = 4000  # characters of a part's output that are kept
MACHINE_SECONDS = 60  # a first use of a device, whose kernels are loaded


def cublaslt_folder() -> str | None:
    """Where PyTorch's wheels, or CUDA itself, have the newest cuBLASLt."""
    folders: list[pathlib.Path] = []
    for package in ("nvidia", "torch"):
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec else []:
            folders += [pathlib.Path(place) / "lib", *sorted(pathlib.Path(place).glob("*/lib"))]
    folders += sorted(pathlib.Path("/usr/local").glob("cuda*/lib64"))
    versions = [
        (int(library.name.split(".")[2]), str(folder))
        for folder in folders
        for library in folder.glob("libcublasLt.so.[0-9]*")
    ]
    return max(versions)[1] if versions else None


def environment(unpacked: pathlib.Path) -> dict[str, str]:
    found = dict(os.environ)
    for wheel in sorted((ROOT / "wheels").glob("*.whl")):
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(unpacked)
    found["PYTHONPATH"] = os.pathsep.join([str(ROOT / "build/python"), str(unpacked)])
    found["PYTHONFAULTHANDLER"] = found["PYTHONUNBUFFERED"] = "1"
    folder = None if "LIBDL_CUDA_PATH" in found else cublaslt_folder()
    if folder:
        found["LIBDL_CUDA_PATH"] = folder
    return found


@dataclasses.dataclass
class Ended:
    how: str  # empty: by itself, with status 0
    seconds: float
    output: str


def without_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def process(command: list[str], limit: float, variables: dict[str, str]) -> Ended:
    """A group of processes of which nothing is left afterwards."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=variables,
            cwd=ROOT,
            start_new_session=True,
            preexec_fn=without_core,
        )
        try:
            status = child.wait(limit)
            how = f"ended with status {status}" if status > 0 else ""
            if status < 0:
                how = f"ended by {signal.Signals(-status).name}"
        except subprocess.TimeoutExpired:
            how = f"killed after {limit:.0f} s"
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # the usual case: the whole group is gone
            child.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Ended(how, time.monotonic() - start, text[-TAIL:])


def outcome(found: dict[str, Any], ended: Ended) -> str:
    if "not run" in found:
        return "not run"
    if ended.how:
        return ended.how
    if not found:
        return "wrote nothing"
    return "failed" if found["failed"] else "passed"


def one(
    name: str, limit: float, out: pathlib.Path, variables: dict[str, str], rehearsal: bool
) -> dict[str, Any]:
    """Runs the part and completes its file."""
    path = out / f"{name}.json"
    path.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-B",
        str(PROGRAMS / f"{name}.py"),
        "--out",
        str(path),
        "--seconds",
        f"{limit * 0.9:.1f}",
        *(["--rehearsal"] if rehearsal else []),
    ]
    ended = process(command, limit, variables)
    path.with_suffix(".unfinished").unlink(missing_ok=True)
    found = json.loads(path.read_text()) if path.exists() else {}
    found = {
        "part": name,
        "outcome": outcome(found, ended),
        "limit": round(limit, 1),
        "seconds": round(ended.seconds, 1),
        **found,
        "output": ended.output,
    }
    path.write_text(json.dumps(found, indent=1) + "\n")
    return found


def shares(parts: list[str], budget: float) -> Iterator[tuple[str, float]]:
    """Each part with its limit: its own, or its share of the time that is left."""
    end = time.monotonic() + budget
    for i, name in enumerate(parts):
        whole = sum(PARTS[other].seconds for other in parts[i:])
        left = end - time.monotonic()
        yield name, max(0.0, min(PARTS[name].seconds, left * PARTS[name].seconds / whole))


def carried() -> dict[str, Any]:
    """What prepare has written beside the files; in a source tree there is nothing."""
    path = ROOT / "carried.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def run(parts: list[str], out: pathlib.Path, budget: float, rehearsal: bool) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("lease: ended from outside"))
    out.mkdir(parents=True, exist_ok=True)
    command = shlex.join(["tests/cuda/lease", *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as unpacked:
        variables = environment(pathlib.Path(unpacked))
        machine = one("machine", min(MACHINE_SECONDS, budget), out, variables, rehearsal)
        machine |= {"command": command, "carried": carried()}
        (out / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
        if machine["outcome"] != "passed":
            told = "; ".join(machine.get("failures", [])) or machine["output"]
            print(f"lease: this machine is not fit, {machine['outcome']}: {told}", file=sys.stderr)
            return 2
        budget -= machine["seconds"]
        outcomes = []
        for name, limit in shares([name for name in PARTS if name in parts], budget):
            found = one(name, limit, out, variables, rehearsal)
            outcomes.append(found["outcome"])
            print(
                f"{name:12} {found['outcome']}, {found['seconds']} s: "
                f"{found.get('not run') or found.get('summary', '')}",
                flush=True,
            )
    print(table(out), end="")
    return 0 if set(outcomes) <= {"passed", "not run"} else 1
