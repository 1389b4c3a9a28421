# SPDX-License-Identifier: Apache-2.0
"""Sums, counts and shares of many elements: the 16-bit dtypes are rounded once, as float64 is, and
float32 stays near float64 where a sum in sequence would not."""

from __future__ import annotations

import libdl
import pytest
from libdl.nn import functional as F

HALVES = (libdl.float16, libdl.bfloat16)
UNIT = {libdl.float16: 2.0**-11, libdl.bfloat16: 2.0**-8}
TINY = {libdl.float16: 2.0**-25, libdl.bfloat16: 0.0}
N = 70_000  # no float16, and too many for bfloat16 to count
K = 6_000  # bfloat16 stops at 256 of them
AT = libdl.arange(K) % 3
FEW = libdl.arange(900) % 3
A = 1.0078125  # the number above 1 in bfloat16


def ones(*shape, of=1.0):
    return libdl.full(shape, of, dtype=libdl.float64)


def largest(x):
    return libdl.linalg.vector_norm(x, float("inf"))


def bag(mode, **named):
    def f(w):
        return F.embedding_bag(libdl.zeros(1, N, dtype=libdl.int64), w, mode=mode, **named)

    return f


# A call, its operands, and the gradient that arrives unless it is of ones.
CASES = """
libdl.amax(x); x = ones(N)
libdl.amin(x); x = ones(N)
libdl.max(x); x = ones(N)
libdl.min(x); x = ones(N)
libdl.amax(x, 0); x = ones(N, 2)
libdl.aminmax(x)[0]; x = ones(N)
largest(x); x = ones(N)
libdl.linalg.vector_norm(x, -float("inf")); x = ones(N)
libdl.nanmean(x); x = ones(N)
libdl.mean(x); x = ones(N)
libdl.prod(x); x = libdl.cat([ones(1) * 0, ones(300, of=A)])
libdl.cumprod(x, 0); x = ones(300, of=A)
libdl.logcumsumexp(x, 0); x = ones(2000)
bag("mean")(x); x = ones(2, 3)
bag("sum")(x); x = ones(2, 3, of=2.0**-6); dy = ones(1, 3, of=2.0**-6)
bag("mean", scale_grad_by_freq=True)(x); x = ones(2, 3)
b.scatter_add(0, AT, x); b = ones(3); x = ones(K)
b.scatter_add(0, FEW, x); b = ones(90_000); x = ones(900)
b.scatter_add(1, AT.expand(2, K), x); b = ones(2, 5); x = ones(2, K)
b.scatter_add(1, FEW.expand(2, 900) - 3, x); b = ones(3, 20_000); x = ones(2, 900)
b.index_add(0, AT, x); b = ones(3); x = ones(K)
b.index_add(0, AT, x); b = ones(3, 9); x = ones(K, 9)
b.index_add(0, FEW, x); b = ones(9_000, 9); x = ones(900, 9)
b.index_add(1, FEW - 3, x); b = ones(2, 9, 8); x = ones(2, 900, 8)
b.index_add(0, AT, x, alpha=2); b = ones(3); x = ones(K)
b.index_put((AT,), x, accumulate=True); b = ones(3); x = ones(K)
b.index_put((AT,), x, accumulate=True); b = ones(3); x = ones()
b.index_put((FEW, FEW - 3), x, accumulate=True); b = ones(300, 300); x = ones(900)
b.index_put((FEW, None, FEW - 3), x, accumulate=True); b = ones(3, 4, 3); x = ones(900, 4)
b.index_put((FEW, None, FEW - 3), x, accumulate=True); b = ones(90, 4, 300); x = ones(900, 4)
b.index_put((AT, None, AT - 3), x, accumulate=True); b = ones(3, 4, 3); x = ones(K, 4)
b.index_put((None, AT), x, accumulate=True); b = ones(2, 3); x = ones(2, K)
b.clone().put_(AT, x, accumulate=True); b = ones(3); x = ones(K)
x.gather(0, AT); x = ones(3); dy = ones(K)
x[AT]; x = ones(3); dy = ones(K)
x[AT, AT]; x = ones(3, 3); dy = ones(K)
x[:, FEW]; x = ones(2, 3); dy = ones(2, 900)
x.index_select(0, AT); x = ones(3); dy = ones(K)
x.take(AT); x = ones(3); dy = ones(K)
libdl.take_along_dim(x, AT, 0); x = ones(3); dy = ones(K)
F.embedding(AT, w); w = ones(3, 4); dy = ones(K, 4)
F.embedding(FEW, w); w = ones(9_000, 4); dy = ones(900, 4)
F.embedding(libdl.zeros(N, dtype=libdl.int64), w, scale_grad_by_freq=True); w = ones(3, 4)
x.as_strided((K,), (0,)); x = ones(3); dy = ones(K)
x.unfold(0, 1000, 1); x = ones(1999); dy = ones(1000, 1000)
x.expand(K); x = ones(1); dy = ones(K)
b.scatter_reduce(0, AT, x, "mean"); b = ones(3); x = ones(K)
b.scatter_reduce(0, AT, x, "sum"); b = ones(3); x = ones(K)
b.scatter_reduce(0, FEW[:300], x, "prod", include_self=False); b = ones(3); x = ones(300, of=A)
b.index_reduce(0, AT, x, "mean", include_self=False); b = ones(3); x = ones(K)
F.fold(x, (1, 1999), (1, 1000)); x = ones(1, 1000, 1000)
F.avg_pool1d(x, 1000, 1); x = ones(1, 1, 1999)
F.adaptive_avg_pool1d(x, 1); x = ones(1, 1, N); dy = ones(1, 1, 1, of=3.0)
F.max_pool1d(x, 1000, 1); x = libdl.cat([ones(999) * 0, ones(1), ones(999) * 0])[None, None]
F.kl_div(x, ones(N, 1).to(x.dtype), reduction="batchmean"); x = ones(N, 1, of=-2.0)
F.multilabel_soft_margin_loss(x, ones(1, N).to(x.dtype)); x = ones(1, N, of=-3); dy = ones(of=2**12)
F.multi_margin_loss(x, libdl.tensor([0]), margin=2.0); x = ones(1, N); dy = ones(of=4096.0)
F.l1_loss(x, libdl.zeros_like(x), weight=libdl.ones_like(x) * 2); x = ones(N); dy = ones(of=4096.0)
F.interpolate(x, size=(100, 90), mode="bilinear"); x = ones(1, 1, 1, 1)
""".strip().splitlines()


def close(made, right, dtype):
    made, right = made.double(), right.double()
    right = libdl.where(right.abs() > libdl.finfo(dtype).max, float("inf") * right, right)
    made, right = (libdl.where(x.isinf() & right.isinf(), 0.0, x) for x in (made, right))
    return bool(((made - right).abs() <= 2 * UNIT[dtype] * right.abs() + 2 * TINY[dtype]).all())


def outcome(f, inputs, arrives, dtype):
    """The value, the gradients and the tangent of a unit tangent."""
    x = [t.detach().to(dtype).requires_grad_() for t in inputs]
    y = f(*x)
    dy = (ones(*y.shape) if arrives is None else arrives).to(dtype)
    dx = libdl.autograd.grad(y, x, dy)
    units = tuple(libdl.ones_like(t) for t in x)
    return [y, *dx, libdl.func.jvp(f, tuple(t.detach() for t in x), units)[1]]


def named(text):
    name, _, value = text.partition(" = ")
    return name, eval(value, globals())


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_halves_are_rounded_once(case, dtype):
    call, *operands = case.split("; ")
    given = dict(map(named, operands))
    arrives = given.pop("dy", None)
    f, inputs = eval(f"lambda {', '.join(given)}: {call}", globals()), list(given.values())
    made = outcome(f, inputs, arrives, dtype)
    right = outcome(f, [t.to(dtype) for t in inputs], arrives, libdl.float64)
    for part, (a, b) in enumerate(zip(made, right, strict=True)):
        assert a.dtype is dtype
        assert close(a, b, dtype), (part, a.flatten()[:4], b.flatten()[:4])


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_of_equal_elements_each_takes_a_share(dtype):
    share = 1.430511474609375e-05  # the nearest to 1 / 70000 in both
    x = libdl.ones(N, dtype=dtype, requires_grad=True)
    libdl.amax(x).backward()
    assert x.grad[0].item() == share and x.grad[N - 1].item() == share


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_sums_of_squares_whose_product_is_no_float16(dtype):
    x, apart = libdl.full((2, 1000), 4.0, dtype=dtype), libdl.tensor([-1, -1])
    assert F.cosine_embedding_loss(x, x, apart).item() == 1
    assert F.cosine_embedding_loss(x * 0 + 2.0**-13, x, apart).item() == 1


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_five_thousand_ones(dtype):
    total = {libdl.float16: 5000.0, libdl.bfloat16: 4992.0}[dtype]
    at, one = libdl.zeros(5000, dtype=libdl.int64), libdl.ones(5000, dtype=dtype)
    zero = libdl.zeros(1, dtype=dtype)
    assert zero.scatter_add(0, at, one).item() == total
    assert zero.index_add(0, at, one).item() == total
    assert zero.index_put((at,), one, accumulate=True).item() == total
    x = libdl.zeros(1, dtype=dtype, requires_grad=True)
    x[at].backward(one)
    assert x.grad.item() == total


def test_places_of_a_larger_whole_keep_the_rest():
    """Sums that go through a number for each place write no other, and read strided tensors."""
    whole = libdl.arange(90_000).reshape(300, 300).to(libdl.bfloat16).t()
    before = whole.clone()
    at = libdl.tensor([5, -1, 5, 5, 7])
    whole.index_add_(0, at, libdl.full((5, 300), 0.25, dtype=libdl.bfloat16))
    right = before.float()
    for row in at.tolist():
        right[row] += 0.25
    assert libdl.equal(whole, right.bfloat16())


# -- float32 ---------------------------------------------------------------------------------------

MANY = 1_000_000
TENTH = libdl.full((MANY,), 0.1)  # a sum in sequence is 0.9 % off
RIGHT = 0.1 * MANY
TO_ONE = libdl.zeros(MANY, dtype=libdl.int64)


def grad_of(f, x, dy):
    x = x.clone().requires_grad_()
    f(x).backward(dy)
    return x.grad


LONG = {
    "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(TENTH.reshape(1, 1, 1000, 1000), 1) * MANY,
    "adaptive_avg_pool2d in 2": lambda: (
        F.adaptive_avg_pool2d(TENTH.reshape(1, 1, 1000, 1000), 2) * MANY
    ),
    "avg_pool1d": lambda: F.avg_pool1d(TENTH[None, None], MANY - 1) * MANY,
    "avg_pool3d": lambda: F.avg_pool3d(TENTH.reshape(1, 1, 100, 100, 100), 100) * MANY,
    "of channels that are adjacent": lambda: (
        F.avg_pool2d(TENTH.reshape(1, 500, 1000, 2).permute(0, 3, 1, 2), (500, 999)) * MANY
    ),
    "lp_pool": lambda: F.lp_pool1d(TENTH[None, None], 1.0, MANY),
    "index_add": lambda: libdl.zeros(1).index_add(0, TO_ONE, TENTH),
    "index_add of rows": lambda: libdl.zeros(1, 2).index_add(
        0, TO_ONE, TENTH[:, None].expand(-1, 2)
    ),
    "scatter_add": lambda: libdl.zeros(1).scatter_add(0, TO_ONE, TENTH),
    "scatter_add of columns": lambda: libdl.zeros(1, 2).scatter_add(
        0, TO_ONE[:, None].expand(-1, 2), TENTH[:, None].expand(-1, 2)
    ),
    "index_put": lambda: libdl.zeros(1).index_put((TO_ONE,), TENTH, accumulate=True),
    "index_put apart": lambda: libdl.zeros(2, 3, 2).index_put(
        (TO_ONE, None, TO_ONE + 1), libdl.tensor(0.1), accumulate=True
    )[0, :, 1],
    "gather": lambda: grad_of(lambda x: x.gather(0, TO_ONE), libdl.zeros(1), TENTH),
    "embedding": lambda: grad_of(
        lambda w: F.embedding(TO_ONE, w), libdl.zeros(1, 2), TENTH[:, None].expand(-1, 2)
    ),
    "embedding_bag": lambda: F.embedding_bag(TO_ONE[None], libdl.full((1, 2), 0.1), mode="sum"),
    "embedding_bag mean": lambda: (
        MANY * F.embedding_bag(TO_ONE[None], libdl.full((1, 2), 0.1), mode="mean")
    ),
    "bincount": lambda: libdl.bincount(TO_ONE, TENTH),
}


@pytest.mark.parametrize("name", LONG)
def test_a_million_tenths(name):
    made = LONG[name]().double().flatten()
    assert ((made - RIGHT).abs() <= 2e-6 * RIGHT).all(), made


def test_smoothed_losses_of_many_classes():
    x, target = libdl.zeros(1, MANY), libdl.tensor([3])
    weight = TENTH.clone()
    made = F.cross_entropy(x, target, weight, label_smoothing=1.0, reduction="sum").item()
    assert abs(made / (0.1 * 13.815510557964274) - 1) < 2e-6
    rows = libdl.zeros(MANY, 2).t()  # classes further apart than rows
    made = F.cross_entropy(rows, libdl.tensor([3, 4]), weight, label_smoothing=1.0, reduction="sum")
    assert abs(made.item() / (0.2 * 13.815510557964274) - 1) < 2e-6


@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "inside"])
def test_the_spread_beside_a_large_mean(layout):
    """The mean's rounding, of half a unit in a million, would be seen in the spread."""
    x = 1e6 + (libdl.arange(100_000) % 1000).double() / 500 + 0.03
    x = x.float()
    right = x.double().std()
    if layout == "rows":
        made = x.expand(3, -1).std(1)
    elif layout == "columns":
        made = x[:, None].expand(-1, 5).contiguous().std(0)
    elif layout == "strided":
        made = libdl.stack([x, x], 1)[:, 1].std()
    else:
        made = x.reshape(10, 1, 100, 100).expand(-1, 3, -1, -1).std((0, 2, 3))
    assert ((made.double() - right).abs() <= 1e-6 * right).all(), (made, right)


@pytest.mark.parametrize("f", [LONG["scatter_add"], LONG["index_add of rows"], LONG["avg_pool1d"]])
def test_the_number_of_threads_changes_no_bit(f):
    threads = libdl.get_num_threads()
    try:
        libdl.set_num_threads(1)
        alone = f()
        libdl.set_num_threads(3)
        assert libdl.equal(f(), alone)
    finally:
        libdl.set_num_threads(threads)
