# SPDX-License-Identifier: Apache-2.0
"""Operators that programs define: a kernel for each kind of device, and a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _C
from .._autocast import is_autocast_enabled
from .._C import Tensor
from ..autograd.function import Function
from ._schema import Schema

OPERATORS: dict[str, dict[str, Operator]] = {}  # by namespace and name


def found(qualname: str) -> Operator:
    """The operator called "namespace::name"; RuntimeError if there is none."""
    namespace, _, name = qualname.partition("::")
    try:
        return OPERATORS[namespace][name.removesuffix(".default")]
    except KeyError:
        raise RuntimeError(f"library: the operator {qualname} does not exist") from None


def split(qualname: str) -> tuple[str, str]:
    namespace, colons, name = qualname.partition("::")
    if not colons or not namespace or not name:
        raise ValueError(f"library: found the name {qualname!r}, wanted namespace::name")
    return namespace, name


class Operator:
    """Calls the kernel for its tensors' device without recording, and records its own gradient."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.kernels: dict[str, Callable[..., Any]] = {}  # by device, "" for every one
        self.composite: Callable[..., Any] | None = None  # one that is recorded call by call
        self.by_device = False  # whether that is the kernel of a device
        self.backward: Callable[..., Any] | None = None
        self.setup: Callable[..., Any] | None = None
        self.batch_rule: Callable[..., Any] | None = None
        self.autocast: dict[str, Callable[..., Any]] = {}  # by device, while autocast is on there
        self.strict = True  # whether results may be no alias of arguments
        self._function: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values, named = self.schema.bind(args, kwargs)
        if self.autocast:
            value = tensors_in([*values, *named.values()])
            kind = value[0].device.type if value else "cpu"
            if kind in self.autocast and is_autocast_enabled(kind):
                return self.autocast[kind](*values, **named)
        composite = self.composite
        if "meta" in self.kernels and _on_meta([*values, *named.values()]):
            composite = None
        if composite is not None and self.backward is None:
            return composite(*values, **named)
        call = _Call(self, values, named)
        if self.schema.mutated and _C.grad_enabled():
            self._refuse_lost_gradients(values, named)
        if self._function is None:
            self._function = _function_of(self)
        return self._function.apply(call, *call.leaves)

    def _refuse_lost_gradients(self, values: list[Any], named: dict[str, Any]) -> None:
        if any(x.requires_grad for x in tensors_in([*values, *named.values()])):
            raise RuntimeError(
                f"{self.schema.name} writes {', '.join(sorted(self.schema.mutated))} and has no "
                "gradient, but a tensor requires grad; call it under no_grad, or define an "
                "operator that returns its result"
            )

    def kernel(self, tensors: list[Tensor]) -> Callable[..., Any]:
        kind = "meta" if _on_meta(tensors) else tensors[0].device.type if tensors else "cpu"
        chosen = self.kernels.get(kind) or self.kernels.get("") or self.composite
        if chosen is None:
            raise NotImplementedError(f"{self.schema.name} has no kernel for {kind}")
        return chosen

    def register_autograd(
        self, backward: Callable[..., Any], setup: Callable[..., Any] | None
    ) -> None:
        named = [p for p in self.schema.signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
        if self.schema.mutated:
            raise RuntimeError(
                f"register_autograd: {self.schema} writes its arguments, wanted an "
                "operator that returns its result"
            )
        if any("Tensor" in p.annotation for p in named):
            raise NotImplementedError(
                f"register_autograd: {self.schema} takes tensors by name only, "
                "and a gradient is for arguments by position"
            )
        self.backward, self.setup = backward, setup


def _on_meta(values: list[Any]) -> bool:
    return any(x.is_meta for x in tensors_in(values))


def tensors_in(values: list[Any]) -> list[Tensor]:
    results: list[Tensor] = []
    for x in values:
        results += (
            tensors_in(list(x))
            if isinstance(x, (list, tuple))
            else [x]
            if isinstance(x, Tensor)
            else []
        )
    return results


class _Call:
    """One call: its arguments as a flat list, in which each tensor of a list has its own place."""

    def __init__(self, operator: Operator, values: list[Any], named: dict[str, Any]) -> None:
        self.operator, self.named = operator, named
        self.sizes = [
            len(x) if isinstance(x, (list, tuple)) and tensors_in([x]) else None for x in values
        ]
        self.leaves: list[Any] = []
        for x, size in zip(values, self.sizes, strict=True):
            self.leaves += [x] if size is None else list(x)

    def nested(self, flat: Any) -> list[Any]:
        """What belongs to each argument: a list for a list of tensors."""
        left = iter(flat)
        return [
            next(left) if size is None else [next(left) for _ in range(size)] for size in self.sizes
        ]

    def flat(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """The reverse, of what a backward returned."""
        name = self.operator.schema.name
        if len(gradients) != len(self.sizes):
            raise RuntimeError(
                f"{name}: backward returned {len(gradients)} gradients, wanted "
                f"{len(self.sizes)}, one for each argument by position"
            )
        results: list[Any] = []
        for gradient, size in zip(gradients, self.sizes, strict=True):
            if size is None:
                results.append(gradient)
            elif gradient is None:
                results += [None] * size
            elif isinstance(gradient, (list, tuple)) and len(gradient) == size:
                results += gradient
            else:
                raise RuntimeError(
                    f"{name}: backward returned {type(gradient).__name__} for a list of "
                    f"{size} tensors, wanted a list of as many gradients"
                )
        return tuple(results)

    def run(self, values: list[Any]) -> Any:
        value = tensors_in([*values, *self.named.values()])
        answer = self.operator.kernel(value)(*values, **self.named)
        if self.operator.strict:
            held = {_C.tensor_storage_id(x) for x in value if x.numel()}
            for x in tensors_in([answer]):
                if x.numel() and _C.tensor_storage_id(x) in held:
                    raise RuntimeError(
                        f"{self.operator.schema.name} returned a tensor over the memory of an "
                        "argument or another result, wanted memory of its own: use clone()"
                    )
                held.add(_C.tensor_storage_id(x))
        return answer


class _Context:
    """What setup_context and backward of a program get: needs_input_grad has a list for a list."""

    def __init__(self, ctx: Any, call: _Call) -> None:
        object.__setattr__(self, "_held", ctx)
        object.__setattr__(self, "needs_input_grad", tuple(call.nested(ctx.needs_input_grad[1:])))

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_held"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._held, name, value)


def _function_of(operator: Operator) -> type[Function]:
    """A class for the operator, so that nodes are named after it."""

    def forward(call: _Call, *leaves: object) -> Any:
        return call.run(call.nested(leaves))

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        call, *leaves = inputs
        ctx._call = call
        if operator.setup is None or not any(ctx.needs_input_grad):
            return
        arguments = {
            "ctx": _Context(ctx, call),
            "inputs": tuple(call.nested(leaves)),
            "output": output,
        }
        if call.named:
            arguments["keyword_only_inputs"] = call.named
        operator.setup(**arguments)

    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        if operator.backward is None:
            raise RuntimeError(
                f"{operator.schema.name} has no gradient: register_autograd() gives it one"
            )
        answer = operator.backward(_Context(ctx, ctx._call), *gradients)
        answer = (
            tuple(answer)
            if isinstance(answer, (tuple, list)) and len(ctx._call.sizes) > 1
            else (answer if isinstance(answer, tuple) else (answer,))
        )
        return None, *ctx._call.flat(answer)

    def vmap(info: Any, in_dims: Any, call: _Call, *leaves: Any) -> Any:
        rule: Any = operator.batch_rule
        return rule(info, tuple(call.nested(in_dims[1:])), *call.nested(leaves), **call.named)

    result: dict[str, Any] = {
        "forward": forward,
        "setup_context": setup_context,
        "backward": backward,
    }
    body: dict[str, Any] = {name: staticmethod(function) for name, function in result.items()}
    if operator.batch_rule is not None:
        body["vmap"] = staticmethod(vmap)
    else:
        body["generate_vmap_rule"] = True
    name = operator.schema.name.replace("::", "_")
    return type(f"GeneratedBackwardFor_{name}_default", (Function,), body)
