# SPDX-License-Identifier: Apache-2.0
"""The adaptive softmax, for many classes of which few are frequent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..._C import Tensor
from ..._functions import cat, zeros
from ..._types import DeviceLike, DtypeLike, FactoryOptions
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor  # the logarithm of the target's probability, for each row
    loss: Tensor  # the negated mean


class AdaptiveLogSoftmaxWithLoss(Module):
    """The logarithm of a softmax over classes in clusters (Grave et al. 2017, section 4): the head
    has the frequent classes and one entry for each cluster, whose classes have a softmax of their
    own behind a projection to fewer features. A cluster without a target is not computed.

    Arguments:
        in_features: features of the input
        n_classes: number of classes, the frequent ones first
        cutoffs: the first class of each cluster, ascending, from 1 to n_classes - 1
        div_value: cluster i, counted from 1, has in_features / div_value^i features, rounded down
        head_bias: whether the head adds a bias

    Called with [n, in_features] and classes [n], or [in_features] and a class, returns a named
    pair: output, the logarithms of the targets' probabilities, [n] or 0-d; and loss, their negated
    mean.

    Errors: ValueError (cutoffs), RuntimeError (shapes that do not fit, a class out of range).

    Shape: input [n, in_features] and target [n], or [in_features] and [], to output [n] or [], and
    loss [].

    Initialisation: that of Linear for the head and each cluster's two layers: U(-k, k), k = 1 /
    sqrt(features that the layer reads).
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__()
        given = list(cutoffs)
        ascending = all(a < b for a, b in zip([0, *given], [*given, n_classes]))
        if not given or not ascending or any(int(c) != c for c in given):
            raise ValueError(
                f"AdaptiveLogSoftmaxWithLoss: cutoffs is {given}, wanted ascending "
                f"integers from 1 to {n_classes - 1}"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*given, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(given)
        self.head_size = self.shortlist_size + self.n_clusters
        how: FactoryOptions = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, head_bias, **how)
        self.tail: ModuleList[Sequential] = ModuleList()
        for i, (low, high) in enumerate(zip(given, self.cutoffs[1:]), start=1):
            fewer = int(in_features // div_value**i)
            self.tail.append(
                Sequential(
                    Linear(in_features, fewer, False, **how),
                    Linear(fewer, high - low, False, **how),
                )
            )

    def reset_parameters(self) -> None:
        """Draws new parameters."""
        for module in (self.head, *(layer for cluster in self.tail for layer in cluster)):
            module.reset_parameters()

    if TYPE_CHECKING:

        def __call__(self, input_: Tensor, target_: Tensor) -> _ASMoutput: ...

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        self._check(input_, target_)
        batched = target_.ndim == 1
        input, target = (x if batched else x.unsqueeze(0) for x in (input_, target_))
        column = target  # of the head: the class, or its cluster
        inside = zeros(len(target), dtype=input.dtype, device=input.device)
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if not rows.numel():
                continue
            logs = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
            place = (target.index_select(0, rows) - low).unsqueeze(1)
            inside = inside.index_copy(0, rows, logs.gather(1, place).squeeze(1))
            column = column.index_fill(0, rows, self.shortlist_size + i)
        head = F.log_softmax(self.head(input), dim=1)
        output = inside + head.gather(1, column.unsqueeze(1)).squeeze(1)
        loss = -output.mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _check(self, input: Tensor, target: Tensor) -> None:
        name = type(self).__name__
        if target.ndim > 1:
            raise RuntimeError(f"{name}: argument 2 (target_) is {target.ndim}D, wanted 0D or 1D")
        if input.ndim != target.ndim + 1:
            raise RuntimeError(
                f"{name}: argument 1 (input_) is {input.ndim}D, wanted "
                f"{target.ndim + 1}D for a {target.ndim}D target_"
            )
        if target.ndim == 1 and input.shape[0] != target.shape[0]:
            raise RuntimeError(
                f"{name}: argument 2 (target_) has {target.shape[0]} entries, "
                f"wanted {input.shape[0]}, the rows of input_"
            )
        if ((target < 0) | (target >= self.n_classes)).any():
            raise RuntimeError(
                f"{name}: argument 2 (target_) holds classes from "
                f"{target.min().item()} to {target.max().item()}, wanted 0 to "
                f"{self.n_classes - 1}"
            )

    def _get_full_log_prob(self, input: Tensor, head: Tensor) -> Tensor:
        logs = F.log_softmax(head, dim=1)
        parts = [logs[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail, start=self.shortlist_size):
            parts.append(F.log_softmax(cluster(input), dim=1) + logs[:, i : i + 1])
        return cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The logarithms of the probabilities of all classes, [n, n_classes], for [n,
        in_features]."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row of [n, in_features], int64 [n]: that of log_prob;
        clusters are computed only for rows where one of them exceeds all frequent classes."""
        head = self.head(input)
        found = head.argmax(1)
        rare = found >= self.shortlist_size
        if not rare.any():
            return found
        of_rare = self._get_full_log_prob(input[rare], head[rare]).argmax(1)
        return found.masked_scatter(rare, of_rare)
