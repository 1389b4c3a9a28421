# SPDX-License-Identifier: Apache-2.0
"""Writes the generated half of the Python package from the operator headers.

    python3 tools/python_layer.py --headers include/libdl --stub wrappers/python/tensor.pyi.in \
        --examples wrappers/python/examples --out build/generated/python

    libdl/_functions.py   plain functions with keywords, defaults, annotations and help
    libdl/_functional.py  those that live in libdl.nn.functional
    libdl/_methods.py     what libdl.Tensor gets as methods and properties
    libdl/_documents.py   help for the functions with several signatures, which are written by hand
    libdl/_kinds.py       names of operators by kind
    libdl/_C.pyi          the types of the C half
    operators.c           the C functions that these call (python_calls.py)
    operators.i           that SWIG leaves them to that file
    optimizer_steps.c     what Python calls of optimizers and clipping
"""

from __future__ import annotations

import argparse
import ast
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from doors import destinations
from kinds import KINDS
from operators import Argument, Operator, PythonLine, PythonParameter, read_operators
from python_calls import ignored_text, operators_text
from steps import Step, python_text, read_steps, stub_text as step_types

# NumPy's names for parameters, which PyTorch takes as well.
ALIASES = {"dim": "axis", "keepdim": "keepdims"}
# Functions that take memory_format, beside those that end with _like.
FORMATTED = {"clone", "empty"}
HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_layer.py from include/libdl.
"""{title}"""

from __future__ import annotations

'''


# Functions that PyTorch still takes with a number before the last tensors, as in add(input, alpha,
# other), and the parameter that the number is.
LEADING = {"add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value"}


# Functions whose empty list of dimensions reduces none in PyTorch: their result is then whether the
# elements are nonzero. (In C an empty list means all dimensions.)
OF_NO_DIMENSIONS = ("all", "any")


@dataclass(frozen=True)
class Form:
    """One Python signature of one operator."""

    operator: Operator
    line: PythonLine

    @property
    def arguments(self) -> dict[str, Argument]:
        return {argument.name: argument for argument in self.operator.arguments}

    @property
    def returns(self) -> str:
        if not self.operator.has_new:
            return "Tensor"
        kinds = [result.row.python for result in self.operator.results]
        if [result.name for result in self.operator.results] == ["values", "indices"]:
            return "ValuesIndices"
        return kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"


def spelled(parameter: PythonParameter) -> str:
    """The name in Python; a variadic list leaves its own name free for the keyword."""
    return f"{parameter.name}_" if parameter.variadic else parameter.name


def annotation(form: Form, parameter: PythonParameter) -> str:
    if parameter.argument == "dst":
        return "Tensor"
    argument = form.arguments[parameter.argument]
    number = argument.kind == "tensor" and parameter.name != "input"
    kind = KINDS["number" if number else argument.kind].python
    return f"{kind} | None" if parameter.default == "None" else kind


def aliased(form: Form) -> list[tuple[PythonParameter, bool]]:
    """The parameters that have a second name, and whether they must be given under one of the two:
    a parameter without a default can only have one if everything behind it has a default."""
    results: list[tuple[PythonParameter, bool]] = []
    for i, parameter in enumerate(form.line.parameters):
        behind = form.line.parameters[i + 1 :]
        if parameter.name not in ALIASES:
            continue
        if parameter.default is not None:
            results.append((parameter, False))
        elif all(p.default is not None or p.variadic for p in behind):
            results.append((parameter, True))
    return results


def parameters_text(form: Form, method: bool, into: bool, out: str = "") -> str:
    """The parameter list. `into`: the form with an underscore, which writes its first argument."""
    parts: list[str] = []
    starred = False
    aliases = aliased(form)
    required = {parameter.name for parameter, needed in aliases if needed}
    for i, parameter in enumerate(form.line.parameters):
        if parameter.variadic:
            parts.append(f"*{spelled(parameter)}: int | Sequence[int]")
            parts.append(f"{parameter.name}: Sequence[int] | None = None")
            starred = True
            continue
        if parameter.keyword_only and not starred:
            if form.line.name in LEADING:
                parts.append("_last: Tensor | None = None")
            parts.append("*")
            starred = True
        default = f" = {parameter.default}" if parameter.default is not None else ""
        kind = annotation(form, parameter)
        if parameter.name in required:
            default, kind = " = None", f"{kind} | None"
        name = "self" if method and i == 0 else parameter.name
        parts.append(f"{name}: {kind}{default}")
    extra = []
    for parameter, _ in aliases:
        kind = annotation(form, parameter).removesuffix(" | None")
        extra.append(f"{ALIASES[parameter.name]}: {kind} | None = None")
    if "leaf" in form.line.flags:
        extra += ["requires_grad: bool = False", "layout: object = None"]
        extra.append("pin_memory: bool = False")
    if formatted(form) and not into:
        extra.append("memory_format: object = None")
    if out and not into:
        extra.append(out)
    if extra and not starred:
        parts.append("*")
    return ", ".join(parts + extra)


def formatted(form: Form) -> bool:
    """Whether the result's order in memory can be asked for."""
    return form.line.name in FORMATTED or form.line.name.endswith("_like")


def value_text(form: Form, parameter: PythonParameter, method: bool, first: bool) -> str:
    """What is passed on for a parameter."""
    if parameter.variadic:
        return "listed"
    name = "self" if method and first else parameter.name
    argument = form.arguments.get(parameter.argument)
    if argument and argument.kind == "tensor" and argument.nullable and parameter.default == "1":
        return f"None if {name} is _ONE else {name}"
    return name


def call_arguments(form: Form, method: bool) -> list[str]:
    """C's arguments in C's order; those that the Python line leaves out are absent."""
    arguments = {
        parameter.argument: value_text(form, parameter, method, i == 0)
        for i, parameter in enumerate(form.line.parameters)
    }
    return [arguments.get(argument.name, "None") for argument in form.operator.arguments]


def read_examples(folder: Path) -> dict[str, str]:
    """By a function's name in Python: what its help shows, as typed into an interpreter."""
    collected: dict[str, str] = {}
    for path in sorted(folder.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
            name, _, example = block.partition("\n")
            if not name.isidentifier() or not example.startswith("    >>> ") or name in collected:
                raise SystemExit(f"{path}: wanted a new name and an example below it, found {name}")
            collected[name] = textwrap.dedent(example)
    return collected


def check_examples(examples: dict[str, str], operators: list[Operator]) -> None:
    known: set[str] = set()
    for flag, suffix in (("function", ""), ("method", ""), ("functional", ""), ("inplace", "_")):
        known |= {name + suffix for name in forms_by_name(operators, flag)}
    if stray := examples.keys() - known:
        raise SystemExit(f"examples: there is no function {min(stray)}")


def documentation(forms: list[Form], into: bool = False, example: str = "") -> str:
    """The docstring: sentence, parameters, result, gradient, errors, signatures of the others, and
    the example."""
    lines: list[str] = []
    for n, form in enumerate(forms):
        document = form.operator.documentation
        if n:
            lines.append("")
        if len(forms) > 1:
            lines.append(signature_text(form))
            lines.append("")
        summary = document.summary
        lines += textwrap.wrap(summary if not into else "In place: " + summary, 88)
        described = [
            (parameter.name, document.parameters[parameter.argument])
            for parameter in form.line.parameters
            if parameter.argument in document.parameters
        ]
        results = [
            (r.name, document.parameters[r.name])
            for r in form.operator.results
            if r.name in document.parameters and not into
        ]
        for title, entries in (("Arguments", described), ("Returns", results)):
            if entries:
                lines += ["", f"{title}:"]
                for name, text in entries:
                    lines += textwrap.wrap(
                        f"{name}: {plain(text)}",
                        88,
                        initial_indent="    ",
                        subsequent_indent="        ",
                    )
        for title, text in (("Gradient", document.gradient), ("Raises", raised(document.errors))):
            lines += ["", *textwrap.wrap(f"{title}: {plain(text)}", 88)]
    if example:
        lines += ["", "Example:", *indented(example, 4).split("\n")]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return text


# What Python's own libraries would raise; libdl's classes, below RuntimeError too, are in
# _errors.py.
_EXCEPTIONS = {
    "AUTOGRAD": "RuntimeError",
    "BACKEND": "RuntimeError",
    "DEVICE": "ValueError",
    "DTYPE": "TypeError",
    "INDEX": "IndexError",
    "LIMIT": "RuntimeError",
    "MEMORY": "MemoryError",
    "OVERFLOW": "OverflowError",
    "OVERLAP": "ValueError",
    "READ_ONLY": "ValueError",
    "SHAPE": "ValueError",
    "STATE": "RuntimeError",
    "UNSUPPORTED": "NotImplementedError",
    "VALUE": "ValueError",
    "VERSION": "RuntimeError",
}


def raised(text: str) -> str:
    """The errors of a C declaration as exceptions."""
    return re.sub(r"\b[A-Z][A-Z_]{4,}\b", lambda m: _EXCEPTIONS.get(m[0], m[0]), text)


def plain(text: str) -> str:
    """C's words in Python's."""
    return text.replace("NULL", "None").replace("NONE:", "None:")


# What Python calls otherwise than by an operator's name.
_OTHERWISE = {
    "index": "input[indices]",
    "memory_trim": "cuda.empty_cache",
    "tensor_is_sparse": "is_sparse",
}


def in_python(text: str, operators: list[Operator]) -> str:
    """A module's text with Python's names of the C functions that its help speaks of."""
    lines = {o.name: o.python[0] for o in operators if o.python}
    public = {line.name for line in lines.values() if line.flags & {"function", "method"}}

    def called(match: re.Match[str]) -> str:
        name = match[1]
        if name in _OTHERWISE:
            return _OTHERWISE[name]
        if name not in lines:
            raise SystemExit(f"help speaks of libdl_{name}, which Python has not")
        spoken = lines[name].name
        functional = "functional" in lines[name].flags and (spoken != name or spoken not in public)
        return f"functional.{spoken}" if functional else spoken

    return re.sub(r"\blibdl_(\w+)", called, text)


def signature_text(form: Form) -> str:
    parts: list[str] = []
    starred = False
    for parameter in form.line.parameters:
        if parameter.variadic:
            parts.append(f"*{parameter.name}")
            starred = True
            continue
        if parameter.keyword_only and not starred:
            parts.append("*")
            starred = True
        default = f"={parameter.default}" if parameter.default is not None else ""
        parts.append(f"{parameter.name}{default}")
    return f"{form.line.name}({', '.join(parts)}) -> {form.returns}"


def indented(text: str, spaces: int) -> str:
    return textwrap.indent(text, " " * spaces)


def out_parameter(form: Form) -> str:
    if not form.operator.has_into or not form.operator.has_new:
        return ""
    many = len(form.operator.results) > 1
    return f"out: {'tuple[Tensor, Tensor]' if many else 'Tensor'} | None = None"


def pair_of(form: Form) -> str:
    """The class that prints under the function's name."""
    return f"return_types.{form.line.name}"


def wrapped(call: str, form: Form) -> str:
    return f"{pair_of(form)}(*{call})" if form.returns == "ValuesIndices" else call


def told_arguments(form: Form, into: bool) -> str:
    """What an error calls other than C does: {name in C: (number, name) in Python}."""
    numbers = {a.name: i for i, a in enumerate(form.operator.arguments, 1)}
    parameters = form.line.parameters
    directions = {
        p.argument: (i, p.name)
        for i, p in enumerate(parameters, 1)
        if (numbers.get(p.argument), p.argument) != (i, p.name)
    }
    if into or not form.operator.has_new:
        directions["dst"] = (1, "input")
    elif form.operator.has_into:
        place = len(parameters) + 1
        results = form.operator.results
        if len(results) == 1:
            directions["dst"] = (place, "out")
        else:
            directions |= {f"{r.name}_dst": (place, f"out[{i}]") for i, r in enumerate(results)}
    return repr(directions) if directions else ""


def direct_call(form: Form, method: bool, into: bool) -> str:
    """What overridable.c needs to call the C function without the Python one: the function, the
    names of parameters that are passed on as they are, how many of them may stand in positions,
    the places they have among C's arguments, C's arguments where the call gives none (...: it
    must), the places where the number 1 is what C calls absent, whether the last position takes all
    that follow, and the place that takes the first parameter once more. "" where a call needs the
    Python function."""
    operator, line = form.operator, form.line
    writes = into or not operator.has_new
    plain = form.returns == "ValuesIndices" and not writes or line.name in OF_NO_DIMENSIONS
    if plain:
        return ""
    order = [argument.name for argument in operator.arguments] + ["dst"] * writes
    defaults = ["None"] * len(order)
    ones: list[int] = []
    needed = {parameter.name for parameter, must in aliased(form) if must}
    for i, parameter in enumerate(line.parameters):
        place = order.index(parameter.argument)
        absent = parameter.default if parameter.name not in needed else None
        if value_text(form, parameter, False, False).startswith("None if"):
            ones.append(place)
            absent = "None"
        defaults[place] = "..." if absent is None else absent
    written = -1
    if writes and line.parameters[0].argument != "dst":
        written = len(order) - 1
        defaults[written] = "..."
    names = ["self" if method and i == 0 else p.name for i, p in enumerate(line.parameters)]
    positional = sum(not p.keyword_only for p in line.parameters)
    places = [order.index(p.argument) for p in line.parameters]
    texts = (
        f"_{operator.name}{'_into' if writes else ''}",
        sequence(map(repr, names)),
        str(positional),
        sequence(map(str, places)),
        sequence(defaults),
        sequence(map(str, ones)),
        str(any(p.variadic for p in line.parameters)),
        str(written),
    )
    return f"({', '.join(texts)})"


def sequence(texts: Iterable[str]) -> str:
    """A tuple's text."""
    listed = list(texts)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def function_text(
    form: Form, name: str, examples: dict[str, str], method: bool = False, into: bool = False
) -> str:
    """One def, for calls that are more than one call of the C half. C, which stands in front of it,
    makes the others itself, asks modes and classes, and puts the function's own names into
    errors."""
    operator = form.operator
    out = "" if method or into else out_parameter(form)
    arguments = call_arguments(form, method)
    directions = told_arguments(form, into)
    renamed = ""
    if directions or name != operator.name:
        renamed = f"({name!r}, {operator.name!r}, {directions or None})"
    direct = direct_call(form, method, into)
    lines = [f"@operator({direct or None}, {renamed or None})"]
    lines.append(f"def {name}({parameters_text(form, method, into, out)}) -> {form.returns}:")
    lines.append(indented(f'"""{documentation([form], into, examples.get(name, ""))}\n"""', 4))
    body: list[str] = []
    for parameter in form.line.parameters:
        if parameter.variadic:
            variadic = spelled(parameter)
            body += [
                f"listed: Any = {variadic} if {parameter.name} is None else {parameter.name}",
                "if len(listed) == 1 and not isinstance(listed[0], int):",
                "    listed = listed[0]",
            ]
    for parameter, needed in aliased(form):
        alias = ALIASES[parameter.name]
        body += [f"if {alias} is not None:", f"    {parameter.name}, {alias} = {alias}, None"]
        if needed:
            body += [
                f"elif {parameter.name} is None:",
                f"    raise TypeError('{name}: {parameter.name} must be given')",
            ]
    if form.line.name in LEADING:
        tensors = ", ".join(p.name for p in form.line.parameters[1:] if not p.keyword_only)
        number = LEADING[form.line.name]
        body += [
            "if _last is not None:",
            "    from ._legacy_arguments import leading_number",
            "",
            f"    {number}, {tensors} = leading_number({name!r}, {number}, {tensors}, _last)",
            "    _last = None",
        ]
    first = "self" if method else form.line.parameters[0].name if form.line.parameters else ""
    c_name = operator.name
    if form.line.name in OF_NO_DIMENSIONS:
        body += [
            "if isinstance(dim, (tuple, list)) and not dim:",
            f"    return _ne({first}, 0) if out is None else write(_ne_into, ({first}, 0), out)",
        ]
    if into or not operator.has_new:
        destination = "self" if method else first
        body.append(f"return _{c_name}_into({', '.join([*arguments, destination])})")
    else:
        if out:
            many = len(operator.results) > 1
            destination = "*out" if many else "out"
            body += ["if out is not None:", f"    {wrapped_return(form, arguments, destination)}"]
        call = wrapped(f"_{c_name}({', '.join(arguments)})", form)
        if formatted(form):
            call = f"in_format({call}, memory_format)"
        if "leaf" in form.line.flags:
            body += [
                f"made = {call}",
                "if pin_memory:",
                "    made = _C.pin_memory(made, None)",
                "if requires_grad:",
                "    made.requires_grad = True",
                "return made",
            ]
        else:
            body.append(f"return {call}")
    lines.append(indented("\n".join(body), 4))
    return "\n".join(lines)


def wrapped_return(form: Form, arguments: list[str], destination: str) -> str:
    if "leaf" in form.line.flags:  # what is made has the dtype of its place
        of_place = f"{destination}.dtype if dtype is None else dtype"
        arguments = [of_place if a == "dtype" else a for a in arguments]
    text = ", ".join(arguments) + ("," if len(arguments) == 1 else "")
    if "leaf" in form.line.flags:
        places = f"{destination}, requires_grad"
        return f"return write_leaf(_{form.operator.name}_into, ({text}), {places})"
    call = f"write(_{form.operator.name}_into, ({text}), {destination})"
    if form.returns == "ValuesIndices":
        return f"return {pair_of(form)}(*{call})"
    return f"return {call}"


def same_signature(a: PythonLine, b: PythonLine) -> bool:
    return a.parameters == b.parameters


def forms_by_name(operators: list[Operator], flag: str) -> dict[str, list[Form]]:
    groups: dict[str, list[Form]] = {}
    for operator in operators:
        for line in operator.python:
            if flag in line.flags:
                groups.setdefault(line.name, []).append(Form(operator, line))
    return groups


def imports_text(names: set[str]) -> str:
    lines = [
        "from collections.abc import Sequence",
        "from typing import Any",
        "",
        "from . import _C, return_types",
        "from ._C import Tensor",
        "from ._out import write, write_leaf",
        "from ._overrides import operator",
        "from ._types import DeviceLike, DtypeLike, Generator, Number, ValuesIndices, in_format",
        "",
        "_ONE = 1",
        *(f"_{name} = _C.{name}" for name in sorted(names)),
    ]
    return "\n".join(lines) + "\n"


def c_names(forms: list[Form], into: bool = False) -> set[str]:
    names: set[str] = set()
    for form in forms:
        if form.line.name in OF_NO_DIMENSIONS:
            names |= {"ne", "ne_into"}
        if form.operator.has_new and not into:
            names.add(form.operator.name)
        if form.operator.has_into:
            names.add(f"{form.operator.name}_into")
    return names


def module_text(title: str, groups: dict[str, list[Form]], examples: dict[str, str]) -> str:
    single = {name: forms[0] for name, forms in groups.items() if len(forms) == 1}
    names = c_names(list(single.values()))
    parts = [HEAD.format(title=title), imports_text(names)]
    parts.append(f"__all__ = {sorted(single)!r}\n")
    parts += [f"\n\n{function_text(form, name, examples)}\n" for name, form in single.items()]
    return "".join(parts)


# Methods that wrappers/python writes in C.
IN_C = {"contiguous"}


def methods_text(operators: list[Operator], examples: dict[str, str]) -> str:
    """Methods whose signature is the function's are the function itself."""
    functions = forms_by_name(operators, "function")
    methods = forms_by_name(operators, "method")
    inplace = forms_by_name(operators, "inplace")
    properties = forms_by_name(operators, "property")
    shared: list[str] = []
    own: dict[str, Form] = {}
    for name, forms in methods.items():
        if len(forms) > 1 or name in IN_C:
            continue
        twin = functions.get(name)
        if twin and len(twin) == 1 and same_signature(twin[0].line, forms[0].line):
            shared.append(name)
        else:
            own[name] = forms[0]
    in_place = {f"{name}_": forms[0] for name, forms in inplace.items() if len(forms) == 1}
    needed = c_names(list(own.values())) | c_names(list(in_place.values()), into=True)
    parts = [HEAD.format(title="What libdl.Tensor gets as methods."), imports_text(needed)]
    parts.append("from . import _functions\n\n")
    parts.append(f"SHARED = {sorted(shared)!r}\n")
    for name, form in own.items():
        parts.append(f"\n\n{function_text(form, name, examples, method=True)}\n")
    for name, form in in_place.items():
        parts.append(f"\n\n{function_text(form, name, examples, method=True, into=True)}\n")
    names = sorted([*own, *in_place])
    parts.append("\n\nfor _name in SHARED:\n")
    parts.append("    setattr(Tensor, _name, getattr(_functions, _name))\n")
    parts.append(f"for _method in ({', '.join(names)}):\n")
    parts.append("    setattr(Tensor, _method.__name__, _method)\n")
    for name, forms in properties.items():
        parts.append(f"setattr(Tensor, {name!r}, _C.attribute(_functions.{forms[0].line.name}))\n")
    return "".join(parts)


def documents_text(operators: list[Operator], examples: dict[str, str]) -> str:
    parts = [HEAD.format(title="Help for functions with several signatures.")]
    for flag, variable in (("function", "FUNCTIONS"), ("method", "METHODS")):
        parts.append(f"{variable}: dict[str, str] = {{\n")
        for name, forms in forms_by_name(operators, flag).items():
            if len(forms) > 1:
                text = documentation(forms, example=examples.get(name, ""))
                parts.append(f'    {name!r}: """{text}\n""",\n')
        parts.append("}\n")
    return "".join(parts)


def stub_text(operators: list[Operator], steps: list[Step], template: str) -> str:
    lines: list[str] = []
    by_hand = set(re.findall(r"    def (\w+)\(", template))
    for flag, suffix, into in (("method", "", False), ("inplace", "_", True)):
        for name, forms in forms_by_name(operators, flag).items():
            for form in forms if name + suffix not in by_hand else ():
                if len(forms) > 1:
                    lines.append("    @overload")
                text = parameters_text(form, True, into)
                lines.append(f"    def {name}{suffix}({text}) -> {form.returns}: ...")
    for name in forms_by_name(operators, "property"):
        lines += ["    @property", f"    def {name}(self) -> Tensor: ..."]
    head, methods, tail = template.partition("class Tensor:")
    body, end, rest = tail.partition("\n# What the package's own half calls.")
    body = body.replace("    #: operators", "\n".join(lines))
    # Tensor has methods called int, float, bool and type, the C half a function called complex:
    # inside the class these names would mean them.
    body = re.sub(r"(?<!def )(?<!# )\b(int|float|bool|complex|type)\b(?!\()", r"_\1", body)
    low = [low_text(o, into=False) for o in operators if o.has_new]
    low += [low_text(o, into=True) for o in operators if o.has_into]
    rest = rest.replace("#: steps", "\n".join(map(step_types, steps)))
    return head + methods + body + end + rest.replace("#: functions", "\n".join(low))


def low_text(operator: Operator, into: bool) -> str:
    """The C half's own function of an operator, as python_calls.py writes it: arguments by
    position, in C's order, and None for what C calls absent."""
    parts: list[str] = []
    for argument in operator.arguments:
        optional = argument.nullable and argument.kind != "tensors"
        absent = " | None" if optional or argument.kind == "dtype" else ""
        kind = KINDS["number" if argument.kind == "tensor" else argument.kind].python
        if argument.kind == "tensors" and argument.nullable:
            kind = "Sequence[Tensor | None]"
        parts.append(f"{argument.name}: {kind}{absent}")
    if into:
        places = destinations(operator)
        kinds = ["Tensor"] * len(places)
        parts += [f"{place}: Tensor" for place in places]
    else:
        kinds = [result.row.python for result in operator.results]
    result = kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"
    taken = ", ".join([*parts, "/"]) if parts else ""
    name = f"{operator.name}_into" if into else operator.name
    return f"def {name}({taken}) -> {result}: ..."


def declared(node: ast.stmt) -> str:
    """The name that a statement of a stub declares, empty if it is no declaration."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ""


def check_names(stub: str) -> None:
    """No scope declares a name twice, but for a row of overloads and the setter of a property: type
    checkers refuse it, long after the header or the template that did so was written."""
    tree = ast.parse(stub)
    for scope in [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]:
        seen: dict[str, bool] = {}  # whether it is overloaded
        before = ""
        for node in scope.body:
            name = declared(node)
            decorators = [ast.unparse(d) for d in getattr(node, "decorator_list", [])]
            overloaded = "overload" in decorators
            goes_on = overloaded and name == before and seen[name]
            if name in seen and not goes_on and f"{name}.setter" not in decorators:
                where = getattr(scope, "name", "the module")
                raise SystemExit(f"_C.pyi: line {node.lineno}: {where} declares {name} twice")
            if name:
                seen[name] = overloaded
            before = name


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def kinds_text(operators: list[Operator]) -> str:
    """Names by kind; a rule for vmap takes them from here."""
    names = sorted(
        {line.name for operator in operators if operator.is_elementwise for line in operator.python}
    )
    composed = sorted(
        {line.name for o in operators if o.documentation.kind == "composed" for line in o.python}
    )
    calls = {o.name: how_called(o) for o in operators if o.has_new and o.python}
    return f'''# Written by tools/python_layer.py from the headers.
"""Operators by kind, as their cards say it, and what they are called with."""

ELEMENTWISE = (
{entries(names)}
)
COMPOSED = (
{entries(composed)}
)
# Their names in C.
COMPOSED_IN_C = (
{entries([o.name for o in operators if o.documentation.kind == "composed"])}
)
# Of an operator in C: where its function is in Python, under which name, and which of C's arguments
# it takes by position and by name.
CALLS: dict[str, tuple[str, str, tuple[int, ...], dict[str, int]]] = {{
{indented(chr(10).join(f'"{name}": {how},' for name, how in calls.items()), 4)}
}}
'''


def entries(names: list[str]) -> str:
    return "\n".join(f'    "{name}",' for name in names)


def how_called(operator: Operator) -> tuple[str, str, tuple[int, ...], dict[str, int]]:
    """The entry of CALLS, by the Python line that takes the most."""
    line = max(operator.python, key=lambda line: len(line.parameters))
    kind = next(k for k in ("function", "functional", "method", "property") if k in line.flags)
    places = {argument.name: i for i, argument in enumerate(operator.arguments)}
    positions = tuple(places[p.argument] for p in line.parameters if not p.keyword_only)
    named = {p.name: places[p.argument] for p in line.parameters if p.keyword_only}
    return kind, line.name, positions, named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--stub", type=Path, required=True, help="the types written by hand")
    parser.add_argument("--examples", type=Path, required=True, help="the folder of examples")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    operators = read_operators(options.headers)
    examples = read_examples(options.examples)
    check_examples(examples, operators)
    package = options.out / "libdl"
    functions = forms_by_name(operators, "function")
    functional = forms_by_name(operators, "functional")
    texts = {
        "_functions.py": module_text("The operators as functions.", functions, examples),
        "_functional.py": module_text("The operators of networks.", functional, examples),
        "_methods.py": methods_text(operators, examples),
        "_documents.py": documents_text(operators, examples),
        "_kinds.py": kinds_text(operators),
    }
    for name, text in texts.items():
        write(package / name, in_python(text, operators))
    steps = read_steps(options.headers)[0]
    stub = stub_text(operators, steps, options.stub.read_text(encoding="utf-8"))
    check_names(stub)
    write(package / "_C.pyi", stub)
    write(options.out / "operators.c", operators_text(operators))
    write(options.out / "operators.i", ignored_text(operators))
    write(options.out / "optimizer_steps.c", python_text(steps))


if __name__ == "__main__":
    main()
