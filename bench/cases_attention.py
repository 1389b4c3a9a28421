# SPDX-License-Identifier: Apache-2.0
"""Attention: of sentences, and of one text as a language model reads it."""

from typing import Any

from registry import Call, case, ramp

SHAPES = [  # name, batch, heads, rows, columns
    ("attention, 8 sentences of 128, 16 heads of 64", 8, 16, 128, 64),
    ("attention, 1,024 tokens, 12 heads of 64", 1, 12, 1024, 64),
]


def operands(m: Any, *shape: int) -> list[Any]:
    """Query, key and value, the heads innermost, as layers make them."""
    batch, heads, rows, columns = shape
    made = [ramp(m, batch, rows, heads, columns) for _ in range(3)]
    return [x.transpose(1, 2) for x in made]


for name, *shape in SHAPES:
    for causal in (False, True):
        title = f"causal {name}" if causal else name

        @case(title)
        def _(m: Any, shape: list[int] = shape, causal: bool = causal) -> Call:
            xs = operands(m, *shape)

            def run() -> Any:
                with m.no_grad():
                    return m.nn.functional.scaled_dot_product_attention(*xs, is_causal=causal)

            return run

        @case(f"{title}, and backward")
        def _(m: Any, shape: list[int] = shape, causal: bool = causal) -> Call:
            xs = [x.detach().requires_grad_() for x in operands(m, *shape)]

            def run() -> Any:
                for x in xs:
                    x.grad = None
                y = m.nn.functional.scaled_dot_product_attention(*xs, is_causal=causal)
                y.backward(y.detach())
                return xs[0].grad

            return run
