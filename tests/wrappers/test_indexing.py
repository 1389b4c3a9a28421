# SPDX-License-Identifier: Apache-2.0
"""x[key] and x[key] = value against NumPy."""

import numpy
import pytest
from hypothesis import given, settings, strategies as st

import libdl

SHAPE = (4, 3, 5)
PLAIN = numpy.arange(60.0).reshape(SHAPE)


def basic_key(size: int) -> st.SearchStrategy:
    def forward(triple):
        start, stop, step = triple
        return slice(start, stop, step)

    bounds = st.none() | st.integers(-size - 2, size + 2)
    return st.one_of(
        st.integers(-size, size - 1),
        st.tuples(bounds, bounds, st.none() | st.integers(1, 3)).map(forward),
    )


@st.composite
def keys(draw):
    """A tuple of integers, slices and None, perhaps with an Ellipsis."""
    count = draw(st.integers(0, 3))
    ellipsis_at = draw(st.none() | st.integers(0, count))
    key = []
    for i in range(count):
        if ellipsis_at == i:
            key.append(Ellipsis)
        if draw(st.booleans()) and draw(st.booleans()):
            key.append(None)
        dim = i if ellipsis_at is None or i < ellipsis_at else 3 - count + i
        key.append(draw(basic_key(SHAPE[dim])))
    return tuple(key)


@settings(max_examples=300, deadline=None)
@given(keys())
def test_basic_read(key):
    found, wanted = libdl.from_numpy(PLAIN)[key], PLAIN[key]
    assert tuple(found.shape) == wanted.shape
    assert numpy.array_equal(found.numpy(), wanted)


@settings(max_examples=200, deadline=None)
@given(keys())
def test_basic_write(key):
    plain = PLAIN.copy()
    x = libdl.tensor(plain)
    plain[key] = -1.0
    x[key] = -1.0
    assert numpy.array_equal(x.numpy(), plain)


@st.composite
def index_arrays(draw):
    """Index arrays of one shape mixed with slices and None, in any order."""
    shape = draw(st.sampled_from([(2,), (3,), (2, 2), (1,)]))
    key = []
    for size in SHAPE[: draw(st.integers(1, 3))]:
        kind = draw(st.sampled_from(["array", "slice", "list", "all"]))
        values = numpy.array(
            draw(
                st.lists(
                    st.integers(-size, size - 1),
                    min_size=int(numpy.prod(shape)),
                    max_size=int(numpy.prod(shape)),
                )
            )
        ).reshape(shape)
        if kind == "array":
            key.append(values)
        elif kind == "list":
            key.append(values.tolist())
        elif kind == "slice":
            key.append(slice(draw(st.integers(0, size - 1)), None))
        else:
            key.append(slice(None))
    return tuple(key)


@settings(max_examples=300, deadline=None)
@given(index_arrays())
def test_index_arrays(key):
    wanted = PLAIN[key]
    as_tensors = tuple(libdl.tensor(k) if isinstance(k, numpy.ndarray) else k for k in key)
    found = libdl.from_numpy(PLAIN)[as_tensors]
    assert tuple(found.shape) == wanted.shape
    assert numpy.array_equal(found.numpy(), wanted)


@settings(max_examples=100, deadline=None)
@given(index_arrays())
def test_index_arrays_write(key):
    plain = PLAIN.copy()
    x = libdl.tensor(plain)
    plain[key] = 7.0
    x[key] = 7.0
    assert numpy.array_equal(x.numpy(), plain)


@pytest.mark.parametrize("mask_shape", [(4,), (4, 3), (4, 3, 5)])
def test_masks(mask_shape):
    mask = numpy.random.default_rng(1).random(mask_shape) > 0.5
    x = libdl.tensor(PLAIN)
    assert numpy.array_equal(x[libdl.tensor(mask)].numpy(), PLAIN[mask])
    assert numpy.array_equal(x[mask].numpy(), PLAIN[mask])
    plain = PLAIN.copy()
    plain[mask] = 0
    x[libdl.tensor(mask)] = 0
    assert numpy.array_equal(x.numpy(), plain)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "bool", "complex64"])
def test_a_number_where_a_mask_is_true(dtype):
    plain = (numpy.arange(240) % 7 > 2).astype(dtype).reshape(12, 20)
    for part in (numpy.s_[:, :], numpy.s_[:, ::2], numpy.s_[1:3]):
        for transposed in (False, True):
            whole, wanted = libdl.tensor(plain), plain.copy()
            x, y = whole[part], wanted[part]
            if transposed:
                x, y = x.t(), y.T
            mask = numpy.random.default_rng(2).random(y.shape) > 0.5
            x[libdl.tensor(mask)] = 1
            y[mask] = 1
            assert numpy.array_equal(whole.numpy(), wanted)
    x = libdl.tensor([True, True, False])
    x[x] = False
    assert x.tolist() == [False, False, False]


def test_a_number_where_a_mask_is_true_has_a_gradient():
    x, v = libdl.ones(3, requires_grad=True), libdl.tensor(2.0, requires_grad=True)
    y = x * 3
    y[libdl.tensor([True, False, True])] = v
    y.sum().backward()
    assert x.grad.tolist() == [0, 3, 0]
    assert v.grad.item() == 2


def test_mask_between_slices():
    mask = numpy.array([True, False, True])
    x = libdl.tensor(PLAIN)
    assert numpy.array_equal(x[1:, mask].numpy(), PLAIN[1:, mask])
    assert numpy.array_equal(x[:, mask, 2].numpy(), PLAIN[:, mask, 2])


def test_truth_values():
    x = libdl.tensor([1.0, 2.0])
    assert tuple(x[True].shape) == (1, 2)
    assert tuple(x[False].shape) == (0, 2)
    assert tuple(x[libdl.tensor(True)].shape) == (1, 2)


def test_scalar_tensor_selects():
    x = libdl.tensor(PLAIN)
    assert numpy.array_equal(x[libdl.tensor(1)].numpy(), PLAIN[1])
    assert numpy.array_equal(x[libdl.tensor(1), 2].numpy(), PLAIN[1, 2])
    assert x[numpy.int64(1)].tolist() == PLAIN[1].tolist()


def test_views_share_memory():
    x = libdl.zeros(3, 4)
    x[1][2] = 5
    x[:, 0] += 1
    x[...][0, 3] = 9
    assert x.tolist() == [[1, 0, 0, 9], [1, 0, 5, 0], [1, 0, 0, 0]]
    assert x[:].data_ptr() == x.data_ptr() and x[:] is not x


def test_values_broadcast():
    x = libdl.zeros(3, 4)
    x[0] = libdl.arange(4.0)
    x[1:] = libdl.ones(1, 1, 4)
    x[2, 1:3] = [8, 9]
    assert x.tolist() == [[0, 1, 2, 3], [1, 1, 1, 1], [1, 8, 9, 1]]


def test_gradient_through_index():
    x = libdl.ones(4, requires_grad=True)
    y = x * 2
    y[1] = 10
    (y[libdl.tensor([0, 0, 3])].sum() + y[1]).backward()
    assert x.grad.tolist() == [4, 0, 0, 2]


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (4, IndexError),
        ((0, 0, 0, 0), IndexError),
        ("a", TypeError),
        (1.0, IndexError),
        (slice(None, None, -1), ValueError),
        (slice(None, None, 0), ValueError),
        ([9], IndexError),
        (numpy.zeros((5,), bool), IndexError),
    ],
)
def test_errors(key, kind):
    x = libdl.tensor(PLAIN)
    with pytest.raises(kind):
        x[key]
    before = x.clone()
    with pytest.raises(kind):
        x[key] = 1
    assert libdl.equal(x, before)


def test_zero_dimensional():
    x = libdl.tensor(5.0)
    assert x[()].item() == 5 and x[...].item() == 5 and tuple(x[None].shape) == (1,)
    with pytest.raises(IndexError):
        x[0]
    with pytest.raises(TypeError):
        len(x)
    with pytest.raises(TypeError):
        iter(x)


def test_iteration():
    x = libdl.tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    a, b = x
    assert b.tolist() == [3, 4]
    assert 3 in x and 7 not in x
    assert [row.tolist() for row in reversed(x)] == [[3, 4], [1, 2]]


@pytest.mark.parametrize("key", [1.5, {1: 2}, 2j, (0, 1.5), (slice(None), object())])
def test_other_keys_are_index_errors(key):
    with pytest.raises(IndexError, match="wanted integers, slices"):
        libdl.ones(2, 3)[key]


def test_text_as_a_key_is_a_type_error():
    for key in ("a", b"a", (0, "a")):
        with pytest.raises(TypeError):
            libdl.ones(2, 3)[key]


# -- as PyTorch 2.15 answers -----------------------------------------------------------------------

ROW = libdl.arange(4.0)
GRID = libdl.arange(6.0).view(2, 3)
PAIR = libdl.tensor([0, 1])


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        (True, (1, 4)),
        (False, (0, 4)),
        ((True, False), (0, 4)),
        ((False, True), (0, 4)),
        ((True, True), (1, 4)),
        ((True, True, True), (1, 4)),
        ((libdl.tensor(True), False), (0, 4)),
        ((True, 0), (1,)),
        ((False, 0), (0,)),
        ((None, True), (1, 1, 4)),
        ((True, None), (1, 1, 4)),
        ((Ellipsis, True), (4, 1)),
        ((slice(None), False), (4, 0)),
        ((True, PAIR), (2,)),
        ((PAIR, True), (2,)),
        ((True, slice(None), False), (0, 4)),
    ],
)
def test_truths_broadcast(key, shape):
    assert ROW[key].shape == shape


def test_truths_and_index_tensors():
    assert GRID[True, PAIR].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert GRID[True, 1, PAIR].tolist() == [3, 4]
    for key in ((False, PAIR), (PAIR, False), (PAIR, libdl.tensor([0, 1, 2]))):
        with pytest.raises(IndexError, match="broadcast"):
            GRID[key]


@pytest.mark.parametrize("key", [True, libdl.tensor(True), (True, True), (True, Ellipsis)])
def test_writes_through_truths(key):
    x = libdl.zeros(2)
    x[key] = 5
    assert x.tolist() == [5, 5]
    x[key] = libdl.tensor([1.0, 2.0])
    assert x.tolist() == [1, 2]
    x[True, False] = 9
    x[False] = 9
    assert x.tolist() == [1, 2]


def test_leading_ones_of_a_value_are_dropped():
    value = libdl.tensor([7.0, 8.0])
    for values in (value, value[None], value[None, None]):
        x = ROW.clone()
        x[x > 1] = values
        assert x.tolist() == [0, 1, 7, 8]
        x[PAIR] = values
        assert x.tolist() == [7, 8, 7, 8]
    with pytest.raises(RuntimeError, match="broadcast"):
        x[PAIR] = value[:, None]
    leaf = value.clone().requires_grad_()
    x = libdl.zeros(4)
    x[PAIR] = leaf[None]
    x.sum().backward()
    assert leaf.grad.tolist() == [1, 1]


def test_floating_indices_are_index_errors():
    for key in (libdl.tensor([1.5]), (slice(None), libdl.tensor([0.0]))):
        with pytest.raises(IndexError):
            GRID[key]
        with pytest.raises(IndexError):
            GRID.clone()[key] = 1
