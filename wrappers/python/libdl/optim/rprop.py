# SPDX-License-Identifier: Apache-2.0
"""Rprop: steps of which the gradient gives only the sign."""

from __future__ import annotations

from typing import Any

from .. import _C, _functions as F
from .._C import Tensor
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_differentiable, number, scalar


class Rprop(OnePassOptimizer):
    """Steps whose sizes grow while the sign of the gradient stays, and shrink when it changes.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the size of the first step
        etas: the factors by which a size shrinks and grows
        step_sizes: the smallest and the largest size
        maximize: whether to maximise the objective
        foreach, capturable: stored but not used; a step is one call in any case

    Source: Riedmiller and Braun, 1993, A direct adaptive method for faster backpropagation
    learning: the RPROP algorithm.
    """

    _later = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_differentiable("Rprop", differentiable)
        check("lr", lr, 0.0)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"etas is {etas}, wanted one of 0 to 1 and one above 1")
        defaults: dict[str, Any] = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        state["step"] = scalar(0.0)
        state["prev"] = F.zeros_like(param)
        lr = number(group["lr"])  # for both parts of a complex number
        state["step_size"] = F.full_like(
            param, complex(lr, lr) if param.dtype.is_complex else lr, requires_grad=False
        )

    _slots = ("prev", "step_size", "step")

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["prev", "step_size"]

    def _advance(self, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] += 1  # not read

    def _call(
        self, group: dict[str, Any], numbers: object, params: Any, grads: object, lists: list[Any]
    ) -> None:
        (etaminus, etaplus), (least, most) = group["etas"], group["step_sizes"]
        of_values(
            _C.rprop_step,
            params,
            grads,
            *lists,
            etaminus=etaminus,
            etaplus=etaplus,
            step_size_min=least,
            step_size_max=most,
            maximize=group["maximize"],
        )


def rprop(
    params: list[Tensor],
    grads: list[Tensor],
    prevs: list[Tensor],
    step_sizes: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """A step of Rprop with parameters, gradients and states in lists."""
    check_differentiable("rprop", differentiable)
    group = {
        "etas": (etaminus, etaplus),
        "step_sizes": (step_size_min, step_size_max),
        "maximize": maximize,
    }
    step_lists(Rprop, group, params, grads, prevs, step_sizes, state_steps)
