# SPDX-License-Identifier: Apache-2.0
"""What looks behind the operators finds no values in a tensor that vmap maps over, and raises."""

import copy
import pickle

import numpy
import pytest

import libdl
from libdl import nn

READERS = {
    "numpy.asarray": numpy.asarray,
    "numpy.array": numpy.array,
    "Parameter": nn.Parameter,
    "Buffer": nn.Buffer,
    "Tensor": libdl.Tensor,
    "from_dlpack": libdl.from_dlpack,
    "numpy.from_dlpack": numpy.from_dlpack,
    "__dlpack__": lambda x: x.__dlpack__(),
    "tolist": lambda x: x.tolist(),
    "item": lambda x: x[0].item(),
    "numpy": lambda x: x.numpy(),
    "data_ptr": lambda x: x.data_ptr(),
    "storage": lambda x: x.untyped_storage(),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": pickle.dumps,
    "float": lambda x: float(x[0]),
    "int": lambda x: int(x[0]),
    "bool": lambda x: bool(x[0]),
    "index": lambda x: [1, 2, 3][x[0].long()],
    "complex": lambda x: complex(x[0]),
    "in": lambda x: 1.0 in x,
    "memoryview": memoryview,
    "max of Python": lambda x: max(x[0], x[1]),
    "subclass": lambda x: x.as_subclass(type("Sub", (libdl.Tensor,), {})),
    "set_": lambda x: x.set_(libdl.ones(3)),
    "resize_": lambda x: x.resize_(4),
    "data": lambda x: setattr(x, "data", libdl.ones(3)),
    "grad": lambda x: setattr(x, "grad", libdl.ones(3)),
    "share_memory_": lambda x: x.share_memory_(),
    "hook": lambda x: x.register_hook(abs),
    "frombuffer": lambda x: libdl.frombuffer(x, dtype=libdl.float32),
    "nonzero": lambda x: x.nonzero(),
    "where": lambda x: libdl.where(x > 0),
    "equal": lambda x: libdl.equal(x, x),
    "backward": lambda x: x.sum().backward(),
    "tensor of numbers": lambda x: libdl.tensor([x[0], 1.0]),
}


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("name", READERS)
def test_no_reader_sees_a_sample(name, levels):
    seen = []

    def function(x):
        seen.append(READERS[name](x))
        return x * 1

    for _ in range(levels):
        function = libdl.vmap(function)
    with pytest.raises(RuntimeError):
        function(libdl.rand(*[3] * levels, 3))
    assert not seen


def test_geometry_is_that_of_a_sample():
    def check(x):
        assert x.shape == (2, 5) and x.ndim == 2 and x.dtype is libdl.float64 and len(x) == 2
        assert x.stride() == (5, 1) and x.is_contiguous() and x.numel() == 10 and x.size(1) == 5
        assert x.device.type == "cpu" and x.itemsize == 8 and x.nbytes == 80
        assert x.layout is libdl.strided and x.T.shape == (5, 2) and x.T.stride() == (1, 5)
        assert (x == None) is False and (x != None) is True  # noqa: E711
        assert not x.requires_grad and x.grad is None and "shape=[2, 5]" in repr(x)
        return x.real + x

    x = libdl.rand(3, 2, 5, dtype=libdl.float64)
    assert libdl.equal(libdl.vmap(check)(x), 2 * x)


def test_a_tensor_that_outlives_its_vmap():
    kept = []
    libdl.vmap(lambda x: kept.append(x) or x * 1)(libdl.ones(2, 3))
    with pytest.raises(RuntimeError, match="a tensor of a vmap that has ended"):
        kept[0] + 1
    with pytest.raises(RuntimeError, match="a tensor of a vmap that has ended"):
        libdl.vmap(lambda x: x + kept[0])(libdl.ones(2, 3))
    assert "Batched" in repr(kept[0])


def test_local_variables_of_relaying_functions_can_be_read():
    """As a debugger does, and pytest."""

    def locals_of(error):
        trace = error.__traceback__
        while trace:
            dict(trace.tb_frame.f_locals)
            trace = trace.tb_next

    def function(x):
        with pytest.raises(RuntimeError) as caught:
            x.baddbmm_(x, x)  # made by a function that closes over another
        locals_of(caught.value)
        return x

    libdl.vmap(function)(libdl.ones(2, 3))
