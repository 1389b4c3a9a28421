# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks and their cells, written out one sequence at a time."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import libdl
from refusals import refusals
from samples import Case, Reject, Sample, numbers

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
STATES = {"lstm": 2, "gru": 1, "rnn_tanh": 1, "rnn_relu": 1}


# -- the reference ---------------------------------------------------------------------------------


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def step(kind: str, x: Any, states: list[Any], w: list[Any], biased: bool) -> list[Any]:
    """The states after x; w: as in params, of one direction."""
    w_ih, w_hh = w[:2]
    b_ih, b_hh = w[2:4] if biased else (0.0, 0.0)
    projection = w[-1] if len(w) == (5 if biased else 3) else None
    a, b = w_ih @ x + b_ih, w_hh @ states[0] + b_hh
    if kind == "rnn_tanh":
        return [np.tanh(a + b)]
    if kind == "rnn_relu":
        return [np.maximum(a + b, 0)]
    if kind == "gru":
        (a_r, a_z, a_n), (b_r, b_z, b_n) = np.split(a, 3), np.split(b, 3)
        r, z = sigmoid(a_r + b_r), sigmoid(a_z + b_z)
        n = np.tanh(a_n + r * b_n)
        return [(1 - z) * n + z * states[0]]
    i, f, g, o = np.split(a + b, 4)
    c = sigmoid(f) * states[1] + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return [h if projection is None else projection @ h, c]


def layer(
    kind: str,
    sequences: list[Any],
    states: list[Any],
    params: list[Any],
    biased: bool,
    directions: int,
) -> tuple[list[Any], list[Any]]:
    """Of each sequence its outputs; and [states][direction][sequence]."""
    outputs: list[list[Any]] = [[] for _ in sequences]
    last = [[[] for _ in range(directions)] for _ in states]
    each = len(params) // directions
    for d in range(directions):
        w = params[d * each : (d + 1) * each]
        for s, sequence in enumerate(sequences):
            now = [state[d][s] for state in states]
            made = []
            for x in sequence[::-1] if d else sequence:
                now = step(kind, x, now, w, biased)
                made.append(now[0])
            outputs[s].append(np.array(made[::-1] if d else made))
            for k, state in enumerate(now):
                last[k][d].append(state)
    return [np.concatenate(made, 1) for made in outputs], last


def network(
    kind: str,
    sequences: list[Any],
    hx: Any,
    params: list[Any],
    biased: bool,
    layers: int,
    bidirectional: bool,
) -> tuple[list[Any], list[Any]]:
    directions = 2 if bidirectional else 1
    given, each = hx if STATES[kind] == 2 else [hx], len(params) // layers
    ends: list[list[Any]] = [[] for _ in given]
    for i in range(layers):
        states = [state[i * directions : (i + 1) * directions] for state in given]
        sequences, last = layer(
            kind, sequences, states, params[i * each : (i + 1) * each], biased, directions
        )
        for k, state in enumerate(last):
            ends[k] += state
    return sequences, [np.array(state).reshape(given[k].shape) for k, state in enumerate(ends)]


def over(
    kind: str,
    x: Any,
    hx: Any,
    params: list[Any],
    biased: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool = False,
) -> list[Any]:
    if x.ndim == 2:
        whole = [s[:, None] for s in hx] if STATES[kind] == 2 else hx[:, None]
        y, ends = network(kind, [x], whole, params, biased, layers, bidirectional)
        return [y[0], *(end[:, 0] for end in ends)]
    if x.size == 0:
        return [np.zeros((*x.shape[:2], params[1].shape[1])), *(hx if STATES[kind] == 2 else [hx])]
    sequences = list(x if batch_first else x.swapaxes(0, 1))
    y, ends = network(kind, sequences, hx, params, biased, layers, bidirectional)
    return [np.array(y) if batch_first else np.array(y).swapaxes(0, 1), *ends]


def packed(
    kind: str,
    data: Any,
    sizes: Any,
    hx: Any,
    params: list[Any],
    biased: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> list[Any]:
    firsts = np.cumsum([0, *sizes])
    rows = [[first + s for first, size in zip(firsts, sizes) if size > s] for s in range(sizes[0])]
    y, ends = network(kind, [data[r] for r in rows], hx, params, biased, layers, bidirectional)
    out = np.zeros((len(data), y[0].shape[1]))
    for r, values in zip(rows, y):
        out[r] = values
    return [out, *ends]


def cell(
    kind: str, x: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> Any:
    states = list(hx) if STATES[kind] == 2 else [hx]
    size = w_hh.shape[0]
    w = [w_ih, w_hh, *(np.zeros(size) if b is None else b for b in (b_ih, b_hh))]
    if x.ndim == 1:
        after = step(kind, x, states, w, True)
    else:
        each = [step(kind, x[b], [s[b] for s in states], w, True) for b in range(len(x))]
        after = [np.array([e[k] for e in each]) for k in range(len(states))]
    return after if STATES[kind] == 2 else after[0]


# -- samples ---------------------------------------------------------------------------------------


def weights(
    kind: str,
    features: int,
    hidden: int,
    layers: int,
    directions: int,
    biased: bool,
    projected: int,
    seed: int,
) -> list[Any]:
    made, sums, size = [], GATES[kind] * hidden, projected or hidden
    for i in range(layers * directions):
        inputs = features if i < directions else size * directions
        shapes = [(sums, inputs), (sums, size)] + [(sums,)] * (2 if biased else 0)
        shapes += [(projected, hidden)] if projected else []
        made += [numbers(s, seed + 10 * i + n, -1.0, 1.0) for n, s in enumerate(shapes)]
    return made


def states(kind: str, shape: tuple[int, ...], hidden: int, projected: int, seed: int) -> Any:
    h = numbers((*shape, projected or hidden), seed, -1.0, 1.0)
    return [h, numbers((*shape, hidden), seed + 1, -1.0, 1.0)] if STATES[kind] == 2 else h


# features, hidden, layers, directions, biased, projected: small enough for a full Jacobian where
# there are at most 40 numbers
SIZES = [
    (1, 1, 1, 1, True, 0),
    (1, 2, 1, 1, False, 0),
    (2, 1, 1, 1, True, 0),
    (1, 1, 1, 2, False, 0),
    (1, 1, 2, 1, False, 0),
    (3, 5, 2, 2, True, 0),
    (4, 9, 1, 1, False, 0),
    (5, 33, 3, 1, True, 0),
]
PROJECTED = [(1, 2, 1, 1, False, 1), (3, 5, 2, 2, True, 2), (2, 4, 1, 2, True, 3)]


def sequences(kind: str) -> list[Sample]:
    made = []
    sizes = SIZES + (PROJECTED if kind == "lstm" else [])
    for n, (features, hidden, layers, directions, biased, projected) in enumerate(sizes):
        params = weights(kind, features, hidden, layers, directions, biased, projected, 100 * n)
        small = hidden < 3
        for k, shape in enumerate([(2, 1), (3, 2) if small else (4, 3), (2,), (3, 1)]):
            batch_first = k % 2 == 1
            batch = shape[:1] if batch_first else shape[1:]
            x = numbers((*shape, features), 100 * n + k + 50, -1.0, 1.0)
            if len(shape) == 1:
                batch = ()
            hx = states(kind, (layers * directions, *batch), hidden, projected, 100 * n + k + 60)
            made.append(
                Sample(
                    (x, hx, params, biased, layers, 0.5, False, directions == 2, batch_first),
                    smooth=kind != "rnn_relu" or small,
                )
            )
    x, params = np.zeros((2, 0, 3)), weights(kind, 3, 2, 1, 1, True, 0, 7)
    made.append(
        Sample((x, states(kind, (1, 0), 2, 0, 1), params, True, 1, 0.0, True, False, False))
    )
    return made


def packed_sequences(kind: str) -> list[Sample]:
    made = []
    sizes = SIZES + (PROJECTED if kind == "lstm" else [])
    for n, (features, hidden, layers, directions, biased, projected) in enumerate(sizes):
        params = weights(kind, features, hidden, layers, directions, biased, projected, 100 * n)
        for k, steps in enumerate(
            [(2, 1), (1, 1), (3, 3, 1)] if hidden < 3 else [(5, 3, 3, 1), (2,)]
        ):
            x = numbers((sum(steps), features), 100 * n + k + 50, -1.0, 1.0)
            hx = states(kind, (layers * directions, steps[0]), hidden, projected, 100 * n + k + 60)
            made.append(Sample((x, steps, hx, params, biased, layers, 0.5, False, directions == 2)))
    return made


def single_steps(kind: str) -> list[Sample]:
    made = []
    for n, (features, hidden) in enumerate([(1, 1), (2, 1), (1, 2), (3, 5), (4, 9), (2, 33)]):
        w = weights(kind, features, hidden, 1, 1, True, 0, 100 * n)
        for k, batch in enumerate([(1,), (), (3,)]):
            x = numbers((*batch, features), 100 * n + k + 50, -1.0, 1.0)
            hx = states(kind, batch, hidden, 0, 100 * n + k + 60)
            made += [
                Sample((x, hx, *w[:2])),
                Sample((x, hx, *w)),
                Sample((x, hx, *w[:2], None, w[3])),
            ]
    return made


# -- cases -----------------------------------------------------------------------------------------


def zeros_for(kind: str, hidden: int, *shape: int) -> Any:
    h = libdl.zeros(*shape, hidden)
    return [h, h] if STATES[kind] == 2 else h


def params_for(kind: str, features: int, hidden: int) -> list[Any]:
    sums = GATES[kind] * hidden
    return [libdl.ones(sums, features), libdl.ones(sums, hidden)]


def sequence_refusals(kind: str) -> list[Reject]:
    call, ones = getattr(libdl, kind), libdl.ones
    h, w = functools.partial(zeros_for, kind, 2), params_for(kind, 3, 2)
    rest = (False, 1, 0.0, False, False, False)
    wrong = (ValueError, RuntimeError, TypeError)
    made = refusals(
        f"""
            call(libdl.zeros(2, 1, 3, dtype=libdl.int64), h(1, 1), w, *rest)
                # wrong: {kind}: argument 1 (input) is int64, wanted a floating dtype
            call(ones(3), h(1, 1), w, *rest)
                # wrong: {kind}: argument 1 (input) has shape [3], wanted [steps, batch, features]
            call(ones(0, 1, 3), h(1, 1), w, *rest)
                # wrong: {kind}: argument 1 (input) has shape [0, 1, 3], wanted at least one step
            call(ones(2, 1, 3), h(1, 4), w, *rest)
                # wrong: {kind}: argument 2 (hx) has shape [1, 4, 2] ... wanted [1, 1, 2]
            call(ones(2, 1, 3), h(1, 1), [*w, w[0]], True, *rest[1:])
                # wrong: {kind}: argument 3 (params) has 3 tensors ... wanted 4
            call(ones(2, 1, 3), h(1, 1), [w[0], w[0]], *rest)
                # wrong: {kind}: argument 3 (params) has shape [{2 * GATES[kind]}, 3] at position 1
                #    ... wanted [{2 * GATES[kind]}, 2]
            call(ones(2, 1, 3), h(1, 1), [w[0], w[1].double()], *rest)
                # wrong: {kind}: argument 3 (params) has float64 at position 1 ... wanted float32
            call(ones(2, 1, 3), h(1, 1), [ones(6), w[1]], *rest)
                # wrong: {kind}: argument 3 (params) has shape [6] at position 0 ... wanted
                #    [{GATES[kind]} hidden, 3]
            call(ones(2, 1, 3), h(1, 1), w, False, 0, 0.0, False, False, False)
                # wrong: {kind}: argument 5 (num_layers) is 0, wanted 1 or more
            call(ones(2, 1, 3), h(1, 1), w, False, 1, 1.5, False, False, False)
                # wrong: {kind}: argument 6 (dropout) is 1.5 ... wanted 0 to 1
        """,
        globals() | locals(),
    )
    if kind == "lstm":
        made += refusals(
            """
            call(ones(2, 1, 3), h(1, 1)[:1], w, *rest)
                # wrong: lstm: argument 2 (hx) has 1 tensors, wanted two
            call(ones(2, 1, 3), h(1, 1), [*w, ones(2)], *rest)
                # wrong: lstm: argument 3 (params) has shape [2] at position 2 ... wanted
                #    [projected, 2]
            """,
            globals() | locals(),
        )
    return made


def packed_refusals(kind: str) -> list[Reject]:
    name = f"{kind}_packed"
    call, ones = getattr(libdl, name), libdl.ones
    h, w = functools.partial(zeros_for, kind, 2), params_for(kind, 3, 2)
    rest = (False, 1, 0.0, False, False)
    wrong = (ValueError, RuntimeError, TypeError)
    return refusals(
        f"""
            call(ones(3), (1,), h(1, 1), w, *rest)
                # wrong: {name}: argument 1 (data) has shape [3], wanted [rows, features]
            call(ones(3, 3), (), h(1, 1), w, *rest)
                # wrong: {name}: argument 2 (batch_sizes) is empty
            call(ones(3, 3), (1, 2), h(1, 1), w, *rest)
                # wrong: {name}: argument 2 (batch_sizes) is [1, 2], wanted numbers above 0
            call(ones(2, 3), (2, 0), h(1, 2), w, *rest)
                # wrong: {name}: argument 2 (batch_sizes) is [2, 0], wanted numbers above 0
            call(ones(3, 3), (2, 2), h(1, 2), w, *rest)
                # wrong: {name}: argument 2 (batch_sizes) is [2, 2], wanted numbers whose sum is 3
            call(ones(3, 3), (2, 1), h(1, 1), w, *rest)
                # wrong: {name}: argument 3 (hx) has shape [1, 1, 2] ... wanted [1, 2, 2]
            call(
                ones(3, 3),
                (2, 1),
                [s.double() for s in h(1, 2)] if kind == "lstm" else h(1, 2).double(),
                w,
                *rest,
            )
                # wrong: {name}: argument 3 (hx) is float64 ... wanted float32, as argument 1
        """,
        globals() | locals(),
    )


def cell_refusals(kind: str) -> list[Reject]:
    name = f"{kind}_cell"
    call, ones = getattr(libdl, name), libdl.ones
    h, w = functools.partial(zeros_for, kind, 2), params_for(kind, 3, 2)
    sums = 2 * GATES[kind]
    wrong = (ValueError, RuntimeError, TypeError)
    made = refusals(
        f"""
            call(ones(1, 1, 3), h(1), *w)
                # wrong: {name}: argument 1 (input) has shape [1, 1, 3], wanted [batch, features]
            call(libdl.zeros(1, 3, dtype=libdl.int64), h(1), *w)
                # wrong: {name}: argument 1 (input) is int64
            call(ones(1, 3), h(4), *w)
                # wrong: {name}: argument 2 (hx) has shape [4, 2] ... wanted [1, 2]
            call(ones(1, 3), h(1), w[1], w[1])
                # wrong: {name}: argument 1 (input) has 3 features, wanted 2, for w_ih has shape
                #    [{sums}, 2]
            call(ones(1, 3), h(1), ones(6), w[1])
                # wrong: {name}: argument 3 (w_ih) has shape [6]
            call(ones(1, 3), h(1), w[0], w[1].double())
                # wrong: {name}: argument 4 (w_hh) is float64, wanted float32, as argument 1
            call(ones(1, 3), h(1), *w, ones(1))
                # wrong: {name}: argument 5 (b_ih) has shape [1], wanted [{sums}]
            call(ones(1, 3), h(1), *w, None, ones(1))
                # wrong: {name}: argument 6 (b_hh) has shape [1], wanted [{sums}]
        """,
        globals() | locals(),
    )
    if kind == "lstm":
        made.append(
            Reject(
                wrong,
                ("lstm_cell: argument 2 (hx) has 1 tensors, wanted two",),
                lambda: call(ones(1, 3), h(1)[:1], *w),
            )
        )
    return made


# A number has gone through several sums, each of which adds a rounding.
sums = {"dtypes": "f", "scale": 60}
CASES = []
for kind in GATES:
    CASES += [
        Case(
            kind,
            getattr(libdl, kind),
            functools.partial(over, kind),
            functools.partial(sequences, kind),
            rejects=sequence_refusals(kind),
            **sums,
        ),
        Case(
            f"{kind}_packed",
            getattr(libdl, f"{kind}_packed"),
            functools.partial(packed, kind),
            functools.partial(packed_sequences, kind),
            rejects=packed_refusals(kind),
            **sums,
        ),
        Case(
            f"{kind}_cell",
            getattr(libdl, f"{kind}_cell"),
            functools.partial(cell, kind),
            functools.partial(single_steps, kind),
            rejects=cell_refusals(kind),
            **sums,
        ),
    ]
