# SPDX-License-Identifier: Apache-2.0
"""Graphs that are made, changed, run and rewritten: PyTorch's answers to the same programs, and
what is libdl's own."""

import copy
import enum
import pickle
from typing import NamedTuple

import pytest
from answered import Stored
from wrappers.fx import seen_fx_graphs

import libdl
from libdl import fx

SEEN = Stored(seen_fx_graphs)


@pytest.mark.parametrize("program", seen_fx_graphs.PROGRAMS, ids=lambda p: p.__name__)
def test_graphs_behave_as_in_pytorch(program):
    SEEN.check(program, libdl)


def test_nodes_must_be_of_a_known_kind_with_a_fitting_target():
    graph = fx.Graph()
    with pytest.raises(ValueError, match="op is 'call', wanted one of placeholder, "):
        graph.create_node("call", "x")
    with pytest.raises(ValueError, match="target of call_function is a str, wanted a function"):
        graph.create_node("call_function", "relu")
    with pytest.raises(ValueError, match="target of call_method is a builtin_function_or_method"):
        graph.create_node("call_method", len)
    with pytest.raises(RuntimeError, match="the graph has no output"):
        graph.output_node()


def test_lint_says_what_is_wrong():
    graph, other = fx.Graph(), fx.Graph()
    x, foreign = graph.placeholder("x"), other.placeholder("y")
    wrong = graph.call_function(libdl.relu, (foreign,))
    with pytest.raises(RuntimeError, match="relu reads y, which belongs to another graph"):
        graph.lint()
    wrong.args = (x,)
    graph.lint()
    wrong.append(x)
    with pytest.raises(RuntimeError, match="relu reads x, which comes later or was erased"):
        graph.lint()
    wrong.prepend(x)
    wrong.name = "x"
    with pytest.raises(RuntimeError, match="two nodes are called x"):
        graph.lint()
    module = fx.symbolic_trace(libdl.nn.Sequential(libdl.nn.ReLU()))
    del module._modules["0"]
    with pytest.raises(RuntimeError, match="_0 reads 0, but Sequential has no 0"):
        module.graph.lint()


def test_nodes_are_erased_once_and_only_if_nothing_reads_them():
    graph = fx.symbolic_trace(lambda x: x + 1).graph
    x, added, _ = graph.nodes
    with pytest.raises(RuntimeError, match=r"x is still read by \[add\]"):
        graph.erase_node(x)
    added.replace_all_uses_with(x)
    with pytest.raises(RuntimeError, match="another graph"):
        fx.Graph().erase_node(added)
    graph.erase_node(added)
    assert not x.users.keys() & {added} and len(graph.nodes) == 2
    with pytest.raises(RuntimeError, match="erased already"):
        graph.erase_node(added)


def test_nodes_may_be_erased_and_inserted_while_they_are_walked():
    traced = fx.symbolic_trace(lambda x: libdl.relu(libdl.relu(x) + 1))
    for node in traced.graph.nodes:
        if node.target is libdl.relu:
            with traced.graph.inserting_before(node):
                node.replace_all_uses_with(traced.graph.call_method("neg", node.args))
            traced.graph.erase_node(node)
    traced.recompile()
    assert traced(libdl.ones(1)).item() == -0.0
    assert [n.target for n in traced.graph.nodes][1::2] == ["neg", "neg"]


def test_nodes_know_their_order():
    x, added, output = fx.symbolic_trace(lambda x: x + 1).graph.nodes
    assert x < added < output and output > x and x <= x and not added < x
    assert x.prev is output.next, "the root, around which the list closes"


def test_calls_that_write_are_kept_although_nothing_reads_them():
    def program(x):
        libdl.add(x, 1)
        x.relu_()
        libdl.nn.functional.relu(x, inplace=True)
        libdl.mul(x, 2, out=x)
        libdl._assert(x, "wanted")
        return x

    @fx.has_side_effect
    def remembered(x):
        print(x)

    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(remembered, (x,))
    graph.call_function(libdl.neg, (x,))
    graph.output(x)
    assert graph.eliminate_dead_code() and [n.name for n in graph.nodes][1] == "remembered"
    graph = fx.symbolic_trace(program).graph
    graph.eliminate_dead_code()
    assert not graph.find_nodes(op="call_function", target=libdl.add)
    names = [n.name for n in graph.nodes]
    assert names[1:-1] == ["relu_", "relu", "mul", "_assert"]


def test_the_class_of_a_module_is_its_own():
    """Or else recompiling one module would change the others."""
    one, two = (fx.symbolic_trace(f) for f in (lambda x: x + 1, lambda x: x + 2))
    assert type(one) is not type(two) and isinstance(one, fx.GraphModule)
    assert (one(1), two(1)) == (2, 3)

    class Mine(fx.GraphModule):
        def twice(self, x):
            return self(self(x))

    made = Mine(one, one.graph, "Named")
    assert isinstance(made, Mine) and made.twice(1) == 3 and type(made).__name__ == "Named"


def test_a_modules_code_is_written_as_a_class(capsys):
    traced = fx.symbolic_trace(libdl.nn.Sequential(libdl.nn.ReLU()))
    text = traced.print_readable()
    assert capsys.readouterr().out.strip() == text.strip()
    lines = text.splitlines()
    assert lines[0] == "class Sequential(libdl.nn.Module):"
    assert lines[3].strip() == '_0 = getattr(self, "0")(input_1);  input_1 = None'


def test_code_reaches_classes_enumerations_and_named_tuples():
    graph = fx.Graph()
    x = graph.placeholder("x")
    pair = graph.call_function(dict, (), {"pair": Pair(x, Colour.red), "kind": Colour})
    graph.output((pair, slice(x, None), int, libdl.float32, Colour))
    made = fx.GraphModule({}, graph)(3)
    assert made == (
        {"pair": Pair(3, Colour.red), "kind": Colour},
        slice(3, None),
        int,
        libdl.float32,
        Colour,
    )


class Colour(enum.Enum):
    red = 1


class Pair(NamedTuple):
    left: object
    right: object


def test_a_module_is_pickled_whatever_traced_it():
    class Own(fx.Tracer):
        pass

    traced = fx.GraphModule(libdl.nn.Module(), Own().trace(lambda x: {"a": [x, (x + 1, slice(x))]}))
    made = pickle.loads(pickle.dumps(traced))
    assert made(3) == {"a": [3, (4, slice(3))]} == traced(3)
    structured = fx.symbolic_trace(lambda d: {"b": d["a"] + 1}, {"d": {"a": fx.PH}})
    for copied in (pickle.loads(pickle.dumps(structured)), copy.deepcopy(structured)):
        assert copied({"a": 1}) == {"b": 2}


def test_a_programs_own_code_generator_is_asked():
    """As in PyTorch's documentation: the arguments come in one list."""

    class Listed(fx.CodeGen):
        def gen_fn_def(self, free_vars, maybe_return_annotation):
            return (
                f"def forward(self, args: List[torch.Tensor]):\n    {', '.join(free_vars)} = args"
            )

        def generate_output(self, output_args):
            return f"return [{output_args!r}]"

        def additional_globals(self):
            return [("List", list)]

        def process_inputs(self, *args):
            return args[0]

        def process_outputs(self, outputs):
            return [outputs]

    traced = fx.symbolic_trace(lambda x, y: (x + y, slice(y)))
    traced.graph.set_codegen(Listed())
    traced.recompile()
    assert traced([1, 2]) == [(3, slice(2))] == fx.Interpreter(traced).run([1, 2])


def test_parts_that_need_each_other_cannot_be_split():
    from libdl.fx.passes.split_module import split_module

    traced = fx.symbolic_trace(lambda x: libdl.relu(libdl.neg(libdl.relu(x))))
    with pytest.raises(RuntimeError, match="two parts need each other"):
        split_module(traced, traced, lambda node: node.target is libdl.neg)


def test_a_pattern_without_a_result_and_a_replacement_of_another_size_are_refused():
    traced = fx.symbolic_trace(lambda x: x + 1)
    with pytest.raises(ValueError, match="the pattern has no result"):
        fx.replace_pattern(traced, lambda x: 1, lambda x: x)
    with pytest.raises(ValueError, match="the replacement has 2 results, wanted 1"):
        fx.replace_pattern(traced, lambda x: x + 1, lambda x: (x, x - 1))


def test_copies_of_a_module_are_independent():
    net = libdl.nn.Sequential(libdl.nn.Linear(2, 2), libdl.nn.ReLU())
    traced = fx.symbolic_trace(net)
    made = copy.deepcopy(traced)
    with libdl.no_grad():
        made.get_parameter("0.weight").zero_()
    for node in made.graph.nodes:
        if node.op == "output":
            node.args = (next(iter(made.graph.nodes)),)
    made.recompile()
    x = libdl.ones(2)
    assert made(x) is x and traced(x) is not x
    assert net[0].weight.abs().sum() > 0 and traced.graph.owning_module is traced


def test_a_graph_is_drawn_with_a_line_for_each_node_and_each_edge(tmp_path):
    from libdl.fx.passes import graph_drawer, shape_prop

    traced = fx.symbolic_trace(lambda x: libdl.relu(x) + x[0, {"k": 1}["k"]])
    shape_prop.ShapeProp(traced).propagate(libdl.ones(2, 3))
    drawing = graph_drawer.FxGraphDrawer(traced, 'a "name"').get_dot_graph()
    lines = drawing.to_string().splitlines()
    assert lines[0] == 'digraph "a \\"name\\"" {' and lines[-1] == "}"
    edges = [line for line in lines if "->" in line]
    assert edges == [
        "x -> relu;",
        "x -> getitem;",
        "relu -> add;",
        "getitem -> add;",
        "add -> output;",
    ]
    relu = next(line for line in lines if line.startswith("relu ["))
    assert "target=libdl.relu|dtype=libdl.float32, shape=(2, 3), stride=(3, 1)|num_users=1" in relu
    drawing.write_raw(str(tmp_path / "graph.dot"))
    assert (tmp_path / "graph.dot").read_text() == drawing.to_string()


def test_traced_submodules_are_drawn_by_themselves():
    from libdl.fx.passes import graph_drawer
    from libdl.fx.passes.split_module import split_module

    net = seen_fx_graphs.network(libdl)
    traced = fx.symbolic_trace(net)
    first = ("lin", "add")
    split = split_module(traced, net, lambda node: "first" if node.name in first else "second")
    drawer = graph_drawer.FxGraphDrawer(split, "all", ignore_getattr=True)
    assert set(drawer.get_all_dot_graphs()) == {"all", "all_submod_first", "all_submod_second"}
    assert "op_code=get_attr" not in drawer.get_main_dot_graph().to_string()
    assert "target=libdl.tanh" in drawer.get_dot_graph("submod_second").to_string()
