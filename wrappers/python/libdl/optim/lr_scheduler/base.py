# SPDX-License-Identifier: Apache-2.0
"""What schedules have in common: the epoch, the rates they start from, step, saving and loading."""

from __future__ import annotations

import contextlib
import functools
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ..._C import Tensor
from ..optimizer import Optimizer


class LRScheduler:
    """Sets each group's lr to what get_lr returns for the current epoch.

    A subclass writes get_lr, usually from the rates that the groups have now, so that schedules of
    one optimizer combine. If it also has _get_closed_form_lr, step(epoch) jumps with that one to
    any epoch, from the initial rates.

    Arguments:
        optimizer: the optimizer whose groups are set
        last_epoch: the last epoch done. -1 is the beginning, which keeps each group's lr as
            initial_lr; another one continues a schedule, and wants groups that have initial_lr

    A tensor as lr stays the same tensor: it is written in place.
    """

    optimizer: Optimizer
    base_lrs: list[Any]  # the initial rates, numbers or tensors
    last_epoch: int
    _last_lr: list[Any]
    _step_count: int
    _is_initial = False  # while the constructor takes the first step
    _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"{type(self).__name__}: last_epoch is {last_epoch}, but param_groups[{i}] has "
                    "no initial_lr: load the optimizer's state first, or begin with last_epoch=-1"
                )
        self.base_lrs = of_groups(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Any]:
        """Each group's lr for the current epoch. It is for step to call: get_last_lr is for all."""
        raise NotImplementedError(f"{type(self).__name__} has no method get_lr")

    def get_last_lr(self) -> list[Any]:
        """Each group's lr as the last step set it."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Goes on by one epoch, or to the given one."""
        if self._step_count == 1:
            _warn_of_order(self.optimizer)
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        jump = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        with self._within_step():
            rates = self.get_lr() if jump is None else jump()
        self._set_rates(rates)

    @contextlib.contextmanager
    def _within_step(self) -> Iterator[None]:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _set_rates(self, rates: list[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            set_option(group, "lr", lr)
        self._last_lr = of_groups(self.optimizer, "lr")

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`: `get_lr()` goes on from the current one.",
                UserWarning,
                stacklevel=3,
            )

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a result of state_dict."""
        self.__dict__.update(state_dict)


def checked(optimizer: object) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def own(value: Any) -> Any:
    """A copy if it is a tensor, which set_option would write in place."""
    return value.clone() if isinstance(value, Tensor) else value


def of_groups(optimizer: Optimizer, key: str) -> list[Any]:
    """An option of each group."""
    return [own(group[key]) for group in optimizer.param_groups]


def for_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A value for each group, from one for all of them or a list."""
    count = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} values, wanted one for each of {count} groups")
    return [own(value) for value in values]


def set_option(group: dict[str, Any], key: str, value: Any) -> None:
    """group[key] = value; a tensor there is written, as others may hold it."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value.squeeze() if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def state_of_function(function: Callable[[int], float]) -> dict[str, Any] | None:
    """What of a callable can be saved: an object's attributes, nothing of a function."""
    return None if isinstance(function, types.FunctionType) else function.__dict__.copy()


# -- the order of steps ----------------------------------------------------------------------------


def _note_steps(optimizer: Optimizer) -> None:
    """From now on optimizer._opt_called tells whether the optimizer took a step. Its class notes
    that; a step that was assigned to the object itself is wrapped."""
    fields = optimizer.__dict__
    if "_scheduled" not in fields:
        fields.update(_scheduled=True, _opt_called=False)
    if "step" in fields and not hasattr(fields["step"], "_noted_by_schedule"):
        fields["step"] = _noting(optimizer, fields["step"])


def _noting(optimizer: Optimizer, step: Callable[..., Any]) -> Callable[..., Any]:
    owner = weakref.ref(optimizer)  # no cycle, so that an optimizer goes with its last reference

    @functools.wraps(step)
    def noted(*args: object, **kwargs: object) -> Any:
        optimizer = owner()
        if optimizer is not None:
            optimizer._opt_called = True
        return step(*args, **kwargs)

    noted._noted_by_schedule = True  # type: ignore[attr-defined]
    return noted


def _warn_of_order(optimizer: Optimizer) -> None:
    step = optimizer.__dict__.get("step")
    if step is not None and not hasattr(step, "_noted_by_schedule"):
        text = (
            "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
            "initialization, so its calls are not seen: call it before `lr_scheduler.step()`."
        )
    elif not optimizer._opt_called:
        text = (
            "Detected call of `lr_scheduler.step()` before `optimizer.step()`: call them in "
            "the opposite order, or the first learning rate of the schedule is skipped."
        )
    else:
        return
    warnings.warn(text, UserWarning, stacklevel=3)
