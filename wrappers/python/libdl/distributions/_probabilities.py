# SPDX-License-Identifier: Apache-2.0
"""Distributions that are given by probabilities, or by their log-odds or logarithms."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from .. import Size
from .._C import Tensor
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class Probabilities(Distribution):
    """The attributes probs and logits, of which one is given and the other computed when asked."""

    _is_binary = True

    def _take(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Keeps the one that is given, and returns it and the others, broadcast."""
        if (probs is None) == (logits is None):
            raise ValueError(f"{type(self).__name__}: wanted probs or logits, and not both")
        self._given = "logits" if probs is None else "probs"
        values = broadcast_all(logits if probs is None else probs, *others)
        setattr(self, self._given, values[0])
        return values

    def _parts_in_files(self) -> dict[str, Any]:
        return {"_param": self._param}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = dict(state)
        param = kept.pop("_param", None)
        if "_given" not in kept:  # PyTorch's
            kept["_given"] = "probs" if kept.get("probs") is param else "logits"
        self.__dict__.update(kept)

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, self._is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, self._is_binary)

    @property
    def _param(self) -> Tensor:
        return getattr(self, self._given)

    @property
    def param_shape(self) -> Size:
        """Shape of probs and logits."""
        return self._param.shape

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)
