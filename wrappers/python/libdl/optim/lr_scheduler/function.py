# SPDX-License-Identifier: Apache-2.0
"""Schedules by functions of the epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, of_groups, state_of_function

Factor = Callable[[int], float]


class _FunctionLR(LRScheduler):
    """Keeps a function for each group. A state has None for a function, an object's attributes."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Factor | Sequence[Factor], last_epoch: int = -1
    ) -> None:
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * count  # type: ignore[list-item]
        if len(lr_lambda) != count:
            raise ValueError(
                f"{type(self).__name__}: lr_lambda has {len(lr_lambda)} functions, wanted one for "
                f"each of {count} groups"
            )
        for function in lr_lambda:
            if not callable(function):
                raise TypeError(
                    f"{type(self).__name__}: lr_lambda is a {type(function).__name__}, wanted a "
                    "function of the epoch"
                )
        self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        functions = [state_of_function(function) for function in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": functions}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        state = dict(state_dict)
        for function, attributes in zip(self.lr_lambdas, state.pop("lr_lambdas"), strict=True):
            if attributes is not None:
                function.__dict__.update(attributes)
        super().load_state_dict(state)


class LambdaLR(_FunctionLR):
    """The initial rate times lr_lambda(epoch).

    Arguments:
        optimizer: the optimizer whose groups are set
        lr_lambda: a function of the epoch, or a list of one for each group
        last_epoch: the last epoch done; -1: none
    """

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        rates = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in rates]


class MultiplicativeLR(_FunctionLR):
    """The last rate times lr_lambda(epoch), from epoch 1 on.

    Arguments:
        optimizer: the optimizer whose groups are set
        lr_lambda: a function of the epoch, or a list of one for each group
        last_epoch: the last epoch done; -1: none
    """

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        rates = of_groups(self.optimizer, "lr")
        if self._is_initial:
            return rates
        functions = zip(self.lr_lambdas, rates, strict=True)
        return [rate * function(self.last_epoch) for function, rate in functions]
