# SPDX-License-Identifier: Apache-2.0
"""The gradient of a large table of which few rows were read is held by rows: the optimizers read
them as they are, everybody else sees a matrix."""

import warnings

import pytest

import libdl
from libdl import nn, optim
from libdl.nn import functional as F

ROWS, COLUMNS = 3000, 12


def table(seed=1, dtype=libdl.float32):
    x = libdl.randn(ROWS, COLUMNS, generator=libdl.Generator().manual_seed(seed))
    return nn.Parameter(x.to(dtype))


def places(*shape, seed=2):
    return libdl.randint(0, ROWS, shape, generator=libdl.Generator().manual_seed(seed))


def copies_of(function):
    """Which hidden copies a function makes."""
    with warnings.catch_warnings(record=True) as told, libdl.check_copies():
        warnings.simplefilter("always")
        function()
    return [str(w.message).split()[0] for w in told]


def dense(where, dy, padding=None):
    """The same gradient, row by row."""
    made = libdl.zeros(ROWS, dy.shape[-1], dtype=dy.dtype)
    for row, d in zip((where.flatten() % ROWS).tolist(), dy.reshape(-1, dy.shape[-1])):
        if row != padding:
            made[row] += d
    return made


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64])
@pytest.mark.parametrize("padding", [None, 7])
def test_the_gradient_is_that_of_a_matrix(dtype, padding):
    weight, where = table(dtype=dtype), places(5, 40)
    where[0, :3] = 7  # several times, next to each other and apart
    where[4, 39], where[3, 0], where[3, 1] = 7, 0, ROWS - 1
    where[1, 0], where[1, 1], where[1, 2] = -1, -ROWS, 7 - ROWS  # count from the end
    y = F.embedding(where, weight, padding_idx=padding)
    dy = libdl.randn(*y.shape, generator=libdl.Generator().manual_seed(5)).to(dtype)
    y.backward(dy)
    assert libdl.equal(weight.grad, dense(where, dy, padding))
    assert weight.grad.is_contiguous() and weight.grad.shape == weight.shape


def test_int32_places_and_frequencies():
    weight, where = table(), places(60).to(libdl.int32)
    where[:5] = where[5]
    row = int(where[5])
    where[2] = row - ROWS
    F.embedding(where, weight, scale_grad_by_freq=True).sum().backward()
    assert libdl.allclose(weight.grad[row], libdl.ones(COLUMNS))


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.01),
    "plain SGD": lambda p: optim.SGD(p, 0.1),
    "Adam": lambda p: optim.Adam(p, 0.01, weight_decay=0.01, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, 0.01, maximize=True),
    "RMSprop": lambda p: optim.RMSprop(p, 0.01, momentum=0.5, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, 0.01, lr_decay=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("columns", [COLUMNS, 64])
def test_a_step_by_rows_has_the_bits_of_a_step_by_matrices(name, columns):
    """Rows without a gradient decay, too, and keep the momentum that they had."""
    start = libdl.randn(ROWS, columns, generator=libdl.Generator().manual_seed(3))
    a, b = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    other = nn.Parameter(libdl.ones(3))  # one that is held whole, in the same lists
    by_rows, by_matrix = OPTIMIZERS[name]([other, a]), OPTIMIZERS[name]([b])
    for step in range(4):
        where = places(50, seed=step)
        (F.embedding(where, a).square().sum() + other.sum()).backward()
        b.grad = a.grad.clone()
        a.grad = None
        F.embedding(where, a).square().sum().backward()
        other.grad = libdl.ones(3)
        assert copies_of(by_rows.step) == []
        by_matrix.step()
        by_rows.zero_grad()
        assert libdl.equal(a, b)


def test_a_step_from_a_table_to_its_update_makes_no_matrix():
    layer, optimizer = nn.Embedding(ROWS, COLUMNS), None
    optimizer = optim.Adam(layer.parameters(), 0.01)

    def step():
        layer(places(30)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    assert copies_of(step) == [] and copies_of(step) == []


def test_two_readings_of_a_table_add_up():
    weight, first, second = table(), places(20, seed=1), places(30, seed=2)
    (F.embedding(first, weight).sum() + (2 * F.embedding(second, weight)).sum()).backward()
    wanted = dense(first, libdl.ones(20, COLUMNS)) + dense(second, libdl.full((30, COLUMNS), 2.0))
    assert libdl.equal(weight.grad, wanted)
    F.embedding(first, weight).sum().backward()
    assert libdl.equal(weight.grad, wanted + dense(first, libdl.ones(20, COLUMNS)))


def test_everything_else_sees_a_matrix():
    def fresh():
        weight = table()
        F.embedding(places(20), weight).sum().backward()
        return weight.grad

    wanted = dense(places(20), libdl.ones(20, COLUMNS))
    grad = fresh()
    view = grad[1:5]
    assert libdl.equal(view, wanted[1:5])
    assert libdl.equal(fresh().t(), wanted.t())
    assert float(fresh().norm()) == pytest.approx(float(wanted.norm()))
    assert (fresh().numpy() == wanted.numpy()).all()
    assert libdl.equal(fresh().mul_(2), wanted * 2)
    assert libdl.equal(fresh().clone(), wanted)
    assert libdl.equal(fresh().view(-1), wanted.view(-1))
    assert libdl.equal(fresh().zero_(), libdl.zeros(ROWS, COLUMNS))
    assert fresh().tolist()[0] == wanted.tolist()[0]


def test_hooks_and_clipping_see_the_gradient():
    weight, seen = table(), []
    weight.register_hook(lambda g: seen.append(g.sum().item()))
    F.embedding(places(20), weight).sum().backward()
    assert seen == [20 * COLUMNS]
    norm = float(nn.utils.clip_grad_norm_([weight], 1.0))
    assert norm == pytest.approx(float(dense(places(20), libdl.ones(20, COLUMNS)).norm()))
    assert float(weight.grad.norm()) == pytest.approx(1.0, rel=1e-5)


def test_second_gradients_pass_through():
    weight, where = table(dtype=libdl.float64), places(20)
    (g,) = libdl.autograd.grad(F.embedding(where, weight).pow(3).sum(), weight, create_graph=True)
    (h,) = libdl.autograd.grad(g.sum(), weight)
    wanted = dense(where, 6 * weight.detach()[where])
    assert libdl.allclose(h, wanted)
