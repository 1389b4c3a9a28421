# SPDX-License-Identifier: Apache-2.0
"""What the generated operators share: sizes given one by one, and the choice among overloads."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from . import _C

_Form = tuple[Callable[..., Any], tuple[str, ...], str, int, int, bool]


def listed(given: tuple[Any, ...], by_keyword: Sequence[int] | None) -> Sequence[int]:
    """The sizes of zeros(2, 3), zeros((2, 3)) and zeros(size=(2, 3))."""
    if by_keyword is not None:
        if given:
            raise TypeError("sizes are given twice: one by one and by keyword")
        return by_keyword
    if len(given) == 1 and not _is_int(given[0]):
        return given[0]
    return given


def _is_int(value: Any) -> bool:
    if isinstance(value, int):
        return True
    if isinstance(value, (str, bytes, float, list, tuple)):
        return False
    try:
        operator.index(value)
    except (TypeError, RuntimeError, ValueError):
        return False
    return True


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _C.Tensor) or hasattr(type(value), "__torch_function__")


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(_is_int(v) for v in value)


_STRICT: dict[str, Callable[[Any], bool]] = {
    "T": _is_tensor,
    "t": _is_tensor,
    "s": lambda v: isinstance(v, (list, tuple)),
    "l": lambda v: _is_list(v) or _is_int(v),
    "i": lambda v: _is_int(v) and not isinstance(v, _C.Tensor),
    "f": lambda v: isinstance(v, (int, float)),
    "b": lambda v: isinstance(v, (bool, int)),
    "d": lambda v: type(v).__name__ == "dtype" or v in (float, int, bool, complex),
    "v": lambda v: isinstance(v, str) or type(v).__name__ == "device",
    "c": lambda v: isinstance(v, str),
    "g": lambda v: type(v).__name__ == "Generator",
}
# Where no overload takes the arguments as they are: numbers stand for tensors, tensors for numbers.
_LENIENT = _STRICT | {
    "t": lambda v: _is_tensor(v) or isinstance(v, (int, float, complex)) or hasattr(v, "dtype"),
    "i": _is_int,
    "f": lambda v: hasattr(type(v), "__float__"),
}


def _take_sizes(form: _Form, args: Sequence[Any]) -> Sequence[Any] | None:
    """The arguments before the sizes of a form that takes them one by one; None if they are none."""
    before = form[3] - 1
    sizes = args[before:]
    if len(sizes) == 1 and not _is_int(sizes[0]):
        sizes = sizes[0]
    return args[:before] if _is_list(sizes) else None


def _fits(form: _Form, args: Sequence[Any], keywords: dict[str, Any], lenient: bool) -> bool:
    _, names, kinds, positional, required, variadic = form
    tests = _LENIENT if lenient else _STRICT
    if variadic and names[positional - 1] not in keywords:
        before = _take_sizes(form, args)
        if before is None:
            return False
        args, required = before, required - 1
    if len(args) > positional:
        return False
    given = dict(zip(names, args))
    for name, value in keywords.items():
        if name in ("out", "requires_grad"):
            continue
        if name not in names or name in given:
            return False
        given[name] = value
    if any(name not in given for name in names[:required]):
        return False
    return all(v is None or tests[kinds[names.index(n)]](v) for n, v in given.items())


def choose(function: Any, forms: Sequence[_Form], args: Any, keywords: dict[str, Any]) -> Any:
    """Calls the first form that takes the arguments."""
    for lenient in (False, True):
        for form in forms:
            if _fits(form, args, keywords, lenient):
                return form[0](*args, **keywords)
    found = [type(a).__name__ for a in args]
    found += [f"{name}={type(value).__name__}" for name, value in keywords.items()]
    wanted = " or ".join(f"({', '.join(form[1])})" for form in forms)
    raise TypeError(f"{function.__name__}: found ({', '.join(found)}), wanted {wanted}")
