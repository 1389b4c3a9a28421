# SPDX-License-Identifier: Apache-2.0
"""Gradients of a whole batch in one pass against one pass for each: of the operators whose rule
takes a batch, and of others, whose rule runs for one gradient after another."""

import pytest

import libdl
from libdl import func, nn
from libdl.autograd import functional
from libdl.nn import functional as F
from libdl.utils.checkpoint import checkpoint

float64 = libdl.float64
ROW = libdl.tensor([0, 2, 1, 2])
PLACES = libdl.tensor([[0, 2, 1], [1, 1, 3], [3, 0, 0]])
MASK = libdl.tensor([[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0]]).bool()
I2 = libdl.tensor([1, 0])


def put(a, key, value):
    copy = a.clone()
    copy[key] = value
    return copy


# name: (function, the shapes of its arguments)
CASES = {
    # elementwise, and operands that are broadcast
    "sin": (libdl.sin, (3, 4)),
    "mul": (lambda a, b: a * b, (3, 4), (4,)),
    "mul, both broadcast": (lambda a, b: a * b, (3, 1), (1, 4)),
    "mul, 0-d": (lambda a, b: a * b, (), (3,)),
    "mul, both 0-d": (lambda a, b: a * b, (), ()),
    "relu": (libdl.relu, (3, 4)),
    "gelu": (F.gelu, (3, 4)),
    "gather of nothing": (lambda a: libdl.gather(a, 0, libdl.empty(0, dtype=int)), (3, 4)),
    "gather of nothing, wide": (
        lambda a: libdl.gather(a, 1, libdl.empty(2, 0, 3, dtype=int)),
        (3, 4),
    ),
    "gather of nothing, 0-d": (lambda a: libdl.gather(a, 0, libdl.empty(0, dtype=int)), ()),
    "where": (lambda a, b: libdl.where(MASK, a, b), (3, 4), (4,)),
    "lerp": (libdl.lerp, (3, 4), (3, 1), (4,)),
    "floor": (libdl.floor, (3,)),
    "maximum": (libdl.maximum, (3, 4), (4,)),
    "pow": (lambda a: a.abs() ** 1.5, (3, 4)),
    "masked_fill": (lambda a: a.masked_fill(MASK, 0.5), (3, 4)),
    "to": (lambda a: a.float().double() * a, (3, 4)),
    # views
    "t": (lambda a: a.t() * 1, (3, 4)),
    "permute": (lambda a: a.permute(2, 0, 1) * 2, (3, 4, 2)),
    "view": (lambda a: a.view(2, 6) * 2, (3, 4)),
    "reshape, 0-d": (lambda a: a.reshape(1) * 2, ()),
    "expand": (lambda a: a.expand(5, 3, 4) * 2, (3, 1)),
    "expand, 0-d": (lambda a: a.expand(5, 3) * 2, ()),
    "select": (lambda a: a[:, 1], (3, 4)),
    "slice": (lambda a: a[1:, ::2], (3, 4)),
    "diagonal": (lambda a: a.diagonal(1, -2, -1), (2, 3, 4)),
    "unfold": (lambda a: a.unfold(1, 2, 1), (3, 4)),
    "unfold, 0-d": (lambda a: a.unfold(0, 1, 1), ()),
    "as_strided": (lambda a: a.as_strided((2, 2), (1, 2)), (3, 4)),
    "squeeze": (lambda a: a.unsqueeze(1).squeeze(), (3, 4)),
    "split": (lambda a: a.split(2, 1), (3, 4)),
    "split, one part": (lambda a: a.split(2, 1)[1] * 2, (3, 4)),
    "unbind": (lambda a: a.unbind(1)[2], (3, 4)),
    # reductions
    "sum": (libdl.sum, (3, 4)),
    "sum, dim": (lambda a: a.sum(1), (3, 4)),
    "sum, keepdim": (lambda a: a.sum(1, keepdim=True), (3, 4)),
    "mean, 0-d": (libdl.mean, ()),
    "mean": (lambda a: a.mean(0), (3, 4)),
    "amax": (lambda a: a.amax(1), (3, 4)),
    "amax, ties": (lambda a: a.sign().add(0 * a).amax(1), (3, 4)),
    "max": (lambda a: a.max(1)[0], (3, 4)),
    "max, 0-d": (lambda a: a.max(0)[0], ()),
    "var": (lambda a: a.var(1), (3, 4)),
    "std": (lambda a: a.std(), (3, 4)),
    "std, dim": (lambda a: a.std(0), (3, 4)),
    **{f"norm {p}": (lambda a, p=p: a.norm(p, dim=1), (3, 4)) for p in (0, 0.5, 1, 2, 3, 1e999)},
    "logsumexp": (lambda a: a.logsumexp(1), (3, 4)),
    "prod": (lambda a: a.prod(1), (3, 4)),
    "cumsum": (lambda a: a.cumsum(1), (3, 4)),
    "cumsum, 0-d": (lambda a: a.cumsum(0), ()),
    "cumprod": (lambda a: a.cumprod(0), (3, 4)),
    "softmax": (lambda a: a.softmax(0), (3, 4)),
    "log_softmax": (lambda a: a.log_softmax(-1), (3, 4)),
    "softmax, 0-d": (lambda a: a.softmax(0), ()),
    # products
    "mm": (libdl.mm, (3, 4), (4, 2)),
    "mv": (libdl.mv, (3, 4), (4,)),
    "bmm": (libdl.bmm, (2, 3, 4), (2, 4, 3)),
    "matmul": (libdl.matmul, (2, 1, 3, 4), (3, 4, 2)),
    "addmm": (libdl.addmm, (2,), (3, 4), (4, 2)),
    "linear, a vector": (F.linear, (4,), (5, 4), (5,)),
    "linear": (F.linear, (2, 3, 4), (5, 4), (5,)),
    "linear, no bias": (F.linear, (3, 4), (5, 4)),
    # joining, ordering, indexing
    "cat": (lambda a, b: libdl.cat([a, b], 1), (3, 4), (3, 2)),
    "cat, empty": (lambda a, b: libdl.cat([a, b]), (0,), (3, 2)),
    "stack": (lambda a, b: libdl.stack([a, b], 1), (3, 4), (3, 4)),
    "flip": (lambda a: a.flip(1), (3, 4)),
    "flip, 0-d": (lambda a: a.flip(0), ()),
    # dimensions counted from the last
    "flip of the last": (lambda a: a.flip(-1), (3, 4)),
    "flip of both": (lambda a: a.flip(0, -1), (3, 4)),
    "roll of the last": (lambda a: a.roll(1, -1), (3, 4)),
    "rot90 of the last": (lambda a: a.rot90(1, (-2, -1)), (3, 4)),
    "cat of the last": (lambda a, b: libdl.cat([a, b], -1), (3, 4), (3, 2)),
    "cumsum of the last": (lambda a: a.cumsum(-1), (3, 4)),
    "sum of the last": (lambda a: a.sum(-1) * 2, (3, 4)),
    "amax of the last": (lambda a: a.amax((-1,)), (3, 4)),
    "softmax of the last but one": (lambda a: a.softmax(-2), (3, 4)),
    "gather of the last": (lambda a: a.gather(-1, PLACES), (3, 4)),
    "index_select of the last": (lambda a: a.index_select(-1, ROW), (3, 4)),
    "unfold of the last": (lambda a: a.unfold(-1, 2, 1), (3, 4)),
    "transpose of the last": (lambda a: a.transpose(-1, -2) * 2, (3, 4)),
    "select of the last": (lambda a: a.select(-1, 2), (3, 4)),
    "sort": (lambda a: a.sort(1)[0], (3, 4)),
    "gather": (lambda a: a.gather(1, PLACES), (3, 4)),
    "gather, 0-d index": (lambda a: a.gather(0, I2[0]), (3,)),
    "gather, 0-d": (lambda a: a.gather(0, libdl.tensor([0, 0])), ()),
    "index": (lambda a: a[:, ROW], (3, 4)),
    "index, neighbours": (lambda a: a[PLACES[:2, :2], I2], (4, 4, 2)),
    "index, apart": (lambda a: a[PLACES[:2, :2] % 3, :, I2], (3, 4, 2)),
    "index, mask": (lambda a: a[MASK], (3, 4)),
    "index_select": (lambda a: a.index_select(1, ROW), (3, 4)),
    "index_select, 0-d": (lambda a: a.index_select(0, libdl.tensor([0])), ()),
    "embedding": (lambda w: F.embedding(ROW, w), (3, 4)),
    "index_put": (lambda a, b: a.index_put((ROW[:2],), b), (3, 4), (2, 4)),
    "scatter": (lambda a, b: a.scatter(1, PLACES, b), (3, 4), (3, 3)),
    # in place
    "mul_": (lambda a: a.clone().mul_(a), (3, 4)),
    "x[k] = y": (lambda a, b: put(a, (slice(None), 1), b), (3, 4), (3,)),
    "copy_": (lambda a, b: a.clone().copy_(b) + a, (3, 4), (4,)),
    # layers
    "layer_norm": (lambda a, w, b: F.layer_norm(a, (4,), w, b), (2, 3, 4), (4,), (4,)),
    "layer_norm, all": (lambda a, w, b: F.layer_norm(a, (3, 4), w, b), (3, 4), (3, 4), (3, 4)),
    "batch_norm": (lambda a, w, b: F.batch_norm(a, None, None, w, b, True), (3, 4), (4,), (4,)),
    "conv2d": (lambda a, w, b: F.conv2d(a, w, b, padding=1), (2, 3, 5, 5), (4, 3, 3, 3), (4,)),
    "conv1d, strides": (lambda a, w: F.conv1d(a, w, stride=2, dilation=2), (2, 3, 9), (4, 3, 2)),
    "conv2d, groups": (
        lambda a, w, b: F.conv2d(a, w, b, groups=2, padding=1),
        (2, 4, 3, 4),
        (6, 2, 3, 3),
        (6,),
    ),
    "conv3d": (F.conv3d, (1, 2, 3, 3, 3), (2, 2, 2, 2, 2), (2,)),
    "conv_transpose2d": (
        lambda a, w, b: F.conv_transpose2d(a, w, b, stride=2, padding=1),
        (2, 3, 3, 4),
        (3, 4, 3, 3),
        (4,),
    ),
    "conv_transpose1d, groups": (
        lambda a, w: F.conv_transpose1d(a, w, groups=2),
        (2, 4, 5),
        (4, 3, 2),
    ),
    "max_pool2d": (lambda a: F.max_pool2d(a, 2), (2, 3, 4, 4)),
    "attention": (F.scaled_dot_product_attention, (2, 3, 4), (2, 3, 4), (2, 3, 4)),
    "cdist": (libdl.cdist, (3, 4), (2, 4)),
    "unused": (lambda a, b: a * 2, (3,), (2,)),
}
COMPLEX = {
    "mul": (lambda a, b: a * b, (3, 4), (4,)),
    "mm": (libdl.mm, (3, 4), (4, 2)),
    "bmm": (libdl.bmm, (2, 3, 4), (2, 4, 2)),
    "linear": (F.linear, (3, 4), (5, 4)),
    "conv1d": (lambda a, w: F.conv1d(a, w, groups=2), (2, 4, 5), (4, 2, 3)),
    "abs": (libdl.abs, (3,)),
    "real": (libdl.real, (3,)),
    "view_as_real": (libdl.view_as_real, (3,)),
    "norm": (lambda a: a.norm(), (3, 4)),
    "var": (lambda a: a.var(1), (3, 4)),
    "std": (lambda a: a.std(1), (3, 4)),
    "write of a part": (lambda a: put(a, 0, a[1].real * 2), (3,)),
}
BATCH = 5


def compare(function, shapes, dtype, create_graph, close):
    libdl.manual_seed(sum(map(len, shapes)))
    xs = [libdl.randn(shape, dtype=dtype).requires_grad_() for shape in shapes]
    found = function(*xs)
    ys = found if isinstance(found, tuple) else (found,)
    weights = [libdl.randn((BATCH, *y.shape), dtype=y.dtype) for y in ys]
    options = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True}
    together = libdl.autograd.grad(ys, xs, weights, is_grads_batched=True, **options)
    apart = [libdl.autograd.grad(ys, xs, [w[k] for w in weights], **options) for k in range(BATCH)]
    for batch, rows in zip(together, zip(*apart, strict=True), strict=True):
        assert (batch is None) == (rows[0] is None)
        if batch is not None:
            assert batch.shape == (BATCH, *rows[0].shape) and batch.dtype == rows[0].dtype
            close(batch, libdl.stack(list(rows)))
    if create_graph:
        sums = [
            sum((g.abs() ** 2).sum() for g in gradients if g is not None and g.requires_grad)
            for gradients in (
                together,
                [libdl.stack(list(c)) for c in zip(*apart, strict=True) if c[0] is not None],
            )
        ]
        if isinstance(sums[0], libdl.Tensor):
            second = [
                libdl.autograd.grad(s, xs, retain_graph=True, materialize_grads=True) for s in sums
            ]
            for a, b in zip(*second, strict=True):
                close(a, b)


def close64(a, b):
    assert libdl.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True), (a, b)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_its_gradients(name, create_graph):
    function, *shapes = CASES[name]
    compare(function, shapes, float64, create_graph, close64)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", COMPLEX)
def test_a_batch_of_complex_gradients(name, create_graph):
    function, *shapes = COMPLEX[name]
    compare(function, shapes, libdl.complex128, create_graph, close64)


@pytest.mark.parametrize("dtype", [libdl.float16, libdl.bfloat16], ids=["half", "bfloat16"])
@pytest.mark.parametrize(
    "name",
    [
        "mul",
        "mul, 0-d",
        "sum",
        "mean",
        "var",
        "std",
        "norm 2",
        "logsumexp",
        "amax",
        "softmax",
        "linear",
        "mm",
        "addmm",
        "layer_norm",
    ],
)
def test_a_batch_in_16_bits(name, dtype):
    function, *shapes = CASES[name]

    def close(a, b):
        assert libdl.allclose(a.double(), b.double(), rtol=0.03, atol=0.03), (a, b)

    compare(function, shapes, dtype, False, close)


# -- Jacobians ------------------------------------------------------------------------------------


def one_row_at_a_time(f, x):
    return func.jacrev(f, chunk_size=1)(x)


@pytest.mark.parametrize("chunk_size", [None, 2, 3, 100])
def test_jacrev_by_chunks(chunk_size):
    w = libdl.arange(12, dtype=float64).view(4, 3).sin()
    f = lambda x: libdl.tanh(w @ x) * x.sum()  # noqa: E731
    x = libdl.tensor([0.3, -1.0, 2.0], dtype=float64)
    calls = []
    found = func.jacrev(lambda x: calls.append(x) or f(x), chunk_size=chunk_size)(x)
    assert len(calls) == 1
    close64(found, func.jacfwd(f)(x))
    mapped = libdl.vmap(func.jacrev(f, chunk_size=chunk_size))(libdl.stack([x, x + 1]))
    close64(mapped, libdl.stack([func.jacfwd(f)(x), func.jacfwd(f)(x + 1)]))
    with pytest.raises(ValueError, match="chunk_size is 0"):
        func.jacrev(f, chunk_size=0)


def test_jacrev_of_more_rows_than_a_pass_takes():
    x = libdl.linspace(-1, 1, 600, dtype=float64)
    f = lambda x: x.sin() * x.sum()  # noqa: E731
    wanted = x.cos().diag() * x.sum() + x.sin().unsqueeze(1)
    close64(func.jacrev(f)(x), wanted)
    close64(functional.jacobian(f, x), wanted)


def test_large_rows_go_one_by_one():
    from libdl.func._history import rows_at_once

    y, x = libdl.zeros(300), libdl.zeros(1000)
    assert rows_at_once(300, [y], [x]) == 256 and rows_at_once(40, [y], [x]) == 40
    assert rows_at_once(8, [y], [libdl.zeros(1).expand(1 << 20)]) == 8
    assert rows_at_once(9, [y], [libdl.zeros(1).expand(1 << 20)]) == 1
    assert rows_at_once(0, [y[:0]], [x]) == 1 and rows_at_once(0, [y[:0]], [x[:0]]) == 1


NESTED = {
    "jacrev of jacrev": lambda f: func.jacrev(func.jacrev(f)),
    "jacrev of jacfwd": lambda f: func.jacrev(func.jacfwd(f)),
    "hessian": func.hessian,
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_jacobians(name):
    w = libdl.arange(6, dtype=float64).view(2, 3).cos()
    f = lambda x: (w @ x.tanh()) ** 2 * x.prod()  # noqa: E731
    x = libdl.tensor([0.3, -1.0, 2.0], dtype=float64)
    wanted = func.jacfwd(func.jacfwd(f))(x)
    close64(NESTED[name](f)(x), wanted)
    several = libdl.stack([x, x.flip(0)])
    mapped = libdl.vmap(NESTED[name](f))(several)
    close64(mapped[1], func.jacfwd(func.jacfwd(f))(several[1]))
    # and the gradient through it
    through = func.grad(lambda x: NESTED[name](f)(x).square().sum())(x)
    close64(through, func.grad(lambda x: func.jacfwd(func.jacfwd(f))(x).square().sum())(x))


def test_structures_of_batched_jacobians():
    def f(p, q):
        return {"a": p["w"] @ q, "b": (q.sum(), q[:0])}, q.detach() * 2

    p = {"w": libdl.arange(6, dtype=float64).view(2, 3), "unused": libdl.ones(2, dtype=float64)}
    q = libdl.tensor([1.0, 2.0, 3.0], dtype=float64)
    found, aux = func.jacrev(f, argnums=(0, 1), has_aux=True)(p, q)
    assert aux.tolist() == [2, 4, 6]
    assert found["a"][0]["w"].tolist() == [[[1, 2, 3], [0, 0, 0]], [[0, 0, 0], [1, 2, 3]]]
    assert found["a"][0]["unused"].tolist() == [[0, 0], [0, 0]]
    close64(found["a"][1], p["w"])
    assert found["b"][0][1].tolist() == [1, 1, 1]
    assert found["b"][1][0]["w"].shape == (0, 2, 3) and found["b"][1][1].shape == (0, 3)
    with pytest.raises(RuntimeError, match="wanted floating ones"):
        func.jacrev(lambda x: x.argsort())(q)


def test_random_functions_are_called_once():
    libdl.manual_seed(3)
    x = libdl.ones(6, dtype=float64)
    found = func.jacrev(lambda x: F.dropout(x, 0.5) * libdl.rand(6, dtype=float64))(x)
    libdl.manual_seed(3)
    wanted = F.dropout(x, 0.5) * libdl.rand(6, dtype=float64)
    close64(found, wanted.diag())


def test_running_statistics_are_written_once():
    norm = nn.BatchNorm1d(3).double()
    x = libdl.arange(12, dtype=float64).view(4, 3)
    found = func.jacrev(lambda x: norm(x).sum(0))(x)
    assert norm.num_batches_tracked == 1
    close64(norm.running_mean, 0.1 * x.mean(0))
    assert found.abs().max() < 1e-9


def test_hooks_and_custom_functions_see_one_row_after_another():
    seen = []

    class Double(libdl.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            seen.append(tuple(g.shape))
            return g * 2

    x = libdl.ones(3, dtype=float64, requires_grad=True)
    y = Double.apply(x)
    y.register_hook(lambda g: seen.append("hook") or g * 5)
    (rows,) = libdl.autograd.grad(y.square(), x, libdl.eye(3, dtype=float64), is_grads_batched=True)
    close64(rows, 40 * libdl.eye(3, dtype=float64))
    assert sorted(map(str, seen)) == ["(3,)"] * 3 + ["hook"] * 3


def test_a_batch_unpacks_a_saved_value_once():
    unpacked, runs = [], []
    pack, unpack = (lambda t: t), (lambda t: unpacked.append(t) or t)
    x = libdl.tensor([0.3, -1.0, 2.0], dtype=float64)

    def f(x):
        runs.append(x)
        return (x.sin().cumprod(0) * x).cumprod(0)  # rules of one gradient

    wanted = func.jacfwd(f)(x)
    with libdl.autograd.graph.saved_tensors_hooks(pack, unpack):
        close64(func.jacrev(f)(x), wanted)
    assert len(unpacked) == len(set(map(id, unpacked))) > 3
    runs.clear()
    close64(func.jacrev(lambda x: checkpoint(f, x, use_reentrant=False))(x), wanted)
    assert len(runs) == 2


def test_hooks_of_several_tensors_see_a_pass_for_each_row():
    x = libdl.ones(2, requires_grad=True)
    a, b = x * 2, x * 3
    seen = []
    handle = libdl.autograd.graph.register_multi_grad_hook((a, b), lambda g: seen.append(len(g)))
    (rows,) = libdl.autograd.grad(a * b, x, libdl.eye(2), is_grads_batched=True, retain_graph=True)
    assert rows.tolist() == [[12, 0], [0, 12]] and seen == [2, 2]
    functional.jacobian(lambda x: x * 2, x)
    handle.remove()


def test_what_a_batch_is_refused_for():
    x = libdl.ones(3, requires_grad=True)
    y = x * x
    with pytest.raises(RuntimeError, match=r"has shape \[2, 2\], wanted \[2, 3\]"):
        libdl.autograd.grad(y, x, libdl.ones(2, 2), is_grads_batched=True)
    (rows,) = libdl.autograd.grad(y, x, libdl.ones(2, 3), is_grads_batched=True)
    assert rows.shape == (2, 3)
    with pytest.raises(RuntimeError, match="freed"):
        libdl.autograd.grad(y, x, libdl.ones(2, 3), is_grads_batched=True)
