# SPDX-License-Identifier: Apache-2.0
"""Reads what SWIG's -xml makes of the public headers: C as a compiler sees it.

Types, structs, constants and the order of parameters come from here. SWIG's preprocessor has taken
comments and ownership words away; tools/headers.py reads those from the text.
"""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path


class TreeError(Exception):
    """Something in SWIG's tree that is not as the headers are written."""


@dataclass(frozen=True)
class Named:
    name: str  # "int64_t", "libdl_tensor", "void"


@dataclass(frozen=True)
class Pointer:
    to: "Type"
    const: bool  # whether what it points to is const


@dataclass(frozen=True)
class Array:
    of: "Type"
    count: str


@dataclass(frozen=True)
class Callable:
    """What a pointer to a function points to."""

    result: "Type"
    parameters: tuple["Variable", ...]


Type = Named | Pointer | Array | Callable


@dataclass(frozen=True)
class Variable:
    name: str
    type: Type


@dataclass
class Record:
    name: str
    fields: list[Variable] = field(default_factory=list)
    union: bool = False


@dataclass(frozen=True)
class Function:
    name: str
    result: Type
    parameters: tuple[Variable, ...]


@dataclass
class Tree:
    constants: dict[str, int] = field(default_factory=dict)
    typedefs: dict[str, Type] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)


def run_swig(swig: str, include: Path, out: Path) -> Tree:
    """All headers through SWIG; the interface file and the tree lie in `out`, for who looks."""
    out.mkdir(parents=True, exist_ok=True)
    headers = sorted(path.name for path in (include / "libdl").glob("*.h"))
    # SWIG reads a header that others have included already only where it is named first.
    interface = ["%module libdl", *(f"%include <libdl/{name}>" for name in _ordered(headers))]
    (out / "libdl.i").write_text("\n".join(interface) + "\n", encoding="utf-8")
    subprocess.run(
        [swig, "-xml", f"-I{include}", "-o", str(out / "libdl.xml"), str(out / "libdl.i")],
        check=True,
    )
    return read_tree(out / "libdl.xml")


def _ordered(headers: list[str]) -> list[str]:
    """Each header only uses types of these first three and of itself."""
    first = ["abi.h", "dtype.h", "device.h", "error.h", "text.h"]
    return first + [name for name in headers if name not in (*first, "libdl.h")]


def read_tree(path: Path) -> Tree:
    tree = Tree()
    for node in ElementTree.parse(path).iter("include"):
        name = _attributes(node).get("name", "")
        if "/libdl/" in name and name.endswith(".h"):
            for child in node:
                _read(child, tree)
    tree.opaque = [n for n in tree.opaque if all(r.name != n for r in tree.records)]
    if not tree.functions:
        raise TreeError(f"{path} has no function")
    return tree


def _attributes(node: ElementTree.Element) -> dict[str, str]:
    listed = node.find("attributelist")
    if listed is None:
        return {}
    return {a.get("name", ""): a.get("value", "") for a in listed.findall("attribute")}


def _read(node: ElementTree.Element, tree: Tree) -> None:
    a = _attributes(node)
    if node.tag == "class":
        tree.records.append(_record(node))
    elif node.tag == "classforward":
        tree.opaque.append(a["name"])
    elif node.tag == "constant":
        if a["name"].startswith("LIBDL_") and re.fullmatch(r"-?\d+", a["value"]):
            tree.constants[a["name"]] = int(a["value"])
    elif node.tag == "enum":
        for item in node.findall("enumitem"):
            b = _attributes(item)
            tree.constants[b["name"]] = int(b["enumvalue"])
    elif node.tag == "cdecl" and a["kind"] == "function":
        called = _type(a["decl"] + a["type"], _parameters(node))
        assert isinstance(called, Callable)
        tree.functions.append(Function(a["name"], called.result, called.parameters))
    elif node.tag == "cdecl" and a["kind"] == "typedef":
        if a["type"] == f"struct {a['name']}":
            tree.opaque.append(a["name"])
        else:
            tree.typedefs[a["name"]] = _type(a["decl"] + a["type"], _parameters(node))
    elif node.tag not in ("attributelist", "typescope", "insert", "fragment", "typemap"):
        raise TreeError(f"unexpected {node.tag} {a.get('name', '')}")


def _parameters(node: ElementTree.Element) -> tuple[str, ...]:
    """The parameters' names; their types stand in the declaration as well."""
    listed = node.find("attributelist/parmlist")
    parms = [] if listed is None else [_attributes(parm) for parm in listed.findall("parm")]
    return tuple(parm.get("name", "") for parm in parms if parm.get("type") != "void")


def _type(text: str, names: tuple[str, ...] = ()) -> Type:
    """SWIG's spelling, from the outside in: 'p.q(const).char' is a pointer to const char."""
    if text.startswith("p."):
        const = text.startswith("p.q(const).")
        return Pointer(_type(text.removeprefix("p.").removeprefix("q(const)."), names), const)
    if text.startswith("a("):
        count, _, of = text[2:].partition(").")
        return Array(_type(of, names), count)
    if text.startswith("f("):
        end = _closing(text, 1)
        inside = [part for part in _split(text[2:end]) if part not in ("", "void")]
        values = names if len(names) == len(inside) else tuple(f"p{i}" for i in range(len(inside)))
        parameters = tuple(Variable(n, _type(t)) for n, t in zip(values, inside, strict=True))
        return Callable(_type(text[end + 2 :]), parameters)
    name = text.removeprefix("struct ").removeprefix("q(const).")
    if not re.fullmatch(r"\w+", name):
        raise TreeError(f"cannot read the type '{text}'")
    return Named(name)


def _closing(text: str, start: int) -> int:
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    raise TreeError(f"an open parenthesis in '{text}'")


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _record(node: ElementTree.Element) -> Record:
    """A struct or union; what is nested in one is a record of its own, named by both."""
    a = _attributes(node)
    members = [_attributes(child) for child in node.findall("cdecl")]
    parameters = [_parameters(child) for child in node.findall("cdecl")]
    fields = [
        Variable(m["name"], _type(m["decl"] + m["type"], names))
        for m, names in zip(members, parameters, strict=True)
    ]
    return Record(a["name"], fields, a["kind"] == "union")
