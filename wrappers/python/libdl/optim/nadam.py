# SPDX-License-Identifier: Apache-2.0
"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._C import Tensor
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_betas, check_differentiable, scalar


class NAdam(OnePassOptimizer):
    """Adam whose steps use the mean of the gradient that the next step will have.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate
        betas: the decay rates of the two means
        eps: added to the root in the denominator
        weight_decay: this times the parameter is added to the gradient
        momentum_decay: how fast the first factor grows to betas[0]
        decoupled_weight_decay: whether the decay shrinks the parameters directly
        maximize: whether to maximise the objective
        foreach, capturable: stored but not used; a step is one call in any case

    Source: Dozat, 2016, Incorporating Nesterov momentum into Adam.
    """

    _later = {
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
    }
    _scalars = ("step", "mu_product")

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_differentiable("NAdam", differentiable)
        check("lr", lr, 0.0)
        check("eps", eps, 0.0)
        betas = check_betas(betas)
        check("weight_decay", weight_decay, 0.0)
        check("momentum_decay", momentum_decay, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        super()._begin(state, param, group)
        state["mu_product"] = scalar(1.0)

    _slots = ("exp_avg", "exp_avg_sq", "mu_product", "step")
    _of_one_dtype = ("exp_avg",)

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["exp_avg", "exp_avg_sq"]

    def _advance(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[Any, Any]:
        step = super()._advance(state, group)
        state["mu_product"] *= group["betas"][0] * (
            1 - 0.5 * 0.96 ** (step * group["momentum_decay"])
        )
        return step, state["mu_product"].item()

    def _call(
        self, group: dict[str, Any], numbers: Any, params: Any, grads: Any, lists: list[Any]
    ) -> None:
        step, mu_product = numbers
        beta1, beta2 = group["betas"]
        of_values(
            _C.nadam_step,
            params,
            grads,
            *lists,
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum_decay=group["momentum_decay"],
            mu_product=mu_product,
            step=int(step),
            decoupled=group["decoupled_weight_decay"],
            maximize=group["maximize"],
        )


def nadam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """A step of NAdam with parameters, gradients and states in lists."""
    check_differentiable("nadam", differentiable)
    group = {
        "betas": (beta1, beta2),
        "lr": lr,
        "weight_decay": weight_decay,
        "eps": eps,
        "momentum_decay": momentum_decay,
        "maximize": maximize,
        "decoupled_weight_decay": decoupled_weight_decay,
    }
    step_lists(NAdam, group, params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps)
