# SPDX-License-Identifier: Apache-2.0
"""Checkpointing: a part of the network is recomputed in backward instead of saving its values."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import contextlib
import enum
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

from .. import _C, _autocast, _random
from .._C import Tensor
from .._errors import VersionError
from .._modes import enable_grad
from .._backward_passes import goes_to_all_leaves
from ..autograd import backward as run_backward, graph
from ..autograd.function import Function

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_early_stop",
    "set_device_states",
]

R = TypeVar("R")


class CheckpointPolicy(enum.Enum):
    """What a policy would say of an operator's result; see create_selective_checkpoint_contexts."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | list[Any], allow_cache_entry_mutation: bool = False
) -> NoReturn:
    """Raises: a policy is asked about PyTorch's own operators, which are not called here."""
    raise NotImplementedError(
        "checkpoint.create_selective_checkpoint_contexts: a policy chooses among PyTorch's own "
        "operators (aten), which are not called here; wrap only the parts that are to be computed "
        "again in checkpoint()"
    )


class SelectiveCheckpointContext:
    """What a policy is told first; see create_selective_checkpoint_contexts."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


class CheckpointError(RuntimeError):
    """A function that did something else when it was run again."""


class _Settings(threading.local):
    early_stop: bool | None = None  # None: as each checkpoint() says


_settings = _Settings()


class set_checkpoint_early_stop(contextlib.ContextDecorator):  # noqa: N801  (a context manager)
    """Whether functions that are checkpointed inside end, when they run again, with the last value
    that backward needs of them; without it as each checkpoint() says."""

    def __init__(self, enable: bool) -> None:
        self._enable = enable

    def __enter__(self) -> None:
        self._before, _settings.early_stop = _settings.early_stop, self._enable

    def __exit__(self, *error: object) -> None:
        _settings.early_stop = self._before


class _Kept:
    """An argument at the call: a tensor without its history, and the version of its elements."""

    def __init__(self, value: Any) -> None:
        self.value, self.version, self.requires_grad = value, None, False
        if isinstance(value, Tensor):
            if value.is_inference():
                raise RuntimeError(
                    "checkpoint: Inference tensors cannot be saved for backward; give a clone() "
                    "made outside of inference mode"
                )
            self.value, self.version = value.detach(), value._version
            self.requires_grad = value.requires_grad

    def again(self, name: str) -> Any:
        if self.version is None:
            return self.value
        if self.value._version != self.version and self.value.numel():
            raise VersionError(
                f"checkpoint: {name} was overwritten after the forward pass (version "
                f"{self.value._version}, wanted {self.version}): the function cannot be run again"
            )
        return self.value.detach().requires_grad_(self.requires_grad)


class _Replay:
    """Runs the function again on its original arguments, with the same random numbers, and with
    autocast as it was."""

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any, keep: bool, context: Any = None
    ) -> None:
        self.function = function
        self.context = contextlib.nullcontext() if context is None else context
        self.kept = [_Kept(value) for value in args]
        self.kept_named = {name: _Kept(value) for name, value in kwargs.items()}
        self.state = _random.get_rng_state() if keep else None
        self.autocast = _autocast.autocast("cpu", enabled=_autocast.is_autocast_enabled("cpu"))

    def __call__(self) -> tuple[Any, list[Any]]:
        """The result, and the arguments that it was computed from."""
        args = [kept.again(f"argument {i + 1}") for i, kept in enumerate(self.kept)]
        kwargs = {name: kept.again(name) for name, kept in self.kept_named.items()}
        with self.autocast._again(), self.context:
            if self.state is None:
                return self.function(*args, **kwargs), args
            with _random.fork_rng():
                _random.set_rng_state(self.state)
                return self.function(*args, **kwargs), args


class _Complete(Exception):  # noqa: N818  (no error)
    """Ends a function that runs again: all values are there."""


def _description(tensor: Tensor) -> tuple[Any, ...]:
    return list(tensor.shape), tensor.dtype, tensor.device


class _Frame(threading.local):
    """The values saved in one checkpoint: places filled by running the function once more,
    separately for each thread that runs backward through them."""

    def __init__(self, replay: _Replay, saved: list[Any], early_stop: bool, checks: bool) -> None:
        self.replay, self.early_stop, self.checks = replay, early_stop, checks
        self.saved = saved  # what they are, as the one forward pass found, for all threads
        self.values: dict[int, Tensor] = {}

    def pack(self, tensor: Tensor) -> int:
        self.saved.append(_description(tensor))
        return len(self.saved) - 1

    def unpack(self, place: int) -> Tensor:
        if place not in self.values:
            self._fill()
        return self.values.pop(place)

    def _fill(self) -> None:
        self.values = {}

        def keep(tensor: Tensor) -> int:
            self.values[len(self.values)] = tensor
            if self.early_stop and len(self.values) == len(self.saved):
                raise _Complete
            return 0

        def refuse(packed: object) -> Tensor:
            raise RuntimeError("checkpoint: backward ran inside the function that is replayed")

        with (
            contextlib.suppress(_Complete),
            enable_grad(),
            graph.saved_tensors_hooks(keep, refuse),
        ):
            self.replay()
        self._compare()

    def _compare(self) -> None:
        if len(self.values) != len(self.saved):
            raise CheckpointError(
                f"checkpoint: the function saved {len(self.saved)} values at first and "
                f"{len(self.values)} when it was run again; it must do the same each time"
            )
        for i, enabled in enumerate(self.saved if self.checks else ()):
            result = _description(self.values[i])
            if result != enabled:
                raise CheckpointError(
                    f"checkpoint: value {i + 1} that the function saved had (shape, dtype, device) "
                    f"{enabled} at first and {result} when it was run again; it must do the same "
                    "each time"
                )


def checkpoint(
    function: Callable[..., R],
    *args: Any,
    use_reentrant: bool | None = False,
    preserve_rng_state: bool = True,
    context_fn: Callable[
        [],
        tuple[contextlib.AbstractContextManager[object], contextlib.AbstractContextManager[object]],
    ] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> R:
    """function(*args), without saving its intermediate values: backward runs it again.

    Arguments:
        function: must do the same each time it is called
        use_reentrant: whether to run a backward pass inside backward, as PyTorch first did
        preserve_rng_state: whether the second run draws the same random numbers
        context_fn: makes two contexts, one for the first run and one for those in backward
        determinism_check: "default" compares the shapes, dtypes and devices of what is saved with
            those of the first run, "none" only how many there are
        debug: has no effect; errors tell what was found at first and then
        early_stop: whether the second run ends with the last value that backward needs;
            set_checkpoint_early_stop decides before it
    """
    if use_reentrant and (context_fn is not noop_context_fn or debug):
        raise ValueError("checkpoint: context_fn and debug are for use_reentrant=False")
    if use_reentrant and kwargs:
        raise ValueError(
            f"checkpoint: {', '.join(kwargs)} given by name, which is for use_reentrant=False"
        )
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"checkpoint: determinism_check is {determinism_check!r}, wanted 'default' or 'none'"
        )
    if not _C.grad_enabled():
        return function(*args, **kwargs)
    if use_reentrant:
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    first, again = context_fn()
    stops = early_stop if _settings.early_stop is None else _settings.early_stop
    replay = _Replay(function, args, kwargs, preserve_rng_state, again)
    frame = _Frame(replay, [], stops, determinism_check == "default")
    with graph.saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors among them without history, which require grad where they did; others as they
    are."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warns if no tensor among them requires grad, for then no gradient arrives."""
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


class CheckpointFunction(Function):
    """checkpoint with use_reentrant=True."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], keep: bool, *args: Any) -> Any:
        if any(ctx.needs_input_grad):
            ctx.replay = _Replay(function, args, {}, keep)
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        if not goes_to_all_leaves():
            raise RuntimeError(
                "checkpoint: use_reentrant=True in autograd.grad() or backward(inputs=), wanted "
                "use_reentrant=False, or backward() to all leaves"
            )
        with enable_grad():
            outputs, args = ctx.replay()
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [
            (out, gradient)
            for out, gradient in zip(outputs, gradients, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "checkpoint: none of output has requires_grad=True, as none of the tensors among "
                "the arguments had when it was called: this checkpoint() is not necessary"
            )
        run_backward([out for out, _ in pairs], [gradient for _, gradient in pairs])
        return (None, None, *(v.grad if isinstance(v, Tensor) else None for v in args))


def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]], segments: int, input: Any, **options: Any
) -> Any:
    """A chain of functions, split into segments, each of which is checkpointed."""
    functions = list(functions)
    size = max(1, len(functions) // segments)

    def run(part: list[Callable[..., Any]]) -> Callable[[Any], Any]:
        def forward(x: object) -> Any:
            for function in part:
                x = function(x)
            return x

        return forward

    last = size * (segments - 1)
    for start in range(0, last, size):
        input = checkpoint(run(functions[start : start + size]), input, **options)
    return run(functions[last:])(input)


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """([], []): devices draw from the default generator, whose state is get_rng_state()."""
    return [], []


def set_device_states(
    devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None
) -> None:
    """Takes what get_device_states returned; states of devices there are none."""
    if len(devices) or len(states):
        raise NotImplementedError(
            "set_device_states: devices have no generators of their own here; give what "
            "get_device_states returned"
        )
