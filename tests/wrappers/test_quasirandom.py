# SPDX-License-Identifier: Apache-2.0
"""Sobol points: the plain sequence is PyTorch's, scrambling is by its definition."""

import hashlib

import pytest

import libdl as torch
from libdl.quasirandom import SobolEngine

# Of the direction numbers that PyTorch 2.15 computes for 21,201 dimensions, as int64.
DIRECTIONS = "4a6c1b3e473e79ebf849fc9a695e6cbc566dff5cc899272a4dfc9b5038c3beca"


def test_the_direction_numbers_are_pytorchs():
    state = SobolEngine(SobolEngine.MAXDIM).sobolstate
    assert state.shape == (21201, 30)
    assert hashlib.sha256(state.numpy().tobytes()).hexdigest() == DIRECTIONS
    for dimension in (1, 2, 3, 37, 5000):  # and do not depend on how many are asked for
        assert torch.equal(SobolEngine(dimension).sobolstate, state[:dimension])


def test_the_points_are_pytorchs():
    engine = SobolEngine(3)
    assert engine.draw(4).tolist() == [[0, 0, 0], [0.5] * 3, [0.75, 0.25, 0.25], [0.25, 0.75, 0.75]]
    assert engine.quasi.tolist() == [268435456, 805306368, 805306368] and engine.num_generated == 4
    four = SobolEngine(4).fast_forward(100).draw(2, dtype=torch.float64)
    assert four.tolist() == [
        [0.4140625, 0.2578125, 0.7734375, 0.7265625],
        [0.9140625, 0.7578125, 0.2734375, 0.2265625],
    ]
    engine = SobolEngine(300)
    point = engine.fast_forward(37).draw()[0]
    assert point[[0, 99, 199, 299]].tolist() == [0.921875, 0.171875, 0.921875, 0.671875]
    assert engine.quasi[[0, 299]].tolist() == [989855744, 721420288]
    late = SobolEngine(2).fast_forward(2**30 - 5).draw(2, dtype=torch.float64)
    assert late.tolist() == [
        [0.3750000009313226, 0.6749999998137355],
        [0.2500000009313226, 0.049999999813735485],
    ]


@pytest.mark.parametrize("scramble", [False, True])
def test_the_sequence_goes_on(scramble):
    def made():
        return SobolEngine(5, scramble=scramble, seed=3)

    whole = made().draw(100)
    engine = made()
    parts = [engine.draw(n) for n in (1, 2, 0, 30, 67)]
    assert torch.equal(torch.cat(parts), whole)
    for n in (0, 1, 2, 41):
        assert torch.equal(made().fast_forward(n).draw(7), whole[n : n + 7])
    engine.reset()
    assert torch.equal(engine.draw_base2(4), whole[:16]) and torch.equal(
        engine.draw_base2(4), whole[16:32]
    )
    engine.reset()
    assert torch.equal(engine.fast_forward(3).fast_forward(9).draw(), whole[12:13])
    into = torch.empty(0)
    assert made().draw(6, out=into) is into and torch.equal(into, whole[:6])


@pytest.mark.parametrize("scramble", [False, True])
def test_the_points_are_balanced(scramble):
    points = SobolEngine(50, scramble=scramble, seed=1).draw(256, dtype=torch.float64)
    cells = (points * 256).long()  # one point in each
    assert (cells.sort(0).values == torch.arange(256).unsqueeze(1)).all()
    two = (points[:, :2] * 16).long()  # and in each square of the first two dimensions
    assert (two[:, 0] * 16 + two[:, 1]).unique().numel() == 256


def test_scrambling_is_a_product_of_bits_and_a_shift():
    generator = torch.Generator().manual_seed(5)
    shift = torch.randint(0, 2, (2, 30), generator=generator)
    matrix = torch.randint(0, 2, (2, 30, 30), generator=generator)
    engine = SobolEngine(2, scramble=True, seed=5)
    plain = SobolEngine(2).sobolstate
    assert engine.shift.tolist() == [
        sum(b << i for i, b in enumerate(row)) for row in shift.tolist()
    ]
    for d in range(2):
        for j in range(30):
            bits = [int(plain[d, j]) >> 29 - i & 1 for i in range(30)]
            rows = [matrix[d, i].tolist()[:i] + [1] for i in range(30)]
            made = [sum(a * b for a, b in zip(row, bits)) & 1 for row in rows]
            assert engine.sobolstate[d, j] == int("".join(map(str, made)), 2)
    assert not torch.equal(SobolEngine(2, scramble=True).shift, SobolEngine(2, scramble=True).shift)


def test_what_it_shows():
    assert repr(SobolEngine(3)) == "SobolEngine(dimension=3)"
    assert repr(SobolEngine(3, True, 7)) == "SobolEngine(dimension=3, scramble=True, seed=7)"
    assert torch.quasirandom.SobolEngine is SobolEngine


def test_wrong_arguments_are_refused():
    for dimension in (0, -1, 21202):
        with pytest.raises(ValueError, match=f"dimension is {dimension}, wanted 1 to 21201"):
            SobolEngine(dimension)
    engine = SobolEngine(2)
    engine.draw(3)
    with pytest.raises(
        ValueError, match=r"3 points drawn before, 2\^3 make 11, wanted a power of 2"
    ):
        engine.draw_base2(3)
    for call in (engine.draw, engine.fast_forward):
        for n in (-1, 2**30):
            with pytest.raises(ValueError, match=rf"\(n\) is {n}, wanted 0 to 1073741821 behind 3"):
                call(n)
        with pytest.raises(TypeError):
            call(1.5)
    assert engine.num_generated == 3
