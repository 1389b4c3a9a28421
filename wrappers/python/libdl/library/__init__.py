# SPDX-License-Identifier: Apache-2.0
"""Operators that a program defines: custom_op, Library, and what is registered for them. They are
called as torch.ops.namespace.name, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

from ._library import _DEVICES, Library
from ._operators import OPERATORS, Operator, found, split
from ._schema import of_function, of_text

if TYPE_CHECKING:
    from ..ops import OpOverload

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

_Function = Callable[..., Any]


class CustomOpDef:
    """An operator that custom_op made: it is called like the function."""

    def __init__(self, namespace: str, name: str, operator: Operator, function: _Function) -> None:
        self._namespace, self._name, self._qualname = namespace, name, f"{namespace}::{name}"
        self._init_fn = function
        OPERATORS.setdefault(namespace, {})[name] = operator

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return found(self._qualname)(*args, **kwargs)

    @property
    def _opoverload(self) -> OpOverload:
        from .. import ops

        overload: OpOverload = getattr(getattr(ops, self._namespace), self._name).default
        return overload

    def register_fake(self, fn: _Function, /) -> _Function:
        """The function that computes the results' shapes, for tensors on meta; returns it."""
        register_fake(self._qualname, fn)
        return fn

    def register_autograd(
        self, backward: _Function, /, *, setup_context: _Function | None = None
    ) -> None:
        """backward(ctx, *gradients) returns a gradient for each argument by position;
        setup_context(ctx, inputs, output) keeps what it needs."""
        found(self._qualname).register_autograd(backward, setup_context)

    def register_kernel(self, device_types: Any, fn: _Function | None = None, /) -> Any:
        """The function that computes on devices of these types; a decorator without it."""
        return register_kernel(self._qualname, device_types, fn)

    def register_vmap(self, func: _Function | None = None) -> Any:
        """func(info, in_dims, *args) returns results and their dimensions, for vmap."""
        return register_vmap(self._qualname, func)

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Any = None, /) -> NoReturn:
        """Raises: nothing is dispatched by __torch_dispatch__."""
        register_torch_dispatch(self._qualname, torch_dispatch_class, fn)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> NoReturn:
        """Raises: autocast knows libdl's own operators."""
        register_autocast(self._qualname, device_type, cast_inputs)


@overload
def custom_op(
    name: str,
    fn: None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: object = None,
) -> Callable[[_Function], CustomOpDef]: ...
@overload
def custom_op(
    name: str,
    fn: _Function,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: object = None,
) -> CustomOpDef: ...
def custom_op(
    name: str,
    fn: _Function | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: object = None,
) -> Any:
    """Makes a function an operator, "namespace::name", which records no call inside of it.

    Arguments:
        mutates_args: names of the arguments that it writes, or "unknown": all tensors
        device_types: where this function computes; None: everywhere
        schema: what it takes and returns; None: as its annotations tell
        tags: has no effect
    """
    namespace, short = split(name)

    def define_it(function: _Function) -> CustomOpDef:
        expected = (
            of_function(name, function, mutates_args)
            if schema is None
            else of_text(namespace, schema if schema.lstrip()[:1] != "(" else short + schema)
        )
        operator = Operator(expected)
        for kind in _kinds(device_types):
            operator.kernels[kind] = function
        return CustomOpDef(namespace, short, operator, function)

    return define_it if fn is None else define_it(fn)


def _kinds(device_types: Any) -> list[str]:
    if device_types is None or device_types == "default":
        return [""]
    return [device_types] if isinstance(device_types, str) else list(device_types)


def infer_schema(
    prototype_function: _Function, /, *, mutates_args: object, op_name: str | None = None
) -> str:
    """The schema that a function's annotations tell, as text."""
    text = str(of_function(op_name or "", prototype_function, mutates_args))
    return text


def define(
    qualname: str | Library,
    schema: str,
    alias_analysis: str = "",
    *,
    lib: Library | None = None,
    tags: object = (),
) -> Any:
    """A new operator "namespace::name" with a schema "(Tensor x) -> Tensor". With a library first
    it is a decorator of the operator's function."""
    if isinstance(qualname, Library):
        library = qualname

        def define_it(function: _Function) -> _Function:
            library.impl(library.define(schema, alias_analysis), function)
            return function

        return define_it
    namespace, name = split(qualname)
    (lib or Library(namespace, "FRAGMENT")).define(name + schema)


def impl(
    qualname: str | Library,
    types: object = None,
    func: Any = None,
    *,
    lib: Library | None = None,
    name: str | None = None,
    dispatch_key: str = "",
) -> Any:
    """The function of an operator for types of devices, or "default"; a decorator without func.
    impl(library, name, key) is a decorator of the function for a key of PyTorch's dispatcher."""
    if isinstance(qualname, Library):
        return _impl_of(qualname, types if name is None else name, func or dispatch_key)
    namespace, short = split(qualname)

    def register(function: _Function) -> None:
        library = lib or Library(namespace, "FRAGMENT")
        for kind in _kinds(types):
            library.impl(short, function, _key_of(kind))

    return register if func is None else register(func)


def _impl_of(library: Library, name: object, key: str) -> Callable[[_Function], _Function]:
    def register(function: _Function) -> _Function:
        library.impl(name, function, key)
        return function

    return register


def _key_of(kind: str) -> str:
    keys = {value: key for key, value in _DEVICES.items()}
    return keys.get(kind, kind)


def _named(op: Any) -> Operator:
    if isinstance(op, str):
        return found(op)
    packet = getattr(op, "overloadpacket", op)
    name = getattr(op, "_qualname", None) or getattr(packet, "_qualified_op_name", None)
    if name is None:
        raise TypeError(f"library: found {op!r}, wanted an operator or its name, namespace::name")
    return found(name)


def register_fake(
    op: Any,
    func: _Function | None = None,
    /,
    *,
    lib: object = None,
    _stacklevel: int = 1,
    allow_override: bool = False,
) -> Any:
    """The function that computes the results' shapes, for tensors on meta; a decorator without it.
    Calls on other devices compute real tensors."""
    return register_kernel(op, "meta", func)


impl_abstract = register_fake


def register_autograd(
    op: Any, backward: _Function, /, *, setup_context: _Function | None = None, lib: object = None
) -> None:
    """The gradient of an operator; see CustomOpDef.register_autograd."""
    _named(op).register_autograd(backward, setup_context)


def register_kernel(
    op: Any, device_types: object, func: _Function | None = None, /, *, lib: object = None
) -> Any:
    """The function that computes on devices of these types; a decorator without it."""
    operator = _named(op)

    def register(function: _Function) -> _Function:
        for kind in _kinds(device_types):
            operator.kernels[kind] = function
        return function

    return register if func is None else register(func)


def register_vmap(op: Any, func: _Function | None = None, /, *, lib: object = None) -> Any:
    """func(info, in_dims, *args) returns results and their dimensions, for vmap."""
    operator = _named(op)

    def register(function: _Function) -> _Function:
        operator.batch_rule, operator._function = function, None
        return function

    return register if func is None else register(func)


def register_torch_dispatch(
    op: Any, torch_dispatch_class: object, func: Any = None, /, *, lib: object = None
) -> NoReturn:
    """Raises: nothing is dispatched by __torch_dispatch__."""
    raise NotImplementedError(
        "library.register_torch_dispatch: there is no __torch_dispatch__ here; "
        "overrides.TorchFunctionMode sees calls"
    )


def register_autocast(
    op: Any, device_type: str, cast_inputs: object, /, *, lib: object = None
) -> NoReturn:
    """Raises: autocast knows libdl's own operators."""
    raise NotImplementedError(
        "library.register_autocast: autocast converts the arguments of libdl's own "
        "operators; convert them in the kernel"
    )


def opcheck(
    op: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = (
        "test_schema",
        "test_autograd_registration",
        "test_faketensor",
        "test_aot_dispatch_dynamic",
    ),
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Whether a program's operator does what was registered for it, for these arguments.

    test_schema: it writes no other arguments than the schema says, and its results have memory of
    their own. test_autograd_registration: results that require grad have a registered gradient.
    test_faketensor: register_fake's function tells shapes, strides and dtypes of the real results.
    test_aot_dispatch_static and _dynamic: nothing is compiled here; a backward pass runs, and a
    second call gives the same results and gradients, within atol and rtol. Whether gradients are
    right is for autograd.gradcheck to tell.

    Returns "SUCCESS" by test. A failure raises OpCheckError, or is the exception that is returned
    if raise_exception is False.
    """
    from ._checks import OpCheckError, check

    tests = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    text = check(_named(op), args, kwargs or {}, tests, atol, rtol)
    for test, answer in text.items():
        if raise_exception and isinstance(answer, Exception):
            raise OpCheckError(f"library.opcheck: {test} failed: {answer}") from answer
    return text


def triton_op(
    name: str, fn: Any = None, /, *, mutates_args: object, schema: Literal[None] | str = None
) -> NoReturn:
    """Raises: kernels of Triton take PyTorch's own tensors."""
    raise NotImplementedError("library.triton_op: kernels of Triton take PyTorch's own tensors")


def wrap_triton(triton_kernel: object, /) -> NoReturn:
    """Raises: kernels of Triton take PyTorch's own tensors."""
    raise NotImplementedError("library.wrap_triton: kernels of Triton take PyTorch's own tensors")
