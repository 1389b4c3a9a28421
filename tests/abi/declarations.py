# SPDX-License-Identifier: Apache-2.0
"""What the public headers promise, as clang reads them."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(os.environ.get("LIBDL_ROOT") or pathlib.Path(__file__).parents[2]).resolve()
INCLUDE = ROOT / "include"
UMBRELLA = "#include <libdl/libdl.h>\n"


@dataclasses.dataclass
class Function:
    name: str
    type: str  # as C spells it: "libdl_error *(const libdl_tensor *, libdl_tensor **)"
    parameters: list[str]


@dataclasses.dataclass
class Record:
    name: str
    tag: str  # "struct" or "union"
    fields: list[tuple[str, str]]  # name, type


@dataclasses.dataclass
class Declarations:
    constants: list[str]  # enumerators and integer macros
    typedefs: list[tuple[str, str]]  # name, type; those of records and opaque handles left out
    records: list[Record]
    functions: list[Function]


def headers() -> list[pathlib.Path]:
    return sorted((INCLUDE / "libdl").glob("*.h"))


def all_headers() -> str:
    """A program text with the umbrella first, then each header that it may not name."""
    return UMBRELLA + "".join(f"#include <libdl/{path.name}>\n" for path in headers())


def _clang(*arguments: str) -> str:
    command = ["clang", "-x", "c", "-std=c11", f"-I{INCLUDE}", *arguments, "-"]
    return subprocess.run(
        command, input=all_headers(), capture_output=True, text=True, check=True
    ).stdout


def _macros() -> list[str]:
    """Macros whose value is an integer. The library's own version is no promise."""
    number = re.compile(
        r"#define (LIBDL_\w+) \(?-?(?:U?INT\d+_C\()?(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*\)*$"
    )
    found = []
    for line in _clang("-dM", "-E").splitlines():
        match = number.match(line)
        if match and not match[1].startswith("LIBDL_VERSION_"):
            found.append(match[1])
    return sorted(found)


def read() -> Declarations:
    tree = json.loads(_clang("-Xclang", "-ast-dump=json", "-fsyntax-only"))
    result = Declarations(_macros(), [], [], [])
    for node in tree["inner"]:
        kind, name = node["kind"], node.get("name", "")
        inner = node.get("inner", [])
        if kind == "EnumDecl":
            result.constants += [
                item["name"] for item in inner if item.get("name", "").startswith("LIBDL_")
            ]
        if not name.startswith("libdl_"):
            continue
        if kind == "TypedefDecl":
            spelled = node["type"]["qualType"]
            if not spelled.startswith(("struct ", "union ", "enum ")):
                result.typedefs.append((name, spelled))
        elif kind == "RecordDecl" and node.get("completeDefinition"):
            fields = [
                (item["name"], item["type"]["qualType"])
                for item in inner
                if item["kind"] == "FieldDecl"
            ]
            result.records.append(Record(name, node["tagUsed"], fields))
        elif kind == "FunctionDecl":
            names = [item.get("name", "") for item in inner if item["kind"] == "ParmVarDecl"]
            result.functions.append(Function(name, node["type"]["qualType"], names))
    return result
