# SPDX-License-Identifier: Apache-2.0
"""What finds, moves and sums elements by position, at the lengths where vectors and pieces end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import libdl

DTYPES = [libdl.bool, libdl.uint8, libdl.int16, libdl.float32, libdl.float64, libdl.complex128]
LENGTHS = [1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 511, 512, 513, 1030]


def some(shape: tuple[int, ...], share: float, seed: int) -> Any:
    return np.random.default_rng(seed).random(shape) < share


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nonzero(dtype: libdl.dtype) -> None:
    for n in LENGTHS:
        for share in (0.0, 0.02, 0.5, 1.0):
            a = some((n,), share, n)
            assert libdl.tensor(a).to(dtype).nonzero().tolist() == np.argwhere(a).tolist()
            b = some((3, n), share, n)
            x = libdl.tensor(b).to(dtype)
            assert x.nonzero().tolist() == np.argwhere(b).tolist()
            assert x.t().nonzero().tolist() == np.argwhere(b.T).tolist()
            assert x[:, ::2].nonzero().tolist() == np.argwhere(b[:, ::2]).tolist()
    c = some((2, 3, 40), 0.3, 1)
    assert libdl.tensor(c).to(dtype).nonzero().tolist() == np.argwhere(c).tolist()
    large = some((70_001,), 0.5, 2)
    large[-30_000:-1] = False
    assert (
        libdl.tensor(large).to(dtype).nonzero().flatten().tolist() == np.flatnonzero(large).tolist()
    )


def test_minus_zero_is_zero_and_nan_is_not() -> None:
    x = libdl.tensor([-0.0, 0.0, float("nan"), 1.0] * 5)
    assert x.nonzero().flatten().tolist() == [i for i in range(20) if i % 4 > 1]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_flip(dtype: libdl.dtype) -> None:
    for n in LENGTHS:
        a = (np.arange(2 * n) % 2 if dtype is libdl.bool else np.arange(2 * n) % 97).reshape(2, n)
        x = libdl.tensor(a).to(dtype)
        assert libdl.equal(x.flip(1), libdl.tensor(a[:, ::-1].copy()).to(dtype))
        assert libdl.equal(
            x[:, : n - 1].flip(0, 1), libdl.tensor(a[::-1, : n - 1][:, ::-1].copy()).to(dtype)
        )


@pytest.mark.parametrize(
    "laid", [lambda x: x, lambda x: x.t().contiguous().t(), lambda x: x[:1].expand(x.shape)]
)
def test_masked_scatter(laid: Any) -> None:
    base = laid(libdl.arange(600.0).reshape(20, 30))
    mask = some((20, 30), 0.4, 3)
    source = -libdl.arange(1.0, 601.0).reshape(30, 20)
    wanted = base.numpy().copy()
    wanted[mask] = source.numpy().reshape(-1)[: mask.sum()]
    before = base.tolist()
    made = base.masked_scatter(libdl.tensor(mask), source)
    assert made.tolist() == wanted.tolist() and made.is_contiguous()
    assert base.tolist() == before
    leaf = base.detach().clone().requires_grad_()
    recorded = leaf.masked_scatter(libdl.tensor(mask), source)
    assert recorded.tolist() == wanted.tolist()
    recorded.sum().backward()
    assert leaf.grad.tolist() == (~mask).astype(float).tolist()


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("inplace", [False, True])
def test_masked_scatter_of_one(chosen: bool, inplace: bool) -> None:
    x = libdl.tensor(2.0, requires_grad=True)
    source = libdl.tensor([3.0, 4.0], requires_grad=True)
    mask = libdl.tensor(chosen)
    y = (x * 1).masked_scatter_(mask, source) if inplace else x.masked_scatter(mask, source)
    assert y.item() == (3 if chosen else 2)
    y.backward()
    assert x.grad.item() == (not chosen) and source.grad.tolist() == [chosen, 0]
    assert libdl.tensor(2.0).masked_scatter(mask, source).requires_grad


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("length", [5, 300, 40_000])  # in cache and beyond
def test_scatter_add(dim: int, length: int) -> None:
    shape = (length, 3) if dim == 0 else (3, length)
    index = np.random.default_rng(4).integers(-length, length, shape)
    values = np.arange(index.size).reshape(shape)
    wanted = np.zeros(shape, np.int64)
    other = np.indices(shape)[1 - dim]
    np.add.at(wanted, (index, other) if dim == 0 else (other, index), values)
    found = libdl.zeros(shape, dtype=libdl.int64).scatter_add(
        dim, libdl.tensor(index), libdl.tensor(values)
    )
    assert (found.numpy() == wanted).all()


@pytest.mark.parametrize("dim", [0, 1])
def test_index_fill_and_copy(dim: int) -> None:
    a = np.arange(40 * 50).reshape(40, 50)
    index = np.array([3, -1, 7, 3])
    wanted = a.copy()
    wanted[(slice(None),) * dim + (index,)] = -5
    x = libdl.tensor(a)
    assert (x.index_fill(dim, libdl.tensor(index), -5).numpy() == wanted).all()
    rows = libdl.arange(4 * (50, 40)[dim]).reshape((4, 50) if dim == 0 else (40, 4))
    wanted[(slice(None),) * dim + (index[:3],)] = rows.numpy()[(slice(None),) * dim + (slice(3),)]
    filled = x.index_fill(dim, libdl.tensor(index), -5)
    found = filled.index_copy(dim, libdl.tensor(index[:3]), rows.narrow(dim, 0, 3))
    assert (found.numpy() == wanted).all()


@pytest.mark.parametrize("dtype", [libdl.bool, libdl.uint8, libdl.int32, libdl.int64], ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_sums_of_integers_run(dtype: libdl.dtype, dim: int) -> None:
    for n in (1, 7, 130, 513):
        x = (libdl.arange(5 * n).reshape(5, n) % 251).to(dtype)
        for y in (x, x.t(), x[:, ::2], x[:1].expand(5, n)):
            a = y.numpy()
            assert (y.cumsum(dim).numpy() == a.cumsum(dim, dtype=np.int64)).all()
            assert (y.cumprod(dim).numpy() == a.cumprod(dim, dtype=np.int64)).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_repeated_elements(dtype: libdl.dtype) -> None:
    for shape in ((1,), (5, 7), (3, 700), (2, 3, 130)):
        a = np.arange(np.prod(shape)).reshape(shape) % (2 if dtype is libdl.bool else 97)
        x = libdl.tensor(a).to(dtype)
        for times in (1, 2, 3, 4, 5, 9, 40):
            wanted = libdl.tensor(a.repeat(times, -1)).to(dtype)
            assert libdl.equal(x.repeat_interleave(times, -1), wanted)
            if x.ndim == 2:
                turned = libdl.tensor(a.T.repeat(times, -1)).to(dtype)
                assert libdl.equal(x.t().repeat_interleave(times, -1), turned)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_columns_for_all_rows(dtype: libdl.dtype) -> None:
    for rows, columns in ((9, 33), (70, 127), (70, 128), (300, 400), (9, 2000)):
        a = (np.arange(rows) % (2 if dtype is libdl.bool else 97))[:, None]
        wide = libdl.tensor(a).to(dtype).expand(rows, columns)
        wanted = libdl.tensor(np.broadcast_to(a, (rows, columns)).copy()).to(dtype)
        assert libdl.equal(wide.contiguous(), wanted)
        assert libdl.equal(wide.flip(1), wanted)
        into = libdl.zeros(rows, 2 * columns, dtype=dtype)
        into[:, ::2] = wide
        assert libdl.equal(into[:, ::2].contiguous(), wanted) and not into[:, 1::2].any()
