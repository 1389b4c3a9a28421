# SPDX-License-Identifier: Apache-2.0
"""Writes libdl-sys: every declaration of the public headers as Rust's C, and the layout's test.

Types and order are SWIG's (tree.py), comments those of the headers' text (tools/headers.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from headers import Header
from tree import Array, Callable, Function, Named, Pointer, Record, Tree, TreeError, Type, Variable

_NAMES = {
    "void": "c_void",
    "char": "c_char",
    "double": "f64",
    "size_t": "usize",
    "int32_t": "i32",
    "int64_t": "i64",
    "uint32_t": "u32",
    "uint64_t": "u64",
}
KEYWORDS = {"as", "fn", "in", "type", "where", "move", "ref", "final", "yield", "use", "match"}


def spelled(name: str) -> str:
    return f"r#{name}" if name in KEYWORDS else name


def rust_type(c: Type) -> str:
    if isinstance(c, Named):
        return _NAMES.get(c.name, c.name)
    if isinstance(c, Array):
        return f"[{rust_type(c.of)}; {c.count}]"
    if isinstance(c, Pointer) and isinstance(c.to, Callable):
        return f'Option<unsafe extern "C" fn({_parameters(c.to.parameters)}){_result(c.to)}>'
    if isinstance(c, Pointer):
        return f"*{'const' if c.const else 'mut'} {rust_type(c.to)}"
    raise TreeError(f"{c} cannot stand in Rust")


def _parameters(parameters: tuple[Variable, ...]) -> str:
    return ", ".join(f"{spelled(p.name)}: {rust_type(p.type)}" for p in parameters)


def _result(function: Callable | Function) -> str:
    return "" if function.result == Named("void") else f" -> {rust_type(function.result)}"


def comment(lines: tuple[str, ...], indent: str = "") -> list[str]:
    """The first paragraph as text, and the table of parameters as it stands."""
    first, _, rest = "\n".join(lines).partition("\n\n")
    text = re.sub(r"([\[\]<>*_])", r"\\\1", first).split("\n")
    if rest:
        text += ["", "```text", *rest.split("\n"), "```"]
    return [f"{indent}/// {line}".rstrip() for line in text]


@dataclass
class SysCrate:
    tree: Tree
    headers: list[Header]

    def __post_init__(self) -> None:
        self.said: dict[str, tuple[str, ...]] = {}
        self.comments: dict[str, tuple[str, ...]] = {}
        for header in self.headers:
            self.said.update(header.said)
            previous: tuple[str, ...] = ()
            for function in header.functions:
                previous = function.comment or previous  # one comment may serve a group
                self.comments[function.name] = previous
        known = {function.name for function in self.tree.functions}
        if known != set(self.comments):
            differing = ", ".join(sorted(known ^ set(self.comments)))
            raise TreeError(f"SWIG and tools/headers.py read different functions: {differing}")
        self.prefixes = {
            name: text[1]
            for name, lines in self.said.items()
            if name in self.tree.typedefs
            and (text := re.match(r"One of the (LIBDL_\w+_) constants", " ".join(lines)))
        }

    def type_of_constant(self, name: str) -> str:
        """Typedefs say 'One of the LIBDL_DTYPE_ constants'; what none claims is an i32."""
        fitting = [t for t, prefix in self.prefixes.items() if name.startswith(prefix)]
        return max(fitting, key=lambda t: len(self.prefixes[t]), default="i32")

    def source(self) -> str:
        parts = ["// Written by wrappers/rust/generate.py from include/libdl."]
        parts += [self._constant(name, value) for name, value in self.tree.constants.items()]
        parts += [self._opaque(name) for name in self.tree.opaque]
        parts += [self._typedef(name, type) for name, type in self.tree.typedefs.items()]
        parts += [self._record(record) for record in self.tree.records]
        functions = "\n".join(self._function(function) for function in self.tree.functions)
        return "\n".join([*parts, 'extern "C" {', functions, "}", ""])

    def _comment(self, name: str, indent: str = "") -> list[str]:
        lines = self.said.get(name) or self.comments.get(name)
        return comment(lines, indent) if lines else []

    def _constant(self, name: str, value: int) -> str:
        return "\n".join(
            [*self._comment(name), f"pub const {name}: {self.type_of_constant(name)} = {value};"]
        )

    def _opaque(self, name: str) -> str:
        body = "_size_unknown: [u8; 0],\n    _pinned: PhantomData<(*mut u8, PhantomPinned)>,"
        return "\n".join(
            [*self._comment(name), "#[repr(C)]", f"pub struct {name} {{\n    {body}\n}}"]
        )

    def _typedef(self, name: str, type: Type) -> str:
        return "\n".join([*self._comment(name), f"pub type {name} = {rust_type(type)};"])

    def _record(self, record: Record) -> str:
        lines = [*self._comment(record.name), "#[repr(C)]", "#[derive(Clone, Copy)]"]
        lines.append(f"pub {'union' if record.union else 'struct'} {record.name} {{")
        for field in record.fields:
            lines += self._comment(f"{record.name}.{field.name}", "    ")
            lines.append(f"    pub {spelled(field.name)}: {rust_type(field.type)},")
        return "\n".join([*lines, "}"])

    def _function(self, function: Function) -> str:
        head = f"    pub fn {function.name}({_parameters(function.parameters)})"
        return "\n".join([*self._comment(function.name, "    "), f"{head}{_result(function)};"])

    def layout_test(self, promise: str) -> str:
        """The lines of tests/abi/promise.txt about constants, sizes and offsets, in Rust."""
        lines: list[str] = []
        for match in _PROMISED.finditer(promise):
            if match["constant"]:
                lines.append(f"    assert_eq!(i64::from({match['constant']}), {match['value']});")
            elif match["record"]:
                lines.append(f"    assert_eq!(size_of::<{match['record']}>(), {match['size']});")
            elif match["owner"]:
                lines.append(
                    f"    assert_eq!(offset!({match['owner']}, {_path(match['member'])}), "
                    f"{match['offset']});"
                )
        if len(lines) < len(self.tree.constants):
            raise TreeError(f"only {len(lines)} lines are read out of tests/abi/promise.txt")
        return _TEST.replace("@LINES@", "\n".join(lines))


_PROMISED = re.compile(
    r"^(?:(?P<constant>LIBDL_\w+) = (?P<value>-?\d+)"
    r"|(?P<record>libdl_\w+) struct, (?P<size>\d+) bytes, .*"
    r"|(?P<owner>libdl_\w+)\.(?P<member>[\w.]+) .*, \d+ bytes at (?P<offset>\d+))$",
    re.MULTILINE,
)


def _path(member: str) -> str:
    return ".".join(spelled(part) for part in member.split("."))


_TEST = """\
// Written by wrappers/rust/generate.py from tests/abi/promise.txt.
use libdl_sys::*;
use std::mem::{size_of, MaybeUninit};
use std::ptr::addr_of;

macro_rules! offset {
    ($record:ty, $($member:tt)+) => {{
        let place = MaybeUninit::<$record>::uninit();
        let start = place.as_ptr();
        (unsafe { addr_of!((*start).$($member)+) } as usize) - start as usize
    }};
}

#[test]
fn structs_and_constants_are_the_abi_s() {
@LINES@
}
"""
