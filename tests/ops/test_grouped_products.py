# SPDX-License-Identifier: Apache-2.0
"""grouped_mm: one product for each group of rows or columns; products of float8 are refused."""

import pytest

import libdl as torch
from libdl.nn import functional as F

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def ends(*numbers):
    return torch.tensor(numbers, dtype=torch.int32)


def drawn(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_group_has_its_product(dtype):
    a2, a3 = drawn(16, 32, dtype=dtype), drawn(4, 16, 32, dtype=dtype)
    b2, b3 = drawn(32, 40, dtype=dtype), drawn(4, 32, 24, dtype=dtype)
    assert torch.equal(F.grouped_mm(a3, b3), torch.bmm(a3, b3))
    rows = F.grouped_mm(a2, b3, offs=ends(3, 3, 10, 16))
    assert rows.shape == (16, 24) and rows.dtype is dtype
    for group, (i, j) in enumerate(((0, 3), (3, 3), (3, 10), (10, 16))):
        assert torch.equal(rows[i:j], a2[i:j] @ b3[group])
    columns = F.grouped_mm(a3, b2, offs=ends(8, 16, 33, 40))
    for group, (i, j) in enumerate(((0, 8), (8, 16), (16, 33), (33, 40))):
        assert torch.equal(columns[:, i:j], a3[group] @ b2[:, i:j])
    sums = F.grouped_mm(a2, b2, offs=ends(8, 8, 32))
    assert sums.shape == (3, 16, 40) and sums[1].count_nonzero() == 0
    assert torch.equal(sums[2], a2[:, 8:] @ b2[8:])
    assert torch.equal(torch._grouped_mm(a2, b3, ends(3, 3, 10, 16)), rows)


def test_what_is_in_no_group_is_zero():
    rows = F.grouped_mm(drawn(6, 4), drawn(2, 4, 3), offs=ends(2, 4))
    assert rows[4:].count_nonzero() == 0 and rows[:4].count_nonzero() == 12
    columns = F.grouped_mm(drawn(2, 5, 4), drawn(4, 6), offs=ends(1, 3))
    assert columns.shape == (5, 6) and columns[:, 3:].count_nonzero() == 0


@pytest.mark.parametrize(
    "shapes, offs",
    [
        (((6, 4), (3, 4, 2)), ends(2, 2, 5)),
        (((3, 4, 2), (2, 6)), ends(2, 3, 5)),
        (((3, 4), (4, 5)), ends(1, 4)),
        (((2, 3, 4), (2, 4, 5)), None),
    ],
)
def test_gradients(shapes, offs):
    a, b = (drawn(*shape).requires_grad_() for shape in shapes)
    F.grouped_mm(a, b, offs=offs).square().sum().backward()

    def step(x, y):  # of a central difference, in the direction of ones
        return F.grouped_mm(x, y, offs=offs).double().square().sum().item()

    with torch.no_grad():
        for given, slope in (((a, b), a.grad.sum()), ((b, a), b.grad.sum())):
            x, other = given
            pair = [(x + h, other) if x is a else (other, x + h) for h in (1e-2, -1e-2)]
            assert (step(*pair[0]) - step(*pair[1])) / 2e-2 == pytest.approx(slope.item(), rel=2e-3)


@pytest.mark.parametrize(
    "call, told",
    [
        (
            lambda: F.grouped_mm(drawn(4), drawn(2, 4, 3), offs=ends(1, 2)),
            "wanted 2 or 3 dimensions",
        ),
        (
            lambda: F.grouped_mm(drawn(5, 4).double(), drawn(2, 4, 3), offs=ends(1, 2)),
            "is float64",
        ),
        (
            lambda: F.grouped_mm(drawn(5, 4).half(), drawn(2, 4, 3), offs=ends(1, 2)),
            "wanted float16",
        ),
        (lambda: F.grouped_mm(drawn(5, 3), drawn(2, 4, 3), offs=ends(1, 2)), "wanted 3 rows"),
        (
            lambda: F.grouped_mm(drawn(5, 4), drawn(2, 4, 3), offs=torch.tensor([1, 2])),
            "wanted int32, 1-d",
        ),
        (lambda: F.grouped_mm(drawn(2, 5, 4), drawn(2, 4, 3), bias=drawn(3)), "bias"),
        (
            lambda: F.grouped_mm(drawn(2, 5, 4), drawn(2, 4, 3), out_dtype=torch.float16),
            "out_dtype",
        ),
        (
            lambda: F.scaled_mm(
                drawn(2, 4), drawn(4, 3), 1, F.ScalingType.TensorWise, 1, F.ScalingType.TensorWise
            ),
            "scaled_mm: its operands are float8",
        ),
        (
            lambda: F.scaled_grouped_mm(drawn(2, 4), drawn(4, 3)),
            "scaled_grouped_mm: its operands are float8",
        ),
    ],
)
def test_wrong_arguments_are_refused(call, told):
    with pytest.raises(RuntimeError, match=told):
        call()
