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
