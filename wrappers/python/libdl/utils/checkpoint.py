# SPDX-License-Identifier: Apache-2.0
"""Checkpointing: values of a part of the network are computed again in backward, not kept."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _C, _random
from .._C import Tensor
from .._modes import enable_grad
from ..autograd import backward as run_backward, graph
from ..autograd.function import Function

__all__ = ["checkpoint", "checkpoint_sequential"]


class _Replay:
    """Runs the function again, drawing the same random numbers."""

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any, keep: bool) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.state = _random.get_rng_state() if keep else None

    def __call__(self) -> Any:
        if self.state is None:
            return self.function(*self.args, **self.kwargs)
        with _random.fork_rng():
            _random.set_rng_state(self.state)
            return self.function(*self.args, **self.kwargs)


class _Frame:
    """What one checkpoint saved: places that are filled by running the function once more."""

    def __init__(self, replay: _Replay) -> None:
        self.replay = replay
        self.count = 0
        self.values: dict[int, Tensor] = {}

    def pack(self, tensor: Tensor) -> int:
        self.count += 1
        return self.count - 1

    def unpack(self, place: int) -> Tensor:
        if place not in self.values:
            self._fill()
        return self.values.pop(place)

    def _fill(self) -> None:
        self.values = {}

        def keep(tensor: Tensor) -> int:
            self.values[len(self.values)] = tensor
            return 0

        def refuse(packed: Any) -> Tensor:
            raise RuntimeError("checkpoint: backward ran inside the function that is replayed")

        with enable_grad(), graph.saved_tensors_hooks(keep, refuse):
            self.replay()
        if len(self.values) != self.count:
            raise RuntimeError(
                f"checkpoint: the function saved {self.count} values at first and "
                f"{len(self.values)} when it was run again; it must do the same each time"
            )


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool = False,
    preserve_rng_state: bool = True,
    context_fn: Any = None,
    determinism_check: str = "default",
    debug: bool = False,
    **kwargs: Any,
) -> Any:
    """function(*args), whose inner values are not kept: backward runs it again.

    Arguments:
        function: does the same each time it is called
        preserve_rng_state: whether the second run draws the same random numbers
        use_reentrant: whether backward runs inside backward, PyTorch's first way
    """
    replay = _Replay(function, args, kwargs, preserve_rng_state)
    if not _C.grad_enabled():
        return function(*args, **kwargs)
    if use_reentrant:
        return _Reentrant.apply(function, preserve_rng_state, *args)
    frame = _Frame(replay)
    with graph.saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args, **kwargs)


class _Reentrant(Function):
    @staticmethod
    def forward(ctx: Any, function: Any, keep: bool, *args: Any) -> Any:
        ctx.function, ctx.keep, ctx.args = function, keep, args
        ctx.state = _random.get_rng_state() if keep else None
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        args = [
            value.detach().requires_grad_(value.requires_grad)
            if isinstance(value, Tensor) else value
            for value in ctx.args
        ]  # fmt: skip
        replay = _Replay(ctx.function, args, {}, False)
        replay.state = ctx.state
        with enable_grad():
            outputs = replay()
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [
            (out, gradient) for out, gradient in zip(outputs, gradients, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]  # fmt: skip
        run_backward([out for out, _ in pairs], [gradient for _, gradient in pairs])
        return (None, None, *(v.grad if isinstance(v, Tensor) else None for v in args))


def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]], segments: int, input: Any, **options: Any
) -> Any:
    """A chain of functions, cut into segments that are checkpointed each."""
    functions = list(functions)
    size = max(1, len(functions) // segments)

    def run(part: list[Callable[..., Any]]) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            for function in part:
                x = function(x)
            return x

        return forward

    last = size * (segments - 1)
    for start in range(0, last, size):
        input = checkpoint(run(functions[start : start + size]), input, **options)
    return run(functions[last:])(input)


from .._missing import public as _public_names  # noqa: E402

__dir__ = _public_names(__name__)
