# SPDX-License-Identifier: Apache-2.0
"""Objects, handles and memory: every order of death leaves nothing alive."""

import copy
import gc
import itertools
import pickle
import weakref

import numpy
import pytest

import libdl

pytestmark = pytest.mark.usefixtures("no_leak")


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_array_view_and_tensors_in_every_order(order):
    x = libdl.arange(6.0)
    held = [x, x.view(2, 3), x.numpy(), libdl.from_dlpack(x)]
    del x
    for i in order:
        held[i] = None
    assert held == [None] * 4


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_foreign_memory_in_every_order(order):
    array = numpy.arange(6.0)
    alive = weakref.ref(array)
    held = [libdl.from_numpy(array), libdl.from_dlpack(array), array]
    del array
    for i in order:
        held[i] = None
    gc.collect()
    assert alive() is None


def test_same_handle_same_object():
    p = libdl.ones(3, requires_grad=True)
    (p * 2).sum().backward()
    assert p.grad is p.grad
    gradient = p.grad
    gradient.note = "kept"
    assert p.grad.note == "kept"
    assert p.contiguous() is p and p.contiguous(memory_format=None) is p
    assert p.to(libdl.float32) is p


def test_attribute_cycle_is_collected():
    x = libdl.ones(3)
    x.me = x
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


def test_weak_reference():
    x = libdl.ones(3)
    seen = []
    reference = weakref.ref(x, seen.append)
    assert reference() is x
    del x
    assert reference() is None and len(seen) == 1


def test_leaf_outlived_by_its_graph():
    p = libdl.ones(3, requires_grad=True)
    loss = (p * p).sum()
    alive = weakref.ref(p)
    del p
    assert alive() is None
    loss.backward()


def test_graph_without_backward():
    x = libdl.ones(3, requires_grad=True)
    for _ in range(100):
        x = x * 1.01
    assert x.requires_grad


def test_hook_closures_die_with_the_tensor():
    class Counter:
        calls = 0

    counter = Counter()
    alive = weakref.ref(counter)

    def hook(gradient, counter=counter):
        counter.calls += 1

    x = libdl.ones(2, requires_grad=True)
    x.register_hook(hook)
    (x * 2).sum().backward()
    assert counter.calls == 1
    del counter, hook, x
    gc.collect()
    assert alive() is None


def test_subclass_and_its_attributes():
    class Named(libdl.Tensor):
        pass

    x = libdl.ones(3).as_subclass(Named)
    x.name = "x"
    y = x + 1
    assert type(y) is Named and type(x[0]) is Named and type(libdl.exp(x)) is Named
    assert isinstance(x, libdl.Tensor)
    assert y.tolist() == [2, 2, 2]
    z = copy.deepcopy(x)
    assert type(z) is Named and z.name == "x" and z is not x


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]
)
def test_pickle(dtype):
    x = libdl.tensor([[1, 0], [3, 1]]).to(getattr(libdl, dtype) if dtype != "bool" else libdl.bool)
    if x.dtype.is_floating_point:
        x.requires_grad = True
    y = pickle.loads(pickle.dumps(x))
    assert y.dtype is x.dtype and y.requires_grad == x.requires_grad
    assert y.tolist() == x.tolist()
    assert pickle.loads(pickle.dumps(x.dtype)) is x.dtype


def test_pickle_parameter_and_module():
    layer = libdl.nn.Linear(3, 2)
    layer.weight.tag = "w"
    twin = pickle.loads(pickle.dumps(layer))
    assert type(twin.weight) is libdl.nn.Parameter and twin.weight.requires_grad
    assert twin.weight.tag == "w"
    assert libdl.equal(twin.weight, layer.weight)


def test_copy():
    x = libdl.ones(3, requires_grad=True)
    shallow, deep = copy.copy(x), copy.deepcopy(x)
    assert shallow.data_ptr() == x.data_ptr() and deep.data_ptr() != x.data_ptr()
    assert shallow.requires_grad and deep.requires_grad
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(x * 2)


def test_resurrection():
    kept = []

    class Stubborn(libdl.Tensor):
        def __del__(self):
            kept.append(self)

    x = libdl.ones(3).as_subclass(Stubborn)
    del x
    gc.collect()
    (again,) = kept
    assert again.tolist() == [1, 1, 1]
    kept.clear()
    del again


def test_data():
    p = libdl.ones(2, requires_grad=True)
    p.data = libdl.zeros(2)
    assert p.tolist() == [0, 0] and p.requires_grad and p.is_leaf
    p.data[0] = 5
    assert p.tolist() == [5, 0]


def test_contiguous_is_asked_of_a_class_that_takes_operators_over():
    asked = []

    class Asked(libdl.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = libdl.ones(2, 3).as_subclass(Asked)
    assert x.contiguous() is not None and asked == [libdl.Tensor.contiguous]
    assert not x.t().is_contiguous() and type(x.t().contiguous()) is Asked
    with pytest.raises(TypeError, match=r"contiguous\(\) takes"):
        libdl.ones(2).contiguous(1, 2)
