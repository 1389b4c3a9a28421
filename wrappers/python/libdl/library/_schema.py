# SPDX-License-Identifier: Apache-2.0
"""What an operator takes and returns: read from annotations, or from a schema's text."""

from __future__ import annotations

import ast
import collections.abc
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .._C import Tensor
from .._types import device, dtype

Parameter = inspect.Parameter
_PLAIN = {
    Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    dtype: "ScalarType",
    device: "Device",
}
_LISTS = (list, collections.abc.Sequence)


class Schema:
    """The parameters, each with the word for what it takes as annotation, and words for results."""

    def __init__(
        self, name: str, parameters: Sequence[Parameter], results: str, mutated: Iterable[str] = ()
    ) -> None:
        self.name, self.results, self.mutated = name, results, frozenset(mutated)
        self.signature = inspect.Signature(parameters)

    def bind(self, args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
        """The values by position, and those that are given by name only; defaults are filled in."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise RuntimeError(f"{self.name}: {error}; it is {self}") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            word = self.signature.parameters[name].annotation
            if not _fits(word, value):
                raise RuntimeError(
                    f"{self.name}: argument {name} is {type(value).__name__}, wanted "
                    f"{word}; it is {self}"
                )
        return list(bound.args), dict(bound.kwargs)

    def __str__(self) -> str:
        parts, by_name = [], False
        for i, p in enumerate(self.signature.parameters.values()):
            if p.kind is Parameter.KEYWORD_ONLY and not by_name:
                by_name = True
                parts.append("*")
            word = p.annotation
            if p.name in self.mutated:
                word = word.replace("Tensor", f"Tensor(a{i}!)", 1)
            parts.append(
                f"{word} {p.name}" + ("" if p.default is Parameter.empty else f"={p.default}")
            )
        return f"{self.name}({', '.join(parts)}) -> {self.results}"


def _fits(word: str, value: Any) -> bool:
    if word.endswith("?"):
        return value is None or _fits(word[:-1], value)
    if word.endswith("]"):
        item = word[: word.rindex("[")]
        return isinstance(value, (list, tuple)) and all(_fits(item, x) for x in value)
    if word == "Tensor":
        return isinstance(value, Tensor)
    if word in ("int", "SymInt"):
        return hasattr(value, "__index__") and not isinstance(value, (bool, Tensor))
    if word in ("float", "Scalar"):
        return isinstance(value, (int, float, complex)) or hasattr(value, "__float__")
    return {"bool": bool, "str": str}.get(word, object) is object or isinstance(
        value, {"bool": bool, "str": str}[word]
    )


def _word(annotation: Any) -> str | None:
    """Tensor, float?, Tensor[] ...; None: of no kind that an operator takes."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        rest = [x for x in inner if x is not type(None)]
        if len(rest) + 1 == len(inner) and len(rest) == 1:
            held = _word(rest[0])
            return None if held is None else f"{held}?"
        return "Scalar" if set(inner) == {int, float, bool} else None
    if origin in _LISTS and len(inner) == 1:
        held = _word(inner[0])
        return None if held is None else f"{held}[]"
    return None


def _results(annotation: Any) -> str | None:
    if annotation is None or annotation is type(None):
        return "()"
    if typing.get_origin(annotation) is tuple:
        words = [_word(x) for x in typing.get_args(annotation)]
        return None if None in words else f"({', '.join(map(str, words))})"
    return _word(annotation)


def of_function(name: str, function: Callable[..., Any], mutated: Any) -> Schema:
    """The schema that annotations tell; each parameter and the result must have one."""
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)
    parameters = []
    for p in signature.parameters.values():
        if p.name not in hints:
            raise ValueError(f"infer_schema: parameter {p.name} of {name} has no annotation")
        word = _word(hints[p.name])
        if word is None or p.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            raise ValueError(
                f"infer_schema: parameter {p.name} of {name} is {hints[p.name]}, wanted "
                "Tensor, int, float, bool, str, dtype or device, one of them or None, "
                "or a list of them"
            )
        parameters.append(p.replace(annotation=word))
    if "return" not in hints:
        raise ValueError(f"infer_schema: {name} has no annotation of what it returns")
    results = _results(hints["return"])
    if results is None:
        raise ValueError(
            f"infer_schema: {name} returns {hints['return']}, wanted tensors, numbers, a "
            "tuple of them, or None"
        )
    names = {p.name for p in parameters if "Tensor" in p.annotation}
    chosen = names if mutated == "unknown" else set(mutated)
    if not chosen <= {p.name for p in parameters}:
        raise ValueError(
            f"infer_schema: mutates_args has {sorted(chosen - names)}, which {name} does not take"
        )
    return Schema(name, parameters, results, chosen)


def of_text(namespace: str, text: str) -> Schema:
    """The schema of a text such as "scaled(Tensor x, *, float factor=1.0) -> Tensor"."""
    name, opened, rest = text.partition("(")
    inside, arrow, results = rest.rpartition("->")
    inside = inside.strip()
    if not opened or not arrow or not inside.endswith(")"):
        raise RuntimeError(f"library: found {text!r}, wanted name(Type argument, ...) -> Type")
    parameters, mutated = [], []
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD
    for part in _parts(inside[:-1]):
        if part == "*":
            kind = Parameter.KEYWORD_ONLY
            continue
        head, value, default = part.partition("=")
        word, _, argument = head.strip().rpartition(" ")
        if not word or not argument.isidentifier():
            raise RuntimeError(f"library: found {part!r} in {text!r}, wanted Type argument")
        before, mark, behind = word.partition("(")
        if mark:
            alias, _, tail = behind.partition(")")
            word = before + tail
            if "!" in alias:
                mutated.append(argument)
        parameters.append(
            Parameter(
                argument,
                kind,
                annotation=word.strip(),
                default=_default(default, argument) if value else Parameter.empty,
            )
        )
    return Schema(f"{namespace}::{name.strip()}", parameters, results.strip(), mutated)


def _parts(text: str) -> list[str]:
    """Split by commas that are in no brackets."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return [*parts, current.strip()] if current.strip() else parts


# What a default may be without being a literal: PyTorch's words for reductions, layouts and dtypes.
_WORDS = {
    "Mean",
    "bool",
    "byte",
    "cdouble",
    "cfloat",
    "channels_last",
    "char",
    "contiguous_format",
    "double",
    "float",
    "half",
    "int",
    "long",
    "preserve_format",
    "short",
    "strided",
}


def _default(text: str, argument: str) -> Any:
    word = text.strip()
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        if word in _WORDS:
            return word
        raise RuntimeError(
            f"library: the default of {argument} is {word}, wanted a number, True, False, None, a "
            "string in quotation marks or a list"
        ) from None
