# SPDX-License-Identifier: Apache-2.0
"""What programs of PyTorch's early years still write."""

import copy
import pickle

import pytest

import libdl
from libdl import nn
from libdl.autograd import Variable
from libdl.nn import functional as F


def test_variable_is_another_tensor_over_the_memory():
    x = libdl.tensor([1.0, 2.0])
    v = Variable(x, requires_grad=True)
    assert v is not x and v.requires_grad and v.is_leaf and not x.requires_grad
    assert v.data_ptr() == x.data_ptr()
    assert isinstance(x, Variable) and not isinstance(5, Variable)
    assert not Variable(v).requires_grad and Variable(v * 2, True).is_leaf
    with pytest.warns(UserWarning, match="no_grad"):
        assert not Variable(x, volatile=True).requires_grad
    with pytest.raises(TypeError):
        Variable([1.0])


def test_only_inputs():
    x = libdl.tensor([1.0, 2.0], requires_grad=True)
    (found,) = libdl.autograd.grad((x * 2).sum(), x, only_inputs=True)
    assert found.tolist() == [2, 2]
    with pytest.warns(FutureWarning, match="only_inputs"):
        libdl.autograd.grad((x * 2).sum(), x, only_inputs=False)


@pytest.mark.filterwarnings("ignore:size_average")
def test_size_average_and_reduce():
    a, b = libdl.tensor([1.0, 2.0]), libdl.tensor([2.0, 3.0])
    x, y = libdl.arange(6.0).view(2, 3), libdl.tensor([0, 1])
    for found, wanted in (
        (F.mse_loss(a, b, size_average=False), 2),
        (F.mse_loss(a, b, size_average=True), 1),
        (F.mse_loss(a, b, reduce=False), [1, 1]),
        (F.mse_loss(a, b, None, None, "sum"), 2),
        (F.mse_loss(a, b, reduce=False, size_average=False), [1, 1]),
        (F.mse_loss(a, b, size_average=False, reduce=True), 2),
        (F.l1_loss(a, b, size_average=False), 2),
        (F.nll_loss(x, y, size_average=False), -4),
        (F.nll_loss(x, y, reduce=False), [0, -4]),
        (F.nll_loss(x, y, None, False), -4),
        (F.nll_loss(x, y, None, None, 0), -4),
        (nn.MSELoss(size_average=False)(a, b), 2),
        (nn.L1Loss(reduce=False)(a, b), [1, 1]),
        (nn.NLLLoss(size_average=False)(x, y), -4),
        (nn.MSELoss(None, None, "sum")(a, b), 2),
        (nn.MSELoss(False)(a, b), 2),
    ):
        assert found.tolist() == wanted
    wanted = 3.8152120113372803
    assert F.cross_entropy(x, y, size_average=False).item() == pytest.approx(wanted, rel=1e-6)
    assert nn.CrossEntropyLoss(None, False)(x, y).item() == pytest.approx(wanted, rel=1e-6)
    assert nn.MSELoss(size_average=False).reduction == "sum"
    with pytest.raises(ValueError, match=r"l1_loss: argument 3 \(reduction\)"):
        F.l1_loss(a, b, reduction="average")


def test_size_average_warns():
    with pytest.warns(UserWarning, match="use reduction='sum' instead"):
        F.mse_loss(libdl.ones(1), libdl.ones(1), size_average=False)


def test_frombuffer():
    buffer = bytearray(b"12345678")
    assert libdl.frombuffer(buffer, dtype=libdl.float32, count=1).shape == (1,)
    assert libdl.frombuffer(buffer, dtype=libdl.float32, offset=4).shape == (1,)
    assert libdl.frombuffer(buffer, dtype=libdl.uint8, offset=3, count=2).tolist() == [52, 53]
    assert libdl.frombuffer(buffer, dtype=libdl.int32, count=-2).shape == (2,)
    assert libdl.frombuffer(buffer, dtype=libdl.float32, requires_grad=True).is_leaf
    x = libdl.frombuffer(buffer, dtype=libdl.uint8)
    x[0] = 65
    assert buffer[:1] == b"A" and x._base is None


@pytest.mark.parametrize(
    "options",
    [
        {"count": 3},
        {"count": 0},
        {"offset": 8},
        {"offset": 9},
        {"offset": -1},
        {"offset": 3},
        {"offset": 4, "count": 2},
        {"count": 2**62},
    ],
)
def test_frombuffer_refuses(options):
    with pytest.raises(ValueError, match="frombuffer"):
        libdl.frombuffer(bytearray(b"12345678"), dtype=libdl.float32, **options)


def test_frombuffer_refuses_what_is_no_buffer():
    for buffer in (5, bytearray(b""), bytearray(b"1234567")):
        with pytest.raises(ValueError, match="frombuffer"):
            libdl.frombuffer(buffer, dtype=libdl.float32)
    with pytest.raises(TypeError):
        libdl.frombuffer(bytearray(b"1234"))
    with pytest.raises(TypeError):
        libdl.frombuffer(bytearray(b"1234"), dtype=None)


def test_from_dlpack_of_no_tensor():
    for value in (5, None, "a", [1.0]):
        with pytest.raises(TypeError, match="from_dlpack: found"):
            libdl.from_dlpack(value)


@pytest.mark.parametrize(
    "copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
def test_copies_keep_strides(copied):
    x = libdl.arange(6.0).view(2, 3)
    for view in (
        x,
        x.t(),
        x[:, 1:],
        x[:, ::2],
        x[0].expand(2, 3),
        x[1, 1],
        libdl.ones(0, 3),
        libdl.ones(3, 0).t(),
        x.t().to(libdl.bfloat16),
    ):
        found = copied(view)
        assert found.stride() == view.stride() and found.tolist() == view.tolist()
        assert found.dtype is view.dtype and found.is_leaf and found._base is None
    leaf = copied(x.t().requires_grad_())
    assert leaf.requires_grad and leaf.is_leaf and leaf.stride() == (1, 3)
    assert copied(nn.Parameter(x.t())).stride() == (1, 3)


def test_pickle_of_a_result():
    x = libdl.ones(2, requires_grad=True)
    found = pickle.loads(pickle.dumps(x * 2))
    assert found.tolist() == [2, 2] and found.requires_grad and found.is_leaf
    with pytest.raises(RuntimeError, match="only leaves"):
        copy.deepcopy(x * 2)


def test_dir_of_modules():
    import importlib
    import pkgutil

    for module in pkgutil.iter_modules(libdl.__path__):
        if module.name != "__main__":
            assert dir(importlib.import_module(f"libdl.{module.name}")), module.name
    assert "softmax" in dir(libdl.ones(1))
