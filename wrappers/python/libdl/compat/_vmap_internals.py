# SPDX-License-Identifier: Apache-2.0
"""vmap under PyTorch's former name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .func import vmap as vmap

__all__ = ["vmap"]


def _vmap(
    func: Callable[..., Any],
    in_dims: object = 0,
    out_dims: object = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """func for batches; with allow_none_pass_through, results that are None stay None."""
    if not allow_none_pass_through:
        return vmap(func, in_dims, out_dims)

    def for_batches(*args: object) -> Any:
        places: list[bool] = []
        single = False

        def without(*samples: object) -> Any:
            nonlocal single
            answer = func(*samples)
            single = not isinstance(answer, tuple)
            results = (answer,) if single else answer
            places[:] = [x is None for x in results]
            return tuple(x for x in results if x is not None)

        kept = iter(vmap(without, in_dims, out_dims)(*args))
        results = tuple(None if absent else next(kept) for absent in places)
        return results[0] if single else results

    return for_batches
