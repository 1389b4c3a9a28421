# SPDX-License-Identifier: Apache-2.0
"""Tensors among NumPy's arrays and pandas' columns. The answers are those that PyTorch 2.15 gave
with NumPy 2.4."""

import operator

import numpy as np
import pytest

import libdl

A = np.array([3.0, 4.0])
OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.matmul,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


def t():
    return libdl.tensor([1.0, 2.0])


@pytest.mark.parametrize("function", OPERATORS)
@pytest.mark.parametrize("array", [A, A.astype("f"), np.array([3, 4]), np.ones((2, 2))])
def test_operators_with_arrays_are_numpys(function, array):
    for found, wanted in (
        (function(t(), array), function(t().numpy(), array)),
        (function(array, t()), function(array, t().numpy())),
    ):
        assert type(found) is libdl.Tensor
        np.testing.assert_array_equal(found.numpy(), wanted, strict=True)


def test_bits_with_arrays():
    x, mask = libdl.tensor([1, 2]), np.array([3, 6])
    assert (x & mask).tolist() == [1, 2] and (mask | x).tolist() == [3, 6]
    assert (x ^ mask).tolist() == [2, 4] and (mask << x).tolist() == [6, 24]
    assert (mask >> x).tolist() == [1, 1]


def test_a_sum_with_an_array_replaces_the_name():
    x = before = t()
    x += A
    assert x is not before and x.dtype is libdl.float64 and x.tolist() == [4, 6]
    assert before.tolist() == [1, 2]
    array = A.copy()
    array += t()
    assert type(array) is libdl.Tensor


@pytest.mark.parametrize(
    ("call", "dtype", "values"),
    [
        (lambda: np.sqrt(libdl.tensor([1, 4])), libdl.float64, [1, 2]),
        (lambda: np.add(t(), A), libdl.float64, [4, 6]),
        (lambda: np.add(1, t()), libdl.float32, [2, 3]),
        (lambda: np.maximum(t(), A), libdl.float64, [3, 4]),
        (lambda: np.sin(libdl.tensor(0.0)), libdl.float32, 0),
        (lambda: np.add.reduce(t()), libdl.float32, 3),
        (lambda: np.modf(libdl.tensor([1.5]))[1], libdl.float32, [1]),
        (lambda: np.isnan(t()), libdl.bool, [False, False]),
        (lambda: np.bitwise_and(libdl.tensor([3, 4]), 1), libdl.int64, [1, 0]),
        (lambda: np.clip(t().numpy(), t() - 1, t() + 1), libdl.float32, [1, 2]),
        (lambda: np.linspace(libdl.tensor(1.0), libdl.tensor(2.0), 3), libdl.float32, [1, 1.5, 2]),
        (lambda: np.reshape(libdl.ones(2, 2), 4), libdl.float32, [1] * 4),
        (lambda: np.mean(t()), libdl.float32, 1.5),
        (lambda: np.sum(t(), axis=0), libdl.float32, 3),
        (lambda: np.float64(2) * t(), libdl.float32, [2, 4]),
        (lambda: np.float64(2) - libdl.tensor([1, 2]), libdl.float32, [1, 0]),
        (lambda: np.int64(2) ** libdl.tensor([1, 2]), libdl.int64, [2, 4]),
        (lambda: np.float64(1) >= t(), libdl.bool, [True, False]),
        (lambda: np.array(2.0) * t(), libdl.float32, [2, 4]),
    ],
)
def test_results_are_tensors(call, dtype, values):
    found = call()
    assert type(found) is libdl.Tensor and found.dtype is dtype and found.tolist() == values


def test_results_are_arrays():
    for found, wanted in (
        (np.asarray(t()), [1, 2]),
        (np.array([t(), t()]), [[1, 2], [1, 2]]),
        (np.concatenate([t(), t()]), [1, 2, 1, 2]),
        (np.where(t() > 1, t(), A), [3, 2]),
        (np.array([t()[0], t()[1]]), [1, 2]),
        (A[libdl.tensor([1, 0])], [4, 3]),
        (A[libdl.tensor([True, False])], [3]),
        (np.multiply(t(), A, out=np.empty(2)), [3, 8]),
        (np.dot(t(), A), 11),
    ):
        assert isinstance(found, (np.ndarray, np.generic)) and found.tolist() == wanted
    assert np.allclose(t(), t()) and np.array_equal(t(), t())
    x = t()
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert not np.shares_memory(np.array(x), x.numpy())
    with pytest.raises(ValueError, match="copy=False"):
        x.__array__("f8", copy=False)


def test_while_nothing_is_recorded_a_parameter_is_an_array_too():
    x = t().requires_grad_()
    y = x * x
    for context in (libdl.no_grad, libdl.inference_mode):
        with context():
            assert x.numpy().tolist() == np.asarray(x).tolist() == [1.0, 2.0]
            assert y.numpy().tolist() == [1.0, 4.0] and np.mean(y) == 2.5
    with libdl.no_grad():
        x.numpy()[0] = 3.0  # as to detach().numpy()
    assert x.tolist() == [3.0, 2.0] and x.requires_grad
    with pytest.raises(libdl.VersionError):
        y.sum().backward()


def test_no_history_is_lost_in_silence():
    x = t().requires_grad_()
    for call in (
        lambda: np.exp(x),
        lambda: x + A,
        lambda: A * x,
        lambda: np.asarray(x),
        lambda: np.concatenate([x, x]),
        lambda: np.mean(np.asarray(x)),
        lambda: x == A,
        lambda: np.exp(x * 2),
    ):
        with pytest.raises(RuntimeError, match=r"requires grad; use tensor.detach\(\).numpy\(\)"):
            call()
    with pytest.raises(BufferError, match="detach"):
        memoryview(x)
    assert (np.float64(2) * x).requires_grad and (x * np.float32(2)).requires_grad


def test_other_operands_are_left_alone():
    x = t()
    assert (x == [1.0, 2.0]) is False and (x != "a") is True and (x == None) is False  # noqa: E711
    for call in (lambda: x + [1.0, 2.0], lambda: x < "a", lambda: x + None, lambda: x @ 2):
        with pytest.raises(TypeError):
            call()


class Column:
    """Like a pandas Series: a dtype of NumPy's, a length, entries by label, and __array__."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.dtype = self.values.dtype

    def __len__(self):
        return len(self.values)

    def __getitem__(self, label):
        raise KeyError(label)

    def __array__(self, dtype=None, copy=None):
        return self.values


def series(values):
    return pytest.importorskip("pandas").Series(values, index=range(5, 5 + len(values)))


@pytest.mark.parametrize("make", [Column, series], ids=["column", "pandas"])
def test_columns(make):
    for values, dtype in (
        ([3.0, 4.0], libdl.float64),
        ([1, 2], libdl.int64),
        ([True, False], libdl.bool),
    ):
        for function in (libdl.tensor, libdl.as_tensor, libdl.asarray):
            found = function(make(values))
            assert found.dtype is dtype and found.tolist() == values
    column = make([3.0, 4.0])
    assert libdl.tensor(column, dtype=libdl.float32).dtype is libdl.float32
    assert libdl.tensor([column, column]).tolist() == [[3, 4], [3, 4]]
    assert libdl.Tensor(column).tolist() == [3, 4]
    copied = libdl.tensor(column)
    copied[0] = 7
    assert np.asarray(column)[0] == 3
    assert t()[make([True, False])].tolist() == [1]


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})
    assert libdl.tensor(frame.values).tolist() == [[1, 3], [2, 4]]
    assert libdl.tensor(pandas.Series([1, 2], dtype="Int64")).tolist() == [1, 2]
    assert type(t() == pandas.Series([1.0, 4.0])) is pandas.Series
    with pytest.raises(TypeError):
        libdl.tensor(pandas.Series(["a", "b"]))


def test_buffers_that_tell_too_little():
    """NumPy's datetime64 gives a buffer without the strides that it was asked for."""
    for value in (np.datetime64("2020"), np.str_("a"), np.array(["a"])):
        with pytest.raises(TypeError):
            libdl.tensor(value)


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"copy": True},
        {"copy": False},
        {"dtype": libdl.float64},
        {"copy": True, "dtype": libdl.float64},
    ],
)
@pytest.mark.parametrize("requires_grad", [None, True])
def test_asarray_of_a_tensor_with_history_keeps_it(named, requires_grad):
    w = libdl.ones(2, requires_grad=True)
    for x in (w, w * 2, libdl.nn.Parameter(w.detach())):
        y = libdl.asarray(x, requires_grad=requires_grad, **named)
        apart = bool(named.get("copy")) or "dtype" in named
        assert y.requires_grad and (y is x) != apart and (y.data_ptr() == x.data_ptr()) != apart
        if apart:
            assert type(y) is libdl.Tensor and not y.is_leaf
            (gradient,) = libdl.autograd.grad((y * y).sum(), x)
            assert gradient.tolist() == (2 * x).tolist()
    plain = libdl.asarray(libdl.ones(2), requires_grad=requires_grad, copy=True)
    assert plain.requires_grad is bool(requires_grad) and plain.is_leaf


def test_asarray_says_whether_it_requires_grad():
    leaf = libdl.tensor([1.0, 2.0], requires_grad=True)
    result = leaf * 2
    assert libdl.asarray(leaf) is leaf and libdl.asarray(result) is result
    cut = libdl.asarray(result, requires_grad=False)
    assert not cut.requires_grad and result.requires_grad
    assert cut.data_ptr() == result.data_ptr()
    assert libdl.asarray(leaf, requires_grad=False) is leaf and not leaf.requires_grad


@pytest.mark.parametrize("options", [{"dtype": libdl.float64}, {"device": "meta"}])
@pytest.mark.parametrize("data", [libdl.ones(2), np.ones(2, np.float32)], ids=["tensor", "array"])
def test_asarray_without_a_copy_refuses_another_form(data, options):
    with pytest.raises(
        ValueError, match="asarray: copy=False, but the data is libdl.float32 on cpu"
    ):
        libdl.asarray(data, copy=False, **options)
    assert libdl.asarray(data, copy=False).shape == (2,)


@pytest.mark.parametrize("function", ["tensor", "as_tensor", "asarray", "from_numpy"])
def test_an_interface_without_a_buffer_is_refused(function):
    class Interface:
        __array_interface__ = np.ones(3).__array_interface__

    with pytest.raises((TypeError, RuntimeError), match="Interface"):
        getattr(libdl, function)(Interface())
