# SPDX-License-Identifier: Apache-2.0
"""Rules of products, random numbers, and reads of values."""

# mypy: disable-error-code="arg-type,no-any-return"
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .. import _C, _functions as F
from .._C import Tensor
from .._errors import DtypeError
from .._vmap_levels import core, needs_loop, spread, value_at
from ..functional import einsum as einsum_of
from .._types import bool_
from ._one_by_one import may_draw, one_by_one
from ._rules import Answer, Call, drawing, named, ranked, rule

# -- products --------------------------------------------------------------------------------------


@rule("matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "mv", "dot", "inner", "vdot")
def matmul(call: Call) -> Answer:
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

    def matrix(value: Tensor | None, argument: Tensor, dim: int) -> Tensor:
        if argument.ndim == 1:
            return argument.unsqueeze(dim) if value is None else ranked(value.unsqueeze(dim), rank)
        return argument if value is None else ranked(value, rank)

    product = F.matmul(matrix(a, x, -2), matrix(b, y, -1))
    if y.ndim == 1:
        product = product.squeeze(-1)
    if x.ndim == 1:
        product = product.squeeze(-1 if y.ndim == 1 else -2)
    return call.wrapped(product)


@rule("linear")
def linear(call: Call) -> Answer:
    arguments = call.named()
    x, weight, bias = arguments["input"], arguments["weight"], arguments.get("bias")
    if value_at(weight, call.level) is None and value_at(bias, call.level) is None and x.ndim:
        return call.wrapped(call.func(x.value, weight, bias))
    with call.seen():
        y = x @ weight.mT if weight.ndim == 2 else x @ weight
        return y if bias is None else y + bias


@rule("addmm")
def addmm(call: Call) -> Answer:
    arguments = call.named()
    if arguments.get("out") is not None:
        return NotImplemented
    beta, alpha = (1 if arguments.get(n) is None else arguments[n] for n in ("beta", "alpha"))
    with call.seen():
        y = F.mm(arguments["mat1"], arguments["mat2"])
        beta, alpha = _factor("4 (beta)", beta, y), _factor("5 (alpha)", alpha, y)
        y = y if alpha == 1 else alpha * y
        if beta == 0:
            return _beside(y, arguments["input"])
        return y + (arguments["input"] if beta == 1 else beta * arguments["input"])


def _factor(argument: str, value: Any, x: Tensor) -> Any:
    """beta or alpha as a number of the kind of x, which the sum has, too. A fraction of integers
    raises."""
    if isinstance(value, Tensor) or x.is_complex():
        return value
    real = not isinstance(value, complex)
    if real and (x.is_floating_point() or value % 1 == 0):  # not of NaN and infinity
        return value if x.is_floating_point() else int(value)
    raise DtypeError(f"addmm: argument {argument} is {value}, wanted a number that {x.dtype} holds")


def _beside(product: Tensor, input: Tensor) -> Tensor:
    """The product, where the factor of input is 0: gradients of zeros flow to input."""
    if not (input.requires_grad or _C.forward_level(0)):
        return product
    return F.where(F.ones((), dtype=bool_, device=product.device), product, input)


@rule("einsum")
def einsum(call: Call) -> Answer:
    """The batch is one more letter."""
    if call.args:
        equation, *operands = call.args
    else:  # as C hands it on
        equation, operands = call.kwargs["equation"], list(call.kwargs["tensors"])
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
    return call.wrapped(einsum_of(f"{','.join(parts)}->{own}{result}", *values))


# -- random numbers --------------------------------------------------------------------------------

# What draws only for some arguments: whether these do.
_DRAWS: dict[str, Callable[[dict[str, Any]], bool]] = {
    **dict.fromkeys(
        (
            "dropout",
            "dropout1d",
            "dropout2d",
            "dropout3d",
            "alpha_dropout",
            "feature_dropout",
            "feature_alpha_dropout",
            "dropout_",
            "alpha_dropout_",
            "feature_dropout_",
            "feature_alpha_dropout_",
        ),
        lambda inputs: bool(inputs.get("training", inputs.get("train"))) and inputs.get("p") != 0,
    ),
    **dict.fromkeys(("rrelu", "rrelu_"), lambda inputs: bool(inputs.get("training", False))),
    **dict.fromkeys(
        (
            "scaled_dot_product_attention",
            "multi_head_attention",
            "multi_head_attention_with_weights",
        ),
        lambda inputs: bool(inputs.get("dropout_p")),
    ),
    **dict.fromkeys(
        (
            "fractional_max_pool2d",
            "fractional_max_pool3d",
            "fractional_max_pool2d_with_indices",
            "fractional_max_pool3d_with_indices",
        ),
        lambda inputs: inputs.get("_random_samples") is None,
    ),
}
_NETWORKS = ("lstm", "gru", "rnn_tanh", "rnn_relu")


def _network_draws(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a recurrent network drops out; packed sequences have batch_sizes before the rest."""
    place = 1 if name == "lstm" else 2
    packed = "batch_sizes" in kwargs or isinstance((*args, *[None] * 3)[place], Tensor)
    names: tuple[str, ...] = ("data", "batch_sizes") if packed else ("input",)
    names += ("hx", "params", "has_biases", "num_layers", "dropout", "train")
    arguments = {**dict(zip(names, args, strict=False)), **kwargs}
    return bool(arguments.get("dropout")) and bool(arguments.get("train"))


def draws(name: str, func: Callable[..., Any], args: object, kwargs: object) -> bool:
    """Whether a call draws random numbers, which some do for some arguments only."""
    if name in _NETWORKS:
        return _network_draws(name, args, kwargs)
    requested = _DRAWS.get(name)
    if requested is None:
        return True
    value = named(name, func, args, kwargs)
    if not value.keys() & {"training", "train"}:
        value["training"] = "alpha" not in name and not name.startswith("rrelu")
    return requested(value)


def _check_random(call: Call) -> None:
    may_draw(call.level, call.name, repeatable=True)


def _for_each(call: Call) -> Answer:
    """One sample after another: their numbers follow one another, or are the same."""
    with call.seen():
        return one_by_one(call, warn=False)


def _shared(call: Call) -> Answer:
    """Numbers that do not depend on the samples, and are the same for all of them."""
    return call.func(*call.args, **call.kwargs)


@drawing("randperm", "randint", "rand", "randn")
def sized(call: Call) -> Answer:
    """Numbers of given sizes."""
    _check_random(call)
    if call.level.randomness == "same":
        return _shared(call)
    if call.name == "randperm" or call.kwargs.get("out") is not None:
        return _for_each(call)
    values = dict(call.kwargs)
    bounds: Any = ()
    sizes: Any = call.args
    if call.name == "randint":
        named = call.named()
        bounds = named.pop("bounds", ())
        values = named
        if "size" not in values:
            *bounds, sizes = bounds
    sizes = values.pop("size", sizes)
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    return call.wrapped(call.func(*bounds, size=(call.level.size, *sizes), **values))


@drawing(
    "rand_like",
    "randn_like",
    "randint_like",
    "normal_",
    "uniform_",
    "exponential_",
    "random_",
    "cauchy_",
    "log_normal_",
    "geometric_",
)
def like(call: Call) -> Answer:
    """Numbers drawn for the elements of a tensor."""
    _check_random(call)
    x, *rest = call.args
    value = value_at(x, call.level)
    if call.level.randomness == "same":
        if value is None:
            return _shared(call)
        if call.writes:
            return _for_each(call)
        sample = value.detach()[0] if value.shape[0] else value.new_empty(value.shape[1:])
        return call.func(sample, *rest, **call.kwargs)
    if value is None and call.writes:
        raise _shared_target(call)
    answer = call.func(spread(x, call.level), *rest, **call.kwargs)
    return x if call.writes else call.wrapped(answer)


def _shared_target(call: Call) -> RuntimeError:
    return RuntimeError(
        f"vmap: {call.name} on a tensor that all samples share cannot draw different numbers"
    )


@drawing(
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "alpha_dropout",
    "feature_dropout",
    "feature_alpha_dropout",
    "dropout_",
    "alpha_dropout_",
    "feature_dropout_",
    "feature_alpha_dropout_",
    "rrelu",
    "rrelu_",
    "bernoulli",
    "bernoulli_",
    "multinomial",
    "normal",
    "poisson",
    "binomial",
    "_standard_gamma",
    "standard_gamma",
    "_sample_dirichlet",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d_with_indices",
    "lstm",
    "gru",
    "rnn_tanh",
    "rnn_relu",
)
def drawn(call: Call) -> Answer:
    """Draws that depend on other tensors."""
    if not draws(call.name, call.func, call.args, call.kwargs):
        if not call.is_batched:
            return _shared(call)
        if call.name in _NETWORKS:
            return NotImplemented
        # Windows that the caller chose are those of each sample.
        return _for_each(call) if call.name.startswith("fractional") else _undrawn(call)
    _check_random(call)
    same = call.level.randomness == "same"
    if same and not call.is_batched:
        return _shared(call)
    written = call.args[0] if call.writes else call.kwargs.get("out")
    if isinstance(written, Tensor) and value_at(written, call.level) is None:
        raise _shared_target(call)
    if call.name in ("dropout", "bernoulli", "rrelu") and not call.kwargs.get("inplace"):
        x, *rest = call.args
        others = (*rest, *call.kwargs.values())
        if not any(isinstance(y, Tensor) for y in others):
            if not same:
                return call.wrapped(call.func(spread(x, call.level), *rest, **call.kwargs))
            if call.name == "dropout":
                ones = F.ones(x.shape, dtype=x.dtype, device=x.device)
                kept = call.func(ones, *rest, **call.kwargs)
                with call.seen():
                    return x * kept
    return _for_each(call)


def _undrawn(call: Call) -> Answer:
    """Nothing is drawn: in place, or the values as they are, or rrelu's middle slope."""
    x, *rest = call.args
    value = value_at(x, call.level)
    if value is None:
        return NotImplemented
    answer = call.func(value, *rest, **call.kwargs)
    return x if answer is value else call.wrapped(answer)


# -- what a sample cannot tell ---------------------------------------------------------------------


@rule(
    "item",
    "__bool__",
    "__float__",
    "__int__",
    "__index__",
    "__complex__",
    "tolist",
    "numpy",
    "__array__",
    "__contains__",
    "is_nonzero",
    "equal",
    "allclose",
    "data_ptr",
    "storage",
    "untyped_storage",
)
def reading(call: Call) -> NoReturn:
    if call.name in ("data_ptr", "storage", "untyped_storage"):
        raise needs_loop(
            f"vmap: {call.name}() of a tensor that is mapped over: its samples have no "
            "memory of their own"
        )
    if call.name in ("__bool__", "__contains__", "is_nonzero", "equal", "allclose"):
        raise needs_loop(
            "vmap: a branch depends on the values of a tensor that is mapped over, and samples may "
            "take different ones; where(condition, x, y) chooses by element"
        )
    raise needs_loop(
        f"vmap: {call.name}() reads the values of a tensor that is mapped over as Python numbers; "
        "return the tensor, and read it outside"
    )


@rule("histc", "histogram", "histogramdd", "bincount", "nonzero_static")
def counted(call: Call) -> Answer:
    """Each sample's values decide what is counted."""
    return _for_each(call)


@rule("quantile", "nanquantile")
def quantile(call: Call) -> Answer:
    """Without q of their own samples are computed together."""
    mapped = value_at(call.named()["q"], call.level) is not None
    return _for_each(call) if mapped else NotImplemented


@rule("cov")
def covariance(call: Call) -> Answer:
    """Weights are looked at: those that differ between samples one by one."""
    arguments = call.named()
    mapped = any(
        value_at(arguments.get(name), call.level) is not None for name in ("fweights", "aweights")
    )
    return _for_each(call) if mapped else NotImplemented


@rule("repeat_interleave")
def repeated(call: Call) -> Answer:
    """Samples repeat differently, but as often in all as output_size says."""
    arguments = call.named()
    mapped = value_at(arguments.get("repeats", arguments["input"]), call.level) is not None
    return (
        _for_each(call) if mapped and arguments.get("output_size") is not None else NotImplemented
    )


@rule("argwhere")
def places(call: Call) -> Answer:
    """As many in each sample, or there is no result."""
    x = call.named()["input"]
    rows = [F.argwhere(sample) for sample in spread(x, call.level)]
    if len({len(item) for item in rows}) > 1:
        return unknown_shape(call)
    return call.wrapped(F.stack(rows))


@rule("nonzero", "unique", "unique_consecutive")
def unknown_shape(call: Call) -> NoReturn:
    """Also where(condition), which is nonzero."""
    raise needs_loop(
        f"vmap: {call.name} has results whose shape depends on the values, which differ between "
        "samples"
    )


@rule("backward")
def backward(call: Call) -> NoReturn:
    raise RuntimeError(
        "vmap: backward() cannot be called on a tensor that is mapped over; "
        "libdl.func.grad inside, or backward() outside"
    )


@rule(
    "requires_grad.__get__",
    "is_leaf.__get__",
    "grad_fn.__get__",
    "_version.__get__",
    "output_nr.__get__",
    "retains_grad.__get__",
)
def history(call: Call) -> Any:
    """Of the values, which alone have one."""
    return call.func(core(call.args[0]))


@rule("requires_grad.__set__")
def set_history(call: Call) -> Any:
    return call.func(core(call.args[0]), call.args[1])
