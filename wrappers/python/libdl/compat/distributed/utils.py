# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's wrappers of modules share."""

from __future__ import annotations

from typing import Any

from .._named_only import refusing

_GROUPS = "groups of processes that train together are not offered"
_sync_module_states = refusing("distributed.utils._sync_module_states", _GROUPS)
_verify_param_shape_across_processes = refusing(
    "distributed.utils._verify_param_shape_across_processes", _GROUPS
)


def _apply_to_tensors(fn: Any, container: object) -> Any:
    """The container with fn(tensor) for each tensor in it."""
    from .. import Tensor
    from ..utils._pytree import tree_map_only

    return tree_map_only(Tensor, fn, container)
