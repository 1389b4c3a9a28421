# SPDX-License-Identifier: Apache-2.0
"""The exported symbols against tests/abi/symbols.txt: name, since-version, parameter names.

    symbols.py headers         the headers declare exactly these, with these parameters
    symbols.py check BUILD     the library exports exactly these, under these version nodes
    symbols.py refresh BUILD   appends what is new; a lost or changed line needs --break

Parameter names stand here too: wrappers find their typemaps by them, so they are promised.
"""

import pathlib
import re
import subprocess
import sys

import declarations

FILE = declarations.ROOT / "tests" / "abi" / "symbols.txt"
HEAD = (
    "# symbol since parameters; written by `make abi-refresh`, lines are never changed or removed\n"
)


def exported(library: pathlib.Path) -> dict[str, str]:
    """Symbol to version of every defined dynamic symbol; version nodes themselves left out."""
    command = ["nm", "-D", "--defined-only", str(library)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    result = {}
    for line in output.splitlines():
        kind, symbol = line.split()[-2:]
        if kind == "A":
            continue
        name, _, version = symbol.partition("@@")
        result[name] = version.removeprefix("LIBDL_")
    return result


def lines(library: pathlib.Path) -> dict[str, str]:
    declared = {f.name: f for f in declarations.read().functions}
    versions = exported(library)
    lacking = sorted(declared.keys() - versions.keys())
    if lacking:
        raise SystemExit(f"symbols: declared in a header, lacking in the library: {lacking}")
    undeclared = sorted(versions.keys() - declared.keys())
    if undeclared:
        raise SystemExit(f"symbols: exported, but no header declares them: {undeclared}")
    for name, function in declared.items():
        if not all(function.parameters):
            raise SystemExit(f"symbols: {name} has a parameter without a name")
    # Before 1.0 every symbol bears the present node; since when it exists stays as it was written.
    old = committed()
    for name in versions.keys() & old.keys():
        if versions[name].startswith("0."):
            versions[name] = old[name].split()[1]
    return {
        name: " ".join([name, versions[name], ", ".join(declared[name].parameters)]).rstrip()
        for name in sorted(declared)
    }


def committed() -> dict[str, str]:
    if not FILE.exists():
        return {}
    text = FILE.read_text().splitlines()
    return {line.split()[0]: line for line in text if line and not line.startswith("#")}


def check(library: pathlib.Path) -> int:
    old, new = committed(), lines(library)
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            print(f"symbols: committed {old.get(name)!r}, found {new.get(name)!r}", file=sys.stderr)
    if old != new:
        print("symbols: make abi-refresh accepts new ones", file=sys.stderr)
        return 1
    wrong = [name for name in new if not re.fullmatch(r"libdl_[a-z0-9_]+", name)]
    if wrong:
        print(f"symbols: names of another form: {wrong}", file=sys.stderr)
        return 1
    print(f"symbols: {len(new)} exported, as committed")
    return 0


def check_headers() -> int:
    """What needs no library: names and parameters, not the versions."""
    old = {name: line.split(maxsplit=2)[2:] for name, line in committed().items()}
    new = {f.name: [", ".join(f.parameters)] if f.parameters else []
           for f in declarations.read().functions}  # fmt: skip
    wrong = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    for name in wrong:
        print(f"symbols: {name}: committed {old.get(name)}, declared {new.get(name)}", file=sys.stderr)
    print(f"symbols: {len(new)} declared, {len(wrong)} not as committed (make abi-refresh)")
    return 1 if wrong else 0


def refresh(library: pathlib.Path, allow_break: bool) -> int:
    old, new = committed(), lines(library)
    broken = [name for name in old if new.get(name) != old[name]]
    if broken and not allow_break:
        print(f"symbols: changed or gone, which breaks the ABI: {broken}", file=sys.stderr)
        return 1
    FILE.write_text(HEAD + "".join(f"{line}\n" for line in new.values()))
    print(f"symbols: {len(new)}, {len(new.keys() - old.keys())} of them new")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "headers":
        sys.exit(check_headers())
    path = pathlib.Path(sys.argv[2]) / "libdlcore.so.0"
    if sys.argv[1] == "check":
        sys.exit(check(path))
    sys.exit(refresh(path, "--break" in sys.argv))
