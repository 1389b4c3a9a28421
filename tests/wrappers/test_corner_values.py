# SPDX-License-Identifier: Apache-2.0
"""Values, dtypes and slopes at the corners of functions: integers of ranges, complex numbers, no
elements, numbers close to 0. The expected values are PyTorch's."""

import array
import math

import pytest

import libdl
from libdl import special
from libdl.nn import functional as F

I64, C128 = libdl.int64, libdl.complex128


# -- ranges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "base", "wanted"),
    [
        ((1.9, 2.9, 4), 10, [10, 21, 46, 100]),
        ((0, 1.5, 4), 10, [1, 2, 4, 10]),
        ((0, 2, 4), 10, [1, 4, 21, 100]),
        ((-2, 2, 5), 10, [0, 0, 1, 10, 100]),
        ((3.7, 0, 4), 10, [1000, 100, 10, 1]),
        ((0, 5, 6), 2.9, [1, 2, 8, 24, 70, 205]),
        ((0, 3.9, 4), -2, [1, -2, 4, -8]),
    ],
)
def test_powers_of_integers_are_cut(arguments, base, wanted):
    for dtype in (I64, libdl.int32, libdl.int16):
        assert libdl.logspace(*arguments, base=base, dtype=dtype).tolist() == wanted
        place = libdl.empty(0, dtype=dtype)
        assert (
            libdl.logspace(*arguments, base=base, out=place) is place and place.tolist() == wanted
        )
    given = (libdl.tensor(float(x)) for x in arguments[:2])
    assert libdl.logspace(*given, arguments[2], base=base, dtype=I64).tolist() == wanted


@pytest.mark.filterwarnings("ignore:range is deprecated")
def test_ranges_of_integers_have_integer_ends():
    assert libdl.range(0.5, 5, dtype=I64).tolist() == [0, 1, 2, 3, 4, 5]
    assert libdl.range(0, 5, 1.5, dtype=I64).tolist() == [0, 1, 2, 3, 4, 5]
    assert libdl.range(0, 5, 1.5).tolist() == [0, 1.5, 3, 4.5]


def test_complex_ranges():
    for made, wanted in (
        (libdl.linspace(1j, 2, 3), [1j, 1 + 0.5j, 2]),
        (libdl.linspace(0, 1j, 3), [0, 0.5j, 1j]),
        (libdl.linspace(libdl.tensor(1j), 1, 3), [1j, 0.5 + 0.5j, 1]),
        (libdl.linspace(0, 1, 3, dtype=libdl.complex64), [0, 0.5, 1]),
    ):
        assert made.dtype is libdl.complex64 and made.tolist() == wanted
    assert libdl.linspace(0, 1 + 1j, 3, dtype=C128).tolist() == [0, 0.5 + 0.5j, 1 + 1j]
    made = libdl.logspace(0, 1j, 3, dtype=C128)
    wanted = [1, 0.407307 + 0.913291j, -0.668202 + 0.74398j]
    assert libdl.allclose(made, libdl.tensor(wanted, dtype=C128), rtol=1e-5)
    assert libdl.logspace(1j, 2, 3).dtype is libdl.complex64
    for function in (libdl.linspace, libdl.logspace):
        with pytest.raises(RuntimeError, match="wanted a complex dtype for complex bounds"):
            function(0, 1j, 3, dtype=libdl.float32)
        with pytest.raises(RuntimeError, match=r"start.* has shape \[2\], wanted a number"):
            function(libdl.ones(2), 3, 3)
        with pytest.raises(RuntimeError, match=r"end.* has shape \[1\], wanted a number"):
            function(0, libdl.ones(1), 3, dtype=libdl.float32)


# -- complex numbers -------------------------------------------------------------------------------


def test_sums_of_complex_exponentials():
    x, y = libdl.tensor([1 + 1j, 1 + 3j, 1000 + 3j]), libdl.tensor([2 - 1j, 1 - 3j, 1000 - 3j])
    wanted = [1.9063236 - 0.6238289j, 1.6830893 + 3.1415927j, 1000.6831 + 3.1415927j]
    assert libdl.allclose(libdl.logaddexp(x, y), libdl.tensor(wanted), rtol=1e-5)
    made = libdl.logaddexp(libdl.tensor([1.0]), libdl.tensor([2 - 1j]))
    assert libdl.allclose(made, libdl.tensor([2.21357 - 0.747289j]), rtol=1e-5)
    inf = math.inf
    few = libdl.tensor([complex(-inf, 1), complex(inf, 1), complex(-inf, 1), 1 + 2j])
    more = libdl.tensor([complex(-inf, 2), 1 + 2j, 3 + 1j, complex(-inf, 0)])
    assert libdl.logaddexp(few, more).tolist() == [
        complex(-inf, 2),
        complex(inf, 1),
        3 + 1j,
        1 + 2j,
    ]
    for pair in ((math.nan, 1.0), (1.0, math.nan)):
        made = libdl.logaddexp(*(libdl.tensor([complex(v, 1)]) for v in pair))
        assert bool(made.real.isnan()) and bool(made.imag.isnan())
    with pytest.raises(RuntimeError, match="logaddexp2: .*complex64, wanted a real dtype"):
        libdl.logaddexp2(x, y)
    out = libdl.empty(3, dtype=libdl.complex64)
    assert libdl.logaddexp(x, y, out=out) is out and libdl.equal(out, libdl.logaddexp(x, y))


def test_slopes_of_sums_of_complex_exponentials():
    x = libdl.tensor([1 + 1j, -0.5 + 2j], dtype=C128, requires_grad=True)
    y = libdl.tensor([2 - 1j, 0.3 + 0.7j], dtype=C128, requires_grad=True)
    made = libdl.logaddexp(x, y)
    slopes = libdl.autograd.grad(made[:1].abs().sum(), (x, y), retain_graph=True)
    assert abs(slopes[0][0].item() - (-0.145828 - 0.37677j)) < 1e-5
    assert abs(slopes[1][0].item() - (1.096234 + 0.065758j)) < 1e-5
    assert libdl.autograd.gradcheck(libdl.logaddexp, (x, y), check_forward_ad=True)
    assert libdl.autograd.gradgradcheck(libdl.logaddexp, (x, y))
    low = libdl.tensor([complex(-math.inf, 0), 2 - 1j], requires_grad=True)
    (slope,) = libdl.autograd.grad(
        libdl.logaddexp(low, libdl.tensor([1j, -math.inf])).real.sum(), low
    )
    assert slope.tolist() == [0, 1]


def test_running_sums_of_complex_exponentials():
    x = libdl.tensor([1 + 1j, 2 - 1j, 0.5j], dtype=C128, requires_grad=True)
    made = libdl.logcumsumexp(x, 0)
    wanted = [1 + 1j, 1.906324 - 0.623829j, 1.976453 - 0.498553j]
    assert libdl.allclose(made, libdl.tensor(wanted, dtype=C128), rtol=1e-5)
    (slope,) = libdl.autograd.grad(made.abs().sum(), x)
    wanted = [0.495758 - 0.040565j, 2.087119 + 0.323374j, 0.044263 - 0.1313j]
    assert libdl.allclose(slope, libdl.tensor(wanted, dtype=C128), atol=1e-5)
    made = libdl.logcumsumexp(libdl.tensor([1 + 3j, 1 - 3j, 700 + 0.5j]), 0)
    assert libdl.allclose(
        made, libdl.tensor([1 + 3j, 1.683089 - 3.1415927j, 700 + 0.5j]), rtol=1e-5
    )
    made = libdl.logcumsumexp(libdl.tensor([complex(-math.inf, 0), 2 - 1j]), 0)
    assert made.tolist() == [complex(-math.inf, 0), 2 - 1j]
    rows = libdl.stack([x.detach(), x.detach() * 2])
    assert libdl.equal(libdl.logcumsumexp(rows.T, 0).T, libdl.logcumsumexp(rows, 1))
    assert libdl.logcumsumexp(rows[:, :0], 1).shape == (2, 0)
    with pytest.raises(NotImplementedError, match="int64, wanted a floating or complex dtype"):
        libdl.logcumsumexp(libdl.tensor([1, 2]), 0)


def test_complex_borders_and_exponents():
    x = libdl.ones(2, dtype=libdl.complex64, requires_grad=True)
    made = libdl.constant_pad_nd(x, (1, 2), 1 + 2j)
    assert made.tolist() == [1 + 2j, 1, 1, 1 + 2j, 1 + 2j]
    (slope,) = libdl.autograd.grad(made.real.sum(), x)
    assert slope.tolist() == [1, 1]
    assert libdl.constant_pad_nd(x.detach(), (-1, 1), 2j).tolist() == [1, 2j]
    with pytest.raises(RuntimeError, match=r"constant_pad_nd: argument 3 \(value\) is 2j, wanted"):
        libdl.constant_pad_nd(libdl.ones(2), (1, 1), 2j)
    made = libdl.ldexp(libdl.tensor([1.0, 2]), libdl.tensor([2j, 3.5]))
    wanted = libdl.tensor([0.183457 + 0.983028j, 22.627417])
    assert made.dtype is libdl.complex64 and libdl.allclose(made, wanted, rtol=1e-5)
    with pytest.raises(
        TypeError, match=r"ldexp: argument 2 \(other\) is a number, wanted a tensor"
    ):
        libdl.ldexp(libdl.ones(1), 2)


def test_complex_dtypes():
    assert libdl.float32.to_complex() is libdl.complex64 and libdl.float64.to_complex() is C128
    assert libdl.complex64.to_complex() is libdl.complex64 and C128.to_complex() is C128
    for dtype in (libdl.int8, libdl.uint8, libdl.int64, libdl.bool, libdl.bfloat16):
        with pytest.raises(RuntimeError, match=f"no complex dtype of {dtype.name}"):
            dtype.to_complex()


# -- few elements and odd bounds -------------------------------------------------------------------


def test_norms_of_no_elements():
    for ord in (1, 2, math.inf, "fro", "nuc", None):
        assert libdl.linalg.norm(libdl.zeros(0, 0), ord).tolist() == 0
    for shape in ((0, 3), (3, 0)):
        for ord in (1, 2, math.inf):
            assert libdl.linalg.norm(libdl.zeros(shape), ord).tolist() == 0
    assert libdl.linalg.matrix_norm(libdl.zeros(2, 0, 3), math.inf).tolist() == [0, 0]
    assert libdl.linalg.matrix_norm(libdl.zeros(2, 3, 0), 1, keepdim=True).shape == (2, 1, 1)
    assert (
        libdl.linalg.matrix_norm(libdl.zeros(2, 3, 0), 2, dtype=libdl.float64).dtype
        is libdl.float64
    )
    with pytest.raises((RuntimeError, IndexError)):
        libdl.linalg.norm(libdl.zeros(0, 0), -1)


def test_batch_norm_of_an_empty_vector():
    x = libdl.zeros(0, requires_grad=True)
    mean, var = libdl.zeros(1), libdl.ones(1)
    for named in ({}, {"training": True}):
        y = F.batch_norm(x, mean, var, **named)
        assert y.shape == (0,) and y.requires_grad
        y.sum().backward()
    assert x.grad.shape == (0,)
    with pytest.raises((RuntimeError, ValueError), match=r"batch_norm: .*\[3\]"):
        F.batch_norm(libdl.zeros(3), libdl.zeros(3), libdl.ones(3))


def test_slopes_of_one_dimension_twice():
    for dim in ([1, 1], [1, -1], (0, -2)):
        with pytest.raises(
            (RuntimeError, ValueError), match=r"gradient: argument 3 \(dim\) is .* twice"
        ):
            libdl.gradient(libdl.ones(3, 4), dim=dim)
    assert len(libdl.gradient(libdl.ones(3, 4), dim=[1, 0])) == 2


def test_limits_in_the_wrong_order():
    x = libdl.tensor([0.0, 1.5, 9.0, math.nan], requires_grad=True)
    y = F.hardtanh_(x * 1, 2.0, 1.0)
    assert y.tolist()[:3] == [1, 1, 1] and math.isnan(y[3].item())
    (slope,) = libdl.autograd.grad(y[:3].sum(), x)
    assert slope.tolist() == [0, 0, 0, 0]
    for named in ({}, {"inplace": True}):
        with pytest.raises((RuntimeError, ValueError), match="hardtanh: .* wanted at most max_val"):
            F.hardtanh(x.detach(), 2.0, 1.0, **named)


def test_choices_of_nothing():
    for x in (libdl.arange(3), libdl.arange(0), libdl.ones(2)):
        for repeated in (False, True):
            made = libdl.combinations(x, 0, repeated)
            assert made.shape == (0,) and made.dtype is x.dtype
    assert libdl.block_diag().shape == (1, 0) and libdl.block_diag().dtype is libdl.float32


# -- close to 0 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [libdl.float16, libdl.bfloat16, libdl.float32, libdl.float64])
def test_bessel_functions_close_to_0(dtype):
    least = {2: 2.0**-24 if dtype is libdl.float16 else 1e-40, 4: 1e-45, 8: 5e-324}[dtype.itemsize]
    near = [least, -least, 0.0, 1e-20, -1e-20, 1e-9, 1e-5, -1e-5]

    def derivatives(function):
        x = libdl.tensor(near, dtype=libdl.float64).to(dtype).requires_grad_()
        (first,) = libdl.autograd.grad(function(x).sum(), x, create_graph=True)
        (second,) = libdl.autograd.grad(first.sum(), x)
        return first.double().tolist(), second.double().tolist()

    x = libdl.tensor(near, dtype=libdl.float64).to(dtype).double().tolist()
    sign = [(v > 0) - (v < 0) for v in x]
    for function, first, second in (
        (special.i0, [v / 2 for v in x], [0.5] * 8),
        (special.i1, [0.5] * 8, [3 * v / 8 for v in x]),
        (special.i0e, [-s + 1.5 * v for s, v in zip(sign, x)], [1.5 if s else 0.5 for s in sign]),
        (special.i1e, [0.5 - abs(v) for v in x], [-s for s in sign]),
    ):
        found = derivatives(function)
        assert found[0] == pytest.approx(first, rel=1e-2, abs=1e-3)
        assert found[1] == pytest.approx(second, rel=2e-2, abs=2e-3)


# -- numbers that Python has -----------------------------------------------------------------------


def test_seeds():
    for seed in (3.0, "3", 3.7, b"3", True + 2, libdl.tensor(3), libdl.tensor(3.5)):
        assert libdl.manual_seed(seed).initial_seed() == 3
    assert libdl.random.manual_seed("4").initial_seed() == 4
    for seed in (None, "x", math.nan, 2**64, -(2**63) - 1):
        with pytest.raises((TypeError, ValueError)):
            libdl.manual_seed(seed)
    for seed in (3.0, "3"):
        with pytest.raises((TypeError, RuntimeError)):
            libdl.Generator().manual_seed(seed)


def test_result_types_of_numbers():
    for pair, wanted in (
        ((1, 1.5), libdl.float32),
        ((1, 2), I64),
        ((True, 2), I64),
        ((1, 1j), libdl.complex64),
        ((True, True), libdl.bool),
        ((1.5, True), libdl.float32),
        ((2.0, 1j), libdl.complex64),
        ((1, libdl.ones(1).half()), libdl.float16),
        ((1.5, libdl.ones(1).int()), libdl.float32),
    ):
        assert libdl.result_type(*pair) is libdl.result_type(*reversed(pair)) is wanted
    for pair, place in ((("a", 1), 1), ((1, [2]), 2)):
        with pytest.raises(
            TypeError, match=rf"result_type: argument {place} .* wanted a tensor or a number"
        ):
            libdl.result_type(*pair)


def test_arrays_of_bytes():
    for data in (b"abcd", bytearray(b"abcd"), memoryview(b"abcd")):
        made = libdl.asarray(data)
        assert made.dtype is libdl.uint8 and made.tolist() == [97, 98, 99, 100]
        assert libdl.asarray(data, dtype=libdl.int32).tolist() == [1684234849]
        assert libdl.asarray(data, dtype=libdl.int16, copy=True).tolist() == [25185, 25699]
    for letter, dtype in (
        ("b", libdl.int8),
        ("h", libdl.int16),
        ("i", libdl.int32),
        ("q", I64),
        ("f", libdl.float32),
        ("d", libdl.float64),
    ):
        data = array.array(letter, [1, 2])
        made = libdl.asarray(data)
        assert made.dtype is dtype and made.tolist() == [1, 2]
        made[0] = 7
        assert data[0] == 7
        libdl.asarray(data, copy=True)[1] = 9
        assert data[1] == 2
    assert libdl.asarray(array.array("f", [1]), requires_grad=True).requires_grad
    with pytest.raises(ValueError, match="multiple of the element size"):
        libdl.asarray(b"abcde", dtype=libdl.int32)
    assert libdl.asarray([1, 2]).tolist() == [1, 2] and libdl.asarray(3).tolist() == 3
    for data in ("abcd", [b"ab"]):
        with pytest.raises(TypeError):
            libdl.asarray(data)


def test_sums_of_sizes():
    shape = libdl.ones(2, 3).shape
    for made, wanted in (
        ((1,) + shape, (1, 2, 3)),
        (shape + (1,), (2, 3, 1)),
        (() + shape, (2, 3)),
        (2 * shape, (2, 3, 2, 3)),
        (shape * 2, (2, 3, 2, 3)),
        (sum([shape, shape], ()), (2, 3, 2, 3)),
        (libdl.Size([True, libdl.tensor(3)]), (1, 3)),
        (libdl.Size(), ()),
        (shape[1:], (3,)),
    ):
        assert type(made) is libdl.Size and made == wanted and all(type(n) is int for n in made)
    sizes = (1,)
    sizes += shape
    assert type(sizes) is libdl.Size and sizes == (1, 2, 3)
    for wrong in (
        lambda: shape + [1],
        lambda: [1] + shape,
        lambda: shape + ("a",),
        lambda: (1.5,) + shape,
        lambda: shape + None,
        lambda: libdl.Size([1.5]),
        lambda: libdl.Size("a"),
    ):
        with pytest.raises(TypeError):
            wrong()
