# SPDX-License-Identifier: Apache-2.0
"""Writes the Python layer: functions with keywords, defaults, annotations and docstrings.

    python3 tools/python_layer.py --headers include/libdl --python OUT.py

OUT.py has one function for each Python name, and four tables by which the package hangs them where
they belong: FUNCTIONS (libdl.add), FUNCTIONAL (libdl.nn.functional.relu), METHODS (Tensor.add,
Tensor.add_) and PROPERTIES (Tensor.real). It calls the module _C by the C functions' names without
libdl_, with one argument for each of an operator's (a pointer and its count are one) and without
its outputs: _C.add(input, other, alpha) and _C.add_into(input, other, alpha, dst).
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from headers import HeaderError
from operators import Argument, Operator, PythonLine, PythonParameter, read_operators

PREAMBLE = '''\
# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_layer.py from include/libdl.
"""The operators as Python functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from . import _C
from ._calling import choose, listed
from ._overrides import override

if TYPE_CHECKING:
    from ._types import DeviceLike, DType, Generator, Number, Tensor, TensorLike

_Overridden = _C.Overridden
'''

_ANNOTATIONS = {
    "tensor": "TensorLike",
    "tensors": "Sequence[Tensor]",
    "ints": "int | Sequence[int]",
    "int": "int",
    "dim": "int",
    "float": "float",
    "bool": "bool",
    "dtype": "DType | None",
    "device": "DeviceLike | None",
    "string": "str",
    "generator": "Generator | None",
}
_RESULT_ANNOTATIONS = {
    "tensor": "Tensor",
    "tensor_list": "tuple[Tensor, ...]",
    "bool": "bool",
    "int": "int",
    "uint": "int",
    "float": "float",
}
# What an argument must be for an overload to be taken; see wrappers/python/libdl/_calling.py.
_MATCHES = {
    "tensor": "t", "tensors": "s", "ints": "l", "int": "i", "dim": "i", "float": "f", "bool": "b",
    "dtype": "d", "device": "v", "string": "c", "generator": "g",
}  # fmt: skip

# Python's own names that the functions of this module would hide from it.
_BUILTINS = {"abs", "all", "any", "max", "min", "pow", "round", "sum", "slice", "tuple"}


@dataclass(frozen=True)
class Form:
    """One way to call an operator under one Python name."""

    operator: Operator
    line: PythonLine
    inplace: bool = False
    method: bool = False

    @property
    def has_out(self) -> bool:
        both = self.operator.has_new and self.operator.has_into
        return both and not (self.inplace or self.method)

    @property
    def leaf(self) -> bool:
        return "leaf" in self.line.flags

    @property
    def own(self) -> str:
        """The parameter that a method is called on."""
        names = [p.argument for p in self.line.parameters]
        return "input" if "input" in names else "dst"

    def parameters(self) -> list[PythonParameter]:
        parameters = list(self.line.parameters)
        if self.method or self.inplace:
            own = next(p for p in parameters if p.argument == self.own)
            parameters.remove(own)
            parameters.insert(0, own)
        return parameters


def _argument(form: Form, name: str) -> Argument:
    if name == "dst":
        return Argument("dst", "tensor")
    return next(a for a in form.operator.arguments if a.name == name)


def _annotation(form: Form, parameter: PythonParameter) -> str:
    argument = _argument(form, parameter.argument)
    if argument.name in ("input", "dst", "condition"):
        return "Tensor"
    if parameter.variadic:
        return "int | Sequence[int]"
    text = _ANNOTATIONS[argument.kind]
    if argument.kind == "tensors" and argument.nullable:
        return "Sequence[Tensor | None]"
    nullable = argument.nullable and "None" not in text
    return f"{text} | None" if nullable else text


def _result_annotation(form: Form) -> str:
    results = form.operator.results
    if form.inplace or not form.operator.has_new:
        return "Tensor"
    if len(results) > 1:
        return result_class(form.operator)
    return _RESULT_ANNOTATIONS[results[0].kind]


def result_class(operator: Operator) -> str:
    names = "".join(r.name.capitalize() for r in operator.results)
    return f"_{names}"


def signature_of(form: Form) -> list[str]:
    """The parameters of the def, with annotations and defaults."""
    parts: list[str] = []
    keyword_only = False
    for position, parameter in enumerate(form.parameters()):
        if parameter.variadic:
            parts.append(f"*{_variadic(parameter)}: {_annotation(form, parameter)}")
            parts.append(f"{parameter.name}: Sequence[int] | None = None")
            keyword_only = True
            continue
        if parameter.keyword_only and not keyword_only:
            parts.append("*")
            keyword_only = True
        name = "self" if position == 0 and form.method else parameter.name
        annotation = "" if name == "self" else f": {_annotation(form, parameter)}"
        default = "" if parameter.default is None else f" = {parameter.default}"
        parts.append(f"{name}{annotation}{default}")
    if form.leaf or form.has_out:
        if not keyword_only:
            parts.append("*")
        if form.leaf:
            parts.append("requires_grad: bool = False")
        if form.has_out:
            several = len(form.operator.results) > 1
            parts.append(f"out: {'tuple[Tensor, ...]' if several else 'Tensor'} | None = None")
    return parts


def _variadic(parameter: PythonParameter) -> str:
    return f"{parameter.name}_"


def _passed(form: Form) -> list[str]:
    """What _C gets for each argument of the operator."""
    by_argument = {p.argument: p for p in form.line.parameters}
    passed = []
    for argument in form.operator.arguments:
        parameter = by_argument.get(argument.name)
        if parameter is None:
            passed.append("None")
        elif form.method and argument.name == form.own:
            passed.append("self")
        elif parameter.variadic:
            passed.append(f"listed({_variadic(parameter)}, {parameter.name})")
        else:
            passed.append(parameter.name)
    return passed


def _own_name(form: Form) -> str:
    return "self" if form.method else form.own


def _override_arguments(form: Form) -> tuple[str, str]:
    """The call as __torch_function__ sees it; override() leaves out what has its default."""
    positional, keywords = [], []
    for position, parameter in enumerate(form.parameters()):
        name = "self" if position == 0 and form.method else parameter.name
        if parameter.variadic:
            positional.append(f"listed({_variadic(parameter)}, {parameter.name})")
        elif parameter.keyword_only:
            keywords.append(f'"{parameter.name}": {name}')
        else:
            positional.append(name)
    if form.has_out:
        keywords.append('"out": out')
    trailing = "," if len(positional) == 1 else ""
    return f"({', '.join(positional)}{trailing})", "{" + ", ".join(keywords) + "}"


def _takes_tensors(form: Form) -> bool:
    return any(
        _argument(form, p.argument).kind in ("tensor", "tensors") for p in form.line.parameters
    )


def _body(form: Form, public: str) -> list[str]:
    operator, passed = form.operator, _passed(form)
    c_name = f"_C.{operator.name}"
    lines: list[str] = []
    if form.inplace or not operator.has_new:
        own = _own_name(form)
        lines += [f"{c_name}_into({', '.join([*passed, own])})", f"return {own}"]
    else:
        call = f"{c_name}({', '.join(passed)})"
        several = len(operator.results) > 1
        if form.has_out:
            outs = ["*out"] if several else ["out"]
            lines += ["if out is not None:"]
            lines += [f"    {c_name}_into({', '.join([*passed, *outs])})"]
            lines += [f"    return {result_class(operator)}(*out)" if several else "    return out"]
        if form.leaf:
            lines += [f"result = {call}"]
            lines += ["return result.requires_grad_() if requires_grad else result"]
        elif several:
            lines += [f"return {result_class(operator)}(*{call})"]
        else:
            lines += [f"return {call}"]
    if not _takes_tensors(form):
        return lines
    arguments, keywords = _override_arguments(form)
    return [
        "try:",
        *(f"    {line}" for line in lines),
        "except _Overridden:",
        f"    return override({public}, {arguments}, {keywords})",
    ]


def _docstring(form: Form) -> list[str]:
    """The header's comment in Python's words."""
    d = form.operator.documentation
    lines = ['"""' + d.summary, ""]
    shown = {p.argument: p.name for p in form.line.parameters}
    described: dict[str, list[str]] = {}
    for argument, text in d.parameters.items():
        if argument in shown:
            described.setdefault(_in_python(text), []).append(shown[argument])
    lines += [f"{', '.join(names)}: {text}" for text, names in described.items()]
    if form.has_out:
        lines += ["out: an existing tensor that the result is written into"]
    if form.operator.has_new:
        results = [_in_python(d.parameters[r.name]) for r in form.operator.results]
        if len(results) > 1:
            results = [f"{r.name}: {t}" for r, t in zip(form.operator.results, results)]
        lines += ["", f"Returns {'; '.join(results)}."]
    lines += ["", f"Gradient: {d.gradient}"]
    wrapped = textwrap.wrap(lines.pop(0), 92)
    for line in lines:
        wrapped += textwrap.wrap(line, 92, subsequent_indent="    " if ": " in line else "") or [""]
    return [*wrapped, '"""']


def _short_docstring(form: Form) -> list[str]:
    """For methods, in-place forms and second names: what it is, and where the rest stands."""
    summary = form.operator.documentation.summary
    main = form.operator.python[0]
    place = "libdl." if "function" in main.flags else "libdl.nn.functional."
    lines = [("In place. " if form.inplace else "") + summary]
    if main.flags & {"function", "functional"}:
        lines += ["", f"See {place}{main.name}."]
    text = "\n".join(lines)
    if len(lines) == 1 and len(text) < 90:
        return [f'"""{text}"""']
    wrapped = textwrap.wrap('"""' + lines[0], 92) + lines[1:]
    return [*wrapped, '"""']


def _in_python(text: str) -> str:
    text = text.replace("LIBDL_DTYPE_NONE", "None").replace("NONE:", "None:")
    return text.replace("NULL:", "None:").replace("NULL", "None").replace("a None", "None")


def _indent(lines: list[str], by: str = "    ") -> str:
    return "\n".join(by + line if line else "" for line in lines)


def definition(name: str, form: Form, body: list[str], decorator: str = "") -> str:
    parameters = ", ".join(signature_of(form))
    head = f"{decorator}def {name}({parameters}) -> {_result_annotation(form)}:"
    if len(head) > 100:
        inside = ",\n    ".join(signature_of(form))
        head = f"{decorator}def {name}(\n    {inside},\n) -> {_result_annotation(form)}:"
    return head + "\n" + _indent(body)


def _match(form: Form) -> str:
    """The overload as choose() reads it: names, kinds and how many must be given."""
    names, kinds, required = [], "", 0
    variadic = ""
    for parameter in form.parameters():
        argument = _argument(form, parameter.argument)
        names.append(parameter.name)
        own = argument.name == form.own and (form.method or form.inplace)
        kind = "T" if own or argument.name in ("input", "dst") else _MATCHES[argument.kind]
        kinds += kind
        required += parameter.default is None and not parameter.keyword_only
        if parameter.variadic:
            variadic = parameter.name
    positional = sum(not p.keyword_only for p in form.parameters())
    quoted = ", ".join(f'"{n}"' for n in names) + ("," if len(names) == 1 else "")
    return f'({quoted}), "{kinds}", {positional}, {required}, {bool(variadic)}'


def _documented_in_full(form: Form) -> bool:
    own_place = form.line.flags & {"function", "functional"}
    return bool(own_place) and not form.method and form.line is form.operator.python[0]


def write_function(name: str, public: str, forms: list[Form]) -> str:
    """One Python function: a plain one, or the choice among several forms."""
    docs = [_docstring(f) if _documented_in_full(f) else _short_docstring(f) for f in forms]
    if len(forms) == 1:
        return definition(name, forms[0], docs[0] + _body(forms[0], public))
    bodies = [definition(f"_{name}_{i}", form, _body(form, public)) for i, form in enumerate(forms)]
    chosen = [f"(_{name}_{i}, {_match(form)})," for i, form in enumerate(forms)]
    table = f"_{name}_forms = (\n{_indent(chosen)}\n)"
    overloads = [definition(name, form, ["..."], "@overload\n") for form in forms]
    joined = docs[0]
    for form, more in zip(forms[1:], docs[1:]):
        if form.operator is not forms[0].operator:
            inside = "\n".join(more).removeprefix('"""').removesuffix('"""').rstrip("\n")
            before = "\n".join(joined).removesuffix('"""').rstrip("\n")
            joined = [*before.split("\n"), "", "Or:", "", *inside.split("\n"), '"""']
    chooses = [f"return choose({public}, _{name}_forms, args, keywords)"]
    head = f"def {name}(*args: Any, **keywords: Any) -> Any:\n"
    return "\n\n\n".join([*bodies, table, *overloads, head + _indent(joined + chooses)])


def forms_of(operators: list[Operator], flag: str) -> dict[str, list[Form]]:
    """Forms by public name for a place: function, functional, method, inplace or property."""
    forms: dict[str, list[Form]] = {}
    for operator in operators:
        for line in operator.python:
            if flag not in line.flags:
                continue
            name = line.name + ("_" if flag == "inplace" else "")
            method = flag in ("method", "inplace", "property")
            forms.setdefault(name, []).append(Form(operator, line, flag == "inplace", method))
    return forms


def python_layer(operators: list[Operator]) -> str:
    parts = [PREAMBLE]
    several = {tuple(r.name for r in o.results) for o in operators if len(o.results) > 1}
    for names in sorted(several):
        operator = next(o for o in operators if tuple(r.name for r in o.results) == names)
        if operator.python:
            fields = "\n".join(f"    {n}: Tensor" for n in names)
            parts.append(f"class {result_class(operator)}(NamedTuple):\n{fields}\n")
    tables = []
    places = (("function", "FUNCTIONS", ""), ("functional", "FUNCTIONAL", "functional_"),
              ("method", "METHODS", "method_"), ("inplace", "METHODS", "method_"),
              ("property", "PROPERTIES", "property_"))  # fmt: skip
    entries: dict[str, list[str]] = {}
    for flag, table, prefix in places:
        for name, forms in forms_of(operators, flag).items():
            private = f"{prefix}{name}" if prefix or name not in _BUILTINS else f"{name}_"
            public = f'{table}["{name}"]'
            parts.append(write_function(private, public, forms) + "\n")
            entries.setdefault(table, []).append(f'    "{name}": {private},')
    for table, lines in entries.items():
        tables.append(f"{table}: dict[str, Any] = {{\n" + "\n".join(lines) + "\n}\n")
    naming = (
        "for _table in (FUNCTIONS, FUNCTIONAL, METHODS, PROPERTIES):\n"
        "    for _name, _function in _table.items():\n"
        "        _function.__name__ = _function.__qualname__ = _name\n"
    )
    return "\n\n".join([*parts, *tables, naming])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True, help="folder of the public headers")
    parser.add_argument("--python", type=Path, required=True, help="the file to write")
    options = parser.parse_args()
    try:
        text = python_layer(read_operators(options.headers))
    except HeaderError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    options.python.parent.mkdir(parents=True, exist_ok=True)
    options.python.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
