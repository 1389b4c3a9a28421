# SPDX-License-Identifier: Apache-2.0
"""Programs that define operators, and call them and PyTorch's own by name, for test_strangers.py;
tests/answered.py stores PyTorch's answers. Those with annotations import PyTorch's words from m."""

import importlib
from collections.abc import Sequence

from wrappers.answers import leaf, numbers, told


def library_of(m):
    return importlib.import_module(f"{m.__name__}.library")


def annotated(function, **words):
    """A function's annotations, which must be m's own classes."""
    function.__annotations__ = words
    return function


def sine(x, scale=1.0):
    return x.sin() * scale


def back_of_sine(ctx, g):
    (x,) = ctx.saved_tensors
    return g * x.cos() * ctx.scale, None


def keep_of_sine(ctx, inputs, output):
    x, ctx.scale = inputs
    ctx.save_for_backward(x)


def called(m):
    lib, T = library_of(m), m.Tensor
    seen = []

    def body(x, scale=1.0):
        seen.append([m.is_grad_enabled(), x.requires_grad])
        return sine(x, scale)

    op = lib.custom_op(
        "seen::sine", annotated(body, x=T, scale=float, **{"return": T}), mutates_args=()
    )
    x = leaf(m, 3)
    answers = [
        repr(op),
        op._name,
        op._qualname,
        op(x).tolist(),
        op(x, 2.0).tolist(),
        op(x, scale=2).tolist(),
        op(x).requires_grad,
        op(x.detach()).requires_grad,
        told(lambda: op(x).sum().backward()),
    ]
    answers += [
        told(call)
        for call in (
            lambda: op(1.0),
            lambda: op(x, "a"),
            lambda: op(x, 1.0, 2),
            lambda: op(),
            lambda: op(x, foo=1),
        )
    ]
    answers.append(op.register_autograd(back_of_sine, setup_context=keep_of_sine))
    for y in (
        op(x),
        op(x, 2.0),
        op(x, scale=3.0),
        m.ops.seen.sine(x, 2),
        m.ops.seen.sine.default(x),
    ):
        answers.append([y.tolist(), m.autograd.grad(y.sum(), x)[0].tolist()])
    (g,) = m.autograd.grad(op(x, 2.0).sum(), x, create_graph=True)
    answers.append(m.autograd.grad(g.sum(), x)[0].tolist())
    with m.no_grad():
        answers.append(op(x).requires_grad)

    def fake(x, scale=1.0):
        return m.empty_like(x)

    answers.append(op.register_fake(fake) is fake)
    answers.append(m.func.vmap(op)(numbers(m, 3, 2)).tolist())
    answers.append(m.autograd.gradcheck(lambda x: op(x, 1.5), (x,)))
    ops = m.ops.seen
    answers += [
        str(ops.sine),
        str(ops.sine.default),
        ops.sine.default is ops.sine.default,
        ops.sine.__name__,
        ops.sine.default.name(),
        ops.sine.default.namespace,
        ops.sine.default.overloadpacket is ops.sine,
        ops.sine.overloads(),
        told(lambda: ops.nothing),
        told(lambda: ops.sine.other),
        told(lambda: m.ops.nobody.x),
        str(op._opoverload),
    ]
    return [answers, seen[:2]]


def of_lists(m):
    lib, T = library_of(m), m.Tensor
    kept = []

    def body(xs, n=None, *, flag=True):
        return xs[0] * 2, xs[1] * (3 if flag else 5)

    annotated(body, xs=Sequence[T], n=int | None, flag=bool, **{"return": tuple[T, T]})
    op = lib.custom_op("seen::many", body, mutates_args=())
    x, y = leaf(m, 2), leaf(m, 2, shift=1)

    def keep(ctx, inputs, keyword_only_inputs, output):
        kept.append([len(inputs), len(inputs[0]), inputs[1], keyword_only_inputs, len(output)])
        ctx.factor = 3 if keyword_only_inputs["flag"] else 5

    def back(ctx, g, h):
        kept.append(list(ctx.needs_input_grad[0]))
        return [g * 2, h * ctx.factor], None

    op.register_autograd(back, setup_context=keep)
    answers = []
    for options in ({}, {"flag": False}):
        a, b = op([x, y], **options)
        answers.append(
            [[t.tolist() for t in m.autograd.grad((a * b).sum(), (x, y))], a.requires_grad]
        )
    a, b = op([x.detach(), y])
    answers.append(m.autograd.grad(b.sum(), y)[0].tolist())
    answers += [
        told(lambda: op([x, y], 1, False)),
        told(lambda: op(x)),
        str(op._opoverload._schema),
    ]
    return [answers, kept]


def written(m):
    lib, T = library_of(m), m.Tensor

    def body(x, by):
        x.add_(by)

    op = lib.custom_op(
        "seen::increase", annotated(body, x=T, by=float, **{"return": None}), mutates_args={"x"}
    )
    x = m.zeros(2)
    before = x._version
    result = op(x, 2.0)

    def one(name, function, **options):
        def made():
            lib.custom_op(name, function, **options)
            return "made"

        return told(made)

    same = lib.custom_op(
        "seen::same", annotated(lambda x: x, x=T, **{"return": T}), mutates_args=()
    )
    view = lib.custom_op(
        "seen::view", annotated(lambda x: x.view(-1), x=T, **{"return": T}), mutates_args=()
    )
    kind = lib.custom_op(
        "seen::kind",
        annotated(lambda x: x + 1, x=T, **{"return": T}),
        mutates_args=(),
        device_types="cuda",
    )
    absent = told(lambda: kind(x).tolist())
    kind.register_kernel("cpu", lambda x: x + 2)
    return [
        result,
        x.tolist(),
        x._version > before,
        str(op._opoverload._schema),
        told(lambda: op.register_autograd(back_of_sine)),
        told(lambda: same(x)),
        told(lambda: view(x)),
        absent,
        kind(x).tolist(),
        told(lambda: one("seen::a", lambda x: x)),
        one("seen::a", lambda x: x, mutates_args=()),
        one("seen::a", annotated(lambda x: x, x=T), mutates_args=()),
        one("a", annotated(lambda x: x, x=T, **{"return": T}), mutates_args=()),
        one("seen::a", annotated(lambda x: x, x=object, **{"return": T}), mutates_args=()),
        one("seen::a", annotated(lambda x: x, x=T, **{"return": T}), mutates_args={"q"}),
        one("seen::a", annotated(lambda x, *y: x, x=T, y=T, **{"return": T}), mutates_args=()),
        one("seen::a", annotated(lambda x: x, x=T, **{"return": T}), mutates_args="unknown"),
        lib.infer_schema(annotated(sine, x=T, scale=float, **{"return": T}), mutates_args=()),
    ]


def defined(m):
    lib = library_of(m)
    library = lib.Library("seen2", "DEF")
    x = leaf(m, 2)
    answers = [
        library.define("foo(Tensor x, int n=3, *, float eps=0.5) -> Tensor"),
        told(lambda: m.ops.seen2.foo(x)),
    ]
    library.impl("foo", lambda x, n=3, *, eps=0.5: x * n + eps, "CPU")
    plain = x.detach()
    answers += [m.ops.seen2.foo(plain).tolist(), m.ops.seen2.foo(plain, 2, eps=1.0).tolist()]
    library.define("bar(Tensor x) -> Tensor")
    library.impl("bar", lambda x: x * 2, "CompositeImplicitAutograd")
    y = m.ops.seen2.bar(x)
    answers += [y.tolist(), m.autograd.grad(y.sum(), x)[0].tolist()]
    answers.append(lib.define("seen3::a", "(Tensor x) -> Tensor"))
    answers.append(lib.impl("seen3::a", "cpu", lambda x: x * 5))
    lib.register_autograd("seen3::a", lambda ctx, g: g * 5)
    y = m.ops.seen3.a(x)
    answers += [y.tolist(), m.autograd.grad(y.sum(), x)[0].tolist()]
    lib.register_fake("seen3::a", lambda x: x)
    answers += [
        told(call)
        for call in (
            lambda: lib.Library("seen2", "DEF"),
            lambda: lib.Library("aten", "DEF"),
            lambda: lib.Library("x", "BAD"),
            lambda: library.define("foo(Tensor x) -> Tensor"),
            lambda: lib.register_fake("seen3::none", sine),
            lambda: m.ops.seen3.a(1.0),
        )
    ]
    return answers


def own(m):
    """PyTorch's operators by name."""
    aten = m.ops.aten
    x, y, w = numbers(m, 3, 3), numbers(m, 3, 3, shift=1), numbers(m, 2, 3)
    calls = {
        "add": lambda: [aten.add(x, y), aten.add.Tensor(x, y, alpha=2), aten.add.Scalar(x, 2)],
        "mm": lambda: [
            aten.mm.default(x, y),
            aten.mm(x, y),
            aten.addmm.default(x, x, y, beta=2, alpha=3),
        ],
        "views": lambda: [
            aten.view.default(x, [9]),
            aten.t.default(w),
            aten.transpose.int(x, 0, 1),
            aten.permute.default(w, [1, 0]),
            aten.expand.default(x[:1], [2, 3]),
            aten.unsqueeze.default(x, 0),
            aten.select.int(x, 0, 1),
        ],
        "sums": lambda: [
            aten.sum.default(x),
            aten.sum.dim_IntList(x, [0], True),
            aten.mean.dim(x, [1]),
            aten.amax.default(x, [0]),
            aten.cumsum.default(x, 1),
        ],
        "units": lambda: [
            getattr(aten, name).default(x)
            for name in "abs neg exp sin tanh sigmoid relu silu gelu erf floor sign clone detach".split()
        ],
        "layers": lambda: [
            aten.linear.default(x, w),
            aten.native_layer_norm.default(x, [3], None, None, 1e-5)[0],
            aten.leaky_relu.default(x, 0.2),
            aten.softmax.int(x, 1),
            aten.conv1d.default(x[None], w[:, :, None].expand(2, 3, 1)),
        ],
        "in place": lambda: [
            aten.add_.Tensor(x.clone(), y),
            aten.mul_.Tensor(x.clone(), y),
            aten.fill_.Scalar(x.clone(), 2),
            aten.relu_.default(x.clone()),
            aten.copy_.default(x.clone(), y),
        ],
        "others": lambda: [
            aten.cat.default([x, y], 1),
            aten.where.self(x > 0, x, y),
            aten.index_select.default(x, 0, m.tensor([1])),
            aten.pow.Tensor_Scalar(x, 2),
            aten.sub.Tensor(x, y),
            aten.div.Tensor(x, y),
            aten.zeros.default([2]),
            aten.ones_like.default(w),
            aten.full.default([2], 3.0),
        ],
    }
    z = leaf(m, 3, 3)
    return {
        **{name: told(lambda c=call: [r.tolist() for r in c()]) for name, call in calls.items()},
        "slopes": m.autograd.grad(aten.mm.default(z, y).sum(), z)[0].tolist(),
        "words": [
            str(aten.add),
            str(aten.add.Tensor),
            aten.add.Tensor.name(),
            aten.mm.default.name(),
            aten.add.Tensor == aten.add.Tensor,
            aten.add.Tensor == aten.add.Scalar,
            aten.add.Tensor in {aten.add.Tensor},
            aten.mm.default.overloadpacket is aten.mm,
            aten.add.__name__,
            aten.add.Tensor.__name__,
        ],
        "absent": [
            told(lambda: aten.nothing),
            told(lambda: aten.add.nothing),
            told(lambda: aten.manual_seeds),
        ],
    }


PROGRAMS = [called, of_lists, written, defined, own]
