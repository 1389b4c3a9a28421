# SPDX-License-Identifier: Apache-2.0
"""Two tensors that change places."""

from __future__ import annotations

import weakref

from .. import _C
from .._C import Tensor


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchanges what two tensors are: elements, class, attributes, gradient and history. Whoever
    holds one of the objects holds the other tensor from then on.

    Example:
        >>> a, b = torch.zeros(1), torch.ones(2)
        >>> torch.utils.swap_tensors(a, b)
        >>> a, b
        (tensor([1., 1.]), tensor([0.]))
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(
                f"swap_tensors: Cannot swap {name} because it has weakref associated with it"
            )
    if type(t1) is not type(t2):
        t1.__class__, t2.__class__ = type(t2), type(t1)
    _C.swap_contents(t1, t2)
