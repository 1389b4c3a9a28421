# SPDX-License-Identifier: Apache-2.0
"""Adamax: Adam with the largest gradient instead of the mean of squares."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._C import Tensor
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_betas, check_differentiable


class Adamax(OnePassOptimizer):
    """Steps along the mean of the gradient, divided by its largest size, which decays.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate
        betas: the decay rates of the mean and of the largest size
        eps: added to the size of the gradient
        weight_decay: this times the parameter is added to the gradient
        maximize: whether to maximise the objective
        foreach, capturable: stored but not used; a step is one call in any case

    Source: Kingma and Ba, 2015, Adam: a method for stochastic optimization, section 7.1.
    """

    _later = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_differentiable("Adamax", differentiable)
        check("lr", lr, 0.0)
        check("eps", eps, 0.0)
        betas = check_betas(betas)
        check("weight_decay", weight_decay, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    _slots = ("exp_avg", "exp_inf", "step")
    _of_one_dtype = ("exp_avg",)

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["exp_avg", "exp_inf"]

    def _call(
        self, group: dict[str, Any], numbers: Any, params: Any, grads: Any, lists: list[Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        of_values(
            _C.adamax_step,
            params,
            grads,
            *lists,
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            step=int(numbers),
            maximize=group["maximize"],
        )


def adamax(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
) -> None:
    """A step of Adamax with parameters, gradients and states in lists."""
    check_differentiable("adamax", differentiable)
    group = {
        "betas": (beta1, beta2),
        "lr": lr,
        "weight_decay": weight_decay,
        "eps": eps,
        "maximize": maximize,
    }
    step_lists(Adamax, group, params, grads, exp_avgs, exp_infs, state_steps)
