# SPDX-License-Identifier: Apache-2.0
"""Lines of programs that belong together: what single lines drawn at random seldom meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from programs import Writer


def _leaf(w: Writer, grad: bool = True, shape: tuple[int, ...] = (3,), kind: str = "plain") -> str:
    name = w.new()
    tail = ", grad=true" if grad else ""
    w.add(f"{name} = make('float64', {shape}, 'plain', '{kind}', {w.r.randrange(12)}{tail})", name)
    return name


def _made(w: Writer, text: str) -> str:
    name = w.new()
    w.add(f"{name} = {text}", name)
    return name if name in w.names else w.tensor()


def data_saved(w: Writer) -> None:
    x = w.tensor()
    y = _leaf(w, shape=tuple(w.now(x).shape))
    _made(w, f"{x}.data * {y}")
    w.add(f"with T.no_grad(): {x}.mul_(2)")


def out_of_a_view(w: Writer) -> None:
    x = _leaf(w, False, (4,))
    nothing = _made(w, f"{x}[1:1]")
    y = _leaf(w, False, (2,))
    w.add(f"T.add({y}, {w.number()}, out={nothing})")
    if w.chance(0.5):
        w.add(f"{nothing}.mul_({_leaf(w, shape=(2,))})")
    w.made = [m for m in w.made if m not in (x, nothing)]  # whose numbers differ from here on


def other_data(w: Writer) -> None:
    """Of a view or its base, before and after writes of both."""
    base = _made(w, f"{_leaf(w, shape=(4,))} * 2") if w.chance(0.7) else _leaf(w, False, (4,))
    view = _made(w, f"{base}{w.some('[1:]', '[:2]', '.view(2, 2)', '.view(-1)')}")
    factor = _leaf(w, shape=())
    if w.chance(0.3):
        w.add(f"{w.some(base, view)}.mul_({factor})")
    x = w.some(base, view, view)
    w.add(
        f"{x}.data = "
        + w.some(
            f"{x}.data * 2",
            f"{x}.data.clone()",
            f"{base}.data[1:]",
            "T.ones((3,), dtype=T.float64)",
            f"{x}.data.float()",
        )
    )
    if w.chance(0.7):
        w.add(f"{w.some(base, view)}.{w.some('mul_', 'add_')}({factor})")


def detached_base(w: Writer) -> None:
    base = _made(w, f"{_leaf(w)} * 2")
    view = _made(w, f"{base}{w.some('[:1]', '.view(-1)', '[1:]')}")
    w.add(f"{view}.{w.some('mul_(2)', 'zero_()', 'sin_()')}")
    w.add(f"{base}.detach_()")


def unread(w: Writer) -> None:
    """What lies behind an argument that gets None is overwritten."""
    x = _leaf(w)
    y = _made(w, f"{x}.{w.some('exp', 'tanh', 'sigmoid')}()")
    _made(w, f"Pair.apply({x}, {y})[0]")
    w.add(f"{y}.{w.some('zero_()', 'mul_(2)')}")


def late_history(w: Writer) -> None:
    base = _leaf(w, False)
    view = _made(w, f"{base}[:1]")
    w.add(f"{base}.mul_({_leaf(w)})")
    w.add(f"{view}.{w.some('mul_(2)', 'requires_grad_(False)', 'zero_()')}")


def leaf_inside(w: Writer) -> None:
    """A leaf that stops requiring grad gets a history."""
    x = _leaf(w)
    y = _made(w, f"{x} * 2")
    w.add(f"{x}.{w.some('requires_grad_(False)', 'detach_()')}")
    w.add(f"{x}.{w.some('mul_', 'add_')}({_leaf(w)})")
    w.add(f"{y}.sum().backward()")


def step(w: Writer) -> None:
    x = _leaf(w)
    _made(
        w, f"T.autograd.grad({x}.clamp(min=0).sum(), {x}, create_graph=True, allow_unused=True)[0]"
    )


def product_of_zeros(w: Writer) -> None:
    x = w.new()
    w.add(f"{x} = T.zeros((3,), dtype=T.float64, requires_grad=True)", x)
    y = _made(w, f"{x}.prod()")
    _made(w, f"{y} / {y}")


def grad_of_what_a_function_writes(w: Writer) -> None:
    x = _made(w, f"{_leaf(w)} * 2")
    w.add(f"total({x}).backward(inputs=[{x}], retain_graph=True)")
    _made(w, f"Double_.apply({x})")


def hook_that_waits(w: Writer) -> None:
    """Of a leaf that has stopped requiring grad when its gradient comes."""
    x = _leaf(w)
    if "seen = []" not in w.lines:
        w.add("seen = []")
    w.add(f"_k9 = {x}.register_post_accumulate_grad_hook(lambda p: seen.append(1.0))")
    y = _made(w, f"{x} * 2")
    w.add(f"{x}.requires_grad_(False)")
    w.add(f"{y}.sum().backward(retain_graph=True)")


IDIOMS: list[Callable[[Writer], None]] = [
    data_saved,
    out_of_a_view,
    other_data,
    other_data,
    detached_base,
    unread,
    late_history,
    leaf_inside,
    step,
    product_of_zeros,
    grad_of_what_a_function_writes,
    hook_that_waits,
]


def idiom(w: Writer) -> None:
    w.r.choice(IDIOMS)(w)
