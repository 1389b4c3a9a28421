# SPDX-License-Identifier: Apache-2.0
"""Plants errors in the library, and wants the fuzzer to find and shrink each.

    python3 tests/fuzz/planted.py BUILD [--compiler CC] [--flags FLAGS] [--sanitized]

The C program that is left must show the error where it is planted, and nothing where it is not.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# What is planted, what the fuzzer says of it, and the calls that are left at most: those that make
# a tensor and the one that fails; for "death" also the one that turns the mode on, for "output" the
# one that makes what is no tensor, such as a hook, which needs a tensor that has a history.
PLANTED = {
    "death": ("dies of signal 6", 4),
    "hang": ("takes longer than 1 s", 3),
    "reference": ("left behind: ", 3),  # the result, and what it keeps: an operand, a tangent
    "silence": ("an error that tells nothing", 3),
    "output": ("an output was written", 4),
}
SANITIZED = {"block": ("loses memory", 3), "overrun": ("ends with status 1", 3)}


def environment(planted: str) -> dict[str, str]:
    return {**os.environ, "LIBDL_FUZZ_PLANTED": planted}


def ends_well(program: Path, planted: str, folder: Path) -> bool:
    try:
        return not subprocess.run(
            [program], env=environment(planted), capture_output=True, timeout=5, cwd=folder
        ).returncode
    except subprocess.TimeoutExpired:
        return False


def fault(options: argparse.Namespace, planted: str, wanted: str, most: int) -> str:
    """What is wrong with how the planted error was found; '' if nothing is."""
    own = options.build / "tests" / "fuzz"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # The rarest, "death", is met by one in some 5,000 sequences.
        command = [
            own / "fuzz_planted",
            own / "fuzz.txt",
            HERE,
            HERE / "rare.txt",
            "--sequences",
            "60000",
            "--failures",
            "1",
            "--out",
            folder,
        ]
        command += ["--seconds", "1"] if planted == "hang" else []
        run = subprocess.run(command, env=environment(planted), capture_output=True, text=True)
        if run.returncode != 1 or wanted not in run.stdout:
            return f"status {run.returncode}, no '{wanted}' in\n{run.stdout}{run.stderr}"
        left = [int(n) for n in re.findall(r"(\d+) calls are left", run.stdout)]
        if not left or min(left) > most:
            return f"{left} calls are left, wanted at most {most}\n{run.stdout}"
        source = sorted(folder.glob("failure-*.c"))[0]
        program = folder / "failure"
        library = options.build.resolve()
        command = [
            options.compiler,
            "-std=gnu11",
            *options.flags.split(),
            "-I",
            HERE.parents[1] / "include",
            source,
            HERE / "planted.c",
            "-o",
            program,
            f"-L{library}",
            "-ldlcore",
            f"-Wl,-rpath,{library}",
            "-ldl",
            "-lm",
        ]
        subprocess.run(command, check=True)
        if ends_well(program, planted, folder):
            return f"{source.name} does not show it:\n{source.read_text().split('int main')[1]}"
        if not ends_well(program, "", folder):
            return f"{source.name} fails where nothing is planted"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--flags", default="")
    parser.add_argument("--sanitized", action="store_true")
    options = parser.parse_args()
    bad = 0
    for planted, (wanted, most) in {**PLANTED, **(SANITIZED if options.sanitized else {})}.items():
        found = fault(options, planted, wanted, most)
        bad += bool(found)
        print(f"{planted}: " + (found or "found, shrunk and shown by its C program"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
