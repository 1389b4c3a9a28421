# SPDX-License-Identifier: Apache-2.0
"""The library's sources through Clang, warnings as errors. No code is made: that halves the time.

Sizes and offsets are 64 bits wide everywhere: a silent step to 32 is an error, too.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "clang"
WIDTH = "-Wshorten-64-to-32"
CONFIGURE = ["-DLIBDL_PYTHON=OFF", "-DLIBDL_TESTS=OFF", "-DLIBDL_EXAMPLES=OFF"]


def read(entry: dict[str, str]) -> str:
    """Clang's complaints about one file, empty when there are none."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if word.endswith("clang++")) :]
    command = [*words, "-fsyntax-only", WIDTH]
    run = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    return run.stderr if run.returncode else ""


def entries() -> list[dict[str, str]]:
    """How Clang compiles each source of the library, once what is generated is there."""
    subprocess.run(
        ["cmake", "--preset", "clang", "--log-level=WARNING", *CONFIGURE],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(["ninja", "-C", BUILD, "generated"], check=True, stdout=subprocess.DEVNULL)
    every = json.loads((BUILD / "compile_commands.json").read_text())
    return [entry for entry in every if "libdl_objects" in entry["command"]]


def main() -> int:
    files = entries()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(read, files) if text]
    print("\n".join(complaints), end="", file=sys.stderr)
    print(f"clang: {len(files)} files, {len(complaints)} of them with complaints")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main())
