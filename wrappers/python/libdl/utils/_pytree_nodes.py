# SPDX-License-Identifier: Apache-2.0
"""The classes that are nodes of trees, and the keys under which they hold their children."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

Context = Any
KeyPath = tuple[Any, ...]


@dataclass(frozen=True)
class MappingKey:
    """The key of a dictionary's value."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


@dataclass(frozen=True)
class SequenceKey:
    """The place of a child in a tuple, list or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


@dataclass(frozen=True)
class GetAttrKey:
    """The attribute that holds a child, as of a namedtuple."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


def keystr(kp: KeyPath) -> str:
    """The path as Python would write it: ['a'][0].b"""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What stands at the path below the object."""
    for key in kp:
        obj = key.get(obj)
    return obj


class NodeDef(NamedTuple):
    """How a class is taken apart and put together again."""

    flatten: Callable[[Any], tuple[Any, Context]]
    """flatten(node): its children and what else belongs to it"""
    unflatten: Callable[[Iterable[Any], Context], Any]
    flatten_with_keys: Callable[[Any], tuple[Any, Context]] | None
    """flatten with (key, child) in place of each child; None: the class has no paths"""


NODES: dict[Any, NodeDef] = {}


def register_pytree_node(
    cls: type, flatten_fn: Callable[[Any], tuple[Any, Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any], *,
    serialized_type_name: str | None = None, to_dumpable_context: Any = None,
    from_dumpable_context: Any = None,
    flatten_with_keys_fn: Callable[[Any], tuple[Any, Context]] | None = None,
) -> None:  # fmt: skip
    """Makes the class a node. flatten_fn(node) gives (children, context), unflatten_fn(children,
    context) the node again, and flatten_with_keys_fn(node) gives ([(key, child)], context). The
    options for serialisation are accepted and not used.

    Raises: ValueError, if the class is registered."""
    if cls in NODES:
        raise ValueError(f"register_pytree_node: {cls} is registered already")
    NODES[cls] = NodeDef(flatten_fn, unflatten_fn, flatten_with_keys_fn)


def is_namedtuple_class(cls: type) -> bool:
    """Whether the class is a namedtuple, of collections or of typing."""
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple(obj: object) -> bool:
    """Whether the object is a namedtuple, or the class of one."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def kind_of(tree: Any) -> Any:
    """What the object's class is registered as, NamedTuple for all namedtuples; None: a leaf."""
    cls = type(tree)
    if cls in NODES:
        return cls
    return NamedTuple if isinstance(tree, tuple) and is_namedtuple_class(cls) else None


def _indexed(sequence: Any) -> list[tuple[Any, Any]]:
    return [(SequenceKey(i), child) for i, child in enumerate(sequence)]


def _keyed(mapping: Any) -> list[tuple[Any, Any]]:
    return [(MappingKey(key), child) for key, child in mapping.items()]


def _named(named: Any) -> list[tuple[Any, Any]]:
    return [(GetAttrKey(name), child) for name, child in zip(named._fields, named, strict=True)]


def _add(cls: Any, context: Callable[[Any], Context],
         unflatten: Callable[[Iterable[Any], Context], Any],
         with_keys: Callable[[Any], list[tuple[Any, Any]]]) -> None:  # fmt: skip
    values = with_keys is _keyed
    NODES[cls] = NodeDef(lambda x: (list(x.values() if values else x), context(x)), unflatten,
                         lambda x: (with_keys(x), context(x)))  # fmt: skip


_add(tuple, lambda _: None, lambda children, _: tuple(children), _indexed)
_add(list, lambda _: None, lambda children, _: list(children), _indexed)
_add(deque, lambda x: x.maxlen, lambda children, maxlen: deque(children, maxlen), _indexed)
_add(NamedTuple, type, lambda children, cls: cls(*children), _named)
_add(dict, list, lambda children, keys: dict(zip(keys, children, strict=True)), _keyed)
_add(OrderedDict, list, lambda children, keys: OrderedDict(zip(keys, children, strict=True)),
     _keyed)  # fmt: skip
_add(defaultdict, lambda x: [x.default_factory, list(x)],
     lambda children, made: defaultdict(made[0], zip(made[1], children, strict=True)),
     _keyed)  # fmt: skip
