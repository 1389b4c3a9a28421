# SPDX-License-Identifier: Apache-2.0
"""What each operator refuses besides what its case tells: tests/mutation leaves every check out
once, and one of the tests has to notice."""

import pytest

import libdl
from libdl import _C  # noqa: F401, of the texts below
from libdl.nn import functional as F  # noqa: F401
from refusals import calls_with_errors

BOOL, I64, F64, C64 = libdl.bool, libdl.int64, libdl.float64, libdl.complex64
HALF = 1 << 62  # elements: two of them are more than 64 bits count


def ones(*shape, dtype=libdl.float32):
    return libdl.ones(shape, dtype=dtype)


def deep(ndim):
    return ones(*[1] * ndim)


def ends(*numbers):
    return libdl.tensor(numbers, dtype=libdl.int32)


def leaf(*shape):
    return ones(*shape).requires_grad_()


SHAPES = """
F.grouped_mm(ones(3, 5, 4), ones(2, 4, 3))
    # grouped_mm: argument 2 (mat_b) has 2 groups, wanted 3 as mat_a
F.grouped_mm(ones(5, 4), ones(2, 4, 3), offs=ends(1, 2, 3))
    # grouped_mm: argument 3 (offs) has 3 elements, wanted 2, one a group
libdl.add(ones(2), ones(2), alpha=ones(2))
    # add: argument 3 (alpha) has shape [2], wanted a number
libdl.take_along_dim(ones(2, 2), ones(2, dtype=I64), 0)
    # take_along_dim: argument 2 (indices) has 1 dimensions, wanted 2
deep(40)[ones(*[1] * 26, dtype=I64) * 0]
    # x[...]: index make a result of 65 dimensions, wanted at most 64
_C.index(ones(2), [ones(2, 2) > 0])
    # index: argument 2 (indices) name more dimensions than input has, wanted at most 1
_C.index(ones(2), [None, None])
    # index: argument 2 (indices) name more dimensions than input has, wanted at most 1
_C.index(ones(6), [libdl.tensor([5]), libdl.tensor([5])])
    # index: argument 2 (indices) name more dimensions than input has, wanted at most 1
_C.index(ones(2), [libdl.tensor(True)])
    # index: argument 2 (indices) hold a mask without dimensions
_C.index(deep(20), [libdl.tensor([0])] * 17)
    # index: argument 2 (indices) index 17 dimensions
libdl.index_select(ones(), 0, libdl.tensor([0, 0]))
    # index_select: argument 3 (index) has 2 elements, wanted one
libdl.stack([], -1)
    # stack: argument 1 (tensors) is empty
libdl.stack([ones(2), ones(3)])
    # stack: argument 1 (tensors) holds shape [3] at position 1, wanted [2]
ones(2).repeat(-1)
    # repeat: argument 2 (repeats) is [-1]
ones(2).repeat(HALF)
    # repeat: argument 2 (repeats) is [4611686018427387904], wanted a result of fewer than
    #    2^63
libdl.roll(ones(2), (1, 2))
    # roll: argument 2 (shifts) has 2 entries, wanted one, without dims
libdl.roll(ones(), 1, 0)
    # roll: argument 3 (dims) is [0], wanted none, for input is 0-d
libdl.repeat_interleave(ones(), 2, 0)
    # repeat_interleave: argument 3 (dim) is 0, wanted none, for input is 0-d
libdl.cat([ones(dtype=BOOL).expand(HALF, 0)] * 2)
    # cat: argument 1 (tensors) add up to more than 2^63 - 1
libdl.cat([ones(2), ones()])
    # cat: argument 1 (tensors) holds a 0-d tensor at position 1
ones(2, 2, 2) @ ones(3, 2, 2)
    # matmul: argument 2 (other) has shape [3, 2, 2], wanted batch dimensions that broadcast
libdl.matmul(ones(), ones(2))
    # matmul: argument 1 (input) is 0-d
libdl.matmul(ones(2), ones())
    # matmul: argument 2 (other) is 0-d
libdl.mm(ones(2), ones(2, 2))
    # mm: argument 1 (input) has 1 dimensions, wanted 2
F.linear(ones(), ones(2, 2))
    # linear: argument 1 (input) is 0-d
F.linear(ones(2), ones(2, 2, 2))
    # linear: argument 2 (weight) has 3 dimensions, wanted 1 or 2
libdl.bmm(ones(2, 2, 2), ones(3, 2, 2))
    # bmm: argument 2 (mat2) has shape [3, 2, 2], wanted a batch of 2
F.nll_loss(ones(2, 0), libdl.full((2,), -100))
    # nll_loss: argument 1 (input) has no classes
F.nll_loss(ones(), ones(dtype=I64))
    # nll_loss: argument 1 (input) is 0-d
F.cross_entropy(ones(2, 3), ones(2, 4))
    # cross_entropy: argument 2 (target) has shape [2, 4], wanted [2, 3], or integer classes
libdl.masked_fill(ones(2), ones(2) > 0, ones(2))
    # masked_fill: argument 3 (value) has shape [2], wanted a number or a 0-d tensor
_C.masked_fill_into(ones(2), ones(2) > 0, 1.0, ones(3))
    # masked_fill: argument 4 (dst) has shape [3], wanted [2]
ones(2).masked_scatter_(ones(2, 2) > 0, ones(4))
    # masked_scatter_: argument 2 (mask) has shape [2, 2], wanted one that broadcasts to [2]
libdl.nn.functional.pairwise_distance(ones(3, 0), ones(3, 0), float("inf"))
    # pairwise_distance: argument 1 (x1) has nothing to take that norm of
libdl.norm(ones(0), float("inf"))
    # norm: argument 1 (input) has nothing to take that norm of
libdl.as_strided(ones(6), (2,), (1, 1))
    # as_strided: argument 3 (stride) has 2 entries, wanted 1, one a dimension
ones(2, 2).permute(0)
    # permute: argument 2 (dims) names 1 dimensions, wanted 2
ones(2).bernoulli_(ones(3))
    # bernoulli_: argument 2 (p) has shape [3], wanted one that broadcasts to [2]
libdl.unflatten(ones(6), 0, ())
    # unflatten: argument 3 (sizes) is [], wanted sizes whose product is the dimension's
deep(64).unsqueeze(0)
    # unsqueeze: argument 1 (input) has 64 dimensions, wanted at most 63
ones(2, 2).expand(2)
    # expand: argument 2 (shape) is [2], wanted at least the 2 dimensions of input
ones(0).reshape(-1, 0)
    # reshape: argument 2 (shape) is [-1, 0], where -1 beside a 0 can be any size
libdl.view_as_real(ones(*[1] * 64, dtype=C64))
    # view_as_real: argument 1 (input) has 64 dimensions, wanted at most 63
libdl.view_as_complex(ones(3))
    # view_as_complex: argument 1 (input) has shape [3], wanted a last dimension of 2
libdl.view_as_complex(ones(2, 2).t())
    # view_as_complex: argument 1 (input) has strides [1, 2], wanted a last stride of 1
_C.full([2], ones(2), None, None)
    # full: argument 2 (fill_value) has shape [2]
"""

VALUES = """
F.grouped_mm(ones(5, 4), ones(2, 4, 3))
    # grouped_mm: argument 3 (offs) is None, wanted a tensor
F.grouped_mm(ones(2, 5, 4), ones(2, 4, 3), offs=ends(1, 2))
    # grouped_mm: argument 3 (offs) is a tensor, wanted None
F.grouped_mm(ones(5, 4), ones(2, 4, 3), offs=ends(2, 1))
    # grouped_mm: argument 3 (offs) is [2, 1], wanted ends that ascend, 5 at most
F.grouped_mm(ones(5, 4), ones(2, 4, 3), offs=ends(2, 6))
    # grouped_mm: argument 3 (offs) is [2, 6], wanted ends that ascend, 5 at most
F.grouped_mm(ones(5, 4), ones(4, 3), offs=ends())
    # grouped_mm: argument 3 (offs) is empty, wanted one group at least
_C.clamp(ones(2), None, None)
    # clamp: argument 2 (min) is absent and so is max
libdl.arange(0, float("inf"))
    # arange: argument 2 (end) or start is not finite
libdl.arange(0, 1e30)
    # arange: argument 2 (end) makes too many elements
_C.arange(0, ones(2), 1, libdl.float32, None)
    # arange: argument 2 (end) has shape [2]
_C.arange(0, 1j, 1, libdl.float32, None)
    # arange: argument 2 (end) is complex
libdl.linspace(0, 1, -1)
    # linspace: argument 3 (steps) is -1, wanted 0 or more
libdl.norm(ones(2), float("nan"))
    # norm: argument 2 (p) is NaN
libdl.var(ones(2), correction=1j)
    # var: argument 3 (correction) is no real number
_C.as_strided(1.0, [1], [1], None)
    # as_strided: argument 1 (input) is a host number
libdl.as_strided(ones(6), (2,), (-1,))
    # as_strided: argument 3 (stride) is [-1], wanted strides of 0 or more
libdl.movedim(ones(2, 2), (0, 0), (0, 1))
    # movedim: argument 2 (source) repeats a dimension
libdl.movedim(ones(2, 2), (0, 1), (0, 0))
    # movedim: argument 3 (destination) repeats a dimension
libdl.randperm(-1)
    # randperm: argument 1 (n) is -1, wanted 0 or more
libdl.flatten(ones(2, 2), 1, 0)
    # flatten: argument 2 (start_dim) is 1, behind end_dim
ones(4).reshape(-1, -1)
    # reshape: argument 2 (shape) is [-1, -1], wanted -1 at most once
ones(4).reshape(-2)
    # reshape: argument 2 (shape) is [-2], wanted sizes of 0 or more, or one -1
libdl.round(ones(2), decimals=301)
    # round: argument 2 (decimals) is 301, wanted -300 to 300
_C.t(1.0)
    # t: argument 1 (input) is a host number, wanted a tensor
_C.einsum("->", [1.0])
    # einsum: argument 2 (tensors) is a host number, wanted a tensor
libdl.nn.functional.max_unpool2d(
    ones(1, 1, 1, 1),
    libdl.zeros(1, 1, 1, 1, dtype=I64),
    1,
    2**31 - 1,
    output_size=[2**31 - 1] * 2,
)
    # max_unpool2d: argument 6 (output_size) is [1, 1, 2147483647, 2147483647], wanted fewer
libdl.index_copy(ones(), 0, libdl.zeros(0, dtype=I64), ones())
    # index_copy: argument 3 (index) has 0 elements, wanted one, for input has no dimensions
libdl.index_copy(ones(), 0, libdl.zeros(2, dtype=I64), ones())
    # index_copy: argument 3 (index) has 2 elements, wanted one, for input has no dimensions
libdl.index_add(ones(), 0, libdl.zeros(0, dtype=I64), ones())
    # index_add: argument 3 (index) has 0 elements, wanted one, for input has no dimensions
libdl.index_add(ones(), 0, libdl.zeros(2, dtype=I64), ones())
    # index_add: argument 3 (index) has 2 elements, wanted one, for input has no dimensions
(lambda x: libdl.addcmul(ones(3), x[1:], ones(3), out=x[:3]))(ones(4))
    # addcmul: argument 5 (out) shares some of its memory with an operand
libdl.scatter(ones(3), 0, libdl.tensor(1), ones(0))
    # scatter: argument 3 (index) has shape [], wanted no larger sizes than src's [0]
"""

DTYPES = """
libdl.index_add(ones(2), 0, libdl.tensor([0]), ones(1), alpha=1j)
    # index_add: argument 5 (alpha) is complex128, wanted float32
libdl.arange(0, 3, dtype=C64)
    # arange: argument 4 (dtype) is complex64, wanted a real dtype
F.mse_loss(ones(2, dtype=I64), ones(2, dtype=I64), reduction="none")
    # mse_loss: argument 1 (input) is int64, wanted floating
F.mse_loss(ones(2), ones(2, dtype=C64))
    # mse_loss: argument 2 (target) is complex64, wanted floating
F.linear(ones(2, dtype=I64), ones(3, 2))
    # linear: argument 1 (input) is int64, wanted float32, as argument 2 (weight)
F.linear(ones(2).bool(), ones(3, 2))
    # linear: argument 1 (input) is bool, wanted a numeric dtype
F.linear(ones(2), ones(3, 2), ones(3, dtype=F64))
    # linear: argument 3 (bias) is float64, wanted float32
F.bilinear(ones(3), ones(2), ones(4, 3, 2, dtype=F64))
    # bilinear: argument 1 (input1) is float32, wanted float64, as argument 3 (weight)
F.batch_norm(ones(2, 3, dtype=F64), ones(3), ones(3))
    # batch_norm: argument 1 (input) is float64, wanted float32, as the vectors of the
    #    channels
F.batch_norm(ones(2, 3), ones(3), ones(3), ones(3), ones(3, dtype=F64))
    # batch_norm: argument 5 (bias) is float64, wanted float32
F.instance_norm(ones(2, 3, 4), weight=ones(3, dtype=F64), bias=ones(3, dtype=F64))
    # instance_norm: argument 1 (input) is float32, wanted float64, as the vectors
F.group_norm(ones(2, 3, 4), 1, ones(3, dtype=F64), ones(3, dtype=F64))
    # group_norm: argument 1 (input) is float32, wanted float64, as the vectors
F.group_norm(ones(2, 3, 4), 1, ones(3, dtype=F64))
    # group_norm: argument 3 (weight) is float64, wanted float32
F.layer_norm(ones(2), (2,), ones(2, dtype=F64), ones(2, dtype=F64))
    # layer_norm: argument 1 (input) is float32, wanted float64, as arguments 3 and 4
libdl.gru_cell(ones(2, 3), ones(2, 1), ones(3, 3, dtype=F64), ones(3, 1, dtype=F64))
    # gru_cell: argument 1 (input) is float32, wanted float64, as argument 3 (w_ih)
F.layer_norm(ones(2), (2,), ones(2, dtype=F64))
    # layer_norm: argument 3 (weight) is float64, wanted float32
F.cross_entropy(ones(2, 3), ones(2, 3, dtype=F64))
    # cross_entropy: argument 2 (target) is float64, wanted float32
F.cross_entropy(ones(2, 3), ones(2, dtype=I64), ones(3, dtype=F64))
    # cross_entropy: argument 3 (weight) is float64, wanted float32
libdl.masked_fill(ones(2), ones(2) > 0, 1j)
    # masked_fill: argument 3 (value) is complex128, wanted a real number for float32
libdl.masked_scatter(ones(), ones() > 0, ones(1, dtype=F64))
    # masked_scatter: argument 3 (source) is float64, wanted float32
libdl.randint(0, 3, (2,), dtype=C64)
    # randint: argument 5 (dtype) is complex64, wanted an integer or floating dtype
libdl.randperm(3, dtype=C64)
    # randperm: argument 3 (dtype) is complex64, wanted an integer or floating dtype
ones(2).bernoulli_(ones(2, dtype=I64))
    # bernoulli_: argument 2 (p) is int64, wanted a floating dtype
ones(2, dtype=C64).bernoulli_(0.5)
    # bernoulli_: argument 1 (input) is complex64, wanted a real dtype
_C.view_dtype(ones(2), None)
    # view_dtype: argument 2 (dtype) is absent
"""


def level(call):
    """Within an open forward level."""
    with libdl.autograd.forward_ad.dual_level():
        return call(libdl.autograd.forward_ad.make_dual)


def made(mode, make):
    with mode():
        return make()


AUTOGRAD = """
made(libdl.inference_mode, lambda: ones(2)).add_(leaf(2))
    # add_: argument 1 (input) was made in inference mode
leaf(2).view(2).add_(1)
    # add_: argument 1 (input) is a view of a leaf that requires grad
(leaf(2) * 1).split(1)[0].add_(1)
    # add_: argument 1 (input) is one of several views from one call
(lambda x: made(libdl.no_grad, lambda: x.view(2)))(leaf(2) * 1).add_(leaf(2))
    # add_: argument 1 (input) is a view made while nothing was recorded
libdl.scatter(leaf(2), 0, libdl.tensor([0]), ones(1), reduce="multiply")
    # scatter: argument 5 (reduce) has no gradient, and one is needed
level(
    lambda dual: libdl.scatter(
        dual(ones(2), ones(2)), 0, libdl.tensor([0]), ones(1), reduce="multiply"
    )
)
    # scatter: argument 5 (reduce) has no forward derivative
F.nll_loss(ones(2, 3), ones(2, dtype=I64), leaf(3))
    # nll_loss: argument 3 (weight) requires grad, which it cannot get
ones(2).view(F64).add_(leaf(1))
    # add_: argument 1 (input) is a view of another dtype
ones(2, dtype=I64).requires_grad_()
    # tensor_set_requires_grad: argument 1 (tensor) is int64, wanted a floating or complex
    #    dtype
made(libdl.inference_mode, lambda: ones(2)).requires_grad_()
    # tensor_set_requires_grad: argument 1 (tensor) was made in inference mode
(leaf(2) * 1).requires_grad_(False)
    # tensor_set_requires_grad: argument 1 (tensor) is not a leaf
ones(2).retain_grad()
    # tensor_retain_grad: argument 1 (tensor) does not require grad
ones(dtype=C64).requires_grad_().backward()
    # backward: argument 2 (gradient) is absent for a complex output
leaf(2).mul(1).backward(ones(2, dtype=C64))
    # backward: argument 2 (gradient) is complex64, wanted float32
libdl.autograd.grad([leaf().mul(1)], [leaf()], [ones(), ones()])
    # grad: argument 3 (grad_outputs) has 2 tensors, wanted 1
libdl.autograd.grad([leaf().mul(1)], [ones()])
    # grad: argument 2 (inputs) does not require grad
libdl.as_strided((leaf(1) * 1).expand(3), (1,), (1,)).sum().backward()
    # as_strided: its input overlaps itself
"""


@pytest.mark.parametrize(
    ("call", "begins"),
    [row for text in (SHAPES, VALUES, DTYPES, AUTOGRAD) for row in calls_with_errors(text)],
)
def test_refusals(call, begins):
    with pytest.raises(libdl.Error) as caught:
        eval(f"({call})", globals())
    assert str(caught.value).startswith(begins)


def test_an_accumulated_gradient_fits_its_tensor():
    x = leaf(2)
    for grad, found in (
        (x, "is the tensor itself"),
        (ones(3), "has shape [3], wanted [2]"),
        (ones(2, dtype=F64), "is float64, wanted float32"),
    ):
        with pytest.raises(libdl.Error) as caught:
            x.grad = grad
        assert str(caught.value) == f"tensor_set_grad: argument 2 (grad) {found}"


def test_data_may_not_take_a_dtype_without_gradients():
    with pytest.raises(libdl.Error) as caught:
        leaf(2).data = ones(2, dtype=I64)
    told = "tensor_set_data: argument 2 (source) is int64, wanted a floating"
    assert str(caught.value).startswith(told)
