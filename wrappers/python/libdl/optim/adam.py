# SPDX-License-Identifier: Apache-2.0
"""Adam, and AdamW, whose weight decay does not enter the moments."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._C import Tensor
from .._errors import ArgumentValueError, DtypeError
from .._overrides import of_values
from .one_pass import OnePassOptimizer, step_lists
from .optimizer import Params
from .options import check, check_betas, check_differentiable, check_fused


class Adam(OnePassOptimizer):
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

    Source: Kingma and Ba, 2015, Adam: a method for stochastic optimization; amsgrad: Reddi, Kale
    and Kumar, 2018, On the convergence of Adam and beyond.

    Example:
        >>> w = torch.tensor([1., -2.], requires_grad=True)
        >>> optimizer = torch.optim.Adam([w], lr=0.1)
        >>> loss = (w * w).sum()
        >>> loss.backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    _decoupled = False
    _later = {
        "amsgrad": False,
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "fused": None,
    }

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
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
        check_differentiable(type(self).__name__, differentiable)
        check_fused(fused, foreach)
        check("lr", lr, 0.0)
        check("eps", eps, 0.0)
        betas = check_betas(betas)
        check("weight_decay", weight_decay, 0.0)
        defaults: dict[str, Any] = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay or self._decoupled,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            if self._decoupled:  # older states do not tell
                group["decoupled_weight_decay"] = True
            group.setdefault("decoupled_weight_decay", False)

    _slots = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step")
    _of_one_dtype = ("exp_avg",)

    def _step_group(self, group: dict[str, Any]) -> None:
        if not self._at_once(group):
            super()._step_group(group)

    def _at_once(self, group: dict[str, Any]) -> bool:
        """Steps a group in C if possible; False: nothing was done."""
        if type(self)._init_group is not OnePassOptimizer._init_group:
            return False
        beta1, beta2 = group["betas"]
        try:
            return of_values(
                _C.adam_group,
                group["params"],
                self.state,
                group["lr"],
                beta1,
                beta2,
                group["eps"],
                group["weight_decay"],
                group["decoupled_weight_decay"],
                group["amsgrad"],
                group["maximize"],
            )
        except (ArgumentValueError, DtypeError):
            return False  # shared memory, or the same error once more

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["exp_avg", "exp_avg_sq"] + ["max_exp_avg_sq"] * bool(group["amsgrad"])

    def _call(
        self, group: dict[str, Any], numbers: Any, params: Any, grads: Any, lists: list[Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        largest = lists[2] if group["amsgrad"] else ()
        of_values(
            _C.adam_step,
            params,
            grads,
            lists[0],
            lists[1],
            largest,
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            step=int(numbers),
            decoupled=group["decoupled_weight_decay"],
            amsgrad=group["amsgrad"],
            maximize=group["maximize"],
        )


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly.

    Source: Loshchilov and Hutter, 2019, Decoupled weight decay regularization.

    Example:
        >>> w = torch.tensor([1., -2.], requires_grad=True)
        >>> optimizer = torch.optim.AdamW([w], lr=0.1)
        >>> loss = (w * w).sum()
        >>> loss.backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.8990, -1.8980], requires_grad=True)
    """

    _decoupled = True

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


def adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """A step of Adam with parameters, gradients and states in lists."""
    check_differentiable("adam", differentiable)
    group = {
        "betas": (beta1, beta2),
        "lr": lr,
        "weight_decay": weight_decay,
        "eps": eps,
        "amsgrad": amsgrad,
        "maximize": maximize,
        "decoupled_weight_decay": decoupled_weight_decay,
    }
    step_lists(Adam, group, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)


def adamw(*lists: Any, **options: Any) -> None:
    """A step of AdamW, likewise."""
    adam(*lists, **{**options, "decoupled_weight_decay": True})
