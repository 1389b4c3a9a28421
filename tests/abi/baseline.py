# SPDX-License-Identifier: Apache-2.0
"""Compares the library's types with tests/abi/baseline.abi by abidiff.

baseline.py check BUILD     exit status 0 is demanded: abidiff's "incompatible" bit is set for
                            removed functions only, and misses inserted fields
baseline.py refresh BUILD   writes the file anew
"""

import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import declarations
import symbols

FILE = declarations.ROOT / "tests" / "abi" / "baseline.abi"
HEADERS = declarations.INCLUDE / "libdl"


def dump(library: pathlib.Path, to: pathlib.Path) -> None:
    command = ["abidw", "--headers-dir", str(HEADERS), "--drop-private-types"]
    command += ["--exported-interfaces-only", "--no-corpus-path", "--no-comp-dir-path"]
    command += ["--no-show-locs", "--no-elf-needed", "--type-id-style", "hash"]
    subprocess.run([*command, "--out-file", str(to), str(library)], check=True)
    # A library without debug information looks unchanged to abidiff, whatever was done to it.
    tree = xml.etree.ElementTree.parse(to)
    described = {
        node.get("elf-symbol-id", "").partition("@")[0] for node in tree.iter("function-decl")
    }
    exported = symbols.exported(library).keys()
    undescribed = sorted(exported - described)
    if undescribed:
        raise SystemExit(f"baseline: {library} has no debug information for {undescribed[:5]} ...")


def suppressed() -> str:
    """What stands behind an opaque handle is no promise, though a public header names the handle."""
    records = "|".join(record.name for record in declarations.read().records)
    return f"[suppress_type]\n  type_kind = struct\n  name_not_regexp = ^({records})$\n"


def check(library: pathlib.Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        new = pathlib.Path(folder) / "new.abi"
        dump(library, new)
        opaque = pathlib.Path(folder) / "opaque.suppr"
        opaque.write_text(suppressed())
        # Both dumps hold public types only, chosen by --headers-dir above. Given again here it
        # would hide every type, since the dumps carry no locations.
        command = ["abidiff", "--no-added-syms", "--suppressions", str(opaque), str(FILE), str(new)]
        status = subprocess.run(command).returncode
    if status:
        print(f"baseline: abidiff ends with {status}, 0 is demanded", file=sys.stderr)
        return 1
    print("baseline: abidiff finds no change of a type or function")
    return 0


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[2]) / "libdlcore.so.0"
    if sys.argv[1] == "check":
        sys.exit(check(path))
    dump(path, FILE)
