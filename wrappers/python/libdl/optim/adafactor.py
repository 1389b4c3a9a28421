# SPDX-License-Identifier: Apache-2.0
"""Adafactor: Adam without momentum, whose mean of squares is kept by rows and columns."""

from __future__ import annotations

from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._types import finfo
from .optimizer import Optimizer, Params
from .options import check, number, scalar


class Adafactor(Optimizer):
    """Steps along the gradient divided by the root of a mean of squares; of matrices only the
    means of rows and columns are kept (Shazeer and Stern 2018).

    Arguments:
        params: tensors, or groups of them with options of their own
        lr: the largest learning rate; the rate also falls with the root of the number of steps
        beta2_decay: the power of the steps with which the means' decay rate approaches 1
        eps: the smallest root of a mean of squares (None: the dtype's eps), and the smallest size
            of a parameter that its steps are in proportion to
        d: steps are scaled down to this size
        weight_decay: parameters shrink by this times the learning rate
        maximize: whether to maximise the objective
        foreach: stored but not used

    Source: Shazeer and Stern, 2018, Adafactor: adaptive learning rates with sublinear memory cost.
    """

    _later = {"foreach": None}
    _scalars = ("step",)

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check("lr", lr, 0.0)
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay is {beta2_decay}, wanted 0 or less")
        if eps[0] is not None:
            check("eps[0]", eps[0], 0.0)
        check("eps[1]", eps[1], 0.0)
        check("d", d, 1.0)
        check("weight_decay", weight_decay, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        row_vars: list[Tensor | None],
        col_vars: list[Tensor | None],
        variances: list[Tensor | None],
        state_steps: list[Tensor],
    ) -> bool:
        """Fills in the parameters that have a gradient, their gradients and states. A subclass may
        leave some out."""
        for param in group["params"]:
            if param.grad is None:
                continue
            if param.dtype.is_complex:
                raise RuntimeError("Adafactor does not take complex parameters")
            params_with_grad.append(param)
            grads.append(param.grad)
            state = self.state[param]
            if not state:
                _begin(state, param.grad.detach())
            row_vars.append(state.get("row_var"))
            col_vars.append(state.get("col_var"))
            variances.append(state.get("variance"))
            state_steps.append(state["step"])
        return False

    def _step_group(self, group: dict[str, Any]) -> None:
        params: list[Tensor] = []
        grads: list[Tensor] = []
        lists: tuple[list[Any], ...] = ([], [], [], [])
        self._init_group(group, params, grads, *lists)
        for param, grad, *state in zip(params, grads, *lists, strict=True):
            grad = -grad if group["maximize"] else grad.detach()
            names = ("row_var", "col_var", "variance", "step")
            _step_one(group, param, grad, dict(zip(names, state, strict=True)))


def _step_one(group: dict[str, Any], param: Tensor, grad: Tensor, state: dict[str, Any]) -> None:
    state["step"] += 1
    step, lr = state["step"].item(), number(group["lr"])
    least, least_size = group["eps"]
    least = finfo(param.dtype).eps if least is None else least
    size = max(least_size, param.norm().item() / param.numel() ** 0.5)
    if group["weight_decay"] != 0:
        param.mul_(1 - lr * group["weight_decay"])
    squares = _mean_squares(state, grad, step ** group["beta2_decay"], least)
    update = squares.clamp_(min=least * least).rsqrt_().mul_(grad)
    excess = max(1.0, update.norm().item() / (update.numel() ** 0.5 * group["d"]))
    param.add_(update, alpha=-size * min(lr, step**-0.5) / excess)


def _begin(state: dict[str, Any], grad: Tensor) -> None:
    state["step"] = scalar(0.0)
    if grad.ndim > 1:
        state["row_var"] = grad.new_zeros((*grad.shape[:-1], 1))
        state["col_var"] = grad.new_zeros((*grad.shape[:-2], 1, grad.shape[-1]))
    else:
        state["variance"] = F.zeros_like(grad)


def _mean_squares(state: dict[str, Any], grad: Tensor, weight: float, least: float) -> Tensor:
    if grad.ndim <= 1:
        return state["variance"].lerp_(grad * grad, weight).clone()  # type: ignore[no-any-return]
    row, column = state["row_var"], state["col_var"]
    for mean, dim in ((row, -1), (column, -2)):
        squares = grad.norm(dim=dim, keepdim=True).square_().div_(grad.shape[dim])
        mean.lerp_(squares, weight)
    estimate: Tensor = row @ column
    return estimate.div_(row.mean(dim=-2, keepdim=True).clamp_(min=least))
