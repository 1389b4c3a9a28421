# SPDX-License-Identifier: Apache-2.0
"""The LKJ distribution of correlation matrices, by their Cholesky factors."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import Size, arange, cat, finfo, no_grad, randn
from .._C import Tensor
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices C with density ~ det(C)^(concentration - 1).

    Lewandowski, Kurowicka and Joe 2009; all correlations are equally likely for concentration 1.

    Arguments:
        dim: how many rows, 2 or more
        concentration: above 0; the larger, the smaller the correlations
        validate_args: see Distribution
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(f"LKJCholesky: dim is {dim}, wanted 2 or more")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def _squared_lengths(self) -> Beta:
        """The distribution of what the rows have below the diagonal."""
        a = self.concentration
        known = arange(self.dim - 1, dtype=a.dtype, device=a.device)
        below = cat([known.new_zeros((1,)), known])
        other = (a + 0.5 * (self.dim - 2)).unsqueeze(-1) - 0.5 * below
        return Beta(0.5 * below + 0.5, other, validate_args=False)

    def _parts_in_files(self) -> dict[str, Any]:
        return {"_beta": self._squared_lengths()}

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """By the onion method: the length of each row's part below the diagonal is drawn, then its
        direction."""
        shape, a = self._extended_shape(sample_shape), self.concentration
        with no_grad():
            length = self._squared_lengths().sample(sample_shape)
            noise = randn(shape, dtype=a.dtype, device=a.device).tril(-1)
            norm = noise.square().sum(-1, keepdim=True).sqrt()
            norm = norm + (norm == 0).to(a.dtype)  # the first row has nothing below
            rows = length.sqrt().unsqueeze(-1) * (noise / norm)
            rest = (1 - rows.square().sum(-1)).clamp(min=finfo(a.dtype).tiny)
            return rows + rest.sqrt().diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        """Of the factor: the density of C times the Jacobian of C's factorization."""
        self._check(value)
        n, a = self.dim, self.concentration
        logs = value.diagonal(0, -2, -1)[..., 1:].log()
        row = arange(2, n + 1, dtype=a.dtype, device=a.device)
        power = 2 * (a - 1).unsqueeze(-1) + n - row
        return (power * logs).sum(-1) - self._log_normalizer()

    def _log_normalizer(self) -> Tensor:
        k = self.dim - 1
        top = self.concentration + 0.5 * k
        total: Any = 0.5 * k * math.log(math.pi) + 0.25 * k * (k - 1) * math.log(math.pi)
        for j in range(k):
            total = total + (top - 0.5 - 0.5 * j).lgamma()
        return total - k * top.lgamma()
