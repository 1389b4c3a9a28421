# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private path of trees for graphs."""

from __future__ import annotations

from typing import Any

from ..utils._pytree import PyTree, TreeSpec, tree_flatten as tree_flatten

SUPPORTED_NODES: dict[type, Any] = {}


def register_pytree_flatten_spec(
    cls: type, flatten_fn_spec: object, flatten_fn_exact_match_spec: object = None
) -> None:
    """How a class's children are found by a structure."""
    SUPPORTED_NODES[cls] = flatten_fn_spec


def tree_flatten_spec(
    pytree: PyTree, spec: TreeSpec, exact_structural_match: bool = False
) -> list[Any]:
    """The parts of the tree that stand where the structure has leaves."""
    if spec.is_leaf():
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        return spec.flatten_up_to(pytree)
    children = SUPPORTED_NODES[spec.type](pytree, spec)
    parts = zip(children, spec.children(), strict=True)
    return [leaf for child, below in parts for leaf in tree_flatten_spec(child, below)]
