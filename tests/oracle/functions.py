# SPDX-License-Identifier: Apache-2.0
"""Random calls of every function, method and operator that both modules have."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import recipes
from arguments import Draw, Unknown, generic
import recipes_attention
import recipes_composed
import recipes_extremes
import recipes_image
import recipes_index
import recipes_loss
import recipes_make
import recipes_pool
import recipes_reduce
import recipes_rnn
import recipes_samples
import recipes_select
import recipes_shape
from recipes import BINARY, RECIPES, UNARY
from recipes_corners import CORNERS, SHARE

# Not called here; left_out.txt has the reason of each.
LEFT_OUT = {
    name
    for line in (Path(__file__).parent / "left_out.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for name in line.split()
}
# Functions of networks whose arguments have another order in the top namespace, which calls those of
# nn.functional: tests/wrappers/test_methods.py.
OTHERWISE = set(
    """affine_grid_generator alpha_dropout_ batch_norm binary_cross_entropy_with_logits
    celu_ constant_pad_nd conv_tbc convolution cosine_embedding_loss ctc_loss dropout_ embedding
    embedding_bag embedding_renorm_ feature_alpha_dropout_ feature_dropout_ grid_sampler
    grid_sampler_2d grid_sampler_3d hinge_embedding_loss instance_norm kl_div margin_ranking_loss
    native_batch_norm native_channel_shuffle native_dropout native_group_norm native_layer_norm
    norm_except_dim poisson_nll_loss rrelu rrelu_ selu_ threshold_ triplet_margin_loss
    addmv_""".split()
)
RANDOM = set(
    """bernoulli bernoulli_ binomial cauchy_ dropout dropout1d dropout2d dropout3d empty
    empty_like empty_strided exponential_ geometric_ gumbel_softmax log_normal_ multinomial
    new_empty normal normal_ poisson rand rand_like randint randint_like randn randn_like
    random_ randperm resize_ resize_as_ uniform_""".split()
)


@dataclass(frozen=True)
class Entry:
    where: str  # T, F, method, operator, property
    name: str
    parameters: tuple[Any, ...] = ()
    out: bool = False

    @property
    def base(self) -> str:
        inplace = self.name.endswith("_") and not self.name.endswith("__")
        return self.name[:-1] if inplace else self.name

    @property
    def inplace(self) -> bool:
        return self.base != self.name or self.name.startswith("__i") and self.name in INPLACE

    def __str__(self) -> str:
        return self.name if self.where in ("T", "operator") else f"{self.where}.{self.name}"


_FILLING = (
    recipes_attention,
    recipes_composed,
    recipes_extremes,
    recipes_image,
    recipes_loss,
    recipes_make,
    recipes_pool,
    recipes_reduce,
    recipes_rnn,
    recipes_select,
    recipes_shape,
)
assert all(_FILLING)  # they fill RECIPES
recipes_samples.fill()
INPLACE = {"__i" + name[2:]: sign for name, sign in BINARY.items()}
PROPERTIES = (
    "T",
    "mT",
    "H",
    "real",
    "imag",
    "shape",
    "ndim",
    "dtype",
    "itemsize",
    "nbytes",
    "is_leaf",
    "requires_grad",
    "data",
)


def entries(libdl: Any, torch: Any) -> list[Entry]:
    found = []
    places = (
        ("T", libdl, torch),
        ("F", libdl.nn.functional, torch.nn.functional),
        ("method", libdl.Tensor, torch.Tensor),
    )
    for where, ours, theirs in places:
        for name in dir(ours):
            value = getattr(ours, name)
            if name.startswith("_") or name in LEFT_OUT or not callable(value):
                continue
            if where == "T" and name in OTHERWISE or name.endswith("_copy"):
                continue
            if not hasattr(theirs, name) or isinstance(value, type):
                continue
            if (value.__doc__ or "").startswith("Raises: "):
                continue  # it is there to be imported
            parameters: tuple[Any, ...] = ()
            try:
                parameters = tuple(inspect.signature(value).parameters.values())
            except ValueError:
                pass
            out = where == "T" and any(p.name == "out" for p in parameters)
            found.append(Entry(where, name, parameters, out))
    for name in dir(libdl.Tensor):
        if name in LEFT_OUT or not hasattr(torch.Tensor, name) or hasattr(object, name):
            if name not in BINARY:
                continue
        if name.startswith("__") and callable(getattr(libdl.Tensor, name)):
            found.append(Entry("operator", name))
    found += [Entry("property", name) for name in PROPERTIES]
    return found


def call(entry: Entry, d: Draw) -> str:
    """The call's text, and in d.lines what it needs."""
    if entry.where == "operator":
        return operator(entry, d)
    if entry.where == "property":
        return f"{d.input()}.{entry.name}"
    base = entry.base
    made = RECIPES.get(f"{entry.where}.{base}", RECIPES.get(base))
    if base in CORNERS and d.chance(SHARE):
        made = d.some(*CORNERS[base])
    if base == "cross_entropy" and d.chance(0.3):
        made = RECIPES["cross_entropy.probabilities"]
    if made is None:
        args, named = generic(d, list(entry.parameters))
    else:
        args, named = made(d)
    if entry.where == "method":
        if base == "where":  # x.where(condition, other)
            args[:2] = [args[1], args[0]]
            if not args[0].isalpha():
                args[0] = d.tensor(d.shape)
        begin = f"{args.pop(0)}.{entry.name}("
    else:
        begin = f"{entry.where}.{entry.name}("
    return begin + ", ".join(args + [f"{k}={v}" for k, v in named.items()]) + ")"


def operator(entry: Entry, d: Draw) -> str:
    name = entry.name
    if name in ("__getitem__", "__setitem__"):
        x = d.input()
        key = recipes.indexed(d)
        if name == "__getitem__":
            return f"{x}[{key}]"
        value = d.number() if d.chance(0.5) else d.tensor(d.some((), (1,), d.shape, d.shape[1:]))
        return (
            f"{x}.__setitem__(({key},), {value})"
            if "," in key
            else (f"{x}.__setitem__({_item(key)}, {value})")
        )
    if name in BINARY or name in INPLACE:
        made = recipes_index.matmul(d) if "matmul" in name else recipes.binary(d)
        if name in INPLACE:
            made = ([d.input(), d.partner()], {}) if not d.tensors else made
            left, right = made[0]
            return f"__import__('operator').{name}({left}, {right})"
        left, right = made[0]
        return f"{left} {BINARY[name]} {right}"
    if name in UNARY:
        return UNARY[name].format(d.input())
    raise Unknown(f"operator {name}")


def _item(key: str) -> str:
    if ":" not in key:
        return "..." if key == "..." else key
    parts = [p or "None" for p in key.split(":")]
    return f"slice({', '.join(parts)})"


@dataclass
class Made:
    """A case of one call."""

    name: str
    lines: list[str]
    mode: str


def make(entry: Entry, seed: int, stage: Any) -> Made:
    """stage: PyTorch's, for the shape of what out= is given."""
    rough = Draw(seed, "value")
    p = rough.r.random()
    mode = "value" if p < 0.55 else "grad" if p < 0.85 else "forward"
    if entry.name in RANDOM or entry.where == "property":
        mode = "value"
    inplace = entry.inplace or entry.name in ("__setitem__",)
    d = Draw(seed + 1, mode, inplace, entry.base)
    text = call(entry, d)
    mode = d.mode
    target = text.split(".", 1)[0] if entry.where == "method" else (d.tensors or ["a"])[0]
    lines = list(d.lines)
    if entry.name in RANDOM:
        text = f"blank({text})"
    if mode == "value" and inplace and entry.name in RANDOM:
        lines += [f"r = {text}", f"del {target}"]
    elif mode == "value" and inplace:
        lines.append(f"r, grew = grown({target}, lambda: {text})")
    elif mode == "value":
        if entry.out and d.chance(0.3):
            text = with_out(d, text, lines, stage)
            d.tensors.append("o")
        lines.append(f"r = {text}")
    else:
        arguments = ", ".join(d.tensors)
        changed = text
        if inplace and target in d.tensors:
            lines.append(
                f"f = lambda {arguments}: ({target} := {target}.clone(), {text}, {target})[-1]"
            )
        else:
            lines.append(f"f = lambda {arguments}: {changed}")
        leaves = ", ".join(d.leaves)
        lines.append(f"r = f({arguments})")
        if d.leaves and mode == "grad":
            lines.append(f"g = gradients(r, {leaves})")
            # In 16 bits PyTorch rounds each step, and cancellation leaves nothing of them; of
            # extreme numbers most are infinite.
            if d.chance(0.5) and not re.search("float16|'extreme'", "".join(d.lines)):
                lines.append(f"h = second(f({arguments}), {leaves})")
        elif d.leaves:
            lines.append(f"t = tangents(f, {arguments})")
    return Made(str(entry), lines, mode)


def with_out(d: Draw, text: str, lines: list[str], stage: Any) -> str:
    run = stage.run([*lines, f"r = {text}"])
    if run.outcomes[-1] or text.endswith("()"):
        return text
    result = run.values["r"]
    some = result if isinstance(result, list) else [result]
    outs = []
    for i, seen in enumerate(some):
        if not hasattr(seen, "shape"):
            return text
        shape, dtype = seen.shape, seen.dtype
        p = d.r.random()
        if p < 0.12:
            dtype = d.some_dtype()
        elif p < 0.2:
            shape = d.some((0,), (7,), shape)
        layout = d.some("plain", "plain", "transposed", "step") if 0 not in shape else "plain"
        if len(shape) == 4 and d.chance(0.5):
            layout = "transposed"
        name = f"o{i}" if len(some) > 1 else "o"
        lines.append(f"{name} = make({dtype!r}, {shape}, {layout!r}, 'plain', 1)")
        outs.append(name)
    word = outs[0] if len(outs) == 1 else f"({', '.join(outs)})"
    return f"{text[:-1]}, out={word})"
