# SPDX-License-Identifier: Apache-2.0
"""make check: what a landing is refused for, asked of the files that changed (change.py).

    python tests/gates/check.py early BUILD   before anything is compiled; BUILD is configured
    python tests/gates/check.py late BUILD    what needs the build, and tests of the changed rooms

All steps run; the exit status tells whether all held. `read` and `warnings` are two of the steps.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import change
import clang
import rooms
import tidy

ROOT = change.ROOT
PYTEST = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
JOBS = str(os.cpu_count() or 1)
# What the house asks of the built library.
BUILT = (
    "tests/house/test_bench_models.py",
    "tests/house/test_bench_rows.py",
    "tests/house/test_overridable.py",
    "tests/house/test_circles.py::test_the_python_module_is_linked_one_way",
)
# What decides how many kernels, copies and waits an operator asks a device for.
LAUNCHED = ("kernels/", "libdl/backends/", "libdl/device/", "libdl/ops/", "tests/cuda/")
CCACHE = [path] if (path := shutil.which("ccache")) else []


def python(script: str, *words: str) -> list[str]:
    return [sys.executable, "-B", str(ROOT / script), *words]


def changed(*ends: str) -> list[str]:
    return [name for name in change.files() if name.endswith(ends)]


def compiled(build: pathlib.Path) -> list[str]:
    """The changed sources, and those that stand beside a changed header, as the build knows
    them."""
    entries = json.loads((build / "compile_commands.json").read_text())
    known = {os.path.relpath(entry["file"], ROOT) for entry in entries}
    beside = {str(pathlib.Path(name).with_suffix(".cc")) for name in changed(".h")}
    return sorted(known & {*changed(".c", ".cc"), *beside})


def read_changed(build: pathlib.Path) -> int:
    """Clang's warnings and clang-tidy's complaints about the changed sources of the library."""
    names = {
        str(ROOT / name) for name in compiled(build) if name.startswith(("libdl/", "kernels/"))
    }
    entries = [entry for entry in clang.entries() if entry["file"] in names]
    tidied = [entry["file"] for entry in entries if "/libdl/" in entry["file"]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [*pool.map(clang.read, entries), *pool.map(tidy.read, tidied)]
    print("\n".join(text for text in complaints if text))
    print(f"clang: {len(entries)} changed files, {len(tidied)} of them by clang-tidy")
    return int(any(complaints))


def warned(entry: dict[str, str]) -> str:
    """What the compiler says of one source; ccache repeats it where nothing is new."""
    words = [*CCACHE, *shlex.split(entry["command"])]
    with tempfile.NamedTemporaryFile(suffix=".o") as made:  # ccache keeps no /dev/null
        words[words.index("-o") + 1] = made.name
        # As cmake/flags.cmake has it for precompiled headers.
        kept = {**os.environ, "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
        done = subprocess.run(
            words, cwd=entry["directory"], capture_output=True, text=True, env=kept
        )
    return done.stderr


def warnings(build: pathlib.Path) -> int:
    """What the compiler says of the changed sources, each compiled as in its first target."""
    names = set(compiled(build))
    entries = {
        os.path.relpath(entry["file"], ROOT): entry
        for entry in reversed(json.loads((build / "compile_commands.json").read_text()))
    }
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(filter(None, pool.map(warned, (entries[name] for name in sorted(names)))))
    print("\n".join(found), f"compiler: {len(found)} changed files with warnings", sep="\n")
    return int(bool(found))


def step(name: str, *command: str) -> tuple[str, list[str]]:
    return name, ["tools/step", name, *command]


def early(build: pathlib.Path) -> list[tuple[str, list[str]]]:
    """What nothing needs to be compiled for; the build is configured and its generators have
    run."""
    return [
        step("Format", "tests/gates/format"),
        step(
            "House, as far as it needs no build",
            *PYTEST,
            "tests/house",
            *(f"--deselect={test}" for test in BUILT if "::" in test),
            *(f"--ignore={test}" for test in BUILT if "::" not in test),
        ),
        step("ABI of the headers", *python("tests/abi/promise.py", "headers")),
        step("Core as the demo compiles it", *python("tests/gates/united.py")),
        step("Stubs: mypy", *python("tests/gates/stubs.py", str(build))),
        step("Stubs: pyright", *python("tests/gates/pyright.py", str(build))),
        step(
            "Changed files by Clang and clang-tidy",
            *python("tests/gates/check.py", "read", str(build)),
        ),
    ]


def late(build: pathlib.Path) -> list[tuple[str, list[str]]]:
    paths, pattern = rooms.tests_of(change.files())
    found = sorted({str(path) for glob in paths for path in ROOT.glob(glob)})
    steps = [
        step("Warnings in changed files", *python("tests/gates/check.py", "warnings", str(build))),
        step("ABI of the library", *python("tests/abi/promise.py", "library", str(build))),
        step("Cost of compiling", *python("tests/gates/compile_cost.py", str(build))),
        step("House, what needs the build", *PYTEST, *BUILT),
    ]
    if pattern:
        command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error"]
        steps.append(step("C and C++ tests of the rooms", *command, "-j", JOBS, "-R", pattern))
    if found:
        steps.append(step("Python tests of the rooms", *PYTEST, "-n", JOBS, *found))
    if any(name.startswith(LAUNCHED) for name in change.files()):
        cuda = [
            "make",
            "--no-print-directory",
            "test-cuda",
            "CMAKE_ARGS=-DLIBDL_CUDA_ARCHITECTURES=90",
        ]
        steps.append(("CUDA tests", cuda))
    if any(name.startswith("libdl/") for name in change.files()):
        left_out = ["tests/mutation/run.py", str(build), "--changed", "--suite", *found]
        steps += [
            step("Checks that can be left out", "ninja", "-C", str(build), "-j", JOBS, "mutation"),
            step("New checks, left out one by one", *python(*left_out)),
        ]
    return steps


def run(steps: list[tuple[str, list[str]]], build: pathlib.Path) -> int:
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    failed = [
        name
        for name, command in steps
        if subprocess.run(command, cwd=ROOT, env=environment).returncode
    ]
    for name in failed:
        print(f"make check: {name}: does not hold", file=sys.stderr)
    return int(bool(failed))


def main() -> int:
    *mode, folder = sys.argv[1:]
    build = pathlib.Path(folder).resolve()
    match mode:
        case ["read"]:
            return read_changed(build)
        case ["warnings"]:
            return warnings(build)
        case ["early"]:
            return run(early(build), build)
        case ["late"]:
            return run(late(build), build)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
