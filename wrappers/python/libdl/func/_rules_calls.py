# SPDX-License-Identifier: Apache-2.0
"""Rules of products, random numbers, and reads of values."""

# mypy: disable-error-code="arg-type,misc"
from __future__ import annotations

from typing import Any

import libdl

from .. import _functions as F
from .._C import Tensor
from .._levels import spread, value_at
from ._rules import Call, ranked, rule

# -- products --------------------------------------------------------------------------------------


@rule("matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "mv", "dot", "inner", "vdot")
def matmul(call: Call) -> Any:
    """Vectors become matrices; the batch is one more dimension of matrices."""
    if call.kwargs.get("out") is not None or len(call.args) + len(call.kwargs) != 2:
        return NotImplemented
    x, y = (*call.args, *call.kwargs.values())
    if call.name == "__rmatmul__":
        x, y = y, x
    ranks = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1)}.get(call.name)
    if not x.ndim or not y.ndim or (ranks and (x.ndim, y.ndim) != ranks):
        return NotImplemented
    if call.name in ("inner", "vdot") and ((x.ndim, y.ndim) != (1, 1) or x.is_complex()):
        return NotImplemented
    a, b = value_at(x, call.level), value_at(y, call.level)
    rank = max(x.ndim, y.ndim, 2)

    def matrix(value: Tensor | None, given: Tensor, dim: int) -> Tensor:
        if given.ndim == 1:
            return given.unsqueeze(dim) if value is None else ranked(value.unsqueeze(dim), rank)
        return given if value is None else ranked(value, rank)

    product = F.matmul(matrix(a, x, -2), matrix(b, y, -1))
    if y.ndim == 1:
        product = product.squeeze(-1)
    if x.ndim == 1:
        product = product.squeeze(-1 if y.ndim == 1 else -2)
    return call.wrapped(product)


@rule("linear")
def linear(call: Call) -> Any:
    given = call.named()
    x, weight, bias = given["input"], given["weight"], given.get("bias")
    if value_at(weight, call.level) is None and value_at(bias, call.level) is None and x.ndim:
        return call.wrapped(call.func(x.value, weight, bias))
    with call.seen():
        y = x @ weight.mT if weight.ndim == 2 else x @ weight
        return y if bias is None else y + bias


def _scaled(call: Call, product: str, first: str, second: str) -> Any:
    given = call.named()
    if given.get("out") is not None:
        return NotImplemented
    beta, alpha = given.get("beta", 1), given.get("alpha", 1)
    with call.seen():
        y = getattr(F, product)(given[first], given[second])
        y = y if alpha == 1 else alpha * y
        return y if beta == 0 else y + (given["input"] if beta == 1 else beta * given["input"])


@rule("addmm", "addmv", "baddbmm")
def added(call: Call) -> Any:
    product, first, second = {
        "addmm": ("mm", "mat1", "mat2"), "addmv": ("mv", "mat", "vec"),
        "baddbmm": ("bmm", "batch1", "batch2"),
    }[call.name]  # fmt: skip
    return _scaled(call, product, first, second)


@rule("outer", "ger")
def outer(call: Call) -> Any:
    if call.kwargs:
        return NotImplemented
    x, y = call.args
    with call.seen():
        return x.unsqueeze(1) * y.unsqueeze(0)


@rule("einsum")
def einsum(call: Call) -> Any:
    """The batch is one more letter."""
    equation, *operands = call.args
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = list(operands[0])
    if not isinstance(equation, str):
        return NotImplemented
    equation = equation.replace(" ", "")
    terms, arrow, result = equation.partition("->")
    if not arrow:
        letters = sorted({c for c in terms if c.isalpha() and terms.count(c) == 1})
        result = ("..." if "..." in terms else "") + "".join(letters)
    own = next(c for c in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in terms)
    parts = [
        term if value_at(x, call.level) is None else own + term
        for term, x in zip(terms.split(","), operands, strict=True)
    ]
    values = [x if (v := value_at(x, call.level)) is None else v for x in operands]
    return call.wrapped(libdl.einsum(f"{','.join(parts)}->{own}{result}", *values))


# -- random numbers --------------------------------------------------------------------------------


def _check_random(call: Call) -> None:
    if call.level.randomness == "error":
        raise RuntimeError(
            f"vmap: {call.name} is a random operation, and randomness is 'error'; 'different' draws "
            "anew for each sample, 'same' once for all of them"
        )


def random(call: Call) -> Any:
    """Numbers of given sizes: they do not depend on the samples."""
    _check_random(call)
    if call.level.randomness == "same":
        return call.func(*call.args, **call.kwargs)
    size, kwargs = call.level.size, dict(call.kwargs)
    if call.name == "randperm":
        return call.wrapped(F.stack([call.func(*call.args, **kwargs) for _ in range(size)]))
    given = call.named()
    *bounds, sizes = (*given.pop("bounds", ()), *([given.pop("size")] if "size" in given else []))
    return call.wrapped(call.func(*bounds, size=(size, *sizes), **given))


random.always = True  # type: ignore[attr-defined]
rule("randperm", "randint")(random)


def sized(call: Call) -> Any:
    _check_random(call)
    if call.level.randomness == "same":
        return call.func(*call.args, **call.kwargs)
    kwargs = dict(call.kwargs)
    sizes: Any = kwargs.pop("size", call.args)
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    return call.wrapped(call.func(call.level.size, *sizes, **kwargs))


sized.always = True  # type: ignore[attr-defined]
rule("rand", "randn")(sized)


def like(call: Call) -> Any:
    """Numbers drawn for the elements of a tensor."""
    _check_random(call)
    x, *rest = call.args
    value = value_at(x, call.level)
    if call.level.randomness == "same":
        if value is None:
            return call.func(*call.args, **call.kwargs)
        sample = value.detach()[0] if call.name.endswith("_like") else None
        if sample is None:
            return _same_written(call, x, value)
        return call.func(sample, *rest, **call.kwargs)
    if value is None and call.writes:
        raise RuntimeError(
            f"vmap: {call.name} on a tensor that all samples share cannot draw different numbers"
        )
    answer = call.func(spread(x, call.level), *rest, **call.kwargs)
    return x if call.writes else call.wrapped(answer)


def _same_written(call: Call, x: Tensor, value: Tensor) -> Any:
    first = value.detach()[0].clone()
    call.func(first, *call.args[1:], **call.kwargs)
    value.copy_(first.expand(value.shape))
    return x


like.always = True  # type: ignore[attr-defined]
rule("rand_like", "randn_like", "randint_like", "normal_", "uniform_", "exponential_", "random_",
     "cauchy_", "log_normal_", "geometric_")(like)  # fmt: skip


def drawn(call: Call) -> Any:
    """Draws whose probabilities may differ between samples."""
    if call.name.startswith(("dropout", "alpha_dropout", "rrelu")) and not _training(call):
        return NotImplemented if not call.is_batched else call.wrapped(
            call.func(call.args[0].value, *call.args[1:], **call.kwargs))  # fmt: skip
    _check_random(call)
    if call.level.randomness == "different" and call.name in ("dropout", "bernoulli", "rrelu"):
        x, *rest = call.args
        if not any(isinstance(value, Tensor) for value in (*rest, *call.kwargs.values())):
            return call.wrapped(call.func(spread(x, call.level), *rest, **call.kwargs))
    if not call.is_batched:
        if call.level.randomness == "same":
            return call.func(*call.args, **call.kwargs)
        own = [call.func(*call.args, **call.kwargs) for _ in range(call.level.size)]
        return call.wrapped(F.stack(own))
    if call.name == "dropout" and call.level.randomness == "same":
        with call.seen():
            x = call.args[0]
            ones = value_at(x, call.level).detach()[0].new_ones(x.shape)  # type: ignore[union-attr]
            return x * call.func(ones, *call.args[1:], **call.kwargs)
    return NotImplemented if call.level.randomness == "different" else _repeated(call)


def _training(call: Call) -> bool:
    given = call.named()
    default = not call.name.startswith("rrelu")
    return bool(given.get("training", given.get("train", default))) and given.get("p") != 0


def _repeated(call: Call) -> Any:
    raise NotImplementedError(
        f"vmap: {call.name} with randomness='same' and arguments that are mapped over is not "
        "offered; 'different' is"
    )


drawn.always = True  # type: ignore[attr-defined]
rule("dropout", "bernoulli", "multinomial", "normal", "poisson", "rrelu", "alpha_dropout",
     "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "binomial")(drawn)  # fmt: skip


# -- what a sample cannot tell ---------------------------------------------------------------------


@rule("item", "__bool__", "__float__", "__int__", "__index__", "__complex__", "tolist", "numpy",
      "__array__", "is_nonzero", "equal", "allclose")  # fmt: skip
def reading(call: Call) -> Any:
    if call.name in ("__bool__", "is_nonzero", "equal", "allclose"):
        raise RuntimeError(
            "vmap: a branch depends on the values of a tensor that is mapped over, and samples may "
            "take different ones; where(condition, x, y) chooses by element"
        )
    raise RuntimeError(
        f"vmap: {call.name}() reads the values of a tensor that is mapped over as Python numbers; "
        "return the tensor, and read it outside"
    )


@rule("nonzero", "masked_select", "unique", "unique_consecutive", "argwhere", "bincount")
def unknown_shape(call: Call) -> Any:
    raise RuntimeError(
        f"vmap: {call.name} has results whose shape depends on the values, which differ between "
        "samples"
    )


@rule("backward")
def backward(call: Call) -> Any:
    raise RuntimeError("vmap: backward() cannot be called on a tensor that is mapped over; "
                       "libdl.func.grad inside, or backward() outside")  # fmt: skip


@rule("__repr__", "__format__", "__str__")
def shown(call: Call) -> Any:
    x = call.args[0]
    return f"Batched(level={x.level.number}, shape={list(x.shape)}, value={x.value!r})"


@rule("requires_grad.__get__", "is_leaf.__get__", "grad_fn.__get__", "_version.__get__",
      "output_nr.__get__", "retains_grad.__get__")  # fmt: skip
def history(call: Call) -> Any:
    return call.func(call.args[0].value)


@rule("requires_grad.__set__")
def set_history(call: Call) -> Any:
    return call.func(call.args[0].value, call.args[1])
