# SPDX-License-Identifier: Apache-2.0
"""Arguments that hang together. A recipe gives positional arguments, the input first, and named
ones; it stands under the name of the function, without the underscore of the form in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arguments import Draw

Made = tuple[list[str], dict[str, str]]
Recipe = Callable[[Draw], Made]
RECIPES: dict[str, Recipe] = {}


def recipe(*names: str) -> Callable[[Recipe], Recipe]:
    def put(made: Recipe) -> Recipe:
        RECIPES.update(dict.fromkeys(names, made))
        return made

    return put


def sizes(d: Draw, n: int) -> list[int]:
    return [d.some(1, 2, 3, 4, 0, 2, 3) for _ in range(n)]


def size_of(d: Draw, dim: str) -> int:
    n, k = len(d.shape), int(dim)
    return d.shape[k] if n and -n <= k < n else 1


def near(d: Draw) -> str:
    """A dimension that is there."""
    return str(d.r.randrange(-max(len(d.shape), 1), max(len(d.shape), 1)))


# -- operators -----------------------------------------------------------------------------------


def indexed(d: Draw) -> str:
    """What stands in the brackets of a tensor of d.shape."""
    parts: list[str] = []
    used = 0
    while used < len(d.shape) and d.chance(0.75):
        n = d.shape[used]
        p = d.r.random()
        if p < 0.25:
            parts.append(str(d.r.randrange(-n - 1, n + 1)))
        elif p < 0.5:
            parts.append(d.some("1:", ":-1", "::2", ":", "0:2", "5:", "-2:", "1:1"))
        elif p < 0.58:
            parts.append("None")
            continue
        elif p < 0.64 and "..." not in parts:
            parts.append("...")
            used = len(d.shape)
            continue
        elif p < 0.8:
            parts.append(d.indices(d.some((2,), (1,), (2, 1), (), (0,)), n))
        elif p < 0.9:
            parts.append(d.tensor((n,), "bool"))
        else:
            parts.append(d.some("[0]", "True", "[0, -1]", "False"))
        used += 1
    return ", ".join(parts) or d.some("...", "None", ":", "()", "True")


BINARY = {
    "__add__": "+",
    "__sub__": "-",
    "__mul__": "*",
    "__truediv__": "/",
    "__floordiv__": "//",
    "__mod__": "%",
    "__pow__": "**",
    "__and__": "&",
    "__or__": "|",
    "__xor__": "^",
    "__lshift__": "<<",
    "__rshift__": ">>",
    "__matmul__": "@",
    "__lt__": "<",
    "__le__": "<=",
    "__gt__": ">",
    "__ge__": ">=",
    "__eq__": "==",
    "__ne__": "!=",
}
UNARY = {
    "__neg__": "-{}",
    "__pos__": "+{}",
    "__abs__": "abs({})",
    "__invert__": "~{}",
    "__bool__": "bool({})",
    "__int__": "int({})",
    "__float__": "float({})",
    "__len__": "len({})",
    "__complex__": "complex({})",
    "__index__": "[1, 2, 3][{}]",
    "__iter__": "list({})",
    "__reversed__": "reversed({})",
}


def binary(d: Draw) -> Made:
    if d.chance(0.15):
        d.input()
        d.lines.pop()
        d.tensors.pop()
        d.leaves.clear()
        return [d.number(), d.tensor(d.shape)], {}
    return [d.input(), d.partner()], {}
