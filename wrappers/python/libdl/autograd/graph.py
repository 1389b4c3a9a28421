# SPDX-License-Identifier: Apache-2.0
"""The recorded graph: its nodes, and hooks for the values that they save."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .. import _C
from .._C import Tensor
from .._tensor import Removable


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
    def metadata(self) -> dict[str, str]:
        """In anomaly mode, the line that recorded the operation."""
        site = _C.node_site(self._held)
        return {"site": site} if site else {}

    def register_prehook(self, hook: Callable[[tuple[Tensor, ...]], Any]) -> Removable:
        """Calls hook(grad_outputs) before the node; a returned tuple replaces them."""
        return Removable(_C.add_hook(self._held, 1, hook))

    def register_hook(self, hook: Callable[[tuple[Tensor, ...], tuple[Tensor, ...]], Any]) -> Any:
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


def _node(held: Any) -> Node:
    return _class_of(_C.node_name(held))(held)


_C.register("node", _node)


class saved_tensors_hooks:
    """with saved_tensors_hooks(pack, unpack): operations save pack(tensor), and backward gets
    unpack(packed)."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]):
        self._pack = pack_hook
        self._unpack = unpack_hook

    def __enter__(self) -> None:
        _C.push_saved_hooks(self._pack, self._unpack)

    def __exit__(self, *exception: object) -> None:
        _C.pop_saved_hooks()


class save_on_cpu(saved_tensors_hooks):
    """with save_on_cpu(): saved values are kept in the host's memory."""

    def __init__(self, pin_memory: bool = False) -> None:
        super().__init__(
            lambda tensor: (tensor.device, tensor.cpu()), lambda packed: packed[1].to(packed[0])
        )


from .._missing import public as _public_names  # noqa: E402

__dir__ = _public_names(__name__)
