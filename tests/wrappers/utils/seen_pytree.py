# SPDX-License-Identifier: Apache-2.0
"""Programs with trees, for test_pytree.py; tests/answered.py stores PyTorch's answers."""

import importlib
from collections import OrderedDict, defaultdict, deque, namedtuple

from wrappers.answers import told

Pair = namedtuple("Pair", "a b", module="trees")


class Interval:
    """A class that no library knows."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __eq__(self, other):
        return isinstance(other, Interval) and vars(self) == vars(other)


class OwnList(list):
    pass


def trees(m):
    return importlib.import_module(f"{m.__name__}.utils._pytree")


def tall():
    return {
        "b": [1, (2, None)],
        "a": Pair(3, OrderedDict(x=4)),
        "d": deque([5], maxlen=3),
        "e": defaultdict(list, {"q": 6}),
        "empty": [[], (), {}],
    }


def structures(m):
    """Leaves, structures as text, and their counts."""
    p = trees(m)
    answers = []
    for tree in (tall(), 3, None, [], (), {}, [1, [2]], OwnList([1]), Pair(1, (2,))):
        leaves, spec = p.tree_flatten(tree)
        counts = [spec.num_leaves, spec.num_nodes, spec.num_children]
        answers.append([repr(leaves), repr(spec), counts, spec.is_leaf(), p.tree_is_leaf(tree)])
        assert p.tree_unflatten(leaves, spec) == tree
    spec = p.tree_structure([1, [2]])
    return [
        answers,
        repr(spec.child(1)),
        repr(spec.children()),
        str(spec.type),
        p.tree_structure({"a": 1, "b": 2}) == p.tree_structure({"b": 1, "a": 2}),
        p.tree_structure([1, 2]) == p.tree_structure([3, 4]),
        p.LeafSpec() == p.tree_structure(1),
        repr(p.tree_unflatten(list("abcdefg"), p.tree_structure(tall()))),
    ]


def maps(m):
    """tree_map over one tree and over several."""
    p = trees(m)
    pair = lambda *parts: parts  # noqa: E731

    def mapped(*given, **options):
        return repr(told(p.tree_map, *given, **options))

    return [
        mapped(pair, tall()),
        mapped(pair, [1, 2], [3, (4, 5)]),
        mapped(pair, {"a": 1, "b": 2}, OrderedDict(b=2, a=1)),
        mapped(pair, (1, [2, 3]), is_leaf=lambda x: isinstance(x, list)),
        mapped(pair, deque([1], maxlen=2), deque([2])),
        repr(p.tree_map_only(int, lambda x: x + 1, [1, "a", 2.0, True])),
        repr(p.tree_map_only((int, str), lambda x: x * 2, [1, "a", 2.0])),
        repr(p.tree_map_only(lambda x: x == 1, lambda x: x * 7, [1, "a", 2.0])),
        p.map_only(int)(lambda x: x * 7)(3),
        p.arg_tree_leaves(1, [2], a=(3,)),
        p.tree_map_(lambda x: None, [1, 2]),
        list(p.tree_iter([1, [2]])),
        p.tree_all(lambda x: x > 0, [1, [2]]),
        p.tree_any(lambda x: x > 1, [1, [0]]),
        p.tree_any_only(int, lambda x: x > 5, [1, "a"]),
        p.tree_all_only(int, lambda x: x > 0, [1, "a"]),
        p.is_namedtuple(Pair(1, 2)),
        p.is_namedtuple((1,)),
        p.is_namedtuple_class(Pair),
    ]


def paths(m):
    p = trees(m)
    leaves, spec = p.tree_flatten_with_path(tall())
    tree = {"a": [1, 2]}
    return [
        [[p.keystr(path), repr(leaf)] for path, leaf in leaves],
        repr(spec),
        repr(p.tree_leaves_with_path((1, Pair(2, 3)))),
        p.tree_map_with_path(lambda k, x, y: [p.keystr(k), x + y], tree, tree),
        p.key_get(tree, (p.MappingKey("a"), p.SequenceKey(1))),
    ]


def registered(m):
    """A class of the program."""
    p = trees(m)
    kind = type("Range", (Interval,), {})  # its own for each call: a class registers once

    def register(**options):
        p.register_pytree_node(
            kind, lambda x: ([x.low, x.high], None), lambda children, _: kind(*children), **options
        )

    before = len(p.tree_leaves(kind(1, [2, 3])))
    register()
    leaves, spec = p.tree_flatten(kind(1, [2, 3]))
    doubled = p.tree_map(lambda x: 2 * x, kind(1, [2, 3]))
    return [
        before,
        leaves,
        repr(spec),
        type(doubled) is kind,
        doubled.low,
        doubled.high,
        told(register),
        told(p.tree_leaves_with_path, kind(1, 2)),
    ]


def broadcasts(m):
    """A tree whose leaves stand for whole branches of a structure, as vmap's in_dims."""
    p = trees(m)
    of = p._broadcast_to_and_flatten
    return [
        of(1, p.tree_structure([1, 2])),
        of([1, [2]], p.tree_structure([1, 2])),
        of([1, 2], p.tree_structure([1, [2, 3]])),
        of([1], p.tree_structure([1, 2])),
        of((1, 2), p.tree_structure([1, 2])),
        of([], p.tree_structure([])),
    ]


def errors(m):
    p = trees(m)
    two = p.tree_structure([1, 2])
    return [
        told(p.tree_unflatten, [1], two),
        told(p.tree_unflatten, [1, 2, 3], two),
        told(two.flatten_up_to, [(1, 2)]),
        told(two.flatten_up_to, (1, 2)),
        told(p.tree_map, max, [1, [2, 3]], [3, 4]),
        told(p.tree_map, max, {"a": 1}, {"b": 2}),
        told(p.tree_map, max, Pair(1, 2), (1, 2)),
        told(p.tree_unflatten, 5, two),
    ]


PROGRAMS = (structures, maps, paths, registered, broadcasts, errors)
