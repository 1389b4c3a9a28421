# SPDX-License-Identifier: Apache-2.0
"""The core through clang-tidy as .clang-tidy says: python tests/gates/tidy.py [--tenth].

A tenth of the files, LIBDL_TURN says which, or all of them.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import clang

TIDY = pathlib.Path(sys.executable).with_name("clang-tidy")


def read(path: str) -> str:
    """clang-tidy's complaints about one file, empty when there are none."""
    command = [TIDY, "--quiet", "-p", clang.BUILD, path]
    run = subprocess.run(command, capture_output=True, text=True)
    return run.stdout + run.stderr if run.returncode else ""


def main() -> int:
    core = [entry for entry in clang.entries() if "/libdl/" in entry["file"]]
    files = [entry["file"] for entry in clang.chosen(core)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(read, files) if text]
    print("\n".join(complaints), end="", file=sys.stderr)
    print(f"clang-tidy: {len(files)} files, {len(complaints)} of them with complaints")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main())
