# SPDX-License-Identifier: Apache-2.0
"""Single values, bytes seen as another dtype, conversions between all dtypes, and what integer
operators refuse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import libdl

NUMPY = {
    libdl.bool: np.bool_,
    libdl.uint8: np.uint8,
    libdl.uint16: np.uint16,
    libdl.uint32: np.uint32,
    libdl.uint64: np.uint64,
    libdl.int8: np.int8,
    libdl.int16: np.int16,
    libdl.int32: np.int32,
    libdl.int64: np.int64,
    libdl.float16: np.float16,
    libdl.float32: np.float32,
    libdl.float64: np.float64,
    libdl.complex64: np.complex64,
    libdl.complex128: np.complex128,
}
REAL = [d for d in NUMPY if not d.is_complex]


ALLOWED = [
    (a, b)
    for a, b in itertools.product(NUMPY, NUMPY)
    if not a.is_complex or b.is_complex or b == libdl.bool
]


@pytest.mark.parametrize(("source", "target"), ALLOWED)
def test_conversions(source, target):
    """Numbers that both dtypes hold, in a row, a column and alone."""
    x = np.array([[0, 1, 2, 100], [3, 0, 1, 64]]).astype(NUMPY[source])
    for given in (x, x.T, x[1, 3:4].reshape(())):
        found = libdl.from_numpy(given).to(target)
        assert found.dtype == target
        np.testing.assert_array_equal(found.numpy(), given.astype(NUMPY[target]), strict=True)


def test_complex_numbers_are_not_cut():
    z, x = libdl.tensor([1 + 2j]), libdl.zeros(1)
    for call in (
        lambda: x.copy_(z),
        lambda: x.fill_(1j),
        lambda: libdl.full((2,), 1j, dtype=float),
        lambda: libdl.full_like(x, 1j),
    ):
        with pytest.raises(TypeError, match="complex"):
            call()
    assert x.tolist() == [0]


@pytest.mark.parametrize("dtype", [d for d in REAL if not d.is_floating_point])
def test_floats_saturate_in_integers(dtype):
    """NaN becomes 0, what lies outside the nearest end."""
    x = libdl.tensor([np.nan, np.inf, -np.inf, 1e30, -1e30, 2.7, -2.7], dtype=libdl.float64)
    found = x.to(dtype).tolist()
    if dtype == libdl.bool:
        assert found == [True] * 7
        return
    top, low = libdl.iinfo(dtype).max, libdl.iinfo(dtype).min
    assert found == [0, top, low, top, low, 2, -2 if low else 0]


@pytest.mark.parametrize("dtype", NUMPY)
def test_item(dtype):
    """item() is exact, also beyond 2^53."""
    top = 2**64 - 1 if dtype == libdl.uint64 else 2**63 - 1 if dtype == libdl.int64 else 1
    value = 1.5 - 0.25j if dtype.is_complex else 1.5 if dtype.is_floating_point else top
    found = (
        libdl.tensor([value]).to(dtype).item()
        if dtype != libdl.uint64
        else libdl.from_numpy(np.array([value], dtype=np.uint64)).item()
    )
    assert found == value and type(found) is type(True if dtype == libdl.bool else value)


@pytest.mark.parametrize("shape", [(0,), (2,), (1, 2)])
def test_item_wants_one_element(shape):
    for number in (libdl.Tensor.item, float, int, complex):
        with pytest.raises(
            ValueError, match=r"only one element tensors can .*, found \d elements"
        ) as e:
            number(libdl.zeros(shape))
        assert isinstance(e.value, RuntimeError)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(NUMPY, NUMPY)))
def test_view_of_bytes(source, target):
    x = (
        np.arange(64, dtype=np.uint8)
        .reshape(2, 32)
        .view(NUMPY[source] if source != libdl.bool else np.uint8)
    )
    x = (x % 2).astype(np.bool_) if source == libdl.bool else x
    given = libdl.from_numpy(x.copy())
    if target == libdl.bool and source not in (libdl.bool, libdl.uint8, libdl.int8):
        return  # bytes other than 0 and 1 are no truths
    found = given.view(target)
    assert found.data_ptr() == given.data_ptr()
    right = x.view(NUMPY[target])
    if target == libdl.bool:
        assert found.shape == right.shape
        return
    np.testing.assert_array_equal(found.numpy(), right, strict=True)


@pytest.mark.parametrize(
    ("source", "target"), [(libdl.float16, libdl.bfloat16), (libdl.bfloat16, libdl.float16)]
)
def test_products_by_bytes_of_two_dtypes(source, target):
    """The panels that are kept from the second product on are those of one dtype's values."""
    weight, x = libdl.full((40, 40), 3.0, dtype=source), libdl.ones(30, 40)
    seen = weight.view(target)
    for _ in range(4):
        for w in (weight, seen):  # 40 terms of one value: both dtypes have room for every sum
            wanted = 40 * w[0, 0].item()
            assert (x.to(w.dtype) @ w)[0, 0].item() == pytest.approx(wanted, rel=2**-7)


def test_view_of_bytes_refuses():
    x = libdl.zeros(2, 3)
    for call, words in (
        (lambda: x.view(libdl.float64), "divisible"),
        (lambda: x.t().view(libdl.int8), "last stride"),
        (lambda: libdl.zeros(()).view(libdl.int8), "0-d"),
        (lambda: x.requires_grad_().view(libdl.int32), "requires grad"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()


@pytest.mark.parametrize("strides", [(3, 1), (1, 2), (0, 1), (4, 2)])
def test_empty_strided(strides):
    x = libdl.empty_strided((2, 3), strides)
    assert x.stride() == strides and x.shape == (2, 3)


def test_empty_strided_refuses():
    with pytest.raises(ValueError, match="empty_strided: argument 2"):
        libdl.empty_strided((2, 3), (1,))
    with pytest.raises(ValueError, match="empty_strided"):
        libdl.empty_strided((2,), (-1,))


def test_bernoulli_fill():
    """bernoulli_ draws truths with the given chance: four standard deviations around it."""
    for p in (0.0, 0.25, 1.0):
        mean = libdl.empty(10000).bernoulli_(p).mean().item()
        assert abs(mean - p) <= 4 * np.sqrt(p * (1 - p) / 10000)
    with pytest.raises(ValueError, match="bernoulli"):
        libdl.empty(2).bernoulli_(1.5)


# -- integers --------------------------------------------------------------------------------------

INTEGERS = [libdl.uint8, libdl.int8, libdl.int16, libdl.int32, libdl.int64]
DIVISIONS = {
    "floor_divide": libdl.floor_divide,
    "remainder": libdl.remainder,
    "fmod": libdl.fmod,
    "div": lambda a, b: libdl.div(a, b, rounding_mode="trunc"),
}


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", DIVISIONS)
def test_integer_division_by_zero_raises_before_a_write(name, dtype):
    a, b = libdl.tensor([7, 5], dtype=dtype), libdl.tensor([2, 0], dtype=dtype)
    with pytest.raises(ValueError, match=rf"{name}: argument 2 \(other\) holds 0"):
        DIVISIONS[name](a, b)
    with pytest.raises(ValueError, match="holds 0"):
        a.floor_divide_(b)
    with pytest.raises(ValueError, match="holds 0"):
        DIVISIONS[name](a, 0)
    assert a.tolist() == [7, 5]
    assert libdl.div(a, b).tolist() == [3.5, np.inf]  # true division gives floats


@pytest.mark.parametrize("dtype", INTEGERS[1:])
def test_the_least_number_divided_by_minus_one_wraps(dtype):
    low = libdl.iinfo(dtype).min
    a, b = libdl.tensor([low], dtype=dtype), libdl.tensor([-1], dtype=dtype)
    assert libdl.floor_divide(a, b).tolist() == [low]
    assert libdl.div(a, b, rounding_mode="trunc").tolist() == [low]
    assert libdl.remainder(a, b).tolist() == libdl.fmod(a, b).tolist() == [0]
    assert libdl.abs(a).tolist() == libdl.neg(a).tolist() == [low]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_powers(dtype):
    with pytest.raises(ValueError, match=r"pow: argument 2 \(exponent\) is -1"):
        libdl.pow(libdl.tensor([2], dtype=dtype), -1)
    top = libdl.iinfo(dtype).max
    wrapped = np.array([top], dtype=NUMPY[dtype]) ** np.array([3], dtype=NUMPY[dtype])
    assert libdl.pow(libdl.tensor([top], dtype=dtype), 3).tolist() == wrapped.tolist()


@pytest.mark.parametrize(("one", "other"), list(itertools.product(INTEGERS, INTEGERS)))
def test_mixed_widths(one, other):
    """Both ends of both ranges meet in the promoted dtype, where sums and products wrap."""
    a = libdl.tensor([libdl.iinfo(one).min, libdl.iinfo(one).max], dtype=one)
    b = libdl.tensor([[libdl.iinfo(other).min], [libdl.iinfo(other).max]], dtype=other)
    wanted = libdl.promote_types(one, other)
    x, y = (t.numpy().astype(NUMPY[wanted]) for t in (a, b))
    with np.errstate(over="ignore"):
        for found, right in (
            (a + b, x + y),
            (a * b, x * y),
            (a - b, x - y),
            (libdl.maximum(a, b), np.maximum(x, y)),
            (a < b, x < y),
        ):
            np.testing.assert_array_equal(found.numpy(), right, strict=True)


@pytest.mark.parametrize("alpha", [0.5, 1j, True])
def test_alpha_that_does_not_fit(alpha):
    x = libdl.ones(2, dtype=libdl.int64)
    for function in (libdl.add, libdl.sub):
        with pytest.raises(TypeError, match=rf"{function.__name__}: argument 3 \(alpha\)"):
            function(x, x, alpha=alpha)


@pytest.mark.parametrize(
    "number, elements, wanted",
    [
        (1, [1 + 5j, 1], [False, True]),
        (True, [1j, 1], [False, True]),
        (0.5, [True, False], [False, False]),
        (1.0, [True, False], [True, False]),
        (1 + 1j, [1, 0], [False, False]),
        (2.0**53, [2**53, 2**53 + 2], [True, True]),
    ],
)
def test_isclose_to_a_number_of_another_kind(number, elements, wanted):
    """Neither an imaginary part nor the digits of an integer are lost on the way."""
    assert libdl.isclose(number, libdl.tensor(elements)).tolist() == wanted
    assert libdl.isclose(libdl.tensor(elements), number).tolist() == wanted


def test_addmm_takes_factors_of_one_element():
    ones = libdl.ones(2, 2)
    factor = libdl.full((1, 1, 1), 2.0)
    assert libdl.addmm(ones, ones, ones, beta=factor, alpha=factor).tolist() == [[6.0] * 2] * 2
    assert libdl.addmm(ones, ones, ones, beta=0, alpha=factor).tolist() == [[4.0] * 2] * 2


def test_sums_of_truths():
    t, f = libdl.tensor([True, False]), libdl.tensor([True, True])
    assert (t + f).tolist() == [True, True]
    assert libdl.add(t, f, alpha=False).tolist() == [True, False]
    with pytest.raises(TypeError, match=r"sub: argument 1 \(input\) is bool"):
        t - f
    out = libdl.zeros(2, dtype=libdl.int64)
    assert libdl.square(t, out=out) is out and out.tolist() == [1, 0]
    out = libdl.zeros(2, dtype=libdl.bool)
    assert libdl.abs(t, out=out).tolist() == [True, False]


def test_an_integer_copy_has_no_history():
    x = libdl.zeros(2, dtype=libdl.int64)
    x.copy_(libdl.tensor([1.5, 2.5], requires_grad=True))
    assert not x.requires_grad and x.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        ([2.0, 0.0, 3.0], [0, 6, 0]),
        ([0.0, 0.0], [0, 0]),
        ([np.inf, 2.0], [2, np.inf]),
        ([np.nan, 4.0], [4, np.nan]),
        ([1e200, 1e200, 2.0], [2e200, 2e200, np.inf]),
        ([np.nan], [1]),
    ],
)
def test_gradient_of_a_product_that_no_division_gives(x, wanted):
    """A factor's slope is the product of the others, also where the whole is 0 or not finite."""
    for keep in ({}, {"dim": 0}):
        leaf = libdl.tensor(x, dtype=libdl.float64, requires_grad=True)
        libdl.prod(leaf, **keep).backward()
        np.testing.assert_array_equal(leaf.grad.numpy(), wanted)


def test_polygamma_far_below_zero_is_as_quick_as_anywhere():
    """At half-integers the second derivative of pi cot(pi x) is 0, so x and 1 - x have one
    value."""
    x = libdl.tensor([-0.5, -10.5, 0.5 - 2**30, 0.5 - 2**50], dtype=libdl.float64)
    y = libdl.polygamma(2, x)
    # Two terms of size 17 cancel for the first; the others are exact.
    assert y.tolist() == pytest.approx(libdl.polygamma(2, 1 - x).tolist(), rel=1e-12)
    at = libdl.tensor([-3.7], dtype=libdl.float64)
    found = [libdl.polygamma(n, at).item() for n in (2, 3)]
    assert found == pytest.approx([-68.89345468867353, 768.9946494408655], rel=1e-13)  # PyTorch's


def test_numbers_at_their_limits_overflow_nowhere():
    """An order without a successor, groups of no channels, a row as long as can be beside no
    rows."""
    x = libdl.ones(1, requires_grad=True)
    libdl.polygamma(2**63 - 1, x).sum().backward()
    assert libdl.isinf(x.grad).all()
    none = libdl.nn.functional.group_norm(libdl.ones(3, 0, 2), 2**62 + 3)
    assert none.shape == (3, 0, 2)
    assert libdl.eye(0, 2**63 - 1, dtype=libdl.bool).shape == (0, 2**63 - 1)


@pytest.mark.parametrize(
    ("order", "x", "lower", "upper"),
    [  # SciPy 1.17's
        (0.01, 0.5, 0.9943732438060326, 0.005626756193967183),
        (0.5, 2.0, 0.9544997361036415, 0.04550026389635857),
        (1.0, 1e-5, 9.999950000166668e-06, 0.9999900000499998),
        (9.9, 9.9, 0.5422823565567775, 0.4577176434432234),
        (21.3178, 14.9248, 0.06949527222987194, 0.930504727770128),
        (1000.0, 900.0, 0.0005499022657117818, 0.9994500977342882),
        (100000.0, 101000.0, 0.9991915784870744, 0.0008084215129255896),
        (3.0, 40.0, 0.9999999999999964, 3.572865928700233e-15),
        (1e12, 1e12 + 1e6, 0.8413447460685429, 0.15865525393145707),  # the normal distribution's
        (0.0, 1.0, 1.0, 0.0),
        (3.0, 0.0, 0.0, 1.0),
        (np.inf, 2.0, 0.0, 1.0),
        (2.0, np.inf, 1.0, 0.0),
        (0.0, 0.0, np.nan, np.nan),
        (-1.0, 2.0, np.nan, np.nan),
        (np.inf, np.inf, np.nan, np.nan),
    ],
)
def test_incomplete_gamma_functions(order, x, lower, upper):
    """The exponent of the weight has some hundred units, of which each loses two digits of 16; the
    normal distribution stands for an order of 1e12 to 1e-7."""
    given = libdl.tensor([order], dtype=libdl.float64), libdl.tensor([x], dtype=libdl.float64)
    rel = 1e-7 if order == 1e12 else 1e-12
    assert libdl.igamma(*given).item() == pytest.approx(lower, rel=rel, nan_ok=True)
    assert libdl.igammac(*given).item() == pytest.approx(upper, rel=rel, nan_ok=True)


def test_incomplete_gamma_functions_have_no_derivative_by_their_order():
    order = libdl.ones(2, requires_grad=True)
    for function in (libdl.igamma, libdl.igammac):
        with pytest.raises(
            NotImplementedError, match=r"igammac?: argument 1 \(input\) requires grad"
        ):
            function(order, libdl.ones(2)).sum().backward()
