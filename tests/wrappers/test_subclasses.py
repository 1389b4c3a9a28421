# SPDX-License-Identifier: Apache-2.0
"""Subclasses of Tensor stay what they are: in attributes, iteration and Parameter; what is no
operator is not sent to __torch_function__."""

import copy
import math
import operator
import warnings
from typing import ClassVar

import numpy as np
import pytest

import libdl
from libdl import nn


class Plain(libdl.Tensor):
    pass


seen: list[str] = []


class Watching(libdl.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})


KINDS = [Plain, Watching]


@pytest.fixture(autouse=True)
def nothing_seen():
    seen.clear()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["T", "mT", "H", "mH", "data"])
def test_attributes_are_of_the_class(kind, name):
    x = libdl.rand(2, 3).as_subclass(kind)
    assert type(getattr(x, name)) is kind
    assert type(getattr(libdl.rand(2, 3), name)) is libdl.Tensor
    assert type(getattr(nn.Parameter(libdl.rand(2, 3)), name)) is libdl.Tensor  # as in PyTorch
    with libdl._C.DisableTorchFunctionSubclass():
        assert type(getattr(x, name)) is libdl.Tensor


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_keep_history_and_identity(kind):
    x = libdl.rand(2, 3, requires_grad=True)
    y = x.as_subclass(kind)
    y.mT.sum().backward()
    assert x.grad.tolist() == libdl.ones(2, 3).tolist()
    assert y.data.data_ptr() == y.data_ptr() and not y.data.requires_grad
    z = libdl.tensor(1.0).as_subclass(kind)
    assert z.mT is z and type(z.T) is kind


@pytest.mark.parametrize("kind", KINDS)
def test_iteration_gives_rows_of_the_class(kind):
    x = libdl.rand(2, 3).as_subclass(kind)
    assert [type(row) for row in x] == [kind, kind]
    first, second = x
    assert type(first) is kind and second.tolist() == x[1].tolist()
    assert type(sum(x)) is kind
    assert [type(row) for row in libdl.rand(2, 3)] == [libdl.Tensor] * 2
    with pytest.raises(TypeError, match="0-d tensor"):
        iter(libdl.tensor(1.0).as_subclass(kind))


def test_iteration_is_seen_as_what_it_does():
    iter(libdl.rand(2, 3).as_subclass(Watching))
    assert seen == ["dim", "unbind"]


@pytest.mark.parametrize("kind", KINDS)
def test_as_subclass_asks_nobody(kind):
    x = libdl.rand(2, 3).as_subclass(kind)
    assert type(x.as_subclass(libdl.Tensor)) is libdl.Tensor
    assert type(x.as_subclass(Plain)) is Plain and type(x.as_subclass(Watching)) is Watching
    assert seen == []
    leaf = libdl.rand(2, requires_grad=True)
    leaf.as_subclass(kind).as_subclass(libdl.Tensor).sum().backward()
    assert leaf.grad.tolist() == [1, 1]


def test_what_a_program_puts_on_tensor_is_run_as_it_is():
    class Late(libdl.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if getattr(func, "__name__", "").startswith("own_"):
                raise RecursionError("sent to the class")
            return super().__torch_function__(func, types, args, kwargs or {})

    class Through(libdl.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            assert not getattr(func, "__name__", "").startswith("own_")
            return func(*args, **(kwargs or {}))

    libdl.Tensor.own_double = lambda self: self * 2
    libdl.Tensor.own_size = property(lambda self: self.numel())
    try:
        x = libdl.ones(2).as_subclass(Late)
        assert type(x.own_double()) is Late and x.own_size == 2
        with Through():
            assert x.own_double().tolist() == [2, 2] and x.own_size == 2
    finally:
        del libdl.Tensor.own_double, libdl.Tensor.own_size


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_keep_the_class(kind):
    x = libdl.rand(2, 3).as_subclass(kind)
    p = nn.Parameter(x)
    assert type(p) is kind and isinstance(p, nn.Parameter) and not isinstance(x, nn.Parameter)
    assert p.requires_grad and p.is_leaf and p.data_ptr() == x.data_ptr()
    assert type(nn.Parameter(p, requires_grad=False)) is kind
    assert not nn.Parameter(p, requires_grad=False).requires_grad

    layer = nn.Linear(3, 2)
    layer.weight = p
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    layer(libdl.rand(4, 3)).sum().backward()
    assert p.grad is not None
    libdl.optim.SGD(layer.parameters(), lr=0.1).step()
    assert layer.to(libdl.float64).weight.dtype is libdl.float64
    assert type(layer.weight) is kind and isinstance(layer.weight, nn.Parameter)


def test_own_parameter_classes():
    class Mine(nn.Parameter):
        pass

    mine = Mine(libdl.rand(2))
    assert type(mine) is Mine and isinstance(mine, nn.Parameter)
    kept = Mine(libdl.rand(2).as_subclass(Plain))
    assert type(kept) is Plain and isinstance(kept, nn.Parameter) and not isinstance(kept, Mine)
    assert not isinstance(libdl.rand(2), nn.Parameter) and not issubclass(Plain, nn.Parameter)
    buffer = nn.Buffer(libdl.rand(2).as_subclass(Plain), persistent=False)
    assert type(buffer) is Plain and isinstance(buffer, nn.Buffer) and not buffer.persistent
    module = nn.Module()
    module.b = buffer
    assert [name for name, _ in module.named_buffers()] == ["b"] and not module.state_dict()

    class Wrong(libdl.Tensor):
        def detach(self):
            return libdl.zeros(2)

    with pytest.raises(RuntimeError, match="a Parameter from an instance of type Wrong"):
        nn.Parameter(libdl.rand(2).as_subclass(Wrong))


# -- hooks of saved values, ties, libraries -------------------------------------------------------


@pytest.mark.parametrize(
    "pack",
    [
        lambda t: t.detach().numpy().copy(),
        lambda t: t.numpy().copy(),
        lambda t: t.numpy(),
        lambda t: np.array(t.detach()),
        lambda t: np.frombuffer(memoryview(t.numpy()).tobytes(), "f4"),
    ],
)
def test_a_saved_value_may_go_to_numpy(pack):
    x = libdl.rand(3, requires_grad=True)
    with libdl.autograd.graph.saved_tensors_hooks(pack, lambda a: libdl.from_numpy(np.array(a))):
        y = (x * x).exp().sum()
    y.backward()
    wanted = 2 * x.detach() * (x.detach() ** 2).exp()
    assert libdl.allclose(x.grad, wanted)


@pytest.mark.parametrize("write", [lambda t: t.add_(1), lambda t: t.numpy().fill(7)])
def test_a_pack_hook_that_writes_is_found(write):
    x = libdl.rand(3, requires_grad=True)
    with libdl.autograd.graph.saved_tensors_hooks(lambda t: (write(t), t)[1], lambda t: t):
        with pytest.raises(RuntimeError, match="pack wrote to the tensor"):
            x.exp()


@pytest.mark.parametrize(
    "view",
    [
        lambda w: w.detach().numpy(),
        lambda w: w.data.numpy(),
        lambda w: libdl.from_dlpack(w.detach()),
    ],
)
def test_a_kept_view_may_be_written_between_passes(view):
    w = libdl.ones(4, requires_grad=True)
    v = view(w)
    for step in range(4):
        w.grad = None
        (w * w).sum().backward()
        assert w.grad.tolist() == [2 * 0.5**step] * 4
        v *= 0.5


def test_a_write_between_save_and_backward_is_still_found():
    w = libdl.ones(4, requires_grad=True)
    v = w.detach().numpy()
    (w * w).sum().backward()
    v *= 0.5
    first = (w * w).sum()
    v *= 0.5
    second = (w * w).sum()
    second.backward()
    with pytest.raises(RuntimeError, match="exporter of its memory"):
        first.backward()


def test_one_name_of_a_tied_weight_is_enough():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    model, x, w = Tied(), libdl.ones(1, 2), 2 * libdl.eye(2)
    call = libdl.func.functional_call
    for name in ("a.weight", "b.weight"):
        assert call(model, {name: w}, x, strict=True).tolist() == [[4, 4]]
    assert call(model, {"a.weight": w, "b.weight": w}, x, strict=True).tolist() == [[4, 4]]
    with pytest.raises(ValueError, match="one tensor and were given several"):
        call(model, {"a.weight": w, "b.weight": w.clone()}, x, strict=True)
    with pytest.raises(RuntimeError, match="missing keys"):
        call(model, {"a.weight": w}, x, strict=True, tie_weights=False)


def test_library_functions_take_a_library():
    library = libdl.library.Library("subclasses", "DEF")

    @libdl.library.define(library, "twice(Tensor x) -> Tensor")
    def twice(x):
        return x * 2

    library.define("thrice(Tensor x) -> Tensor")

    @libdl.library.impl(library, "thrice", "CPU")
    def thrice(x):
        return x * 3

    library.define("same(Tensor x) -> Tensor")
    libdl.library.impl(library, name="same", dispatch_key="CompositeImplicitAutograd")(libdl.clone)
    assert callable(twice) and callable(thrice)
    x = libdl.ones(2)
    assert libdl.ops.subclasses.twice(x).tolist() == [2, 2]
    assert libdl.ops.subclasses.thrice(x).tolist() == [3, 3]
    assert libdl.ops.subclasses.same(x).tolist() == [1, 1]


# -- .grad of a tensor that is no leaf -------------------------------------------------------------


def test_the_gradient_of_a_result_warns():
    x = libdl.ones(3, requires_grad=True)
    y = x * 2
    with pytest.warns(UserWarning, match="a tensor that is not a leaf") as found:
        assert y.grad is None
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad is None and libdl.ones(2).grad is None and y.detach().grad is None
        with libdl.no_grad():
            assert (x * 2).grad is None
        z = x * 3
        z.retain_grad()
        assert z.grad is None
        z.sum().backward()
        assert z.grad.tolist() == [1, 1, 1]
        y.grad = libdl.ones(3)
        assert y.grad.tolist() == [1, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            (x * 2).grad  # noqa: B018


# -- what a class is asked for ---------------------------------------------------------------------


class Seen(libdl.Tensor):
    names: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.names.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


ASKED = {
    "len": (len, ["__len__"]),
    "bool": (bool, ["__bool__"]),
    "float": (float, ["__float__"]),
    "int": (int, ["__int__"]),
    "index": (lambda x: [0, 1, 2, 3, 4][x.long()], ["long", "__index__"]),
    "floor": (math.floor, ["__float__"]),
    "list": (list, ["dim", "unbind", "__len__"]),
    "repr": (repr, ["__repr__"]),
    "str": (str, ["__repr__"]),
    "+x": (lambda x: +x, ["positive"]),
    "array": (lambda x: x.__array__(), ["__array__"]),
    "dlpack": (lambda x: x.__dlpack__(), ["__dlpack__"]),
    "device": (lambda x: x.__dlpack_device__(), ["__dlpack_device__"]),
    "plain[x]": (lambda x: libdl.arange(5)[x.long()], ["long", "__getitem__"]),
    "plain[x, :]": (lambda x: libdl.ones(5, 2)[x.long(), :], ["long", "__getitem__"]),
    "plain[x] = 1": (
        lambda x: operator.setitem(libdl.ones(5), x.long(), 1),
        ["long", "__setitem__"],
    ),
    "autograd.grad": (
        lambda x: libdl.autograd.grad(x.requires_grad_().sum(), x),
        ["requires_grad_", "sum", "grad"],
    ),
    "as_tensor": (libdl.as_tensor, []),
    "tensor": (libdl.tensor, []),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_class_is_asked_for_what_it_inherits(name):
    """PyTorch 2.15's calls."""
    function, wanted = ASKED[name]
    x = libdl.tensor([3.0]).as_subclass(Seen)
    Seen.names.clear()
    function(x)
    assert Seen.names == wanted


def test_results_of_what_a_class_is_asked_for():
    x = libdl.tensor([3.0]).as_subclass(Seen)
    assert (len(x), bool(x), float(x), int(x)) == (1, True, 3.0, 3)
    assert type(libdl.tensor(x)) is libdl.Tensor and libdl.as_tensor(x) is x
    y = libdl.tensor([1.0, 2.0]).as_subclass(Seen).requires_grad_()
    (gradient,) = libdl.autograd.grad((y * y).sum(), y)
    assert type(gradient) is Seen and gradient.tolist() == [2, 4]

    class Own(Seen):
        def __len__(self):
            return 17

    assert len(libdl.ones(2).as_subclass(Own)) == 17


def test_make_subclass_is_told_the_class():
    class Plain(libdl.Tensor):
        pass

    source = libdl.ones(2, requires_grad=True) * 2
    for make in (libdl.Tensor._make_subclass, Plain._make_subclass):
        made = make(Plain, source)
        assert type(made) is Plain and made.is_leaf and not made.requires_grad
        assert make(Plain, source, True).requires_grad
        assert make(Plain, source, require_grad=True).requires_grad
    made.add_(1)
    assert source.tolist() == [3, 3]

    class Tagged(nn.Parameter):
        def __new__(cls, data, requires_grad=True, tag=None):
            made = libdl.Tensor._make_subclass(cls, data, requires_grad)
            made.tag = tag
            return made

    layer = nn.Linear(2, 2)
    layer.weight = Tagged(libdl.ones(2, 2), tag="mine")
    assert layer.weight.tag == "mine" and dict(layer.named_parameters())["weight"] is layer.weight
    twin = copy.deepcopy(layer).double()
    assert type(twin.weight) is Tagged and twin.weight.tag == "mine"
