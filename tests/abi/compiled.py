# SPDX-License-Identifier: Apache-2.0
"""What a built library tells of its ABI: its symbols, and its types by its debug information, which
abidw reads. Each is spelled as tests/abi/promise.txt spells it."""

import dataclasses
import pathlib
import re
import subprocess
import xml.etree.ElementTree

import declarations

LIBRARY = "library"  # the key of the line about the file itself
BITS = {"char": 8, "int": 32, "float": 32, "double": 64, "size_t": 64}


def record_line(tag: str, size: int, grows: bool) -> str:
    return f"{tag}, {'at least ' if grows else ''}{size} bytes"


def member_line(spelled: str, size: int, at: int) -> str:
    return f"{spelled}, {size} bytes at {at}"


@dataclasses.dataclass
class Library:
    functions: dict[str, str]  # name to '(const char *, int32_t) -> int32_t'
    since: dict[str, str]  # name to '0.1'
    types: dict[str, str]  # typedefs, structs and members of structs, each with its line
    library: dict[str, str]  # the line about the file itself


class Types:
    """The types of abidw's document, spelled as clang spells them."""

    def __init__(self, tree: xml.etree.ElementTree.ElementTree) -> None:
        self.by_id = {node.get("id"): node for node in tree.iter() if node.get("id")}

    def spelled(self, id: str, declared: str = "") -> str:
        """C's declaration of something of this type: what is declared stands inside."""
        node = self.by_id[id]
        target = node.get("type-id", "")
        if node.tag == "pointer-type-def":
            inside = self.by_id[target].tag in ("function-type", "array-type-def")
            return self.spelled(target, f"(*{declared})" if inside else f"*{declared}")
        if node.tag == "qualified-type-def":
            word = " ".join(word for word in ("const", "volatile") if node.get(word) == "yes")
            if self.by_id[target].tag == "pointer-type-def":
                return self.spelled(target, f"{word} {declared}".rstrip())
            return f"{word} {self.spelled(target, declared)}"
        if node.tag == "function-type":
            return self.spelled(node.find("return").get("type-id"), declared + self.list(node))
        if node.tag == "array-type-def":
            counts = "".join(f"[{range.get('length')}]" for range in node.iter("subrange"))
            return self.spelled(target, declared + counts).replace(" [", "[")
        name = node.get("name", "")
        if node.tag.endswith("reference-type-def"):
            name = self.spelled(target, "&")
        self.check_width(name, node)
        return f"{name} {declared}".rstrip()

    def list(self, function: xml.etree.ElementTree.Element) -> str:
        parameters = [
            "..." if one.get("is-variadic") else self.spelled(one.get("type-id"))
            for one in function.findall("parameter")
        ]
        return f"({', '.join(parameters) or 'void'})"

    def bits(self, id: str) -> int:
        node = self.by_id[id]
        if node.get("size-in-bits"):
            return int(node.get("size-in-bits"))
        return 64 if node.tag == "pointer-type-def" else self.bits(node.get("type-id"))

    def check_width(self, name: str, node: xml.etree.ElementTree.Element) -> None:
        fixed = re.fullmatch(r"u?int(\d+)_t", name)
        wanted = int(fixed[1]) if fixed else BITS.get(name)
        if wanted and self.bits(node.get("id")) != wanted:
            raise SystemExit(f"promise: the library's {name} has not {wanted} bits")

    def members(
        self, prefix: str, node: xml.etree.ElementTree.Element, base: int
    ) -> dict[str, str]:
        """The lines of a struct's members, those of a union inside included."""
        result: dict[str, str] = {}
        for member in node.findall("data-member"):
            field = member.find("var-decl")
            name, id = f"{prefix}.{field.get('name')}", field.get("type-id")
            at = base + int(member.get("layout-offset-in-bits", 0))
            held = self.by_id[id]
            inside = held.get("is-anonymous") == "yes"
            spelled = (
                held.tag.replace("class-decl", "struct").replace("union-decl", "union")
                if inside
                else self.spelled(id)
            )
            result[name] = member_line(spelled, self.bits(id) // 8, at // 8)
            if inside:
                result |= self.members(name, held, at)
        return result


def symbols(library: pathlib.Path) -> dict[str, str]:
    """Symbol to version node of every defined dynamic symbol; the nodes themselves left out."""
    command = ["nm", "-D", "--defined-only", str(library)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    result = {}
    for line in output.splitlines():
        kind, symbol = line.split()[-2:]
        if kind == "A":
            continue
        name, _, node = symbol.partition("@@")
        if kind != "T":
            raise SystemExit(f"promise: {name} is exported, but no function ({kind})")
        result[name] = node
    return result


def describe(library: pathlib.Path) -> xml.etree.ElementTree.ElementTree:
    """abidw's document, of what the public headers declare."""
    command = ["abidw", "--headers-dir", str(declarations.INCLUDE / "libdl")]
    command += ["--drop-private-types", "--exported-interfaces-only", "--no-show-locs"]
    output = subprocess.run([*command, str(library)], capture_output=True, check=True).stdout
    return xml.etree.ElementTree.ElementTree(xml.etree.ElementTree.fromstring(output))


def read(library: pathlib.Path, public: set[str]) -> Library:
    """public: the types to be read; behind an opaque handle stands no promise, though a public
    header names the handle."""
    nodes, tree = symbols(library), describe(library)
    types, result = Types(tree), Library({}, {}, {}, {})
    for function in tree.iter("function-decl"):
        name = function.get("elf-symbol-id", "").partition("@")[0]
        if name in nodes:
            answer = types.spelled(function.find("return").get("type-id"))
            result.functions[name] = f"{types.list(function)} -> {answer}"
    # A library without debug information would look as promised, whatever was done to it.
    if missing := sorted(nodes.keys() - result.functions.keys()):
        raise SystemExit(f"promise: {library} has no debug information for {missing[:5]} ...")
    for unit in tree.iter("abi-instr"):
        for node in unit:
            name = node.get("name", "")
            if name not in public:
                continue
            if node.tag == "typedef-decl" and types.by_id[node.get("type-id")].get("name") != name:
                result.types[name] = f"= {types.spelled(node.get('type-id'))}"
            elif node.tag in ("class-decl", "union-decl") and node.get("size-in-bits"):
                members = types.members(name, node, 0)
                grows = next(iter(members), "").endswith(".struct_size")
                tag = "union" if node.tag == "union-decl" else "struct"
                result.types[name] = record_line(tag, types.bits(node.get("id")) // 8, grows)
                result.types |= members
    result.since = {name: node.removeprefix("LIBDL_") for name, node in nodes.items()}
    root = tree.getroot()
    early = sorted({node for node in nodes.values() if node.startswith("LIBDL_0.")})
    result.library[LIBRARY] = " ".join(
        [root.get("soname", "without a soname"), root.get("architecture", ""), *early]
    )
    return result
