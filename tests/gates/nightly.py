# SPDX-License-Identifier: Apache-2.0
"""The long list: what takes too long to be asked of every change.

    python tests/gates/nightly.py BUILD [--only TEXT]   each part that has not passed at this commit
    python tests/gates/nightly.py BUILD --turn          a sample of one part; LIBDL_TURN chooses it
    python tests/gates/nightly.py BUILD --table         when each part last passed, and where

A part is a list of steps. A run that was stopped goes on with the step at which it was: BUILD keeps
what has passed at this commit. A part that passed on a clean tree gets its line in passed.tsv,
which is committed.

The sample is asked by .ci/run, on whatever has landed. If it fails where the change did not touch
its rooms, that is told with the commit at which the part last passed, and is no fault of the
change.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import os
import pathlib
import subprocess
import sys
import time

import change

ROOT = change.ROOT
PASSED = ROOT / "tests/gates/passed.tsv"
HEAD = "# part, commit, day, seconds: where each part of `make nightly` last passed (nightly.py)\n"
JOBS = str(os.cpu_count() or 1)
PYTHON = f"{sys.executable} -B"
CORE = ("include/", "kernels/", "libdl/", "tools/", "cmake/")
PACKAGE = ("wrappers/python/",)


@dataclasses.dataclass(frozen=True)
class Part:
    name: str
    rooms: tuple[str, ...]  # a change below these may break it
    steps: tuple[str, ...]  # commands of a shell; $B is the build
    sample: tuple[str, ...] = ()  # of two minutes at most; empty: it is no part of .ci/run


def sanitize(*words: str) -> tuple[str, ...]:
    return tuple(f"tests/gates/sanitize {word}" for word in words)


PARTS = (
    Part(
        "clang",
        CORE,
        (f"{PYTHON} tests/gates/clang.py",),
        (f"{PYTHON} tests/gates/clang.py --tenth",),
    ),
    Part(
        "clang-tidy",
        CORE,
        (f"{PYTHON} tests/gates/tidy.py",),
        (f"{PYTHON} tests/gates/tidy.py --tenth",),
    ),
    Part(
        "address and undefined",
        (*CORE, "tests/"),
        sanitize("build", "planted", "test-c", "fuzz", "test-python"),
    ),
    Part(
        "threads",
        (*CORE, "tests/core/", "tests/capi/"),
        sanitize("threads-build", "threads-planted", "threads-test"),
    ),
    Part(
        "checks left out",
        ("libdl/", "tests/"),
        (f"ninja -C $B -j {JOBS} mutation", f"{PYTHON} tests/mutation/run.py $B"),
    ),
    Part("libFuzzer", CORE, (f"{PYTHON} tests/libfuzzer/run.py",)),
    Part(
        "forms born packed",
        CORE,
        ("tests/gates/packed $B packed",),
        ("tests/gates/packed $B packed --tenth",),
    ),
    Part(
        "forms at random",
        CORE,
        ("tests/gates/packed $B shifting",),
        ("tests/gates/packed $B shifting --tenth",),
    ),
    Part(
        "cuda kernels under sanitizers",
        ("kernels/", "libdl/backends/cuda/", "tests/cuda/"),
        (
            "make --no-print-directory cuda CMAKE_ARGS=-DLIBDL_CUDA_ARCHITECTURES=90",
            "tests/cuda/sanitized $B",
        ),
    ),
    Part(
        "other CPythons",
        (*PACKAGE, "include/"),
        ("tests/gates/pythons $B",),
        ("tests/gates/pythons $B --sample",),
    ),
    Part(
        "damaged files",
        ("libdl/io/", *PACKAGE),
        (f"PYTHONPATH=$B/python {PYTHON} tests/io/mutations.py --seed $TURN --jobs {JOBS}",),
    ),
    Part(
        "packages",
        PACKAGE,
        (f"PYTHONPATH=$PWD/$B/python {PYTHON} tests/ecosystem/packages/run.py $B/packages",),
    ),
    Part("aarch64", CORE, ("tests/gates/aarch64 $B",)),
    Part(
        "oracle",
        (*CORE, *PACKAGE),
        (
            "tools/setup/run bench",
            "PYTHONPATH=$B/python .venv-bench/bin/python -B tests/oracle/exchange.py",
            "PYTHONPATH=$B/python .venv-bench/bin/python -B tests/oracle/objects.py",
            "PYTHONPATH=$B/python .venv-bench/bin/python -B tests/oracle/run.py --seed $TURN "
            f"--programs 20000 --jobs {JOBS} --out $B/oracle",
        ),
    ),
)


def run(command: str, build: str) -> int:
    """One step, with its name and its seconds as tools/step tells them."""
    environment = {**os.environ, "B": build, "TURN": os.environ.get("LIBDL_TURN", "0")}
    return subprocess.run(
        ["tools/step", command, "bash", "-c", command], cwd=ROOT, env=environment
    ).returncode


def records() -> dict[str, list[str]]:
    """Part to commit, day and seconds."""
    lines = PASSED.read_text().splitlines() if PASSED.exists() else []
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {name: rest for name, *rest in rows}


def record(part: Part, seconds: float) -> None:
    if not change.is_clean_but(PASSED):
        print(f"nightly: {part.name} passed, on a tree with changes: no line in {PASSED.name}")
        return
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    rows = {**records(), part.name: [change.head(), day, f"{seconds:.0f}"]}
    known = [p.name for p in PARTS]
    kept = sorted(name for name in rows if name in known)
    PASSED.write_text(HEAD + "".join("\t".join([name, *rows[name]]) + "\n" for name in kept))


class Progress:
    """The steps that have passed at one commit; gone with the first change of a file."""

    def __init__(self, build: str):
        self.file = pathlib.Path(build) / "nightly.tsv"
        self.key = change.fingerprint_but(PASSED)

    def __contains__(self, step: str) -> bool:
        return self.file.exists() and f"{self.key}\t{step}\n" in self.file.read_text()

    def add(self, step: str) -> None:
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(f"{self.key}\t{step}\n")


def run_part(part: Part, build: str) -> bool:
    progress = Progress(build)
    began = time.monotonic()
    steps = [step for step in part.steps if f"{part.name}: {step}" not in progress]
    for step in steps:
        if run(step, build):
            return False
        progress.add(f"{part.name}: {step}")
    if steps:
        record(part, time.monotonic() - began)
    else:
        print(f"nightly: {part.name} has passed at this commit")
    return True


def table(failed: list[str]) -> str:
    rows = records()
    width = max(len(part.name) for part in PARTS)
    lines = []
    for part in PARTS:
        commit, day, seconds = rows.get(part.name, ["never", "", ""])
        now = "FAILED now  " if part.name in failed else ""
        where = f"{commit[:10]}  {day}  {seconds:>5} s" if day else commit
        lines.append(f"{part.name:<{width}}  {now}last passed: {where}")
    return "\n".join(lines)


def run_turn(build: str) -> int:
    sampled = [part for part in PARTS if part.sample]
    part = sampled[int(os.environ.get("LIBDL_TURN", "0")) % len(sampled)]
    print(f"nightly: in turn: {part.name}", flush=True)
    if not any(run(step, build) for step in part.sample):
        return 0
    commit, day, _ = records().get(part.name, ["no recorded commit", "", ""])
    print(f"nightly: {part.name} does not hold; it last passed at {commit} {day}", file=sys.stderr)
    if change.touched(part.rooms):
        return 1
    print(
        "nightly: this change touches none of " + " ".join(part.rooms) + ", so it is not refused "
        "for that",
        file=sys.stderr,
    )
    return 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--only", default="")
    parser.add_argument("--turn", action="store_true")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        print(table([]))
        return 0
    if given.turn:
        return run_turn(given.build)
    chosen = [part for part in PARTS if given.only in part.name]
    failed = [part.name for part in chosen if not run_part(part, given.build)]
    print("\n" + table(failed))
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
