# SPDX-License-Identifier: Apache-2.0
"""Writes the operators as data: their numbers, names, arguments and generic calls."""

from __future__ import annotations

from doors import destinations, op_id
from operators import Argument, Operator


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _nullable(argument: Argument) -> bool:
    return argument.nullable or argument.kind == "dtype"


def default_text(operator: Operator, argument: Argument) -> str:
    """What an absent argument means, in Python's words; "" if it must be given."""
    default = operator.default_of(argument.name)
    if default is not None and not (argument.kind == "ints" and argument.nullable):
        return default  # of an absent list the library has its own
    return "None" if _nullable(argument) and argument.kind != "tensors" else ""


def schema(operator: Operator) -> str:
    arguments = []
    for argument in operator.arguments:
        kind = argument.row.schema or argument.kind
        default = default_text(operator, argument)
        arguments.append(
            f"{kind}{'?' if _nullable(argument) else ''} {argument.name}"
            + (f"={default}" if default else "")
        )
    results = [f"{r.row.schema or r.kind} {r.name}" for r in operator.results]
    return f"{operator.name}({', '.join(arguments)}) -> {', '.join(results)}"


def op_ids(operators: list[Operator]) -> str:
    names = "\n".join(f"  {op_id(operator).removeprefix('OpId::')}," for operator in operators)
    return (
        "// Written by tools/generate.py.\n#pragma once\n\n"
        '#include "capi/op_table.h"\n\n'
        f"namespace libdl::capi {{\n\nenum class OpId : int32_t {{\n{names}\n}};\n\n}}\n"
    )


def _held(operator: Operator) -> list[str]:
    """The C parameters out of a generic call's values."""
    parameters = []
    for i, argument in enumerate(operator.arguments):
        name, count = argument.row.held
        if argument.nullable and argument.row.held_absent:
            name = argument.row.held_absent
        parameters += [text.format(v=f"v[{i}]", n=i + 1) for text in (name, count) if text]
    return parameters


def generic_calls(operator: Operator) -> str:
    """The operator called with values: one function a form, which unpacks them for the C
    function."""
    held = _held(operator)
    name, results = operator.name, operator.results
    values = "const libdl_value* v" if held else "const libdl_value*"
    op = [f"  constexpr OpId op = {op_id(operator)};"] if any("(op," in h for h in held) else []
    lines: list[str] = []
    if operator.has_new:
        made = [r.row.c.format(x=f"r{i}") for i, r in enumerate(results)]
        given = [*held, *(f"&r{i}" for i in range(len(results)))]
        lines += [
            f"static libdl_error* new_{name}({values}, libdl_value* r) {{",
            *op,
            *(f"  {text.replace('* r', ' r', 1)}{{}};" for text in made),
            f"  if (libdl_error* error = libdl_{name}({', '.join(given)})) return error;",
            *(
                f"  put(r[{i}], r{i}{' != 0' if result.kind == 'bool' else ''});"
                for i, result in enumerate(results)
            ),
            "  return nullptr;",
            "}",
        ]
    if operator.has_into:
        given = [*held, *(f"d[{i}]" for i in range(len(destinations(operator))))]
        lines += [
            f"static libdl_error* into_{name}({values}, libdl_tensor* const* d) {{",
            *op,
            f"  return libdl_{name}_into({', '.join(given)});",
            "}",
        ]
    return "\n".join(lines)


def op_table_source(operators: list[Operator]) -> str:
    calls = "\n\n".join(generic_calls(operator) for operator in operators)
    data = "\n".join(_data(operator) for operator in operators)
    entries = "\n".join(_entry(operator) for operator in operators)
    return f"""\
// Written by tools/generate.py.
#include <libdl/libdl.h>

#include "capi/values.h"
#include "op_ids.h"

namespace libdl::capi {{

{calls}

{data}

const OpEntry kOperators[] = {{
{entries}
}};
const int32_t kOperatorCount = {len(operators)};

}}  // namespace libdl::capi
"""


def _data(operator: Operator) -> str:
    arguments = [
        f"    {{{_quoted(a.name)}, {_quoted(default_text(operator, a))}, "
        f"LIBDL_VALUE_{a.row.value}, {'true' if _nullable(a) else 'false'}}},"
        for a in operator.arguments
    ]
    results = [f"    {{{_quoted(r.name)}, LIBDL_VALUE_{r.row.value}}}," for r in operator.results]
    lines = []
    if arguments:
        lines += [f"static const OpArgument arguments_{operator.name}[] = {{", *arguments, "};"]
    lines += [f"static const OpResult results_{operator.name}[] = {{", *results, "};"]
    return "\n".join(lines)


def _entry(operator: Operator) -> str:
    name = operator.name
    fields = [
        _quoted(name),
        _quoted(schema(operator)),
        f"arguments_{name}" if operator.arguments else "nullptr",
        f"results_{name}",
        str(len(operator.arguments)),
        str(len(operator.results)),
        "true" if operator.differentiable else "false",
        f"new_{name}" if operator.has_new else "nullptr",
        f"into_{name}" if operator.has_into else "nullptr",
    ]
    return f"    {{{', '.join(fields)}}},"
