# SPDX-License-Identifier: Apache-2.0
"""Muon: steps of matrices along the momentum with its singular values made equal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._types import bfloat16
from .optimizer import Optimizer, Params
from .options import check, number

# K. Jordan, Muon, https://kellerjordan.github.io/posts/muon/: the polynomial that lifts small
# singular values fastest; it leaves them between about 0.7 and 1.2.
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)

# The factor of the rate for a matrix of m rows and n columns.
_RATES: dict[str | None, Callable[[int, int], float]] = {
    None: lambda m, n: math.sqrt(max(1, m / n)),
    "original": lambda m, n: math.sqrt(max(1, m / n)),
    "match_rms_adamw": lambda m, n: 0.2 * math.sqrt(max(m, n)),
    "spectral_unclamped": lambda m, n: math.sqrt(m / n),
}


class Muon(Optimizer):
    """Steps for the matrices of hidden layers; other parameters want another optimizer.

    Arguments:
        params: matrices, or groups of them with options of their own
        lr: the learning rate
        weight_decay: parameters shrink by this times the learning rate
        momentum: the decay rate of the mean of gradients
        nesterov: whether to move the mean towards the gradient once more
        ns_coefficients: of x, x^3 and x^5 in the Newton-Schulz iteration
        eps: the smallest norm to divide by
        ns_steps: iterations
        adjust_lr_fn: how the rate depends on the shape: "original", "match_rms_adamw" or
            "spectral_unclamped"; None: "original"

    Source: Jordan, Jin, Boza, You, Cesista, Newhouse and Bernstein, 2024, Muon: an optimizer for
    hidden layers in neural networks; match_rms_adamw: Liu et al., 2025, Muon is scalable for LLM
    training.
    """

    _scalars = ()

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = _COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check("lr", lr, 0.0)
        check("momentum", momentum, 0.0)
        check("weight_decay", weight_decay, 0.0)
        if adjust_lr_fn not in _RATES:
            raise ValueError(
                f"adjust_lr_fn is {adjust_lr_fn!r}, wanted None or one of "
                f"{', '.join(repr(name) for name in _RATES if name)}"
            )
        defaults: dict[str, Any] = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(f"a parameter has shape {tuple(param.shape)}, wanted a matrix")

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        muon_momentum_bufs: list[Tensor],
    ) -> bool:
        """Fills in the parameters that have a gradient, their gradients and momenta. A subclass may
        leave some out."""
        for param in group["params"]:
            if param.grad is None:
                continue
            params_with_grad.append(param)
            grads.append(param.grad)
            state = self.state[param]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = F.zeros_like(param.grad, requires_grad=False)
            muon_momentum_bufs.append(state["momentum_buffer"])
        return False

    def _step_group(self, group: dict[str, Any]) -> None:
        params: list[Tensor] = []
        grads: list[Tensor] = []
        momenta: list[Tensor] = []
        self._init_group(group, params, grads, momenta)
        _step_lists(group, params, grads, momenta)


def _step_lists(
    group: dict[str, Any], params: list[Tensor], grads: list[Tensor], momenta: list[Tensor]
) -> None:
    _check(group, params)
    lr = number(group["lr"])
    for param, grad, momentum in zip(params, grads, momenta, strict=True):
        mean = momentum.lerp_(grad, 1 - group["momentum"])
        update = grad.lerp(mean, group["momentum"]) if group["nesterov"] else mean
        update = _orthogonal(update, group)
        param.mul_(1 - lr * group["weight_decay"])
        rate = lr * _RATES[group["adjust_lr_fn"]](*param.shape)
        param.add_(update, alpha=-rate)


def _check(group: dict[str, Any], params: list[Tensor]) -> None:
    if group["ns_steps"] >= 100:
        raise ValueError(f"ns_steps is {group['ns_steps']}, wanted less than 100")
    if len(group["ns_coefficients"]) != 3:
        raise ValueError(f"ns_coefficients is {group['ns_coefficients']}, wanted three numbers")
    for param in params:
        if param.dtype.is_complex:
            raise RuntimeError("Muon does not take complex parameters")
        if param.ndim != 2:
            raise ValueError(f"a parameter has shape {tuple(param.shape)}, wanted a matrix")


def _orthogonal(update: Tensor, group: dict[str, Any]) -> Tensor:
    """U V^T of the matrix U S V^T, nearly, by iterations in bfloat16."""
    a, b, c = group["ns_coefficients"]
    is_tall = update.shape[0] > update.shape[1]
    x = (update.T if is_tall else update).detach().to(bfloat16)
    x = x / x.norm().clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        gram = x @ x.T
        x = F.addmm(x, F.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x
