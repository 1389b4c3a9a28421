# SPDX-License-Identifier: Apache-2.0
"""Operators as a statically typed language shows them: what wrappers/rust and wrappers/cpp share.

An operator whose first tensor is called `input` is a method of it, every other a function. The
defaults are those of the comments' Python lines, which all languages have in common.
"""

from __future__ import annotations

from dataclasses import dataclass

from operators import Argument, Operator, Result


@dataclass(frozen=True)
class Typed:
    operator: Operator

    @property
    def name(self) -> str:
        return self.operator.name

    @property
    def receiver(self) -> Argument | None:
        """The argument that is the method's object."""
        first = self.operator.arguments[:1]
        is_input = first and first[0].kind == "tensor" and first[0].name == "input"
        return first[0] if is_input and not first[0].nullable else None

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments but the receiver, in C's order."""
        return self.operator.arguments[1:] if self.receiver else self.operator.arguments

    def default(self, argument: Argument) -> str | None:
        """The default in Python's words, "None" for what is absent; None if it must be given."""
        text = self.operator.default_of(argument.name)
        if text is not None:
            return text
        absent = (argument.nullable and argument.kind != "tensors") or argument.kind == "dtype"
        return "None" if absent and not self._python_wants(argument) else None

    def _python_wants(self, argument: Argument) -> bool:
        """A dtype that a Python line names without a default is what the operator is for."""
        return argument.kind == "dtype" and any(
            parameter.argument == argument.name and parameter.default is None
            for line in self.operator.python
            for parameter in line.parameters
        )

    @property
    def required(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if self.default(a) is None)

    @property
    def has_short_form(self) -> bool:
        """Whether a call with what is required alone can mean something."""
        text = self.operator.documentation.parameters
        one_of_them = any("must be given" in text.get(a.name, "") for a in self.arguments)
        return self.required != self.arguments and not one_of_them

    @property
    def inplace(self) -> bool:
        """Whether Python has the form with an underscore, which writes the receiver."""
        return self.receiver is not None and any(
            "inplace" in line.flags for line in self.operator.python
        )

    @property
    def overwrites(self) -> bool:
        """An operator without results of its own: its object is the destination."""
        return not self.operator.has_new

    @property
    def destinations(self) -> tuple[str, ...]:
        results: tuple[Result, ...] = self.operator.results
        return ("dst",) if len(results) == 1 else tuple(f"{r.name}_dst" for r in results)


def sentences(typed: Typed, nothing: str) -> list[tuple[str, str]]:
    """The documentation in parts: ("", summary), (parameter, text), and the headed sections.
    `nothing` is the language's word for what C calls NULL and NONE."""

    def said(text: str) -> str:
        return text.replace("NULL", nothing).replace("NONE:", f"{nothing}:")

    document = typed.operator.documentation
    parts = [("", document.summary)]
    parts += [(name, said(text)) for name, text in document.parameters.items()]
    return [*parts, ("Gradient", said(document.gradient)), ("Errors", said(document.errors))]
