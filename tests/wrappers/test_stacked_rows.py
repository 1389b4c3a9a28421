# SPDX-License-Identifier: Apache-2.0
"""A stack of rows that lie densely is copied at once: it is what joining their views makes."""

import pytest

import libdl

ROWS = [libdl.arange(12.0).view(3, 4), libdl.tensor(2.5), libdl.empty(0, 3), libdl.ones(1, 1)]


def joined(tensors, dim):
    return libdl.cat([x.unsqueeze(dim) for x in tensors], dim)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "uint8", "int64", "complex64"])
@pytest.mark.parametrize("row", ROWS, ids=lambda x: str(list(x.shape)))
def test_rows_of_every_dtype_along_every_dimension(row, dtype):
    rows = [(row + i).to(getattr(libdl, dtype)) for i in range(3)]
    for dim in range(-row.ndim - 1, row.ndim + 1):
        found = libdl.stack(rows, dim)
        assert found.dtype == rows[0].dtype and libdl.equal(found, joined(rows, dim))
        out = libdl.empty(found.shape, dtype=found.dtype)
        assert libdl.stack(rows, dim, out=out) is out and libdl.equal(out, found)


def test_rows_that_are_not_copied_at_once():
    x = libdl.arange(24.0).view(4, 6)
    for rows in (
        [x.t(), x.t()],
        [x[:, ::2], x[:, 1::2]],
        [x, x.double()],
        [x[0], x[1]],
        [x.expand(2, 4, 6)] * 2,
        [libdl.ones(200, 200)] * 2,
        [x[1:], x[:3]],
    ):
        assert libdl.equal(libdl.stack(rows), joined(rows, 0))
    spread = libdl.zeros(8, 6)[::2]
    libdl.stack([x[i] for i in range(4)], out=spread)
    assert libdl.equal(spread, x)


def test_rows_of_what_they_are_written_into():
    x = libdl.arange(6.0).view(2, 3)
    libdl.stack([x[1].clone(), x[0].clone()], out=x)
    assert x.tolist() == [[3, 4, 5], [0, 1, 2]]
    with pytest.raises(RuntimeError):
        libdl.stack([x[1], x[0]], out=x)
    assert x.tolist() == [[3, 4, 5], [0, 1, 2]]


def test_history_tangents_and_rows_of_a_map():
    leaves = [libdl.tensor([float(i), 1.0], requires_grad=True) for i in range(3)]
    y = libdl.stack(leaves)
    assert y.requires_grad and type(y.grad_fn).__name__.lower().startswith("stack")
    (y * libdl.arange(6.0).view(3, 2)).sum().backward()
    assert [x.grad.tolist() for x in leaves] == [[0, 1], [2, 3], [4, 5]]
    with libdl.no_grad():
        assert not libdl.stack(leaves).requires_grad
    _, tangent = libdl.func.jvp(
        lambda a, b: libdl.stack([a, b]), (libdl.ones(2),) * 2, (libdl.ones(2), libdl.zeros(2))
    )
    assert tangent.tolist() == [[1, 1], [0, 0]]
    mapped = libdl.vmap(lambda a: libdl.stack([a, a * 2]))(libdl.arange(3.0))
    assert mapped.tolist() == [[0, 0], [1, 2], [2, 4]]
    with pytest.raises(RuntimeError):
        libdl.stack(leaves, out=libdl.empty(3, 2))


def test_what_a_convolution_packed_is_stacked():
    x = libdl.nn.functional.conv2d(libdl.ones(1, 3, 8, 8), libdl.ones(8, 3, 3, 3))
    assert libdl.equal(libdl.stack([x, x]), joined([x, x], 0))
