# SPDX-License-Identifier: Apache-2.0
"""Modules of nn as graphs: the calls are PyTorch's, and the graph computes what the module does."""

import math

import pytest
from answered import Stored
from wrappers.fx import seen_fx_modules

import libdl
from libdl import fx

SEEN = Stored(seen_fx_modules)


@pytest.mark.parametrize("program", seen_fx_modules.PROGRAMS, ids=lambda p: p.__name__)
def test_calls_are_those_of_pytorch(program):
    SEEN.check(program, libdl)


def inputs_of(text):
    """The inputs that MODULES describes."""
    for i, shape in enumerate(text.split()):
        sizes, _, classes = shape.partition("*")
        sizes = [int(size) for size in sizes.split(",")]
        if classes:
            yield libdl.arange(math.prod(sizes)).view(sizes) % int(classes)
        else:
            count = math.prod(sizes)
            yield ((libdl.arange(count) + 1) * 1.7 + i).sin().view(sizes).requires_grad_()


@pytest.mark.parametrize("made", seen_fx_modules.MODULES)
def test_a_graph_computes_what_its_module_does(made):
    """To the last bit, values and gradients, for the same operators run in the same order."""
    module = eval(f"libdl.nn.{made}")
    graph = fx.GraphModule(module, seen_fx_modules.traced(libdl, module))

    def outcome(network):
        inputs = list(inputs_of(seen_fx_modules.MODULES[made]))
        libdl.manual_seed(3)  # for dropout
        result = network(*inputs)
        if result.requires_grad:
            result.sum().backward()
        gradients = [x.grad for x in inputs if x.requires_grad]
        return [result.tolist(), *(None if g is None else g.tolist() for g in gradients)]

    assert outcome(graph) == outcome(module)
