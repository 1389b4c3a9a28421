# SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient descent."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from .. import _C, _functions as F
from .._C import Tensor
from .one_pass import in_one_pass
from .optimizer import Optimizer, Params
from .options import check, check_differentiable, check_fused


class SGD(Optimizer):
    """param -= lr * direction, where the direction is the gradient, or its momentum.

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the learning rate
        momentum: the fraction of the last direction that is kept
        dampening: the momentum gets 1 - dampening times the gradient
        weight_decay: this times the parameter is added to the gradient
        nesterov: whether to use Nesterov momentum
        maximize: whether to maximise the objective
    """

    _later = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False,
              "fused": False}  # fmt: skip
    _scalars = ()

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_differentiable("SGD", differentiable)
        check_fused(fused, foreach)
        check("lr", lr, 0.0)
        check("momentum", momentum, 0.0)
        check("weight_decay", weight_decay, 0.0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("nesterov wants a momentum and no dampening")
        defaults: dict[str, Any] = {
            "lr": lr, "momentum": momentum, "dampening": dampening,
            "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
            "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _at_once(self, group: dict[str, Any]) -> bool:
        if type(self)._step is not SGD._step:
            return False
        return _C.sgd_group(
            group["params"], self.state, group["lr"], group["momentum"], group["dampening"],
            group["weight_decay"], group["nesterov"], group["maximize"],
        )  # fmt: skip

    def _step(self, group: dict[str, Any], params: list[Tensor]) -> None:
        fresh: list[Tensor] = []
        old: list[Tensor] = []
        for param in params:
            state = self.state[param] if group["momentum"] else None
            first = state is not None and state.get("momentum_buffer") is None
            if state is not None and first:
                state["momentum_buffer"] = F.zeros_like(param)
            (fresh if first else old).append(param)
        for part, first in ((fresh, True), (old, False)):
            if part:
                self._pass(group, part, first)

    def _pass(self, group: dict[str, Any], params: list[Tensor], first: bool) -> None:
        momentum = group["momentum"]
        buffers = [self.state[p]["momentum_buffer"] for p in params] if momentum else []
        in_one_pass(
            params,
            lambda group_params, grads, extra: _C.sgd_step(
                group_params, grads, extra[0] if momentum else (), group["lr"], momentum,
                group["dampening"], group["weight_decay"], group["nesterov"], group["maximize"],
                first,
            ),
            [buffers] if momentum else [],
        )  # fmt: skip
