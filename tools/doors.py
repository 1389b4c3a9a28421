# SPDX-License-Identifier: Apache-2.0
"""Writes the C functions: each checks its arguments, calls C++ and hands results out."""

from __future__ import annotations

from entries import is_composed
from operators import Argument, Operator, Result

# The enumerator of operators whose names C++ keeps for itself.
CPP_KEYWORDS = {"and", "or", "not", "xor", "union", "typeid"}


def op_id(operator: Operator) -> str:
    return f"OpId::{operator.name}" + ("_" if operator.name in CPP_KEYWORDS else "")


def _c_parameters(arguments: tuple[Argument, ...]) -> list[str]:
    return [a.filled(a.row.c) for a in arguments]


def _checked(operator: Operator) -> list[str]:
    """One local variable per argument, in order, so that the first bad one is named."""
    admits = "<has_geometry>" if is_composed(operator) else ""
    lines = [
        f"    auto&& a{i} = {a.filled(a.row.checked, n=i, admits=admits)};"
        for i, a in enumerate(operator.arguments, 1)
    ]
    return lines + _one_device(operator)


def _one_device(operator: Operator) -> list[str]:
    tensors = [
        (i, argument.kind)
        for i, argument in enumerate(operator.arguments, 1)
        if argument.kind in ("tensor", "tensors", "updated")
    ]
    if len(tensors) < 2 and not any(kind == "tensors" for _, kind in tensors):
        return []
    pointwise = "true" if operator.is_pointwise else "false"
    numbers = ", ".join(str(i) for i, _ in tensors)
    operands = ", ".join(f"a{i}" for i, _ in tensors)
    return [
        "    if (memory_elsewhere()) [[unlikely]]",
        f"      check_devices<{numbers}>(op, {pointwise}, {operands});",
    ]


def _call(operator: Operator, intos: list[str]) -> str:
    arguments = [f"a{i}" for i in range(1, len(operator.arguments) + 1)] + intos
    return f"libdl::{operator.name}({', '.join(arguments)})"


def _give_out(results: tuple[Result, ...], call: str) -> list[str]:
    if len(results) == 1:
        text = f"Leaving{{{call}}}" if results[0].kind == "tensor" else call
        return [f"    *{results[0].name} = to_c({text});"]
    names = ", ".join(f"r{i}" for i in range(len(results)))
    return [
        f"    auto [{names}] = {call};",
        f"    adopted_together({len(results)});",
        *(f"    *{r.name} = to_c(std::move(r{i}));" for i, r in enumerate(results)),
    ]


def new_door(operator: Operator) -> str:
    results = operator.results
    parameters = _c_parameters(operator.arguments) + [
        result.row.c.format(x=result.name) for result in results
    ]
    behind = len(operator.arguments) + 1
    lines = [
        f"libdl_error* libdl_{operator.name}({', '.join(parameters)}) {{",
        f"  constexpr OpId op = {op_id(operator)};",
        "  return door(op, [&] {",
        *(f"    require_output(op, {behind + i}, {r.name});" for i, r in enumerate(results)),
        *_checked(operator),
        *_give_out(results, _call(operator, [])),
        "  });",
        "}",
    ]
    return "\n".join(lines)


def destinations(operator: Operator) -> list[str]:
    if len(operator.results) == 1:
        return ["dst"]
    return [f"{result.name}_dst" for result in operator.results]


def into_door(operator: Operator) -> str:
    names = destinations(operator)
    parameters = _c_parameters(operator.arguments) + [f"libdl_tensor* {d}" for d in names]
    intos = [f'in_destination(op, {d}, "{d}")' for d in names]
    lines = [
        f"libdl_error* libdl_{operator.name}_into({', '.join(parameters)}) {{",
        f"  constexpr OpId op = {op_id(operator)};",
        "  return door_into(op, [&] {",
        *_checked(operator),
        *(f"    const Into into{i} = {into};" for i, into in enumerate(intos)),
        f"    {_call(operator, [f'into{i}' for i in range(len(intos))])};",
        f"  }}, {', '.join(names)});",
        "}",
    ]
    return "\n".join(lines)


def door_source(header: str, operators: list[Operator]) -> str:
    """The source file with the doors of one header's operators."""
    parts = [
        f"// Written by tools/generate.py from include/libdl/{header}.h.",
        f"#include <libdl/{header}.h>\n",
        f'#include "capi/door.h"\n#include "entries/{header}.h"\n#include "op_ids.h"\n',
        "using namespace libdl;\nusing namespace libdl::capi;\n",
    ]
    for operator in operators:
        if operator.has_new:
            parts.append(new_door(operator) + "\n")
        if operator.has_into:
            parts.append(into_door(operator) + "\n")
    return "\n".join(parts)
