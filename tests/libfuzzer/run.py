# SPDX-License-Identifier: Apache-2.0
"""libFuzzer on what comes from outside: safetensors, DLPack structs, calls of operators by number.

    python tests/libfuzzer/run.py [--only TARGET] [--runs N] [--seed N] [--jobs N]

Builds the targets with Clang in build/libfuzzer, sees that planted errors are found, then runs. An
input that fails is left in build/libfuzzer/found; it is tried again by

    build/libfuzzer/tests/libfuzzer/TARGET build/libfuzzer/found/TARGET-...
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/gates"))
from figures import figure  # noqa: E402

BUILD = ROOT / "build" / "libfuzzer"
PROGRAMS = BUILD / "tests" / "libfuzzer"
FOUND = BUILD / "found"


@dataclass(frozen=True)
class Target:
    title: str
    runs: int
    longest: int  # bytes of an input
    edges: int  # that a run covers at least
    planted: dict[str, str]  # what is planted, and what the report says of it


TARGETS = {
    "safetensors": Target(
        "safetensors",
        1_000_000,
        1024,
        2400,
        {
            "bytes": "a window has lost its file",
            "destroy": "a destroy did not run once",
            "leak": "left behind by a file: 1 tensors",
            "verdict": "a good file is refused",
            "overrun": "heap-buffer-overflow",
        },
    ),
    "dlpack": Target(
        "DLPack import",
        2_000_000,
        256,
        1700,
        {
            "bytes": "it shows other elements",
            "deleter": "the deleter has not run once",
            "leak": "left behind by an import: 1 tensors",
            "verdict": "it is accepted",
        },
    ),
    "operators": Target(
        "calls of operators",
        500_000,
        256,
        6000,
        {
            "silence": "an error that tells nothing",
            "output": "a result was written, and yet it failed",
            "changed": "a destination was written, and yet it failed",
            "into": "writes into a tensor what its new form does not return",
            "leak": "left behind by calls",
            "node": "left behind by calls",
            "overrun": "heap-buffer-overflow",
        },
    ),
}

# A planted error is found long before.
PLANTED_RUNS = 200_000
# Edges that the core has; without them nothing is told how far an input came.
LEAST_COUNTERS = 20_000
# Without entropic=0 libFuzzer itself takes two thirds of the time, and covers no more.
OPTIONS = (
    "-timeout=25",
    "-rss_limit_mb=2048",
    "-malloc_limit_mb=256",
    "-len_control=20",
    "-entropic=0",
    "-print_final_stats=1",
)
# A size that no machine has must come back as NULL. The quarantine is small: what was freed is
# looked at in the same input, if at all.
ENVIRONMENT = {
    **os.environ,
    "ASAN_OPTIONS": "allocator_may_return_null=1:quarantine_size_mb=4:malloc_context_size=8:"
    "detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def clang_has_libfuzzer() -> bool:
    if not shutil.which("clang++"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.cc"
        source.write_text('extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }')
        flags = ["-fsanitize=fuzzer,address,undefined", source, "-o", source.with_suffix("")]
        return not subprocess.run(["clang++", *flags], capture_output=True).returncode


def build(jobs: int) -> None:
    start = time.monotonic()
    subprocess.run(
        [
            "cmake",
            "--preset",
            "libfuzzer",
            "--log-level=WARNING",
            f"-DPython3_EXECUTABLE={sys.executable}",
        ],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(
        ["ninja", "-C", BUILD, "-j", str(jobs), "libfuzzer"], check=True, stdout=subprocess.DEVNULL
    )
    print(f"libFuzzer: built in {time.monotonic() - start:.0f} s", flush=True)


def fuzz(name: str, runs: int, seed: int, folder: Path, planted: str = "") -> tuple[int, str]:
    """Runs a target on a corpus of its own; its exit status and what it said."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    command = [
        PROGRAMS / name,
        *OPTIONS,
        f"-runs={runs}",
        f"-seed={seed}",
        f"-max_len={TARGETS[name].longest}",
        f"-artifact_prefix={folder}/",
        corpus,
    ]
    run = subprocess.run(
        command,
        env={**ENVIRONMENT, "LIBDL_PLANTED": planted},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return run.returncode, run.stdout.decode(errors="replace")


def artifacts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


# -- planted errors -------------------------------------------------------------------------------


def planted_fault(name: str, planted: str, wanted: str, seed: int) -> str:
    """What is wrong with how a planted error was found; '' if nothing is."""
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        status, said = fuzz(name, PLANTED_RUNS, seed, folder, planted)
        left = artifacts(folder)
        if status == 0 or wanted not in said or not left:
            return f"status {status}, no '{wanted}' in\n{said[-4000:]}"
        again = [
            subprocess.run(
                [PROGRAMS / name, left[0]],
                capture_output=True,
                env={**ENVIRONMENT, "LIBDL_PLANTED": what},
            ).returncode
            != 0
            for what in (planted, "")
        ]
        if again != [True, False]:
            return f"its input fails again, with the error and without: {again}"
    return ""


def all_planted(names: list[str], seed: int, jobs: int) -> bool:
    cases = [(name, *case) for name in names for case in TARGETS[name].planted.items()]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        faults = list(pool.map(lambda case: planted_fault(*case, seed), cases))
    for (name, planted, _), fault in zip(cases, faults, strict=True):
        if fault:
            print(f"{name}: planted {planted} is not found: {fault}")
    print(
        f"libFuzzer: {len(cases) - sum(map(bool, faults))} of {len(cases)} planted errors found",
        flush=True,
    )
    return not any(faults)


# -- runs -----------------------------------------------------------------------------------------


def number(pattern: str, said: str) -> int:
    found = re.findall(pattern, said)
    return int(found[-1]) if found else 0


def tell(name: str, runs: int, seconds: float, status: int, said: str) -> bool:
    target = TARGETS[name]
    executions = number(r"stat::number_of_executed_units:\s+(\d+)", said)
    edges = number(r"cov: (\d+)", said)
    counters = number(r"\((\d+) inline 8-bit counters\)", said)
    left = artifacts(FOUND / name)
    print(f"{target.title}: {executions:,} inputs, {edges:,} edges, {seconds:.0f} s", flush=True)
    good = status == 0 and not left
    if not good:
        print(said[-8000:])
        for path in left:
            print(f"again: {(PROGRAMS / name).relative_to(ROOT)} {path.relative_to(ROOT)}")
    elif executions < runs or edges < target.edges or counters < LEAST_COUNTERS:
        print(
            f"  it was to run {runs:,} inputs over {target.edges:,} edges of a core of "
            f"{LEAST_COUNTERS:,} (it has {counters:,})"
        )
        good = False
    figure(
        f"libFuzzer, {target.title}",
        f"{executions:,} inputs, {edges:,} edges, {0 if good else max(1, len(left))} findings",
    )
    return good


def run(name: str, runs: int, seed: int) -> bool:
    start = time.monotonic()
    status, said = fuzz(name, runs, seed, FOUND / name)
    return tell(name, runs, time.monotonic() - start, status, said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("LIBDL_TURN", "0")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if not clang_has_libfuzzer():
        print(
            "libFuzzer: left out, for there is no clang++ with libFuzzer here "
            "(Debian's clang and libclang-rt-dev)"
        )
        return 0
    build(options.jobs)
    names = [options.only] if options.only else list(TARGETS)
    shutil.rmtree(FOUND, ignore_errors=True)
    print(f"libFuzzer: seed {options.seed}", flush=True)
    good = all_planted(names, options.seed, options.jobs)
    sizes = [options.runs or TARGETS[name].runs for name in names]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(run, names, sizes, [options.seed] * len(names)))
    return 0 if good and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
