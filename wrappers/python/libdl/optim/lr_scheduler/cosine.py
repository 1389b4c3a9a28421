# SPDX-License-Identifier: Apache-2.0
"""Schedules along half a cosine."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, of_groups


class CosineAnnealingLR(LRScheduler):
    """From the initial rate down to eta_min in T_max epochs, then up again, and so on:
    eta_min + (initial - eta_min) * (1 + cos(pi * epoch / T_max)) / 2.

    Arguments:
        optimizer: the optimizer whose groups are set
        T_max: half a period, in epochs
        eta_min: the lowest rate
        last_epoch: the last epoch done; -1: none
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_max == 0:
            raise ValueError("CosineAnnealingLR: T_max is 0, wanted at least 1")
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        rates, epoch = of_groups(self.optimizer, "lr"), self.last_epoch
        if self._is_initial:
            return rates
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the last rate was eta_min
            rise = 1 - math.cos(math.pi / self.T_max)
            bases = zip(rates, self.base_lrs, strict=True)
            return [rate + (base - self.eta_min) * rise / 2 for rate, base in bases]
        ratio = self._height(epoch) / self._height(epoch - 1)
        return [ratio * (rate - self.eta_min) + self.eta_min for rate in rates]

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def _get_closed_form_lr(self) -> list[Any]:
        height = self._height(self.last_epoch)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the initial rate down to eta_min in a period, then from the initial rate again:
    eta_min + (initial - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2.

    Arguments:
        optimizer: the optimizer whose groups are set
        T_0: the first period in epochs
        T_mult: by which each period is longer than the one before, a whole number
        eta_min: the lowest rate
        last_epoch: the last epoch done; -1: none

    step(epoch) takes fractions, too: epoch + i / n after batch i of n.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"CosineAnnealingWarmRestarts: {name} is {value}, wanted an integer, at least 1"
                )
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"CosineAnnealingWarmRestarts: eta_min is a {type(eta_min).__name__}, wanted a "
                "number"
            )
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self.T_i = T_0
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Goes on by one epoch, or to the given one, which may have a fraction."""
        begins = self._is_initial or self.last_epoch < 0
        if epoch is not None or begins:
            epoch = self.last_epoch + 1 if epoch is None else epoch
            self._find_period(epoch)
        else:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        self.last_epoch = math.floor(epoch)
        with self._within_step():
            self._set_rates(self.get_lr())

    def _find_period(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(
                f"CosineAnnealingWarmRestarts.step: epoch is {epoch}, wanted at least 0"
            )
        self.T_i = self.T_0
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
            return
        self.T_cur = epoch
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
