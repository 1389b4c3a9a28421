# SPDX-License-Identifier: Apache-2.0
"""Schedules that let the rate rise and fall, and the momentum fall and rise."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from ..optimizer import Optimizer
from .base import LRScheduler, checked, for_groups, set_option, state_of_function

Rates = float | list[float]


class _CycleLR(LRScheduler):
    """Sets the groups' momentum, too: the option momentum, or the first of betas."""

    cycle_momentum: bool
    use_beta1: bool

    def _begin_momentum(self, base: Rates, largest: Rates, begins: bool) -> tuple[Any, Any]:
        """Puts both bounds into the groups, and the larger one as the momentum."""
        optimizer, name = self.optimizer, type(self).__name__
        self.use_beta1 = "betas" in optimizer.defaults
        if not self.use_beta1 and "momentum" not in optimizer.defaults:
            raise ValueError(
                f"{name}: cycle_momentum is True, but {type(optimizer).__name__} has neither "
                "momentum nor betas"
            )
        bases = for_groups(f"{name}: base_momentum", optimizer, base)
        tops = for_groups(f"{name}: max_momentum", optimizer, largest)
        if begins:
            for group, low, high in zip(optimizer.param_groups, bases, tops, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return bases, tops

    def _set_momentum(self, group: dict[str, Any], momentum: object) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_CycleLR):
    """Between base_lr and max_lr, up in step_size_up steps and down in step_size_down, again and
    again; the momentum the other way round. Called after each batch.

    Arguments:
        optimizer: the optimizer whose groups are set
        base_lr, max_lr: the bounds; numbers, or lists of one for each group
        step_size_up: the steps of the rising half
        step_size_down: the steps of the falling half; None: as many
        mode: how the height of the cycles changes: "triangular" not at all, "triangular2" halved
            in each cycle, "exp_range" gamma^step
        gamma: for "exp_range"
        scale_fn: another function for the height, instead of mode
        scale_mode: whether scale_fn takes the number of the "cycle", from 1, or of the "iterations"
        cycle_momentum: whether the momentum changes
        base_momentum, max_momentum: its bounds; numbers, or lists of one for each group
        last_epoch: the last step done; -1: none
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Rates,
        max_lr: Rates,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = checked(optimizer)
        if scale_fn is None and mode not in _SCALED_BY:
            raise ValueError(f"CyclicLR: mode is {mode!r}, wanted one of {', '.join(_SCALED_BY)}")
        if step_size_up <= 0:
            raise ValueError(f"CyclicLR: step_size_up is {step_size_up}, wanted at least 1")
        base_lrs = for_groups("CyclicLR: base_lr", optimizer, base_lr)
        self.max_lrs = for_groups("CyclicLR: max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode: str = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        begins = last_epoch == -1
        if cycle_momentum:
            bounds = self._begin_momentum(base_momentum, max_momentum, begins)
            self.base_momentums, self.max_momentums = bounds
        if begins:
            for group, lr in zip(optimizer.param_groups, base_lrs, strict=True):
                set_option(group, "lr", lr)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The height of the cycles: of cycle number x, or at step x."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return self._scale_fn_ref(x)

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        self.scale_mode = _SCALED_BY[self.mode]
        self._scale_fn_ref: Callable[[float], float] = self._triangular_scale_fn
        if self.mode == "triangular2":
            self._scale_fn_ref = self._triangular2_scale_fn
        elif self.mode == "exp_range":
            self._scale_fn_ref = partial(self._exp_range_scale_fn, self.gamma)

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return float(1 / 2.0 ** (x - 1))

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return float(gamma**x)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        cycles = self.last_epoch / self.total_size
        cycle = math.floor(1 + cycles)
        x = 1.0 + cycles - cycle  # the part of the cycle that is done
        rise = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, bounds, strict=True):
                self._set_momentum(group, high - (high - low) * rise * scale)
        lrs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * rise * scale for low, high in lrs]

    def state_dict(self) -> dict[str, Any]:
        function = self._scale_fn_custom
        state = None if function is None else state_of_function(function)
        whole = {**super().state_dict(), "_scale_fn_custom": state}
        whole.pop("_scale_fn_ref", None)
        return whole

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom")
        if attributes is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        super().load_state_dict(state)
        self._init_scale_fn()


# Of each mode, what its height depends on.
_SCALED_BY = {"triangular": "cycle", "triangular2": "cycle", "exp_range": "iterations"}


class OneCycleLR(_CycleLR):
    """From max_lr / div_factor up to max_lr, then down to a final_div_factor-th of the beginning;
    the momentum from max_momentum down to base_momentum and back. Called after each batch.

    Arguments:
        optimizer: the optimizer whose groups are set
        max_lr: the largest rate; a number, or a list of one for each group
        total_steps: the length of the cycle; None: epochs * steps_per_epoch
        pct_start: the part of the cycle in which the rate rises, from 0 to 1
        anneal_strategy: whether it goes along a cosine ("cos") or a straight line ("linear")
        cycle_momentum: whether the momentum changes
        base_momentum, max_momentum: its bounds; numbers, or lists of one for each group
        div_factor, final_div_factor: for the first and the last rate
        three_phase: whether the rate falls back to the first one as fast as it rose, and only then
            to the last
        last_epoch: the last step done; -1: none
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Rates,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: Rates = 0.85,
        max_momentum: Rates = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = checked(optimizer)
        self.total_steps = _length(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"OneCycleLR: pct_start is {pct_start}, wanted a float from 0 to 1")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"OneCycleLR: anneal_strategy is {anneal_strategy!r}, wanted 'cos' or 'linear'"
            )
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        largest = for_groups("OneCycleLR: max_lr", optimizer, max_lr)
        self.cycle_momentum = cycle_momentum
        begins = last_epoch == -1
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, begins)
        if begins:
            for group, lr in zip(optimizer.param_groups, largest, strict=True):
                group["initial_lr"] = lr / div_factor
                group["max_lr"] = lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"OneCycleLR: step {self.last_epoch} of {self.total_steps}: the cycle is over"
            )
        phase, part = self._position()
        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            for group in groups:
                bounds = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._anneal_func(*bounds, part))
        return [self._anneal_func(g[phase["start_lr"]], g[phase["end_lr"]], part) for g in groups]

    def _position(self) -> tuple[dict[str, Any], float]:
        """The phase of the current step, and the part of it that is done."""
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if self.last_epoch <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        done = self.last_epoch - start  # one step after the end, the last rate stays
        return phase, min(1.0, done / (end - start)) if end > start else 1.0

    def _anneal_func(self, *args: Any, **kwargs: Any) -> float:
        along = self._annealing_cos if self._anneal_func_type == "cos" else self._annealing_linear
        return along(*args, **kwargs)

    @staticmethod
    def _annealing_cos(start: float, end: float, pct: float) -> float:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: float, end: float, pct: float) -> float:
        return (end - start) * pct + start


def _length(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    argument = (
        {"total_steps": total_steps}
        if total_steps is not None
        else {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    )
    length = 1
    for name, value in argument.items():
        if value is None:
            raise ValueError("OneCycleLR: wanted total_steps, or both epochs and steps_per_epoch")
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"OneCycleLR: {name} is {value}, wanted an integer, at least 1")
        length *= value
    return length


def _phases(total: int, rising: float, three: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and the options of a group between which it leads."""
    keys = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    up = (rising * total - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    back = (2 * rising * total - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")
    out = (total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")
    down = (total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")
    phases = (up, back, out) if three else (up, down)
    return [dict(zip(keys, phase, strict=True)) for phase in phases]
