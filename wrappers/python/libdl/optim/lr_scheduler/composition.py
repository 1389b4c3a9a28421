# SPDX-License-Identifier: Apache-2.0
"""Schedules made of schedules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, of_groups, set_option
from .plateau import ReduceLROnPlateau


class _Composition(LRScheduler):
    """Keeps schedules of one optimizer. A state has their states."""

    _schedulers: Sequence[LRScheduler]

    def _take(self, optimizer: Optimizer | None, schedulers: Sequence[LRScheduler]) -> None:
        name = type(self).__name__
        if len(schedulers) == 0:
            raise ValueError(f"{name}: schedulers is empty, wanted at least one")
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{name}: schedulers[{i}] is a {type(scheduler).__name__}, wanted a scheduler "
                    "with an attribute optimizer"
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name}: schedulers[{i}] is a ReduceLROnPlateau, whose step wants a metric"
                )
            optimizer = scheduler.optimizer if optimizer is None else optimizer
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name}: schedulers[{i}], a {type(scheduler).__name__}, belongs to another "
                    "optimizer"
                )
        assert optimizer is not None
        self.optimizer, self._schedulers = optimizer, schedulers

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begins with epoch 0, when its turn in a SequentialLR comes."""
        self._reset_rates()
        self._initial_step()

    def _reset_rates(self) -> None:
        for group in self.optimizer.param_groups:
            set_option(group, "lr", group["initial_lr"])

    def state_dict(self) -> dict[str, Any]:
        states = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": states}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        state = dict(state_dict)
        for scheduler, part in zip(self._schedulers, state.pop("_schedulers"), strict=True):
            scheduler.load_state_dict(part)
        super().load_state_dict(state)


class SequentialLR(_Composition):
    """One schedule after the other: the first up to milestones[0], and so on. Each begins with its
    epoch 0 at its milestone.

    Arguments:
        optimizer: the optimizer of all of them
        schedulers: made before, in the order of their turns
        milestones: the epochs at which the second and later ones begin, ascending
        last_epoch: the last epoch done; -1: none
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR: milestones has {len(milestones)} epochs, wanted {len(schedulers)}"
                " - 1, one between each two schedulers"
            )
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self._reset_rates()
        self.recursive_undo()
        self._step_first()

    def _initial_step(self) -> None:
        self.last_epoch += 1
        self._step_first()

    def _step_first(self) -> None:
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Takes back the step that each schedule, and the parts of a composition, took when
        made."""
        taken = self if sched is None else sched
        for part in getattr(taken, "_schedulers", ()):
            self.recursive_undo(part)
        if sched is not None and hasattr(sched, "last_epoch"):
            sched.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Goes on by one epoch."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Composition):
    """Several schedules at once: each goes on from the rates that the one before it has set.

    Arguments:
        schedulers: made before, in the order of their steps
        optimizer: the optimizer of all of them; None: the first one's
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._take(optimizer, schedulers)
        self._last_lr = of_groups(self.optimizer, "lr")

    def _initial_step(self) -> None:
        for scheduler in self._schedulers:
            scheduler._initial_step()
        self._last_lr = of_groups(self.optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Goes on by one epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = of_groups(self.optimizer, "lr")
