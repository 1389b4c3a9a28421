# SPDX-License-Identifier: Apache-2.0
"""Gradients of each sample's loss, where backward leaves their sum.

A forward pass runs under vmap with one copy of each parameter for each sample, which takes no
memory: it is expanded. The gradient of these copies has the samples as its first dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._C import Tensor
from ...func import functional_call, vmap
from ...utils import _pytree
from ..modules.module import Module

__all__ = ["call_for_per_sample_grads"]


def call_for_per_sample_grads(
    module: Module,
    *,
    batch_size: int | None = None,
    loss_reduction: str = "sum",
    batch_first: bool = True,
) -> Callable[..., Any]:
    """A function that calls the module. backward() of what it returns sets `grad_sample` of each
    parameter that requires a gradient: [batch, *parameter.shape], the gradient of each sample's
    loss. `grad` stays as it is.

    Samples lie along the first dimension of all tensors among the arguments, or the second one
    where `batch_first` is false. With a `batch_size`, tensors of another size are the same for all
    samples. `loss_reduction` tells whether the loss is a sum or a "mean" over the samples.

    Raises RuntimeError where a module of another kind, a size or a word is wrong, and when a
    parameter's `grad_sample` has not been set to None since the last call.

        per_sample = call_for_per_sample_grads(nn.Linear(4, 3))
        per_sample(libdl.randn(5, 4)).sum().backward()  # weight.grad_sample: [5, 3, 4]
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(
            f"call_for_per_sample_grads: loss_reduction is {loss_reduction!r}, wanted "
            '"sum" or "mean"'
        )
    if not isinstance(module, Module):
        raise RuntimeError(
            f"call_for_per_sample_grads: module is a {type(module).__name__}, wanted a Module"
        )
    if batch_size is not None and (type(batch_size) is not int or batch_size < 1):
        raise RuntimeError(
            f"call_for_per_sample_grads: batch_size is {batch_size!r}, wanted 1 or more"
        )
    for name, parameter in module.named_parameters():
        if getattr(parameter, "grad_sample", None) is not None:
            raise RuntimeError(
                f"call_for_per_sample_grads: {name} has a grad_sample already, which "
                "would be added to: set it to None first"
            )
    dim = 0 if batch_first else 1

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = _pytree.tree_flatten((args, kwargs))
        count = batch_size or _common_size(leaves, dim)
        in_dims = [dim if _has_samples(x, dim, count) else None for x in leaves]
        expanded = {
            name: _expanded(parameter, count, count if loss_reduction == "mean" else 1)
            for name, parameter in module.named_parameters()
            if parameter.requires_grad
        }

        def of_one(parameters: dict[str, Tensor], *values: Any) -> Any:
            one = [x if d is None else x.unsqueeze(d) for x, d in zip(values, in_dims, strict=True)]
            positional, named = _pytree.tree_unflatten(one, spec)
            y = functional_call(module, parameters, positional, named)
            return _pytree.tree_map(lambda t: t.squeeze(dim), y)

        mapped = vmap(of_one, in_dims=(0, *in_dims), out_dims=dim, randomness="different")
        return mapped(expanded, *leaves)

    return wrapper


def _has_samples(x: Any, dim: int, count: int) -> bool:
    return isinstance(x, Tensor) and x.ndim > dim and x.shape[dim] == count


def _common_size(leaves: list[Any], dim: int) -> int:
    sizes = {x.shape[dim] for x in leaves if isinstance(x, Tensor) and x.ndim > dim}
    if len(sizes) != 1:
        raise RuntimeError(
            f"call_for_per_sample_grads: dimension {dim} of the tensors among the "
            f"arguments has the sizes {sorted(sizes)}, wanted one: the number of "
            "samples. Tell it as batch_size where some hold no samples"
        )
    return int(sizes.pop())


def _expanded(parameter: Tensor, count: int, scale: int) -> Tensor:
    copies = parameter.detach().expand(count, *parameter.shape).requires_grad_()

    def keep(gradient: Tensor) -> None:
        gradient = gradient * scale if scale != 1 else gradient
        before = getattr(parameter, "grad_sample", None)
        parameter.grad_sample = gradient if before is None else before + gradient  # type: ignore[attr-defined]

    copies.register_hook(keep)
    return copies
