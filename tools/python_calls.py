# SPDX-License-Identifier: Apache-2.0
"""The operators as C functions for Python (METH_FASTCALL): arguments by position, in C's order.
What an argument needs its kind's row in kinds.py tells; python_layer.py writes the file."""

from __future__ import annotations

from doors import destinations
from kinds import Taken
from operators import Argument, Operator

HEAD = """// Written by tools/python_layer.py from include/libdl.
// The operators: arguments from Python's values, results to them.
#include "arguments.h"

"""


_SHAPE = Taken(
    "Integers {x} = {{0}};",
    "take_shape({from_}, &{x})",
    "{x}.items, {x}.count",
    "free_integers(&{x});",
)
_DESTINATION = Taken("libdl_tensor* {x} = NULL;", "take_destination({from_}, &{x})", "{x}")


def taken(argument: Argument) -> Taken:
    if argument.kind == "ints" and argument.name == "shape" and not argument.nullable:
        return _SHAPE
    row = argument.row.taken[argument.nullable]
    assert row is not None, (
        f"{argument.name}: {argument.kind} cannot be nullable={argument.nullable}"
    )
    return row


def function_text(operator: Operator, into: bool) -> str:
    name = operator.name + ("_into" if into else "")
    listed = [(a.name, taken(a)) for a in operator.arguments]
    if into:
        listed += [(place, _DESTINATION) for place in destinations(operator)]
    held, taking, passed, freed = [], [], [], []
    for i, (argument, row) in enumerate(listed):
        from_ = f'"{name}", {i + 1}, "{argument}", args[{i}]'
        x = f"{argument}_"
        held.append(row.held.format(x=x))
        taking.append(row.take.format(x=x, i=i, from_=from_))
        passed.append(row.passed.format(x=x))
        freed += [row.freed.format(x=x)] if row.freed else []
    if into:
        objects = [f"Py_NewRef(args[{i}])" for i in range(len(operator.arguments), len(listed))]
    else:
        made = [(result.name, *result.row.wrapped) for result in operator.results]
        held += [declaration.format(x=f"{x}_made") for x, declaration, _ in made]
        passed += [f"&{x}_made" for x, *_ in made]
        objects = [wrapped.format(x=f"{x}_made") for x, _, wrapped in made]
    result = objects[0] if len(objects) == 1 else f"several({len(objects)}, {', '.join(objects)})"
    tests = " ||\n      ".join([f'wrong_count("{name}", {len(listed)}, count)', *taking])
    lines = [
        f"static PyObject* call_{name}(PyObject* self, PyObject* const* args, Py_ssize_t count) {{",
        "  (void)self;" if listed else "  (void)self, (void)args;",
        *(f"  {text}" for text in held),
        "  PyObject* result = NULL;",
        f"  if (!({tests})) {{",
        "    PyThreadState* const released = begin_call();",
        f"    libdl_error* const error = libdl_{name}({', '.join(passed)});",
        "    end_call(released);",
        f"    result = error ? raise_error(error) : {result};",
        "  }",
        *(f"  {text}" for text in freed),
        "  return ended(result);",
        "}",
    ]
    return "\n".join(lines) + "\n\n"


def operators_text(operators: list[Operator]) -> str:
    forms = [
        (o, into)
        for o in operators
        for into in (False, True)
        if (o.has_into if into else o.has_new)
    ]
    headers = sorted({o.header for o, _ in forms})
    text = "".join(function_text(operator, into) for operator, into in forms)
    rows = "".join(
        f"    LIBDL_PYTHON_CALL({o.name}{'_into' if into else ''}),\n" for o, into in forms
    )
    includes = "".join(f"#include <libdl/{header}.h>\n" for header in headers)
    return (
        HEAD
        + includes
        + "\n"
        + text
        + f"static PyMethodDef calls[] = {{\n{rows}    {{NULL, NULL, 0, NULL}},\n}};\n\n"
        + "int add_operators(PyObject* module) { return PyModule_AddFunctions(module, calls); }\n"
    )


def ignored_text(operators: list[Operator]) -> str:
    """What SWIG leaves to that file."""
    names = [o.name for o in operators if o.has_new]
    names += [f"{o.name}_into" for o in operators if o.has_into]
    lines = "".join(f"%ignore libdl_{name};\n" for name in names)
    return "// Written by tools/python_layer.py from include/libdl.\n" + lines
