# SPDX-License-Identifier: Apache-2.0
"""Rules of layers and losses."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations


from .. import _functions as F
from .._C import Tensor
from .._vmap_levels import needs_loop, spread, value_at
from .._overloads import arange
from ._rules import Answer, Call, drawing, ranked, rule
from ._rules_calls import drawn


def folded(call: Call, rank: int) -> Answer:
    """A layer whose input may have a dimension of samples already: both become one."""
    x, *rest = call.args
    value = value_at(x, call.level)
    if value is None:
        return NotImplemented
    if x.ndim == rank - 1:
        return call.wrapped(call.func(value, *rest, **call.kwargs))
    if x.ndim != rank:
        return NotImplemented
    count = value.shape[:2]
    answer = call.func(value.flatten(0, 1), *rest, **call.kwargs)
    if isinstance(answer, tuple):
        return call.wrapped(tuple(y.unflatten(0, count) for y in answer))
    return call.wrapped(answer.unflatten(0, count))


_POOLS = [
    f"{kind}{n}d{rest}"
    for n in (1, 2, 3)
    for kind in ("avg_pool", "max_pool", "adaptive_avg_pool", "adaptive_max_pool", "lp_pool")
    for rest in ("", "_with_indices")
]


@rule(*_POOLS)
def pool(call: Call) -> Answer:
    n = int(next(c for c in call.name if c.isdigit()))
    return folded(call, n + 2)


@rule("interpolate", "upsample")
def resized(call: Call) -> Answer:
    return folded(call, call.args[0].ndim)


@rule("grid_sample")
def grid_sample(call: Call) -> Answer:
    x, grid, *rest = call.args
    values = spread(x, call.level), spread(grid, call.level)
    y = call.func(*(v.flatten(0, 1) for v in values), *rest, **call.kwargs)
    return call.wrapped(y.unflatten(0, values[0].shape[:2]))


@rule("cdist")
def cdist(call: Call) -> Answer:
    x1, x2, *rest = call.args
    values = [spread(x, call.level) for x in (x1, x2)]
    ndim = max(v.ndim for v in values)
    if min(v.ndim for v in values) < 3:
        return NotImplemented
    aligned = [v[(slice(None), *[None] * (ndim - v.ndim))] for v in values]
    return call.wrapped(call.func(*aligned, *rest, **call.kwargs))


@rule("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def convolution(call: Call) -> Answer:
    """Filters that differ between samples are groups of one convolution."""
    arguments = call.named()
    n = int(next(c for c in call.name if c.isdigit()))
    x, weight, bias = (arguments.pop(name, None) for name in ("input", "weight", "bias"))
    if all(value_at(y, call.level) is None for y in (weight, bias)):
        return folded(call, n + 2)
    size = call.level.size
    value = spread(x, call.level)
    alone = x.ndim == n + 1
    if alone:
        value = value.unsqueeze(1)
    groups = arguments.pop("groups", 1)
    own = spread(weight, call.level).flatten(0, 1)
    shift = None if bias is None else spread(bias, call.level).flatten(0, 1)
    y = call.func(
        value.transpose(0, 1).flatten(1, 2), own, shift, groups=groups * size, **arguments
    )
    y = y.unflatten(1, (size, y.shape[1] // size)).transpose(0, 1)
    return call.wrapped(y.squeeze(1) if alone else y)


@rule("embedding")
def embedding(call: Call) -> Answer:
    arguments = call.named()
    index, weight = arguments["input"], arguments["weight"]
    if value_at(weight, call.level) is None:
        rest = {k: v for k, v in arguments.items() if k not in ("input", "weight")}
        return call.wrapped(call.func(index.value, weight, **rest))
    if any(arguments.get(k) for k in ("max_norm", "scale_grad_by_freq", "sparse")):
        return NotImplemented
    with call.seen():
        padding = arguments.get("padding_idx")
        if padding is not None:  # that row is a constant
            row = arange(weight.shape[0]) == padding % weight.shape[0]
            weight = F.where(row.unsqueeze(1), weight.detach(), weight)
        return weight[index]


@rule("one_hot")
def one_hot(call: Call) -> Answer:
    arguments = call.named()
    if arguments.get("num_classes", -1) == -1:
        raise needs_loop("vmap: one_hot needs num_classes, for it reads the values to find it")
    return call.wrapped(call.func(call.args[0].value, arguments["num_classes"]))


@rule("layer_norm")
def layer_norm(call: Call) -> Answer:
    arguments = call.named()
    x, shape = arguments["input"], arguments["normalized_shape"]
    weight, bias, eps = arguments.get("weight"), arguments.get("bias"), arguments.get("eps", 1e-5)
    value = value_at(x, call.level)
    if value is None:
        value = spread(x, call.level)
    if value_at(weight, call.level) is None and value_at(bias, call.level) is None:
        return call.wrapped(call.func(value, shape, weight, bias, eps))
    with call.seen():
        y = call.wrapped(call.func(value, shape, None, None, eps))
        y = y if weight is None else y * weight
        return y if bias is None else y + bias


@rule("group_norm")
def group_norm(call: Call) -> Answer:
    arguments = call.named()
    x, groups = arguments["input"], arguments["num_groups"]
    weight, bias, eps = arguments.get("weight"), arguments.get("bias"), arguments.get("eps", 1e-5)
    value = spread(x, call.level)
    plain = call.func(value.flatten(0, 1), groups, None, None, eps)
    with call.seen():
        y = call.wrapped(plain.unflatten(0, value.shape[:2]))
        shape = (-1, *[1] * (x.ndim - 2))
        y = y if weight is None else y * weight.view(shape)
        return y if bias is None else y + bias.view(shape)


@rule("pad")
def pad(call: Call) -> Answer:
    arguments = call.named()
    x, value = arguments["input"], value_at(arguments["input"], call.level)
    if value is None:
        return NotImplemented
    if arguments.get("mode", "constant") == "constant":
        return call.wrapped(call.func(value, *call.args[1:], **call.kwargs))
    channels = x.ndim - len(arguments["pad"]) // 2  # each is padded by itself
    leading = value.shape[: 1 + channels]
    flat = value.flatten(0, channels).unsqueeze(0)
    y = call.func(flat, *call.args[1:], **call.kwargs).squeeze(0)
    return call.wrapped(y.unflatten(0, leading))


@rule(
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "soft_margin_loss",
    "binary_cross_entropy_with_logits",
    "binary_cross_entropy",
    "kl_div",
    "poisson_nll_loss",
    "gaussian_nll_loss",
)
def elementwise_loss(call: Call) -> Answer:
    """The loss of each element by itself, then the sample's mean or sum."""
    arguments = call.named()
    reduction = arguments.pop("reduction", "mean")
    x, target = arguments.pop("input"), arguments.pop("target")
    if (
        reduction not in ("mean", "sum", "none")
        or x.shape != target.shape
        or any(isinstance(v, Tensor) for v in arguments.values())
        or arguments.get("size_average") is not None
        or arguments.get("reduce") is not None
    ):
        return NotImplemented
    own = call.func(
        spread(x, call.level), spread(target, call.level), reduction="none", **arguments
    )
    with call.seen():
        losses = call.wrapped(own)
        return losses if reduction == "none" else getattr(losses, reduction)()


@rule("cross_entropy", "nll_loss")
def class_loss(call: Call) -> Answer:
    arguments = {name: value for name, value in call.named().items() if value is not None}
    x, target = arguments["input"], arguments["target"]
    reduction = arguments.get("reduction", "mean")
    ignored = arguments.get("ignore_index", -100)
    known = {"input", "target", "weight", "reduction", "ignore_index", "label_smoothing"}
    weight = arguments.get("weight")
    if (
        set(arguments) - known
        or arguments.get("label_smoothing")
        or target.is_floating_point()
        or (value_at(weight, call.level) is not None)
    ):
        return NotImplemented
    values, classes = spread(x, call.level), spread(target, call.level)
    if x.ndim > 1:
        own = call.func(
            values.flatten(0, 1),
            classes.flatten(0, 1),
            weight=weight,
            reduction="none",
            ignore_index=ignored,
        ).unflatten(0, values.shape[:2])
    else:
        own = call.func(values, classes, weight=weight, reduction="none", ignore_index=ignored)
    with call.seen():
        losses = call.wrapped(own)
        if reduction == "none":
            return losses
        if reduction == "sum":
            return losses.sum()
        counted = (classes != ignored).to(own.dtype)
        if weight is not None:
            known_class = classes.masked_fill(classes == ignored, 0)
            counted = counted * weight.to(own.dtype).index_select(0, known_class.flatten()).view(
                classes.shape
            )
        return losses.sum() / call.wrapped(counted).sum()


@drawing("scaled_dot_product_attention")
def attention(call: Call) -> Answer:
    """The batch is one more dimension in front of the heads."""
    arguments = call.named()
    if arguments.get("dropout_p"):
        return drawn(call)
    if not call.is_batched:
        return call.func(*call.args, **call.kwargs)
    if arguments.get("enable_gqa"):
        return NotImplemented
    first, rest = ("query", "key", "value"), arguments
    tensors = [rest.pop("input", None) if name not in rest else rest.pop(name) for name in first]
    mask = rest.pop("attn_mask", None)
    rank = max(x.ndim for x in tensors)
    values = [ranked(spread(x, call.level), rank) for x in tensors]
    if isinstance(mask, Tensor):
        own = value_at(mask, call.level)
        mask = mask if own is None else ranked(own, rank)
    return call.wrapped(call.func(*values, attn_mask=mask, **rest))


@rule("batch_norm")
def batch_norm(call: Call) -> Answer:
    """Channels of different samples are different channels."""
    arguments = call.named()
    x = arguments.pop("input")
    named = {
        name: arguments.pop(name, None)
        for name in ("running_mean", "running_var", "weight", "bias")
    }
    training = arguments.get("training", False)
    if x.ndim < 2:
        return NotImplemented
    statistics = x, named["running_mean"], named["running_var"]
    if training and all(value_at(y, call.level) is None for y in statistics):
        return _scaled(call, call.func(*statistics, **arguments), named["weight"], named["bias"])
    if training and any(
        named[name] is not None and value_at(named[name], call.level) is None
        for name in ("running_mean", "running_var")
    ):
        raise needs_loop(
            "vmap: batch_norm would write running statistics that all samples share; "
            "track_running_stats=False has none, and eval() leaves them as they are"
        )
    value = spread(x, call.level)
    flat = {
        name: None if y is None else spread(y, call.level).flatten() for name, y in named.items()
    }
    y = call.func(value.transpose(0, 1).flatten(1, 2), **flat, **arguments)
    return call.wrapped(y.unflatten(1, (value.shape[0], x.shape[1])).transpose(0, 1))


def _scaled(call: Call, y: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Values that all samples share, with weights and biases of their own."""
    shape = (-1, *[1] * (y.ndim - 2))
    with call.seen():
        y = y if weight is None else y * weight.view(shape)
        return y if bias is None else y + bias.view(shape)


@rule("fold")
def fold(call: Call) -> Answer:
    return folded(call, 3)


@rule("pixel_shuffle", "pixel_unshuffle")
def pixels(call: Call) -> Answer:
    return call.wrapped(call.func(call.args[0].value, *call.args[1:], **call.kwargs))


@rule("channel_shuffle", "local_response_norm")
def channels(call: Call) -> Answer:
    return folded(call, call.args[0].ndim)
