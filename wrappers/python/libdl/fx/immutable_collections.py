# SPDX-License-Identifier: Apache-2.0
"""Lists and dictionaries in nodes' arguments: they cannot change behind the graph's back."""

from __future__ import annotations

from typing import Any, NoReturn

from ..utils._pytree import register_pytree_node
from ..utils._pytree_nodes import NODES

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError(
        f"a {type(self).__name__} in a node's arguments cannot change: make a copy, and assign "
        "node.args or node.kwargs, so that the graph learns of it"
    )


class immutable_list(list[Any]):  # noqa: N801  (PyTorch's name)
    """A list that refuses to change."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_list, (tuple(self),)


class immutable_dict(dict[Any, Any]):  # noqa: N801  (PyTorch's name)
    """A dictionary that refuses to change."""

    __delitem__ = __ior__ = __setitem__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_dict, (tuple(self.items()),)


def _register(kind: type, plain: type) -> None:
    of = NODES[plain]
    register_pytree_node(
        kind,
        of.flatten_fn,
        lambda children, ctx: kind(of.unflatten_fn(children, ctx)),
        flatten_with_keys_fn=of.flatten_with_keys_fn,
    )


_register(immutable_list, list)
_register(immutable_dict, dict)
