# SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from .._C import Tensor
from .optimizer import Optimizer, Params, check


class SGD(Optimizer):
    """param -= lr * direction, where the direction is the gradient, or its momentum.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate
        momentum: the share of the last direction that stays
        dampening: the share of the gradient that the momentum does not get
        weight_decay: added to the gradient, times the parameter
        nesterov: whether the gradient is taken ahead of the momentum
        maximize: whether to climb
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check("lr", lr, 0.0)
        check("momentum", momentum, 0.0)
        check("weight_decay", weight_decay, 0.0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("nesterov wants a momentum and no dampening")
        defaults: dict[str, Any] = {
            "lr": lr, "momentum": momentum, "dampening": dampening,
            "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _step(self, group: dict[str, Any], params: list[Tensor]) -> None:
        momentum, decay = group["momentum"], group["weight_decay"]
        for param in params:
            gradient = param.grad
            assert gradient is not None
            if group["maximize"]:
                gradient = -gradient
            if decay:
                gradient = gradient.add(param, alpha=decay)
            if momentum:
                state = self.state[param]
                buffer = state.get("momentum_buffer")
                if buffer is None:
                    buffer = state["momentum_buffer"] = gradient.detach().clone()
                else:
                    buffer.mul_(momentum).add_(gradient, alpha=1 - group["dampening"])
                if group["nesterov"]:
                    gradient = gradient.add(buffer, alpha=momentum)
                else:
                    gradient = buffer
            param.add_(gradient, alpha=-group["lr"])
