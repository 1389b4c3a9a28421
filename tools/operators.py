# SPDX-License-Identifier: Apache-2.0
"""What the operator headers mean: arguments by kind, results, documentation, Python lines.

A C parameter list becomes a list of arguments (a pointer and its count are one), whose kinds
decide everything that is generated; README.md has the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from headers import Function, Header, Parameter, read_headers
from kinds import KINDS, RESULT_KINDS, Kind, Pair, ResultKind

# The headers whose functions are operators, in the order of the operators' numbers.
OPERATOR_HEADERS = tuple((Path(__file__).parent / "areas.txt").read_text(encoding="utf-8").split())

# Those of <libdl/pointwise.h>, which go element by element.
_POINTWISE = re.findall(
    r"#include <libdl/(\w+)\.h>",
    (Path(__file__).parents[1] / "include/libdl/pointwise.h").read_text(encoding="utf-8"),
)

FLAGS = ("function", "method", "inplace", "functional", "property", "leaf", "internal")

# How Python may call a parameter that bears another name in C.
PYTHON_NAMES = {
    "dim": ("dims",),
    "size": ("shape",),
    "split_size_or_sections": ("split_size", "split_sizes"),
    "value": ("src",),
    "train": ("training",),
    "axis0": ("dim0",),
    "axis1": ("dim1",),
    "N": ("n",),
    "out_dtype": ("dtype",),
}


@dataclass(frozen=True)
class Argument:
    """One argument of an operator, counted as error messages count it."""

    name: str
    kind: str  # of kinds.KINDS
    nullable: bool = False  # of tensors: its entries
    count: str = ""  # the C name of the length of tensors, ints and string
    number: bool = False  # of tensor: a host number is welcome

    @property
    def row(self) -> Kind:
        return KINDS["number" if self.number else self.kind]

    def filled(self, texts: Pair, **more: object) -> str:
        """One of a row's pairs for this argument."""
        text = texts[self.nullable]
        assert text, f"{self.kind} cannot be nullable={self.nullable}"
        return text.format(**{"x": self.name, "c": self.count} | more)


@dataclass(frozen=True)
class Result:
    name: str
    kind: str  # of kinds.RESULT_KINDS

    @property
    def row(self) -> ResultKind:
        return RESULT_KINDS[self.kind]


@dataclass(frozen=True)
class PythonParameter:
    name: str
    argument: str  # the argument's name in C, or dst
    default: str | None = None  # source text
    keyword_only: bool = False
    variadic: bool = False


@dataclass(frozen=True)
class PythonLine:
    name: str
    parameters: tuple[PythonParameter, ...]
    flags: frozenset[str]


@dataclass
class Documentation:
    summary: str
    parameters: dict[str, str]
    gradient: str
    errors: str
    threads: str
    python: list[str]
    kind: str = ""  # of _FACTS; README.md has the meaning
    autocast: str = ""  # of _FACTS, a CastPolicy; empty: operands are left alone


@dataclass
class Operator:
    name: str
    header: str
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    has_new: bool
    has_into: bool
    documentation: Documentation
    python: list[PythonLine] = field(default_factory=list)
    function: Function | None = None

    @property
    def differentiable(self) -> bool:
        return not self.documentation.gradient.startswith("none")

    @property
    def is_pointwise(self) -> bool:
        return self.header in _POINTWISE and self.results[0].kind == "tensor"

    @property
    def is_elementwise(self) -> bool:
        composed = self.documentation.kind == "composed"
        return self.documentation.kind in ("pointwise", "elementwise") or (
            composed and self.header in (*_POINTWISE, "special")
        )

    def default_of(self, argument: str) -> str | None:
        """The default that Python's first line naming the argument gives it."""
        for line in self.python:
            for parameter in line.parameters:
                if parameter.argument == argument and parameter.default is not None:
                    return parameter.default
        return None


_SCALARS = {
    "int64_t": "int",
    "int32_t": "dim",
    "double": "float",
    "libdl_bool": "bool",
    "libdl_dtype": "dtype",
}
_NULLABLE_POINTERS = {
    "const int64_t *": "int",
    "const double *": "float",
    "const libdl_device *": "device",
    "libdl_generator *": "generator",
}
_LISTS = {
    "const libdl_tensor *const *": ("tensors", False, "int64_t"),
    "const libdl_tensor *LIBDL_NULLABLE const *": ("tensors", True, "int64_t"),
    "const int64_t *": ("ints", False, "int32_t"),
    "const char *": ("string", False, "int64_t"),
}
_OUTPUTS = {
    "libdl_tensor **": ("tensor", True),
    "libdl_tensor_list **": ("tensor_list", True),
    "libdl_bool *": ("bool", False),
    "int64_t *": ("int", False),
    "uint64_t *": ("uint", False),
    "double *": ("float", False),
}


def _count_name(kind: str, name: str, following: Parameter | None) -> str:
    if kind == "tensors" and (following is None or following.name != f"{name}_count"):
        return "count"  # the longer name tells several lists apart
    if kind == "string":
        return f"{name}_length"
    return {"shape": "ndim", "dims": "ndims"}.get(name, f"{name}_count")


def _list_argument(
    function: Function, p: Parameter, following: Parameter | None
) -> Argument | None:
    if p.type not in _LISTS:
        return None
    kind, nullable_entries, count_type = _LISTS[p.type]
    count = _count_name(kind, p.name, following)
    if following is None or following.name != count:
        if p.type == "const int64_t *" and p.nullable:
            return None  # an optional integer
        raise function.error(f"{p.name} ({kind}) wants the parameter {count} behind it")
    if following.type != count_type:
        raise function.error(f"{count} is {following.type}, wanted {count_type}")
    if kind == "tensors" and p.nullable:
        raise function.error(f"{p.name}: a list of tensors cannot be absent as a whole")
    return Argument(p.name, kind, p.nullable or nullable_entries, count)


def _argument(function: Function, p: Parameter) -> Argument:
    foreign = p.words - {"LIBDL_NULLABLE", "LIBDL_NUMBER"}
    if foreign:
        raise function.error(f"{p.name}: an argument is borrowed, {min(foreign)} does not fit")
    number = "LIBDL_NUMBER" in p.words
    if p.type == "const libdl_tensor *":
        return Argument(p.name, "tensor", p.nullable, number=number)
    if number:
        raise function.error(f"{p.name}: LIBDL_NUMBER is said of tensors")
    if p.type == "libdl_tensor *":
        return Argument(p.name, "updated", True)
    if p.type in _NULLABLE_POINTERS:
        if not p.nullable:
            raise function.error(f"{p.name} ({p.type}) wants LIBDL_NULLABLE")
        return Argument(p.name, _NULLABLE_POINTERS[p.type], True)
    if p.type in _SCALARS:
        if p.nullable:
            raise function.error(f"{p.name} is no pointer and cannot be LIBDL_NULLABLE")
        return Argument(p.name, _SCALARS[p.type])
    raise function.error(f"{p.name} has the type '{p.type}', which is of no known kind")


def _signature(function: Function) -> tuple[tuple[Argument, ...], tuple[Result, ...], list[str]]:
    """Arguments, results, and the destinations' names of an into form."""
    arguments: list[Argument] = []
    results: list[Result] = []
    destinations: list[str] = []
    parameters = list(function.parameters)
    i = 0
    while i < len(parameters):
        p = parameters[i]
        following = parameters[i + 1] if i + 1 < len(parameters) else None
        i += 1
        if p.type in _OUTPUTS:
            kind, owned = _OUTPUTS[p.type]
            if owned != ("LIBDL_NEW" in p.words):
                raise function.error(f"{p.name}: " + ("wants" if owned else "has") + " LIBDL_NEW")
            results.append(Result(p.name, kind))
            continue
        if p.type == "libdl_tensor *" and not p.nullable:
            destinations.append(p.name)
            continue
        if results or destinations:
            raise function.error(f"{p.name} stands behind an output")
        listed = _list_argument(function, p, following)
        i += listed is not None
        arguments.append(listed or _argument(function, p))
    if results and destinations:
        raise function.error("has both outputs and destinations")
    return tuple(arguments), tuple(results), destinations


_SECTIONS = ("Gradient", "Errors", "Threads", "Python")
# Where the card is silent the kind decides.
_FACTS = {
    "Kind": ("pointwise", "elementwise", "composed", "opaque"),
    "Autocast": ("lower", "float32", "promote", "state", "off"),
}


def read_documentation(function: Function) -> Documentation:
    """Splits an operator's comment into its parts; each must be there."""
    lines = list(function.comment)
    if not lines:
        raise function.error("has no comment")
    summary: list[str] = []
    while lines and lines[0]:
        summary.append(lines.pop(0))
    if not re.search(r"[.!]$|\.\)$", summary[-1]):
        raise function.error("the first sentence of the comment does not end")
    parameters: dict[str, str] = {}
    sections: dict[str, list[str]] = {name: [] for name in (*_SECTIONS, *_FACTS)}
    current: list[str] | None = None
    names: list[str] = []
    for line in lines:
        section = re.match(r"(\w+): (.*)", line)
        entry = re.match(r"(\w+(?:, \w+)*) {2,}(\S.*)", line)
        if section and section[1] in sections:
            names, current = [], sections[section[1]]
            current.append(section[2])
        elif current is not None and line:
            current[-1] += " " + line.strip()
        elif entry:
            names = entry[1].split(", ")
            parameters.update({name: entry[2] for name in names})
        elif line and names:
            parameters.update({name: parameters[name] + " " + line.strip() for name in names})
        elif line:
            raise function.error(f"cannot place the comment's line '{line}'")
    for name in _SECTIONS:
        if not sections[name]:
            raise function.error(f"the comment has no '{name}:'")
        if name != "Python" and len(sections[name]) > 1:
            raise function.error(f"the comment has '{name}:' twice")
    facts = {name: _fact(function, name, sections[name]) for name in _FACTS}
    return Documentation(
        " ".join(summary),
        parameters,
        sections["Gradient"][0],
        sections["Errors"][0],
        sections["Threads"][0],
        sections["Python"],
        facts["Kind"],
        facts["Autocast"],
    )


def _fact(function: Function, name: str, said: list[str]) -> str:
    """A word of _FACTS, with a full stop behind it; empty where the card is silent."""
    if not said:
        return ""
    word = said[0].removesuffix(".")
    if len(said) > 1 or word == said[0] or word not in _FACTS[name]:
        raise function.error(f"'{name}: {said[0]}', wanted one of {', '.join(_FACTS[name])}")
    return word


def _python_lines(function: Function, operator: Operator, has_dst: bool) -> list[PythonLine]:
    texts = operator.documentation.python
    if texts == ["internal"]:
        return []
    lines = [_python_line(function, operator, text, has_dst) for text in texts]
    seen: set[tuple[str, str, tuple[PythonParameter, ...]]] = set()
    for line in lines:
        for flag in line.flags - {"leaf"}:
            key = (line.name, flag, line.parameters)
            if key in seen:
                raise function.error(f"Python: {line.name} is said twice")
            seen.add(key)
    return lines


def _python_line(function: Function, operator: Operator, text: str, has_dst: bool) -> PythonLine:
    match = re.fullmatch(r"(\w+)\((.*)\) \[([\w, ]+)\]", text)
    if not match:
        raise function.error(f"cannot read 'Python: {text}'")
    name, inside, flag_text = match.groups()
    flags = frozenset(flag_text.split(", "))
    if flags - set(FLAGS):
        raise function.error(f"Python: {name}: unknown flag {min(flags - set(FLAGS))}")
    if "inplace" in flags and not operator.has_into:
        raise function.error(f"Python: {name}_ wants an into form")
    arguments = {argument.name: argument for argument in operator.arguments}
    known = set(arguments) | ({"dst"} if has_dst else set())
    parameters: list[PythonParameter] = []
    keyword_only = False
    for part in filter(None, (p.strip() for p in inside.split(","))):
        if part == "*":
            keyword_only = True
            continue
        spelled, _, default = part.partition("=")
        variadic = spelled.startswith("*")
        spelled = spelled.removeprefix("*")
        target = next((n for n in (spelled, *PYTHON_NAMES.get(spelled, ())) if n in known), None)
        if target is None:
            raise function.error(f"Python: {name}: {spelled} is no parameter in C")
        if variadic and arguments[target].kind != "ints":
            raise function.error(f"Python: {name}: *{spelled} wants a list of integers")
        parameters.append(PythonParameter(spelled, target, default or None, keyword_only, variadic))
        keyword_only = keyword_only or variadic
    _check_python_parameters(function, operator, name, parameters, flags, has_dst)
    return PythonLine(name, tuple(parameters), flags)


def _check_python_parameters(
    function: Function,
    operator: Operator,
    name: str,
    parameters: list[PythonParameter],
    flags: frozenset[str],
    has_dst: bool,
) -> None:
    given = [parameter.argument for parameter in parameters]
    if len(set(given)) != len(given):
        raise function.error(f"Python: {name}: a parameter is given twice")
    for argument in operator.arguments:
        can_be_absent = argument.nullable or argument.kind in ("dtype", "device", "generator")
        if argument.name not in given and not can_be_absent:
            raise function.error(f"Python: {name}: {argument.name} must be given")
    if flags & {"method", "inplace", "property"} and not {"input", "dst"} & set(given):
        raise function.error(f"Python: {name}: a method wants a parameter input or dst")
    order = [a.name for a in operator.arguments]
    positions = [order.index(a) for a in given if a in order]
    if not has_dst and positions != sorted(positions):
        raise function.error(f"Python: {name}: parameters in another order than in C")


def _plain_and_into(header: Header) -> list[tuple[str, Function | None, Function | None]]:
    """(operator's name, its new form, its into form), in the header's order."""
    names: dict[str, list[Function | None]] = {}
    for function in header.functions:
        short = function.name.removeprefix("libdl_")
        into = short.endswith("_into")
        pair = names.setdefault(short.removesuffix("_into"), [None, None])
        pair[into] = function
    return [(name, pair[0], pair[1]) for name, pair in names.items()]


def _check_into(plain: Function, into: Function, results: tuple[Result, ...]) -> None:
    arguments, _, destinations = _signature(into)
    if arguments != _signature(plain)[0]:
        raise into.error("has other arguments than its new form")
    wanted = ["dst"] if len(results) == 1 else [f"{result.name}_dst" for result in results]
    if destinations != wanted:
        raise into.error(f"has the destinations {destinations}, wanted {wanted}")
    if not into.comment or "Threads: exclusive" not in " ".join(into.comment):
        raise into.error("wants a comment that says 'Threads: exclusive'")


def _operator(header: Header, name: str, plain: Function | None, into: Function | None) -> Operator:
    main = plain or into
    assert main is not None
    if main.result != "libdl_error *":
        raise main.error("an operator returns libdl_error *")
    arguments, results, destinations = _signature(main)
    if plain is None:
        if destinations != ["dst"]:
            raise main.error(f"has the destinations {destinations}, wanted ['dst']")
        results = (Result("dst", "tensor"),)
    elif not results:
        raise main.error("has no output")
    elif into is not None:
        _check_into(plain, into, results)
    documentation = read_documentation(main)
    described = [*(a.name for a in arguments), *(r.name for r in results)]
    for parameter in described:
        if parameter not in documentation.parameters:
            raise main.error(f"the comment does not describe {parameter}")
    for parameter in documentation.parameters:
        if parameter not in described:
            raise main.error(f"the comment describes {parameter}, which is no parameter")
    threads = "concurrent-read" if plain else "exclusive"
    if not documentation.threads.startswith(threads):
        raise main.error(f"'Threads:' says '{documentation.threads}', wanted '{threads}.'")
    operator = Operator(
        name,
        header.path.stem,
        arguments,
        results,
        plain is not None,
        into is not None,
        documentation,
        function=main,
    )
    documentation.kind = documentation.kind or _kind_of(operator)
    operator.python = _python_lines(main, operator, plain is None)
    return operator


def _kind_of(operator: Operator) -> str:
    """The kind where the card is silent."""
    if operator.is_pointwise:
        return "pointwise"
    return "elementwise" if operator.header == "special" else "opaque"


def read_operators(folder: Path) -> list[Operator]:
    """Every operator of the operator headers, in the order of OPERATOR_HEADERS."""
    headers = {header.path.stem: header for header in read_headers(folder)}
    operators = [
        _operator(headers[stem], name, plain, into)
        for stem in OPERATOR_HEADERS
        if stem in headers
        for name, plain, into in _plain_and_into(headers[stem])
    ]
    seen: dict[str, Operator] = {}
    for operator in operators:
        if operator.name in seen:
            assert operator.function is not None
            raise operator.function.error(f"is also in {seen[operator.name].header}.h")
        seen[operator.name] = operator
    return operators
