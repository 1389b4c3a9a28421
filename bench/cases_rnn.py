# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: a layer of GNMT (8 sentences of 25 words), and one over characters."""

import functools
from typing import Any

from registry import Call, case, drawn, ramp

SHAPES = [  # name, layer, batch, steps, features, hidden
    ("LSTM, 8 sentences of 25, 1,024", "LSTM", 8, 25, 1024, 1024),
    ("GRU, 8 sentences of 25, 1,024", "GRU", 8, 25, 1024, 1024),
    ("LSTM, 32 texts of 64, 128", "LSTM", 32, 64, 128, 128),
    ("GRU, 32 texts of 64, 128", "GRU", 32, 64, 128, 128),
    ("RNN, 32 texts of 64, 128", "RNN", 32, 64, 128, 128),
]


def layer(m: Any, kind: str, features: int, hidden: int) -> Any:
    made = getattr(m.nn, kind)(features, hidden)
    with m.no_grad():
        for p in made.parameters():
            # As the layer's own: with more, the states of a GRU are chaotic, and rounding decides.
            p.copy_(drawn(m, tuple(p.shape)) * (2 / hidden**0.5))
    return made


def forward(m: Any, kind: str, batch: int, steps: int, features: int, hidden: int) -> Call:
    made, x = layer(m, kind, features, hidden), ramp(m, steps, batch, features)

    def run() -> Any:
        with m.no_grad():
            return made(x)[0]

    return run


def forward_and_backward(
    m: Any, kind: str, batch: int, steps: int, features: int, hidden: int
) -> Call:
    made = layer(m, kind, features, hidden)
    x = ramp(m, steps, batch, features).requires_grad_()

    def run() -> Any:
        made.zero_grad()
        x.grad = None
        y, _ = made(x)
        y.backward(y.detach())
        return x.grad

    return run


for name, kind, batch, steps, features, hidden in SHAPES:
    sizes = {"kind": kind, "batch": batch, "steps": steps, "features": features, "hidden": hidden}
    case(name)(functools.partial(forward, **sizes))
    case(f"{name}, and backward")(functools.partial(forward_and_backward, **sizes))
