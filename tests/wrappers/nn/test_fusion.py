# SPDX-License-Identifier: Apache-2.0
"""A batch normalisation that waits for the relu behind it (libdl/ops/nn/deferred_norm.h): the bits
are those of one operator after the other, and whatever happens between the two, nobody sees that
the first one came late. The reference is the same program with the normalised image read at
once."""

import copy
import os
import subprocess
import sys

import pytest

import libdl
from libdl.nn import functional as F

SHAPE = (3, 21, 7, 5)  # channels that fill no vector; 105 pixels are more than one run of 64


def drawn(*shape, seed=0, dtype=libdl.float32):
    return libdl.randn(*shape, generator=libdl.Generator().manual_seed(seed + sum(shape))).to(dtype)


def image(seed=0, dtype=libdl.float32):
    """As a convolution returns it: its form alone, with the channels innermost."""
    x = drawn(*SHAPE, seed=seed, dtype=dtype)
    return F.conv2d(x, libdl.eye(SHAPE[1], dtype=dtype).reshape(SHAPE[1], SHAPE[1], 1, 1))


def now(y):
    """Reads y, so that it waits no longer."""
    y.sum()
    return y


def later(y):
    return y


def held(f):
    """What f's result holds, in bytes."""
    cpu = libdl.device("cpu")
    before = libdl._C.memory_statistics(cpu)["allocated"]
    y = f()
    bytes = libdl._C.memory_statistics(cpu)["allocated"] - before
    del y
    return bytes


def test_a_normalised_image_that_nobody_has_read_takes_no_memory():
    x = libdl.cat([image()] * 40)  # 0.35 MB
    x = F.conv2d(x, libdl.eye(SHAPE[1]).reshape(SHAPE[1], SHAPE[1], 1, 1))
    normalised = held(lambda: F.batch_norm(x, None, None, training=True))
    assert normalised < 0.1 * x.numel() * 4


def block(read, dtype, training, in_place, residual):
    """relu(bn(x) + r) or relu(bn(x)); every result and every gradient."""
    x = image(dtype=dtype).detach().requires_grad_()
    x_used = F.conv2d(x, libdl.eye(SHAPE[1], dtype=dtype).reshape(SHAPE[1], SHAPE[1], 1, 1))
    w = drawn(SHAPE[1], seed=1, dtype=dtype).requires_grad_()
    b = drawn(SHAPE[1], seed=2, dtype=dtype).requires_grad_()
    mean = drawn(SHAPE[1], seed=3, dtype=dtype)
    var = drawn(SHAPE[1], seed=4, dtype=dtype).square() + 0.5
    r = image(seed=5, dtype=dtype).requires_grad_()
    y = read(F.batch_norm(x_used, mean, var, w, b, training=training))
    other = r * 1 if residual == "plain" else None
    if residual == "normalised":
        other = F.batch_norm(r * 1, None, None, training=True)
    if residual and in_place:
        y += other
    elif residual:
        y = other + y
    read(y)
    z = F.relu(y, inplace=in_place)
    z.backward(image(seed=6, dtype=dtype))
    return [z.detach(), x.grad, w.grad, b.grad, mean, var, r.grad]


@pytest.mark.parametrize("residual", [None, "plain", "normalised"])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64, libdl.bfloat16])
def test_all_bits_are_those_of_one_after_the_other(dtype, training, in_place, residual):
    mine = block(later, dtype, training, in_place, residual)
    theirs = block(now, dtype, training, in_place, residual)
    for a, b in zip(mine, theirs, strict=True):
        assert (a is None and b is None) or libdl.equal(a, b)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_bits_do_not_depend_on_threads(threads):
    before = libdl.get_num_threads()
    wanted = block(later, libdl.float32, True, True, None)
    try:
        libdl.set_num_threads(threads)
        mine = block(later, libdl.float32, True, True, None)
    finally:
        libdl.set_num_threads(before)
    assert all(a is None or libdl.equal(a, b) for a, b in zip(mine, wanted, strict=True))


def test_nan_passes_and_so_does_its_gradient():
    x = image()
    x[0, 0, 0, 0] = float("nan")
    w = libdl.ones(SHAPE[1])
    outcomes = []
    for read in later, now:
        leaf = x.detach().requires_grad_()
        y = read(F.batch_norm(leaf * 1, w * 0, w, training=False))
        z = F.relu(y)
        z.backward(libdl.full(SHAPE, 2.0))
        assert z[0, 0, 0, 0].isnan()
        outcomes.append(leaf.grad)
    assert libdl.equal(*(libdl.where(g.isnan(), libdl.full((), 7.0), g) for g in outcomes))
    assert outcomes[0][0, 0, 0, 0] == 2 / (1 + 1e-5) ** 0.5


# -- what is written meanwhile ------------------------------------------------------------------

WRITES = {
    "multiplied": lambda x: x.mul_(0),
    "by itself": lambda x: x.add_(x),
    "filled": lambda x: x.fill_(3),
    "copied to": lambda x: x.copy_(drawn(*SHAPE, seed=9)),
    "a part of it": lambda x: x[0].zero_(),
    "by NumPy": lambda x: x.numpy().fill(4),
    "relu": lambda x: x.relu_(),
    "given other data": lambda x: setattr(x, "data", libdl.zeros(SHAPE)),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_to_what_is_normalised_comes_after_it(write):
    x = image()
    wanted = now(F.batch_norm(x.clone(), None, None, training=True))
    y = F.batch_norm(x, None, None, training=True)
    WRITES[write](x)
    assert libdl.equal(y, wanted)
    copied = x.clone()
    assert libdl.equal(x, copied)


def test_a_write_to_what_is_added_comes_after_it():
    x, r = image(), image(seed=1)
    wanted = F.relu(now(F.batch_norm(x, None, None, training=True)) + r)
    y = F.batch_norm(x, None, None, training=True)
    y += r
    r.mul_(0)
    x.mul_(0)
    assert libdl.equal(F.relu(y), wanted)


def test_weights_count_as_they_were():
    x, w, b = image(), drawn(SHAPE[1], seed=1), drawn(SHAPE[1], seed=2)
    wanted = now(F.batch_norm(x, None, None, w, b, training=True))
    y = F.batch_norm(x, None, None, w, b, training=True)
    w.zero_()
    b.zero_()
    assert libdl.equal(y, wanted)


def test_the_gradient_passes_where_the_result_was_above_zero():
    """A bias that changes between forward and backward, which nothing forbids."""
    gradients = []
    for read in later, now:
        x = image().detach().requires_grad_()
        b = drawn(SHAPE[1], seed=2)
        z = F.relu(read(F.batch_norm(x * 1, None, None, None, b, training=True)))
        b.add_(100)
        z.backward(image(seed=6))
        gradients.append(x.grad)
    assert libdl.equal(*gradients)


def test_a_result_that_was_written_over_is_noticed():
    x = image().detach().requires_grad_()
    z = F.relu(F.batch_norm(x * 1, None, None, training=True))
    with libdl.no_grad():
        z.mul_(0)
    with pytest.raises(RuntimeError, match="relu"):
        z.sum().backward()


def test_a_result_that_was_written_through_data_counts_as_it_is():
    """As in PyTorch, where .data hides the write from autograd."""
    gradients = []
    for read in later, now:
        x = image().detach().requires_grad_()
        z = F.relu(read(F.batch_norm(x * 1, None, None, training=True)))
        z.data.zero_()
        z.backward(image(seed=6))
        gradients.append(x.grad)
    assert libdl.equal(*gradients)


# -- what looks on ------------------------------------------------------------------------------


def test_the_normalised_image_is_there_after_its_relu():
    x = image()
    y = F.batch_norm(x, None, None, training=True)
    z = F.relu(y)
    wanted = now(F.batch_norm(x, None, None, training=True))
    assert libdl.equal(y, wanted)
    assert libdl.equal(z, wanted.clamp(min=0))


def test_several_readers():
    gradients = []
    for read in later, now:
        x = image().detach().requires_grad_()
        y = read(F.batch_norm(x * 1, None, None, training=True))
        (F.relu(y) + F.relu(y) * y.sigmoid() + y).backward(image(seed=6))
        gradients.append(x.grad)
    assert libdl.equal(*gradients)


def test_hooks_and_kept_gradients():
    seen = []
    x = image().detach().requires_grad_()
    y = F.batch_norm(x * 1, None, None, training=True)
    y.retain_grad()
    y.register_hook(lambda g: seen.append(g))
    z = F.relu(y)
    dz = image(seed=6)
    z.backward(dz)
    wanted = libdl.where(z.detach() > 0, dz, libdl.zeros(()))
    assert libdl.equal(seen[0], wanted) and libdl.equal(y.grad, wanted)


def test_a_gradient_asked_for_in_between():
    x = image().detach().requires_grad_()
    y = F.batch_norm(x * 1, None, None, training=True)
    z = F.relu(y)
    dz = image(seed=6)
    (dy,) = libdl.autograd.grad(z, y, dz, retain_graph=True)
    dz.zero_()  # after dy
    assert libdl.equal(dy, libdl.where(z.detach() > 0, image(seed=6), libdl.zeros(())))


def test_backward_twice_and_a_second_derivative():
    outcomes = []
    for read in later, now:
        x = image(dtype=libdl.float64).detach().requires_grad_()
        z = F.relu(read(F.batch_norm(x * 1, None, None, training=True)))
        dz = image(seed=6, dtype=libdl.float64)
        (first,) = libdl.autograd.grad(z, x, dz, retain_graph=True)
        (again,) = libdl.autograd.grad(z, x, dz, retain_graph=True)
        (tracked,) = libdl.autograd.grad(z, x, dz, create_graph=True)
        (second,) = libdl.autograd.grad(tracked.square().sum(), x)
        assert libdl.equal(first, again)
        # The formula by operators rounds otherwise: some 1e-15 of values near 1.
        assert libdl.allclose(first, tracked, atol=1e-12, rtol=0)
        outcomes.append(second)
    assert libdl.equal(*outcomes)


def test_copies_and_views_of_what_waits():
    x = image()
    wanted = now(F.batch_norm(x, None, None, training=True))
    for look in copy.deepcopy, libdl.clone, lambda y: y.view(-1), lambda y: y[1:], lambda y: y.mT:
        y = F.batch_norm(x, None, None, training=True)
        assert libdl.equal(look(y), look(wanted))


def test_the_name_leaves_it_out():
    program = (
        "import libdl; F = libdl.nn.functional;"
        "x = F.conv2d(libdl.ones(1, 8, 300, 300), libdl.ones(8, 8, 1, 1));"
        "live = lambda: libdl._C.memory_statistics(libdl.device('cpu'))['allocated'];"
        "before = live(); y = F.batch_norm(x, None, None, training=True);"
        "print((live() - before) // (8 * 300 * 300 * 4))"
    )
    for name, images in ("", "0"), ("fusion", "1"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            env=os.environ | {"LIBDL_DISABLE": name},
            check=True,
        )
        assert done.stdout.strip() == images
