# SPDX-License-Identifier: Apache-2.0
"""Averages of a model's parameters along its training: stochastic weight averaging, and
exponential moving averages."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from .. import _functions as F
from .._C import Tensor
from .._modes import no_grad
from .._types import DeviceLike, int64
from ..nn.modules.module import Module
from .lr_scheduler.base import LRScheduler, for_groups
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]  # of the average, the new value and the count
Averages = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]  # writes the averages


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """For AveragedModel's avg_fn: decay * average + (1 - decay) * parameter."""
    _check_decay("get_ema_avg_fn", decay)

    @no_grad()
    def average(ema_param: Tensor, current_param: Tensor, num_averaged: Tensor | int) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """For AveragedModel's multi_avg_fn: get_ema_avg_fn's formula, written to lists of averages."""
    _check_decay("get_ema_multi_avg_fn", decay)
    ema = get_ema_avg_fn(decay)

    @no_grad()
    def average(
        ema_param_list: Sequence[Tensor],
        current_param_list: Sequence[Tensor],
        num_averaged: Tensor | int,
    ) -> None:
        for mean, value in zip(ema_param_list, current_param_list, strict=True):
            if mean.is_floating_point() or mean.is_complex():
                mean.lerp_(value, 1 - decay)
            else:
                mean.copy_(ema(mean, value, num_averaged))

    return average


def get_swa_avg_fn() -> Average:
    """For AveragedModel's avg_fn: the mean of all parameters so far; it is the default."""

    @no_grad()
    def average(
        averaged_param: Tensor, current_param: Tensor, num_averaged: Tensor | int
    ) -> Tensor:
        step: Tensor = (current_param - averaged_param) / (num_averaged + 1)
        return averaged_param + step

    return average


def get_swa_multi_avg_fn() -> Averages:
    """For AveragedModel's multi_avg_fn: get_swa_avg_fn's formula, written to lists of averages."""
    swa = get_swa_avg_fn()

    @no_grad()
    def average(
        averaged_param_list: Sequence[Tensor],
        current_param_list: Sequence[Tensor],
        num_averaged: Tensor | int,
    ) -> None:
        for mean, value in zip(averaged_param_list, current_param_list, strict=True):
            if mean.is_floating_point() or mean.is_complex():
                mean.lerp_(value, float(1 / (num_averaged + 1)))
            else:
                mean.copy_(swa(mean, value, num_averaged))

    return average


def _check_decay(name: str, decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"{name}: decay is {decay}, wanted 0 to 1")


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's, over the calls of
    update_parameters. The first call copies them.

    Arguments:
        model: the model; it is copied
        device: of the copy; None: the model's
        avg_fn: a function of an average, a parameter and the number of calls so far, which returns
            the new average; None: the mean of all
        multi_avg_fn: instead of it, a function of two lists and that number which writes the
            averages; called once for each device and dtype
        use_buffers: whether buffers are averaged, too; if not, they are copied
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: DeviceLike | None = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("AveragedModel: wanted avg_fn or multi_avg_fn, found both")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", F.zeros((), dtype=int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Adds the model's present parameters to the averages."""
        own = self._averaged(self.module) if self.use_buffers else self.parameters()
        pairs = list(zip(own, self._averaged(model), strict=True))
        pairs = [(mean.detach(), value.detach().to(mean.device)) for mean, value in pairs]
        if self.n_averaged == 0:
            for mean, value in pairs:
                mean.copy_(value)
        elif self.multi_avg_fn is not None:
            for alike in _alike(pairs):
                means, values = zip(*alike, strict=True)
                self.multi_avg_fn(means, values, self.n_averaged.to(means[0].device))
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for mean, value in pairs:
                mean.copy_(average(mean, value, self.n_averaged.to(mean.device)))
        if not self.use_buffers:
            for kept, value in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.detach().copy_(value.detach().to(kept.device))
        self.n_averaged += 1

    def _averaged(self, model: Module) -> Iterable[Tensor]:
        buffers: Iterable[Tensor] = model.buffers() if self.use_buffers else ()
        return itertools.chain(model.parameters(), buffers)


def _alike(pairs: list[tuple[Tensor, Tensor]]) -> Iterable[list[tuple[Tensor, Tensor]]]:
    """The pairs in groups of one device and dtype each."""
    groups: dict[Any, list[tuple[Tensor, Tensor]]] = {}
    for mean, value in pairs:
        groups.setdefault((mean.device, mean.dtype), []).append((mean, value))
    return groups.values()


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: DeviceLike | None = None) -> None:
    """Computes the running statistics of a model's batch normalisations anew, as the mean over all
    batches of one pass.

    Arguments:
        loader: the batches; of a list or tuple its first entry
        model: the model, of which every batch is called
        device: to which batches are moved first; None: they stay
    """
    norms = [module for module in model.modules() if _is_batch_norm(module)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean of all batches
    try:
        for batch in loader:
            first = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(first if device is None else first.to(device))
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        model.train(training)


def _is_batch_norm(module: Module) -> bool:
    return any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__)


class SWALR(LRScheduler):
    """From the rates that the groups have to swa_lr in anneal_epochs steps, then constant.

    Arguments:
        optimizer: the optimizer whose groups are set
        swa_lr: the last rate; a number, or a list of one for each group
        anneal_epochs: the number of steps
        anneal_strategy: whether along a cosine ("cos") or a straight line ("linear")
        last_epoch: the last epoch done; -1: none
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"SWALR: anneal_strategy is {anneal_strategy!r}, wanted 'cos' or 'linear'"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(
                f"SWALR: anneal_epochs is {anneal_epochs}, wanted an integer, at least 0"
            )
        rates = for_groups("SWALR: swa_lr", optimizer, swa_lr)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        self.anneal_epochs = anneal_epochs
        self._set_anneal_func(anneal_strategy)
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """The part of the way to swa_lr that is done after a number of steps."""
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        self._anneal_strategy = anneal_strategy
        is_cosine = anneal_strategy == "cos"
        self.anneal_func = self._cosine_anneal if is_cosine else self._linear_anneal

    @staticmethod
    def _linear_anneal(t: float) -> float:
        return t

    @staticmethod
    def _cosine_anneal(t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2

    @staticmethod
    def _get_initial_lr(lr: Any, swa_lr: Any, alpha: float) -> Any:
        return swa_lr if alpha == 1 else (lr - alpha * swa_lr) / (1 - alpha)

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer and the function."""
        hidden = ("optimizer", "anneal_func")
        return {key: value for key, value in self.__dict__.items() if key not in hidden}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self._set_anneal_func(self._anneal_strategy)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, part = self._part(step - 1), self._part(step)

        def rate(group: dict[str, Any]) -> Any:
            last: Any = group["swa_lr"]
            begin = self._get_initial_lr(group["lr"], last, before)
            return last * part + begin * (1 - part)

        return [rate(group) for group in self.optimizer.param_groups]
