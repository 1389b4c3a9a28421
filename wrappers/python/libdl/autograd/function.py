# SPDX-License-Identifier: Apache-2.0
"""Differentiable functions written in Python."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable
from typing import Any

from .. import _C
from .._C import Tensor
from .._errors import AutogradError
from .._modes import no_grad
from .._overrides import of_values
from .forward_ad import Split, split_duals


class FunctionCtx:
    """The context that forward passes to backward. Any attributes may be set on it."""

    needs_input_grad: tuple[bool, ...] = ()
    _to_save: tuple[Tensor | None, ...] | None = ()  # None: the node has them
    _for_forward: tuple[Tensor | None, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _non_differentiable: tuple[Tensor, ...] = ()
    _absent: list[bool] = []
    _materialize = True
    _pass: Any = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Saves inputs, outputs or other tensors; backward finds them in saved_tensors."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward: found a {type(tensor).__name__}, wanted tensors or None"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Like save_for_backward, for jvp; without this call, jvp finds the same as backward."""
        self._for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declares that forward wrote these inputs in place; it must return them."""
        _all_tensors("mark_dirty", tensors)
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declares that these outputs have no history."""
        _all_tensors("mark_non_differentiable", tensors)
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (True) or None for outputs without a gradient."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The saved tensors, unchanged and with their history."""
        if self._pass is None:
            if self._to_save is None:
                raise RuntimeError(
                    "saved_tensors: no backward pass runs, and only then are they "
                    "there after forward"
                )
            return self._to_save
        present = itertools.count()
        return tuple(
            None if absent else _C.pass_saved(self._pass, next(present)) for absent in self._absent
        )


class _Backward:
    """The callable that the engine calls: one gradient for each tensor input of forward."""

    def __init__(
        self, function: type[Function], ctx: Any, places: list[int], count: int, outputs: list[bool]
    ) -> None:
        self.function, self.ctx, self.places, self.count = function, ctx, places, count
        self.outputs = outputs  # which of them are tensors

    def __call__(self, held: Any, gradients: tuple[Tensor | None, ...]) -> tuple[Any, ...]:
        ctx = self.ctx
        if ctx._materialize:
            gradients = tuple(
                _C.pass_zeros(held, i) if gradient is None else gradient
                for i, gradient in enumerate(gradients)
            )
        arriving = iter(gradients)
        gradients = tuple(next(arriving) if tensor else None for tensor in self.outputs)
        outer, ctx._pass = ctx._pass, held
        try:
            answer = _rule(self.function)(ctx, *gradients)
        finally:
            ctx._pass = outer
        if not isinstance(answer, tuple):
            answer = tuple(answer) if isinstance(answer, list) else (answer,)
        name = self.function.__name__
        if len(answer) < self.count:
            raise RuntimeError(
                f"{name}.backward returned {len(answer)} gradients, wanted {self.count}, one for "
                "each argument of forward"
            )
        places = set(self.places)
        for i, extra in enumerate(answer):
            if extra is not None and i not in places:
                what = "is no tensor" if i < self.count else "does not exist"
                raise RuntimeError(
                    f"{name}.backward returned a gradient for argument {i + 1}, which {what}"
                )
        return tuple(answer[i] for i in self.places)


def _rule(function: type[Function]) -> Callable[..., Any]:
    """backward, under whichever of its two names the class has it."""
    if function.vjp is Function.vjp:
        return function.backward
    if function.backward is not Function.backward:
        raise RuntimeError(f"{function.__name__} has both backward and vjp, wanted one of them")
    return function.vjp


def _all_tensors(method: str, values: tuple[Any, ...]) -> None:
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise RuntimeError(
                f"{method}: argument {i + 1} is a {type(value).__name__}, wanted a tensor"
            )


_LEVELS = f"{__package__.rpartition('.')[0]}._vmap_levels"  # loaded by the first vmap


class Function:
    """A function with its own gradient. Subclasses define the static methods forward(ctx, ...) and
    backward(ctx, ...), and for forward mode jvp(ctx, ...), which takes a tangent for each argument
    and returns one for each output. Call it with Class.apply(...)."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method backward")

    vjp = backward
    generate_vmap_rule = False  # whether vmap runs forward once for each sample

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method jvp for forward mode")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs forward, and records that backward computes the gradients of the arguments."""
        if kwargs and any(
            isinstance(value, Tensor) and value.requires_grad for value in kwargs.values()
        ):
            args, kwargs = _by_position(cls, args, kwargs)
        open_levels = sys.modules.get(_LEVELS)
        if open_levels is not None and open_levels.OPEN.levels:
            from ..func._custom import applied, innermost

            level = innermost(args, open_levels.OPEN.levels)
            if level is not None:
                return applied(level, cls, args, kwargs)
        inputs, splits = args, split_duals(args)
        if splits:
            args = splits[-1].values
        places = [i for i, value in enumerate(args) if isinstance(value, Tensor)]
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(
            isinstance(value, Tensor) and value.requires_grad for value in args
        )
        separate = cls.setup_context is not Function.setup_context
        with no_grad():
            if separate:
                answer = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, answer)
            else:
                answer = cls.forward(ctx, *args, **kwargs)
        if not splits:
            return _recorded(cls, ctx, args, places, answer)
        to_save = ctx._to_save or ()
        saved = ctx._for_forward or to_save
        # Arguments that backward finds have their tangents.
        as_given = {id(bare): x for bare, x in zip(args, inputs, strict=True)}
        ctx._to_save = tuple(as_given.get(id(x), x) for x in to_save)
        answer = _recorded(cls, ctx, inputs, places, answer, args)
        # Outermost level first: jvp in one level sees the tangents of the levels around it.
        for split in reversed(splits):
            seen = {id(bare): x for bare, x in zip(args, split.values, strict=True)}
            values = tuple(seen.get(id(x), x) for x in saved)
            _push_forward(cls, ctx, split.values, values, answer, split)
        return answer


def _by_position(
    cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments as backward counts them, so that no gradient gets lost."""
    import inspect  # slow, and seldom needed

    separate = cls.setup_context is not Function.setup_context
    hidden = () if separate else (None,)  # the context
    bound = inspect.signature(cls.forward).bind(*hidden, *args, **kwargs)
    for name, value in bound.kwargs.items():
        if isinstance(value, Tensor) and value.requires_grad:
            raise TypeError(
                f"{cls.__name__}.apply: {name} requires grad, wanted a tensor that "
                "does not, as forward takes it only by name"
            )
    return bound.args[len(hidden) :], bound.kwargs


def _push_forward(
    cls: type[Function], ctx: Any, args: Any, saved: Any, answer: Any, split: Split
) -> None:
    """Gives the answer the tangents of one level, which jvp computes."""
    tangents = split.tangents
    if cls.jvp is Function.jvp:
        raise NotImplementedError(
            f"{cls.__name__} was reached by forward mode and has no static method jvp"
        )
    if ctx._dirty:
        raise RuntimeError(f"{cls.__name__} writes in place, which forward mode cannot follow")
    if ctx._materialize:
        tangents = [
            x.detach().new_zeros(x.shape) if tangent is None and isinstance(x, Tensor) else tangent
            for x, tangent in zip(args, tangents, strict=True)
        ]
    outer, ctx._to_save, ctx._pass = (ctx._to_save, ctx._pass), saved, None
    try:
        returned = cls.jvp(ctx, *tangents)
    finally:
        ctx._to_save, ctx._pass = outer
    single = isinstance(answer, Tensor)
    values = [answer] if single else list(answer)
    returned = [returned] if single and not isinstance(returned, tuple) else list(returned)
    if len(returned) != len(values):
        raise RuntimeError(
            f"{cls.__name__}.jvp returned {len(returned)} tangents, wanted {len(values)}, one for "
            "each output of forward"
        )
    for value, tangent in zip(values, returned, strict=True):
        if tangent is not None:
            of_values(_C.forward_set_tangent, value, tangent, split.identity)


def _recorded(
    cls: type[Function], ctx: Any, args: Any, places: list[int], answer: Any, seen: Any = None
) -> Any:
    """The answer with its history; seen: the arguments as forward saw them, if they differ."""
    if not _C.grad_enabled() or not any(ctx.needs_input_grad):
        return answer
    single = not isinstance(answer, (tuple, list))
    values = [answer] if single else list(answer)
    inputs = [args[i] for i in places]
    dirty = {id(tensor) for tensor in ctx._dirty}
    for i, value in enumerate(values):
        # An argument that is returned unchanged becomes a new tensor.
        if isinstance(value, Tensor) and id(value) not in dirty:
            if any(value is (seen or args)[i] for i in places):
                values[i] = value.detach().view(value.shape)
    tensors = [value for value in values if isinstance(value, Tensor)]
    if dirty and not dirty <= {id(value) for value in tensors}:
        raise RuntimeError(
            f"{cls.__name__}.forward does not return an argument that it marked as dirty"
        )
    if not tensors:
        return answer
    excluded = {id(tensor) for tensor in ctx._non_differentiable}
    flags = [
        id(value) not in excluded and (value.dtype.is_floating_point or value.dtype.is_complex)
        for value in tensors
    ]
    ctx._absent = [tensor is None for tensor in ctx._to_save]
    outputs = [isinstance(value, Tensor) for value in values]
    back = _Backward(cls, ctx, places, len(args), outputs)
    held = tuple(tensor for tensor in ctx._to_save if tensor is not None)
    of_values(_C.record_function, cls.__name__, back, inputs, tensors, flags, held, False)
    # The node keeps the values and checks them. The context, which the node also keeps, must not.
    ctx._to_save = None
    ctx._dirty = ctx._non_differentiable = ()
    return values[0] if single else type(answer)(values)


class InplaceFunction(Function):
    """A Function that remembers whether it is to write its result into the input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class _Constant(Function):
    """Passes a value on. Whoever differentiates it by a cause is told that this is not possible."""

    @staticmethod
    def forward(ctx: Any, name: str, value: Tensor, *causes: Tensor) -> Tensor:
        ctx.name = name
        return value

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise AutogradError(
            f"{ctx.name}: is once differentiable, and a second derivative was asked for"
        )


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a backward that cannot be differentiated itself: a second derivative then raises."""

    @functools.wraps(function)
    def unrecorded(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            answer = function(ctx, *gradients)
        if not _C.grad_enabled():
            return answer
        causes = [
            x for x in (*gradients, *ctx.saved_tensors) if isinstance(x, Tensor) and x.requires_grad
        ]
        name = function.__qualname__.removesuffix(".backward").rpartition(".")[2]

        def marked(value: Any) -> Any:
            is_constant = causes and isinstance(value, Tensor)
            return _Constant.apply(name, value.detach(), *causes) if is_constant else value

        return tuple(map(marked, answer)) if isinstance(answer, tuple) else marked(answer)

    return unrecorded
