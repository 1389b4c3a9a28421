# SPDX-License-Identifier: Apache-2.0
"""Errors that a training can be given, to see whether the comparison notices them."""

from collections.abc import Callable
from typing import Any

from training import Training


def option(name: str, value: Any) -> Callable[[Training], bool]:
    def change(training: Training) -> bool:
        groups = [group for group in training.optimizer.param_groups if name in group]
        for group in groups:
            group[name] = value
        return bool(groups)

    return change


def zero_bias_gradient(training: Training) -> bool:
    names = training.net.named_parameters()
    bias = next((p for name, p in names if "bias" in name.rpartition(".")[2]), None)
    if bias is not None:
        bias.register_hook(lambda gradient: gradient * 0)
    return bias is not None


def normalisation(training: Training) -> bool:
    found = [x for x in training.net.modules() if isinstance(x, training.m.nn.BatchNorm2d)]
    for layer in found:
        layer.eps = 1e-2
    return bool(found)


def no_update(training: Training) -> bool:
    training.optimizer.step = lambda: None
    return True


def gradients_kept(training: Training) -> bool:
    training.optimizer.zero_grad = lambda: None
    return True


# Each returns whether the network has what it changes.
ERRORS: dict[str, Callable[[Training], bool]] = {
    "Adam's eps is 1e-4": option("eps", 1e-4),
    "momentum is 0.85": option("momentum", 0.85),
    "Adam's first beta is 0.8": option("betas", (0.8, 0.999)),
    "BatchNorm's eps is 1e-2": normalisation,
    "a bias has no gradient": zero_bias_gradient,
    "gradients are not zeroed": gradients_kept,
    "no update": no_update,
}


def plant(training: Training, name: str) -> bool:
    return ERRORS[name](training)
