# SPDX-License-Identifier: Apache-2.0
"""Adagrad: steps that shrink with the gradients that were met."""

from __future__ import annotations

from typing import Any

from .. import _C, _functions as F
from .._C import Tensor
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_differentiable, check_fused, number, scalar


class Adagrad(OnePassOptimizer):
    """Steps along the gradient, divided by the root of the sum of all squares so far.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate
        lr_decay: the rate after n steps is lr / (1 + n lr_decay)
        weight_decay: this times the parameter is added to the gradient
        initial_accumulator_value: what the sums of squares begin with
        eps: added to the root in the denominator
        maximize: whether to maximise the objective
        foreach, fused: stored but not used; a step is one call in any case

    Source: Duchi, Hazan and Singer, 2011, Adaptive subgradient methods for online learning and
    stochastic optimization.
    """

    _later = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_differentiable("Adagrad", differentiable)
        check_fused(fused, foreach)
        check("lr", lr, 0.0)
        check("lr_decay", lr_decay, 0.0)
        check("weight_decay", weight_decay, 0.0)
        check("initial_accumulator_value", initial_accumulator_value, 0.0)
        check("eps", eps, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                self._begin(self.state[param], param, group)

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        state["step"] = scalar(0.0)
        value = number(self.defaults["initial_accumulator_value"])
        both = complex(value, value) if param.dtype.is_complex else value
        state["sum"] = F.full_like(param, both, requires_grad=False)

    def share_memory(self) -> None:
        """Moves the sums of squares into shared memory."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    _slots = ("sum", "step")

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["sum"]

    def _call(
        self, group: dict[str, Any], numbers: Any, params: Any, grads: Any, lists: list[Any]
    ) -> None:
        of_values(
            _C.adagrad_step,
            params,
            grads,
            *lists,
            step=int(numbers),
            **{name: group[name] for name in ("lr", "lr_decay", "weight_decay", "eps", "maximize")},
        )


def adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """A step of Adagrad with parameters, gradients and states in lists."""
    check_differentiable("adagrad", differentiable)
    group = {
        "lr": lr,
        "weight_decay": weight_decay,
        "lr_decay": lr_decay,
        "eps": eps,
        "maximize": maximize,
    }
    step_lists(Adagrad, group, params, grads, state_sums, state_steps)
