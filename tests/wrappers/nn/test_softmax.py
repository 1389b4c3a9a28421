# SPDX-License-Identifier: Apache-2.0
"""Softmax along any dimension has the bits of that along the last one, and so have its
gradients."""

import pytest

import libdl

SHAPES = [
    ((8, 5, 16), 1),
    ((2, 21, 8, 17), 1),
    ((2, 33, 140), 1),
    ((1100, 6), 0),
    ((3, 40, 2, 4), 1),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("function", [libdl.softmax, libdl.log_softmax])
def test_along_any_dimension(dtype, shape, dim, function):
    generator = libdl.Generator().manual_seed(3)
    x, g = (libdl.randn(shape, generator=generator).to(getattr(libdl, dtype)) for _ in range(2))

    def run(x, g, dim):
        x = x.clone().requires_grad_()
        y = function(x, dim)
        y.backward(g)
        return y.detach(), x.grad

    def turned(t):
        return t.movedim(dim, -1).contiguous()

    for along, last in zip(run(x, g, dim), run(turned(x), turned(g), -1), strict=True):
        assert libdl.equal(turned(along), last)
    y = run(x, g, dim)[0].double()
    total = (y.exp() if function is libdl.log_softmax else y).sum(dim)
    eps = libdl.finfo(getattr(libdl, dtype)).eps
    assert float((total - 1).abs().max()) < 32 * eps


def test_a_large_tensor_of_16_bits_keeps_nothing():
    """Exponentials are kept where they take little memory; the bits are the same."""
    x = libdl.randn(40, 300, 200, generator=libdl.Generator().manual_seed(4)).to(libdl.bfloat16)
    for function in (libdl.softmax, libdl.log_softmax):
        assert libdl.equal(function(x, 1)[:2], function(x[:2].clone(), 1))
