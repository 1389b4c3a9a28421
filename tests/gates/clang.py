# SPDX-License-Identifier: Apache-2.0
"""The library's sources through Clang, warnings as errors: python tests/gates/clang.py [--tenth].

No code is made: that halves the time. Sizes and offsets are 64 bits wide everywhere: a silent step
to 32 is an error, too. A tenth of the files, LIBDL_TURN says which, or all of them.
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
    ours = [entry for entry in every if "libdl_objects" in entry["command"]]
    return sorted(ours, key=lambda entry: entry["file"])


def chosen(files: list[dict[str, str]]) -> list[dict[str, str]]:
    """All files, or the tenth of them whose turn it is."""
    if "--tenth" not in sys.argv[1:]:
        return files
    return files[int(os.environ.get("LIBDL_TURN", "0")) % 10 :: 10]


def main() -> int:
    files = chosen(entries())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(read, files) if text]
    print("\n".join(complaints), end="", file=sys.stderr)
    print(f"clang: {len(files)} files, {len(complaints)} of them with complaints")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main())
