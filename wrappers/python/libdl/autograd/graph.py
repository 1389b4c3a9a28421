# SPDX-License-Identifier: Apache-2.0
"""The recorded graph: its nodes, what they save, and hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

from .. import _C
from .._C import Tensor
from .._modes import no_grad
from .._overrides import of_values
from .._backward_passes import GradientEdge as GradientEdge, MultiGradHook
from .._tensor import Removable
from ._saved import (
    allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks as disable_saved_tensors_hooks,
    save_on_cpu as save_on_cpu,
    saved_tensors_hooks as saved_tensors_hooks,
)

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

# By the addresses of nodes, alive as long as those are. So y.grad_fn is the same object each time.
_nodes: WeakValueDictionary[int, Node] = WeakValueDictionary()
_notes: WeakValueDictionary[int, _Notes] = WeakValueDictionary()


class _Notes:
    """A node's metadata. A hook that changes nothing, it is kept by the node itself."""

    def __init__(self, site: str) -> None:
        self.metadata: dict[Any, Any] = {"site": site} if site else {}

    def __call__(self, *gradients: Any) -> None:
        pass


@cache
def _is_operator(name: str) -> bool:
    try:
        _C.op_find(name)
    except ValueError:
        return False
    return True


class Node:
    """One recorded operation, as in tensor.grad_fn. Equal nodes are the same operation."""

    __slots__ = ("_held", "__weakref__")

    def __init__(self, held: Any) -> None:
        self._held = held

    def name(self) -> str:
        """As in PyTorch: "MulBackward0", "AccumulateGrad", "MineBackward" for a Function Mine."""
        return type(self).__name__

    @property
    def operator(self) -> str:
        return str(_C.node_name(self._held))

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that produced the inputs, each with the number of its output."""
        return _C.node_inputs(self._held)

    @property
    def variable(self) -> Tensor:
        """The leaf of an AccumulateGrad."""
        leaf = _C.node_leaf(self._held)
        if leaf is None:
            raise AttributeError(f"{self.name()} has no variable")
        return leaf

    @property
    def metadata(self) -> dict[Any, Any]:
        """Whatever the program keeps with the node; in anomaly mode, "site" is the line that
        recorded the operation."""
        address = _C.node_address(self._held)
        notes = _notes.get(address)
        if notes is None:
            notes = _notes[address] = _Notes(_C.node_site(self._held))
            _C.add_hook(self._held, 1, notes)
        return notes.metadata

    @property
    def requires_grad(self) -> bool:
        """Always true."""
        return True

    def __getattr__(self, name: str) -> Any:
        """Of a Function's node what its ctx has, as in PyTorch, where the node is the ctx."""
        # Of a copy that is being made, _held itself is looked for here.
        function = None if name == "_held" else _C.node_function(self._held)
        if function is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name != "saved_tensors":
            return getattr(function.ctx, name)
        present = count()
        return tuple(
            None if absent else _C.node_saved(self._held, next(present))
            for absent in function.ctx._absent
        )

    def register_prehook(self, hook: Callable[[tuple[Tensor, ...]], Any]) -> Removable:
        """Calls hook(grad_outputs) before the node; a returned tuple replaces them."""
        return Removable(_C.add_hook(self._held, 1, hook))

    def register_hook(
        self, hook: Callable[[tuple[Tensor, ...], tuple[Tensor, ...]], Any]
    ) -> Removable:
        """Calls hook(grad_inputs, grad_outputs) after the node; a tuple replaces grad_inputs."""
        return Removable(_C.add_hook(self._held, 2, hook))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return bool(_C.node_address(self._held) == _C.node_address(other._held))

    def __hash__(self) -> int:
        return hash(_C.node_address(self._held))

    def __repr__(self) -> str:
        return f"<{self.name()} object at {_C.node_address(self._held):#x}>"


@cache
def _class_of(name: str) -> type[Node]:
    """The class of an operator's nodes, named as in PyTorch."""
    if name == "accumulate":
        title = "AccumulateGrad"
    else:
        title = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
        title += "Backward0" if _is_operator(name) else "Backward"
    return type(title, (Node,), {"__slots__": (), "__module__": __name__})


def _node(held: object) -> Node:
    address = _C.node_address(held)
    node = _nodes.get(address)
    if node is None:
        node = _nodes[address] = _class_of(_C.node_name(held))(held)
    return node


_C.register("node", _node)


# -- edges, versions, hooks of several tensors -----------------------------------------------------


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the tensor's gradient arrives: for grad and backward, as an input or output.

    Errors: RuntimeError for a tensor that does not require grad."""
    node, slot = of_values(_C.gradient_edge, tensor)
    if node is None:
        raise RuntimeError(
            "get_gradient_edge: the tensor does not require grad, so no gradient arrives at it"
        )
    return GradientEdge(node, slot, tensor)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Tells backward that the elements of the tensor, or of several, were written by other means:
    graphs that saved them raise. A tensor without elements has nothing that can have changed."""
    try:
        tensors = (tensor,) if isinstance(tensor, Tensor) else tuple(tensor)
    except TypeError:
        raise RuntimeError(
            f"increment_version: found a {type(tensor).__name__}, wanted tensors"
        ) from None
    with no_grad():
        for x in tensors:
            if x.numel():
                first = x.detach().as_strided((1,) * x.ndim, (1,) * x.ndim, x.storage_offset())
                first.copy_(first.clone())


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], Any], *, mode: str = "all"
) -> Removable:
    """Calls a function once in each pass that reaches one of the tensors; its result is not used.
    A hook that is registered during a pass begins with the next one.

    Arguments:
        mode: "all": fn(gradients), a list with None for tensors that get none, when the last one
            has arrived; "any": fn(gradient), when the first one arrives

    Errors: ValueError for another mode; RuntimeError for "all" with a tensor that does not require
    grad."""
    if mode not in ("all", "any"):
        raise ValueError(f'register_multi_grad_hook: mode is {mode!r}, wanted "all" or "any"')
    hooked = [x for x in tensors if mode == "all" or x.requires_grad]
    for i, x in enumerate(hooked):
        if not x.requires_grad:
            raise RuntimeError(f"register_multi_grad_hook: tensor {i} does not require grad")
    multi_grad_hook = MultiGradHook(hooked, fn, mode == "any")

    def hook_of(i: int) -> Callable[[Tensor], None]:
        return lambda gradient: multi_grad_hook.saw(i, gradient)

    return Removable(*(_C.add_hook(x, 0, hook_of(i)) for i, x in enumerate(hooked)))
