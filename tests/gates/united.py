# SPDX-License-Identifier: Apache-2.0
"""The core as make demo compiles it, several sources to a unit: python tests/gates/united.py

Where two sources of a unit define the same name, each for itself, the demo would not compile. No
code is made, which takes a minute of one core; nothing is read where nothing changed that units are
made of.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

import change

ROOT = change.ROOT
BUILD = ROOT / "build" / "united"
ROOMS = (
    "include/",
    "libdl/",
    "kernels/",
    "tools/",
    "cmake/",
    "CMakeLists.txt",
    "CMakePresets.json",
)
CONFIGURE = ["-DLIBDL_PYTHON=OFF", "-DLIBDL_EXAMPLES=OFF", "--log-level=WARNING"]


def read(entry: dict[str, str]) -> str:
    """The compiler's complaints about one unit, empty when there are none."""
    command = [*shlex.split(entry["command"]), "-fsyntax-only", "-Werror"]
    return subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True).stderr


def entries() -> list[dict[str, str]]:
    """How each unit of several sources is compiled, once what is generated is there."""
    configure = ["cmake", "--preset", "demo", "-B", BUILD, *CONFIGURE]
    subprocess.run(configure, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", BUILD, "generated"], check=True, stdout=subprocess.DEVNULL)
    every = json.loads((BUILD / "compile_commands.json").read_text())
    return [entry for entry in every if "/Unity/" in entry["file"]]


def main() -> int:
    if not change.concerns(ROOMS):
        print("united: nothing changed that a unit is made of")
        return 0
    units = entries()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(read, units) if text]
    print("\n".join(complaints), end="", file=sys.stderr)
    print(f"united: {len(units)} units, {len(complaints)} of them with complaints")
    return int(bool(complaints) or not units)


if __name__ == "__main__":
    sys.exit(main())
