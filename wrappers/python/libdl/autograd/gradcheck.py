# SPDX-License-Identifier: Apache-2.0
"""Checks of gradients against finite differences, in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._types import float64
from ._gradients import grad


class GradcheckError(RuntimeError):
    """The gradient does not agree with finite differences."""


def _tensors(values: Any) -> list[Tensor]:
    values = [values] if isinstance(values, Tensor) else list(values)
    return [value for value in values if isinstance(value, Tensor)]


def _differentiable(outputs: Any) -> list[Tensor]:
    return [out for out in _tensors(outputs) if out.dtype.is_floating_point or out.dtype.is_complex]


def _directions(x: Tensor) -> list[complex]:
    return [1.0, 1j] if x.dtype.is_complex else [1.0]


def _numerical(
    func: Callable[..., Any],
    inputs: Sequence[Any],
    x: Tensor,
    at: int,
    eps: float,
    direction: complex,
) -> list[Tensor]:
    """Central differences of every output, along one element of x."""
    element = x.detach()
    for size, below in zip(x.shape, (math.prod(x.shape[d + 1 :]) for d in range(x.dim()))):
        element = element[at // below % size]
    before = element.item()
    results = []
    for sign in (1.0, -1.0):
        element.fill_(before + sign * eps * direction)
        results.append([out.detach().clone() for out in _differentiable(func(*inputs))])
    element.fill_(before)
    return [(plus - minus) / (2 * eps) for plus, minus in zip(*results, strict=True)]


def _analytical(
    output: Tensor, inputs: list[Tensor], at: int, weight: complex, create_graph: bool = False
) -> tuple[Tensor | None, ...]:
    seed = F.zeros_like(output).reshape(-1)
    seed[at] = weight
    return grad(
        output,
        inputs,
        seed.view(output.shape),
        retain_graph=True,
        allow_unused=True,
        create_graph=create_graph,
    )


def _close(a: complex, b: complex, atol: float, rtol: float) -> bool:
    return abs(a - b) <= atol + rtol * abs(b)


def _check_input(
    func: Callable[..., Any],
    inputs: Sequence[Any],
    x: Tensor,
    number: int,
    eps: float,
    atol: float,
    rtol: float,
) -> None:
    """d Re(conj(w) output[j]) along each direction of x[i], by backward and by differences."""
    # Differences write x, which invalidates what earlier graphs saved of it, so they come first.
    steps = [
        (i, direction, _numerical(func, inputs, x, i, eps, direction))
        for i in range(x.numel())
        for direction in _directions(x)
    ]
    made = _differentiable(func(*inputs))
    places = [k for k, out in enumerate(made) if out.requires_grad]
    outputs = [made[k] for k in places]
    gradients: dict[tuple[int, int, complex], Tensor | None] = {}
    for k, output in enumerate(outputs):
        for j in range(output.numel()):
            for weight in _directions(output):
                (found,) = _analytical(output, [x], j, weight)
                if found is not None and found.shape != x.shape:
                    raise GradcheckError(
                        f"gradcheck: the gradient of input {number} has shape "
                        f"{list(found.shape)}, wanted {list(x.shape)}"
                    )
                gradients[k, j, weight] = found if found is None else found.detach().reshape(-1)
    for i, direction, differences in steps:
        for (k, j, weight), gradient in gradients.items():
            difference = differences[places[k]].reshape(-1)[j].item()
            wanted = (complex(weight).conjugate() * difference).real
            value = 0.0 if gradient is None else gradient[i].item()
            slope = (complex(direction).conjugate() * value).real
            if not _close(slope, wanted, atol, rtol):
                raise GradcheckError(
                    f"gradcheck: output {k + 1} element {j}, input {number} element {i}: the "
                    f"gradient is {slope}, differences say {wanted}"
                )


def gradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[Tensor],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    check_undefined_grad: bool = True,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    nondet_tol: float = 0.0,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether func's gradients equal central differences, at float64 and complex128 inputs.

    Arguments:
        func: takes the inputs, returns one or more tensors
        inputs: those that require grad are checked
        eps: half the step of the differences
        atol, rtol: the tolerance: atol + rtol * abs(difference)
        raise_exception: whether a wrong gradient raises GradcheckError instead of returning False
        check_forward_ad: whether forward mode is compared with backward, too
        check_backward_ad: False changes nothing, because forward mode is compared with backward
        check_undefined_grad, check_batched_grad, check_batched_forward_grad, fast_mode, masked,
            nondet_tol: accepted for compatibility; every element is checked
    """
    if not (check_forward_ad or check_backward_ad):
        raise ValueError("gradcheck: neither check_forward_ad nor check_backward_ad is True")
    if check_batched_forward_grad and not check_forward_ad:
        raise ValueError("gradcheck: check_batched_forward_grad wants check_forward_ad=True")
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = [(n, x) for n, x in enumerate(given, 1) if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError("gradcheck: no input requires grad")
    for n, x in checked:
        if x.dtype.itemsize < 8 * (2 if x.dtype.is_complex else 1):
            raise ValueError(f"gradcheck: input {n} is {x.dtype}, wanted float64 or complex128")
        if any(size > 1 and step == 0 for size, step in zip(x.shape, x.stride(), strict=True)):
            raise ValueError(f"gradcheck: input {n} has elements that share an address")
    try:
        outputs = [out for out in _differentiable(func(*given)) if out.requires_grad]
        if not outputs:
            for n, x in checked:
                _check_constant(func, given, x, n, eps, atol)
            return True
        for n, x in checked:
            _check_input(func, given, x, n, eps, atol, rtol)
        if check_forward_ad:
            outputs = [out for out in _differentiable(func(*given)) if out.requires_grad]
            _check_forward(func, given, [x for _, x in checked], outputs, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_constant(
    func: Callable[..., Any], inputs: Sequence[Any], x: Tensor, number: int, eps: float, atol: float
) -> None:
    for i in range(x.numel()):
        for difference in _numerical(func, inputs, x, i, eps, 1.0):
            if difference.numel() and difference.abs().max().item() > atol:
                raise GradcheckError(
                    f"gradcheck: no output requires grad, but input {number} element {i} matters"
                )


def _check_forward(
    func: Callable[..., Any],
    inputs: Sequence[Any],
    checked: list[Tensor],
    outputs: list[Tensor],
    atol: float,
    rtol: float,
) -> None:
    """<w, J t> by forward mode equals <J^H w, t> by reverse mode, for one random t and w."""
    from . import forward_ad

    tangents = [F.randn_like(x) for x in checked]
    weights = [F.randn_like(out) for out in outputs]
    by_id = {id(x): t for x, t in zip(checked, tangents, strict=True)}
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, by_id[id(x)]) if id(x) in by_id else x for x in inputs]
        results = [
            forward_ad.unpack_dual(out).tangent
            for out in _differentiable(func(*duals))
            if out.requires_grad
        ]
    forward = sum(
        _inner(w, t.detach()) for w, t in zip(weights, results, strict=True) if t is not None
    )
    back = grad(outputs, checked, weights, retain_graph=True, allow_unused=True)
    reverse = sum(_inner(g, t) for g, t in zip(back, tangents, strict=True) if g is not None)
    if not _close(forward, reverse, atol, rtol):
        raise GradcheckError(f"gradcheck: forward mode gives {forward}, reverse mode {reverse}")


def _inner(a: Tensor, b: Tensor) -> float:
    product = F.conj(a) * b if a.dtype.is_complex else a * b
    return complex(product.sum().item()).real


def gradgradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether the gradients of func's gradients equal central differences. check_fwd_over_rev: and
    forward mode through the gradient agrees. Other arguments as in gradcheck."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise ValueError("gradgradcheck: neither check_fwd_over_rev nor check_rev_over_rev is True")

    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = _differentiable(func(*given))
    if grad_outputs is None:
        weights = [F.randn_like(out).requires_grad_() for out in outputs]
    else:
        weights = [w.detach().requires_grad_() for w in _tensors(grad_outputs)]
    count = len(given)

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        xs, ws = args[:count], args[count:]
        outs = _differentiable(func(*xs))
        pairs = [(o, w) for o, w in zip(outs, ws, strict=True) if o.requires_grad]
        wanted = [x for x in xs if isinstance(x, Tensor) and x.requires_grad]
        found = grad(
            [o for o, _ in pairs],
            wanted,
            [w for _, w in pairs],
            create_graph=True,
            allow_unused=True,
        )
        return tuple(g for g in found if g is not None and g.requires_grad)

    return gradcheck(
        gradients,
        (*given, *weights),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        check_forward_ad=check_fwd_over_rev,
    )


assert float64.itemsize == 8
