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
    parameter_types: list[str]

    def signature(self) -> str:
        """'(size: int32_t) -> int32_t'."""
        pairs = zip(self.parameters, self.parameter_types, strict=True)
        listed = ", ".join(f"{name}: {spelled}" for name, spelled in pairs)
        start = self.type.rindex("(" + (", ".join(self.parameter_types) or "void") + ")")
        return f"({listed or 'void'}) -> {self.type[:start].rstrip()}"


@dataclasses.dataclass
class Field:
    name: str  # "held.as_int" for a member of a union inside
    type: str  # "union" if that has no name


@dataclasses.dataclass
class Record:
    name: str
    tag: str  # "struct" or "union"
    fields: list[Field]

    @property
    def c_name(self) -> str:
        return f"{self.tag} {self.name}"

    @property
    def grows(self) -> bool:
        """Whether it tells its own size, so that new members may come at its end."""
        return bool(self.fields) and self.fields[0].name == "struct_size"


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


def fields(inner: list[dict], prefix: str = "") -> list[Field]:
    """The members of a struct, and behind a member without a type's name what is in it."""
    result: list[Field] = []
    last: dict = {}
    for item in inner:
        if item["kind"] == "RecordDecl":
            last = item
        if item["kind"] != "FieldDecl":
            continue
        name, spelled = prefix + item["name"], item["type"]["qualType"]
        if "unnamed" in spelled or "anonymous" in spelled:
            result.append(Field(name, last["tagUsed"]))
            result += fields(last["inner"], f"{name}.")
        else:
            result.append(Field(name, spelled))
    return result


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
            result.records.append(Record(name, node["tagUsed"], fields(inner)))
        elif kind == "FunctionDecl":
            parameters = [item for item in inner if item["kind"] == "ParmVarDecl"]
            names = [item.get("name", "") for item in parameters]
            types = [item["type"]["qualType"] for item in parameters]
            result.functions.append(Function(name, node["type"]["qualType"], names, types))
    return result
