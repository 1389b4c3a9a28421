# SPDX-License-Identifier: Apache-2.0
"""Library: the operators of a namespace, defined by schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._operators import OPERATORS, Operator, found, tensors_in
from ._schema import of_text

_Function = Callable[..., Any]

# Keys of PyTorch's dispatcher: kernels of a device, or of all; functions that are recorded.
_DEVICES = {"CPU": "cpu", "CUDA": "cuda", "Meta": "meta", "CompositeExplicitAutograd": ""}
_RECORDED = ("CompositeImplicitAutograd", "Autograd", "AutogradCPU", "AutogradCUDA")
_UNUSED = ("Functionalize", "Python", "AutocastXPU", "AutocastMPS", "AutocastMTIA")
# What is called in place of the operator while autocast is on.
_AUTOCAST = {"AutocastCPU": "cpu", "AutocastCUDA": "cuda"}


class Library:
    """Operators of a namespace that are defined by schemas: kind is "DEF", "FRAGMENT" or "IMPL"."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Library: kind is {kind!r}, wanted 'DEF', 'FRAGMENT' or 'IMPL'")
        if ns in ("aten", "prims", "prim") and kind != "IMPL":
            raise RuntimeError(f"Library: the namespace {ns} is not a program's own")
        if kind == "DEF" and ns in _DEFINED:
            raise RuntimeError(f"Library: {ns} is defined already; use kind 'FRAGMENT' or 'IMPL'")
        if kind == "DEF":
            _DEFINED.add(ns)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """A new operator; schema: "name(Tensor x, float a=1.0) -> Tensor". Returns its name."""
        if self.kind == "IMPL":
            raise RuntimeError("Library.define: a library of kind 'IMPL' defines nothing")
        expected = of_text(self.ns, schema)
        name = expected.name.partition("::")[2]
        if name in OPERATORS.get(self.ns, {}):
            raise RuntimeError(f"Library.define: {expected.name} is defined already")
        operator = Operator(expected)
        operator.strict = False
        OPERATORS.setdefault(self.ns, {})[name] = operator
        return name

    def impl(
        self,
        op_name: Any,
        fn: _Function,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """The function behind an operator, for a key of PyTorch's dispatcher. Its calls are
        recorded, unless the operator has a gradient of its own."""
        name = op_name if isinstance(op_name, str) else op_name._name
        short = name.partition("::")[2] if "::" in name else name
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if self.ns == "aten":
            raise NotImplementedError(
                f"Library.impl: aten::{short} is libdl's own and cannot be replaced"
            )
        if with_keyset:
            raise NotImplementedError(
                "Library.impl: with_keyset=True: there are no sets of dispatch keys"
            )
        operator = found(f"{self.ns}::{short}")
        if key in _DEVICES:
            operator.kernels[_DEVICES[key]] = fn
            if operator.composite is None:
                operator.composite, operator.by_device = _by_device(operator), True
        elif key in _RECORDED:
            operator.composite, operator.by_device = fn, False
        elif key in _AUTOCAST:
            operator.autocast[_AUTOCAST[key]] = fn
        elif key not in _UNUSED:
            raise NotImplementedError(f"Library.impl: the key {key!r} stands for nothing here")


_DEFINED: set[str] = set()


def _by_device(operator: Operator) -> _Function:
    def run(*args: Any, **kwargs: Any) -> Any:
        return operator.kernel(tensors_in([*args, *kwargs.values()]))(*args, **kwargs)

    return run


Library.__module__ = "libdl.library"
