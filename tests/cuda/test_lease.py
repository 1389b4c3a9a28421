# SPDX-License-Identifier: Apache-2.0
"""tests/cuda/lease on the simulated driver: what it carries is whole, what a part does costs the
others nothing, and each part sees what it is for."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from cuda.simulated import BUILD, SIMULATION

pytestmark = pytest.mark.skipif(not SIMULATION.exists(), reason="the CUDA plugin was not built")

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEASE = ROOT / "tests/cuda/lease"
PARTS = ["correctness", "memcheck", "streams", "exchange", "host", "roofline", "allocator"]
DRIVER = {
    "LIBDL_CUDA_DRIVER": str(SIMULATION),
    "LIBDL_SIMULATED_BLAS": "1",
    "LIBDL_SIMULATED_LOUD": "1",
}


def lease(
    script: pathlib.Path, *arguments: object, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Without what leads back to the source tree."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-B", str(script), *map(str, arguments)],
        cwd="/",
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("prepared") / "lease"
    done = lease(LEASE, "prepare", "--build", BUILD, "--folder", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def place(prepared: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy in which files may be replaced (not written to: they are one with the others')."""
    return shutil.copytree(prepared, tmp_path / "lease", copy_function=os.link)


def replaced(path: pathlib.Path, change: Callable[[str], str]) -> None:
    text = path.read_text()
    path.unlink()
    path.write_text(change(text))


def run(
    place: pathlib.Path, *arguments: object, **environment: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """What it says, and what it has written."""
    out = place / "out"
    done = lease(
        place / "tests/cuda/lease", "run", *arguments, "--out", out, "--rehearsal", **environment
    )
    return done, {path.stem: json.loads(path.read_text()) for path in out.iterdir()}


def test_every_part_runs_outside_of_the_source_tree(place):
    done, found = run(place, **DRIVER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert found.keys() == {"machine", *PARTS}
    outcomes = {name: found[name]["outcome"] for name in PARTS}
    assert outcomes == dict.fromkeys(PARTS, "passed") | {"memcheck": "not run"}
    assert "compute-sanitizer" in found["memcheck"]["not run"]
    assert not [name for name in found if "simulated driver:" in found[name]["output"]]
    assert found["correctness"]["reached"] == found["correctness"]["operators"] > 250
    kinds = {row["kind"] for row in found["roofline"]["rows"]}
    assert kinds == {
        "pointwise",
        "broadcast",
        "reduction",
        "softmax",
        "layer_norm",
        "copy",
        "gather",
        "scatter",
        "sort",
        "random",
        "product",
        "convolution",
        "optimizer",
    }
    assert str(ROOT) not in found["machine"]["output"]
    table = lease(LEASE, "table", place / "out").stdout
    assert "A rehearsal on the simulated driver" in table and done.stdout.endswith(table)
    rows = sum(len(found[name].get("rows", [])) for name in PARTS)
    assert table.count(" GB/s |") + table.count(" TFLOP/s |") + table.count(" us |") == rows > 40


def test_rehearse_is_one_command():
    done = lease(LEASE, "rehearse", "streams", "--build", BUILD)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "streams      passed" in done.stdout


HANGS = """
    import pathlib, subprocess, time
    from part import Part
    part = Part()
    part.write("half of it")
    child = subprocess.Popen(["sleep", "1000"])
    (part.out.parent.parent / "child").write_text(str(child.pid))
    time.sleep(1000)
"""
CRASHES = "import os\nos.abort()\n"
FAILS = "from part import Part\npart = Part()\npart.fail('planted')\npart.write('all of it')\n"


def alive(process: int) -> bool:
    """A zombie, whose parent has not asked for it yet, is not."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_part_that_hangs_crashes_or_fails_is_reported_and_the_next_one_runs(place):
    programs = place / "tests/cuda/parts"
    for name, text in {"streams": HANGS, "exchange": CRASHES, "host": FAILS}.items():
        replaced(programs / f"{name}.py", lambda _, text=text: textwrap.dedent(text))
    start = time.monotonic()
    done, found = run(place, "streams", "exchange", "host", "allocator", "--budget", 25, **DRIVER)
    assert done.returncode == 1 and time.monotonic() - start < 60
    assert found["streams"]["outcome"].startswith("killed after")
    assert found["streams"]["summary"] == "half of it"
    assert not alive(int((place / "child").read_text()))
    assert found["exchange"]["outcome"] == "ended by SIGABRT"
    assert "Fatal Python error: Aborted" in found["exchange"]["output"]
    assert found["host"]["outcome"] == "failed" and found["host"]["failures"] == ["planted"]
    assert found["allocator"]["outcome"] == "passed", found["allocator"]


NO_CUBLASLT = {**DRIVER, "LIBDL_SIMULATED_CUBLASLT": "/nowhere/libcublasLt.so.13"}
NO_DRIVER = {"LIBDL_CUDA_DRIVER": "libno_such_driver.so"}


@pytest.mark.parametrize(
    "environment, words",
    [(NO_CUBLASLT, "cuBLASLt was not found"), (NO_DRIVER, "no NVIDIA driver")],
    ids=["cuBLASLt", "driver"],
)
def test_what_is_missing_ends_it_at_once(place, environment, words):
    done, found = run(place, **environment)
    assert done.returncode == 2 and found.keys() == {"machine"}
    assert done.stderr.startswith("lease: this machine is not fit") and words in done.stderr


def test_without_numpy_the_parts_that_need_it_say_so(place):
    for name in ("correctness", "memcheck"):
        out = place / f"{name}.json"
        # -S: without installed packages. A compute-sanitizer that is never started.
        (place / "compute-sanitizer").mkdir(exist_ok=True)
        (place / "compute-sanitizer/compute-sanitizer").touch()
        program = place / f"tests/cuda/parts/{name}.py"
        subprocess.run(
            [sys.executable, "-B", "-S", str(program), "--out", str(out), "--seconds", "10"],
            env={"PATH": os.environ["PATH"]},
            timeout=60,
            check=True,
        )
        assert "need NumPy" in json.loads(out.read_text())["not run"]


def test_a_carried_wheel_is_what_the_parts_import(tmp_path):
    wheel = tmp_path / "torch-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("torch/__init__.py", "__version__ = 'carried'\n")
    folder = tmp_path / "lease"
    done = lease(LEASE, "prepare", "--build", BUILD, "--folder", folder, "--wheel", wheel)
    assert done.returncode == 0, done.stderr
    _, found = run(folder, "host", **DRIVER)
    assert found["machine"]["versions"]["torch"] == "carried"


def test_more_than_the_limit_is_refused(tmp_path):
    done = lease(LEASE, "prepare", "--build", BUILD, "--folder", tmp_path / "lease", "--limit", 5)
    assert done.returncode == 1
    assert "MiB are more than 5: build/libdlcuda.so" in done.stderr


def test_without_a_plugin_it_says_how_to_build_one(tmp_path):
    done = lease(LEASE, "prepare", "--build", tmp_path, "--folder", tmp_path / "lease")
    assert done.returncode == 1 and "make cuda CMAKE_ARGS=" in done.stderr


# What each part must see: another result on the device, a stream that does not wait (of which the
# simulated driver makes use), values that differ between the libraries.
PLANTED = {
    "correctness": (
        "tests/cuda/on_device.py",
        'there = x.detach().to("cuda")',
        'there = x.detach().to("cuda").zero_()',
        "Not equal to tolerance",
    ),
    "streams": ("tests/cuda/parts/streams.py", "own.wait_event(there)", "pass", "takes another's"),
    "exchange": (
        "tests/cuda/parts/exchange.py",
        "stream=taking.cuda_stream",
        "stream=-1",
        "capsule",
    ),
    "roofline": (
        "bench/cuda_operators.py",
        "65536 - 0.5",
        "65536 - m.rand(1, device='cuda')",
        "values differ",
    ),
    "allocator": (
        "tests/cuda/parts/allocator.py",
        "stream.wait_event(made)",
        "pass",
        "elements lie between",
    ),
}


@pytest.mark.parametrize("part", PLANTED)
def test_each_part_sees_what_it_is_for(part, place):
    file, right, wrong, words = PLANTED[part]

    def planted(text: str) -> str:
        assert right in text
        return text.replace(right, wrong)

    replaced(place / file, planted)
    done, found = run(place, part, **DRIVER)
    assert done.returncode == 1 and found[part]["outcome"] == "failed"
    assert any(words in text for text in found[part]["failures"]), found[part]["failures"][:3]


# In compute-sanitizer's place: runs the program, and ends its log with the line given.
SANITIZER = """#!/bin/bash
while [ "${1:0:2}" = -- ]; do [ "$1" = --log-file ] && log=$2; shift 2; done
echo "========= COMPUTE-SANITIZER" > "$log"
"$@"
"""
CLEAN = 'echo "========= ERROR SUMMARY: 0 errors" >> "$log"\n'
FAULT = 'echo "========= RACECHECK SUMMARY: 3 hazards displayed (3 errors)" >> "$log"\n'


@pytest.mark.parametrize(
    "last, outcome, words",
    [(CLEAN, "passed", ""), (FAULT, "failed", "3 hazards"), ("", "failed", "not come to its end")],
    ids=["clean", "fault", "unfinished"],
)
def test_memcheck_tells_what_the_sanitizer_found(place, tmp_path, last, outcome, words):
    program = tmp_path / "bin/compute-sanitizer"
    program.parent.mkdir()
    program.write_text(SANITIZER + last)
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    done, found = run(place, "memcheck", **{**DRIVER, "PATH": path})
    assert found["memcheck"]["outcome"] == outcome, found["memcheck"]
    assert words in " ".join(found["memcheck"]["failures"])
    assert "samples of 3 operators" in found["memcheck"]["summary"]


@pytest.mark.parametrize("last, seen", [(FAULT, "True"), (CLEAN, "False"), ("", "False")])
def test_memcheck_asks_first_whether_a_planted_fault_is_found(place, tmp_path, last, seen):
    program = tmp_path / "compute-sanitizer"
    program.write_text(SANITIZER + last)
    program.chmod(0o755)
    ask = (
        f"import memcheck, pathlib; print(memcheck.finds_planted('racecheck', {str(program)!r}, "
        f"pathlib.Path({str(tmp_path)!r})))"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", ask],
        cwd=place / "tests/cuda/parts",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == seen + "\n"


def test_the_planted_kernels_are_ones_that_a_driver_would_take(place, tmp_path):
    nvcc = re.search(r"^LIBDL_NVCC:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), flags=re.M)
    assert nvcc
    ptxas = pathlib.Path(nvcc[1]).resolve().with_name("ptxas")
    write = "import planted_fault, sys; print(planted_fault.KERNELS[sys.argv[1]])"
    for tool in ("memcheck", "racecheck"):
        source = subprocess.run(
            [sys.executable, "-B", "-c", write, tool],
            cwd=place / "tests/cuda/parts",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        (tmp_path / "planted.ptx").write_text(source)
        subprocess.run([ptxas, "-arch=sm_90", "planted.ptx"], cwd=tmp_path, check=True)


def test_the_document_has_the_table_of_what_has_run(tmp_path):
    done = lease(LEASE, "table", tmp_path)
    assert done.returncode == 0 and done.stdout.count("not run on a device yet") == len(PARTS)
    assert done.stdout in (ROOT / "docs/cuda.md").read_text()
