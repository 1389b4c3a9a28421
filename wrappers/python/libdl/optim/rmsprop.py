# SPDX-License-Identifier: Apache-2.0
"""RMSprop: steps divided by the mean size of the gradient."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._C import Tensor
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_differentiable


class RMSprop(OnePassOptimizer):
    """Steps along the gradient, or its momentum, divided by the root of the mean square.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate
        alpha: the decay rate of the mean of squares
        eps: added to the root in the denominator
        weight_decay: this times the parameter is added to the gradient
        momentum: the factor of the last steps
        centered: whether to divide by the deviation from the mean instead
        maximize: whether to maximise the objective
        foreach, capturable: stored but not used; a step is one call in any case

    Source: Tieleman and Hinton, 2012, Neural networks for machine learning, lecture 6.5; centered:
    Graves, 2013, Generating sequences with recurrent neural networks.
    """

    _later = {
        "momentum": 0,
        "centered": False,
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_differentiable("RMSprop", differentiable)
        check("lr", lr, 0.0)
        check("eps", eps, 0.0)
        check("momentum", momentum, 0.0)
        check("weight_decay", weight_decay, 0.0)
        check("alpha", alpha, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    _slots = ("square_avg", "momentum_buffer", "grad_avg", "step")
    _of_one_dtype = ("grad_avg",)

    def _names(self, group: dict[str, Any]) -> list[str]:
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        return [*names, "grad_avg"] if group["centered"] else names

    def _advance(self, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] += 1  # not read

    def _call(
        self, group: dict[str, Any], numbers: object, params: Any, grads: object, lists: list[Any]
    ) -> None:
        of = dict(zip(self._names(group), lists, strict=True))
        of_values(
            _C.rmsprop_step,
            params,
            grads,
            of["square_avg"],
            of.get("momentum_buffer", ()),
            of.get("grad_avg", ()),
            lr=group["lr"],
            alpha=group["alpha"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            centered=group["centered"],
            maximize=group["maximize"],
        )


def rmsprop(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    grad_avgs: list[Tensor],
    momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """A step of RMSprop with parameters, gradients and states in lists."""
    check_differentiable("rmsprop", differentiable)
    group = {
        "lr": lr,
        "alpha": alpha,
        "eps": eps,
        "weight_decay": weight_decay,
        "momentum": momentum,
        "centered": centered,
        "maximize": maximize,
    }
    step_lists(
        RMSprop, group, params, grads, square_avgs, momentum_buffer_list, grad_avgs, state_steps
    )
