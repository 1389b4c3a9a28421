# SPDX-License-Identifier: Apache-2.0
"""Tracing: PyTorch's graphs and code of the same programs, and what is libdl's own."""

import math
import subprocess
import sys
import threading
import time

import pytest
from answered import Stored
from wrappers.fx import seen_fx

import libdl
from libdl import fx

SEEN = Stored(seen_fx)


@pytest.mark.parametrize("program", seen_fx.PROGRAMS, ids=lambda p: p.__name__)
def test_graphs_are_those_of_pytorch(program):
    SEEN.check(program, libdl)


def doubled(x):
    return 2 * len(x)


def scaled(x, factor):
    return x * factor if factor > 0 else -x


fx.wrap("len")
fx.wrap(scaled)


def test_wrapped_functions_become_calls_and_are_themselves_afterwards():
    traced = fx.symbolic_trace(lambda x: scaled(x, 3) + doubled(x))
    assert [n.target for n in traced.graph.nodes if n.op == "call_function"][:2] == [scaled, len]
    assert traced(libdl.ones(4)).tolist() == [11.0] * 4
    assert len([1]) == 1 and "len" not in globals(), "the builtin, not a patch"
    assert scaled(2, -1) == -2


def test_wrap_wants_the_top_of_a_module():
    with pytest.raises(NotImplementedError, match="top level"):
        fx.wrap("len")
    with pytest.raises(TypeError, match="wanted a function"):
        fx.wrap(3)


def test_functions_of_math_become_calls_and_are_themselves_afterwards():
    traced = fx.symbolic_trace(lambda x: math.sqrt(x.sum()))
    assert traced(libdl.ones(4)) == 2
    assert math.sqrt(4) == 2 and type(math.sqrt) is type(len)


def test_a_trace_that_fails_puts_everything_back():
    call = vars(libdl.nn.Module).get("__call__")
    with pytest.raises(fx.proxy.TraceError, match="decides a branch"):
        fx.symbolic_trace(lambda x: math.sqrt(x) if x.sum() > 0 else x)
    assert vars(libdl.nn.Module).get("__call__") is call and math.sqrt(4) == 2
    with libdl.no_grad():
        assert libdl.nn.Linear(2, 3)(libdl.ones(2)).shape == (3,)


def test_a_parameter_of_another_module_cannot_take_part():
    weight = libdl.nn.Parameter(libdl.ones(2))
    with pytest.raises(NameError, match="does not belong to the traced module"):
        fx.symbolic_trace(lambda x: libdl.mul(weight, x))


def test_a_module_that_is_no_submodule_cannot_be_called():
    layer = libdl.nn.Linear(2, 2)
    with pytest.raises(NameError, match="Linear is called that is no submodule"):
        fx.symbolic_trace(lambda x: layer(x))


def test_concrete_arguments_must_be_arguments():
    with pytest.raises(RuntimeError, match="'z', which is no argument"):
        fx.symbolic_trace(lambda x: x, {"z": 1})


def test_a_structure_of_another_shape_is_refused_at_the_call():
    traced = fx.symbolic_trace(lambda d: d["a"] + 1, {"d": {"a": fx.PH}})
    assert traced({"a": 1}) == 2
    with pytest.raises(ValueError, match=r"found the keys \['b'\], wanted \['a'\]"):
        traced({"b": 1})


def test_proxies_outside_of_a_trace_reach_composed_functions():
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    F = libdl.nn.functional
    y = F.normalize(F.softmax(libdl.stack([x, x])[0], dim=0)) + libdl.ones(2)
    graph.output(y.node.args[0])
    names = [node.target.__name__ for node in graph.nodes if node.op == "call_function"]
    assert names == ["stack", "getitem", "softmax", "normalize", "add"]


def test_functions_are_the_same_while_a_proxy_lives():
    """In a process of its own, which has seen no proxy yet."""
    program = """
import libdl, libdl.fx as fx
relu = libdl.nn.functional.relu
code = relu.__code__
def check(x):
    assert relu.__code__ is code
    return relu(x)
fx.symbolic_trace(check)
class Own(fx.proxy.Attribute):
    def __init__(self, root):  # without the class's own
        self.root = root
Own(None)
kept = fx.Proxy(fx.Graph().placeholder("x"))  # lives until the interpreter ends
assert relu.__code__ is code and relu(libdl.ones(1)).item() == 1
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_threads_that_compute_are_left_alone_while_another_one_traces():
    net = libdl.nn.Sequential(libdl.nn.Linear(2, 2), libdl.nn.ReLU())
    wanted, begun, done = net(libdl.ones(2)).tolist(), threading.Event(), threading.Event()
    results = []

    def compute():
        begun.wait()
        results.append((net(libdl.ones(2)).tolist(), type(net[0].weight)))
        results.append(fx_in_turn())
        done.set()

    def fx_in_turn():
        """A second trace, which waits for the first one to end."""
        return [n.op for n in fx.symbolic_trace(net).graph.nodes]

    def program(x):
        begun.set()
        while not results:
            time.sleep(0.001)
        return libdl.relu(x)

    thread = threading.Thread(target=compute)
    thread.start()
    graph = fx.symbolic_trace(program).graph
    thread.join()
    assert done.is_set() and [n.op for n in graph.nodes] == [
        "placeholder",
        "call_function",
        "output",
    ]
    assert results[0] == (wanted, libdl.nn.Parameter)
    assert results[1] == ["placeholder", "call_module", "call_module", "output"]


def test_a_tracer_records_where_a_call_was_made():
    class Recording(fx.Tracer):
        record_stack_traces = True

    def program(x):
        return x + 1

    graph = Recording().trace(program)
    added = graph.find_nodes(op="call_function")[0]
    assert "in program" in added.stack_trace and "return x + 1" in added.stack_trace


def test_modules_around_a_call_are_in_its_meta():
    net = libdl.nn.Sequential(libdl.nn.Sequential(libdl.nn.ReLU()))
    node = fx.symbolic_trace(net).graph.find_nodes(op="call_module")[0]
    assert node.meta["nn_module_stack"]["0.0"] == ("0.0", libdl.nn.ReLU)
    assert list(node.meta["nn_module_stack"]) == ["0", "0.0"]


def test_gradients_and_training_of_a_traced_network_are_those_of_the_network():
    net = libdl.nn.Sequential(libdl.nn.Linear(3, 4), libdl.nn.BatchNorm1d(4), libdl.nn.Tanh())
    traced, x = fx.symbolic_trace(net), libdl.arange(6.0).view(2, 3)
    results = []
    for module in (net, traced):  # the layers are the same objects
        module.zero_grad()
        module(x).square().sum().backward()
        results.append([p.grad.tolist() for p in module.parameters()])
    assert results[0] == results[1]
    assert not traced.eval().training and not traced.get_submodule("1").training


def test_a_table_of_the_nodes_can_be_printed(capsys):
    fx.symbolic_trace(lambda x: x + 1).graph.print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"]
    assert lines[3].split(maxsplit=2)[:2] == ["call_function", "add"] and len(lines) == 5


def test_an_error_in_generated_code_shows_its_line():
    import traceback

    traced = fx.symbolic_trace(lambda x, y: libdl.relu(x) + y)
    with pytest.raises(libdl.ShapeError) as caught:
        traced(libdl.ones(2), libdl.ones(3))
    assert "add = relu + y" in "".join(traceback.format_exception(caught.value))


def test_an_error_while_a_graph_is_interpreted_names_the_node():
    traced = fx.symbolic_trace(lambda x, y: x + y)
    with pytest.raises(libdl.ShapeError) as caught:
        fx.Interpreter(traced).run(libdl.ones(2), libdl.ones(3))
    assert caught.value.__notes__[0].startswith("While executing %add : [num_users=1]")
