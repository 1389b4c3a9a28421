# SPDX-License-Identifier: Apache-2.0
"""SparseAdam: Adam of the rows alone that have a gradient."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._C import Tensor
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_betas, number


class SparseAdam(OnePassOptimizer):
    """Adam for sparse gradients, as those of embeddings with sparse=True: rows that have no
    gradient keep their parameters and moments.

    Arguments:
        params: dense tensors, or groups of them with options of their own
        lr: the learning rate
        betas: the decay rates of the means of the gradient and of its square
        eps: added to the root in the denominator
        maximize: whether to maximise the objective

    Source: Kingma and Ba, 2015, Adam: a method for stochastic optimization, with moments that decay
    lazily.
    """

    _scalars = ()  # a step is an integer

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check("lr", lr, 0.0)
        check("eps", eps, 0.0)
        for name, value in (("lr", lr), ("eps", eps)):
            if number(value) == 0:
                raise ValueError(f"{name} is 0, wanted more than 0")
        betas = check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        for group in self.param_groups:
            for param in group["params"]:
                if param.is_sparse:
                    raise ValueError("SparseAdam: a parameter is sparse, wanted dense ones")
                if param.is_complex():
                    raise ValueError("SparseAdam: a parameter is complex, wanted real ones")

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        super()._begin(state, param, group)
        state["step"] = 0

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["exp_avg", "exp_avg_sq"]

    def _advance(self, state: dict[str, Any], group: dict[str, Any]) -> int:
        return int(state["step"])  # which is counted in the state itself: it is no tensor

    _slots = ("exp_avg", "exp_avg_sq", "step")

    def _step_group(self, group: dict[str, Any]) -> None:
        params = [param for param in group["params"] if param.grad is not None]
        if not all(param.grad.is_sparse for param in params):
            raise RuntimeError(
                "SparseAdam does not support dense gradients: Adam does, and takes sparse ones, too"
            )
        for param in params:
            state = self.state[param]
            if not state:
                self._begin(state, param, group)
            state["step"] += 1
        states = [self.state[param] for param in params]
        lists = [[state[name] for state in states] for name in self._slots]
        self._step_lists(group, params, [param.grad for param in params], lists)

    def _call(
        self, group: dict[str, Any], numbers: Any, params: Any, grads: Any, lists: list[Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        of_values(
            _C.sparse_adam_step,
            params,
            grads,
            *lists,
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            step=int(numbers),
            maximize=group.get("maximize", False),
        )


def sparse_adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[int],
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    maximize: bool,
) -> None:
    """A step of SparseAdam with parameters, gradients and states in lists."""
    group = {"betas": (beta1, beta2), "lr": lr, "eps": eps, "maximize": maximize}
    step_lists(SparseAdam, group, params, grads, exp_avgs, exp_avg_sqs, state_steps)
