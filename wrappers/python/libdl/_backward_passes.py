# SPDX-License-Identifier: Apache-2.0
"""Backward passes as Python begins them: what they are given, and hooks that watch a whole pass."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from . import _C
from ._C import Tensor
from ._overrides import of_values

if TYPE_CHECKING:
    from .autograd.graph import Node

R = TypeVar("R")

# -- edges in place of tensors ---------------------------------------------------------------------


class GradientEdge(NamedTuple):
    """The place in the graph where a tensor's gradient arrives. grad and backward take it for the
    tensor, which get_gradient_edge keeps in it."""

    node: Any
    output_nr: int
    ownership_token: Tensor | None = None


def tensor_of(value: Any) -> Any:
    """The tensor of an edge; anything else as it is."""
    if not isinstance(value, GradientEdge):
        return value
    tensor = value.ownership_token
    if tensor is None:
        raise NotImplementedError(
            "a GradientEdge without a tensor, wanted one that autograd.graph.get_gradient_edge made"
        )
    if of_values(_C.gradient_edge, tensor) != (value.node, value.output_nr):
        raise RuntimeError(
            "a GradientEdge whose tensor was written since, wanted an edge made "
            "after the write, or of a clone"
        )
    return tensor


def tensors_of(values: Any) -> tuple[Any, ...]:
    """A tensor or edge, or a sequence of them, as a tuple of tensors."""
    if values is None:
        return ()
    if isinstance(values, (Tensor, GradientEdge)):
        return (tensor_of(values),)
    return tuple(map(tensor_of, values))


# -- passes, and who watches them ------------------------------------------------------------------


class _Local(threading.local):
    to_inputs = False  # whether the pass that runs goes to chosen inputs, not to all leaves


_local = _Local()
watches = 0  # how many MultiGradHooks exist; without one, passes are _C's functions alone


def to_inputs(run: Callable[..., R], *args: object) -> R:
    """run(*args), a pass that goes to chosen inputs only."""
    before, _local.to_inputs = _local.to_inputs, True
    try:
        return run(*args)
    finally:
        _local.to_inputs = before


def goes_to_all_leaves() -> bool:
    """Whether the pass that runs on this thread does, or none runs."""
    return not _local.to_inputs


def backward(outputs: object, gradients: object, inputs: object, *options: bool) -> None:
    """_C.backward, seen by Watches."""
    with _running(outputs, inputs):
        _C.backward(outputs, gradients, inputs, *options)


def grad(outputs: object, inputs: object, gradients: object, *options: bool) -> tuple[Tensor, ...]:
    """_C.grad, seen by Watches."""
    with _running(outputs, inputs):
        return _C.grad(outputs, inputs, gradients, *options)


@contextmanager
def _running(outputs: object, inputs: object) -> Iterator[None]:
    outer = getattr(_local, "current", None)
    current = _local.current = _Pass(outputs, inputs)
    try:
        yield
        for watch, arrived in current.arrived.items():
            watch.end(arrived)
    finally:
        _local.current = outer
        for call in current.at_the_end:
            call()


def watched_pass() -> _Pass | None:
    """The pass that runs on this thread, if it began while there was a MultiGradHook."""
    return getattr(_local, "current", None)


class _Pass:
    """A pass that runs, and what of it each MultiGradHook has seen."""

    def __init__(self, outputs: Any, inputs: Any) -> None:
        self._outputs, self._inputs = outputs, inputs
        self._reached: set[int] | None = None
        self.arrived: dict[MultiGradHook, dict[int, Tensor] | None] = {}  # None: it has been called
        self.at_the_end: list[Callable[[], None]] = []  # called even if the pass fails

    def reached(self) -> set[int]:
        """The addresses of the nodes at which a gradient of this pass may arrive."""
        if self._reached is None:
            self._reached = _between(self._outputs, self._inputs)
        return self._reached


def _node_of(x: Tensor) -> Node:
    return of_values(_C.gradient_edge, x)[0]


def _between(outputs: Any, inputs: Any) -> set[int]:
    """The nodes below the outputs; if there are inputs, those on the way to one."""
    above: dict[int, list[int]] = {}
    rest = [(node, 0) for node in map(_node_of, outputs) if node is not None]
    while rest:
        node, user = rest.pop()
        address = _C.node_address(node._held)
        if address not in above:
            above[address] = []
            rest.extend(
                (source, address) for source, _ in node.next_functions if source is not None
            )
        above[address].append(user)
    if not inputs:
        return set(above)
    collected: set[int] = set()
    ends = [_C.node_address(_node_of(x)._held) for x in inputs if x.requires_grad]
    while ends:
        address = ends.pop()
        if address in above and address not in collected:
            collected.add(address)
            ends.extend(above[address])
    return collected


class MultiGradHook:
    """Collects the gradients of several tensors in each pass.

    Nodes are known by their addresses alone: the hooks belong to the nodes, so that references to
    them would be cycles. An address that another node has got may delay a call to the pass's end,
    no more."""

    def __init__(self, tensors: Sequence[Tensor], call: Callable[[Any], Any], first: bool) -> None:
        global watches
        watches += 1
        self._call, self._first = call, first
        self._nodes = [_C.node_address(_node_of(x)._held) for x in tensors]

    def __del__(self) -> None:
        global watches
        watches -= 1

    def saw(self, number: int, gradient: Tensor) -> None:
        current = watched_pass()
        if current is None:
            return  # the pass began before there was a MultiGradHook
        arrived = current.arrived.setdefault(self, {})
        if arrived is None:
            return
        arrived[number] = gradient
        if self._first or len(arrived) == sum(n in current.reached() for n in self._nodes):
            current.arrived[self] = None
            self.end(arrived)

    def end(self, arrived: dict[int, Tensor] | None) -> None:
        """Calls the function with what has arrived, unless it has been called in this pass."""
        if arrived is not None:
            values = [arrived.get(i) for i in range(len(self._nodes))]
            self._call(next(iter(arrived.values())) if self._first else values)
