# SPDX-License-Identifier: Apache-2.0
"""The ABI against tests/abi/promise.txt, which has a line for each function, constant, type and
member, and changes only by hand or by `make abi-refresh`.

    promise.py headers           the headers declare exactly this, measured by gcc and by clang
    promise.py library BUILD     the library exports exactly these functions, and was compiled with
                                 these types, as its debug information tells
    promise.py refresh BUILD     adds what is new; a changed or lost line needs --break, which is
                                 for the time before a release

Parameter names stand in it, too: wrappers find their typemaps by them, so they are promised.
"""

import pathlib
import re
import subprocess
import sys

import compiled
import declarations

FILE = declarations.ROOT / "tests" / "abi" / "promise.txt"
HEAD = "# Written by `make abi-refresh`: lines are added, never changed or removed.\n"
SIZE = re.compile(r"struct, at least (\d+) bytes")
ALIGNED = ", aligned to "


def committed() -> dict[str, str]:
    """Name to what is promised of it; a member's name is its struct's, a dot and its own."""
    if not FILE.exists():
        return {}
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    return {name: text for name, _, text in (line.partition(" ") for line in lines)}


def described(text: str) -> str:
    """What debug information can tell of a promise: no version, parameter's name or alignment (that
    follows from the members' types), no tag that C++ leaves out, and no `const void`."""
    if " -> " in text:
        text = re.sub(r"([(,] ?)\w+: ", r"\1", text.partition(" ")[2])
    return re.sub(r"\bconst (void \*)|\bstruct (\w)", r"\1\2", text.partition(ALIGNED)[0])


def measure(compiler: str, expressions: list[str]) -> list[int]:
    """The values that a C compiler gives to these constant expressions."""
    program = (
        declarations.all_headers()
        + "#include <stddef.h>\n"
        + "".join(f"long long value_{i} = (long long)({e});\n" for i, e in enumerate(expressions))
    )
    command = [compiler, "-x", "c", "-std=c11", f"-I{declarations.INCLUDE}", "-S", "-o", "-", "-"]
    assembly = subprocess.run(command, input=program, capture_output=True, text=True, check=True)
    found = dict(re.findall(r"^value_(\d+):\n\s+\.(quad\s+-?\d+|zero\s+8)", assembly.stdout, re.M))
    return [
        int(text.split()[1]) if text.startswith("quad") else 0
        for text in (found[str(i)] for i in range(len(expressions)))
    ]


def promised(found: declarations.Declarations, compiler: str) -> dict[str, str]:
    """The lines that these headers deserve; a function's version is the committed one, or '?'."""
    asked: dict[str, tuple[str, ...]] = {name: (name,) for name in found.constants}
    for record in found.records:
        asked[record.name] = (f"sizeof({record.c_name})", f"_Alignof({record.c_name})")
        for field in record.fields:
            member = f"(({record.c_name} *)0)->{field.name}"
            at = f"offsetof({record.c_name}, {field.name})"
            asked[f"{record.name}.{field.name}"] = (f"sizeof({member})", at)
    values = iter(measure(compiler, [e for all_of_one in asked.values() for e in all_of_one]))
    numbers = {name: [next(values) for _ in asked[name]] for name in asked}

    result = {name: f"= {numbers[name][0]}" for name in found.constants}
    result |= {name: f"= {spelled}" for name, spelled in found.typedefs}
    for record in found.records:
        size, alignment = numbers[record.name]
        line = compiled.record_line(record.tag, size, record.grows)
        result[record.name] = f"{line}{ALIGNED}{alignment}"
        for field in record.fields:
            name = f"{record.name}.{field.name}"
            result[name] = compiled.member_line(field.type, *numbers[name])
    old = committed()
    for function in found.functions:
        if not all(function.parameters):
            raise SystemExit(f"promise: {function.name} has a parameter without a name")
        if not re.fullmatch(r"libdl_[a-z0-9_]+", function.name):
            raise SystemExit(f"promise: {function.name} is a name of another form")
        since = old.get(function.name, "?").partition(" ")[0]
        result[function.name] = f"{since} {function.signature()}"
    return result


def kept(name: str, old: str, new: str) -> bool:
    """Whether a program that relies on the old line can rely on the new one. A struct that tells
    its own size may grow."""
    was, now = SIZE.match(old), SIZE.match(new)
    if was and now and int(now[1]) >= int(was[1]):
        return SIZE.sub("", old) == SIZE.sub("", new)
    return old == new


def broken(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """A sentence for each line that does not hold any more."""
    return [
        f"{name}: promised '{text}', found '{new.get(name, 'nothing')}'"
        for name, text in old.items()
        if name not in new or not kept(name, text, new[name])
    ]


def refuse(complaints: list[str]) -> int:
    for complaint in complaints:
        print(f"promise: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


def check_headers() -> int:
    found = declarations.read()
    old = {name: text for name, text in committed().items() if name != compiled.LIBRARY}
    for compiler in ("gcc", "clang"):
        new = promised(found, compiler)
        fresh = sorted(new.keys() - old.keys())
        complaints = [*broken(old, new), *(f"{name} is new (make abi-refresh)" for name in fresh)]
        if refuse(complaints):
            print(f"promise: with {compiler} the headers are not as committed", file=sys.stderr)
            return 1
    print(f"promise: {len(old)} lines hold for the headers with gcc and clang")
    return 0


def check_library(library: pathlib.Path) -> int:
    old = committed()
    functions = {name: described(text) for name, text in old.items() if " -> " in text}
    types = {
        name: described(text)
        for name, text in old.items()
        if name.startswith("libdl_") and name not in functions
    }
    found = compiled.read(library, set(types))
    # The library has the types that it uses; a program may use others, as headers declare them.
    used = {name: text for name, text in types.items() if name.partition(".")[0] in found.types}
    expected = functions | used | {compiled.LIBRARY: old.get(compiled.LIBRARY, "nothing")}
    has = found.functions | found.types | found.library
    complaints = broken(expected, has)
    unknown = sorted(has.keys() - expected.keys())
    complaints += [f"{name} is in the library, but not promised" for name in unknown]
    if refuse(complaints):
        print(f"promise: {library} is not as committed", file=sys.stderr)
        return 1
    unused = sorted(name for name in types.keys() - used.keys() if "." not in name)
    print(
        f"promise: {len(functions)} functions and {len(used)} lines of types hold for the "
        f"library; not used in it: {', '.join(unused) or 'none'}"
    )
    return 0


def refresh(library: pathlib.Path, allow_break: bool) -> int:
    old, new = committed(), promised(declarations.read(), "gcc")
    found = compiled.read(library, set())
    new |= found.library
    lacking = sorted({n for n, text in new.items() if " -> " in text} - found.functions.keys())
    if lacking:
        raise SystemExit(f"promise: declared in a header, lacking in the library: {lacking}")
    gone = broken(old, new)
    if gone and not allow_break:
        print("promise: changed or gone, which breaks the ABI:", *gone, sep="\n  ", file=sys.stderr)
        return 1
    for name, text in new.items():
        if name in old and kept(name, old[name], text):
            new[name] = old[name]  # a grown struct keeps the size that it began with
        elif text.startswith("? "):
            new[name] = found.since[name] + text[1:]
    FILE.write_text(HEAD + "".join(f"{name} {new[name]}\n" for name in sorted(new)))
    print(f"promise: {len(new)} lines, {len(new.keys() - old.keys())} of them new")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "headers":
        sys.exit(check_headers())
    path = pathlib.Path(sys.argv[2]) / "libdlcore.so.0"
    if sys.argv[1] == "library":
        sys.exit(check_library(path))
    sys.exit(refresh(path, "--break" in sys.argv))
