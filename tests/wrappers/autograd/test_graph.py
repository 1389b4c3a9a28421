# SPDX-License-Identifier: Apache-2.0
"""The recorded graph as PyTorch's programs see it: its nodes, hooks and what reaches them."""

import pytest

import libdl
from libdl import nn
from libdl.autograd import Function

pytestmark = pytest.mark.usefixtures("no_leak")


def test_nodes_have_classes_named_after_their_operator():
    x = libdl.ones(2, 2).requires_grad_()
    assert type((x * 2).grad_fn).__name__ == "MulBackward0"
    assert type((x * 2).grad_fn) is type((x * 3).grad_fn)
    assert type((x @ x).grad_fn).__name__ == (x @ x).grad_fn.name()
    leaf = (x * 2).grad_fn.next_functions[0][0]
    assert type(leaf).__name__ == leaf.name() == "AccumulateGrad" and leaf.variable is x
    assert isinstance(leaf, libdl.autograd.graph.Node)
    assert repr(leaf).startswith("<AccumulateGrad object at 0x")

    class Mine(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, dy):
            return dy * 2

    assert type(Mine.apply(x).grad_fn).__name__ == "MineBackward"


def test_what_is_made_of_other_operators_has_its_own_name():
    F = nn.functional
    x = libdl.rand(2, 2).requires_grad_()
    target = libdl.tensor([0, 1])
    made = {
        "MseLossBackward0": F.mse_loss(x, x * 2),
        "NllLossBackward0": F.cross_entropy(x, target),
        "MeanBackward0": x.mean(),
        "StackBackward0": libdl.stack([x, x]),
        "RollBackward0": x.roll(1),
        "RepeatBackward0": x.repeat(2, 2),
        "TrilBackward0": x.tril(),
        "MaskedFillBackward0": x.masked_fill(x > 0.5, 0),
        "DotBackward0": x[0].dot(x[1]),
        "AddcmulBackward0": libdl.addcmul(x, x, x),
        "AddmmBackward0": libdl.addmm(x, x, x),
        "MvBackward0": x.mv(x[0]),
    }
    assert {name: y.grad_fn.name() for name, y in made.items()} == {name: name for name in made}
    assert made["NllLossBackward0"].grad_fn.next_functions[0][0] is not None
    assert (x * 1).mean().grad_fn.name() == "MeanBackward0"  # and nothing older is renamed
    y = x * 1
    assert y.tril(5).grad_fn.name() == "TrilBackward0" and y.grad_fn.name() == "MulBackward0"
    F.cross_entropy(x, target).backward()
    assert x.grad.shape == (2, 2)


def test_a_number_on_the_left_is_the_second_operand():
    x = libdl.ones(2).requires_grad_()
    for y in (2 * x, x * 2, 2 + x, x + 2):
        first, second = y.grad_fn.next_functions
        assert first[0].variable is x and second == (None, 0)


def test_the_gradient_of_an_inner_result_can_be_asked_for():
    x = libdl.tensor([3.0], requires_grad=True)
    y = x * 2
    z = y * y
    z.backward(inputs=[y])
    assert y.grad.tolist() == [12] and y.retains_grad and x.grad is None
    y = x * 2
    (y * y).backward(inputs=[x, y])
    assert y.grad.tolist() == [12] and x.grad.tolist() == [24]
    with pytest.raises(RuntimeError, match="does not require grad"):
        (x * 2).backward(inputs=[libdl.ones(1)])


def test_a_function_behind_one_that_returned_none_gets_zeros():
    seen = []

    class Nothing(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, dy):
            return None

    class See(Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, dy, dz):
            seen.append((dy, dz))
            return dy, None

    x = libdl.ones(2).requires_grad_()
    Nothing.apply(See.apply(x, True)[0]).sum().backward()
    assert [g.tolist() for g in seen.pop()] == [[0, 0], [0, 0]] and x.grad.tolist() == [0, 0]
    x.grad = None
    Nothing.apply(See.apply(x, False)[0]).sum().backward()
    assert seen.pop() == (None, None) and x.grad is None
    (Nothing.apply(x * 3).sum() + (x * 5).sum()).backward()  # operators pass nothing on
    assert x.grad.tolist() == [5, 5]


def test_windows_of_windows_have_gradients():
    x = libdl.arange(16.0, dtype=libdl.float64).view(4, 4).requires_grad_()
    y = x.unfold(0, 3, 1).unfold(1, 3, 1)
    assert y.shape == (2, 2, 3, 3)
    y.sum().backward()
    assert x.grad.tolist() == [[1, 2, 2, 1], [2, 4, 4, 2], [2, 4, 4, 2], [1, 2, 2, 1]]
    z = libdl.ones(4, dtype=libdl.float64).requires_grad_()
    (z.expand(3, 4).unfold(0, 2, 1).unfold(1, 3, 1) * 2.0).sum().backward()
    assert z.grad.tolist() == [8, 16, 16, 8]
    assert libdl.autograd.gradcheck(
        lambda x: x.unfold(0, 2, 1).unfold(0, 2, 1).sin(),
        (libdl.rand(5, dtype=libdl.float64).requires_grad_(),),
    )
    assert libdl.autograd.gradgradcheck(
        lambda x: x.unfold(0, 2, 1).unfold(1, 2, 2).sin(),
        (libdl.rand(3, 4, dtype=libdl.float64).requires_grad_(),),
    )


def test_backward_hooks_see_the_output_that_forward_hooks_made():
    seen = []
    model = nn.Linear(2, 2)
    model.register_forward_hook(lambda module, args, output: output * 3)
    model.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append((grad_input, grad_output))
    )
    x = libdl.ones(1, 2).requires_grad_()
    model(x).sum().backward()
    ((grad_input,), (grad_output,)) = seen.pop()
    assert grad_output.tolist() == [[1, 1]]
    assert grad_input.tolist() == x.grad.tolist()
    model(libdl.ones(1, 2)).sum().backward()
    assert seen.pop()[0] in ((), (None,))


PARTS = {
    "unbind": (lambda x: x.unbind(0), "UnbindBackward0"),
    "split": (lambda x: x.split(1), "SplitBackward0"),
    "split_with_sizes": (lambda x: x.split([1, 2, 1]), "SplitBackward0"),
    "chunk": (lambda x: x.chunk(4), "SplitBackward0"),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_the_outputs_of_one_node(name):
    function, kind = PARTS[name]
    x = libdl.arange(12.0).reshape(4, 3).requires_grad_()
    parts = function(x)
    assert [p.output_nr for p in parts] == list(range(len(parts)))
    assert {type(p.grad_fn).__name__ for p in parts} == {kind}
    assert len({p.grad_fn for p in parts}) == 1


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("used", [[0], [1], [-1, 0], [0, 1, 2]])
def test_parts_that_nobody_uses_have_a_gradient_of_zero(name, used):
    x = libdl.arange(12.0).reshape(4, 3).requires_grad_()
    parts = PARTS[name][0](x)
    total = sum((parts[k] ** 2).sum() for k in used)
    expected = libdl.zeros(4, 3)
    for k in used:
        part = PARTS[name][0](expected)[k]
        source = PARTS[name][0](x.detach())[k]
        part.copy_(2 * source)
    (gradient,) = libdl.autograd.grad(total, x, create_graph=True)
    assert libdl.equal(gradient, expected)
    (second,) = libdl.autograd.grad(gradient.sum(), x)
    for k, part in enumerate(PARTS[name][0](second)):
        wanted = 2.0 if k in [u % len(parts) for u in used] else 0.0
        assert part.eq(wanted).all()


@pytest.mark.parametrize("name", PARTS)
def test_parts_carry_tangents_and_hooks(name):
    x = libdl.arange(12.0).reshape(4, 3)
    with libdl.autograd.forward_ad.dual_level():
        dual = libdl.autograd.forward_ad.make_dual(x, x * 10)
        for part, wanted in zip(PARTS[name][0](dual), PARTS[name][0](x * 10), strict=True):
            assert libdl.equal(libdl.autograd.forward_ad.unpack_dual(part).tangent, wanted)
    x.requires_grad_()
    parts = PARTS[name][0](x)
    parts[0].register_hook(lambda g: g * 5)
    parts[1].retain_grad()
    (parts[0].sum() + parts[1].sum()).backward()
    assert x.grad[0].tolist() == [5, 5, 5] and x.grad[1].tolist() == [1, 1, 1]
    assert parts[1].grad.eq(1).all()
