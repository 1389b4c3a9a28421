# SPDX-License-Identifier: Apache-2.0
"""What distributions of vectors over finitely many classes have of Categorical."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from .. import Size
from .._C import Tensor
from . import constraints
from .categorical import Categorical
from .distribution import Distribution


class OverClasses(Distribution):
    """A distribution of vectors with an entry for each class of a Categorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        new = super().expand(batch_shape, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return new

    @property
    def probs(self) -> Tensor:
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """Shape of probs and logits."""
        return self._categorical.param_shape
