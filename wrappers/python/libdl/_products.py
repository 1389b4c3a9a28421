# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and vectors that are added to something, and rows brought to a length."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import builtins
from typing import Any

from . import _C, _functions as f
from ._C import Tensor
from ._cast_operands import in_lower, left_alone
from ._dimensions import one_dimension
from ._errors import ArgumentValueError, DtypeError, ShapeError
from ._out import copied, in_place

__all__ = ["addbmm", "addmv", "addr", "baddbmm", "chain_matmul", "renorm", "spmm", "vdot"]


def _wants(function: str, argument: str, x: Tensor, ndim: int) -> None:
    if x.ndim != ndim:
        raise ShapeError(f"{function}: argument {argument} has shape {list(x.shape)}, wanted {ndim}-d")


def _agrees(function: str, argument: str, x: Tensor, shape: list[Any]) -> None:
    if any(n not in (None, m) for n, m in zip(shape, x.shape, strict=True)):
        told = ", ".join("any" if n is None else str(n) for n in shape)
        raise ShapeError(f"{function}: argument {argument} has shape {list(x.shape)}, wanted [{told}]")


def factor(function: str, argument: str, value: Any, x: Tensor) -> Any:
    """beta or alpha as a number of the kind of x, which the sum has, too. A fraction of integers raises."""
    if isinstance(value, Tensor) or x.is_complex():
        return value
    real = not isinstance(value, builtins.complex)
    if real and (x.is_floating_point() or value % 1 == 0):  # not of NaN and infinity
        return value if x.is_floating_point() else int(value)
    raise DtypeError(f"{function}: argument {argument} is {value}, wanted a number that {x.dtype} holds")


def beside(product: Tensor, input: Tensor) -> Tensor:
    """The product, where the factor of input is 0: gradients of zeros flow to input."""
    if not (input.requires_grad or _C.forward_level(0)):
        return product
    return f.where(f.ones((), dtype=bool, device=product.device), product, input)


@left_alone
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1,
          out: Tensor | None = None) -> Tensor:  # fmt: skip
    """beta * input + alpha * (mat @ vec): [n, m] and [m] give [n]. Where beta is 0, input is not read."""
    _wants("addmv", "2 (mat)", mat, 2)
    _wants("addmv", "3 (vec)", vec, 1)
    _agrees("addmv", "3 (vec)", vec, [mat.shape[1]])
    start = _broadcast("addmv", input, (mat.shape[0],)).unsqueeze(-1)
    beta, alpha = factor("addmv", "4 (beta)", beta, mat), factor("addmv", "5 (alpha)", alpha, mat)
    return copied(f.addmm(start, mat, vec.unsqueeze(1), beta=beta, alpha=alpha).squeeze(1), out)


def _broadcast(function: str, input: Tensor, shape: tuple[int, ...]) -> Tensor:
    given = tuple(input.shape)
    if len(given) > len(shape) or any(
        n not in (1, m) for n, m in zip(reversed(given), reversed(shape))
    ):
        raise ShapeError(f"{function}: argument 1 (input) has shape {list(given)}, which does not broadcast "
                         f"with {list(shape)}")  # fmt: skip
    return input.expand(shape)


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1,
         out: Tensor | None = None) -> Tensor:  # fmt: skip
    """beta * input + alpha * outer(vec1, vec2): [n] and [m] give [n, m]. Where beta is 0, input is not
    read. Of bools, `and` and `or`."""
    from . import promote_types

    _wants("addr", "2 (vec1)", vec1, 1)
    _wants("addr", "3 (vec2)", vec2, 1)
    start = _broadcast("addr", input, (vec1.shape[0], vec2.shape[0]))
    product = vec1.unsqueeze(1) * vec2
    whole = promote_types(start.dtype, product.dtype)
    for argument, value in (("4 (beta)", beta), ("5 (alpha)", alpha)):
        if isinstance(value, float) and not (whole.is_floating_point or whole.is_complex):
            raise DtypeError(f"addr: argument {argument} is {value}, wanted an integer for {whole}")
        if isinstance(value, builtins.complex) and not whole.is_complex:
            raise DtypeError(f"addr: argument {argument} is {value}, wanted a real number for {whole}")
    if whole.name == "bool":
        beta, alpha = bool(beta), bool(alpha)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return copied(beside(product.to(whole), start), out)
    return copied((start if beta == 1 else start * beta) + product, out)


@in_lower
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1,
            out: Tensor | None = None) -> Tensor:  # fmt: skip
    """beta * input + alpha * (batch1 @ batch2). Where beta is 0, input is not read."""
    product = f.bmm(batch1, batch2)
    if input.dtype is not product.dtype:
        raise DtypeError(f"baddbmm: argument 1 (input) is {input.dtype}, wanted {product.dtype}")
    start = _broadcast("baddbmm", input, tuple(product.shape))
    beta, alpha = factor("baddbmm", "4 (beta)", beta, product), factor("baddbmm", "5 (alpha)", alpha, product)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return copied(beside(product, start), out)
    return f.add(start if beta == 1 else start * beta, product, out=out)


def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1,
           out: Tensor | None = None) -> Tensor:  # fmt: skip
    """beta * input + alpha * (the sum of batch1[i] @ batch2[i]): [b, n, m] and [b, m, p] give [n, p].
    Where beta is 0, input is not read."""
    _wants("addbmm", "2 (batch1)", batch1, 3)
    _wants("addbmm", "3 (batch2)", batch2, 3)
    b, n, m = batch1.shape
    _agrees("addbmm", "3 (batch2)", batch2, [b, m, None])
    p = batch2.shape[2]
    start = _broadcast("addbmm", input, (n, p))
    beta, alpha = factor("addbmm", "4 (beta)", beta, batch1), factor("addbmm", "5 (alpha)", alpha, batch1)
    left = batch1.transpose(0, 1).reshape(n, b * m)  # the sum over b is part of one product
    return copied(f.addmm(start, left, batch2.reshape(b * m, p), beta=beta, alpha=alpha), out)


def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of conj(input) * other, of two vectors."""
    return f.dot(input.conj() if input.is_complex() else input, other, out=out)


def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices; mm under the name for a sparse first one."""
    return f.mm(input, mat2)


def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order of least multiplications; see linalg.multi_dot."""
    from .linalg import multi_dot

    each = list(matrices[0]) if len(matrices) == 1 and not isinstance(matrices[0], Tensor) else list(matrices)
    for i, x in enumerate(each):
        _wants("chain_matmul", str(i + 1), x, 2)
    return copied(each[0].clone(), out) if len(each) == 1 else multi_dot(each, out=out)


def renorm(input: Tensor, p: float, dim: int, maxnorm: float, *, out: Tensor | None = None) -> Tensor:
    """The slices along dim, each scaled down to the p-norm maxnorm if its own is larger."""
    if input.ndim < 2:
        raise ShapeError(f"renorm: argument 1 (input) has shape {list(input.shape)}, wanted two dimensions "
                         "or more")  # fmt: skip
    if p <= 0 or maxnorm < 0:
        raise ArgumentValueError(f"renorm: p is {p} and maxnorm {maxnorm}, wanted p above 0 and maxnorm of "
                                 "0 or more")  # fmt: skip
    dim = one_dimension("renorm", 3, dim, input.ndim)
    norms = f.norm(input, p, [d for d in range(input.ndim) if d != dim % input.ndim], True)
    # PyTorch's guard against norms close to 0; where nothing is scaled, neither is a gradient. The square
    # of a norm, which the quotient's gradient would have, may overflow.
    scaled = input / (norms + 1e-7) * maxnorm
    return copied(f.where(norms > maxnorm, scaled, input), out)


def _matrix_power(self: Tensor, n: int) -> Tensor:
    """The matrix times itself, n times; see linalg.matrix_power."""
    from .linalg import matrix_power

    return matrix_power(self, n)


_matrix_power.__name__ = _matrix_power.__qualname__ = "matrix_power"
for _method in (addbmm, addmv, addr, baddbmm, renorm):
    setattr(Tensor, _method.__name__, _method)
    setattr(Tensor, _method.__name__ + "_", in_place(_method))
setattr(Tensor, "vdot", vdot)
setattr(Tensor, "matrix_power", _matrix_power)
