# SPDX-License-Identifier: Apache-2.0
"""Writes the operators as data: their numbers, names, arguments and generic calls."""

from __future__ import annotations

from doors import generic_calls, op_id
from operators import Argument, Operator

_VALUE_TYPES = {
    "tensor": "TENSOR",
    "tensors": "TENSORS",
    "tensor_list": "TENSOR_LIST",
    "ints": "INTS",
    "int": "INT",
    "dim": "INT",
    "uint": "UINT",
    "float": "FLOAT",
    "bool": "BOOL",
    "dtype": "DTYPE",
    "device": "DEVICE",
    "string": "STRING",
    "generator": "GENERATOR",
}
_SCHEMA_TYPES = {"dim": "int", "tensor_list": "tensors"}


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _nullable(argument: Argument) -> bool:
    return argument.nullable or argument.kind == "dtype"


def default_text(operator: Operator, argument: Argument) -> str:
    """What an absent argument means, in Python's words; "" if it must be given."""
    default = operator.default_of(argument.name)
    if default is not None:
        return default
    return "None" if _nullable(argument) and argument.kind != "tensors" else ""


def schema(operator: Operator) -> str:
    arguments = []
    for argument in operator.arguments:
        kind = _SCHEMA_TYPES.get(argument.kind, argument.kind)
        default = default_text(operator, argument)
        arguments.append(
            f"{kind}{'?' if _nullable(argument) else ''} {argument.name}"
            + (f"={default}" if default else "")
        )
    results = [f"{_SCHEMA_TYPES.get(r.kind, r.kind)} {r.name}" for r in operator.results]
    return f"{operator.name}({', '.join(arguments)}) -> {', '.join(results)}"


def op_ids(operators: list[Operator]) -> str:
    names = "\n".join(f"  {op_id(operator).removeprefix('OpId::')}," for operator in operators)
    return (
        "// Written by tools/generate.py.\n#pragma once\n\n"
        '#include "capi/op_table.h"\n\n'
        f"namespace libdl::capi {{\n\nenum class OpId : int32_t {{\n{names}\n}};\n\n}}\n"
    )


def op_table_source(operators: list[Operator], includes: list[str]) -> str:
    calls = "\n\n".join(generic_calls(operator) for operator in operators)
    data = "\n".join(_data(operator) for operator in operators)
    entries = "\n".join(_entry(operator) for operator in operators)
    lines = "\n".join(f'#include "{include}"' for include in includes)
    return f"""\
// Written by tools/generate.py.
{lines}
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
        f"LIBDL_VALUE_{_VALUE_TYPES[a.kind]}, {'true' if _nullable(a) else 'false'}}},"
        for a in operator.arguments
    ]
    results = [
        f"    {{{_quoted(r.name)}, LIBDL_VALUE_{_VALUE_TYPES[r.kind]}}}," for r in operator.results
    ]
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
