# SPDX-License-Identifier: Apache-2.0
"""Operators under vmap give what a loop over the samples gives, whichever argument is mapped; the
calls are such that PyTorch's vmap takes them. And results that are no tensors."""

import itertools

import numpy as np
import pytest

import libdl
from libdl import func

F = libdl.nn.functional
x = libdl.tensor([[0.5, -1.0, 2.0], [3.0, 0.0, -2.5]])
y = libdl.tensor([[1.0, 0.25, -2.0], [0.0, 4.0, 1.5]])
m = libdl.tensor([[[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]], [[0.5, 0.0], [2.0, 2.0], [1.0, 1.0]]])
row, number, q = libdl.tensor([0.5]), libdl.tensor(2.0), libdl.tensor([0.2, 0.5])
places = libdl.tensor([[0, 2, 0], [1, 1, 2]])
counts = libdl.tensor([[1, 2, 0], [1, 1, 1]])
nothing = libdl.tensor([])

# (the call, its arguments; each pair of those is mapped that are lists)
CALLS = {
    "diff prepend": (lambda a, b: libdl.diff(a, prepend=b), x, x[:, :1]),
    "diff append": (lambda a, b: libdl.diff(a, append=b, prepend=row), x, x[:, :2]),
    "diff shared": (lambda a: libdl.diff(a, n=2, prepend=row, append=row), x),
    "diff of rows": (lambda a, b: libdl.diff(a, dim=0, append=b), m, m[:, :1]),
    "count_nonzero []": (lambda a: libdl.count_nonzero(a, dim=[]), x),
    "count_nonzero ()": (lambda a: libdl.count_nonzero(a, dim=()), m),
    "count_nonzero": (lambda a: libdl.count_nonzero(a, dim=1), m),
    **{
        f"0-d scatter_reduce {how}": (
            lambda a, b, how=how: a.scatter_reduce(0, libdl.tensor(0), b, how),
            q,
            q + 0.1,
        )
        for how in ("amax", "amin", "sum", "prod", "mean")
    },
    **{
        f"0-d index_reduce {how}": (
            lambda a, b, how=how: a.index_reduce(0, libdl.tensor(0), b, how),
            q,
            q + 0.1,
        )
        for how in ("amax", "amin", "prod", "mean")
    },
    **{
        f"index_reduce {how} {own}": (
            lambda a, i, b, how=how, own=own: a.index_reduce(0, i, b, how, include_self=own),
            x,
            places,
            y,
        )
        for how in ("amax", "amin", "prod", "mean")
        for own in (False, True)
    },
    "nuclear": (lambda a: libdl.linalg.norm(a, ord="nuc"), m),
    "nuclear, wide": (lambda a: libdl.linalg.matrix_norm(a.T, ord="nuc"), m),
    "nuclear, kept": (lambda a: libdl.norm(a, p="nuc", dim=(0, 1), keepdim=True), m),
    "put": (lambda a, i, b: a.put(i, b), x, libdl.tensor([[0, 2], [1, 0]]), y[:, :2]),
    "put accumulate": (lambda a, i, b: libdl.put(a, i, b, accumulate=True), x, places, y),
    "put rows": (lambda a, i, b: a.put(i, b), m, places[:, :2], y[:, :2]),
    "nonzero_static": (lambda a: libdl.nonzero_static(a, size=2), x),
    "nonzero_static, filled": (lambda a: a.nonzero_static(size=4, fill_value=7), x),
    "repeats": (lambda a, r: libdl.repeat_interleave(a, r, output_size=3), x, counts),
    "repeats along": (lambda a, r: a.repeat_interleave(r, dim=0, output_size=3), m, counts),
    "repeats alone": (lambda r: libdl.repeat_interleave(r, output_size=3), counts),
    "cat nothing": (lambda a: libdl.cat([nothing, a]), m),
    "cat nothing 1": (lambda a: libdl.cat([a, nothing, a], 1), m),
    "cat nothing -1": (lambda a: libdl.cat([a[0, :0], a], -1), m),
    "cat nothing wide": (lambda a: libdl.cat([nothing.double(), a]), places.view(2, 1, 3)),
    "cat nothings": (lambda a: libdl.cat([a[:0], nothing]), x),
    "hstack": (lambda a: libdl.hstack([nothing, a]), x),
    "array number": (lambda a: a[np.array(1)], x),
    "array after": (lambda a: a[..., np.array(1)], m),
    "array truth": (lambda a: a[np.array(True)], x),
    "arrays": (lambda a: a[np.array([2, 0]), np.array(1)], m),
    "quantile": (lambda a, p: libdl.quantile(a, p), x, q),
    "quantile along": (
        lambda a, p: libdl.quantile(a, p, dim=0, keepdim=True),
        m,
        libdl.stack([q, q / 2]),
    ),
    "nanquantile": (lambda a, p: libdl.nanquantile(a, p, interpolation="nearest"), x, q),
    "histogram": (lambda a, w: libdl.histogram(a, 3, range=(0.0, 3.0), weight=w)[0], x, y),
    "histogram edges": (
        lambda a, e: libdl.histogram(a, e)[0],
        x,
        libdl.tensor([[-1.0, 0, 1], [0, 1, 4]]),
    ),
    "argwhere": (lambda a: libdl.argwhere(a), y[:, :2].abs() + 1),
    "masked_fill 0-d": (lambda a, b: a.masked_fill(a > 0.3, b), q, q * 3),
    "masked_fill_ 0-d": (lambda a, b: (a + 0 * b).masked_fill_(a > 0.3, b), q, q * 3),
    "fill_ 0-d": (lambda a, b: (a + 0 * b).fill_(b), q, q * 3),
    "batch_norm": (
        lambda w, b: F.batch_norm(y, libdl.zeros(3), libdl.ones(3), w, b, training=True),
        x,
        y,
    ),
    "inverse": (lambda a: nn_inverse(a), m[:, :2] + 3 * libdl.eye(2)),
}


def nn_inverse(a):
    from libdl.nn.utils import parametrizations

    return parametrizations._Inverse.apply(a)


def combinations():
    for name, (_, *args) in CALLS.items():
        for count in range(1, len(args) + 1):
            for mapped in itertools.combinations(range(len(args)), count):
                yield pytest.param(name, mapped, id=f"{name}, {mapped}")


@pytest.mark.parametrize(("name", "mapped"), combinations())
def test_as_a_loop(name, mapped):
    call, *args = CALLS[name]
    dims = tuple(0 if i in mapped else None for i in range(len(args)))
    given = [a if i in mapped else a[0] for i, a in enumerate(args)]
    found = func.vmap(call, dims)(*given)
    each = [call(*(a[k] if i in mapped else a for i, a in enumerate(given))) for k in range(2)]
    wanted = libdl.stack(each)
    assert found.dtype is wanted.dtype and found.shape == wanted.shape
    assert libdl.allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_nested_levels():
    found = func.vmap(func.vmap(lambda a, b: libdl.diff(a, prepend=b), (0, None)), (None, 0))(
        x, x[:, :1]
    )
    wanted = [[libdl.diff(a, prepend=b).tolist() for a in x] for b in x[:, :1]]
    assert found.tolist() == wanted


def test_gradient_of_nuclear_norms():
    found = func.vmap(func.grad(lambda a: libdl.norm(a, p="nuc")))(m)
    wanted = libdl.stack([func.grad(lambda a: libdl.norm(a, p="nuc"))(a) for a in m])
    assert libdl.allclose(found, wanted, atol=1e-5)


def test_gradient_of_extrema():
    def f(a):
        return a.scatter_reduce(0, libdl.tensor([0, 0, 2]), libdl.zeros(3), "amax").sum()

    found = func.vmap(func.grad(f))(x)
    assert found.tolist() == [func.grad(f)(a).tolist() for a in x]


def test_shapes_that_differ_are_refused():
    with pytest.raises(
        RuntimeError, match="argwhere has results whose shape depends on the values"
    ):
        func.vmap(libdl.argwhere)(y)


@pytest.mark.parametrize(
    ("body", "dims", "wanted"),
    [
        (lambda a: 5, None, 5),
        (lambda a: None, None, None),
        (lambda a: "s", None, "s"),
        (lambda a: libdl.float32, None, libdl.float32),
        (lambda a: (5, 6.5), None, (5, 6.5)),
        (lambda a: (5, 6), (None, None), (5, 6)),
        (lambda a: (a.sum(), 5), (0, None), ([1.5, 0.5], 5)),
        (lambda a: [a.sum(), None], [0, None], [[1.5, 0.5], None]),
        (lambda a: {"p": a.sum(), "q": 5}, {"p": 0, "q": None}, {"p": [1.5, 0.5], "q": 5}),
        (lambda a: (a.sum(), (number, 3)), (0, None), ([1.5, 0.5], (2.0, 3))),
        (lambda a: (a.sum(), (number, 3)), (0, (0, None)), ([1.5, 0.5], ([2.0, 2.0], 3))),
    ],
)
def test_results_that_are_no_tensors(body, dims, wanted):
    def told(value):
        return value.tolist() if isinstance(value, libdl.Tensor) else value

    found = func.vmap(body, out_dims=dims)(x)
    assert libdl.utils._pytree.tree_map(told, found) == wanted


@pytest.mark.parametrize("dims", [0, (0,), -1])
@pytest.mark.parametrize("value", [5, None, "s", 2.5])
def test_a_place_for_no_tensor(value, dims):
    with pytest.raises(
        ValueError, match="wanted a tensor, or None in out_dims|structure does not fit"
    ):
        func.vmap(lambda a: value, out_dims=dims)(x)


def test_output_size_is_checked():
    for repeats in (2, counts[0], libdl.tensor(2), libdl.tensor([2])):
        with pytest.raises(RuntimeError, match="output_size is 8, wanted [36], the sum of repeats"):
            libdl.repeat_interleave(x[0], repeats, output_size=8)
    assert libdl.repeat_interleave(counts[0]).tolist() == [0, 1, 1]
    assert libdl.repeat_interleave(repeats=counts[0].int()).dtype is libdl.int32
    with pytest.raises(TypeError, match=r"or repeats alone, \[n\]"):
        libdl.repeat_interleave(counts)
