# SPDX-License-Identifier: Apache-2.0
"""Schedules that multiply every group's rate by the same factor."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, of_groups


class _FactorLR(LRScheduler):
    """Subclasses write the two factors of the current epoch."""

    def _factor(self) -> float | None:
        """By which the last rate is multiplied; None: it stays as it is."""
        raise NotImplementedError

    def _total_factor(self) -> float:
        """By which the initial rate is multiplied."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        factor, rates = self._factor(), of_groups(self.optimizer, "lr")
        return rates if factor is None else [rate * factor for rate in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self._total_factor()
        return [base * factor for base in self.base_lrs]


class StepLR(_FactorLR):
    """Multiplies the rate by gamma every step_size epochs.

    Arguments:
        optimizer: the optimizer whose groups are set
        step_size: the number of epochs between two reductions
        gamma: the factor of each reduction
        last_epoch: the last epoch done; -1: none
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        if step_size <= 0:
            raise ValueError(f"StepLR: step_size is {step_size}, wanted at least 1")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if due else None

    def _total_factor(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_FactorLR):
    """Multiplies the rate by gamma at each milestone.

    Arguments:
        optimizer: the optimizer whose groups are set
        milestones: epochs, in any order; one that occurs twice counts twice
        gamma: the factor of each reduction
        last_epoch: the last epoch done; -1: none
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        count = self.milestones.get(self.last_epoch)
        return None if count is None else self.gamma**count

    def _total_factor(self) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ConstantLR(_FactorLR):
    """Multiplies the rate by a factor for the first total_iters epochs.

    Arguments:
        optimizer: the optimizer whose groups are set
        factor: from 0 to 1. After 0 the rates are the initial ones again
        total_iters: the number of epochs with the smaller rate
        last_epoch: the last epoch done; -1: none
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        _check_factor("ConstantLR", "factor", factor)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.factor == 0 and self.last_epoch == self.total_iters != 0:  # no factor undoes 0
            return self.base_lrs
        return super().get_lr()

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None

    def _total_factor(self) -> float:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(_FactorLR):
    """Changes the rate along a straight line during the first total_iters epochs.

    Arguments:
        optimizer: the optimizer whose groups are set
        start_factor: of the initial rate at the beginning, above 0, at most 1
        end_factor: of the initial rate from epoch total_iters on, from 0 to 1
        total_iters: the length of the line in epochs
        last_epoch: the last epoch done; -1: none
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor == 0:
            raise ValueError("LinearLR: start_factor is 0, wanted more: nothing grows from it")
        _check_factor("LinearLR", "start_factor", start_factor)
        _check_factor("LinearLR", "end_factor", end_factor)
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return max(0.0, 1.0 + rise / before)  # rounding would lead past an end_factor of 0

    def _total_factor(self) -> float:
        rise = self.end_factor - self.start_factor
        done = min(self.total_iters, self.last_epoch)
        return self.start_factor + rise * done / (self.total_iters or 1)


class ExponentialLR(_FactorLR):
    """Multiplies the rate by gamma every epoch.

    Arguments:
        optimizer: the optimizer whose groups are set
        gamma: the factor
        last_epoch: the last epoch done; -1: none
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _total_factor(self) -> float:
        return self.gamma**self.last_epoch


class PolynomialLR(_FactorLR):
    """The initial rate times (1 - epoch / total_iters)^power, and 0 from total_iters on.

    Arguments:
        optimizer: the optimizer whose groups are set
        total_iters: the epoch at which the rate is 0
        power: the exponent
        last_epoch: the last epoch done; -1: none
    """

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        left, before = (1.0 - e / self.total_iters for e in (self.last_epoch, self.last_epoch - 1))
        factor: float = (left / before) ** self.power
        return factor

    def _total_factor(self) -> float:
        done = min(self.total_iters, self.last_epoch) / (self.total_iters or 1)
        factor: float = (1.0 - done) ** self.power
        return factor


def _check_factor(name: str, argument: str, factor: float) -> None:
    if not 0 <= factor <= 1:
        raise ValueError(f"{name}: {argument} is {factor}, wanted 0 to 1")
