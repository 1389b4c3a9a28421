# SPDX-License-Identifier: Apache-2.0
"""scatter_reduce and index_reduce: dtypes and equal extrema. The answers are PyTorch's, except
where docs/coming-from-pytorch.md tells otherwise."""

import pytest

import libdl
from libdl.autograd import forward_ad

AT = [0, 0, 1, 1, 3]
INTEGERS = [libdl.uint8, libdl.int8, libdl.int16, libdl.int32, libdl.int64]
MEANS = {True: [4, 2, -3, 4], False: [5, 3, -3, 1]}  # rounded down


def operands(dtype):
    base = [1, 0, 3, 7] if dtype == libdl.uint8 else [1, 0, -3, 7]
    return libdl.tensor(base, dtype=dtype), libdl.tensor([5, 6, 2, 4, 1], dtype=dtype)


def forms(name):
    """The function, the method, out= and the method in place."""

    def call(*given, **named):
        return getattr(libdl, name)(*given, **named)

    return {
        "function": call,
        "method": lambda x, *given, **named: getattr(x, name)(*given, **named),
        "out": lambda x, *given, **named: call(x, *given, **named, out=libdl.empty_like(x)),
        "in place": lambda x, *given, **named: getattr(x.clone(), name + "_")(*given, **named),
    }


@pytest.mark.parametrize("form", ["function", "method", "out", "in place"])
@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("include_self", [True, False])
def test_means_of_integers_stay_in_their_dtype(dtype, name, form, include_self):
    x, src = operands(dtype)
    y = forms(name)[form](x, 0, libdl.tensor(AT), src, "mean", include_self=include_self)
    assert y.dtype == dtype
    wanted = MEANS[include_self]
    assert y.tolist() == [3 if v == -3 and dtype == libdl.uint8 else v for v in wanted]


def test_means_of_negative_integers_are_rounded_down():
    x = libdl.tensor([-7, 3], dtype=libdl.int8)
    y = x.scatter_reduce(0, libdl.tensor([0, 0]), libdl.tensor([1, 1], dtype=libdl.int8), "mean")
    assert y.tolist() == [-2, 3]


@pytest.mark.parametrize("dtype", INTEGERS[:3], ids=str)
def test_neither_total_nor_count_of_a_mean_is_kept_in_a_narrow_dtype(dtype):
    most = libdl.iinfo(dtype).max
    src = libdl.full((70_000,), most, dtype=dtype)
    at = libdl.zeros(70_000, dtype=libdl.int64)
    y = libdl.zeros(1, dtype=dtype).scatter_reduce(0, at, src, "mean", include_self=False)
    assert y.tolist() == [most]


@pytest.mark.parametrize("reduce", ["amax", "amin", "prod", "sum"])
@pytest.mark.parametrize("dtype", [*INTEGERS, libdl.bool], ids=str)
def test_of_the_others_too(dtype, reduce):
    x, src = operands(dtype)
    made = [
        x.scatter_reduce(0, libdl.tensor(AT), src, reduce, include_self=kept)
        for kept in (True, False)
    ]
    assert [y.dtype for y in made] == [dtype] * 2
    third = x.tolist()[2]
    wanted = {
        "amax": ([6, 4, third, 7], [6, 4, third, 1]),
        "amin": ([1, 0, third, 1], [5, 2, third, 1]),
        "prod": ([30, 0, third, 7], [30, 8, third, 1]),
        "sum": ([12, 6, third, 8], [11, 6, third, 1]),
    }[reduce]
    assert [y.tolist() for y in made] == [[type(third)(v) for v in some] for some in wanted]


def test_means_of_complex_numbers():
    x = libdl.tensor([1 + 1j, 2])
    y = x.scatter_reduce(0, libdl.tensor([0, 0]), libdl.tensor([2j, 5 + 0j]), "mean")
    assert y.tolist() == [2 + 1j, 2]


# -- equal extrema ---------------------------------------------------------------------------------


def slopes(call, x, src):
    x = libdl.tensor(x, dtype=libdl.float64, requires_grad=True)
    src = libdl.tensor(src, dtype=libdl.float64, requires_grad=True)
    grads = libdl.autograd.grad(call(x, src).sum(), [x, src])
    return [g.tolist() for g in grads]


@pytest.mark.parametrize("reduce", ["amax", "amin"])
@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
def test_equal_extrema_share_the_gradient_evenly(name, reduce):
    at = libdl.tensor([0, 0, 0, 1, 1])
    found = {
        kept: slopes(
            lambda x, src, kept=kept: getattr(libdl, name)(
                x, 0, at, src, reduce, include_self=kept
            ),
            [5, 1, 2],
            [5, 5, 5, 1, 1],
        )
        for kept in (True, False)
    }
    assert found[True] == [[1 / 4, 1 / 3, 1], [1 / 4] * 3 + [1 / 3] * 2]
    # What does not take part has no share.
    assert found[False] == [[0, 0, 1], [1 / 3] * 3 + [1 / 2] * 2]


def test_those_that_are_no_extrema_have_none_of_it():
    at = libdl.tensor([[0, 1], [0, 1], [0, 1]])
    found = slopes(
        lambda x, src: x.scatter_reduce(0, at, src, "amax") * libdl.tensor([1.0, 10.0]),
        [[0.0, 3.0], [9.0, 3.0]],
        [[2, 3], [1, 3], [2, 4]],
    )
    assert found == [[[0, 10], [1, 0]], [[0.5, 0], [0, 0], [0.5, 10]]]


@pytest.mark.parametrize("dtype", [libdl.float16, libdl.bfloat16], ids=str)
def test_of_many_in_16_bits(dtype):
    """70,000, and its inverse, are no numbers of float16."""
    src = libdl.ones(3, 1000, dtype=dtype, requires_grad=True)
    x = libdl.ones(3, 1, dtype=dtype, requires_grad=True)
    y = x.scatter_reduce(1, libdl.zeros(3, 1000, dtype=libdl.int64), src, "amax")
    y.backward(libdl.full((3, 1), 1001.0, dtype=dtype))
    assert src.grad.unique().tolist() == pytest.approx([1.0], rel=4e-3)
    assert x.grad.tolist() == [pytest.approx([1.0], rel=4e-3)] * 3


def test_tangents_of_equal_extrema_are_those_of_backward():
    at, level = libdl.tensor([0, 0, 1]), libdl.tensor([1.0, 2.0, 4.0, 8.0, 16.0])
    with forward_ad.dual_level():
        x = forward_ad.make_dual(libdl.tensor([5.0, 1.0]), level[:2])
        src = forward_ad.make_dual(libdl.tensor([5.0, 5.0, 3.0]), level[2:])
        for kept, wanted in ((True, [(1 + 4 + 8) / 3, 16]), (False, [(4 + 8) / 2, 16])):
            y = x.scatter_reduce(0, at, src, "amax", include_self=kept)
            assert forward_ad.unpack_dual(y).tangent.tolist() == pytest.approx(wanted)
        y = x.detach().index_reduce(0, at, src, "amin")
        assert forward_ad.unpack_dual(y).tangent.tolist() == pytest.approx([(4 + 8) / 3, 0])


def test_beside_a_nan_the_nans_share():
    nan = float("nan")
    assert slopes(
        lambda x, src: x.scatter_reduce(0, libdl.tensor([0, 0, 0]), src, "amax"), [1], [nan, 7, nan]
    ) == [[0], [0.5, 0, 0.5]]


def test_below_transforms():
    def call(x, at, src):
        return (x.scatter_reduce(0, at, src, "amax") ** 2).sum()

    x, at, src = libdl.ones(2, 3), libdl.tensor([[0, 0], [1, 2]]), libdl.ones(2, 2)
    by_x, by_src = libdl.vmap(libdl.func.grad(call, argnums=(0, 2)))(x, at, src)
    assert by_src.tolist() == [pytest.approx([2 / 3] * 2), [1, 1]]
    assert by_x.tolist() == [pytest.approx([2 / 3, 2, 2]), [2, 1, 1]]
    bent = libdl.func.hessian(lambda s: call(x[0], at[0], s))(src[0])
    assert bent.tolist() == [pytest.approx([2 / 9] * 2)] * 2


def test_in_place_with_a_history():
    x = libdl.ones(3, requires_grad=True)
    y = x * 1
    z = y.scatter_reduce_(0, libdl.tensor([0, 0]), libdl.ones(2), "amax")
    (z * y).sum().backward()
    assert x.grad.tolist() == pytest.approx([2 / 3, 2, 2])
