# SPDX-License-Identifier: Apache-2.0
"""Each public header alone, twice, as C and C++ of several years, with gcc and clang; then the
umbrella together with upstream's dlpack.h in either order.

    hygiene.py [FOLDER that holds dlpack/dlpack.h]
"""

import concurrent.futures
import os
import subprocess
import sys

import declarations

STRICT = ["-pedantic-errors", "-Wall", "-Wextra", "-Wundef", "-Wshadow", "-Werror"]
# Declared functions without parameters must say (void), which only C can warn about.
STRICT_C = ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wc++-compat"]
LANGUAGES = [
    (compiler, "c", standard, STRICT + STRICT_C)
    for compiler in ("gcc", "clang")
    for standard in ("c99", "c11", "c17")
] + [
    (compiler, "c++", standard, STRICT)
    for compiler in ("g++", "clang++")
    for standard in ("c++98", "c++11", "c++20")
]


def compile_text(job: tuple[str, str, str, str, list[str]]) -> str:
    """What the compiler complains about, headed by what was tried; empty when content."""
    what, text, compiler, language, flags = job
    command = [compiler, "-x", language, "-fsyntax-only", f"-I{declarations.INCLUDE}", *flags, "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    return "" if run.returncode == 0 else f"{what}: {' '.join(command)}\n{run.stderr}"


def main() -> int:
    texts = {path.name: f"#include <libdl/{path.name}>\n" * 2 for path in declarations.headers()}
    jobs = [
        (
            name,
            text + "typedef int nothing_was_left_open;\n",
            compiler,
            language,
            [f"-std={year}", *flags],
        )
        for name, text in texts.items()
        for compiler, language, year, flags in LANGUAGES
    ]
    if len(sys.argv) > 1:
        upstream = "#include <dlpack/dlpack.h>\n"
        for text in (declarations.UMBRELLA + upstream, upstream + declarations.UMBRELLA):
            for compiler, language, year, flags in LANGUAGES:
                if year in ("c99", "c++98"):
                    continue  # upstream's header itself needs a later standard
                system = ["-isystem", sys.argv[1], f"-std={year}", *flags]
                jobs.append(("with dlpack.h", text, compiler, language, system))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(compile_text, jobs) if text]
    print("\n".join(complaints), end="", file=sys.stderr)
    print(f"hygiene: {len(texts)} headers, {len(jobs)} compilations, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
