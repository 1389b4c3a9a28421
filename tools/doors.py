# SPDX-License-Identifier: Apache-2.0
"""Writes the C functions: each checks its arguments, calls C++ and hands results out."""

from __future__ import annotations

from operators import Argument, Operator, Result

_C_PARAMETERS = {
    "tensor": ("const libdl_tensor* {0}",) * 2,
    "tensors": ("const libdl_tensor* const* {0}, int64_t {1}",) * 2,
    "ints": ("const int64_t* {0}, int32_t {1}",) * 2,
    "int": ("int64_t {0}", "const int64_t* {0}"),
    "float": ("double {0}", "const double* {0}"),
    "dim": ("int32_t {0}",) * 2,
    "bool": ("libdl_bool {0}",) * 2,
    "dtype": ("libdl_dtype {0}",) * 2,
    "device": ("const libdl_device* {0}",) * 2,
    "string": ("const char* {0}, int64_t {1}",) * 2,
    "generator": ("libdl_generator* {0}",) * 2,
}

# {n} number, {x} name, {c} name of the count
_CHECKS = {
    "tensor": ("in_tensor(op, {n}, {x})", "in_optional_tensor(op, {n}, {x})"),
    "tensors": ("in_tensors(op, {n}, {x}, {c}, false)", "in_tensors(op, {n}, {x}, {c}, true)"),
    "ints": ("in_ints(op, {n}, {x}, {c})", "in_optional_ints(op, {n}, {x}, {c})"),
    "int": ("{x}", "in_optional_number({x})"),
    "float": ("{x}", "in_optional_number({x})"),
    "dim": ("{x}",) * 2,
    "bool": ("{x} != 0",) * 2,
    "dtype": ("in_dtype(op, {n}, {x})",) * 2,
    "device": ("in_optional_device({x})",) * 2,
    "string": ("in_string(op, {n}, {x}, {c})", "in_optional_string(op, {n}, {x}, {c})"),
    "generator": ("in_optional_generator(op, {n}, {x})",) * 2,
}

# How a generic call's value gives the C parameters back; {v} the value, {n} the number.
_UNPACKS = {
    "tensor": ("{v}.held.tensor", ""),
    "tensors": ("{v}.held.tensors.items", "{v}.held.tensors.count"),
    "ints": ("{v}.held.integers.items", "{v}.held.integers.count"),
    "int": ("{v}.held.integer", ""),
    "float": ("{v}.held.number", ""),
    "dim": ("in_dim(op, {n}, {v}.held.integer)", ""),
    "bool": ("{v}.held.boolean", ""),
    "dtype": ("{v}.held.dtype", ""),
    "device": ("device_or_null({v})", ""),
    "string": ("{v}.held.string.text", "{v}.held.string.length"),
    "generator": ("{v}.held.generator", ""),
}
_NULLABLE_UNPACKS = {"int": "int_or_null({v})", "float": "float_or_null({v})"}

_C_RESULTS = {
    "tensor": "libdl_tensor** {0}",
    "tensor_list": "libdl_tensor_list** {0}",
    "bool": "libdl_bool* {0}",
    "int": "int64_t* {0}",
    "uint": "uint64_t* {0}",
    "float": "double* {0}",
}
# The enumerator of operators whose names C++ keeps for itself.
CPP_KEYWORDS = {"and", "or", "not", "xor", "union", "typeid"}


def op_id(operator: Operator) -> str:
    return f"OpId::{operator.name}" + ("_" if operator.name in CPP_KEYWORDS else "")


def _c_parameters(arguments: tuple[Argument, ...]) -> list[str]:
    return [_C_PARAMETERS[a.kind][a.nullable].format(a.name, a.count) for a in arguments]


def _check(argument: Argument, number: int, name: str, count: str) -> str:
    return _CHECKS[argument.kind][argument.nullable].format(n=number, x=name, c=count)


def _checked(operator: Operator, source: list[tuple[str, str]]) -> list[str]:
    """One local variable per argument, in order, so that the first bad one is named."""
    lines = [
        f"    auto&& a{i} = {_check(argument, i, *source[i - 1])};"
        for i, argument in enumerate(operator.arguments, 1)
    ]
    return lines + _one_device(operator)


def _one_device(operator: Operator) -> list[str]:
    tensors = [
        (i, argument.kind)
        for i, argument in enumerate(operator.arguments, 1)
        if argument.kind in ("tensor", "tensors")
    ]
    if len(tensors) < 2 and not any(kind == "tensors" for _, kind in tensors):
        return []
    pointwise = "true" if operator.header == "pointwise" else "false"
    numbers = ", ".join(str(i) for i, _ in tensors)
    operands = ", ".join(f"a{i}" for i, _ in tensors)
    return [
        "    if (memory_elsewhere()) [[unlikely]]",
        f"      check_devices<{numbers}>(op, {pointwise}, {operands});",
    ]


def _call(operator: Operator, intos: list[str]) -> str:
    arguments = [f"a{i}" for i in range(1, len(operator.arguments) + 1)] + intos
    return f"libdl::{operator.name}({', '.join(arguments)})"


def _from_parameters(operator: Operator) -> list[tuple[str, str]]:
    return [(argument.name, argument.count) for argument in operator.arguments]


def _from_values(operator: Operator) -> list[tuple[str, str]]:
    source = []
    for i, argument in enumerate(operator.arguments):
        name, count = _UNPACKS[argument.kind]
        if argument.nullable:
            name = _NULLABLE_UNPACKS.get(argument.kind, name)
        value = f"v[{i}]"
        source.append((name.format(v=value, n=i + 1), count.format(v=value)))
    return source


def _give_out(results: tuple[Result, ...], call: str) -> list[str]:
    if len(results) == 1:
        given = f"Leaving{{{call}}}" if results[0].kind == "tensor" else call
        return [f"    *{results[0].name} = give({given});"]
    names = ", ".join(f"r{i}" for i in range(len(results)))
    return [
        f"    auto [{names}] = {call};",
        f"    adopted_together({len(results)});",
        *(f"    *{r.name} = give(std::move(r{i}));" for i, r in enumerate(results)),
    ]


def new_door(operator: Operator) -> str:
    results = operator.results
    parameters = _c_parameters(operator.arguments) + [
        _C_RESULTS[result.kind].format(result.name) for result in results
    ]
    behind = len(operator.arguments) + 1
    lines = [
        f"libdl_error* libdl_{operator.name}({', '.join(parameters)}) {{",
        f"  constexpr OpId op = {op_id(operator)};",
        "  return door(op, [&] {",
        *(f"    place(op, {behind + i}, {r.name});" for i, r in enumerate(results)),
        *_checked(operator, _from_parameters(operator)),
        *_give_out(results, _call(operator, [])),
        "  });",
        "}",
    ]
    return "\n".join(lines)


def _destinations(operator: Operator) -> list[str]:
    if len(operator.results) == 1:
        return ["dst"]
    return [f"{result.name}_dst" for result in operator.results]


def into_door(operator: Operator) -> str:
    destinations = _destinations(operator)
    parameters = _c_parameters(operator.arguments) + [f"libdl_tensor* {d}" for d in destinations]
    behind = len(operator.arguments) + 1
    intos = [
        f'in_destination(op, {behind + i}, {d}, "{d}")' for i, d in enumerate(destinations)
    ]
    lines = [
        f"libdl_error* libdl_{operator.name}_into({', '.join(parameters)}) {{",
        f"  constexpr OpId op = {op_id(operator)};",
        "  return door_into(op, [&] {",
        *_checked(operator, _from_parameters(operator)),
        *(f"    const Into into{i} = {into};" for i, into in enumerate(intos)),
        f"    {_call(operator, [f'into{i}' for i in range(len(intos))])};",
        f"  }}, {', '.join(destinations)});",
        "}",
    ]
    return "\n".join(lines)


def generic_calls(operator: Operator) -> str:
    """The operator called with values: one function a form."""
    checks = _checked(operator, _from_values(operator))
    checks = [line[2:] for line in checks]
    unused = "" if operator.arguments else " /*v*/"
    value = " v" if operator.arguments else unused
    op = [f"  [[maybe_unused]] constexpr OpId op = {op_id(operator)};"]
    lines: list[str] = []
    if operator.has_new:
        lines += [f"static void new_{operator.name}(const libdl_value*{value}, libdl_value* r) {{"]
        lines += op + checks
        if len(operator.results) == 1:
            lines += [f"  put(r[0], {_call(operator, [])});"]
        else:
            names = ", ".join(f"r{i}" for i in range(len(operator.results)))
            lines += [f"  auto [{names}] = {_call(operator, [])};"]
            lines += [f"  put(r[{i}], std::move(r{i}));" for i in range(len(operator.results))]
        lines += ["}"]
    if operator.has_into:
        behind = len(operator.arguments) + 1
        lines += [
            f"static void into_{operator.name}(const libdl_value*{value},"
            " libdl_tensor* const* d) {"
        ]
        count = range(len(operator.results))
        intos = [
            f'  const Into into{i} = in_destination(op, {behind + i}, d[{i}], "{name}");'
            for i, name in enumerate(_destinations(operator))
        ]
        lines += op + checks + intos
        lines += [f"  {_call(operator, [f'into{i}' for i in count])};", "}"]
    return "\n".join(lines)


def door_source(header: str, operators: list[Operator], includes: list[str]) -> str:
    """The source file with the doors of one header's operators."""
    parts = [
        f"// Written by tools/generate.py from include/libdl/{header}.h.",
        f"#include <libdl/{header}.h>\n",
        *(f'#include "{include}"' for include in includes),
        '#include "capi/values.h"\n#include "op_ids.h"\n',
        "using namespace libdl;\nusing namespace libdl::capi;\n",
    ]
    for operator in operators:
        if operator.has_new:
            parts.append(new_door(operator) + "\n")
        if operator.has_into:
            parts.append(into_door(operator) + "\n")
    return "\n".join(parts)
