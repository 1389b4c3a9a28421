# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private path of vmap, and of the parts of its own that programs import."""

from __future__ import annotations

from typing import Any

from .._C import Tensor as Tensor
from .._named_only import refusing
from ..func import vmap as vmap
from ..utils._pytree import (
    _broadcast_to_and_flatten as _broadcast_to_and_flatten,
    tree_flatten as tree_flatten,
    tree_map_ as tree_map_,
    tree_unflatten as tree_unflatten,
)

_REASON = "levels of vmap are not opened and closed by hand here; use libdl.func.vmap"
_add_batch_dim = refusing("_functorch.vmap._add_batch_dim", _REASON)
_create_batched_inputs = refusing("_functorch.vmap._create_batched_inputs", _REASON)
_flat_vmap = refusing("_functorch.vmap._flat_vmap", _REASON)
_maybe_remove_batch_dim = refusing("_functorch.vmap._maybe_remove_batch_dim", _REASON)
_process_batched_inputs = refusing("_functorch.vmap._process_batched_inputs", _REASON)
_remove_batch_dim = refusing("_functorch.vmap._remove_batch_dim", _REASON)
_unwrap_batched = refusing("_functorch.vmap._unwrap_batched", _REASON)
_vmap_decrement_nesting = refusing("_functorch.vmap._vmap_decrement_nesting", _REASON)
_vmap_increment_nesting = refusing("_functorch.vmap._vmap_increment_nesting", _REASON)


def _get_name(func: Any) -> str:
    """The function's name, or what it prints as."""
    return str(getattr(func, "__name__", None) or repr(func))
