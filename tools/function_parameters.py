# SPDX-License-Identifier: Apache-2.0
"""Numbers the parameters of the functions that are no operators, as errors tell them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from headers import Function, read_header

# The promise of version 0.1 (tests/capi) has other numbers: a destroy is one argument with its ctx,
# and every parameter is counted.
_DESTROY_WITH_CTX = {"libdl_tensor_from_memory", "libdl_file_open_memory"}
_EVERY_PARAMETER = {"libdl_gradcheck"}
# And compare what errors call these, and the one parameter that is told by two names.
_TOLD = {"libdl_gradcheck": "libdl_gradcheck", "libdl_tensor_detach_in_place": "detach_"}
_ALSO = {("libdl_tensor_detach_in_place", "tensor"): ["input"]}

_OPTIONS = re.compile(r"^typedef struct (\w+_options) \{\n(.*?)^\} \1;", re.DOTALL | re.MULTILINE)


@functools.cache
def _handles(folder: Path) -> frozenset[str]:
    """The incomplete types of the headers."""
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.h"))
    return frozenset(re.findall(r"^typedef struct (\w+) \1;", text, re.MULTILINE))


def _is_handle(function: Function, k: int) -> bool:
    kind = function.parameters[k].type.removeprefix("const ")
    return kind.removesuffix(" *") in _handles(function.path.parent)


def is_count(function: Function, k: int) -> bool:
    name = function.parameters[k].name
    return name in ("count", "ndim", "bytes") or name.endswith(("_count", "_length"))


def _has_number(function: Function, k: int) -> bool:
    """A pointer and what counts its elements are one argument."""
    if function.name in _EVERY_PARAMETER or k == 0:
        return True
    behind_list = "*" in function.parameters[k - 1].type and not _is_handle(function, k - 1)
    counts = is_count(function, k) and (behind_list or is_count(function, k - 1))
    together = function.parameters[k].name == "destroy" and function.name in _DESTROY_WITH_CTX
    return not counts and not together


def number_of(function: Function, k: int) -> int:
    """The number of parameter k, counted from 1."""
    return sum(_has_number(function, i) for i in range(k + 1))


def _numbered(function: Function, members: dict[str, list[str]]) -> str:
    """What has one number is joined by bars: "options|lr|eps params grads"."""
    words: list[list[str]] = []
    for k, parameter in enumerate(function.parameters):
        if _has_number(function, k):
            words.append([])
        struct = parameter.type.removeprefix("const ").removesuffix(" *")
        also = _ALSO.get((function.name, parameter.name), [])
        words[-1] += [parameter.name, *also, *members.get(struct, [])]
    return " ".join("|".join(names) for names in words)


def function_parameters_text(folder: Path, operators: Iterable[str]) -> str:
    paths = sorted(folder.glob("*.h"))
    members = {
        struct[1]: re.findall(r"^  \w[^;]*?\b(\w+);", struct[2], re.MULTILINE)
        for path in paths
        for struct in _OPTIONS.finditer(path.read_text(encoding="utf-8"))
    }
    doors = {f"libdl_{name}{form}" for name in operators for form in ("", "_into")}
    functions = sorted(
        (
            _TOLD.get(function.name, function.name.removeprefix("libdl_")),
            _numbered(function, members),
        )
        for path in paths
        for function in read_header(path).functions
        if function.name not in doors and function.result == "libdl_error *"
    )
    rows = "\n".join(f'    {{"{name}", "{parameters}"}},' for name, parameters in functions)
    return f"""\
// Written by tools/generate.py.
#include "capi/argument_number.h"

namespace libdl::capi {{

const FunctionParameters kFunctions[] = {{
{rows}
}};
const int32_t kFunctionCount = {len(functions)};

}}  // namespace libdl::capi
"""
