# SPDX-License-Identifier: Apache-2.0
"""Random programs: views, writes, hooks, checkpoints, custom functions, passes. PyTorch runs along
while one is written, so that most lines fit the shapes that are there."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from idioms import idiom
from traces import names_in, written_by

LETTERS = "abcdeghijklmnopqstuvwxyz"


@dataclass
class Program:
    lines: list[str]
    forward: bool


class Writer:
    """Adds lines to a program, knowing the variables that PyTorch has at that point."""

    def __init__(self, seed: int, stage: Any) -> None:
        self.r = random.Random(seed)
        self.stage = stage
        self.lines: list[str] = []
        self.names = dict(stage.words.names)
        self.made: list[str] = []  # tensors
        # what the two libraries see differently, and what was made of it
        self.apart: set[str] = set()
        self.wild: set[str] = set()  # so large that rounding errors are what is seen later
        self.hooks: list[str] = []
        self.count = 0
        self.forward = self.r.random() < 0.25

    def some(self, *choices: Any) -> Any:
        return self.r.choice(choices)

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    def new(self) -> str:
        name = LETTERS[self.count % len(LETTERS)] + (
            str(self.count // 23) if self.count > 22 else ""
        )
        self.count += 1
        return name

    def tensor(self) -> str:
        """Seldom one of those after which little can be compared."""
        for _ in range(8):
            name = self.r.choice(self.made[-5:] if self.chance(0.6) else self.made)
            if name not in self.wild and (name not in self.apart or self.chance(0.1)):
                break
        return name

    def now(self, name: str) -> Any:
        return self.names[name]

    def same(self, x: str) -> str:
        """A tensor of a shape that fits, or a number."""
        shape = self.now(x).shape
        fits = [m for m in self.made if self.now(m).shape == shape]
        small = [m for m in self.made if self.now(m).numel() == 1]
        choices = fits + small if small and self.chance(0.3) else fits
        return self.r.choice(choices) if choices and self.chance(0.85) else self.number()

    def number(self) -> str:
        return str(self.some(2, 0.5, -1, 3.0, 0, 1))

    # -- running along -----------------------------------------------------------------------------

    def add(self, line: str, result: str | None = None) -> None:
        from case import Run, code_of

        if self.ends_views(line) and self.chance(0.8):
            return
        if re.search(r"\.(sin|cos)", line) and names_in(line) & self.wild:
            return  # no digit of it would be left
        run = Run()
        self.stage.step(run, line, self.names)
        if run.outcomes[0] in ("NameError", "SyntaxError"):
            code_of(line)
            raise AssertionError(f"{line}: {run.errors[0]}")
        if run.outcomes[0] and self.chance(0.7):
            return  # most of what fails is left out
        if (
            result is not None
            and self.is_apart(self.names.get(result))
            and (not written_by(line) and self.chance(0.8))
        ):
            del self.names[result]
            return
        self.lines.append(line)
        if written_by(line):
            self.wild = {name for name in self.made if self.is_wild(self.names[name])}
        if not run.outcomes[0] and result is not None:
            value = self.names.get(result)
            if isinstance(value, self.stage.Tensor) and value.is_floating_point():
                self.made.append(result)
                if self.is_wild(value):
                    self.wild.add(result)
                if self.is_apart(value) or names_in(line) & self.apart:
                    self.apart.add(result)

    @staticmethod
    def is_wild(x: Any) -> bool:
        x = x.data
        return bool(((x.abs() > 8) & x.isfinite()).any())

    def ends_views(self, line: str) -> bool:
        """Whether views of what requires grad from now on do not."""
        found = re.fullmatch(r"(\w+)\.requires_grad(?:_\(\)| = True)", line)
        if not found or self.now(found[1]).requires_grad:
            return False
        memory = self.now(found[1]).untyped_storage()._cdata
        return any(
            self.now(m)._is_view() and not self.now(m).requires_grad
            for m in self.made
            if self.now(m).untyped_storage()._cdata == memory
        )

    def is_apart(self, x: Any) -> bool:
        """A view made while nothing was recorded, or of inference mode."""
        if not isinstance(x, self.stage.Tensor):
            return False
        try:
            return x.is_inference() or x._is_view() and x.requires_grad and x.grad_fn is None
        except RuntimeError:  # a view that must not be read any more
            return True

    def statement(self) -> None:
        kinds = STATEMENTS_FORWARD if self.forward else STATEMENTS
        self.r.choices(*kinds)[0](self)


Statement = Callable[[Writer], None]


def leaf(w: Writer) -> None:
    name = w.new()
    shape = w.some((2,), (3,), (2, 2), (2, 3), (3, 2), (), (1, 2), (4,), (0,), (2, 1, 2))
    grad = w.chance(0.7) and not w.forward
    dtype = "float64" if w.chance(0.85) else "float32"
    kind = w.some("plain", "positive", "few")
    seed = w.r.randrange(12)
    if w.chance(0.25) and len(shape) == 1 and shape[0]:
        numbers = [w.some(1.0, 2.0, -1.0, 0.5, 0.0, 3.0) for _ in range(shape[0])]
        text = f"T.tensor({numbers}, dtype=T.{dtype}{', requires_grad=True' if grad else ''})"
    elif w.chance(0.3):
        tail = ", requires_grad=True" if grad else ""
        text = f"T.{w.some('ones', 'zeros')}({shape}, dtype=T.{dtype}{tail})"
    else:
        text = f"make({dtype!r}, {shape}, 'plain', {kind!r}, {seed}{', grad=true' if grad else ''})"
    w.add(f"{name} = {text}", name)


def view(w: Writer) -> None:
    x, name = w.tensor(), w.new()
    v = w.now(x)
    n = v.dim()
    choices = [
        "{}.view(-1)",
        "{}.unsqueeze(0)",
        "{}.detach()",
        "{}[...]",
        "{}.data",
        "{}.reshape(-1)",
        "{}.view_as({})",
        "{}.expand_as({})",
        "{}.flatten()",
        "{}.squeeze()",
        "{}.transpose(0, -1)",
        "{}.real",
    ]
    if n:
        choices += [
            "{}[0]",
            "{}[1:]",
            "{}[:1]",
            "{}[::2]",
            "{}[-1]",
            "{}.unbind()[0]",
            "{}.chunk(2)[0]",
            "{}.narrow(0, 0, 1)",
            "{}.select(-1, 0)",
            "{}.split(1)[0]",
            "{}.unfold(0, 1, 1)",
            "{}.movedim(0, -1)",
            "{}.chunk(2)[-1]",
        ]
        choices += ["{}[1:]", "{}[0]"] * 2
    if n > 1:
        choices += [
            "{}.t()",
            "{}.T",
            "{}[:, 0]",
            "{}[:, 1:]",
            "{}.diagonal()",
            "{}.permute(1, 0)",
            "{}[0, 0]",
        ]
    if n == 0 or (n == 1 and v.shape[0] == 1):
        choices += ["{}.expand(2)", "{}.expand(3, 1)"]
    w.add(f"{name} = {w.some(*choices).format(x, x)}", name)


def compute(w: Writer) -> None:
    x, name = w.tensor(), w.new()
    v = w.now(x)
    p = w.r.random()
    if p < 0.4:
        text = f"{x} {w.some('*', '*', '+', '-', '/')} {w.same(x)}"
    elif p < 0.75:
        text = f"{x}.{w.some('sin', 'exp', 'tanh', 'relu', 'abs', 'neg', 'clone', 'sigmoid', 'square', 'sqrt', 'cos', 'contiguous', 'sign', 'softmax', 'cumsum')}()"  # noqa: E501
        text = text.replace("softmax()", "softmax(-1)").replace("cumsum()", "cumsum(-1)")
    elif p < 0.9:
        text = f"{x}.{w.some('sum()', 'mean()', 'sum(0)', 'prod()', 'amax()', 'sum(-1, keepdim=True)', 'norm()', 'logsumexp(0)', 'max()', 'var()')}"  # noqa: E501
    elif p < 0.94:
        y = w.tensor()
        text = w.some(
            f"T.cat([{x}, {y}])", f"T.stack([{x}, {x}])", f"T.where({x} > 0, {x}, {w.same(x)})"
        )
    elif p < 0.97 and v.dim():
        text = w.some(
            f"{x}[{x} > 0]",
            f"{x}[[0, 0]]",
            f"{x}[[-1]]",
            f"{x}.index_select(0, T.tensor([0]))",
            f"{x}.sort()[0]",
        )
    else:
        text = w.some(
            f"{x} ** 2",
            f"{x}.pow(3)",
            f"{x} ** {w.same(x)}",
            f"{x} @ {w.tensor()}",
            f"{x}.float()",
            f"{x}.double()",
            f"T.lerp({x}, {w.same(x)}, 0.3)",
        )
    w.add(f"{name} = {text}", name)


def write(w: Writer) -> None:
    x = w.tensor()
    v = w.now(x)
    y = w.same(x)
    choices = [
        f"{x}.mul_({y})",
        f"{x}.add_({y})",
        f"{x}.copy_({y})" if y in w.made else f"{x}.fill_({y})",
        f"{x}.zero_()",
        f"{x}.relu_()",
        f"{x}.sub_({y})",
        f"{x}.div_(2)",
        f"{x}.sin_()",
        f"{x} *= {y}",
        f"{x} += {y}",
        f"{x}.neg_()",
        f"{x}.exp_()",
        f"{x}.tanh_()",
        f"{x}.fill_(1.5)",
        f"{x}.clamp_(min=0)",
        f"{x}.sigmoid_()",
        f"{x}.mul_(2)",
        f"{x}[...] = {y}",
        f"T.add({x}, {y}, out={w.tensor()})",
        f"{x}.square_()",
        f"{x}.masked_fill_({x} > 0, 0.5)",
        f"{x}.pow_(2)",
        f"{x}.addcmul_({y}, {x})",
        f"{x}.lerp_({y}, 0.5)",
        f"{x}.gt_(0)",
        f"T.mul({x}, {y}, out={x})",
    ]
    if v.dim():
        z = w.tensor()
        choices += [
            f"{x}[0] = {w.number()}",
            f"{x}[1:] = {w.number()}",
            f"{x}[0] = {z}",
            f"{x}[1:] *= 2",
            f"{x}[{x} > 0] = {w.number()}",
            f"{x}[0] += 1",
            f"{x}[[0]] = {w.number()}",
            f"{x}[:1].copy_({z})",
            f"{x}[-1].mul_({z})",
            f"{x}.index_fill_(0, T.tensor([0]), 2)",
            f"{x}[0].zero_()",
            f"{x}.t_()",
            f"{x}.unsqueeze_(0)",
        ]
    line = w.some(*choices)
    if w.chance(0.25) and "=" not in line.split("(")[0]:
        name = w.new()
        w.add(f"{name} = {line}", name)
    elif w.chance(0.15):
        w.add(f"with T.{w.some('no_grad', 'no_grad', 'enable_grad')}(): {line}")
    elif w.chance(0.1):
        w.add(f"{x}.data.{w.some('mul_(2)', 'zero_()', 'add_(1)')}")
    elif w.chance(0.1):
        w.add(f"{x}.detach().{w.some('mul_(2)', 'zero_()', 'add_(1)')}")
    else:
        w.add(line)


def without(w: Writer) -> None:
    """Made with recording off, or on again."""
    x, name = w.tensor(), w.new()
    text = w.some(
        f"{x} * 2",
        f"{x}[:1]",
        f"{x}.view(-1)",
        f"{x}.detach()",
        f"{x}.clone()",
        f"{x}[0]",
        f"{x}.unbind()[0]",
    )
    w.add(
        f"with T.{w.some('no_grad', 'no_grad', 'no_grad', 'enable_grad', 'inference_mode')}(): "
        f"{name} = {text}",
        name,
    )


def flags(w: Writer) -> None:
    x = w.tensor()
    w.add(
        w.some(
            f"{x}.requires_grad_()",
            f"{x}.requires_grad = True",
            f"{x}.requires_grad_(False)",
            f"{x}.detach_()",
            f"{x}.retain_grad()",
            f"{x}.retain_grad()",
            f"{x}.grad = None",
            f"{x}.grad = T.ones_like({x})",
            f"{x}.grad.zero_()",
            f"{x}.grad.mul_(2)",
            f"{x}.data = {x}.data * 2",
            f"T.set_grad_enabled({w.some('True', 'True', 'False')})",
        )
    )


def hook(w: Writer) -> None:
    x, name = w.tensor(), "k" + str(len(w.hooks))
    if w.hooks and w.chance(0.15):
        w.add(f"{w.r.choice(w.hooks)}.remove()")
        return
    kinds = [
        f"{x}.register_hook(lambda g: g * 2)",
        f"{x}.register_hook(lambda g: None)",
        f"{x}.register_hook(lambda g: g + 1)",
        f"{x}.register_hook(lambda g: seen.append(g.sum().item()))",
        f"{x}.register_post_accumulate_grad_hook(lambda p: (p.grad.mul_(3), None)[1])",
        f"{x}.register_post_accumulate_grad_hook(lambda p: seen.append(1.0))",
        f"{x}.grad_fn.register_hook(lambda gi, go: seen.append(2.0))",
        f"{x}.grad_fn.register_prehook(lambda go: seen.append(3.0))",
    ]
    if "seen = []" not in w.lines:
        w.add("seen = []")
    w.add(f"_{name} = {w.some(*kinds)}")
    if f"_{name}" in w.names:
        w.hooks.append(f"_{name}")


def custom(w: Writer) -> None:
    x, name = w.tensor(), w.new()
    y = w.same(x)
    text = w.some(
        f"Cube.apply({x})",
        f"ExpOf.apply({x})",
        f"Double_.apply({x})",
        f"Same.apply({x})",
        f"Pair.apply({x}, {y})[0]",
        f"Pair.apply({x}, {y})[2]",
    )
    w.add(f"{name} = {text}", name)


def checkpointed(w: Writer) -> None:
    x, name = w.tensor(), w.new()
    y = w.same(x)
    body = w.some(
        "(u * v).sin()",
        "u.exp() * v",
        "(u * u).sum()",
        "u.clone().mul_(v)",
        "u * 2",
        "(u + v).tanh() * u",
        "u.relu()",
    )
    reentrant = w.some("False", "False", "True")
    w.add(f"{name} = checkpoint(lambda u, v: {body}, {x}, {y}, use_reentrant={reentrant})", name)


def whole(w: Writer) -> str:
    some = [m for m in w.made if w.now(m).requires_grad]
    w.r.shuffle(some)
    return ", ".join(some[: w.some(1, 2, 3)]) or w.tensor()


def backward(w: Writer) -> None:
    x = w.tensor()
    p = w.r.random()
    if p < 0.45:
        line = f"total({whole(w)}).backward({w.some('', 'retain_graph=True', 'create_graph=True')})"
    elif p < 0.6:
        line = f"{x}.backward(T.ones_like({x}){w.some('', ', retain_graph=True')})"
    elif p < 0.65:
        line = f"{x}.backward()"
    elif p < 0.72:
        line = f"T.autograd.backward([{x}.sum(), {w.tensor()}.sum()])"
    elif p < 0.77:
        line = f"total({whole(w)}).backward(inputs=[{x}])"
    elif p < 0.82:
        line = f"in_thread(lambda: total({whole(w)}).backward())"
    elif p < 0.87 and not w.hooks:  # which would run in one order or the other
        line = (
            f"in_threads(lambda: total({whole(w)}).backward(retain_graph=True), "
            f"lambda: total({whole(w)}).backward(retain_graph=True))"
        )
    else:
        name = w.new()
        options = w.some("", ", create_graph=True", ", retain_graph=True", ", create_graph=True")
        line = f"{name} = T.autograd.grad(total({whole(w)}), {x}, allow_unused=True{options})[0]"
        w.add(line, name)
        return
    w.add(line)


def graph(w: Writer) -> None:
    x = w.tensor()
    w.add(
        w.some(
            f"assert {x}._base is None",
            f"del {x}" if len(w.made) > 3 else "pass",
            f"assert {x}.grad_fn is None",
            f"flag = {x}.is_contiguous()",
        )
    )
    if w.lines and w.lines[-1] == f"del {x}":
        w.made = [m for m in w.made if m != x]


def dual(w: Writer) -> None:
    x, name = w.tensor(), w.new()
    w.add(f"{name} = dual({w.some(x, x + '.detach()')}, {w.r.randrange(9)})", name)


STATEMENTS: Any = (
    [
        leaf,
        view,
        compute,
        write,
        without,
        flags,
        hook,
        custom,
        checkpointed,
        backward,
        graph,
        idiom,
    ],
    [6, 22, 20, 24, 5, 7, 5, 4, 3, 9, 1, 1],
)
STATEMENTS_FORWARD: Any = (
    [leaf, view, compute, write, without, custom, checkpointed, dual],
    [6, 24, 20, 26, 4, 3, 1, 12],
)


def make(seed: int, stage: Any) -> Program:
    w = Writer(seed, stage)
    module = stage.module
    if w.forward:
        module.autograd.forward_ad.enter_dual_level()
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(w.some(1, 2, 3)):
                leaf(w)
            if w.forward:
                dual(w)
            if not w.made:
                leaf(w)
            for _ in range(w.r.randrange(4, 18)):
                if w.made:
                    w.statement()
            if not w.forward and w.made:
                w.add(f"total({', '.join(w.made[-8:])}).backward()")
    finally:
        if w.forward:
            module.autograd.forward_ad.exit_dual_level()
        module.set_grad_enabled(True)
    return Program(w.lines, w.forward)
