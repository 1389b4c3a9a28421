# SPDX-License-Identifier: Apache-2.0
"""Writes the operators of the crate libdl: methods of Tensor and functions, in up to five forms.

add(other)                 what must be given; the rest is absent or Python's default
add_with(other, alpha)     every argument, Option where it may be absent
add_(other), add_with_     in place, where Python has the form
add_into(other, alpha, dst)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from operators import Argument, Operator
from sys_crate import SysCrate, spelled
from typed import Typed, sentences

# What safe Rust does not offer, and what C is given for it: a transfer that still ran when the call
# has returned would write beside whoever reads.
_KEPT_BACK = {"non_blocking": "0"}
# Rust's own clone is another handle to the same tensor.
_NAMES = {"clone": "duplicate", "bernoulli_fill": "bernoulli"}


def rust_name(operator: Operator) -> str:
    return _NAMES.get(operator.name, operator.name)


def parameter_type(typed: Typed, argument: Argument) -> str:
    if argument.kind == "dtype" and typed.default(argument) is None:
        return "Dtype"
    return argument.filled(argument.row.rust)


def default_value(argument: Argument, default: str) -> str:
    """A default in Rust; what may be absent and has a number as default has it inside the
    library."""
    if default == "None" or (argument.kind in ("tensor", "ints") and argument.nullable):
        return "None"
    if argument.kind == "bool":
        value = default.lower()
    elif argument.kind == "string":
        value = '"' + default.strip("'") + '"'
    elif argument.kind == "ints":
        value = f"&[{default.strip('()')}]"
    elif argument.kind == "float" and default.lstrip("-").isdigit():
        value = f"{default}.0"
    else:
        value = default
    return f"Some({value})" if argument.nullable else value


@dataclass(frozen=True)
class Form:
    """One function: `suffix` is behind the name, `full` takes all arguments."""

    typed: Typed
    suffix: str
    full: bool
    into: bool = False  # the last parameters are destinations

    @property
    def name(self) -> str:
        return rust_name(self.typed.operator) + self.suffix

    @property
    def inplace(self) -> bool:
        return self.suffix.endswith("_")

    @property
    def arguments(self) -> tuple[Argument, ...]:
        chosen = self.typed.arguments if self.full else self.typed.required
        return tuple(a for a in chosen if a.name not in _KEPT_BACK)

    @property
    def has_object(self) -> bool:
        return self.typed.receiver is not None or self.typed.overwrites

    def head(self) -> str:
        given = [f"{spelled(a.name)}: {parameter_type(self.typed, a)}" for a in self.arguments]
        if self.has_object:
            given.insert(0, "&self")
        if self.into:
            given += [f"{name}: &Tensor" for name in self.typed.destinations]
        lifetime = "<'a>" if any("'a" in part for part in given) else ""
        return f"pub fn {spelled(self.name)}{lifetime}({', '.join(given)}) -> {self.result()}"

    def result(self) -> str:
        if self.into or self.inplace:
            return "Result<()>"
        types = [r.row.rust[0] for r in self.typed.operator.results]
        return f"Result<{types[0]}>" if len(types) == 1 else f"Result<({', '.join(types)})>"

    def body(self) -> list[str]:
        if not self.full:
            return self._forward()
        lines = []
        passed = ["self.as_ptr()"] if self.typed.receiver else []
        for a in self.typed.arguments:
            if a.name in _KEPT_BACK:
                passed.append(_KEPT_BACK[a.name])
                continue
            x = spelled(a.name)
            if any(a.row.rust_bound):
                lines.append(a.filled(a.row.rust_bound, x=x))
            given = a.filled(a.row.rust_passed, x=x)
            is_dtype = parameter_type(self.typed, a) == "Dtype"
            passed.append(f"{x}.0" if is_dtype else given)
        function = f"libdl_{self.typed.name}"
        if self.into or self.inplace:
            many = len(self.typed.destinations) > 1
            assert not (self.inplace and many), f"{self.name} in place has one destination"
            passed += (
                [f"{name}.as_mut_ptr()" for name in self.typed.destinations]
                if self.into
                else ["self.as_mut_ptr()"]
            )
            return [*lines, f"unsafe {{ check({function}_into({', '.join(passed)})) }}"]
        results = self.typed.operator.results
        for r in results:
            lines.append(f"let mut {r.name} = {r.row.rust[1]};")
        passed += [f"&mut {r.name}" for r in results]
        taken = [r.row.rust[2].format(x=r.name) for r in results]
        given = taken[0] if len(taken) == 1 else f"({', '.join(taken)})"
        call = f"check({function}({', '.join(passed)}))?;"
        if any("(" in t for t in taken):
            return [*lines, "unsafe {", f"    {call}", f"    Ok({given})", "}"]
        return [*lines, f"unsafe {{ {call} }}", f"Ok({given})"]

    def _forward(self) -> list[str]:
        values = []
        for a in self.typed.arguments:
            if a.name in _KEPT_BACK:
                continue
            default = self.typed.default(a)
            values.append(spelled(a.name) if default is None else default_value(a, default))
        full = rust_name(self.typed.operator) + ("_with_" if self.inplace else "_with")
        return [f"{'self.' if self.has_object else ''}{full}({', '.join(values)})"]

    def comment(self, folder: str) -> list[str]:
        where = f"{'Tensor::' if self.has_object else ''}{rust_name(self.typed.operator)}"
        parts = sentences(self.typed, "None")
        summary = escaped(parts[0][1])
        if self.into:
            return [f"/// [`{where}`]({folder}{where}) into a tensor that exists."]
        if self.inplace and not self.typed.overwrites:
            return [f"/// [`{where}`]({folder}{where}) in place: {summary}"]
        told = [f"/// {summary}", "///"]
        shown = {a.name for a in self.arguments} | {r.name for r in self.typed.operator.results}
        if self.typed.receiver:
            shown.add("input")
        for name, text in parts[1:-2]:
            if name in shown:
                spelling = "self" if self.has_object and name in ("input", "dst") else name
                told.append(f"/// - `{spelling}`: {escaped(text)}")
        for name, text in parts[-2:]:
            told += ["///", f"/// # {name}", f"/// {escaped(text)}"]
        left_out = [
            a.name
            for a in self.typed.arguments
            if a not in self.arguments and a.name not in _KEPT_BACK
        ]
        if left_out:
            names = ", ".join(f"`{name}`" for name in left_out)
            suffix = "_with_" if self.inplace else "_with"
            told += ["///", f"/// More can be said ({names}) to [`{where}{suffix}`]."]
        return told

    def text(self) -> str:
        body = "\n".join(f"    {line}" for line in self.body())
        many = ["#[allow(clippy::too_many_arguments)]"] if len(self.arguments) > 5 else []
        inlined = [] if self.full else ["#[inline]"]
        head = [*self.comment(""), *many, *inlined, f"{self.head()} {{"]
        return "\n".join([*head, body, "}"])


def escaped(text: str) -> str:
    return re.sub(r"([\[\]<>*_`|])", r"\\\1", text)


def forms(operator: Operator) -> list[Form]:
    typed = Typed(operator)
    offered = tuple(a for a in typed.arguments if a.name not in _KEPT_BACK)
    optional = typed.has_short_form and typed.required != offered
    made: list[Form] = []

    def add(suffix: str) -> None:
        with_ = "_with" + suffix
        if optional:
            made.append(Form(typed, suffix, full=False))
        made.append(Form(typed, with_ if optional else suffix, full=True))

    if operator.has_new:
        add("")
    if typed.overwrites or typed.inplace:
        add("_")
    if operator.has_into and not typed.overwrites:
        made.append(Form(typed, "_into", full=True, into=True))
    return made


def operators_source(operators: list[Operator]) -> str:
    """ops.rs: the methods, then the functions."""
    all_forms = [form for operator in operators for form in forms(operator)]
    methods = "\n\n".join(form.text() for form in all_forms if form.has_object)
    functions = "\n\n".join(form.text() for form in all_forms if not form.has_object)
    return (
        "// Written by wrappers/rust/generate.py from include/libdl.\n"
        "use crate::pass::*;\nuse crate::{Device, Dtype, Generator, Operand, Result, Tensor};\n"
        "use libdl_sys::*;\nuse std::borrow::Borrow;\n\n"
        f"/// Operators.\nimpl Tensor {{\n{methods}\n}}\n\n{functions}\n"
    )


def constants_source(crate: SysCrate) -> str:
    """constants.rs: the numbers of dtypes and error codes by name, as the headers say them."""
    parts = [
        "// Written by wrappers/rust/generate.py from include/libdl.\n"
        "use crate::{Dtype, ErrorCode};\n"
    ]
    for typedef, owner in (("libdl_dtype", "Dtype"), ("libdl_error_code", "ErrorCode")):
        prefix = crate.prefixes[typedef]
        lines, names = [], []
        for name, value in crate.tree.constants.items():
            short = name.removeprefix(prefix)
            if name == short or short == "NONE":
                continue
            lines += [f"    /// {escaped(line)}" for line in crate.said.get(name, (f"{name}.",))]
            lines.append(f"    pub const {short}: {owner} = {owner}({value});")
            names.append(f'            {value} => "{short}",')
        parts.append(
            f"impl {owner} {{\n" + "\n".join(lines) + "\n\n"
            "    pub(crate) fn constant(self) -> Option<&'static str> {\n"
            "        Some(match self.0 {\n"
            + "\n".join(names)
            + "\n            _ => return None,\n        })\n    }\n}\n"
        )
    return "\n".join(parts)
