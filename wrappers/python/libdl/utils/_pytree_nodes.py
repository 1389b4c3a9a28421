# SPDX-License-Identifier: Apache-2.0
"""The classes that are nodes of trees, and the keys under which they hold their children."""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
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

    def get(self, mapping: Mapping[Any, Any]) -> Any:
        return mapping[self.key]


@dataclass(frozen=True)
class SequenceKey:
    """The place of a child in a tuple, list or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[Any]) -> Any:
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


def key_get(obj: object, kp: KeyPath) -> Any:
    """What stands at the path below the object."""
    for key in kp:
        obj = key.get(obj)
    return obj


class NodeDef(NamedTuple):
    """How a class is taken apart and put together again."""

    type: Any
    flatten_fn: Callable[[Any], tuple[Any, Context]]
    """flatten_fn(node): its children and what else belongs to it"""
    unflatten_fn: Callable[[Iterable[Any], Context], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[Any, Context]] | None
    """flatten_fn with (key, child) in place of each child; None: the class has no paths"""


class Dump(NamedTuple):
    """How a class is written as text."""

    name: str
    to_dumpable_context: Callable[[Context], Any] | None
    from_dumpable_context: Callable[[Any], Context] | None


NODES: dict[Any, NodeDef] = {}
DUMPS: dict[Any, Dump] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Any, Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Context], Any] | None = None,
    from_dumpable_context: Callable[[Any], Context] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[Any, Context]] | None = None,
) -> None:
    """Makes the class a node. flatten_fn(node) gives (children, context), unflatten_fn(children,
    context) the node again, and flatten_with_keys_fn(node) gives ([(key, child)], context).
    serialized_type_name and the context's two functions serve treespec_dumps and treespec_loads.

    Raises: ValueError, if the class is registered."""
    if cls in NODES:
        raise ValueError(f"register_pytree_node: {cls} is registered already")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            "register_pytree_node: found one of to_dumpable_context and "
            "from_dumpable_context, wanted both or neither"
        )
    NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    if serialized_type_name is not None:
        DUMPS[cls] = Dump(serialized_type_name, to_dumpable_context, from_dumpable_context)


def is_namedtuple_class(cls: type) -> bool:
    """Whether the class is a namedtuple, of collections or of typing."""
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple(obj: object) -> bool:
    """Whether the object is a namedtuple, or the class of one."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def kind_of(tree: object) -> Any:
    """What the object's class is registered as, namedtuple for all namedtuples; None: a leaf."""
    cls = type(tree)
    if cls in NODES:
        return cls
    return namedtuple if isinstance(tree, tuple) and is_namedtuple_class(cls) else None


def is_structseq_class(cls: object) -> bool:
    """Whether the class is a structure of C that is also a tuple, as that of os.times()."""
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(
            isinstance(getattr(cls, name, None), int)
            for name in ("n_fields", "n_sequence_fields", "n_unnamed_fields")
        )
    )


def is_structseq(obj: object) -> bool:
    """Whether the object is such a structure, or the class of one."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj: object) -> bool:
    """Whether the object is such a structure."""
    return is_structseq_class(type(obj))


def is_namedtuple_instance(obj: object) -> bool:
    """Whether the object is a namedtuple."""
    return is_namedtuple_class(type(obj))


# -- Python's own containers -----------------------------------------------------------------------


def _indexed(sequence: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(SequenceKey(i), child) for i, child in enumerate(sequence)]


def _keyed(mapping: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    return [(MappingKey(key), child) for key, child in mapping.items()]


def _named(named: Any) -> list[tuple[Any, Any]]:
    return [(GetAttrKey(name), child) for name, child in zip(named._fields, named, strict=True)]


def _tuple_flatten(d: tuple[Any, ...]) -> tuple[list[Any], Context]:
    return list(d), None


def _tuple_flatten_with_keys(d: tuple[Any, ...]) -> tuple[list[Any], Context]:
    return _indexed(d), None


def _tuple_unflatten(values: Iterable[Any], context: Context) -> tuple[Any, ...]:
    return tuple(values)


def _list_flatten(d: list[Any]) -> tuple[list[Any], Context]:
    return d, None


def _list_flatten_with_keys(d: list[Any]) -> tuple[list[Any], Context]:
    return _indexed(d), None


def _list_unflatten(values: Iterable[Any], context: Context) -> list[Any]:
    return list(values)


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[Any], Context]:
    return _keyed(d), list(d)


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _namedtuple_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d), type(d)


def _namedtuple_flatten_with_keys(d: object) -> tuple[list[Any], Context]:
    return _named(d), type(d)


def _namedtuple_unflatten(values: Iterable[Any], context: Context) -> Any:
    return context(*values)


def _ordereddict_flatten(d: OrderedDict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d)


def _ordereddict_flatten_with_keys(d: OrderedDict[Any, Any]) -> tuple[list[Any], Context]:
    return _keyed(d), list(d)


def _ordereddict_unflatten(values: Iterable[Any], context: Context) -> OrderedDict[Any, Any]:
    return OrderedDict(zip(context, values, strict=True))


def _defaultdict_flatten(d: defaultdict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), [d.default_factory, list(d)]


def _defaultdict_flatten_with_keys(d: defaultdict[Any, Any]) -> tuple[list[Any], Context]:
    return _keyed(d), [d.default_factory, list(d)]


def _defaultdict_unflatten(values: Iterable[Any], context: Context) -> defaultdict[Any, Any]:
    return defaultdict(context[0], zip(context[1], values, strict=True))


def _deque_flatten(d: deque[Any]) -> tuple[list[Any], Context]:
    return list(d), d.maxlen


def _deque_flatten_with_keys(d: deque[Any]) -> tuple[list[Any], Context]:
    return _indexed(d), d.maxlen


def _deque_unflatten(values: Iterable[Any], context: Context) -> deque[Any]:
    return deque(values, maxlen=context)


def _add(cls: Any, dump: Dump, *functions: Any) -> None:
    NODES[cls], DUMPS[cls] = NodeDef(cls, *functions), dump


def _dumpable_defaultdict(context: Context) -> dict[str, Any]:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _loaded_defaultdict(text: Any) -> Context:
    import importlib

    module = importlib.import_module(text["default_factory_module"])
    return [getattr(module, text["default_factory_name"]), text["dict_context"]]


def _plain(name: str) -> Dump:
    return Dump(name, None, None)


_add(tuple, _plain("builtins.tuple"), _tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys)
_add(list, _plain("builtins.list"), _list_flatten, _list_unflatten, _list_flatten_with_keys)
_add(dict, _plain("builtins.dict"), _dict_flatten, _dict_unflatten, _dict_flatten_with_keys)
_add(
    namedtuple,
    _plain("collections.namedtuple"),
    _namedtuple_flatten,
    _namedtuple_unflatten,
    _namedtuple_flatten_with_keys,
)
_add(
    OrderedDict,
    _plain("collections.OrderedDict"),
    _ordereddict_flatten,
    _ordereddict_unflatten,
    _ordereddict_flatten_with_keys,
)
_add(
    defaultdict,
    Dump("collections.defaultdict", _dumpable_defaultdict, _loaded_defaultdict),
    _defaultdict_flatten,
    _defaultdict_unflatten,
    _defaultdict_flatten_with_keys,
)
_add(deque, _plain("collections.deque"), _deque_flatten, _deque_unflatten, _deque_flatten_with_keys)


# -- structures as text ----------------------------------------------------------------------------


def dumped(kind: object, context: Context) -> tuple[str, Any]:
    """A node's class and context as text, or as what its own function made of it."""
    if kind not in DUMPS or kind is namedtuple:
        name = context if kind is namedtuple else kind
        raise NotImplementedError(
            f"treespec_dumps: {name} was registered without serialized_type_name"
        )
    dump = DUMPS[kind]
    if dump.to_dumpable_context is not None:
        return dump.name, dump.to_dumpable_context(context)
    try:
        return dump.name, json.dumps(context)
    except TypeError as error:
        raise TypeError(
            f"treespec_dumps: the context of {kind} cannot be written: {error}"
        ) from error


def loaded(name: str, context: Any) -> tuple[Any, Context]:
    """The class and context of such texts."""
    for kind, dump in DUMPS.items():
        if dump.name == name:
            read = dump.from_dumpable_context or json.loads
            return kind, read(context)
    raise NotImplementedError(f"treespec_loads: {name!r} is not registered")
