# SPDX-License-Identifier: Apache-2.0
"""Writes what is data of optimizers and clipping, from include/libdl/optim.h: their doors, their
C++ entries, their Python functions, and the defaults of their options.

A step takes options, then lists of tensors that it reads or writes; clipping takes a list and
numbers. The functions are no operators: no gradient flows back through them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from headers import Function, HeaderError, Parameter, read_header

# -- options ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Member:
    name: str
    type: str
    default: str  # as C writes it; empty: zero


@dataclass(frozen=True)
class Options:
    name: str  # libdl_adam_options
    size: int  # in the version that brought it
    members: tuple[Member, ...]  # behind struct_size


_STRUCT = re.compile(r"^typedef struct (\w+_options) \{\n(.*?)^\} \1;", re.DOTALL | re.MULTILINE)
_MEMBER = re.compile(r"^  (\w+) (\w+);(?:\s*/\*\*<(.*?)\*/)?", re.DOTALL | re.MULTILINE)
_SIZES = {"uint32_t": 4, "libdl_bool": 4, "int64_t": 8, "double": 8}


def _read_options(path: Path) -> dict[str, Options]:
    """The option structs by their names. A member's comment tells its default: "default 0.9"."""
    structs = _STRUCT.finditer(path.read_text(encoding="utf-8"))
    return {item[1]: _options(path, item[1], item[2]) for item in structs}


def _options(path: Path, name: str, body: str) -> Options:
    members, size = [], 0
    for kind, member, comment in _MEMBER.findall(body):
        if kind not in _SIZES:
            raise HeaderError(path, 1, f"{name}: {member} is {kind}, wanted one of {list(_SIZES)}")
        text = " ".join(comment.split())
        if "since version" not in text:
            size = -(-size // _SIZES[kind]) * _SIZES[kind] + _SIZES[kind]
        default = re.search(r"\bdefault (-?[\d.]+(?:e-?\d+)?)", text)
        members.append(Member(member, kind, default[1] if default else ""))
    if not members or members[0].name != "struct_size":
        raise HeaderError(path, 1, f"{name} does not begin with struct_size")
    return Options(name, -(-size // 8) * 8, tuple(members[1:]))


# -- functions -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StepArgument:
    """One argument; a list and its count are one."""

    name: str
    kind: str  # options, written, read, number, truth, tensor, out
    count: str = ""  # the C name of a list's length
    gaps: bool = False  # entries of the list may be NULL
    optional: bool = False  # the list may be NULL


@dataclass(frozen=True)
class Step:
    function: Function
    parameters: tuple[StepArgument, ...]
    options: Options | None

    @property
    def name(self) -> str:
        return self.function.name.removeprefix("libdl_")

    @property
    def returns(self) -> bool:
        return any(g.kind == "out" for g in self.parameters)


_KINDS = {
    "double": "number",
    "libdl_bool": "truth",
    "const libdl_tensor *": "tensor",
    "libdl_tensor **": "out",
}
_LISTS = {
    "libdl_tensor *const *": ("written", False),
    "libdl_tensor *LIBDL_NULLABLE const *": ("written", True),
    "const libdl_tensor *const *": ("read", False),
    "const libdl_tensor *LIBDL_NULLABLE const *": ("read", True),
}


def read_steps(folder: Path) -> tuple[list[Step], list[Options]]:
    """The functions of optim.h, and its option structs."""
    header = read_header(folder / "optim.h")
    options = _read_options(folder / "optim.h")
    functions = [f for f in header.functions if not f.name.endswith("_options_init")]
    return [_step(f, options) for f in functions], list(options.values())


def _step(function: Function, options: dict[str, Options]) -> Step:
    arguments: list[StepArgument] = []
    own = None
    parameters = iter(function.parameters)
    for p in parameters:
        if p.type in _LISTS:
            kind, gaps = _LISTS[p.type]
            arguments.append(StepArgument(p.name, kind, next(parameters).name, gaps, p.nullable))
        elif p.type in _KINDS:
            arguments.append(StepArgument(p.name, _KINDS[p.type]))
        else:
            own = options.get(p.type.removeprefix("const ").removesuffix(" *"))
            if own is None:
                raise function.error(f"{p.name} has the type '{p.type}', which is of no known kind")
            arguments.append(StepArgument(p.name, "options"))
    return Step(function, tuple(arguments), own)


# -- C++ -------------------------------------------------------------------------------------------

_CORE = {
    "written": "TensorSpan",
    "read": "TensorSpan",
    "number": "double",
    "truth": "bool",
    "tensor": "const Tensor&",
}
_LIST_KINDS = ("written", "read")


def _core_parameters(step: Step) -> str:
    parts = [f"const {step.options.name}& options"] if step.options else []
    parts += [f"{_CORE[g.kind]} {g.name}" for g in step.parameters if g.kind in _CORE]
    return ", ".join(parts)


def _entry(step: Step) -> str:
    """A step is shown to interceptors with its lists; clipping shows itself (optim/clip.cc)."""
    result = "Tensor" if step.returns else "void"
    declared = f"{result} {step.name}{{}}({_core_parameters(step)})"
    if not step.options:
        return declared.format("") + ";"
    lists = ", ".join(g.name for g in step.parameters if g.kind in _LIST_KINDS)
    shown = step.name.removesuffix("_step")
    return "\n".join(
        [
            declared.format("_impl") + ";",
            f"inline {declared.format('')} {{",
            f'  LIBDL_OBSERVED_STEP("{shown}", {step.name}(options, {lists}), {lists});',
            f"  {step.name}_impl(options, {lists});",
            "}",
        ]
    )


def entries_text(steps: list[Step]) -> str:
    return "\n".join(
        [
            "// Written by tools/generate.py from include/libdl/optim.h, which has their meaning.",
            "// Of a step, NAME is what others call and NAME_impl the work.",
            "#pragma once\n",
            "#include <libdl/optim.h>\n",
            '#include "ops/primitive/observe.h"\n#include "tensor/tensor.h"\n',
            "namespace libdl {\n",
            *(_entry(step) + "\n" for step in steps),
            "}  // namespace libdl\n",
        ]
    )


def _spelled(p: Parameter) -> str:
    return p.type + (p.name if p.type.endswith("*") else f" {p.name}")


def _taken(g: StepArgument) -> str:
    """An argument as the C++ function takes it."""
    text = f'name, "{g.name}", {g.name}'
    if g.kind in _LIST_KINDS:
        return f"live_tensors({text}, {g.count}{', kMostEntries, true' if g.gaps else ''})"
    if g.kind == "options":
        return "o"
    return {"tensor": f"live_tensor({text})", "truth": f"{g.name} != 0"}.get(g.kind, g.name)


def _door(step: Step) -> str:
    call, lines = [], []
    for g in step.parameters:
        text = f'name, "{g.name}", {g.name}'
        if g.kind == "out":
            lines.insert(0, f"    output({text});")
            continue
        if g.kind == "options":
            assert step.options is not None
            lines.append(f'    not_null({text}, "a {step.options.name}");')
            lines.append(f"    const {step.options.name} o = read_options(name, {g.name});")
        call.append(_taken(g))
    work = f"{step.name}({', '.join(call)})"
    lines.append(f"    *out = hand_out({work});" if step.returns else f"    {work};")
    parameters = ", ".join(_spelled(p) for p in step.function.parameters)
    return "\n".join(
        [
            f"libdl_error* {step.function.name}({parameters}) {{",
            f'  return door("{step.name}", [&] {{',
            f'    [[maybe_unused]] const char* const name = "{step.name}";',
            *lines,
            "  });",
            "}\n",
        ]
    )


def _defaults(options: Options) -> str:
    """Writes the members of the version that brought the struct, and no more: a caller's may be of
    that version."""
    return "\n".join(
        [
            f"void {options.name}_init({options.name}* options) {{",
            "  if (!options) return;",
            f"  std::memset(options, 0, {options.size});",
            f"  options->struct_size = {options.size};",
            *(f"  options->{m.name} = {m.default};" for m in options.members if m.default),
            "}\n",
        ]
    )


def doors_text(steps: list[Step], options: list[Options]) -> str:
    return "\n".join(
        [
            "// Written by tools/generate.py from include/libdl/optim.h.",
            "#include <cstring>\n",
            '#include "capi/arguments.h"\n#include "capi/options.h"\n#include "capi/scope.h"',
            '#include "entries/optim.h"\n',
            "using namespace libdl;\nusing namespace libdl::capi;\n",
            *map(_door, steps),
            *map(_defaults, options),
        ]
    )


# -- Python ----------------------------------------------------------------------------------------

# A member or argument as PyArg_ParseTupleAndKeywords reads it: its letter, and the type behind it.
_PARSED = {"double": "d", "libdl_bool": "p", "int64_t": "L", "number": "d", "truth": "p"}


def _python_function(step: Step) -> str:
    """The tensors and numbers of the C function by position, the options by name."""
    objects = [g for g in step.parameters if g.kind in _LIST_KINDS]
    alone = [g.name for g in step.parameters if g.kind == "tensor"]
    format_, places, names = "", [], []
    for g in step.parameters:
        if g in objects:
            format_ += "O"
            places.append(f"&objects[{objects.index(g)}]")
        elif g.kind == "tensor":
            format_ += "O"
            places.append(f"&{g.name}")
        elif g.kind in ("number", "truth"):
            format_ += _PARSED[g.kind]
            places.append(f"&{g.name}")
        else:
            continue
        names.append('""')
    members = step.options.members if step.options else ()
    if members:
        format_ += "|$" + "".join(_PARSED[m.type] for m in members)
        places += [f"&{m.name}" if m.type == "int64_t" else f"&o.{m.name}" for m in members]
        names += [f'"{m.name}"' for m in members]
    lines = [
        f"// {step.name}({_signature(step)})",
        f"static PyObject* {step.name}(PyObject* module, PyObject* args, PyObject* named) {{",
        "  (void)module;",
        f"  static char* names[] = {{{', '.join(names)}, NULL}};",
        f"  PyObject* objects[{len(objects)}];",
        *(f"  PyObject* {name};" for name in alone),
        *(f"  double {g.name};" for g in step.parameters if g.kind == "number"),
        *(f"  int {g.name};" for g in step.parameters if g.kind == "truth"),
    ]
    if step.options:
        lines += [f"  {step.options.name} o;", f"  {step.options.name}_init(&o);"]
    wide = [m.name for m in members if m.type == "int64_t"]
    lines += [
        *(f"  long long {m} = o.{m};" for m in wide),
        f'  if (!PyArg_ParseTupleAndKeywords(args, named, "{format_}:{step.name}", names,',
        f"                                   {', '.join(places)}))",
        "    return NULL;",
        *(f"  o.{m} = {m};" for m in wide),
        *(
            f'  if (!is_tensor({name})) return raise_not_a_tensor("{step.name}", "{name}");'
            for name in alone
        ),
        "  Operands lists[kLists] = {0};",
        f"  const bool read = read_lists(objects, lists, {len(objects)}) == 0;",
        "  libdl_error* error = NULL;",
        *(["  libdl_tensor* out = NULL;"] if step.returns else []),
        "  if (read) {",
        "    PyThreadState* const thread = leave_python();",
        f"    error = {step.function.name}({', '.join(_passed(step, objects))});",
        "    enter_python(thread);",
        "  }",
        f"  return finish_step(error, lists, read, {'out' if step.returns else 'NULL'});",
        "}\n",
    ]
    return "\n".join(lines)


def _signature(step: Step) -> str:
    arguments = [g.name for g in step.parameters if g.kind not in ("options", "out")]
    members = [m.name for m in step.options.members] if step.options else []
    return ", ".join([*arguments, *(["*", *members] if members else [])])


def _passed(step: Step, objects: list[StepArgument]) -> list[str]:
    passed = []
    for g in step.parameters:
        place = f"lists[{objects.index(g)}]" if g in objects else ""
        if g.kind == "written":
            passed.append(f"WRITES_IF_ANY({place})" if g.optional else f"WRITES({place})")
        else:
            passed.append(
                {
                    "read": f"READS({place})",
                    "tensor": f"handle_of({g.name})",
                    "options": "&o",
                    "out": "&out",
                }.get(g.kind, g.name)
            )
    return passed


_ANNOTATIONS = {"double": "float", "libdl_bool": "bool", "int64_t": "int"}


def stub_text(step: Step) -> str:
    """The Python function's types."""
    kinds = {"number": "float", "truth": "bool", "tensor": "Tensor"}
    parts: list[str] = []
    for g in step.parameters:
        if g.kind in _LIST_KINDS:
            kind = f"Sequence[Tensor{' | None' if g.gaps else ''}]{' | None' if g.optional else ''}"
        elif g.kind in kinds:
            kind = kinds[g.kind]
        else:
            continue
        parts.append(f"{g.name}: {kind}")
    parts.append("/")
    if step.options:
        parts.append("*")
        parts += [f"{m.name}: {_ANNOTATIONS[m.type]} = ..." for m in step.options.members]
    returns = "Tensor" if step.returns else "None"
    return f"def {step.name}({', '.join(parts)}) -> {returns}: ..."


def python_text(steps: list[Step]) -> str:
    table = [
        f'    {{"{s.name}", (PyCFunction)(void (*)(void)){s.name}, '
        "METH_VARARGS | METH_KEYWORDS, NULL},"
        for s in steps
    ]
    return "\n".join(
        [
            "// Written by tools/python_layer.py from include/libdl/optim.h.",
            "#include <libdl/optim.h>\n",
            '#include "steps.h"\n',
            *map(_python_function, steps),
            "static PyMethodDef functions[] = {",
            *table,
            "    {NULL, NULL, 0, NULL},",
            "};\n",
            "int add_optimizer_steps(PyObject* module) {",
            "  return PyModule_AddFunctions(module, functions);",
            "}\n",
        ]
    )
