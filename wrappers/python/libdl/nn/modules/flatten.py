# SPDX-License-Identifier: Apache-2.0
"""Layers that merge or split dimensions."""

from __future__ import annotations


from ..._C import Tensor
from .module import Layer, Module as Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Layer):
    """Merges several adjacent dimensions into one.

    Shape: [..., s_i, ..., s_j, ...] to [..., s_i ... s_j, ...], for i = start_dim and j = end_dim.
    """

    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Layer):
    """Splits one dimension into several.

    Shape: [..., s, ...], with s the size of dim, to [..., *unflattened_size, ...].
    """

    __constants__ = ["dim", "unflattened_size"]

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]) -> None:
        super().__init__()
        self._require_tuple_int(unflattened_size)
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def _require_tuple_int(self, input: object) -> None:
        if not isinstance(input, (tuple, list)):
            raise TypeError(
                f"Unflatten: unflattened_size is a {type(input).__name__}, wanted a tuple of ints"
            )
        for i, size in enumerate(input):
            if not isinstance(size, int):
                raise TypeError(
                    f"Unflatten: unflattened_size[{i}] is a {type(size).__name__}, wanted an int"
                )

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
