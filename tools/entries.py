# SPDX-License-Identifier: Apache-2.0
"""Writes the C++ entries: libdl::NAME shows its call to interceptors, casts what autocast casts,
and calls what the author of the operator wrote."""

from __future__ import annotations

import re

from operators import Argument, Operator


def _result(operator: Operator) -> str:
    results = [result.row.core for result in operator.results]
    return results[0] if len(results) == 1 else f"std::tuple<{', '.join(results)}>"


def _intos(operator: Operator) -> list[str]:
    if not operator.has_into:
        return []
    if len(operator.results) == 1:
        return ["into"]
    return [f"{result.name}_into" for result in operator.results]


def _default(operator: Operator, argument: Argument) -> str | None:
    """The default in C++, where Python has one that C++ can say. A device is always given."""
    if argument.kind in ("device", "tensors"):
        return None
    if argument.nullable:
        return "{}"
    said = operator.default_of(argument.name)
    if said is None or argument.kind in ("tensor", "ints"):
        return None
    if argument.kind == "dtype":
        return "Dtype::kNone" if said == "None" else None
    if argument.kind == "bool":
        return said.lower()
    return said if re.fullmatch(r"-?[\d.]+(e-?\d+)?", said) else None


def _parameters(operator: Operator, defaults: bool) -> str:
    said = [_default(operator, argument) for argument in operator.arguments]
    said += ["{}" if operator.has_new else None] * len(_intos(operator))
    types = [a.filled(a.row.core) for a in operator.arguments]
    types += ["Into"] * len(_intos(operator))
    names = [a.name for a in operator.arguments] + _intos(operator)
    texts = []
    for i, (kind, name) in enumerate(zip(types, names)):
        last = defaults and all(value is not None for value in said[i:])
        texts.append(f"{kind} {name}" + (f" = {said[i]}" if last else ""))
    return ", ".join(texts)


def _given(operator: Operator) -> str:
    return ", ".join([a.name for a in operator.arguments] + _intos(operator))


def is_composed(operator: Operator) -> bool:
    return operator.documentation.kind == "composed"


def is_expression(operator: Operator) -> bool:
    """Whether its author wrote one expression, k_NAME, and no function."""
    pointwise = operator.documentation.kind == "pointwise"
    return pointwise and not any(a.nullable for a in operator.arguments)


def _is_seen(operator: Operator) -> bool:
    """Whether its entry shows the call; pointwise() shows those that it can tell by its
    operands."""
    numbers = any(a.kind != "tensor" for a in operator.arguments)
    return operator.documentation.kind != "pointwise" or (is_expression(operator) and numbers)


def _call(operator: Operator) -> str:
    """The call of what the author wrote."""
    if not is_expression(operator):
        return f"{operator.name}_impl({_given(operator)})"
    operands = [
        a.name
        if a.kind == "tensor"
        else f'unit_number("{operator.name}", "{a.name}", {a.name}, input)'
        for a in operator.arguments
    ]
    return f"pointwise({', '.join([f'k_{operator.name}', *operands, 'into'])})"


def _function(head: str, lines: list[str]) -> str:
    return "\n".join([f"{head} {{", *lines, "}"])


def _declared(operator: Operator) -> str:
    """The entry in the header; inline, so that a call that nobody watches costs a test."""
    name, result = operator.name, _result(operator)
    entry = f"{result} {name}({_parameters(operator, True)})"
    if is_expression(operator):
        return f"{entry};"
    if is_composed(operator):
        given = ", ".join(a.filled(a.row.core) + " " + a.name for a in operator.arguments)
        return f"{result} {name}_impl({given});\n{entry};"
    bare = f"({_parameters(operator, False)});"
    declared = [f"{result} {name}_impl{bare}"]
    lines = [f"  return {_call(operator)};"]
    if _is_seen(operator):
        declared.append(f"{result} {name}_seen{bare}")
        seldom = "intercepted()" + " || autocasting()" * bool(operator.documentation.autocast)
        lines[:0] = [
            f"  if ({seldom}) [[unlikely]]",
            f"    return {name}_seen({_given(operator)});",
        ]
    return "\n".join([*declared, _function(f"inline {entry}", lines)])


def entry_header(header: str, operators: list[Operator]) -> str:
    """The C++ functions of one header's operators, and what authors define for them."""
    return "\n".join(
        [
            f"// Written by tools/generate.py from include/libdl/{header}.h, "
            "which has their meaning.",
            "// Of an operator, NAME is what others call, NAME_impl the work, "
            "NAME_seen the call while",
            "// interceptors watch or autocast is on.",
            "#pragma once\n",
            "#include <optional>\n#include <string_view>\n#include <tuple>\n#include <vector>\n",
            '#include "ops/primitive/into.h"\n'
            '#include "ops/primitive/seen.h"\n'
            '#include "tensor/generator.h"\n',
            "namespace libdl {\n",
            *(_declared(operator) + "\n" for operator in operators),
            "}  // namespace libdl\n",
        ]
    )


def _again(operator: Operator) -> list[str]:
    """The rest of a call that was shown, or whose operands were cast, is a call of the entry."""
    name, given = operator.name, _given(operator)
    # An argument of pad has its name.
    arguments = ", ".join(filter(None, [f"[&] {{ return libdl::{name}({given}); }}", given]))
    shown = f'{{.op = "{name}", .composed = true}}' if is_composed(operator) else f'{{"{name}"}}'
    lines = ["  if (observed())", f"    return observe_detail::call({shown}, {arguments});"]
    if operator.documentation.autocast:
        policy = f"CastPolicy::k{operator.documentation.autocast.capitalize()}"
        lines += [
            "  if (autocasting())",
            f"    return autocast_detail::call<{policy}, {_result(operator)}>(",
            f"        [](const auto&... x) {{ return libdl::{name}(x...); }}, {given});",
        ]
    return lines


def _composed(operator: Operator) -> list[str]:
    """The rest of an operator that is composed of others."""
    name, arguments = operator.name, operator.arguments
    named = ", ".join(f'{{"{a.name}", "{a.name}"}}' for a in arguments)

    def made(given: list[str]) -> str:
        body = f"return {name}_impl({', '.join(given)});"
        return f'composed("{name}", {{{named}}}, [&] {{ {body} }})'

    plain = made([a.name for a in arguments])
    if not operator.has_into:
        return [f"  return {plain};"]
    given = [
        f"as_it_was({a.name}, into)" if a.kind == "tensor" and not a.nullable else a.name
        for a in arguments
    ]
    operands = ", ".join(a.name for a in arguments if a.kind in ("tensor", "tensors"))
    return [
        f"  if (!into) return {plain};",
        f"  const Tensor made = {made(given)};",
        f'  return write_composed("{name}", made, into, operands_of({operands}));',
    ]


def _defined(operator: Operator) -> str:
    """What is not inline; empty where all of it is."""
    if is_composed(operator):
        head = f"{_result(operator)} {operator.name}({_parameters(operator, False)})"
        return _function(head, [*_again(operator), *_composed(operator)]) + "\n"
    seen, expression = _is_seen(operator), is_expression(operator)
    if not (seen or expression):
        return ""
    name = operator.name if expression else f"{operator.name}_seen"
    cold = "" if expression else "[[gnu::cold]] "
    head = f"{cold}{_result(operator)} {name}({_parameters(operator, False)})"
    lines = [*(_again(operator) if seen else []), f"  return {_call(operator)};"]
    return _function(head, lines) + "\n"


def entry_source(header: str, operators: list[Operator]) -> str:
    """What the entries of one header's operators seldom do, and those that are expressions."""
    return "\n".join(
        [
            f"// Written by tools/generate.py from include/libdl/{header}.h.",
            f'#include "entries/{header}.h"\n',
            '#include "ops/entry/autocast.h"\n#include "ops/entry/composed.h"',
            '#include "ops/primitive/observe.h"',
            '#include "ops/copy/copy.h"\n#include "ops/pointwise/pointwise.h"\n',
            "namespace libdl {\n",
            *filter(None, map(_defined, operators)),
            "}  // namespace libdl\n",
        ]
    )
