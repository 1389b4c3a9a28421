# SPDX-License-Identifier: Apache-2.0
"""Pins every constant, size, offset, type and signature of the headers in tests/abi/layout.c.

    layout.py check     the committed file compiles, and covers every declaration
    layout.py refresh   appends what is new; a changed or lost line needs --break (before a release)

abidiff does not see constants that are renumbered behind an int32_t; the C compiler does.
"""

import re
import subprocess
import sys
import tempfile
import pathlib

import declarations

FILE = declarations.ROOT / "tests" / "abi" / "layout.c"
HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */

/* The layout of the ABI. Lines are appended by `make abi-refresh`, never changed or removed:
 * a compiler that rejects this file has found a program that would break. */
#include <libdl/libdl.h>
#include <stddef.h>

#define IS(expression, ...) _Generic((expression), __VA_ARGS__: 1, default: 0)

"""


def pointer_to(function_type: str) -> str:
    """'int (char)' becomes 'int (*)(char)'."""
    depth = 0
    for at in range(len(function_type) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(function_type[at], 0)
        if depth == 0:
            return f"{function_type[:at].rstrip()} (*){function_type[at:]}"
    raise ValueError(function_type)


def questions(found: declarations.Declarations) -> dict[str, tuple[str, str]]:
    """For each key ('value', C expression) to be measured, ('least', expression) for the size of a
    struct that tells its own and may grow at its end, or ('type', condition)."""
    asked: dict[str, tuple[str, str]] = {}
    for name in found.constants:
        asked[name] = ("value", name)
    for name, spelled in found.typedefs:
        asked[name] = ("type", f"IS(({name})0, {spelled})")
    for record in found.records:
        kind = f"{record.tag} {record.name}"
        grows = record.fields and record.fields[0][0] == "struct_size"
        asked[f"sizeof {record.name}"] = ("least" if grows else "value", f"sizeof({kind})")
        asked[f"alignof {record.name}"] = ("value", f"_Alignof({kind})")
        for field, spelled in record.fields:
            where = f"{record.name}.{field}"
            asked[f"{where} at"] = ("value", f"offsetof({kind}, {field})")
            asked[f"{where} size"] = ("value", f"sizeof((({kind} *)0)->{field})")
            decayed = re.sub(r"\s*\[\d+\]$", " *", spelled)
            if "unnamed" not in spelled and "anonymous" not in spelled:
                asked[where] = ("type", f"IS((({kind} *)0)->{field}, {decayed})")
    for function in found.functions:
        asked[function.name] = ("type", f"IS(&{function.name}, {pointer_to(function.type)})")
    return asked


def measure(expressions: list[str]) -> list[int]:
    """The values that the C compiler gives to these constant expressions."""
    lines = "".join(f'  printf("%lld\\n", (long long)({e}));\n' for e in expressions)
    includes = declarations.all_headers() + "#include <stddef.h>\n#include <stdio.h>\n"
    text = f"{includes}int main(void) {{\n{lines}}}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "measure"
        command = [
            "gcc",
            "-x",
            "c",
            "-std=c11",
            f"-I{declarations.INCLUDE}",
            "-o",
            str(program),
            "-",
        ]
        subprocess.run(command, input=text, text=True, check=True)
        output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [int(line) for line in output.split()]


def assertions() -> dict[str, str]:
    asked = questions(declarations.read())
    values = [key for key, (kind, _) in asked.items() if kind != "type"]
    numbers = dict(zip(values, measure([asked[key][1] for key in values]), strict=True))
    result = {}
    for key, (kind, text) in asked.items():
        sign = {"value": "==", "least": ">="}.get(kind)
        condition = f"{text} {sign} {numbers[key]}" if sign else text
        result[key] = f'_Static_assert({condition}, "{key}");'
    return result


def committed() -> dict[str, str]:
    if not FILE.exists():
        return {}
    lines = [line for line in FILE.read_text().splitlines() if line.startswith("_Static_assert")]
    return {line.rsplit('"', 2)[1]: line for line in lines}


def check() -> int:
    for compiler in ("gcc", "clang"):
        command = [compiler, "-std=c11", "-fsyntax-only", f"-I{declarations.INCLUDE}", str(FILE)]
        if subprocess.run(command).returncode:
            print(
                f"layout: {compiler} rejects tests/abi/layout.c: the ABI is broken", file=sys.stderr
            )
            return 1
    unpinned = sorted(assertions().keys() - committed().keys())
    if unpinned:
        print(f"layout: not pinned yet (make abi-refresh): {', '.join(unpinned)}", file=sys.stderr)
        return 1
    print(f"layout: {len(committed())} assertions hold with gcc and clang, nothing is unpinned")
    return 0


def refresh(allow_break: bool) -> int:
    old, new = committed(), assertions()
    for key, line in old.items():  # a grown struct keeps the size that it began with
        if " >= " in line and " >= " in new.get(key, ""):
            new[key] = line
    broken = sorted(key for key in old if new.get(key) != old[key])
    if broken and not allow_break:
        print(
            f"layout: changed or gone, which breaks the ABI: {', '.join(broken)}", file=sys.stderr
        )
        return 1
    for key in broken:
        del old[key]
    merged = {**old, **{key: line for key, line in new.items() if key not in old}}
    FILE.write_text(HEAD + "\n".join(merged.values()) + "\n")
    print(f"layout: {len(merged)} assertions, {len(merged) - len(old)} of them new")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "check":
        sys.exit(check())
    sys.exit(refresh("--break" in sys.argv))
