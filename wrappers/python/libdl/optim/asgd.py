# SPDX-License-Identifier: Apache-2.0
"""ASGD: stochastic gradient descent, and the average of the parameters on its way."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._C import Tensor
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_differentiable, number, scalar


class ASGD(OnePassOptimizer):
    """Steps along the gradient with a falling rate; the average is the state's "ax".

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate of the first step
        lambd: how fast the rate falls, and the decay of the parameters
        alpha: the power of the rate's fall
        t0: the step after which averaging begins
        weight_decay: this times the parameter is added to the gradient
        maximize: whether to maximise the objective
        foreach, capturable: stored but not used; a step is one call in any case

    Source: Polyak and Juditsky, 1992, Acceleration of stochastic approximation by averaging.
    """

    _later = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
    _scalars = ("step", "eta", "mu")

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_differentiable("ASGD", differentiable)
        check("lr", lr, 0.0)
        check("lambd", lambd, 0.0)
        check("alpha", alpha, 0.0)
        check("weight_decay", weight_decay, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        super()._begin(state, param, group)
        state["eta"] = scalar(number(group["lr"]))
        state["mu"] = scalar(1.0)

    _slots = ("mu", "ax", "eta", "step")

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["ax"]

    def _advance(self, state: dict[str, Any], group: dict[str, Any]) -> tuple[Any, Any, Any]:
        numbers = (super()._advance(state, group), state["eta"].item(), state["mu"].item())
        step, lr = numbers[0], number(group["lr"])
        state["eta"].copy_(scalar(lr / (1 + group["lambd"] * lr * step) ** group["alpha"]))
        state["mu"].copy_(scalar(1 / max(1, step - group["t0"])))
        return numbers

    def _call(
        self, group: dict[str, Any], numbers: Any, params: Any, grads: Any, lists: list[Any]
    ) -> None:
        step, eta, mu = numbers
        of_values(
            _C.asgd_step,
            params,
            grads,
            *lists,
            lr=group["lr"],
            lambd=group["lambd"],
            alpha=group["alpha"],
            t0=group["t0"],
            weight_decay=group["weight_decay"],
            eta=eta,
            mu=mu,
            step=int(step),
            maximize=group["maximize"],
        )


def asgd(
    params: list[Tensor],
    grads: list[Tensor],
    axs: list[Tensor],
    mus: list[Tensor],
    etas: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float | Tensor,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """A step of ASGD with parameters, gradients and states in lists."""
    check_differentiable("asgd", differentiable)
    group = {
        "lr": lr,
        "lambd": lambd,
        "t0": t0,
        "alpha": alpha,
        "weight_decay": weight_decay,
        "maximize": maximize,
    }
    step_lists(ASGD, group, params, grads, mus, axs, etas, state_steps)
