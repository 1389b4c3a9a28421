# SPDX-License-Identifier: Apache-2.0
"""A layer that mixes groups of channels."""

from __future__ import annotations

from ..._C import Tensor
from .. import functional as F
from .module import Layer, Module as Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Layer):
    """Takes channels from each of the groups in turn.

    Shape: [n, c, ...]; the result has the same.
    """

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
