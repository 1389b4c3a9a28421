# SPDX-License-Identifier: Apache-2.0
"""What an operator does with batched tensors: its rule, its parts, or one sample after another."""

from __future__ import annotations

import contextlib
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from .. import _functions as F, _methods
from .._C import Tensor
from .._levels import HANDLER, OPEN, Batched, Level, batched, value_at
from .._overrides import DisableTorchFunction, modes
from ..overrides import TorchFunctionMode
from ..utils import _pytree as pytree
from ._rules import RULES, Call

_GENERATED = {F.__file__, _methods.__file__}
# Composed, but of operators that do not know all arguments of their parts' classes.
_WHOLE = {"lstm", "gru", "rnn_tanh", "rnn_relu", "batch_norm", "instance_norm",
          "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
          "fractional_max_pool3d_with_indices"}  # fmt: skip
# Questions whose answer any sample gives.
_METADATA = {
    "__len__", "dim", "element_size", "get_device", "is_complex", "is_contiguous", "is_conj",
    "is_floating_point", "is_inference", "is_neg", "is_pinned", "is_same_size", "is_shared",
    "is_signed", "ndimension", "nelement", "numel", "result_type", "size", "stride",
}  # fmt: skip


class Batching(TorchFunctionMode):
    """Sees every call of a function under vmap."""

    def __init__(self, level: Level) -> None:
        super().__init__()
        self.level = level

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return apply(self.level, func, args, kwargs or {}, self)


def _through_class(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What C asks where no mode has seen the call."""
    found = [x.level for x in pytree.tree_leaves((args, kwargs)) if type(x) is Batched]
    level = max(found, key=lambda level: level.number)
    if level not in OPEN.levels:
        raise RuntimeError(
            f"{name_of(func)}: an argument is a tensor of a vmap that has ended; a function under "
            "vmap must return what is to be used outside"
        )
    return apply(level, func, args, kwargs, None)


HANDLER.append(_through_class)


def name_of(func: Callable[..., Any]) -> str:
    """The operator's name; of an attribute: "shape.__get__"."""
    name = getattr(func, "__name__", str(func))
    if name in ("__get__", "__set__"):
        return f"{func.__self__.__name__}.{name}"  # type: ignore[attr-defined]
    return name


def apply(
    level: Level, func: Callable[..., Any], args: Any, kwargs: Any, mode: Batching | None
) -> Any:
    """The call in one level."""
    call = Call(level, func, name_of(func), args, kwargs, lambda: _seen(mode))
    rule = RULES.get(call.name)
    if not call.is_batched and not getattr(rule, "always", False):
        return func(*args, **kwargs)
    if rule is None and (call.name in _METADATA or call.name.endswith(".__get__")):
        with DisableTorchFunction():  # of a sample: its shape, dtype, device
            return func(*args, **kwargs)
    answer = NotImplemented if rule is None else rule(call)
    if answer is not NotImplemented:
        return answer
    parts = None if mode is None or call.name in _WHOLE else _parts_of(func)
    if parts is not None:
        with _seen(mode):
            return parts(*args, **kwargs)
    return one_by_one(call)


@contextlib.contextmanager
def _seen(mode: Batching | None) -> Iterator[None]:
    """While a rule calls operators on samples, the level sees them."""
    if mode is None or mode in modes.stack:
        yield
        return
    modes.push(mode)
    try:
        yield
    finally:
        modes.pop()


def _parts_of(func: Callable[..., Any]) -> Callable[..., Any] | None:
    """The body of a function that is composed of other operators in Python."""
    relay = (getattr(func, "__kwdefaults__", None) or {}).get("_relay")
    if relay is None or relay.code.co_filename in _GENERATED:
        return None
    own: types.FunctionType = relay.own
    return own


def one_by_one(call: Call) -> Any:
    """A loop over the samples, whose results are stacked."""
    warnings.warn(
        f"vmap: {call.name} has no rule for batches and runs once for each of the "
        f"{call.level.size} samples", stacklevel=2,
    )  # fmt: skip
    leaves, structure = pytree.tree_flatten((call.args, call.kwargs))
    if call.level.size == 0:
        raise RuntimeError(f"{call.name}: has no rule for batches, and the batch has no samples")
    if call.writes and value_at(call.args[0], call.level) is None:
        raise call.unwritable()
    answers = []
    for i in range(call.level.size):
        values = [(x, value_at(x, call.level)) for x in leaves]
        sample = [x if value is None else value.select(0, i) for x, value in values]
        args, kwargs = pytree.tree_unflatten(sample, structure)
        answers.append(call.func(*args, **kwargs))
    if call.writes:
        return call.args[0]
    shapes = [pytree.tree_flatten(answer) for answer in answers]
    columns = zip(*(found for found, _ in shapes), strict=True)
    joined = [
        batched(F.stack(list(column)), call.level) if isinstance(column[0], Tensor) else column[0]
        for column in columns
    ]
    return pytree.tree_unflatten(joined, shapes[0][1])
