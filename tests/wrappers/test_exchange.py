# SPDX-License-Identifier: Apache-2.0
"""Memory shared with NumPy and by DLPack."""

import ctypes
from collections.abc import Callable

import numpy
import pytest

import libdl

pytestmark = pytest.mark.usefixtures("no_leak")
DTYPES = """
    bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64
    complex128
""".split()


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_both_ways(name):
    array = numpy.array([[0, 1, 2], [3, 4, 5]]).astype(name)
    x = libdl.from_numpy(array)
    assert x.dtype.name == name and tuple(x.shape) == (2, 3)
    assert x.data_ptr() == array.ctypes.data
    back = x.numpy()
    assert back.dtype == array.dtype and numpy.array_equal(back, array)
    back[0, 0] = 1
    assert array[0, 0] == 1 and x[0, 0].item() == 1


@pytest.mark.parametrize(
    "key",
    [
        (slice(None, None, 2),),
        (slice(None), slice(None, None, -1)),
        (slice(1, 1),),
        (None, slice(None), 1),
    ],
)
def test_strides(key):
    array = numpy.arange(12.0).reshape(4, 3)[key]
    x = libdl.from_numpy(array)
    assert numpy.array_equal(x.numpy(), array)
    assert numpy.array_equal(
        numpy.from_dlpack(libdl.arange(12.0).view(4, 3).t()),
        numpy.arange(12, dtype="f4").reshape(4, 3).T,
    )


def test_read_only_memory():
    array = numpy.arange(3.0)
    array.flags.writeable = False
    x = libdl.from_numpy(array)
    assert not x.numpy().flags.writeable
    with pytest.raises((RuntimeError, ValueError)):
        x += 1
    assert array.tolist() == [0, 1, 2]
    assert (x + 1).tolist() == [1, 2, 3]


def test_numpy_of_what_requires_grad():
    x = libdl.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="detach"):
        x.numpy()
    assert x.numpy(force=True).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="detach"):
        numpy.asarray(x)
    with pytest.raises(TypeError, match="bfloat16"):
        libdl.ones(1, dtype=libdl.bfloat16).numpy()


def test_array_interfaces():
    x = libdl.arange(4.0)
    assert numpy.asarray(x).tolist() == [0, 1, 2, 3]
    assert numpy.array(x, dtype="i8").dtype == numpy.dtype("i8")
    assert numpy.sin(x.numpy()).shape == (4,)
    assert memoryview(x).format == "f" and memoryview(x).shape == (4,)
    assert bytes(memoryview(libdl.tensor([1, 2], dtype=libdl.uint8))) == b"\x01\x02"


def test_buffer_write_is_seen():
    x = libdl.zeros(3)
    version = x._version
    view = memoryview(x)
    view[1] = 4.0
    view.release()
    assert x.tolist() == [0, 4, 0]
    assert x._version > version


def test_dlpack_capsules():
    x = libdl.arange(3.0)
    capsule = x.__dlpack__(max_version=(1, 3))
    assert 'dltensor_versioned"' in repr(capsule)
    y = libdl.from_dlpack(capsule)
    assert y.data_ptr() == x.data_ptr()
    with pytest.raises(ValueError, match="consumed"):
        libdl.from_dlpack(capsule)
    assert '"dltensor"' in repr(x.__dlpack__())
    assert x.__dlpack_device__() == (1, 0)
    assert libdl.from_dlpack(x.__dlpack__()).tolist() == [0, 1, 2]


def test_dlpack_strides_of_dimensions_without_a_step():
    """Those of size 1, or of what is empty, are kept if they may be; PyTorch's answers."""
    base = numpy.zeros(9)
    for shape, steps, wanted in (
        ((1, 3), (800, 8), (100, 1)),
        ((1, 3), (0, 8), (0, 1)),
        ((1, 3), (-8, 8), (3, 1)),
        ((3, 1), (8, -72), (1, 1)),
        ((1, 1), (-8, -8), (1, 1)),
        ((1, 2), (-16, 16), (4, 2)),
    ):
        array = numpy.lib.stride_tricks.as_strided(base, shape, steps)
        assert libdl.from_dlpack(array).stride() == wanted
    for shape, strides in (((1, 3), (7, 1)), ((0, 1, 3), (6, 100, 2)), ((1, 0), (3, 1))):
        x = libdl.zeros(1000).as_strided(shape, strides)
        assert libdl.from_dlpack(x).stride() == strides


def test_dlpack_copy():
    x = libdl.arange(3.0)
    assert libdl.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    assert libdl.from_dlpack(x, copy=False).data_ptr() == x.data_ptr()
    array = numpy.arange(3.0)
    assert libdl.from_dlpack(array).data_ptr() == array.ctypes.data
    assert libdl.from_dlpack(array, copy=True).data_ptr() != array.ctypes.data


def test_dlpack_refuses_history():
    with pytest.raises(RuntimeError):
        libdl.ones(2, requires_grad=True).__dlpack__()


def test_exchange_table():
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = get(libdl.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
    words = (ctypes.c_uint64 * 7).from_address(address)
    version = (ctypes.c_uint32 * 2).from_address(address)
    assert tuple(version) == (1, 3)
    assert all(words[2:7])  # every function is there
    borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(words[5])
    x = libdl.arange(6.0).view(2, 3)
    dl_tensor = (ctypes.c_int64 * 6)()
    assert borrow(x, ctypes.addressof(dl_tensor)) == 0
    assert dl_tensor[0] == x.data_ptr()
    shape = (ctypes.c_int64 * 2).from_address(dl_tensor[3])
    assert tuple(shape) == (2, 3)


def test_frombuffer():
    assert libdl.frombuffer(b"\x01\x02\x03\x04", dtype=libdl.uint8, offset=1).tolist() == [2, 3, 4]
    assert libdl.frombuffer(bytearray(8), dtype=libdl.float32).tolist() == [0, 0]
    with pytest.raises(ValueError):
        libdl.frombuffer(b"123", dtype=libdl.float32)


@pytest.mark.parametrize("data", [[[1, 2], [3]], [1, [2]], [[1], 2]])
def test_ragged_data(data):
    with pytest.raises(ValueError):
        libdl.tensor(data)


def test_tensor_of_anything():
    assert libdl.tensor([1, 2]).dtype is libdl.int64
    assert libdl.tensor([1, 2.5]).dtype is libdl.float32
    assert libdl.tensor([True]).dtype is libdl.bool
    assert libdl.tensor(1j).dtype is libdl.complex64
    assert libdl.tensor([]).shape == (0,) and libdl.tensor([[], []]).shape == (2, 0)
    assert libdl.tensor(numpy.arange(3)).tolist() == [0, 1, 2]
    assert libdl.tensor([numpy.float32(1), 2]).tolist() == [1, 2]
    assert libdl.tensor([libdl.tensor(1.0), libdl.tensor(2.0)]).tolist() == [1, 2]
    assert libdl.tensor([[1 + 1j]]).tolist() == [[1 + 1j]]
    assert libdl.tensor(3, dtype=libdl.float64).dtype is libdl.float64
    for scalar in (
        numpy.array(1.5),
        numpy.float64(1.5),
        numpy.int32(2),
        numpy.bool_(True),
        numpy.float16(0.5),
        numpy.array(3, dtype="u1"),
    ):
        assert libdl.tensor(scalar).dtype.name == scalar.dtype.name
        assert libdl.as_tensor(scalar).item() == scalar.item()
    x = libdl.ones(2)
    assert libdl.as_tensor(x) is x
    array = numpy.ones(2)
    assert libdl.as_tensor(array).data_ptr() == array.ctypes.data
    with pytest.raises(TypeError):
        libdl.tensor(["a"])


# -- writes by others over values that backward will read ------------------------------------------


def saved():
    """A value that exp saved for backward, its gradient's sum, and the leaf."""
    x = libdl.full((1000,), 0.5, requires_grad=True)
    y = x.exp()
    return x, y, y.sum()


def test_reading_a_saved_value_through_numpy_disturbs_nothing():
    x, y, total = saved()
    array = y.detach().numpy()
    assert array[0] == pytest.approx(numpy.exp(0.5), rel=1e-6)
    version = y._version
    del array
    assert y._version == version
    total.backward()
    assert x.grad is not None


def test_a_write_through_numpy_over_a_saved_value_is_found_when_the_array_goes():
    x, y, total = saved()
    array = y.detach().numpy()
    array[999] += 1e-6
    del array
    with pytest.raises(libdl.Error, match="exp: a value that exp saved .* overwritten by"):
        total.backward()


def test_a_write_through_numpy_over_a_saved_value_is_found_while_the_array_lives():
    x, y, total = saved()
    array = y.detach().numpy()
    array[0] = 7
    with pytest.raises(libdl.Error, match="overwritten by an exporter of its memory"):
        total.backward()


def test_a_write_to_an_array_that_is_older_than_the_saving_is_found():
    x = libdl.full((1000,), 0.5, requires_grad=True)
    factor = libdl.full((1000,), 2.0)
    array = factor.numpy()
    (x * factor).sum().backward()  # nobody wrote
    assert x.grad[0] == 2
    loss = (x * factor).sum()
    array[5] = 3
    with pytest.raises(libdl.Error, match="overwritten by an exporter of its memory"):
        loss.backward()


def test_the_end_of_an_array_that_is_older_than_the_saving_is_no_write():
    x = libdl.full((1000,), 0.5, requires_grad=True)
    factor = libdl.full((1000,), 2.0)
    array = factor.numpy()
    loss = (x * factor).sum()
    del array
    loss.backward()
    assert x.grad[0] == 2


def test_two_arrays_over_one_saved_value():
    x, y, total = saved()
    first, second = y.detach()[:10].numpy(), y.detach()[500:].numpy()
    del first
    second[3] = 0
    with pytest.raises(libdl.Error, match="overwritten"):
        total.backward()


# -- memory that somebody else writes --------------------------------------------------------------


class Exported:
    """Of a NumPy array, by DLPack only."""

    def __init__(self, array: numpy.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def read_only(array: numpy.ndarray) -> numpy.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "take",
    [
        libdl.from_numpy,
        lambda a: libdl.from_numpy(read_only(a)),
        libdl.as_tensor,
        lambda a: libdl.as_tensor(read_only(a)),
        lambda a: libdl.from_dlpack(Exported(a)),
        lambda a: libdl.frombuffer(a, dtype=libdl.float32).reshape(128, 128),
        lambda a: libdl.frombuffer(a.tobytes(), dtype=libdl.float32).reshape(128, 128),
        lambda a: libdl.frombuffer(memoryview(a).toreadonly(), dtype=libdl.float32).view(128, 128),
    ],
)
def test_products_see_what_the_owner_writes(take: Callable[[numpy.ndarray], libdl.Tensor]) -> None:
    array = numpy.ones((128, 128), numpy.float32)
    w, x = take(array), libdl.ones(32, 128)
    for round_ in range(3):
        for _ in range(3):
            assert (x @ w)[0, 0] == w[:, 0].sum()
        array[round_, 0] = 5


def test_products_see_what_is_written_through_a_pointer() -> None:
    w, x = libdl.ones(128, 128), libdl.ones(32, 128)
    for _ in range(3):
        x @ w
    memory = (ctypes.c_float * (128 * 128)).from_address(w.data_ptr())
    for round_ in range(3):
        memory[128 * round_] = 5
        for _ in range(3):
            assert (x @ w)[0, 0].item() == w[:, 0].sum().item() == 128 + 4 * (round_ + 1)


def test_a_pointer_of_read_only_memory_and_of_numbers() -> None:
    array = numpy.ones(3, numpy.float32)
    assert libdl.from_numpy(array).data_ptr() == array.ctypes.data
    x = libdl.frombuffer(b"abcd", dtype=libdl.uint8)
    assert x.data_ptr() == x.data_ptr() != 0
