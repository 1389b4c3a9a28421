# SPDX-License-Identifier: Apache-2.0
"""Bags of rows, sparse gradients and their optimizers do what PyTorch's do: the same programs, and
its answers; and what libdl adds."""

import copy
import pickle

import pytest
from answered import Stored
from wrappers.nn import seen_bags
from wrappers.answers import numbers
from wrappers.nn.test_sparse_rows import COLUMNS, ROWS, copies_of, places, table

import libdl
from libdl import nn, optim
from libdl.nn import functional as F

SEEN = Stored(seen_bags)


@pytest.mark.parametrize("program", seen_bags.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_pytorch(program):
    SEEN.check(program, libdl)


# -- bags ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_a_large_table(mode):
    weight, where = table(dtype=libdl.float64), places(40, 6)
    where[3] = where[2]
    y = F.embedding_bag(where, weight, mode=mode)
    rows = F.embedding(where, weight)
    wanted = {"sum": rows.sum, "mean": rows.mean, "max": rows.amax}[mode](1)
    assert libdl.allclose(y, wanted)
    (g,) = libdl.autograd.grad(y.square().sum(), weight)
    (h,) = libdl.autograd.grad(wanted.square().sum(), weight)
    assert libdl.allclose(g, h)


def test_no_matrix_of_all_readings_is_made():
    weight, where = nn.Parameter(libdl.ones(64, 256)), libdl.zeros(20_000, dtype=libdl.int64)
    offsets = libdl.arange(0, 20_000, 100)
    cpu = libdl.device("cpu")
    libdl._C.memory_reset_peaks(cpu)
    before = libdl._C.memory_statistics(cpu)["allocated"]
    F.embedding_bag(where, weight, offsets, mode="sum").sum().backward()
    peak = libdl._C.memory_statistics(cpu)["peak_allocated"] - before
    assert peak < 4_000_000  # the readings' rows would take 20 MB


def test_the_table_stays_as_it_was_if_the_call_fails():
    weight = libdl.full((4, 2), 9.0)
    with pytest.raises(ValueError, match="offsets"):
        F.embedding_bag(libdl.tensor([0, 1]), weight, libdl.tensor([1]), max_norm=1.0)
    assert (weight == 9).all()


# -- sparse gradients ------------------------------------------------------------------------------


def gradient(where=None, weight=None):
    weight = table() if weight is None else weight
    F.embedding(places(20) if where is None else where, weight, sparse=True).sum().backward()
    return weight.grad


def test_reading_a_sparse_gradient_changes_nothing():
    g = gradient()
    rows, values = g.indices(), g.values()
    assert g.sum().item() == 20 * COLUMNS and libdl.equal(g[rows[0]], values)
    assert g.is_sparse and libdl.equal(g.indices(), rows) and libdl.equal(g.values(), values)
    assert g.t().is_sparse is False and g[1:].is_sparse is False and g.view(-1).is_sparse is False
    g.add_(1)
    assert not g.is_sparse and g.layout is libdl.strided
    with pytest.raises(ValueError, match=r"^indices: argument 1 \(input\) is dense"):
        g.indices()


@pytest.mark.parametrize("looked", [False, True])
def test_sums_and_multiples_stay_sparse(looked):
    g, h = gradient(places(20, seed=1)), gradient(places(30, seed=2))
    wanted = g.to_dense() * 2 + h.to_dense()
    if looked:
        g.sum(), h.sum()
    g *= 2
    g += h
    assert g.is_sparse and libdl.equal(g.to_dense(), wanted) and libdl.equal(g + 0, wanted)
    assert g._nnz() == len(set(places(20, seed=1).tolist()) | set(places(30, seed=2).tolist()))


def test_gradients_accumulate_in_place():
    weight = table()
    first = gradient(places(20, seed=1), weight)
    assert gradient(places(30, seed=2), weight) is first and first.is_sparse
    dense = table()
    for seed, count in ((1, 20), (2, 30)):
        F.embedding(places(count, seed=seed), dense).sum().backward()
    assert libdl.equal(first.to_dense(), dense.grad) and not dense.grad.is_sparse
    optim.SGD([weight], 0.1).zero_grad(set_to_none=False)
    assert weight.grad.is_sparse and weight.grad._nnz() == first._nnz() == 0
    weight.grad = None
    assert gradient(places(5), weight)._nnz() <= 5


def test_two_readings_in_one_pass():
    weight = table()
    y = F.embedding(places(20, seed=1), weight, sparse=True).sum()
    z = F.embedding_bag(places(5, 4, seed=2), weight, mode="sum", sparse=True).sum()
    (y + z).backward()
    assert weight.grad.is_sparse
    assert weight.grad.sum().item() == 40 * COLUMNS


@pytest.mark.parametrize("dtype", [libdl.float16, libdl.bfloat16, libdl.complex64])
def test_other_dtypes(dtype):
    weight = table().detach().to(dtype).requires_grad_()
    where = libdl.tensor([5, 3, 5])
    y = F.embedding(where, weight, sparse=True)
    y.backward(libdl.ones_like(y))
    assert weight.grad.is_sparse and weight.grad.dtype is dtype
    assert weight.grad.indices().tolist() == [[3, 5]]
    assert weight.grad.values().real.float().mean(1).tolist() == [1, 2]


def test_a_recorded_gradient_is_dense():
    weight = table(dtype=libdl.float64)
    y = F.embedding(libdl.arange(3, 90, 4), weight, sparse=True).pow(3).sum()
    (g,) = libdl.autograd.grad(y, weight, create_graph=True)
    assert not g.is_sparse
    (h,) = libdl.autograd.grad(g.sum(), weight)
    assert h.is_sparse and libdl.allclose(h.values(), 6 * weight.detach()[h.indices()[0]])


@pytest.mark.parametrize("looked", [False, True])
def test_clipping_keeps_the_rows(looked):
    weight, other = table(), nn.Parameter(libdl.ones(3))
    g = gradient(places(20), weight)
    other.grad = libdl.ones(3)
    rows, norm = g.indices(), float(g.to_dense().norm())
    if looked:
        g.sum()
    total = nn.utils.clip_grad_norm_([weight, other], 1.0)
    assert float(total) == pytest.approx((norm**2 + 3) ** 0.5)
    assert g.is_sparse and libdl.equal(g.indices(), rows)
    assert float(g.norm() ** 2 + other.grad.norm() ** 2) == pytest.approx(1.0, rel=1e-5)
    nn.utils.clip_grad_value_([weight], 1e-3)
    assert g.is_sparse and float(g.max()) == pytest.approx(1e-3)


def test_copies_hooks_and_files(tmp_path):
    weight, seen = table(), []
    weight.register_hook(lambda g: seen.append(g.is_sparse) or g * 2)
    g = gradient(places(20), weight)
    assert seen == [True] and g.is_sparse and g.sum().item() == 40 * COLUMNS
    for made in (g.clone(), copy.deepcopy(g), g.detach()):
        assert made.is_sparse and libdl.equal(made.values(), g.values())
    libdl.save({"g": g}, tmp_path / "g.safetensors")
    assert libdl.equal(libdl.load(tmp_path / "g.safetensors")["g"], g.to_dense())
    assert libdl.equal(libdl.from_numpy(g.numpy()), g.to_dense())


def test_printing():
    x = libdl.sparse_coo_tensor([[2, 0]], [[1.0, 2.0], [3.0, 4.0]], (4, 2))
    assert repr(x) == (
        "tensor(indices=tensor([[0, 2]]),\n       values=tensor([[3., 4.],\n"
        "                      [1., 2.]]),\n       size=(4, 2), nnz=2, "
        "layout=libdl.sparse_coo)"
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: libdl.sparse_coo_tensor([[0], [1]], [1.0], (2, 2)),
        lambda: libdl.sparse_coo_tensor([[0]], [[1.0]], (2, 2, 1)),
        lambda: libdl.sparse_coo_tensor([[3]], [[1.0]], (2, 1)),
        lambda: libdl.sparse_coo_tensor([[0, 1]], [[1.0]], (2, 1)),
    ],
)
def test_other_sparse_tensors_are_refused(call):
    with pytest.raises((ValueError, IndexError), match="^sparse_coo_tensor: "):
        call()


# -- optimizers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", seen_bags.OPTIMIZERS)
def test_dense_and_sparse_gradients_take_the_same_steps(name):
    if name.startswith("SparseAdam") or name == "Adagrad eps":
        return  # dense gradients are refused, or divided by 0

    def make(params):
        return seen_bags.OPTIMIZERS[name](optim, params)

    assert seen_bags.follow(libdl, make, True) == seen_bags.follow(libdl, make, False)


@pytest.mark.parametrize("name", ["SGD", "Adagrad", "SparseAdam"])
@pytest.mark.parametrize("columns", [5, 64])
def test_a_step_touches_the_rows_alone(name, columns):
    """Of a large table, without its matrix; all other rows keep every bit."""
    start = libdl.randn(ROWS, columns, generator=libdl.Generator().manual_seed(3))
    weight = nn.Parameter(start.clone())
    optimizer = getattr(optim, name)([weight], lr=0.1)
    where = places(700)
    for _ in range(2):
        optimizer.zero_grad()
        F.embedding(where, weight, sparse=True).square().sum().backward()
        assert copies_of(optimizer.step) == [] and weight.grad.is_sparse
    same = (weight.detach() == start).all(1)
    read = libdl.zeros(ROWS, dtype=libdl.bool).index_fill_(0, where, True)
    assert libdl.equal(same, ~read)


def test_sparse_adam_is_adam_where_every_row_is_read():
    weight, other = nn.Parameter(numbers(libdl, 40, 3)), nn.Parameter(numbers(libdl, 40, 3))
    a, b = optim.SparseAdam([weight], 0.1, eps=1e-12), optim.Adam([other], 0.1, eps=1e-12)
    for _ in range(5):
        for p, optimizer in ((weight, a), (other, b)):
            optimizer.zero_grad()
            F.embedding(libdl.arange(40), p, sparse=p is weight).square().sum().backward()
            optimizer.step()
    assert libdl.allclose(weight, other, rtol=1e-9)


@pytest.mark.parametrize("way", ["state_dict", "pickle"])
def test_sparse_adam_goes_on_as_if_never_stopped(way):
    def step(weight, optimizer, seed):
        optimizer.zero_grad()
        F.embedding(places(50, seed=seed), weight, sparse=True).square().sum().backward()
        optimizer.step()

    whole = nn.Parameter(table().detach())
    optimizer = optim.SparseAdam([whole], 0.1)
    for seed in range(6):
        if seed == 3:
            part = nn.Parameter(whole.detach().clone())
            second = optim.SparseAdam([part], 0.5)
            if way == "state_dict":
                second.load_state_dict(optimizer.state_dict())
            else:
                part, second = pickle.loads(pickle.dumps((whole, optimizer)))
                part = second.param_groups[0]["params"][0]
        step(whole, optimizer, seed)
        if seed >= 3:
            step(part, second, seed)
    assert libdl.equal(whole, part)


@pytest.mark.parametrize("kind", ["gaps", "bfloat16"])
def test_parameters_with_gaps_and_16_bits(kind):
    found = []
    for other in (False, True):
        p = libdl.tensor([[0.5, -1.5], [2.0, 0.25], [1.0, 1.0]])
        if other and kind == "gaps":
            p = libdl.zeros(3, 4)[:, ::2].copy_(p)
        p = (p.bfloat16() if other and kind == "bfloat16" else p).requires_grad_()
        optimizer = optim.SparseAdam([p], lr=0.5)
        for _ in range(3):
            optimizer.zero_grad()
            F.embedding(libdl.tensor([0, 1]), p, sparse=True).square().sum().backward()
            optimizer.step()
        found.append(p.detach().float().reshape(-1).tolist())
    assert found[0] == pytest.approx(found[1], rel=0.05, abs=0.05)


def test_a_failed_step_counts_nothing():
    weight, other = table(), table()
    gradient(places(3), weight)
    other.grad = libdl.zeros(ROWS, COLUMNS)
    optimizer = optim.SparseAdam([weight, other])
    before = weight.detach().clone()
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients"):
        optimizer.step()
    assert libdl.equal(weight, before) and not optimizer.state[weight]
