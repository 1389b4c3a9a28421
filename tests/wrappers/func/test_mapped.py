# SPDX-License-Identifier: Apache-2.0
"""vmap of each operator gives what a loop over the samples gives, for every choice of the arguments
that are mapped over, over another dimension, and in two levels."""

import random
import re
import warnings

import numpy
import pytest
from wrappers.func import mapped_programs

import libdl

B = mapped_programs.SIZE
PROGRAMS = [
    text for family in mapped_programs.FAMILIES for text in mapped_programs.programs(family)
]


def choices(text):
    """For each variable the dimension mapped over in each level, or None."""
    names = mapped_programs.letters(text)
    found = [[[0 if n in kept else None] for n in names] for kept in mapped_programs.choices(names)]
    found.append([[-1 if mapped_programs.SHAPES[n] else 0] for n in names])
    draw = random.Random(text)
    while len(found) < len(mapped_programs.choices(names)) + 3:
        pair = [[draw.choice([0, None]), draw.choice([0, None])] for _ in names]
        if all(any(dims[level] is not None for dims in pair) for level in (0, 1)):
            found.append(pair)
    return found


def mapped(function, values, dims):
    """The function under a vmap a level; what is no tensor comes out by the side."""
    others = []

    def at(level, *samples):
        if level < len(dims[0]):
            over = tuple(own[level] for own in dims)
            return libdl.vmap(lambda *xs: at(level + 1, *xs), over)(*samples)
        answer = function(*samples)
        if isinstance(answer, (libdl.Tensor, tuple, list)):
            return answer
        others.append(answer)
        return samples[0] * 1

    answer = at(0, *values)
    return others[0] if others else shown(answer)


def looped(function, values, dims, level=0):
    if level == len(dims[0]):
        return shown(function(*values))
    rows = [
        looped(
            function,
            [
                x if own[level] is None else x.select(own[level], i).clone()
                for x, own in zip(values, dims, strict=True)
            ],
            dims,
            level + 1,
        )
        for i in range(B)
    ]
    return stacked(rows)


def stacked(rows):
    if isinstance(rows[0], list):
        return [stacked(column) for column in zip(*rows, strict=True)]
    return numpy.stack(rows) if isinstance(rows[0], numpy.ndarray) else rows[0]


def shown(answer):
    if isinstance(answer, (tuple, list)):
        return [shown(item) for item in answer]
    return answer.detach().numpy() if isinstance(answer, libdl.Tensor) else answer


def same(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if not isinstance(a, numpy.ndarray):
        return a == b
    # Float32 sums in another order.
    return a.shape == b.shape and a.dtype == b.dtype and numpy.allclose(a, b, 1e-4, 1e-5, True)


@pytest.mark.parametrize("text", PROGRAMS)
def test_as_a_loop(text):
    names, function = mapped_programs.letters(text), mapped_programs.function(text, libdl)
    for dims in choices(text):
        values = [
            libdl.tensor(mapped_programs.values(name, (B,) * sum(dim is not None for dim in own)))
            for name, own in zip(names, dims, strict=True)
        ]
        wanted = looped(function, values, dims)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that an operator runs sample by sample
            try:
                found = mapped(function, values, dims)
            except RuntimeError as error:
                # What all samples share cannot be written by each of them.
                assert text.startswith("w(") and "in place is not possible" in str(error), dims
                written = dims[names.index(re.match(r"w\((\w)", text)[1])]
                assert any(dim is None for dim in written), dims
                continue
        assert same(found, wanted), (dims, found, wanted)
