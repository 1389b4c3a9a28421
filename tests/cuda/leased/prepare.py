# SPDX-License-Identifier: Apache-2.0
"""Gathers what goes to the machine: stripped libraries, the Python package, the operators' cases,
the benchmarks. Nothing of it is compiled or fetched there."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable

from plan import ROOT

SOURCES = (
    "tests/cuda/lease",
    "tests/cuda/leased/*.py",
    "tests/cuda/parts/*.py",
    "tests/cuda/device_process.py",
    "tests/cuda/on_device.py",
    "tests/cuda/large.py",
    "tests/ops/cases_*.py",
    "tests/ops/checks*.py",
    "tests/ops/harness.py",
    "tests/ops/known.py",
    "tests/ops/refusals.py",
    "tests/ops/samples.py",
    "bench/cuda_operators.py",
    "bench/cuda_calls.py",
)
LIBRARIES = ("libdlcore.so.0", "libdlcuda.so")
MIB = 2**20


class Refused(Exception):
    pass


def copied(source: str | pathlib.Path, target: str | pathlib.Path) -> None:
    """A file, or what a link leads to; a library without its symbols for debuggers."""
    pathlib.Path(target).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    if ".so" in pathlib.Path(source).suffixes:
        subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)


def copied_package(source: pathlib.Path, target: pathlib.Path) -> None:
    shutil.copytree(
        source, target, copy_function=copied, ignore=shutil.ignore_patterns("__pycache__", "*.pyi")
    )


def architectures(build: pathlib.Path) -> str:
    cache = build / "CMakeCache.txt"
    text = cache.read_text() if cache.exists() else ""
    found = re.search(r"^LIBDL_CUDA_ARCHITECTURES:\w+=(.*)$", text, flags=re.M)
    if not found or not (build / "libdlcuda.so").exists():
        raise Refused(
            f"there is no plugin in {build}: make cuda CMAKE_ARGS=-DLIBDL_CUDA_ARCHITECTURES=90"
        )
    return found[1]


def sanitizer() -> pathlib.Path | None:
    """The folder of compute-sanitizer, if this machine has it."""
    path = shutil.which("compute-sanitizer")
    places = [pathlib.Path(path).resolve().parent] if path else []
    places += [folder / "compute-sanitizer" for folder in pathlib.Path("/usr/local").glob("cuda*")]
    for place in places:
        needs = ("compute-sanitizer", "TreeLauncherTargetInjection")  # not a wrapper on the path
        if all((place / name).is_file() for name in needs):
            return place
    return None


def size(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def carried_sanitizer(folder: pathlib.Path, limit: float) -> str:
    place = sanitizer()
    if not place:
        return "not carried: this machine has none"
    if size(folder) + size(place) > limit * MIB:
        return f"not carried: its {size(place) / MIB:.0f} MiB do not fit"
    copied_package(place, folder / "compute-sanitizer")
    return "carried"


def commit() -> str:
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "an unknown commit"


def gather(
    build: pathlib.Path, folder: pathlib.Path, limit: float, wheels: Iterable[pathlib.Path]
) -> str:
    """Fills the folder, and tells what the largest things in it are."""
    compiled_for = architectures(build)
    shutil.rmtree(folder, ignore_errors=True)
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            copied(path, folder / path.relative_to(ROOT))
    for name in LIBRARIES:
        copied(build / name, folder / "build" / name)
    copied_package(build / "python/libdl", folder / "build/python/libdl")
    for wheel in wheels:
        copied(wheel, folder / "wheels" / wheel.name)
    told = {
        "commit": commit(),
        "architectures": compiled_for,
        "compute-sanitizer": carried_sanitizer(folder, limit),
    }
    (folder / "carried.json").write_text(json.dumps(told, indent=1) + "\n")
    files = [(p.stat().st_size, p) for p in folder.rglob("*") if p.is_file()]
    largest = sorted(files, reverse=True)
    text = ", ".join(f"{p.relative_to(folder)} {n / MIB:.1f}" for n, p in largest[:5])
    if size(folder) > limit * MIB:
        raise Refused(f"{size(folder) / MIB:.1f} MiB are more than {limit:g}: {text}")
    return f"{size(folder) / MIB:.1f} MiB for compute capability {compiled_for} ({text})"


def prepare(
    build: pathlib.Path, folder: pathlib.Path, limit: float, wheels: list[pathlib.Path]
) -> int:
    try:
        told = gather(build.absolute(), folder.absolute(), limit, wheels)
    except Refused as e:
        print(f"lease: {e}", file=sys.stderr)
        return 1
    print(f"lease: {folder} holds {told}\nlease: there, {folder}/tests/cuda/lease run --out FOLDER")
    return 0
