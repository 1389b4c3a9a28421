# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks and their cells."""

from __future__ import annotations

import functools

from arguments import Draw
from recipes import Made, recipe

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def _tame(d: Draw) -> None:
    if d.kind in ("special", "far", "count"):  # sums of which the order decides
        d.kind = "unit"


def _states(d: Draw, name: str, shape: tuple[int, ...], hidden: int, projected: int) -> str:
    h = d.tensor((*shape, projected or hidden))
    return f"[{h}, {d.tensor((*shape, hidden))}]" if name == "lstm" else h


def network(d: Draw, name: str) -> Made:
    _tame(d)
    features, hidden, batch, steps = d.some(1, 2, 3), d.some(1, 2, 3), d.some(1, 2), d.some(1, 2, 3)
    projected = d.some(0, 0, 1) if name == "lstm" and hidden > 1 else 0
    biased, directions = d.chance(0.5), d.some(1, 1, 2)
    layers = 1 if biased or directions == 2 or projected else d.some(1, 1, 2)
    if directions == 2:
        biased, projected = False, 0
    batch_first = d.chance(0.3)
    x = d.tensor((batch, steps, features) if batch_first else (steps, batch, features))
    hx = _states(d, name, (layers * directions, batch), hidden, projected)
    params = []
    for i in range(layers * directions):
        inputs = features if i < directions else (projected or hidden) * directions
        sums = GATES[name] * hidden
        shapes = [(sums, inputs), (sums, projected or hidden)] + [(sums,)] * (2 if biased else 0)
        shapes += [(projected, hidden)] if projected else []
        params += [d.tensor(s) for s in shapes]
    return [
        x,
        hx,
        f"[{', '.join(params)}]",
        str(biased),
        str(layers),
        "0.0",
        "False",
        str(directions == 2),
        str(batch_first),
    ], {}


def cell(d: Draw, name: str) -> Made:
    _tame(d)
    features, hidden, batch = d.some(1, 2, 3), d.some(1, 2, 3), d.some(1, 2, 3)
    sums = GATES[name] * hidden
    args = [
        d.tensor((batch, features)),
        _states(d, name, (batch,), hidden, 0),
        d.tensor((sums, features)),
        d.tensor((sums, hidden)),
    ]
    if d.chance(0.6):
        args += [d.tensor((sums,)), d.tensor((sums,))]
    return args, {}


for _name in GATES:
    recipe(_name)(functools.partial(network, name=_name))
    recipe(f"{_name}_cell")(functools.partial(cell, name=_name))
