# SPDX-License-Identifier: Apache-2.0
"""Arguments of traced functions: a placeholder for each, or for each place in a structure."""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .. import _assert
from .._package_name import is_own
from ..utils import _pytree as pytree
from ._code import CodeGen
from .node import has_side_effect
from .proxy import Proxy

if TYPE_CHECKING:
    from ._symbolic_trace import Tracer


class _PH:
    """In concrete_args: a place for a traced value."""

    def __repr__(self) -> str:
        return "PH"


PH = _PH()
_STARS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
_CHECKED = (bool, int, float, str, complex)


@has_side_effect
def _assert_is_none(value: object, message: str) -> None:
    assert value is None, message


class StructureCodeGen(CodeGen):
    """The code of a graph whose arguments or result are structures: it takes them apart into the
    placeholders, and puts the result together."""

    def __init__(self, names: list[str], in_spec: pytree.TreeSpec) -> None:
        self.names, self.in_spec = names, in_spec
        self.out_spec: pytree.TreeSpec = pytree.LeafSpec()

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        places = [variable.partition(":")[0].partition("=")[0].strip() for variable in free_vars]
        text = "".join(f"{name}, " for name in self.names)
        return (
            f"{super().gen_fn_def(self.names, maybe_return_annotation)}\n"
            f"    {', '.join(places)}, = self._in_spec.flatten_up_to(({text}))"
        )

    def generate_output(self, output_args: Any) -> str:
        return f"return self._out_spec.unflatten({output_args})"

    def process_inputs(self, *args: Any) -> list[Any]:
        return self.in_spec.flatten_up_to(args)

    def process_outputs(self, outputs: Any) -> Any:
        return self.out_spec.unflatten(outputs)


def annotation_of(function: Callable[..., Any], name: str) -> Any:
    """The type of a parameter, or of the result ("return"); the library's own functions say nothing
    here, as in PyTorch."""
    if is_own(function.__module__ or ""):
        return None
    return getattr(function, "__annotations__", {}).get(name)


class Placeholders:
    """Makes the arguments with which a function is traced."""

    def __init__(
        self,
        tracer: Tracer,
        function: Callable[..., Any],
        is_module: bool,
        concrete: dict[str, Any],
    ) -> None:
        self.tracer, self.function, self.concrete = tracer, function, concrete
        self.is_module = is_module
        parameters = list(inspect.signature(function).parameters.values())
        if is_module and not parameters:
            raise RuntimeError("trace: forward has no parameter, wanted self")
        self.parameters = parameters[1:] if is_module else parameters
        unknown = set(concrete) - {parameter.name for parameter in self.parameters}
        if unknown:
            raise RuntimeError(
                f"trace: concrete_args has {sorted(unknown)[0]!r}, which is no "
                "argument of the traced function"
            )

    def made(self) -> tuple[Callable[[], Any], list[Any]]:
        """The function to run, and its arguments: none are left."""
        values = {p.name: self._value(p) for p in self.parameters}
        specs = [pytree.tree_structure(self.concrete.get(p.name)) for p in self.parameters]
        if all(spec.is_leaf() for spec in specs):
            return lambda: self._called(values), []
        in_spec = pytree.TreeSpec(tuple, None, specs)
        codegen = StructureCodeGen([p.name for p in self.parameters], in_spec)
        self.tracer.graph.set_codegen(codegen)

        def flat() -> Any:
            leaves, codegen.out_spec = pytree.tree_flatten(self._called(values))
            return leaves

        return flat, []

    def _called(self, values: dict[str, Any]) -> Any:
        root = [self.tracer.root] if self.is_module else []
        if any(p.kind in _STARS for p in self.parameters):
            return _without_stars(self.function)(*root, **values)
        args = [values[p.name] for p in self.parameters if p.kind is not p.KEYWORD_ONLY]
        kwargs = {p.name: values[p.name] for p in self.parameters if p.kind is p.KEYWORD_ONLY}
        return self.function(*root, *args, **kwargs)

    def _value(self, parameter: inspect.Parameter) -> Any:
        name = parameter.name
        if name not in self.concrete:
            return self._placeholder(parameter, None)
        count = 0

        def place(value: Any) -> Any:
            nonlocal count
            count += 1
            proxy = self._placeholder(parameter, f"{name}_{count}")
            return proxy if value is PH else self._specialised(name, value, proxy)

        return pytree.tree_map(place, self.concrete[name])

    def _placeholder(self, parameter: inspect.Parameter, name: str | None) -> Proxy:
        target = name or _STARS.get(parameter.kind, "") + parameter.name
        default = () if parameter.default is parameter.empty else (parameter.default,)
        kind = None if name else annotation_of(self.function, parameter.name)
        return self.tracer.create_proxy("placeholder", target, default, {}, type_expr=kind)

    def _specialised(self, name: str, value: Any, proxy: Proxy) -> Any:
        """The value itself; the graph checks that it is called with an equal one."""
        text = f"{name} has been specialized to have value {value} but got another value"
        if value is None:
            self.tracer.create_proxy("call_function", _assert_is_none, (proxy, text), {})
        elif isinstance(value, _CHECKED):
            _assert(operator.eq(proxy, value), text)
        else:
            warnings.warn(
                f"the graph does not check that {name} is {value!r}, for which it was traced",
                stacklevel=6,
            )
        return value


def _without_stars(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with *args and **kwargs as parameters like the others, which a proxy can be."""
    inner = inspect.unwrap(function)
    if not isinstance(inner, FunctionType):
        raise TypeError(f"trace: {function!r} takes * or **, and is not a function of Python's")
    code, stars = inner.__code__, inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    count = code.co_argcount + code.co_kwonlyargcount + (code.co_flags & stars).bit_count()
    plain = code.replace(
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=code.co_flags & ~stars,
    )
    return FunctionType(plain, inner.__globals__, inner.__name__, None, inner.__closure__)
