# SPDX-License-Identifier: Apache-2.0
"""Programs that change and run graphs, for test_fx_graphs.py; tests/answered.py stores PyTorch's
answers."""

import copy
import importlib
import operator
import pickle

from wrappers.answers import filled, numbers, told
from wrappers.fx.seen_fx import fx_of, text


def part(m, name):
    return importlib.import_module(f"{m.__name__}.fx.{name}")


def network(m):
    class Network(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.last = m.nn.Linear(3, 4), m.nn.Linear(4, 4)
            self.p = m.nn.Parameter(m.ones(4))
            self.unused = m.nn.ReLU()

        def forward(self, x):
            z = m.relu(self.lin(x) + self.p)
            w = self.last(z)
            return m.tanh(w) + z.sum(), w

    return filled(m, Network())


def rounded(*tensors):
    return [[round(v, 9) for v in t.detach().reshape(-1).tolist()] for t in tensors]


# -- graphs ----------------------------------------------------------------------------------------


def made_by_hand(m):
    fx = fx_of(m)
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y", default_value=2)
    added = graph.call_function(operator.iadd, (x, y))
    graph.call_function(operator.setitem, (x, 0, 1))
    graph.output(
        [
            added,
            graph.call_method("neg", (x,)),
            graph.get_attr("w.q"),
            graph.call_module("sub.0", (y,)),
        ]
    )
    root = {"w.q": m.nn.Parameter(m.ones(1)), "sub.0": m.nn.ReLU()}
    module = fx.GraphModule(root, graph)
    empty = fx.Graph()
    return [
        text(graph),
        text(module.code),
        text(empty.python_code("self").src),
        repr(module),
        rounded(*module(m.ones(2), m.ones(2))),
        [n.name for n in reversed(graph.nodes)],
        len(graph.nodes),
        told(fx.GraphModule, {}, graph),
    ]


def inserting(m):
    fx = fx_of(m)
    graph = fx.symbolic_trace(network(m)).graph
    nodes = list(graph.nodes)
    with graph.inserting_before():
        first = graph.placeholder("first")
    with graph.inserting_after(first):
        graph.placeholder("second", default_value=3)
        graph.placeholder("third")
    with graph.inserting_before(nodes[-1]):
        graph.call_function(m.neg, (nodes[1],))
        graph.call_function(m.abs, (nodes[1],))
    nodes[2].prepend(nodes[-2])
    order = [str(n) for n in graph.nodes]
    return [
        order,
        told(graph.lint),
        graph.output_node().name,
        nodes[1].next.name,
        nodes[1].prev.name,
        [n.name for n in graph.find_nodes(op="call_module")],
        [n.name for n in graph.find_nodes(op="call_function", target=m.tanh)],
    ]


def replacing(m):
    fx = fx_of(m)
    traced = fx.symbolic_trace(network(m))
    for node in traced.graph.nodes:
        if node.target is m.relu:
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(m.sigmoid, node.args, node.kwargs)
            told_before = told(traced.graph.erase_node, node)
            users = node.replace_all_uses_with(new, lambda user: user.op != "call_method")
            left = [n.name for n in node.users]
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()
    nodes = {n.name: n for n in traced.graph.nodes}
    nodes["add"].args = (nodes["p"], nodes["lin"])
    nodes["sum_1"].kwargs = {"dim": 0}
    nodes["sum_1"].update_kwarg("keepdim", True)
    nodes["last"].update_arg(0, nodes["add"])
    traced.recompile()
    return [
        told_before,
        [u.name for u in users],
        left,
        text(traced.code),
        [n.name for n in nodes["add"].users],
        [n.name for n in nodes["sigmoid"].users],
        [n.name for n in nodes["add"].all_input_nodes],
        rounded(*traced(numbers(m, 2, 3))),
    ]


def dead_code(m):
    fx = fx_of(m)
    traced = fx.symbolic_trace(lambda x: (x + 1, x.relu(), m.neg(x * 2))[1])
    return [
        traced.graph.eliminate_dead_code(),
        text(traced.graph),
        traced.graph.eliminate_dead_code(),
    ]


def arguments_do_not_change(m):
    node = list(fx_of(m).symbolic_trace(lambda x: m.cat([x, x], dim=0)).graph.nodes)[1]
    return [
        type(node.args[0]).__name__,
        type(node.kwargs).__name__,
        told(node.args[0].append, 1),
        told(lambda: node.kwargs.update(dim=1)),
        node.args[0] == [node.args[0][0]] * 2,
    ]


def copied_between_graphs(m):
    fx = fx_of(m)
    source = fx.symbolic_trace(lambda a, b: m.relu(a) + b).graph
    graph = fx.Graph()
    x = graph.placeholder("x")
    values = {n: x for n in source.nodes if n.op == "placeholder"}
    result = graph.graph_copy(source, values)
    graph.output(graph.node_copy(source.output_node().prev, lambda n: result))
    return [text(graph), text(copy.deepcopy(source))]


# -- modules ---------------------------------------------------------------------------------------


def submodules(m):
    traced = fx_of(m).symbolic_trace(network(m))
    names = lambda: [name for name, _ in traced.named_modules()]  # noqa: E731
    answers = [
        names(),
        traced.add_submodule("a.b.c", m.nn.ReLU()),
        names(),
        traced.delete_submodule("a.b.c"),
        traced.delete_submodule("zz"),
        names(),
    ]
    traced.delete_all_unused_submodules()
    return [answers, names(), sorted(traced.state_dict())]


def copies(m):
    traced, x = fx_of(m).symbolic_trace(network(m)), numbers(m, 2, 3)
    wanted = traced(x)[0].tolist()
    made = (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced)), copy.copy(traced))
    return [
        [
            c(x)[0].tolist() == wanted,
            text(c.code) == text(traced.code),
            sorted(c.state_dict()),
            c.graph is traced.graph,
            c.p is traced.p,
            c.training,
        ]
        for c in made
    ]


def interpreters(m):
    fx = fx_of(m)
    traced, x, seen = fx.symbolic_trace(network(m)), numbers(m, 2, 3), []

    class Noting(fx.Interpreter):
        def run_node(self, n):
            result = super().run_node(n)
            seen.append([n.name, sorted(k.name for k in self.env)])
            return result

        def call_function(self, target, args, kwargs):
            return (
                m.sigmoid(*args)
                if target is m.relu
                else super().call_function(target, args, kwargs)
            )

    result = Noting(traced).run(x)
    kept = fx.Interpreter(traced, garbage_collect_values=False)
    kept.run(x)
    start = {next(iter(traced.graph.nodes)): x}
    return [
        rounded(*result),
        seen,
        sorted(n.name for n in kept.env),
        rounded(*fx.Interpreter(traced).run(initial_env=start)),
        told(fx.Interpreter(traced).run),
    ]


def transformers(m):
    fx = fx_of(m)

    class Changed(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return (
                m.sigmoid(*args)
                if target is m.relu
                else super().call_function(target, args, kwargs)
            )

        def call_method(self, target, args, kwargs):
            return (
                args[0].mean() * 2 if target == "sum" else super().call_method(target, args, kwargs)
            )

    made = Changed(fx.symbolic_trace(network(m))).transform()
    made.graph.lint()
    return [text(made.graph), text(made.code), rounded(*made(numbers(m, 2, 3)))]


def shapes(m):
    traced = fx_of(m).symbolic_trace(network(m))
    part(m, "passes.shape_prop").ShapeProp(traced).propagate(numbers(m, 2, 3))
    found = []
    for node in traced.graph.nodes:
        meta = node.meta.get("tensor_meta")
        one = None if meta is None or not hasattr(meta, "shape") else meta
        found.append(
            [
                node.name,
                node.meta["type"].__name__,
                one and [list(one.shape), text(one.dtype), one.requires_grad, list(one.stride)],
            ]
        )
    return found


# -- rewriting -------------------------------------------------------------------------------------


def rewritten(m, program, pattern, replacement):
    fx = fx_of(m)
    traced = fx.symbolic_trace(program)
    found = fx.replace_pattern(traced, pattern, replacement)
    traced.graph.lint()
    return [len(found), text(traced.code)]


def patterns(m):
    def four(x):
        return m.relu(m.relu(m.relu(m.relu(x))))

    def several(x, y):
        return m.cat([x + y, x - y]), (x + y) * 2

    def read_twice(x):
        y = m.relu(x)
        return m.neg(y) + y

    def two_results(x):
        a, b = m.split(x, 2)
        return a + 1, b * 2

    return [
        rewritten(m, four, lambda x: m.relu(m.relu(x)), lambda x: m.neg(x)),
        rewritten(m, four, lambda x: m.relu(x), lambda x: m.relu(m.neg(x))),
        rewritten(m, several, lambda a, b: a + b, lambda a, b: m.add(a, b)),
        rewritten(m, several, lambda a, b: (a + b) * 2, lambda a, b: m.add(a, b)),
        rewritten(m, read_twice, lambda x: m.neg(m.relu(x)), lambda x: x),
        rewritten(m, lambda x: (x + 1) * (x + 2), lambda x: x + 1, lambda x: x - 1),
        rewritten(m, lambda x: x.neg().abs(), lambda x: x.neg().abs(), lambda x: x.abs()),
        rewritten(m, two_results, lambda a, b: (a + 1, b * 2), lambda a, b: (a - 1, b / 2)),
        rewritten(
            m,
            lambda x, w1, w2: (m.cat([w1, w2]).sum() + x).max() + m.cat([w1, w2]),
            lambda w1, w2: m.cat([w1, w2]).sum(),
            lambda w1, w2: m.stack([w1, w2]),
        ),
    ]


def filters(m):
    fx, rewriter = fx_of(m), part(m, "subgraph_rewriter")
    traced = fx.symbolic_trace(lambda x: (x + 1) * (x + 2))

    def with_two(match, graph, pattern):
        return any(2 in node.args for node in match.nodes_map.values())

    found = rewriter.replace_pattern_with_filters(
        traced, lambda x: x + 1, lambda x: x - 1, [with_two], ignore_literals=True
    )
    return [len(found), [[n.name for n in one.replacements] for one in found], text(traced.code)]


def modules_as_patterns(m):
    class Pair(m.nn.Module):
        def __init__(self, last):
            super().__init__()
            self.lin, self.last = m.nn.Linear(3, 3), last

        def forward(self, x):
            return self.last(self.lin(x))

    class Pattern(Pair):
        def forward(self, x):
            return self.last(self.lin(x))

    class Replacement(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin, self.other = m.nn.Linear(3, 3), m.nn.Tanh()

        def forward(self, x):
            return self.other(self.lin(x))

    class Weighted(m.nn.Module):
        def __init__(self, name):
            super().__init__()
            self.name, self.layer = name, m.nn.ReLU()
            setattr(self, name, m.nn.Parameter(m.ones(3)))

        def forward(self, x):
            return self.layer(x * getattr(self, self.name))

    class Renamed(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.other = m.nn.ReLU()

        def forward(self, x):
            return self.other(x)

    fx = fx_of(m)
    weighted = fx.symbolic_trace(Weighted("a"))
    others = [
        len(fx.replace_pattern(weighted, fx.symbolic_trace(pattern), lambda x: m.neg(x)))
        for pattern in (Renamed(), Weighted("b"))
    ]
    traced = fx.symbolic_trace(Pair(m.nn.ReLU()))
    found = fx.replace_pattern(
        traced, fx.symbolic_trace(Pattern(m.nn.ReLU())), fx.symbolic_trace(Replacement())
    )
    return [
        len(found),
        text(traced.code),
        [name for name, _ in traced.named_modules()],
        others,
        text(weighted.code),
    ]


def splitting(m):
    network_, x, count = network(m), numbers(m, 2, 3), [0]
    traced = fx_of(m).symbolic_trace(network_)

    def in_pairs(node):
        count[0] += 1
        return (count[0] - 1) // 2

    split = part(m, "passes.split_module").split_module
    made = split(traced, network_, in_pairs)
    again = split(traced, network_, lambda node: "all")
    return [
        text(made.code),
        sorted([name, text(sub.code)] for name, sub in made.named_children()),
        rounded(*made(x)),
        text(again.code),
        text(again.submod_all.code),
        rounded(*again(x)),
    ]


PROGRAMS = (
    made_by_hand,
    inserting,
    replacing,
    dead_code,
    arguments_do_not_change,
    copied_between_graphs,
    submodules,
    copies,
    interpreters,
    transformers,
    shapes,
    patterns,
    filters,
    modules_as_patterns,
    splitting,
)
