# SPDX-License-Identifier: Apache-2.0
"""What is no operator takes tensors of any class as they are: optimizers' steps, passes, custom
functions, edges, clipping. No class is asked, and the internal Overridden never comes out."""

import pytest

import libdl
from libdl import nn
from libdl.autograd import Function, forward_ad, graph
from libdl.utils.checkpoint import checkpoint


class Plain(libdl.Tensor):
    pass


SEEN = []


class Watching(libdl.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        SEEN.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


KINDS = pytest.mark.parametrize("kind", [Plain, Watching])
OPTIMIZERS = {
    "SGD": {"lr": 0.1},
    "momentum": {"lr": 0.1, "momentum": 0.9},
    "Adam": {},
    "AdamW": {},
    "RMSprop": {},
    "Rprop": {},
    "Adagrad": {},
    "Adadelta": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "ASGD": {},
    "Adafactor": {},
    "Muon": {},
}


def leaf(kind, values=(1.0, 2.0, 3.0)):
    return libdl.tensor(values).as_subclass(kind).requires_grad_()


@KINDS
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(kind, name):
    def trained(of):
        p = leaf(of, [[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]])
        step = getattr(libdl.optim, name.replace("momentum", "SGD"))([p], **OPTIMIZERS[name])
        for _ in range(3):
            step.zero_grad()
            (p * p).sum().backward()
            step.step()
        return p

    found = trained(kind)
    assert type(found) is kind and found.tolist() == trained(libdl.Tensor).tolist()
    assert found.tolist() != [[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]]


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return 2 * g


class Pushed(Square):
    @staticmethod
    def jvp(ctx, tangent):
        ctx.tangent_of = type(tangent)
        return tangent * 4


@KINDS
def test_custom_functions(kind):
    x = leaf(kind)
    y = Square.apply(x)
    assert type(y) is kind and y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [2, 4, 6]
    z = Doubled.apply(x.clone())
    assert type(z) is kind and z.tolist() == [2, 4, 6]
    z.sum().backward()
    assert x.grad.tolist() == [4, 6, 8]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(libdl.tensor([1.0, 2.0]).as_subclass(kind), libdl.ones(2))
        pair = forward_ad.unpack_dual(Pushed.apply(dual))
        assert type(dual) is type(pair.primal) is kind
        assert pair.primal.tolist() == [1, 4] and pair.tangent.tolist() == [4, 4]


@KINDS
def test_passes(kind):
    x = leaf(kind)
    y = x * x
    SEEN.clear()
    libdl.autograd.backward([y], [libdl.ones(3)])
    assert x.grad.tolist() == [2, 4, 6]
    assert kind is Plain or SEEN[0] == "backward"
    edge = graph.get_gradient_edge((x * x).sum())
    libdl.autograd.backward(edge)
    assert x.grad.tolist() == [4, 8, 12]
    libdl.autograd.backward([(x * x).sum()], inputs=[x])
    assert x.grad.tolist() == [6, 12, 18]
    for reentrant in (False, True):
        x.grad = None
        checkpoint(lambda a: (a * a).sum(), x, use_reentrant=reentrant).backward()
        assert x.grad.tolist() == [2, 4, 6]


@KINDS
def test_watched_passes(kind):
    x, arrived = leaf(kind), []
    with graph.register_multi_grad_hook([x], arrived.append):
        (x * x).sum().backward()
    assert [g.tolist() for (g,) in arrived] == [[2, 4, 6]]
    y = x * x
    assert y.output_nr == 0


@KINDS
def test_clipping(kind):
    assert nn.utils.get_total_norm([leaf(kind, [3.0, 4.0])]).item() == 5
    for clip, wanted in (
        (lambda x: nn.utils.clip_grad_norm_([x], 1.0), [0.6, 0.8]),
        (lambda x: nn.utils.clip_grad_value_([x], 3.5), [3.0, 3.5]),
        (lambda x: nn.utils.clip_grads_with_norm_([x], 1.0, libdl.tensor(5.0)), [0.6, 0.8]),
    ):
        x = leaf(kind, [0.0, 0.0])
        held = x.grad = libdl.tensor([3.0, 4.0]).as_subclass(kind)
        clip(x)
        assert held.tolist() == pytest.approx(wanted, abs=1e-5)
