# SPDX-License-Identifier: Apache-2.0
"""Adam, and AdamW, whose weight decay does not enter the moments."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from .. import _C, _functions as F
from .._C import Tensor
from .optimizer import Optimizer, Params, check, in_one_pass, refuse_differentiable


class Adam(Optimizer):
    """Steps computed from running means of the gradient and of its square.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate
        betas: the decay rates of the two means
        eps: added to the root in the denominator
        weight_decay: this times the parameter is added to the gradient
        amsgrad: whether to divide by the largest mean of squares so far
        maximize: whether to maximise the objective
        decoupled_weight_decay: whether the decay shrinks the parameters directly, as in AdamW
        foreach, capturable, fused: stored but not used; a step is one call in any case
    """

    _decoupled = False

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        refuse_differentiable(type(self).__name__, differentiable)
        check("lr", lr, 0.0)
        check("eps", eps, 0.0)
        check("betas[0]", betas[0], 0.0, 1.0)
        check("betas[1]", betas[1], 0.0, 1.0)
        check("weight_decay", weight_decay, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay or self._decoupled,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _state(self, param: Tensor, amsgrad: bool) -> dict[str, Any]:
        state = self.state[param]
        if not state:
            state["step"] = F.zeros(())
            state["exp_avg"] = F.zeros_like(param)
            state["exp_avg_sq"] = F.zeros_like(param)
            if amsgrad:
                state["max_exp_avg_sq"] = F.zeros_like(param)
        return state

    def _at_once(self, group: dict[str, Any]) -> bool:
        if type(self)._step is not Adam._step:
            return False
        beta1, beta2 = group["betas"]
        return _C.adam_group(
            group["params"], self.state, group["lr"], beta1, beta2, group["eps"],
            group["weight_decay"], group.get("decoupled_weight_decay", self._decoupled),
            group["amsgrad"], group["maximize"],
        )  # fmt: skip

    def _step(self, group: dict[str, Any], params: list[Tensor]) -> None:
        by_step: dict[int, list[Tensor]] = {}
        for param in params:
            state = self._state(param, group["amsgrad"])
            state["step"] += 1
            by_step.setdefault(int(state["step"].item()), []).append(param)
        names = ["exp_avg", "exp_avg_sq"] + ["max_exp_avg_sq"] * group["amsgrad"]
        for step, part in by_step.items():
            lists = [[self.state[param][name] for param in part] for name in names]
            in_one_pass(part, self._one_pass(group, step), lists)

    def _one_pass(self, group: dict[str, Any], step: int) -> Any:
        beta1, beta2 = group["betas"]

        def run(params: Any, grads: Any, lists: Any) -> None:
            largest = lists[2] if group["amsgrad"] else ()
            _C.adam_step(
                params, grads, lists[0], lists[1], largest, group["lr"], beta1, beta2,
                group["eps"], group["weight_decay"], step,
                group.get("decoupled_weight_decay", self._decoupled), group["amsgrad"],
                group["maximize"],
            )  # fmt: skip

        return run


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly."""

    _decoupled = True

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options)
