# SPDX-License-Identifier: Apache-2.0
"""Adam, and AdamW, whose weight decay does not pass through the moments."""

from __future__ import annotations

import math
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .optimizer import Optimizer, Params, check


class Adam(Optimizer):
    """Steps scaled by running means of the gradient and of its square.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate
        betas: what stays of the mean, and of the square's
        eps: added to the root in the denominator
        weight_decay: added to the gradient, times the parameter
        amsgrad: whether the largest square's mean so far divides
        maximize: whether to climb
    """

    _decoupled = False

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check("lr", lr, 0.0)
        check("eps", eps, 0.0)
        check("betas[0]", betas[0], 0.0, 1.0)
        check("betas[1]", betas[1], 0.0, 1.0)
        check("weight_decay", weight_decay, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _state(self, param: Tensor, amsgrad: bool) -> dict[str, Any]:
        state = self.state[param]
        if not state:
            state["step"] = F.zeros(())
            state["exp_avg"] = F.zeros_like(param)
            state["exp_avg_sq"] = F.zeros_like(param)
            if amsgrad:
                state["max_exp_avg_sq"] = F.zeros_like(param)
        return state

    def _step(self, group: dict[str, Any], params: list[Tensor]) -> None:
        beta1, beta2 = group["betas"]
        lr, decay, eps = group["lr"], group["weight_decay"], group["eps"]
        for param in params:
            gradient = param.grad
            assert gradient is not None
            if group["maximize"]:
                gradient = -gradient
            state = self._state(param, group["amsgrad"])
            state["step"] += 1
            step = state["step"].item()
            if decay and self._decoupled:
                param.mul_(1 - lr * decay)
            elif decay:
                gradient = gradient.add(param, alpha=decay)
            mean, square = state["exp_avg"], state["exp_avg_sq"]
            mean.lerp_(gradient, 1 - beta1)
            square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            if group["amsgrad"]:
                largest = state["max_exp_avg_sq"]
                square = F.maximum(largest, square, out=largest)
            denominator = (square.sqrt() / math.sqrt(1 - beta2**step)).add_(eps)
            param.addcdiv_(mean, denominator, value=-lr / (1 - beta1**step))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly."""

    _decoupled = True

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options)
