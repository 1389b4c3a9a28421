# SPDX-License-Identifier: Apache-2.0
"""Results of three dimensions are given to Python in every way that there is. In the builds of
tests/gates/packed they have no plain bytes until somebody asks."""

import copy
import ctypes
import io
import pickle
import struct
from collections.abc import Callable

import numpy
import pytest

import libdl

pytestmark = pytest.mark.usefixtures("no_leak")
WANTED = [[[1.0, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]


def result() -> libdl.Tensor:
    return libdl.arange(12.0).view(2, 2, 3) + 1


def by_address(x: libdl.Tensor) -> list[float]:
    return list(struct.unpack("12f", ctypes.string_at(x.data_ptr(), 48)))


def saved(x: libdl.Tensor) -> libdl.Tensor:
    file = io.BytesIO()
    libdl.save({"x": x}, file)
    file.seek(0)
    return libdl.load(file)["x"]


READERS: dict[str, Callable[[libdl.Tensor], object]] = {
    "tolist": lambda x: x.tolist(),
    "item": lambda x: [[[e.item() for e in row] for row in rows] for rows in x],
    "numpy": lambda x: x.numpy().tolist(),
    "array": lambda x: numpy.asarray(x).tolist(),
    "buffer": lambda x: memoryview(x).tolist(),
    "dlpack": lambda x: numpy.from_dlpack(x).tolist(),
    "address": lambda x: numpy.array(by_address(x)).reshape(2, 2, 3).tolist(),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)).tolist(),
    "deepcopy": lambda x: copy.deepcopy(x).tolist(),
    "save": lambda x: saved(x).tolist(),
    "cpu": lambda x: x.cpu().tolist(),
    "iterate": lambda x: [row.tolist() for row in x],
}


@pytest.mark.parametrize("way", READERS)
def test_what_python_reads(way: str) -> None:
    assert READERS[way](result()) == WANTED
    x = result()
    assert READERS[way](x) == READERS[way](x) == WANTED  # once there, bytes stay


def test_printed() -> None:
    assert repr(result()) == (
        "tensor([[[ 1.,  2.,  3.],\n         [ 4.,  5.,  6.]],\n\n"
        "        [[ 7.,  8.,  9.],\n         [10., 11., 12.]]])"
    )


def test_what_numpy_writes_is_seen() -> None:
    x = result()
    x.numpy()[1, 1, 2] = 50
    y = result()
    numpy.from_dlpack(y)[0, 0, 0] = 60
    z = x + y
    assert z[1, 1, 2].item() == 62 and z[0, 0, 0].item() == 61
    assert (x * 2)[1, 1, 2].item() == 100


def convolved(dims: int) -> libdl.Tensor:
    """A result of which a convolution has left a form of its own."""
    conv = [None, libdl.nn.functional.conv1d, libdl.nn.functional.conv2d][dims]
    shape = (12,) * dims
    libdl.manual_seed(1)
    return conv(libdl.randn(2, 16, *shape), libdl.randn(16, 16, *(3,) * dims), padding=1)


FIRST, SECOND = libdl.tensor([0, 1]), libdl.tensor([3, 5])
NONE, ROWS = libdl.tensor(0.0), libdl.ones(2, 2, 12, 12)
CHANGES: dict[str, tuple[int, Callable[[libdl.Tensor], libdl.Tensor]]] = {
    "index_put": (2, lambda x: x.index_put((FIRST, SECOND), NONE)),
    "index_put, added": (2, lambda x: x.index_put((FIRST, SECOND), NONE + 1, accumulate=True)),
    "index_put of a choice": (2, lambda x: x.index_put((x > 0,), NONE)),
    "index_fill": (2, lambda x: x.index_fill(1, SECOND, 0.0)),
    "index_copy": (2, lambda x: x.index_copy(1, SECOND, ROWS)),
    "index_copy of the first": (
        2,
        lambda x: x.index_copy(0, FIRST[:1], ROWS[:1, :1].expand(1, 16, 12, 12)),
    ),
    "index_add": (2, lambda x: x.index_add(1, SECOND, ROWS)),
    "scatter": (2, lambda x: x.scatter(1, SECOND.view(2, 1, 1, 1), 0.0)),
    "scatter_add": (2, lambda x: x.scatter_add(1, SECOND.view(2, 1, 1, 1), ROWS)),
    "masked_scatter": (2, lambda x: x.masked_scatter(x > 0, libdl.zeros(x.numel()))),
    "masked_fill": (2, lambda x: x.masked_fill(x > 0, 0.0)),
    "select_scatter": (2, lambda x: x.select_scatter(libdl.zeros(2, 12, 12), 1, 3)),
    "put": (2, lambda x: x.put(SECOND, libdl.zeros(2))),
    "baddbmm": (1, lambda x: libdl.baddbmm(x, libdl.ones(2, 16, 3), libdl.ones(2, 3, 12))),
    "addmm": (1, lambda x: libdl.addmm(x[1], libdl.ones(16, 3), libdl.ones(3, 12))),
    "cumsum": (1, lambda x: x.cumsum(-1)),
    "roll": (2, lambda x: x.roll(1, 1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_a_convolutions_result(name: str) -> None:
    dims, change = CHANGES[name]
    plain = libdl.tensor(convolved(dims).tolist())
    assert libdl.equal(change(convolved(dims)), change(plain))


@pytest.mark.parametrize("dtype", [libdl.float16, libdl.bfloat16, libdl.float32])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_recurrent_layer_gives_the_same_bits_again(kind, dtype):
    """From the second time on products of 16 bits read panels that are kept with the weights;
    beside float32 states those are other numbers."""
    layer = getattr(libdl.nn, kind)(5, 33, 2).to(dtype)
    x = libdl.rand(4, 3, 5).to(dtype)

    def values_and_gradients():
        layer.zero_grad()
        y = layer(x)[0]
        y.sum().backward()
        return [y, *(p.grad for p in layer.parameters())]

    first = values_and_gradients()
    libdl.nn.functional.linear(libdl.rand(3, 5).to(dtype), layer.weight_ih_l0)  # may pack it, too
    for _ in range(3):
        assert all(map(libdl.equal, values_and_gradients(), first))
    wide = getattr(libdl.nn, kind)(5, 33, 2).double()
    wide.load_state_dict(layer.state_dict())
    # Sums of 33 products, each rounded to the dtype of the states: 2^-8 of numbers below 1.
    assert libdl.allclose(first[0].double(), wide(x.double())[0], atol=2**-7)
