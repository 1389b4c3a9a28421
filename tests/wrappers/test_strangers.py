# SPDX-License-Identifier: Apache-2.0
"""What programs of others use at PyTorch's edges: the same programs, and PyTorch's answers; and
what is refused, when it is used and not when it is imported."""

import importlib

import pytest
from answered import Stored
from wrappers import seen_library, seen_strangers

import libdl

CASES = [
    pytest.param(stored, program, id=program.__name__)
    for stored in map(Stored, (seen_strangers, seen_library))
    for program in stored.module.PROGRAMS
]


@pytest.mark.parametrize("stored, program", CASES)
def test_as_in_pytorch(stored, program):
    stored.check(program, libdl)


def module(path):
    return importlib.import_module(f"libdl.{path}")


@pytest.mark.parametrize(
    "used, told",
    [
        (lambda: libdl.export.export(libdl.nn.Linear(1, 1), ()), "no graph to export"),
        (lambda: libdl.export.load("file"), "graph of PyTorch's own operators"),
        (lambda: libdl.export.ExportedProgram(), "nothing is exported"),
        (lambda: module("distributed.rpc").init_rpc("a"), "rpc.init_rpc: calls in other processes"),
        (
            lambda: module("distributed.rpc").rpc_sync("a", len),
            "rpc.rpc_sync: calls in other processes",
        ),
        (lambda: module("distributed.rpc").RRef(1), "calls in other processes"),
        (
            lambda: module("utils._python_dispatch").TorchDispatchMode().__enter__(),
            "overrides.TorchFunctionMode",
        ),
        (
            lambda: module("utils.checkpoint").create_selective_checkpoint_contexts([]),
            "wrap only the parts",
        ),
        (lambda: libdl._dynamo.explain(len), "run eagerly"),
        (lambda: module("_dynamo.eval_frame").OptimizedModule(), "nothing is compiled"),
        (
            lambda: libdl.masked.masked_tensor(libdl.ones(1), libdl.ones(1).bool()),
            "give it to the functions",
        ),
        (lambda: libdl.library.triton_op("a::b", mutates_args=()), "Triton"),
        (
            lambda: libdl.library.Library("aten", "IMPL").impl("add", len, "CPU"),
            "cannot be replaced",
        ),
    ],
)
def test_refused_when_used(used, told):
    with pytest.raises(NotImplementedError, match=told):
        used()


def test_a_number_written_by_an_operator_is_not_lost_to_gradients():
    """PyTorch goes on as if nothing had been written."""

    def increase(x: libdl.Tensor) -> None:
        x.add_(1)

    increase.__annotations__ = {"x": libdl.Tensor, "return": None}
    op = libdl.library.custom_op("strangers::increase", increase, mutates_args={"x"})
    x = libdl.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="writes x and has no gradient"):
        op(x * 1)
    with libdl.no_grad():
        op(x)
    assert x.tolist() == [2, 2]


def test_rules_for_batches():
    def double(x):
        assert x.ndim == 1
        return x * 2

    double.__annotations__ = {"x": libdl.Tensor, "return": libdl.Tensor}
    op = libdl.library.custom_op("strangers::double", double, mutates_args=())
    x = libdl.arange(6.0).view(3, 2)
    assert libdl.func.vmap(op)(x).tolist() == (x * 2).tolist()  # one sample after another
    op.register_vmap(lambda info, in_dims, x: (x * 3, in_dims[0]))
    assert libdl.func.vmap(op)(x).tolist() == (x * 3).tolist()


def test_a_failed_gradient_is_told_by_name():
    def pair(xs, y):
        return xs[0] + y

    pair.__annotations__ = {"xs": list[libdl.Tensor], "y": libdl.Tensor, "return": libdl.Tensor}
    op = libdl.library.custom_op("strangers::pair", pair, mutates_args=())
    x = libdl.ones(2, requires_grad=True)
    for wrong, told in (
        ((None,), "returned 1 gradients, wanted 2"),
        ((x, None), "a list of 1 tensors"),
    ):
        op.register_autograd(lambda ctx, g, wrong=wrong: wrong)
        with pytest.raises(RuntimeError, match=told):
            op([x], x).sum().backward()


def test_without_a_group_of_processes():
    from libdl.distributed import nn as group

    for call in (
        lambda: group.all_reduce(libdl.ones(1)),
        lambda: group.broadcast(libdl.ones(1), 0),
    ):
        with pytest.raises(ValueError, match="there is no group of processes"):
            call()
