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

GATES = {
    "headers": ["promise.py", "headers"],
    "library": ["promise.py", "library", "BUILD"],
    "hygiene": ["hygiene.py"],
}
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
typedef struct libdl_any { union { int64_t whole; double real; } held; } libdl_any;
typedef struct libdl_options { uint32_t struct_size; float rate; } libdl_options;
int32_t libdl_sum(const libdl_pair *pair);
int32_t libdl_hold(const libdl_any *any, const libdl_options *options);
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
int32_t libdl_hold(const libdl_any *, const libdl_options *o) { return o->struct_size; }
int32_t libdl_paint(libdl_colour colour, int32_t count) { return colour * count; }
libdl_hidden *libdl_make(void (*destroy)(void *ctx), void *ctx) {
  return destroy && ctx ? nullptr : new libdl_hidden();
}
"""
# What is done, the text and its replacement in all three, the gates that must find it.
PLANTS = [
    ("nothing", "", "", ""),
    ("an opaque struct grows", "int inside;", "int inside, more;", ""),
    ("a struct that tells its size grows", "float rate;", "float rate, more;", "headers library"),
    ("a field is inserted", "int32_t first;", "int32_t first; int64_t extra;", "headers library"),
    ("a field changes its name", "int64_t second;", "int64_t other;", "headers library"),
    (
        "fields change their places",
        "int32_t first; int64_t second;",
        "int64_t second; int32_t first;",
        "headers library",
    ),
    ("a member of a union changes its type", "double real;", "int64_t real;", "headers library"),
    ("enumerators swap", "RED = 1, LIBDL_BLUE = 2", "RED = 2, LIBDL_BLUE = 1", "headers"),
    ("a macro is renumbered", "BOUND 7", "BOUND 8", "headers"),
    ("a constant goes", "LIBDL_RED = 1, ", "", "headers"),
    ("a typedef widens", "int32_t libdl_colour", "int64_t libdl_colour", "headers library"),
    ("a parameter widens", "int32_t count", "int64_t count", "headers library"),
    ("a parameter changes its name", " count);", " times);", "headers"),
    ("a parameter is written to", "const libdl_pair *pair", "libdl_pair *pair", "headers library"),
    ("a result widens", "int32_t libdl_hold", "int64_t libdl_hold", "headers library"),
    (
        "a callback returns",
        "void (*destroy)(void *ctx), void *ctx",
        "int (*destroy)(void *ctx), void *ctx",
        "headers library",
    ),
    ("a function goes", "int32_t libdl_sum", "static int32_t sum", "headers library hygiene"),
    ("a function comes unaccepted", "/* more */", "int libdl_new(void);", "headers"),
    ("a type is not in C++98", "/* more */", "typedef long long libdl_x;", "headers hygiene"),
    ("a prototype is missing", "/* more */", "typedef int (*libdl_f)();", "headers hygiene"),
    ("a comma is left", "LIBDL_BLUE = 2 }", "LIBDL_BLUE = 2, }", "hygiene"),
    ("a header has no guard", "#define LIBDL_H\n", "", "hygiene headers"),
]
# The same in the library alone: it was not compiled with the headers that a program gets.
COMPILED = [
    ("a field is inserted", "int32_t first;", "int32_t first; int64_t extra;", "-g"),
    ("a typedef widens", "int32_t libdl_colour", "int64_t libdl_colour", "-g"),
    ("a parameter widens", "int32_t count", "int64_t count", "-g"),
    ("a function comes", "/* more */", "__attribute__((used)) inline void libdl_new() {}", "-g"),
    ("debug information is stripped", "", "", "-s"),
    ("a soname comes", "", "", "-Wl,-soname,libdlcore.so.9"),
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
    return {name for name in GATES if not passes(name, root)}


def passes(gate: str, root: pathlib.Path) -> bool:
    command = [root if word == "BUILD" else word for word in GATES[gate][1:]]
    return run(sys.executable, "-B", HERE / GATES[gate][0], *command, root=root) == 0


def refreshes(root: pathlib.Path) -> bool:
    return run(sys.executable, "-B", HERE / "promise.py", "refresh", str(root), root=root) == 0


def planted(a: str, b: str) -> list[str]:
    return [text.replace(a, b) for text in (HEADER, INSIDE, SOURCE)]


def main() -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "include" / "libdl").mkdir(parents=True)
        (root / "tests" / "abi").mkdir(parents=True)
        (root / "inside").mkdir()
        build(root, HEADER, INSIDE, SOURCE, "-g")
        if not refreshes(root):
            raise SystemExit("planted: promise.py refresh fails on the unbroken library")
        promise = (root / "tests" / "abi" / "promise.txt").read_text()
        for what, a, b, expected in PLANTS:
            build(root, *planted(a, b), "-g")
            seen = found(root)
            # The list accepts additions only.
            accepts = {
                "a struct that tells its size grows",
                "a function comes unaccepted",
                "a type is not in C++98",
                "a prototype is missing",
            }
            if seen != set(expected.split()):
                print(f"planted: {what}: found by {sorted(seen)}, not by {expected!r}")
                wrong += 1
            if "headers" in seen and what not in accepts and refreshes(root):
                print(f"planted: {what}: a refresh accepts it")
                wrong += 1
            (root / "tests" / "abi" / "promise.txt").write_text(promise)
        for what, a, b, flag in COMPILED:
            build(root, *planted(a, b), *{"-g", flag} - ({"-g"} if flag == "-s" else set()))
            (root / "include" / "libdl" / "libdl.h").write_text(HEADER)
            if (seen := found(root)) != {"library"}:
                print(f"planted: {what}, in the library alone: found by {sorted(seen)}")
                wrong += 1
    trials = len(PLANTS) + len(COMPILED)
    print(f"planted: {trials} changes, {wrong} judged wrongly")
    figure("planted ABI breaks", f"{trials} changes, {wrong} judged wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
