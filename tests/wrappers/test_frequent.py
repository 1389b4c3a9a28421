# SPDX-License-Identifier: Apache-2.0
"""What is served in C because programs call it most: the unusual calls keep their meaning."""

import copy
import inspect
import pickle

import pytest

import libdl
from libdl import nn


def test_no_grad_in_all_its_forms():
    x = libdl.ones(2, requires_grad=True)

    @libdl.no_grad()
    def guarded():
        return x * 2

    @libdl.no_grad
    def bare():
        return x * 2

    @libdl.no_grad()
    def steps():
        for _ in range(2):
            yield (x * 2).requires_grad

    assert not guarded().requires_grad and not bare().requires_grad
    assert list(steps()) == [False, False] and guarded.__name__ == "guarded"
    mode = libdl.no_grad()
    for _ in range(2):
        with mode as entered:
            assert entered is None and not libdl.is_grad_enabled()
            with libdl.enable_grad():
                assert (x * 2).requires_grad
            assert not libdl.is_grad_enabled()
        assert libdl.is_grad_enabled()
    with pytest.raises(ValueError), libdl.no_grad():
        raise ValueError
    assert libdl.is_grad_enabled() and isinstance(mode, libdl.no_grad)
    for wrong in (lambda: libdl.no_grad(1, 2), lambda: libdl.no_grad(a=1)):
        with pytest.raises(TypeError, match="no_grad takes at most one"):
            wrong()


class Quiet(libdl.no_grad):
    entered = 0

    def __enter__(self):
        Quiet.entered += 1
        return super().__enter__()


def test_no_grad_can_be_subclassed():
    with Quiet():
        assert not libdl.is_grad_enabled()
    assert Quiet.entered == 1 and libdl.is_grad_enabled()


@pytest.mark.parametrize("name", ["empty", "zeros", "ones", "rand", "randn"])
def test_creation_by_sizes(name):
    make = getattr(libdl, name)
    assert make(2, 3).shape == make((2, 3)).shape == make([2, 3]).shape == make(size=(2, 3)).shape
    assert make().shape == () and make(0).shape == (0,) and make(True).shape == (1,)
    assert make(libdl.tensor(2), 3).shape == (2, 3) and make(*[1] * 12).shape == (1,) * 12
    assert make(300, 300).shape == (300, 300)
    assert make(2, dtype=libdl.float64).dtype is libdl.float64
    assert make(2, requires_grad=True).requires_grad and make(2, device="cpu").shape == (2,)
    libdl.set_default_dtype(libdl.float64)
    assert make(1).dtype is libdl.float64
    for wrong in ((-1,), (2, -1), ("a",), (1.5,), (2**62, 8)):
        with pytest.raises((TypeError, ValueError, RuntimeError), match=name):
            make(*wrong)
    assert "Arguments:" in make.__doc__ and "dtype" in inspect.signature(make).parameters
    assert make.__name__ == name and pickle.loads(pickle.dumps(make)) is make


def test_sizes_give_the_same_numbers_as_lists():
    libdl.manual_seed(3)
    a = libdl.randn(5)
    libdl.manual_seed(3)
    assert libdl.equal(a, libdl.randn((5,)))


class Doubled(nn.Module):
    def forward(self, x, *, scale=2):
        return x * scale


def test_calls_of_modules():
    module, seen = Doubled(), []
    x = libdl.ones(2)
    assert module(x).tolist() == [2, 2] and module(x, scale=3).tolist() == [3, 3]
    assert nn.Module.__call__(module, x).tolist() == [2, 2]
    with module.register_forward_hook(lambda m, args, out: seen.append("after")):
        with module.register_forward_pre_hook(lambda m, args: seen.append("before")):
            module(x)
    module(x)
    assert seen == ["before", "after"]
    module.forward = lambda x: x + 1
    assert module(x).tolist() == [2, 2]
    with pytest.raises(NotImplementedError, match="has no method forward"):
        nn.Module()(x)
    with pytest.raises(TypeError, match="forward"):
        Doubled()(x, 5, 6)

    class Called(Doubled):
        def __call__(self, x):
            return super().__call__(x) + 1

    assert Called()(x).tolist() == [3, 3]
    assert pickle.loads(pickle.dumps(Doubled()))(x).tolist() == [2, 2]
    assert copy.deepcopy(Doubled())(x).tolist() == [2, 2]


def test_a_layer_whose_weight_is_computed():
    """As weight_norm does: the parameter is gone, and an attribute of its name is in its place."""
    layer = nn.Linear(2, 1)
    del layer._parameters["weight"]
    layer.weight = libdl.tensor([[3.0, 4.0]])
    layer.bias.data.zero_()
    assert layer(libdl.ones(1, 2)).tolist() == [[7.0]]
    bare = nn.Linear(2, 1, bias=False)
    bare.weight.data.fill_(1.0)
    assert bare(libdl.ones(1, 2)).tolist() == [[2.0]]


OPTIONS = [
    {},
    {"amsgrad": True},
    {"maximize": True},
    {"weight_decay": 0.1},
    {"weight_decay": 0.1, "decoupled_weight_decay": True},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64])
def test_adam_in_c_is_adam_in_python(options, dtype, monkeypatch):
    def trained():
        libdl.manual_seed(1)
        params = [libdl.randn(n, dtype=dtype, requires_grad=True) for n in (1, 5, 40)]
        optimizer = libdl.optim.Adam(params, lr=0.1, **options)
        for step in range(4):
            for i, p in enumerate(params):  # the second one joins late
                p.grad = None if i == 1 and step < 2 else libdl.randn_like(p.detach())
            optimizer.step()
        return [p.tolist() for p in params], [
            [value.tolist() for value in optimizer.state[p].values()] for p in params
        ]

    in_c = trained()
    monkeypatch.setattr(libdl.optim.Adam, "_at_once", lambda self, group: False)
    assert trained() == in_c


def test_adam_of_odd_parameters():
    params = [libdl.ones(2, 3).t().requires_grad_(), libdl.ones(2, dtype=libdl.bfloat16)]
    params[1].requires_grad_()
    optimizer = libdl.optim.Adam(params, lr=0.5)
    for _ in range(2):
        for p in params:
            p.grad = libdl.ones_like(p)
        optimizer.step()
    assert params[0].tolist() == [[pytest.approx(0.0, abs=1e-6)] * 2] * 3
    assert optimizer.state[params[0]]["step"].item() == 2


def test_adamw_is_adam_with_decoupled_decay():
    a, b = libdl.ones(3, requires_grad=True), libdl.ones(3, requires_grad=True)
    first = libdl.optim.AdamW([a], lr=0.1, weight_decay=0.2)
    second = libdl.optim.Adam([b], lr=0.1, weight_decay=0.2, decoupled_weight_decay=True)
    for p, optimizer in ((a, first), (b, second)):
        p.grad = libdl.ones(3)
        optimizer.step()
    assert a.tolist() == b.tolist() and a.tolist() != [1 - 0.1] * 3
    assert first.param_groups[0]["decoupled_weight_decay"] is True


def test_options_of_pytorchs_optimizers_are_kept():
    p = libdl.ones(1, requires_grad=True)
    for kind in (libdl.optim.SGD, libdl.optim.Adam, libdl.optim.AdamW):
        group = kind([p], lr=0.1, foreach=True).state_dict()["param_groups"][0]
        assert group["foreach"] is True and group["differentiable"] is False
        with pytest.raises(NotImplementedError, match="differentiable"):
            kind([p], differentiable=True)
