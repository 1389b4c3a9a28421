# SPDX-License-Identifier: Apache-2.0
"""Adadelta: steps as large as the last ones, in relation to the gradients."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._C import Tensor
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_differentiable


class Adadelta(OnePassOptimizer):
    """Steps along the gradient, times the root of the mean square of steps by that of gradients.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: a factor of all steps
        rho: the decay rate of the two means of squares
        eps: added to the means of squares
        weight_decay: this times the parameter is added to the gradient
        maximize: whether to maximise the objective
        foreach, capturable: stored but not used; a step is one call in any case

    Source: Zeiler, 2012, ADADELTA: an adaptive learning rate method.
    """

    _later = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_differentiable("Adadelta", differentiable)
        check("lr", lr, 0.0)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"rho is {rho}, wanted 0 to 1")
        check("eps", eps, 0.0)
        check("weight_decay", weight_decay, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    _slots = ("square_avg", "acc_delta", "step")

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["square_avg", "acc_delta"]

    def _advance(self, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] += 1  # not read

    def _call(
        self, group: dict[str, Any], numbers: object, params: Any, grads: object, lists: list[Any]
    ) -> None:
        of_values(
            _C.adadelta_step,
            params,
            grads,
            *lists,
            lr=group["lr"],
            rho=group["rho"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            maximize=group["maximize"],
        )


def adadelta(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """A step of Adadelta with parameters, gradients and states in lists."""
    check_differentiable("adadelta", differentiable)
    group = {"lr": lr, "rho": rho, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
    step_lists(Adadelta, group, params, grads, square_avgs, acc_deltas, state_steps)
