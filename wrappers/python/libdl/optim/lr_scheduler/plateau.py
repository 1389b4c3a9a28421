# SPDX-License-Identifier: Apache-2.0
"""A schedule by a metric."""

from __future__ import annotations

import math
from typing import Any, Literal, SupportsFloat

from ..optimizer import Optimizer
from .base import LRScheduler, checked, for_groups, of_groups, set_option


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rate by a factor when a metric has not become better for some epochs.

    Arguments:
        optimizer: the optimizer whose groups are set
        mode: whether smaller ("min") or larger ("max") metrics are better
        factor: the factor of each reduction, below 1
        patience: for how many epochs the metric may stay as it is
        threshold: how much better than the best one a metric must be to count
        threshold_mode: whether the threshold is a part of the best one ("rel") or a number ("abs")
        cooldown: for how many epochs after a reduction nothing is counted
        min_lr: no rate gets below it; a number, or a list of one for each group
        eps: a reduction by no more than this is left out
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau: factor is {factor}, wanted less than 1")
        self.factor = factor
        self.optimizer = checked(optimizer)
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = for_groups("ReduceLROnPlateau: min_lr", optimizer, min_lr)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = of_groups(optimizer, "lr")
        self._init_is_better(mode=mode, threshold=threshold, threshold_mode=threshold_mode)
        self._reset()

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        for name, value, words in (
            ("mode", mode, ("min", "max")),
            ("threshold_mode", threshold_mode, ("rel", "abs")),
        ):
            if value not in words:
                raise ValueError(
                    f"ReduceLROnPlateau: {name} is {value!r}, wanted {words[0]!r} or {words[1]!r}"
                )
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf

    def _reset(self) -> None:
        """Forgets the metrics seen."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether nothing is counted because of a recent reduction."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        """Whether a is better than best by more than the threshold."""
        sign = -1 if self.mode == "min" else 1
        step = sign * self.threshold
        bound = best * (1.0 + step) if self.threshold_mode == "rel" else best + step
        return a < bound if self.mode == "min" else a > bound

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore
        """Goes on by one epoch, or to the given one, after which the metric has this value."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = of_groups(self.optimizer, "lr")

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):  # a group was added
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"ReduceLROnPlateau: min_lrs has {len(self.min_lrs)} rates, wanted one for "
                    f"each of {len(groups)} groups: append those of the groups that were added"
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_option(group, "lr", new)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self._init_is_better(
            mode=self.mode, threshold=self.threshold, threshold_mode=self.threshold_mode
        )
