# SPDX-License-Identifier: Apache-2.0
"""How results lie in memory: elementwise ones as their operands do, by PyTorch's rule."""

import copy

import libdl
import pytest
from answered import parsed

# What PyTorch 2.15 answers: of an expression and operands, each with its shape, strides and dtype
# if it is not float32, the result's strides.
ORDERS = parsed(
    """
x.exp(); x 4 3 4 by 3 1 12 int64  # -> [3, 1, 12]
x.exp(); x 2 2 by 2 1  # -> [2, 1]
x * 2; x 2 4 2 by 4 0 8  # -> [1, 2, 8]
x * 2; x 2 4 by 0 2  # -> [4, 1]
2 - x; x 2 2 by 1 2  # -> [1, 2]
2 - x; x 2 4 4 by 1 8 2  # -> [1, 8, 2]
x > 3; x 2 3 3 by 1 2 6  # -> [1, 2, 6]
x > 3; x 3 4 4 by 16 4 1  # -> [16, 4, 1]
x.clone(); x 3 3 3 by 1 6 36  # -> [1, 3, 9]
x.clone(); x 3 2 4 by 8 1 0  # -> [8, 4, 1]
x.double(); x 2 4 2 4 by 1 8 32 2  # -> [1, 8, 32, 2]
x.double(); x 4 3 3 by 9 3 1  # -> [9, 3, 1]
x.to(T.int32); x 3 2 by 2 1 int64  # -> [2, 1]
x.to(T.int32); x 2 3 3 by 9 1 3  # -> [9, 1, 3]
T.zeros_like(x); x 2 4 2 by 4 1 16  # -> [4, 1, 8]
T.zeros_like(x); x 2 4 by 8 1  # -> [4, 1]
T.empty_like(x); x 3 3 by 1 3 int64  # -> [1, 3]
T.empty_like(x); x 4 3 2 by 6 1 3  # -> [6, 1, 3]
T.rand_like(x); x 3 3 by 3 1  # -> [3, 1]
T.rand_like(x); x 4 3 3 by 36 1 6  # -> [9, 1, 3]
T.nn.functional.gelu(x.float()); x 4 2 4 3 by 4 1 48 16  # -> [2, 1, 24, 8]
T.nn.functional.gelu(x.float()); x 3 3 by 6 1 int64  # -> [3, 1]
T.clamp(x, 2, 5); x 3 4 2 by 8 1 4  # -> [8, 1, 4]
T.clamp(x, 2, 5); x 3 3 4 by 12 1 3  # -> [12, 1, 3]
x.contiguous(); x 4 3 3 by 3 24 1  # -> [9, 3, 1]
x.contiguous(); x 4 2 4 by 1 0 8 int64  # -> [8, 4, 1]
x.masked_fill(x > 3, 0); x 4 2 2 by 4 2 1 int64  # -> [4, 2, 1]
x.masked_fill(x > 3, 0); x 2 4 2 by 4 1 8  # -> [8, 2, 1]
T.tril(x); x 2 2 by 1 4  # -> [2, 1]
T.tril(x); x 3 3 4 4 by 3 1 36 9  # -> [48, 16, 4, 1]
T.flip(x, [0]); x 3 3 3 by 9 3 1  # -> [9, 3, 1]
T.flip(x, [0]); x 2 3 4 by 12 4 1 int64  # -> [12, 4, 1]
T.full_like(x, 3); x 3 2 2 by 0 2 1  # -> [4, 2, 1]
T.full_like(x, 3); x 3 4 by 4 1  # -> [4, 1]
T.nn.functional.dropout(x.float(), 0.5); x 4 4 4 by 16 1 4  # -> [16, 1, 4]
T.nn.functional.dropout(x.float(), 0.5); x 2 3 3 3 by 3 6 0 1  # -> [9, 18, 3, 1]
T.nn.functional.logsigmoid(x.float()); x 3 2 3 by 24 1 4  # -> [6, 3, 1]
T.nn.functional.logsigmoid(x.float()); x 3 2 2 by 1 3 0 int64  # -> [4, 2, 1]
T.isnan(x); x 2 3 2 by 6 1 3  # -> [6, 1, 3]
T.isnan(x); x 3 3 4 by 0 12 1  # -> [12, 4, 1]
x.reshape(-1); x 3 4 4 by 32 4 1 int64  # -> [1]
x.reshape(-1); x 2 2 3 by 3 6 0 int64  # -> [1]
x.to(T.complex64).abs(); x 2 3 3 by 9 0 3 int64  # -> [9, 3, 1]
x.to(T.complex64).abs(); x 3 3 2 by 1 3 9  # -> [1, 3, 9]
x + y; x 2 3 4 by 3 0 6; y 2 3 4 by 1 8 2  # -> [1, 8, 2]
x + y; x 4 3 2 by 0 2 1 int64; y 4 3 2 by 0 2 1  # -> [6, 2, 1]
x + y; x 1 4 2 by 2 2 1; y 2 4 2 by 1 4 0  # -> [2, 4, 1]
x + y; x 2 3 2 by 12 4 1; y 2 3 2 by 12 4 1 int64  # -> [6, 2, 1]
x * y; x 2 4 2 by 4 1 8; y 2 4 1 by 1 2 1  # -> [4, 1, 8]
x * y; x 4 4 by 1 0; y 4 1 by 1 4  # -> [4, 1]
x * y; x 4 2 1 2 by 4 2 1 1; y 4 2 4 2 by 2 32 8 1  # -> [16, 8, 2, 1]
x * y; x 1 4 by 1 1; y 4 4 by 1 4  # -> [1, 4]
x < y; x 4 3 2 3 by 18 6 0 2; y 4 3 2 1 by 1 4 12 1  # -> [9, 3, 36, 1]
x < y; x 2 3 4 by 12 1 3; y 2 3 4 by 1 2 6  # -> [12, 1, 3]
x < y; x 2 4 3 by 4 1 16 int64; y 2 4 3 by 4 1 16  # -> [4, 1, 8]
x < y; x 2 3 3 by 9 3 1; y 2 3 3 by 1 4 24  # -> [9, 3, 1]
T.maximum(x, y); x 1 2 4 by 1 1 2; y 2 2 4 by 1 16 4  # -> [1, 2, 4]
T.maximum(x, y); x 3 4 2 2 by 16 1 4 8; y 3 4 2 2 by 16 1 4 8  # -> [16, 1, 4, 8]
T.maximum(x, y); x 4 1 3 by 1 1 4; y 4 2 3 by 12 1 2  # -> [2, 1, 8]
T.maximum(x, y); x 3 2 2 4 by 4 24 12 1; y 3 2 2 4 by 4 24 12 1  # -> [4, 24, 12, 1]
T.where(x > 3, x, y); x 2 3 by 3 1; y 2 1 by 1 1  # -> [3, 1]
T.where(x > 3, x, y); x 4 2 3 2 by 4 1 128 32; y 2 3 2 by 2 4 1  # -> [2, 1, 16, 8]
T.where(x > 3, x, y); x 2 3 2 3 by 1 24 12 2; y 2 1 2 3 by 6 6 3 1  # -> [1, 12, 6, 2]
T.where(x > 3, x, y); x 2 1 2 4 by 8 8 4 1; y 2 4 2 4 by 0 16 4 1  # -> [32, 8, 4, 1]
T.logical_and(x, y); x 2 2 3 2 by 6 24 1 48; y 2 2 3 2 by 6 24 1 48  # -> [3, 6, 1, 12]
T.logical_and(x, y); x 2 3 by 3 1; y 2 3 by 3 1 int64  # -> [3, 1]
T.logical_and(x, y); x 3 1 2 by 2 2 1; y 3 4 2 by 2 6 1  # -> [2, 6, 1]
T.logical_and(x, y); x 4 4 1 4 by 16 4 64 1; y 4 4 4 4 by 64 1 16 4  # -> [64, 4, 16, 1]
T.add(x, y, alpha=2); x 2 2 by 2 1; y 2 2 2 by 4 1 16  # -> [4, 2, 1]
T.add(x, y, alpha=2); x 1 4 4 by 16 4 1; y 2 4 4 by 1 32 4  # -> [1, 8, 2]
T.add(x, y, alpha=2); x 3 3 4 by 12 1 3; y 3 3 1 by 1 3 9  # -> [12, 1, 3]
T.add(x, y, alpha=2); x 3 2 by 2 1; y 3 2 by 2 1  # -> [2, 1]
T.where(x, y, z); x 2 3 2 by 0 2 1 bool; y 2 3 2 by 1 2 6; z  by   # -> [1, 4, 2]
2 ** x; x 3 4 by 1 3  # -> [4, 1]
x ** 2; x 3 4 by 1 3  # -> [1, 3]
x / y; x 2 by 1; y 2 2 by 1 2  # -> [1, 2]
x / y; x 2 4 4 by 4 1 8; y 2 4 1 by 1 2 1  # -> [4, 1, 8]
x / y; x 4 3 3 1 by 3 12 1 3; y 4 3 3 2 by 3 24 1 12  # -> [3, 24, 1, 12]
x / y; x 1 3 3 4 by 12 4 12 1; y 2 3 3 4 by 1 2 6 18  # -> [1, 8, 24, 2]
T.where(x > 3, y, z); x 2 2 3 by 1 12 4; y 2 2 3 by 1 2 4; z 2 2 3 by 0 1 4  # -> [1, 6, 2]
T.where(x > 3, y, z); x 2 2 3 by 2 1 4; y 2 2 3 by 12 3 1; z 2 2 3 by 0 6 1  # -> [2, 1, 4]
T.where(x > 3, y, z); x 2 3 4 by 0 1 3; y 2 3 4 by 3 1 6; z 2 3 4 by 1 2 12  # -> [12, 1, 3]
T.where(x > 3, y, z); x 3 3 2 by 1 6 36; y 3 3 2 by 3 1 9; z 3 3 2 by 6 2 1  # -> [1, 3, 9]
T.addcmul(x.float(), y.float(), z.float()); x 2 3 2 by 2 4 1; y 2 3 2 by 0 1 3; z 2 3 2 by 1 0 2
    # -> [2, 4, 1]
T.addcmul(x.float(), y.float(), z.float()); x 4 2 2 by 2 1 8; y 4 2 2 by 1 8 32; z 4 2 2 by 2 1 8
    # -> [2, 1, 8]
T.addcmul(x.float(), y.float(), z.float()); x 2 4 3 by 12 1 4; y 2 4 3 by 3 6 1; z 2 4 3 by 1 12 2
    # -> [12, 1, 4]
T.addcmul(x.float(), y.float(), z.float()); x 4 2 2 by 1 4 8; y 4 2 2 by 2 8 1; z 4 2 2 by 1 32 8
    # -> [1, 4, 8]
T.lerp(x.float(), y.float(), z.float()); x 2 4 3 by 4 1 0; y 2 4 3 by 12 1 4; z 2 4 3 by 0 1 4
    # -> [12, 1, 4]
T.lerp(x.float(), y.float(), z.float()); x 4 4 2 by 1 8 0; y 4 4 2 by 1 4 0; z 4 4 2 by 8 1 64
    # -> [1, 4, 16]
T.lerp(x.float(), y.float(), z.float()); x 4 2 4 by 1 16 0; y 4 2 4 by 1 4 8; z 4 2 4 by 8 1 2
    # -> [1, 4, 8]
T.lerp(x.float(), y.float(), z.float()); x 3 3 3 by 3 9 1; y 3 3 3 by 3 1 18; z 3 3 3 by 9 3 1
    # -> [3, 9, 1]
(x + y) * z; x 4 3 2 by 2 8 1; y 4 3 2 by 4 32 1; z 4 3 2 by 0 8 1  # -> [2, 8, 1]
(x + y) * z; x 4 3 2 by 6 2 0; y 4 3 2 by 2 8 1; z 4 3 2 by 2 8 1  # -> [6, 2, 1]
(x + y) * z; x 2 2 4 by 2 1 0; y 2 2 4 by 1 2 8; z 2 2 4 by 8 1 2  # -> [2, 1, 4]
(x + y) * z; x 3 3 2 by 6 1 3; y 3 3 2 by 3 1 9; z 3 3 2 by 3 1 9  # -> [6, 1, 3]
x.exp(); x 0 3 2 by 1 0 2  # -> [6, 2, 1]
x.exp(); x 1 4 3 by 5 1 4  # -> [5, 1, 4]
x + y; x 3 1 4 by 1 9 3; y 3 1 4 by 1 2 3  # -> [1, 12, 3]
x + y; x 2 3 by 3 1; y 2 3 by 1 2  # -> [3, 1]
x + y; x 2 3 by 1 2; y 2 3 by 3 1  # -> [1, 2]
x + y; x 1 3 by 3 1; y 2 3 by 1 2  # -> [1, 2]
"""
)[""]


def laid(shape, strides, dtype="float32", first=1):
    last = sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    elements = libdl.arange(first, first + (last + 1 if 0 not in shape else 1))
    return elements.to(getattr(libdl, dtype)).as_strided(shape, strides)


def steps(x, strides=None):
    """Without those of dimensions that nobody walks along."""
    return [s for n, s in zip(x.shape, strides or x.stride(), strict=True) if n > 1]


def operand(text):
    """Of 'x 2 3 by 3 1 int64'."""
    shape, _, strides = text[2:].partition(" by ")
    steps = [int(word) for word in strides.split() if word.isdigit()]
    dtypes = [word for word in strides.split() if not word.isdigit()]
    return laid(tuple(map(int, shape.split())), tuple(steps), *dtypes)


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.line)
def test_results_lie_as_in_pytorch(order):
    expression, *operands = order.line.split("; ")

    def result(change):
        names = {text[0]: change(operand(text)) for text in operands}
        libdl.manual_seed(7)
        return eval(expression, {"T": libdl, **names})

    found = result(lambda x: x)
    if found.numel():
        assert steps(found) == steps(found, order.value)
    if "empty" not in expression:
        row_major = result(lambda x: x.contiguous())
        assert found.dtype == row_major.dtype
        assert libdl.equal(found, row_major)  # to the last bit, also of what is drawn


def test_where_a_result_goes_decides_of_its_strides():
    x, y = laid((3, 4), (1, 3)), laid((3, 4), (1, 3), first=20)
    out = libdl.empty(3, 4)
    assert libdl.add(x, y, out=out) is out and out.stride() == (4, 1)
    assert libdl.equal(out, (x + y).contiguous())
    place = libdl.ones(3, 4)
    place += x
    assert place.stride() == (4, 1)
    place = libdl.ones(4, 3).T
    place.mul_(out).add_(1)
    assert place.stride() == (1, 3) and libdl.equal(place, out + 1)


@pytest.mark.parametrize(
    "expression",
    [
        "x.exp()",
        "x * 2",
        "x * x.detach()",
        "x.sigmoid()",
        "x.clone()",
        "x.tanh() * x",
        "x.t()",
        "x.double()",
    ],
)
@pytest.mark.parametrize(
    ("strides", "wanted"),
    [
        ((1, 3), (1, 3)),
        ((4, 1), (4, 1)),
        ((8, 2), (4, 1)),
        ((0, 1), (4, 1)),
    ],
)
def test_grad_lies_as_its_leaf_does(expression, strides, wanted):
    for create_graph in (False, True):
        x = laid((3, 4), strides).detach().requires_grad_()
        y = eval(expression)
        y.backward(libdl.ones(*reversed(y.shape), dtype=y.dtype).T, create_graph=create_graph)
        assert x.grad.stride() == wanted
        plain = x.detach().contiguous().requires_grad_()
        z = eval(expression, {"x": plain})
        z.backward(libdl.ones_like(z))
        assert libdl.equal(x.grad, plain.grad)
        y = eval(expression)
        y.sum().backward(create_graph=create_graph)
        assert x.grad.stride() == wanted
        x.grad = None


def test_gradients_lie_as_what_they_are_made_of():
    x = laid((3, 4), (1, 3)).requires_grad_()
    (dx,) = libdl.autograd.grad(x.sigmoid(), x, libdl.ones_like(x))
    assert dx.stride() == (1, 3)
    (dx,) = libdl.autograd.grad(x.sigmoid(), x, libdl.ones(3, 4))
    assert dx.stride() == (4, 1)


def test_memory_formats():
    x = laid((3, 4), (1, 3))
    assert x.clone(memory_format=libdl.preserve_format).stride() == (1, 3)
    assert x.clone(memory_format=libdl.contiguous_format).stride() == (4, 1)
    assert x.double(memory_format=libdl.contiguous_format).stride() == (4, 1)
    assert x.to(libdl.float64).stride() == (1, 3)
    assert x.to(libdl.float32, memory_format=libdl.contiguous_format) is x
    assert x.contiguous().stride() == (4, 1)
    assert copy.copy(libdl.contiguous_format) is libdl.contiguous_format
    assert copy.deepcopy(x).stride() == (1, 3)
    y = laid((3, 4), (1, 3)).requires_grad_()
    z = y.clone(memory_format=libdl.contiguous_format)
    z.backward(libdl.arange(12.0).view(3, 4))
    assert y.grad.tolist() == libdl.arange(12.0).view(3, 4).tolist()


@pytest.mark.parametrize(
    "function",
    [
        libdl.empty_like,
        libdl.zeros_like,
        libdl.ones_like,
        libdl.rand_like,
        libdl.randn_like,
        lambda x, **named: libdl.full_like(x, 3.0, **named),
        lambda x, **named: libdl.randint_like(x, 3, **named),
        libdl.clone,
    ],
)
def test_what_is_made_alike_lies_in_the_format_asked_for(function):
    x = libdl.arange(6.0).view(2, 3).t()
    assert function(x, memory_format=libdl.preserve_format).stride() == (1, 3)
    assert function(x, memory_format=libdl.contiguous_format).stride() == (2, 1)
    assert function(x, memory_format=libdl.channels_last).stride() == (1, 3)


def test_new_tensors_take_pytorchs_words():
    x = libdl.ones(2)
    assert x.new_zeros(size=(2, 2)).shape == (2, 2) and x.new_ones(size=[1]).tolist() == [1.0]
    assert x.new_empty(3, layout=libdl.strided, pin_memory=False).shape == (3,)
    assert x.new_full((2,), 3, layout=libdl.strided, pin_memory=False).tolist() == [3.0, 3.0]


def test_format_and_requires_grad_go_together():
    x = libdl.zeros_like(
        libdl.ones(2, 3).t(), memory_format=libdl.contiguous_format, requires_grad=True
    )
    assert x.is_leaf and x.requires_grad and x.is_contiguous()
    assert libdl.empty(2, 3, memory_format=libdl.contiguous_format).stride() == (3, 1)
    y = libdl.ones(2, 3, requires_grad=True)
    libdl.clone(y.t(), memory_format=libdl.contiguous_format).sum().backward()
    assert y.grad.tolist() == [[1.0] * 3] * 2


def test_elements_of_permuted_results_are_found():
    y = laid((3, 4), (1, 3)) * 2
    assert y.stride() == (1, 3)
    with pytest.raises(libdl.ShapeError):
        y.view(-1)
    rows = [[2 * (i + 3 * j + 1) for j in range(4)] for i in range(3)]
    assert y.tolist() == rows and y.numpy().tolist() == rows
    assert y.reshape(-1).tolist() == sum(rows, [])
    assert y[1].tolist() == rows[1] and y.sum(0).tolist() == [12, 30, 48, 66]
    assert libdl.from_dlpack(y).stride() == (1, 3)


@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "bool"])
@pytest.mark.parametrize("order", [(1, 0, 2), (2, 1, 0), (0, 2, 1), (2, 0, 1)])
def test_reductions_of_permuted_tensors_have_the_bits_of_row_major_ones(order, dtype):
    libdl.manual_seed(3)
    x = (libdl.rand(15, 21, 33) * 4 - 1).to(getattr(libdl, dtype)).permute(order)
    y = x.contiguous()
    assert not x.is_contiguous()
    for name in ("sum", "prod", "amax", "amin", "max", "argmax", "any", "all"):
        f = getattr(libdl, name)
        assert libdl.equal(f(x), f(y)), name
    assert libdl.equal(x.sum((0, 1, 2), keepdim=True), y.sum((0, 1, 2), keepdim=True))
    assert x.amax((0, 1, 2), keepdim=True).shape == (1, 1, 1)
    if dtype == "float32":
        for name in ("mean", "var", "norm"):
            assert libdl.equal(getattr(libdl, name)(x), getattr(libdl, name)(y)), name
        for dim in (0, 1, 2):
            dy = libdl.rand(x.shape).permute(2, 1, 0).contiguous().permute(2, 1, 0)
            results = []
            for z in (x, y):
                z = z.detach().requires_grad_()
                soft = libdl.softmax(z, dim)
                soft.backward(dy if z.is_contiguous() else dy.contiguous())
                results.append((soft.detach(), z.grad))
            assert all(libdl.equal(a, b) for a, b in zip(*results, strict=True))


def test_optimizers_step_over_any_order():
    """The state of a parameter that was permuted when the state was made, and is not any more."""
    for kind, options in (
        (libdl.optim.SGD, {"momentum": 0.9}),
        (libdl.optim.Adam, {"amsgrad": True}),
    ):
        steps_of = []
        for turn in (lambda t: t, lambda t: t.T.contiguous().T):
            w = libdl.arange(12.0).view(3, 4).requires_grad_()
            v = turn(libdl.arange(12.0).view(3, 4)).detach().requires_grad_()
            optimizer = kind([w, v], lr=0.1, **options)
            for _ in range(3):
                w.grad, v.grad = turn(libdl.ones(3, 4)), turn(libdl.full((3, 4), 2.0))
                optimizer.step()
                for state in optimizer.state.values():
                    for name, value in state.items():
                        if libdl.is_tensor(value) and value.dim() == 2:
                            state[name] = turn(value)
            steps_of.append((w.detach(), v.detach().contiguous()))
        assert all(libdl.equal(a, b) for a, b in zip(*steps_of, strict=True))


def test_gradcheck_takes_permuted_inputs():
    x = libdl.rand(3, 4, dtype=libdl.float64).T.requires_grad_()
    assert libdl.autograd.gradcheck(lambda x: x.sin() * x, (x,))
    assert libdl.autograd.gradgradcheck(lambda x: x.sin() * x, (x,))
    apart = libdl.rand(3, 4, dtype=libdl.float64)[:, ::2].requires_grad_()
    assert libdl.autograd.gradcheck(libdl.sin, (apart,))
    same = libdl.rand(3, dtype=libdl.float64).expand(2, 3).detach().requires_grad_()
    with pytest.raises(ValueError, match="input 1 has elements that share an address"):
        libdl.autograd.gradcheck(libdl.sin, (same,))
