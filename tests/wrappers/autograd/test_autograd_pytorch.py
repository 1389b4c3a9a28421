# SPDX-License-Identifier: Apache-2.0
"""autograd's graph, hooks, modes and custom functions: PyTorch's answers, and what is libdl's
own."""

import copy
import gc
import weakref

import pytest
from answered import Stored
from wrappers.autograd import seen_autograd

import libdl
from libdl.autograd import Function, graph

SEEN = Stored(seen_autograd)


@pytest.mark.parametrize("program", seen_autograd.PROGRAMS, ids=lambda p: p.__name__)
def test_answers_are_those_of_pytorch(program):
    SEEN.check(program, libdl)


def test_a_hook_of_several_tensors_is_called_at_the_end_if_a_gradient_does_not_come():
    class OnlyFirst(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 1

        @staticmethod
        def backward(ctx, dy):
            return dy, None

    log = []
    x, y = (libdl.ones(2, requires_grad=True) for _ in range(2))
    graph.register_multi_grad_hook((x, y), lambda found: log.append([g is None for g in found]))
    OnlyFirst.apply(x, y).sum().backward()
    assert log == [[False, True]]


def test_a_hook_of_several_tensors_wants_tensors_that_require_grad():
    with pytest.raises(RuntimeError, match="tensor 1 does not require grad"):
        graph.register_multi_grad_hook(
            (libdl.ones(2, requires_grad=True), libdl.ones(2)), lambda found: None
        )


def test_a_hook_of_several_tensors_ends_with_them():
    x = libdl.ones(2, requires_grad=True)
    y = x * 2
    hook = lambda found: None  # noqa: E731
    graph.register_multi_grad_hook((x, y), hook)
    alive = weakref.ref(hook)
    del x, y, hook
    gc.collect()
    assert alive() is None


def test_the_edge_of_a_tensor_that_was_written_since_is_refused():
    x = libdl.ones(2, requires_grad=True)
    y = x * 2
    edge = graph.get_gradient_edge(y)
    y.mul_(3)
    with pytest.raises(RuntimeError, match="written since"):
        libdl.autograd.grad(y.sum(), edge)
    with pytest.raises(NotImplementedError, match="get_gradient_edge"):
        libdl.autograd.grad(y.sum(), graph.GradientEdge(y.grad_fn, 0))


def test_metadata_lives_as_long_as_the_node():
    x = libdl.ones(2, requires_grad=True)
    y = x * 2
    note = type("Note", (), {})()
    y.grad_fn.metadata["note"] = note
    alive = weakref.ref(note)
    del note
    gc.collect()
    assert y.grad_fn.metadata["note"] is alive()
    y.sum().backward()
    assert x.grad.tolist() == [2, 2], "the hook that keeps it changes nothing"
    del y
    assert alive() is None


def test_saved_tensors_of_a_function_are_not_there_outside_of_backward():
    class Mine(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            Mine.seen = ctx
            return x * 2

        @staticmethod
        def backward(ctx, dy):
            return dy * ctx.saved_tensors[0]

    Mine.apply(libdl.ones(2, requires_grad=True)).sum().backward()
    with pytest.raises(RuntimeError, match="no backward pass runs"):
        Mine.seen.saved_tensors  # noqa: B018


def test_copies_of_allow_mutation_end_with_the_context():
    x = libdl.ones(2, requires_grad=True)
    with graph.allow_mutation_on_saved_tensors():
        y = x.clone().exp()
    with pytest.raises(RuntimeError, match="wanted it inside"):
        y.sum().backward()


def test_a_second_derivative_through_a_once_differentiable_function_raises():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @libdl.autograd.once_differentiable
        def backward(ctx, dy):
            return dy * 2 * ctx.saved_tensors[0]

    x = libdl.ones(2, requires_grad=True)
    for y in (Once.apply(x), Once.apply(x * x) ** 2, Once.apply(x) * x):
        (first,) = libdl.autograd.grad(y.sum(), x, create_graph=True)
        with pytest.raises(libdl.AutogradError, match="Once: is once differentiable"):
            libdl.autograd.grad(first.sum(), x)


def test_parameters_made_in_inference_mode_can_be_trained():
    with libdl.inference_mode():
        network = libdl.nn.Linear(2, 1)
    network(libdl.ones(3, 2)).sum().backward()
    assert network.weight.grad.tolist() == [[3, 3]]


def test_nodes_keep_their_lines_where_anomaly_mode_does_not_look_for_nan():
    with libdl.autograd.detect_anomaly(check_nan=False):
        y = libdl.tensor(1.0, requires_grad=True).exp()
    assert "test_autograd_pytorch.py" in y.grad_fn.metadata["site"]


def test_a_node_can_be_copied():
    node = libdl.tensor(1.0, requires_grad=True).exp().grad_fn
    assert copy.copy(node) == node


def test_a_freed_value_is_not_to_be_had_between_passes():
    class Square(libdl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, dy):
            return 2 * dy * ctx.saved_tensors[0]

    y = Square.apply(libdl.tensor(1.0, requires_grad=True))
    node = y.grad_fn
    y.backward()
    with pytest.raises(RuntimeError, match="Square: its saved values were freed"):
        _ = node.saved_tensors


def test_a_tensor_that_forward_takes_only_by_name_may_not_require_grad():
    class Named(Function):
        @staticmethod
        def forward(ctx, x, *, scale):
            return x * scale

        @staticmethod
        def backward(ctx, dy):
            return dy

    with pytest.raises(TypeError, match="scale requires grad"):
        Named.apply(libdl.ones(2), scale=libdl.ones(2, requires_grad=True))
