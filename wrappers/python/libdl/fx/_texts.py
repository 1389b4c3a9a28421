# SPDX-License-Identifier: Apache-2.0
"""How targets, types and arguments are written in printed graphs and in generated code."""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING, Any

from .. import overrides
from .._package_name import is_own

if TYPE_CHECKING:
    from .graph import Graph

# x + y and so on, by the name of operator's function.
BINARY = {
    "eq": "{} == {}",
    "ne": "{} != {}",
    "lt": "{} < {}",
    "gt": "{} > {}",
    "le": "{} <= {}",
    "ge": "{} >= {}",
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "matmul": "{} @ {}",
    "truediv": "{} / {}",
    "floordiv": "{} // {}",
    "mod": "{} % {}",
    "pow": "{} ** {}",
    "lshift": "{} << {}",
    "rshift": "{} >> {}",
    "and_": "{} & {}",
    "or_": "{} | {}",
    "xor": "{} ^ {}",
    "getitem": "{}[{}]",
}
UNARY = {"pos": "+{}", "neg": "-{}", "invert": "~{}"}
MAGIC = {**BINARY, **UNARY}
REFLECTED = (
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
)
IN_PLACE = {
    "iadd": "{} += {}",
    "iand": "{} &= {}",
    "ifloordiv": "{} //= {}",
    "ilshift": "{} <<= {}",
    "imod": "{} %= {}",
    "imul": "{} *= {}",
    "imatmul": "{} @= {}",
    "ior": "{} |= {}",
    "ipow": "{} **= {}",
    "irshift": "{} >>= {}",
    "isub": "{} -= {}",
    "itruediv": "{} /= {}",
    "ixor": "{} ^= {}",
    "setitem": "{}[{}] = {}",
}


def qualified_name(target: Any) -> str:
    """The name by which code reaches a function or class: "libdl.relu", "_operator.add". Functions
    of the library go by the place where programs find them, whatever file defines them."""
    name: str = target.__name__
    if getattr(builtins, name, None) is target:
        return name
    public = overrides.resolve_name(target)
    if public is not None:
        return public
    return f"{target.__module__ or 'builtins'}.{target.__qualname__}".replace("<locals>.", "")


def is_library(obj: object) -> bool:
    """Whether code reaches the object through the name libdl."""
    module = getattr(obj, "__module__", None) or ""
    return is_own(module)


def is_function(func: object) -> bool:
    """Whether the library has it as a function, and not as a method alone."""
    return not (overrides.resolve_name(func) or "libdl.Tensor").startswith("libdl.Tensor")


def target_text(target: Any) -> str:
    """A target in a printed graph."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None)
    if module == "_operator" or getattr(operator, getattr(target, "__name__", ""), None) is target:
        return f"operator.{target.__name__}"
    name = qualified_name(target)
    return f"builtins.{name}" if module == "builtins" and "." not in name else name


def type_text(kind: object) -> str:
    """A type annotation as code."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, type) and not getattr(kind, "__args__", None):
        if kind.__module__ == "builtins":
            return kind.__qualname__
        return f"{kind.__module__}.{kind.__qualname__}"
    return "..." if kind is ... else repr(kind)


def table(graph: Graph) -> str:
    """The nodes as a table, spaced as the package tabulate does for PyTorch."""
    head = ["opcode", "name", "target", "args", "kwargs"]
    rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in graph.nodes]
    texts = [head, *([str(entry) for entry in row] for row in rows)]
    widths = [max(len(head[i]) + 2, *(len(row[i]) for row in texts)) for i in range(len(head))]
    texts.insert(1, ["-" * width for width in widths])
    lines = ("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in texts)
    return "\n".join(line.rstrip() for line in lines)
