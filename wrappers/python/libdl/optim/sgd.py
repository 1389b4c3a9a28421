# SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from .. import _C, _functions as F
from .._C import Tensor
from .._errors import ArgumentValueError, DtypeError
from .._modes import no_grad
from .._overrides import of_values
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

    Source: Robbins and Monro, 1951, A stochastic approximation method; momentum: Sutskever,
    Martens, Dahl and Hinton, 2013, On the importance of initialization and momentum in deep
    learning.
    """

    _later = {
        "nesterov": False,
        "maximize": False,
        "foreach": None,
        "differentiable": False,
        "fused": False,
    }
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
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _at_once(self, group: dict[str, Any]) -> bool:
        """Steps a group in C if possible; False: nothing was done."""
        if type(self)._init_group is not SGD._init_group:
            return False
        try:
            return of_values(
                _C.sgd_group,
                group["params"],
                self.state,
                group["lr"],
                group["momentum"],
                group["dampening"],
                group["weight_decay"],
                group["nesterov"],
                group["maximize"],
            )
        except (ArgumentValueError, DtypeError):
            return False  # shared memory or several dtypes, or the same error once more

    def _init_group(
        self,
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        momentum_buffer_list: list[Tensor | None],
    ) -> bool:
        """Fills in the parameters that have a gradient, their gradients and, with a momentum, its
        buffers. A subclass may leave some out. Returns whether a gradient is sparse."""
        for param in group["params"]:
            if param.grad is not None:
                params.append(param)
                grads.append(param.grad)
                if group["momentum"] != 0:
                    momentum_buffer_list.append(self.state[param].get("momentum_buffer"))
        return any(grad.is_sparse for grad in grads)

    def _step_group(self, group: dict[str, Any]) -> None:
        if self._at_once(group):
            return
        params: list[Tensor] = []
        grads: list[Tensor] = []
        buffers: list[Tensor | None] = []
        self._init_group(group, params, grads, buffers)
        _step_lists(group, params, grads, buffers)
        for param, buffer in zip(params, buffers):
            self.state[param]["momentum_buffer"] = buffer


def _step_lists(
    group: dict[str, Any], params: list[Tensor], grads: list[Tensor], buffers: list[Any]
) -> None:
    """A step; buffers that are None are made."""
    momentum = group["momentum"]
    fresh = [i for i in range(len(params)) if momentum and buffers[i] is None]
    for i in fresh:
        buffers[i] = F.zeros_like(params[i], requires_grad=False)
    old = sorted(set(range(len(params))) - set(fresh))
    for part, first in ((fresh, True), (old, False)):
        if part:
            in_one_pass(
                [params[i] for i in part],
                [grads[i] for i in part],
                lambda some, of_them, extra, first=first: of_values(
                    _C.sgd_step,
                    some,
                    of_them,
                    extra[0] if momentum else (),
                    lr=group["lr"],
                    momentum=momentum,
                    dampening=group["dampening"],
                    weight_decay=group["weight_decay"],
                    nesterov=group["nesterov"],
                    maximize=group["maximize"],
                    first=first,
                ),
                [[buffers[i] for i in part]] if momentum else [],
            )


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """A step of SGD with parameters, gradients and buffers in lists; None: a buffer of a first
    step, which takes its place in the list."""
    group = {
        "weight_decay": weight_decay,
        "momentum": momentum,
        "lr": lr,
        "dampening": dampening,
        "nesterov": nesterov,
        "maximize": maximize,
    }
    with no_grad():
        _step_lists(group, params, d_p_list, momentum_buffer_list)
