# SPDX-License-Identifier: Apache-2.0
"""Nodes: the calls and values of a graph."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _assert
from . import _texts
from .immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

Target = Any  # a function, or a name as a str
Argument = Any
OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


# Functions that eliminate_dead_code keeps although nothing reads their result.
_effective: set[Any] = {builtins.setattr, builtins.print, operator.setitem, _assert}


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: eliminate_dead_code keeps calls of the function."""
    _effective.add(fn)
    return fn


def map_aggregate(a: Argument, fn: Callable[[Argument], Argument]) -> Argument:
    """fn(value) for each value in tuples, lists, dictionaries and slices; lists and dictionaries
    become immutable."""
    if isinstance(a, tuple):
        mapped = [map_aggregate(value, fn) for value in a]
        return type(a)(*mapped) if hasattr(a, "_fields") else tuple(mapped)
    if isinstance(a, list):
        return immutable_list([map_aggregate(value, fn) for value in a])
    if isinstance(a, dict):
        return immutable_dict((key, map_aggregate(value, fn)) for key, value in a.items())
    if isinstance(a, slice):
        return slice(*(map_aggregate(value, fn) for value in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Argument, fn: Callable[[Node], Argument]) -> Argument:
    """map_aggregate for the nodes; other values stay."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


class Node:
    """One entry of a graph.

    op is "placeholder" (an argument of the graph), "get_attr" (a parameter or buffer), one of
    "call_function", "call_method" and "call_module", or "output". target is the function, the name
    of the method, or the path of the module or attribute. users has the nodes that read it."""

    _prev: Node
    _next: Node

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        if op not in OPS:
            raise ValueError(f"Node: op is {op!r}, wanted one of {', '.join(OPS)}")
        if op == "call_function" and not callable(target):
            raise ValueError(
                f"Node: the target of call_function is a {type(target).__name__}, wanted a function"
            )
        if op != "call_function" and not isinstance(target, str):
            raise ValueError(
                f"Node: the target of {op} is a {type(target).__name__}, wanted a name"
            )
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self.users: dict[Node, None] = {}
        self.type = return_type
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._prev = self._next = self
        self._erased = False
        self._set_arguments(args, kwargs)

    def __repr__(self) -> str:
        return self.name

    # -- place in the graph ------------------------------------------------------------------------

    @property
    def next(self) -> Node:
        """The node after this one; the graph's root after the last."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one; the graph's root before the first."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Moves x, of the same graph, to just before this node."""
        if x.graph is not self.graph:
            raise ValueError(f"prepend: {x} belongs to another graph than {self}")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Moves x, of the same graph, to just after this node."""
        if x is not self._next:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def __lt__(self, other: Node) -> bool:
        """Whether it comes before the other in their graph."""
        node = self._next
        while node.op != "root":
            if node is other:
                return True
            node = node._next
        return False

    def __gt__(self, other: Node) -> bool:
        return other < self

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or other < self

    # -- arguments ---------------------------------------------------------------------------------

    @property
    def args(self) -> tuple[Argument, ...]:
        """The positional arguments; assign a tuple to change them."""
        return self._args

    @args.setter
    def args(self, a: tuple[Argument, ...]) -> None:
        self._set_arguments(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The arguments by name; assign a dict to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Argument]) -> None:
        self._set_arguments(self._args, k)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def _set_arguments(self, args: Any, kwargs: Any) -> None:
        for before in self._input_nodes:
            before.users.pop(self, None)
        self._input_nodes = {}

        def note(node: Node) -> Node:
            self._input_nodes[node] = None
            node.users[self] = None
            return node

        self._args: tuple[Argument, ...] = map_arg(tuple(args), note)
        self._kwargs: dict[str, Argument] = map_arg(dict(kwargs), note)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replaces one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Inserts a positional argument before the one at idx."""
        if not 0 <= idx <= len(self.args):
            raise ValueError(f"insert_arg: idx is {idx}, wanted 0 to {len(self.args)}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Replaces or adds an argument by name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Makes the users of this node, of which delete_user_cb is true, read replace_with instead;
        returns them. propagate_meta: replace_with gets this node's meta, of which it has none."""
        if propagate_meta:
            if replace_with.meta:
                raise ValueError(f"replace_all_uses_with: {replace_with} has meta of its own")
            replace_with.meta = dict(self.meta)
        users = [user for user in list(self.users) if delete_user_cb(user)]
        for user in users:
            user.replace_input_with(self, replace_with)
        return users

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Makes this node read another one wherever it read old_input."""

        def swap(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set_arguments(map_arg(self.args, swap), map_arg(self.kwargs, swap))

    def is_impure(self) -> bool:
        """Whether the node matters although nothing reads it: a placeholder, the output, a write in
        place, or a call that may have an effect."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_method":
            return str(self.target).endswith("_") and not str(self.target).endswith("__")
        if self.op == "call_module":
            module = self.graph.owning_module
            return bool(
                getattr(module.get_submodule(str(self.target)), "is_impure", False)
                if module is not None
                else False
            )
        return self.op == "call_function" and self._function_is_impure()

    def _function_is_impure(self) -> bool:
        name = getattr(self.target, "__name__", "")
        written = name.endswith("_") and not name.endswith("__") and name not in _texts.BINARY
        in_place = name in _texts.IN_PLACE and getattr(self.target, "__module__", "") == "_operator"
        return (
            self.target in _effective
            or written
            or in_place
            or bool(self.kwargs.get("inplace") or self.kwargs.get("out") is not None)
        )

    # -- printing ----------------------------------------------------------------------------------

    @property
    def stack_trace(self) -> str | None:
        """Where the call was traced, if the tracer records it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def format_node(self) -> str:
        """The node's line in a printed graph."""
        if self.op == "output":
            return f"return {self.args[0]}"
        kind = f"{_texts.type_text(self.type)} " if self.type else ""
        line = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}"
        line += f"[target={_texts.target_text(self.target)}]"
        if self.op == "placeholder":
            return line + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return line
        args, kwargs = map(_argument_text, (self.args, self.kwargs))
        return f"{line}(args = {args}, kwargs = {kwargs})"


def _argument_text(argument: object) -> str:
    """An argument in a printed graph: nodes as %name."""
    if isinstance(argument, list):
        return f"[{', '.join(map(_argument_text, argument))}]"
    if isinstance(argument, tuple):
        inside = ", ".join(map(_argument_text, argument))
        return f"({inside},)" if len(argument) == 1 else f"({inside})"
    if isinstance(argument, dict):
        return f"{{{', '.join(f'{k}: {_argument_text(v)}' for k, v in argument.items())}}}"
    return f"%{argument}" if isinstance(argument, Node) else str(argument)
