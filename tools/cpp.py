# SPDX-License-Identifier: Apache-2.0
"""The C++ function behind an operator: its signature by README.md's table, and where it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from operators import Argument, Operator

_TYPES = {
    "tensor": ("const Tensor&", "const Tensor*"),
    "tensors": ("TensorSpan", "TensorSpan"),
    "ints": ("Dims", "std::optional<Dims>"),
    "int": ("int64_t", "std::optional<int64_t>"),
    "float": ("double", "std::optional<double>"),
    "dim": ("int32_t", None),
    "bool": ("bool", None),
    "dtype": ("Dtype", None),
    "device": (None, "std::optional<Device>"),
    "string": ("std::string_view", "std::optional<std::string_view>"),
    "generator": (None, "Generator*"),
}
_RESULTS = {
    "tensor": "Tensor",
    "tensor_list": "std::vector<Tensor>",
    "bool": "bool",
    "int": "int64_t",
    "uint": "uint64_t",
    "float": "double",
}


def parameter_type(argument: Argument) -> str:
    cpp = _TYPES[argument.kind][argument.nullable]
    assert cpp is not None, f"{argument.kind} cannot be nullable={argument.nullable}"
    return cpp


def result_type(operator: Operator) -> str:
    types = [_RESULTS[result.kind] for result in operator.results]
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def parameter_types(operator: Operator) -> list[str]:
    types = [parameter_type(argument) for argument in operator.arguments]
    return types + ["Into"] * (len(operator.results) if operator.has_into else 0)


def prototype(operator: Operator) -> str:
    return f"{result_type(operator)} {operator.name}({', '.join(parameter_types(operator))})"


@dataclass(frozen=True)
class Found:
    prototype: str
    header: str  # as included: "ops/softmax.h"


def _expand_macros(text: str) -> str:
    """Expands the function-like macros that a header defines for its own declarations."""
    text = text.replace("\\\n", " ")
    macros = re.findall(r"^\s*#define (\w+)\(([^)]*)\) (.*)$", text, re.MULTILINE)
    for name, parameter_text, body in macros:
        parameters = [p.strip() for p in parameter_text.split(",")]

        def expand(call: re.Match[str]) -> str:
            given = [a.strip() for a in call[1].split(",")]
            result: str = body
            for parameter, argument in zip(parameters, given):
                result = re.sub(rf"(##)?\b{parameter}\b(##)?", argument, result)
            return result

        text = re.sub(rf"^\s*{name}\(([^()]*)\);?\s*$", expand, text, flags=re.MULTILINE)
    return re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)


def _split_types(parameters: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for c in parameters + ",":
        depth += (c in "<({[") - (c in ">)}]")
        if c == "," and depth == 0:
            if current.strip():
                parts.append(_type_of(current))
            current = ""
        else:
            current += c
    return parts


def _type_of(parameter: str) -> str:
    declared = parameter.partition("=")[0].strip()
    match = re.fullmatch(r"(.*[\w>&*])\s+(\w+)|(.*[&*>])(\w+)", declared)
    named = (match[1] or match[3]) if match else declared
    if named in ("const", ""):
        named = declared
    return re.sub(r"\s*([&*])\s*", r"\1", " ".join(named.split()))


_DECLARATION = re.compile(
    r"^(?:inline |extern )?([\w:<>, ]*[\w>]) (\w+)\(((?:[^();{}]|\{\}|\(\))*)\)\s*[;{]", re.MULTILINE
)


def find_functions(folder: Path) -> dict[str, list[Found]]:
    """The functions that the headers of libdl/ops declare, by name."""
    functions: dict[str, list[Found]] = {}
    for path in sorted(folder.glob("**/*.h")):
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = _expand_macros(text)
        for result, name, parameters in _DECLARATION.findall(text):
            found = Found(
                f"{' '.join(result.split())} {name}({', '.join(_split_types(parameters))})",
                f"ops/{path.relative_to(folder)}",
            )
            functions.setdefault(name, []).append(found)
    return functions


def find_implementation(operator: Operator, functions: dict[str, list[Found]]) -> Found | None:
    """The function of the wanted signature; it may take an Into that the header does not offer."""
    wanted = prototype(operator)
    accepted = (wanted, wanted.removesuffix(")") + ", Into)")
    return next((f for f in functions.get(operator.name, []) if f.prototype in accepted), None)
