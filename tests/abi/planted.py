# SPDX-License-Identifier: Apache-2.0
"""Breaks a small library's ABI in every way that the gates are for, and demands that exactly the
right gates find it, and that harmless changes pass."""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gates"))
from figures import figure  # noqa: E402

GATES = ("layout", "symbols", "baseline", "hygiene")
VERSION_SCRIPT = "LIBDL_0.1 { global: libdl_*; local: *; };\n"
HEADER = """\
#ifndef LIBDL_H
#define LIBDL_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define LIBDL_BOUND 7
enum { LIBDL_RED = 1, LIBDL_BLUE = 2 };
typedef int32_t libdl_colour;
typedef struct libdl_hidden libdl_hidden;
typedef struct libdl_pair { int32_t first; int64_t second; } libdl_pair;
int32_t libdl_sum(const libdl_pair *pair);
int32_t libdl_paint(libdl_colour colour, int32_t count);
libdl_hidden *libdl_make(void (*destroy)(void *ctx), void *ctx);
/* more */
#ifdef __cplusplus
}
#endif
#endif
"""
# A header of the library's own may have the name of a public one.
INSIDE = "struct libdl_hidden { int inside; };\n"
SOURCE = """\
#include <libdl/libdl.h>
#include "inside/libdl.h"
int32_t libdl_sum(const libdl_pair *pair) { return pair->first; }
int32_t libdl_paint(libdl_colour colour, int32_t count) { return colour * count; }
libdl_hidden *libdl_make(void (*)(void *), void *) { return new libdl_hidden(); }
"""
# What is done, the text and its replacement in all three, the gates that must find it.
PLANTS = [
    ("nothing", "", "", ""),
    ("an opaque struct grows", "int inside;", "int inside, more;", ""),
    ("a field is inserted", "int32_t first;", "int32_t first; int64_t extra;", "layout baseline"),
    ("a field changes its name", "int64_t second;", "int64_t other;", "layout"),
    ("enumerators swap", "RED = 1, LIBDL_BLUE = 2", "RED = 2, LIBDL_BLUE = 1", "layout"),
    ("a macro is renumbered", "BOUND 7", "BOUND 8", "layout"),
    ("a typedef widens", "int32_t libdl_colour", "int64_t libdl_colour", "layout baseline"),
    ("a parameter widens", "int32_t count", "int64_t count", "layout baseline"),
    ("a parameter changes its name", " count);", " times);", "symbols"),
    (
        "a function goes",
        "int32_t libdl_sum",
        "static int32_t sum",
        "layout symbols baseline hygiene",
    ),
    ("a function comes unaccepted", "/* more */", "int libdl_new(void);", "layout symbols"),
    ("a type is not in C++98", "/* more */", "typedef long long libdl_x;", "layout hygiene"),
    ("a prototype is missing", "/* more */", "typedef int (*libdl_f)();", "layout hygiene"),
    ("a comma is left", "LIBDL_BLUE = 2 }", "LIBDL_BLUE = 2, }", "hygiene"),
    ("a header has no guard", "#define LIBDL_H\n", "", "hygiene layout symbols baseline"),
]


def run(*command: str | pathlib.Path, root: pathlib.Path) -> int:
    environment = {**os.environ, "LIBDL_ROOT": str(root)}
    return subprocess.run(command, env=environment, capture_output=True).returncode


def build(root: pathlib.Path, header: str, inside: str, source: str, *flags: str) -> None:
    (root / "include" / "libdl" / "libdl.h").write_text(header)
    (root / "inside" / "libdl.h").write_text(inside)
    (root / "all.cc").write_text(source)
    (root / "all.map").write_text(VERSION_SCRIPT)
    command = ["g++", "-O1", "-fPIC", "-shared", f"-I{root}/include", f"{root}/all.cc", *flags]
    command += ["-o", f"{root}/libdlcore.so.0", f"-Wl,--version-script,{root}/all.map"]
    subprocess.run(command, check=True)


def found(root: pathlib.Path) -> set[str]:
    """The gates that reject the library as it now is."""
    return {
        gate
        for gate in GATES
        if run(sys.executable, "-B", HERE / f"{gate}.py", *gate_arguments(gate, root), root=root)
    }


def gate_arguments(gate: str, root: pathlib.Path) -> list[str]:
    return [] if gate == "hygiene" else ["check", str(root)]


def main() -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "include" / "libdl").mkdir(parents=True)
        (root / "tests" / "abi").mkdir(parents=True)
        (root / "inside").mkdir()
        build(root, HEADER, INSIDE, SOURCE, "-g")
        for gate in ("layout", "symbols", "baseline"):
            if run(sys.executable, "-B", HERE / f"{gate}.py", "refresh", str(root), root=root):
                raise SystemExit(f"planted: {gate}.py refresh fails on the unbroken library")
        trials = [
            (what, [text.replace(a, b) for text in (HEADER, INSIDE, SOURCE)], by, "-g")
            for what, a, b, by in PLANTS
        ]
        trials.append(("debug information is stripped", [HEADER, INSIDE, SOURCE], "baseline", "-s"))
        for what, texts, expected, flag in trials:
            build(root, *texts, flag)
            seen = found(root)
            if seen != set(expected.split()):
                print(f"planted: {what}: found by {sorted(seen)}, not by {expected!r}")
                wrong += 1
    print(f"planted: {len(trials)} changes, {wrong} judged wrongly")
    figure("planted ABI breaks", f"{len(trials)} changes, {wrong} judged wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
