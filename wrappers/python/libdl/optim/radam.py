# SPDX-License-Identifier: Apache-2.0
"""RAdam: Adam without its unreliable first steps."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._C import Tensor
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_betas, check_differentiable


class RAdam(OnePassOptimizer):
    """Adam whose steps are not divided by the mean of squares until its variance is known.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate
        betas: the decay rates of the two means
        eps: added to the root in the denominator
        weight_decay: this times the parameter is added to the gradient
        decoupled_weight_decay: whether the decay shrinks the parameters directly
        maximize: whether to maximise the objective
        foreach, capturable: stored but not used; a step is one call in any case

    Source: Liu, Jiang, He, Chen, Liu, Gao and Han, 2020, On the variance of the adaptive learning
    rate and beyond.
    """

    _later = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
        "capturable": False,
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_differentiable("RAdam", differentiable)
        check("lr", lr, 0.0)
        check("eps", eps, 0.0)
        betas = check_betas(betas)
        check("weight_decay", weight_decay, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    _slots = ("exp_avg", "exp_avg_sq", "step")
    _of_one_dtype = ("exp_avg",)

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["exp_avg", "exp_avg_sq"]

    def _call(
        self, group: dict[str, Any], numbers: Any, params: Any, grads: Any, lists: list[Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        of_values(
            _C.radam_step,
            params,
            grads,
            *lists,
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            step=int(numbers),
            decoupled=group["decoupled_weight_decay"],
            maximize=group["maximize"],
        )


def radam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    eps: float,
) -> None:
    """A step of RAdam with parameters, gradients and states in lists."""
    check_differentiable("radam", differentiable)
    group = {
        "betas": (beta1, beta2),
        "lr": lr,
        "weight_decay": weight_decay,
        "eps": eps,
        "maximize": maximize,
        "decoupled_weight_decay": decoupled_weight_decay,
    }
    step_lists(RAdam, group, params, grads, exp_avgs, exp_avg_sqs, state_steps)
