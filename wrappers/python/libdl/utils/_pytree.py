# SPDX-License-Identifier: Apache-2.0
"""Trees: values in nested tuples, lists, dictionaries and registered classes.

A class is a node if exactly this class is registered (a namedtuple always is); everything else,
None included, is a leaf. Dictionaries keep the order of their keys."""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ._pytree_nodes import (
    NODES as SUPPORTED_NODES,
    Context,
    GetAttrKey,
    KeyPath,
    MappingKey,
    NodeDef as NodeDef,
    SequenceKey,
    _defaultdict_flatten as _defaultdict_flatten,
    _defaultdict_flatten_with_keys as _defaultdict_flatten_with_keys,
    _defaultdict_unflatten as _defaultdict_unflatten,
    _deque_flatten as _deque_flatten,
    _deque_flatten_with_keys as _deque_flatten_with_keys,
    _deque_unflatten as _deque_unflatten,
    _dict_flatten as _dict_flatten,
    _dict_flatten_with_keys as _dict_flatten_with_keys,
    _dict_unflatten as _dict_unflatten,
    _list_flatten as _list_flatten,
    _list_flatten_with_keys as _list_flatten_with_keys,
    _list_unflatten as _list_unflatten,
    _namedtuple_flatten as _namedtuple_flatten,
    _namedtuple_flatten_with_keys as _namedtuple_flatten_with_keys,
    _namedtuple_unflatten as _namedtuple_unflatten,
    _ordereddict_flatten as _ordereddict_flatten,
    _ordereddict_flatten_with_keys as _ordereddict_flatten_with_keys,
    _ordereddict_unflatten as _ordereddict_unflatten,
    _tuple_flatten as _tuple_flatten,
    _tuple_flatten_with_keys as _tuple_flatten_with_keys,
    _tuple_unflatten as _tuple_unflatten,
    dumped,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance as is_namedtuple_instance,
    is_structseq as is_structseq,
    is_structseq_class as is_structseq_class,
    is_structseq_instance as is_structseq_instance,
    key_get,
    keystr,
    kind_of,
    loaded,
    register_pytree_node,
)

__all__ = [
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "SequenceKey",
    "TreeSpec",
    "arg_tree_leaves",
    "is_namedtuple",
    "is_namedtuple_class",
    "key_get",
    "keystr",
    "map_only",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
]

PyTree = Any
IsLeaf = Callable[[Any], bool] | None
Kinds = type | tuple[type, ...] | Callable[[Any], bool]
BUILTIN_TYPES: frozenset[Any] = frozenset(SUPPORTED_NODES)
STANDARD_DICT_TYPES: frozenset[type] = frozenset({dict, OrderedDict, defaultdict})
_register_pytree_node = register_pytree_node  # its first name
KeyEntry = Any
F = TypeVar("F", bound=Callable[..., Any])


class TreeSpec:
    """The structure of a tree, without its leaves.

    type is a node's class, namedtuple for all namedtuples, None for a leaf."""

    __slots__ = ("children_specs", "context", "num_leaves", "num_nodes", "type")
    num_leaves: int
    num_nodes: int

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_nodes = 1 + sum(child.num_nodes for child in children_specs)
        self.num_leaves = sum(child.num_leaves for child in children_specs)
        if type is None:
            self.num_leaves = 1

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self.context, self.children_specs) == (
            other.type,
            other.context,
            other.children_specs,
        )

    def __hash__(self) -> int:
        return hash((self.type, repr(self.context), tuple(self.children_specs)))

    def __repr__(self) -> str:
        return self._text(0)

    def _text(self, indent: int) -> str:
        if self.is_leaf():
            return "*"
        name = self.type.__name__
        separator = ",\n" + " " * (indent + 2)
        inside = separator.join(child._text(indent + 2) for child in self.children_specs)
        return f"TreeSpec({name}, {self.context}, [{inside}])"

    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The structures of the node's children."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """The structure of one child."""
        return self.children_specs[index]

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """The tree with these leaves. Raises ValueError if they are too few or too many."""
        values = list(leaves)
        if len(values) != self.num_leaves:
            raise ValueError(
                f"tree_unflatten: found {len(values)} leaves, wanted {self.num_leaves} for {self}"
            )
        return self._built(iter(values))

    def _built(self, leaves: Iterator[Any]) -> PyTree:
        if self.is_leaf():
            return next(leaves)
        children = [child._built(leaves) for child in self.children_specs]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self.context)

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The parts of a tree that stand where this structure has leaves. Raises ValueError if the
        tree has another structure above them."""
        if self.is_leaf():
            return [tree]
        parts = zip(self.children_specs, self._children_of(tree), strict=True)
        return [leaf for spec, child in parts for leaf in spec.flatten_up_to(child)]

    def _children_of(self, tree: PyTree) -> list[PyTree]:
        """The children of a node that must be of this kind, in this order."""
        kind = kind_of(tree)
        if kind in _MAPPINGS and self.type in _MAPPINGS:
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(keys) != set(tree):
                raise ValueError(f"flatten_up_to: found the keys {list(tree)}, wanted {keys}")
            return [tree[key] for key in keys]
        if kind is not self.type:
            raise ValueError(
                f"flatten_up_to: found a {type(tree).__name__}, wanted a {self.type.__name__}"
            )
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"flatten_up_to: found {len(children)} children, wanted {self.num_children}"
            )
        if kind is not deque and context != self.context:
            raise ValueError(f"flatten_up_to: found {context}, wanted {self.context}")
        return list(children)


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """The structure of a tree that is one leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF = LeafSpec()
_MAPPINGS = (dict, OrderedDict, defaultdict)


# -- flattening and mapping ------------------------------------------------------------------------


def _flatten(tree: PyTree, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    kind = kind_of(tree)
    if kind is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and the structure. Where is_leaf(node) is true, the node is a leaf."""
    leaves: list[Any] = []
    spec = _flatten(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of this structure with these leaves. Raises ValueError if their number differs."""
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves, one after the other."""
    yield from tree_leaves(tree, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether the object itself is a leaf."""
    return kind_of(tree) is None or (is_leaf is not None and is_leaf(tree))


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """The same structure with func(leaf, *parts) for each leaf; parts are what the other trees have
    at its place. Raises ValueError if one of them has another structure above its leaves."""
    leaves, spec = tree_flatten(tree, is_leaf)
    beside = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(map(func, leaves, *beside))


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Calls func as tree_map does, for its effect, and returns the tree."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(kinds: Kinds) -> Callable[[F], Callable[[Any], Any]]:
    """A decorator: the function applies to values of these classes, or of which kinds(value) is
    true, and leaves others alone."""

    def decorated(func: F) -> Callable[[Any], Any]:
        return lambda value: func(value) if _is_one(value, kinds) else value

    return decorated


def _is_one(value: Any, kinds: Kinds) -> bool:
    if isinstance(kinds, (type, tuple)):
        return isinstance(value, kinds)
    return kinds(value)


def tree_map_only(
    kinds: Kinds, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """tree_map over the leaves of these classes, or of which kinds(leaf) is true."""
    return tree_map(map_only(kinds)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    kinds: Kinds, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Calls func as tree_map_only does, for its effect, and returns the tree."""
    return tree_map_(map_only(kinds)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether pred holds for every leaf."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether pred holds for one leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(
    kinds: Kinds, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether pred holds for every leaf of these classes."""
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if _is_one(leaf, kinds))


def tree_any_only(
    kinds: Kinds, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether pred holds for one leaf of these classes."""
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if _is_one(leaf, kinds))


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of a call's arguments."""
    return tree_leaves((args, kwargs))


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None
) -> list[Any] | None:
    """The tree's leaves, each as often as the structure has leaves at its place; None if the tree
    does not fit the structure's upper part."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf():
        return None
    try:
        children = treespec._children_of(tree)
    except ValueError:
        return None
    results: list[Any] = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        leaves = _broadcast_to_and_flatten(child, spec, is_leaf)
        if leaves is None:
            return None
        results += leaves
    return results


def _get_node_type(tree: Any) -> Any:
    """The object's class, namedtuple for all namedtuples."""
    return kind_of(tree) or type(tree)


def _is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    return tree_is_leaf(tree, is_leaf)


# -- as text ---------------------------------------------------------------------------------------


def _as_plain(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    name, context = dumped(spec.type, spec.context)
    return {
        "type": name,
        "context": context,
        "children_spec": [_as_plain(c) for c in spec.children_specs],
    }


def _of_plain(text: Any) -> TreeSpec:
    if text["type"] is None:
        return _LEAF
    kind, context = loaded(text["type"], text["context"])
    return TreeSpec(kind, context, [_of_plain(child) for child in text["children_spec"]])


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The structure as text. protocol: 1. Raises NotImplementedError for classes that were
    registered without serialized_type_name."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"treespec_dumps: found a {type(treespec).__name__}, wanted a TreeSpec")
    if protocol not in (None, 1):
        raise ValueError(f"treespec_dumps: protocol is {protocol}, wanted 1")
    return json.dumps([1, _as_plain(treespec)])


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that treespec_dumps wrote."""
    protocol, text = json.loads(serialized)
    if protocol != 1:
        raise ValueError(f"treespec_loads: the protocol is {protocol}, wanted 1")
    return _of_plain(text)


# -- with the path to each leaf --------------------------------------------------------------------


def _paths(tree: PyTree, before: KeyPath, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield before, tree
        return
    with_keys = SUPPORTED_NODES[kind_of(tree)].flatten_with_keys_fn
    if with_keys is None:
        raise ValueError(
            f"tree_flatten_with_path: {type(tree)} was registered without flatten_with_keys_fn"
        )
    for key, child in with_keys(tree)[0]:
        yield from _paths(child, (*before, key), is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """(path, leaf) for each leaf in order."""
    return list(_paths(tree, (), is_leaf))


def tree_flatten_with_path(
    tree: PyTree, is_leaf: IsLeaf = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """(path, leaf) for each leaf in order, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """tree_map with func(path, leaf, *parts)."""
    leaves, spec = tree_flatten_with_path(tree, is_leaf)
    beside = [spec.flatten_up_to(rest) for rest in rests]
    calls = zip(leaves, *beside, strict=True)
    return spec.unflatten(func(path, leaf, *parts) for (path, leaf), *parts in calls)
