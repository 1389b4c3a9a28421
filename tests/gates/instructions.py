# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of the hot calls under callgrind and compares them with the committed
numbers: python instructions.py BUILD [--refresh]

Seconds wobble, instructions do not. A call's count is the difference between a run of 2N and one of
N calls, over N, so that start and warming-up drop out. The numbers belong to Debian 12's compiler
and to the baseline instruction set; elsewhere nothing is compared, and this says so.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "gates" / "instructions.txt"
COMPILER = "GNU 12.2.0"
CALLS = 2000
ALLOWANCE = 1.02
HEAD = "# instructions of one call, written by tests/gates/instructions.py BUILD --refresh\n"


def collected(program: pathlib.Path, name: str, calls: int) -> int:
    environment = {**os.environ, "LIBDL_CPU": "baseline", "LIBDL_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        command += [str(program), name, str(calls)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    match = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not match:
        raise SystemExit(f"instructions: {name} ended with {done.returncode}\n{done.stderr}")
    return int(match[1])


def measure(program: pathlib.Path) -> dict[str, float]:
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
    counts = {}
    for name in listed.stdout.split():
        once, twice = (collected(program, name, calls) for calls in (CALLS, 2 * CALLS))
        counts[name] = (twice - once) / CALLS
        print(f"instructions: {name:32} {counts[name]:9.1f}", flush=True)
    return counts


def committed() -> dict[str, float]:
    lines = [line.split() for line in FILE.read_text().splitlines() if not line.startswith("#")]
    return {name: float(count) for name, count in lines}


def main() -> int:
    build = pathlib.Path(sys.argv[1])
    text = (build / "generated" / "build_info.h").read_text()
    compiler = re.search(r'LIBDL_BUILD_COMPILER "(.*)"', text)
    counts = measure(build / "tests" / "gates" / "calls")
    if "--refresh" in sys.argv:
        FILE.write_text(HEAD + "".join(f"{name} {count:.1f}\n" for name, count in counts.items()))
        return 0
    if compiler is None or compiler[1] != COMPILER:
        print(f"instructions: not compared, the numbers are for {COMPILER}")
        return 0
    old = committed()
    wrong = [f"{name} is not committed" for name in counts.keys() - old.keys()]
    wrong += [f"{name} is no longer measured" for name in old.keys() - counts.keys()]
    for name in counts.keys() & old.keys():
        if counts[name] > old[name] * ALLOWANCE:
            wrong.append(f"{name} takes {counts[name]:.1f}, committed {old[name]:.1f}")
        elif counts[name] * ALLOWANCE < old[name]:
            print(f"instructions: {name} has become cheaper, refresh the number")
    for sentence in sorted(wrong):
        print(f"instructions: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
