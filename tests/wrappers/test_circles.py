# SPDX-License-Identifier: Apache-2.0
"""Circles through a tensor's handle that Python's collector has to see."""

import functools
import gc

import pytest

import libdl
from libdl.autograd import Function, forward_ad

pytestmark = pytest.mark.usefixtures("no_leak")


def leaf():
    return libdl.ones(3).requires_grad_()


def collected(make):
    gc.collect()
    before = libdl._C.live()[:3]
    for _ in range(50):
        make()
    gc.collect()
    assert libdl._C.live()[:3] == before


def test_a_hook_that_closes_over_its_leaf():
    def make():
        x = leaf()
        x.register_hook(lambda gradient: gradient * x.sum().item())
        (x * 2).sum().backward()
        assert x.grad.tolist() == [6, 6, 6]

    collected(make)


def test_a_hook_after_accumulation_that_closes_over_its_leaf():
    def make():
        x = leaf()
        seen = []
        x.register_post_accumulate_grad_hook(lambda given: seen.append(x.shape))
        (x * 2).sum().backward()

    collected(make)


def test_a_hook_of_a_leaf_that_no_longer_requires_grad():
    def make():
        x = leaf()
        x.register_hook(lambda gradient: gradient * x.sum().item())
        x.requires_grad_(False)

    collected(make)


def test_hooks_that_no_clearing_of_their_own_frees():
    class Holder:
        __slots__ = ("tensor",)

        def see(self, gradient):
            return gradient

    def make():
        x, holder = leaf(), Holder()
        holder.tensor = x
        x.register_hook(holder.see)
        y = leaf()
        y.register_hook(functools.partial(lambda tensor, gradient: gradient, y))

    collected(make)


def test_a_handle_that_is_kept_in_the_circle():
    class Model:
        def __init__(self):
            self.weight = leaf()
            self.handle = self.weight.register_hook(self.see)
            self.node_handle = (self.weight * 2).grad_fn.register_hook(self.watch)

        def see(self, gradient):
            return gradient * 2

        def watch(self, gradients, incoming):
            return None

    def make():
        model = Model()
        model.weight.sum().backward()
        assert model.weight.grad.tolist() == [2, 2, 2]

    collected(make)


def test_a_hook_of_a_result_and_of_its_node():
    def make():
        x = leaf()
        y = x * 2
        y.register_hook(lambda gradient: gradient * y.numel())
        y.grad_fn.register_prehook(lambda gradients: (gradients[0] * y.numel(),))
        y.sum().backward()
        assert x.grad.tolist() == [18, 18, 18]

    collected(make)


def test_a_function_whose_context_holds_its_output():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.result = x * 2
            return ctx.result

        @staticmethod
        def backward(ctx, dy):
            return dy * 2

    collected(lambda: Twice.apply(leaf()).sum().backward())
    collected(lambda: Twice.apply(leaf()))


def test_hooks_of_what_is_in_use_stay():
    calls = []
    x = leaf()
    x.register_hook(lambda gradient: calls.append(x.numel()))  # noqa: F821
    loss = (x * 2).sum()
    y = x * 3
    y.register_hook(lambda gradient: calls.append(y.numel()))  # noqa: F821
    other = y.sum()
    gc.collect()
    loss.backward()
    other.backward()
    assert calls == [3, 3, 3]
    del x, y
    gc.collect()
    assert calls == [3, 3, 3]


def test_a_hook_outlives_its_tensor_in_the_graph():
    calls = []
    x = leaf()
    y = x * 2
    y.register_hook(lambda gradient, kept=y: calls.append(kept.tolist()))
    loss = y.sum()
    del y
    gc.collect()
    loss.backward()
    assert calls == [[2, 2, 2]] and x.grad.tolist() == [2, 2, 2]
    del loss


def test_a_handle_removes_its_hook_or_nothing():
    x = leaf()
    handles = [x.register_hook(lambda gradient: gradient * 2) for _ in range(3)]
    handles[1].remove()
    handles[1].remove()
    x.sum().backward()
    assert x.grad.tolist() == [4, 4, 4]
    del x
    for handle in handles:
        handle.remove()  # the leaf is gone, and its hooks with it


def its_own_view(x, y):
    x.grad = x.view(2, 3)


def a_view_of_its_gradient(x, y):
    y.grad = x
    x.grad = y.view(2, 3)


def the_primal_of_its_own(x, y):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, y)
        dual.grad = forward_ad.unpack_dual(dual).primal


def a_dual_of_it(x, y):
    with forward_ad.dual_level():
        x.grad = forward_ad.make_dual(x, y)


@pytest.mark.parametrize(
    "close", [its_own_view, a_view_of_its_gradient, the_primal_of_its_own, a_dual_of_it]
)
def test_a_gradient_that_sees_its_tensor(close):
    x, y = libdl.ones(2, 3), libdl.zeros(2, 3)
    close(x, y)
    if x.grad is not None:
        assert x.grad.shape == (2, 3)
