# SPDX-License-Identifier: Apache-2.0
"""Programs that are traced, for test_fx.py; tests/answered.py stores PyTorch's answers."""

import importlib
import math

from wrappers.answers import told


def fx_of(m):
    return importlib.import_module(f"{m.__name__}.fx")


def text(value):
    """Printed graphs and code, with PyTorch's names for the places where functions are, and without
    the lines by which its code wraps functions again."""
    lines = str(value).replace("libdl", "torch").split("\n")
    kept = "\n".join(line for line in lines if not line.startswith("torch.fx._symbolic_trace.wrap"))
    for found, wanted in (
        ("torch._C._nn.", "torch.nn.functional."),
        ("torch.functional.", "torch."),
        ("fx._symbolic_trace._assert", "fx._placeholders._assert"),
    ):
        kept = kept.replace(found, wanted)
    return kept.strip()


def both(m, function, **concrete):
    """Graph and code."""
    traced = fx_of(m).symbolic_trace(function, concrete or None)
    traced.graph.lint()
    return [text(traced.graph), text(traced.code)]


def network(m):
    class Network(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = m.nn.Linear(3, 4)
            self.p = m.nn.Parameter(m.rand(4))
            self.seq = m.nn.Sequential(m.nn.ReLU(), m.nn.Linear(4, 4))
            self.register_buffer("buf", m.ones(4))

        def forward(self, x, y=2.0, *, z=None):
            a = self.seq(self.lin(x + 1))
            b = m.relu(a).clamp(min=0.0, max=1.0) + self.p
            c, d = b.chunk(2, dim=-1)
            e = m.nn.functional.softmax(m.cat([c, d], dim=-1), dim=1)
            f = m.nn.functional.linear(e, self.lin.weight.t(), None)
            g = (-e * self.buf)[:, 1:3, ...][0, None]
            return {"g": g, "list": [a.view(a.size(0), -1).shape[0], y, math.sqrt(2)], "f": f}

    return Network()


def a_network(m):
    found = fx_of(m).symbolic_trace(network(m))
    places = [
        [
            n.op,
            n.name,
            [u.name for u in n.users],
            [i.name for i in n.all_input_nodes],
            [[path, kind[0]] for path, kind in n.meta.get("nn_module_stack", {}).items()],
        ]
        for n in found.graph.nodes
    ]
    return [text(found.graph), text(found.code), places, type(found).__name__, repr(found)]


def operators(m):
    return both(
        m,
        lambda x, y: (
            x + 1,
            1 + x,
            x - y,
            2 - x,
            x * y,
            2 * x,
            x / y,
            2 / x,
            x // 2,
            2 // x,
            x % 2,
            2 % x,
            x**2,
            2**x,
            x @ y,
            x & 1,
            1 & x,
            x | y,
            1 | x,
            x ^ y,
            1 ^ x,
            x << 1,
            1 << x,
            x >> 1,
            1 >> x,
            x < y,
            x <= y,
            x > y,
            x >= y,
            x == y,
            x != 1,
            -x,
            +x,
            ~x,
            abs(x),
            x[0],
            x[1:],
            x[..., None],
            x[y],
        ),
    )


def methods_and_attributes(m):
    def function(x):
        x += 1
        x.add_(2)
        x = x.view(3, -1).reshape(x.shape[0], -1)
        return x.T.mT, x.is_cuda, x.to(m.float64), x.to(device=m.device("cpu")), x.own("a\n", k=[1])

    return both(m, function)


def functions(m):
    F = m.nn.functional

    def function(x):
        a = F.relu(x, inplace=True)
        b = m.stack([a, x]).sum(dim=0).max(dim=1)[0]
        return (
            m.sum(b, dim=0, keepdim=True),
            m.max(x, 1),
            F.cross_entropy(x, b),
            m.where(x > 0, x, b),
            F.dropout(x, 0.5, training=False),
            F.interpolate(x, scale_factor=2.0),
            F.pad(x, (1, 1)),
            F.embedding(x, b),
            m.matmul(x, x),
            F.batch_norm(x, x, x, training=True),
            F.gelu(x),
            m.flatten(x, 1),
            m.sigmoid(x),
            F.layer_norm(x, (3,)),
            F.silu(x),
            F.max_pool1d(x, 2),
            m.split(x, 2, dim=1),
            m.zeros_like(x, dtype=m.int),
            math.sqrt(x.sum()),
            x * math.inf,
            x * math.nan,
            F.mse_loss(x, b),
            F.elu(x),
        )

    return both(m, function)


def tensors_of_the_program(m):
    y = m.ones(1)
    return both(m, lambda x: (y + x, y.add(x), x + y, m.add(y, x), y * x, m.cat([x, y])))


def unpacking(m):
    def pair(x):
        a, (b, c) = x
        return a + b + c

    return [both(m, pair), both(m, lambda x, *args, **kw: x + args[0] + kw["a"])]


def annotations(m):
    Tensor = m.Tensor

    def function(x, y=2, name="a"):
        return x + y

    function.__annotations__ = {"x": Tensor, "y": int, "name": str, "return": Tensor}
    return both(m, function)


def concrete_arguments(m):
    def function(x, flag, k=3, name="a", *, d=None):
        return x * k if flag else x

    def structured(x, d):
        return {"sum": x + d["a"][0] + d["a"][1] * d["c"]}

    fx = fx_of(m)
    answers = [
        both(m, function, flag=True),
        both(m, function, flag=True, k=2.5),
        both(m, function, flag=False, k=None, name="zz"),
    ]
    traced = fx.symbolic_trace(function, {"flag": False})
    tree = fx.symbolic_trace(structured, {"d": {"a": [fx.PH, fx.PH], "c": 3}})
    x = m.ones(2)
    return [
        answers,
        told(lambda: traced(x, True)),
        traced(x, False).tolist(),
        text(tree.graph),
        tree(x, {"a": [1, 2], "c": 3})["sum"].tolist(),
        told(lambda: tree(x, {"a": [1, 2], "c": 4})),
    ]


def what_cannot_be_traced(m):
    def trace(function):
        return told(lambda: text(fx_of(m).symbolic_trace(function).code))

    def assignment(x):
        x[0] = 1
        return x

    return [
        trace(lambda x: x if x.sum() > 0 else -x),
        trace(lambda x: list(x)),
        trace(lambda x: len(x)),
        trace(lambda x: int(x)),
        trace(lambda x: 1 in x),
        trace(lambda x: x and 1),
        trace(lambda x: range(x)),
        trace(lambda x: dict(**x)),
        trace(lambda x: {x: 1}),
        trace(lambda x: object()),
        trace(assignment),
        trace(lambda x: m.ones(3)[x:]),
    ]


def subclasses_of_tracer(m):
    fx = fx_of(m)

    class Tracer(fx.Tracer):
        def __init__(self):
            super().__init__(autowrap_functions=(told,))
            self.seen = []

        def is_leaf_module(self, module, name):
            return isinstance(module, m.nn.ReLU)

        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            node = super().create_node(kind, target, args, kwargs, name, type_expr)
            self.seen.append(node.name)
            return node

        def to_bool(self, obj):
            return True

    class Branching(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = m.nn.Sequential(m.nn.ReLU(), m.nn.Tanh())

        def forward(self, x):
            return self.inner(x) if x.sum() > 0 else x

    tracer = Tracer()
    graph = tracer.trace(Branching())
    shapes = fx.Tracer(param_shapes_constant=True)
    flat = shapes.trace(Flat(m))
    return [text(graph), tracer.seen, text(flat), text(graph.python_code("self").src)]


def Flat(m):  # noqa: N802
    class Module(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = m.nn.Parameter(m.ones(2, 3))

        def forward(self, x):
            return x.reshape(self.w.shape[1]) if self.w.ndim == 2 else x

    return Module()


def traced_again(m):
    """A traced module is traced, alone and inside another one."""
    fx = fx_of(m)
    inner = fx.symbolic_trace(lambda x: math.sqrt(m.relu(x).sum()))

    class Outer(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.net = inner, network(m)

        def forward(self, x):
            return self.inner(self.net(x)["f"])

    return [both(m, inner), both(m, Outer())]


PROGRAMS = (
    a_network,
    operators,
    methods_and_attributes,
    functions,
    tensors_of_the_program,
    unpacking,
    annotations,
    concrete_arguments,
    what_cannot_be_traced,
    subclasses_of_tracer,
    traced_again,
)
