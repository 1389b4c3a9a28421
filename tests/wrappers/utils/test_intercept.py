# SPDX-License-Identifier: Apache-2.0
"""libdl.utils.intercept: who looks on sees every call and may answer it."""

import threading

import pytest

import libdl
from libdl import nn
from libdl.utils import intercept


def watch(run, **options):
    """The calls of run() as (phase, depth, name, source)."""
    seen = []
    with intercept(after=lambda c: seen.append((c.phase, c.depth, c.name, c.source)), **options):
        run()
    return seen


def test_a_training_step_is_seen_whole():
    libdl.manual_seed(0)
    layer = nn.Linear(3, 2)
    optimizer = libdl.optim.SGD(layer.parameters(), lr=0.1)
    x = libdl.ones(4, 3)

    def step():
        layer(x).relu().sum().backward()
        optimizer.step()

    seen = [(p, n, s) for p, depth, n, s in watch(step) if depth == 0]
    assert seen[:3] == [
        ("forward", "linear", None),
        ("forward", "relu", None),
        ("forward", "sum", None),
    ]
    assert seen[-1] == ("optimizer", "sgd", None)
    between = seen[3:-1]
    assert {p for p, _, _ in between} == {"backward"}
    assert ("backward", "derivative", "relu") in between
    assert ("backward", "mm", "linear") in between
    assert all(source for _, _, source in between)


def test_what_an_optimizer_makes_of_operators_is_its_own():
    p = libdl.nn.Parameter(libdl.ones(3))
    p.grad = libdl.ones(3)
    optimizer = libdl.optim.Adam([p])
    seen = watch(optimizer.step)
    assert seen[-1] == ("optimizer", 0, "adam", None)
    assert {phase for phase, *_ in seen} == {"optimizer"} and len(seen) > 1
    assert watch(lambda: p + 1, parts=False) == [("forward", 0, "add", None)]


def test_parts_are_left_out_when_asked():
    x = libdl.ones(3, requires_grad=True)
    assert watch(lambda: x.tanh().sum().backward(), parts=False) == [
        ("forward", 0, "tanh", None),
        ("forward", 0, "sum", None),
    ]


def test_what_a_hook_calls_has_its_own_phase():
    x = libdl.ones(3, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: g * 2)
    seen = watch(lambda: y.sum().backward(), parts=False)
    assert seen == [("forward", 0, "sum", None), ("hook", 0, "mul", "exp")]


def test_what_a_custom_functions_backward_calls_is_seen():
    class Cube(libdl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            return 3 * x * x * dy

    x = libdl.ones(2, requires_grad=True)
    seen = watch(lambda: Cube.apply(x).sum().backward(), parts=False)
    assert [name for phase, _, name, _ in seen if phase == "forward"] == ["mul", "mul", "sum"]
    assert [(n, s) for phase, _, n, s in seen if phase == "backward"] == [("mul", "Cube")] * 3


@pytest.mark.parametrize(
    ("call", "name", "arguments"),
    [
        (lambda x: x.softmax(-1), "softmax", (-1, None)),
        (lambda x: x.sum(0, keepdim=True), "sum", ((0,), True, None)),
        (lambda x: x.div(2, rounding_mode="floor"), "div", (libdl.tensor(2), "floor")),
        (lambda x: nn.functional.leaky_relu(x, 0.25), "leaky_relu", (0.25,)),
        (lambda x: libdl.add(x, x), "add", ("x", None)),
        (lambda x: x.to(libdl.float64), "to", (libdl.float64, None, False, False)),
    ],
)
def test_arguments_are_the_operators(call, name, arguments):
    x = libdl.ones(2, 3)
    seen = []
    with intercept(after=seen.append):
        y = call(x)
    (outer,) = [c for c in seen if c.depth == 0]
    assert outer.name == name and outer.is_operator and not outer.failed
    assert outer.arguments[0] is x
    for found, wanted in zip(outer.arguments[1:], arguments, strict=True):
        if isinstance(found, libdl.Tensor):
            assert wanted == "x" and found is x or found.item() == wanted.item()
        else:
            assert found == wanted
    assert outer.results == (y,) or outer.results[0] is y


def test_results_of_several_kinds():
    x = libdl.arange(6.0).reshape(2, 3)
    seen = []
    with intercept(after=seen.append, parts=False):
        values, indices = x.max(0)
        parts = x.split(1)
        x.item if x.numel() == 1 else x[0, 0].item()
        x.mul_(2)
    by_name = {c.name: c for c in seen}
    assert by_name["max_dim"].results[0] is values and by_name["max_dim"].results[1] is indices
    assert all(a is b for a, b in zip(by_name["split"].results[0], parts, strict=True))
    assert by_name["item_f64"].results == (0.0,)
    assert by_name["mul"].destinations[0] is x and by_name["mul"].results is None


def test_a_call_is_answered():
    x = libdl.ones(3)
    with intercept(before=lambda c: libdl.zeros(3) if c.name == "exp" else None):
        assert x.exp().tolist() == [0, 0, 0]
        assert x.neg().tolist() == [-1, -1, -1]
    assert x.exp()[0] > 2


def test_a_gradient_is_answered():
    x = libdl.ones(3, requires_grad=True)
    with intercept(before=lambda c: libdl.full((3,), 7.0) if c.source == "tanh" else None):
        x.tanh().sum().backward()
    assert x.grad.tolist() == [7, 7, 7]


def test_who_answers_calls_past_himself():
    x = libdl.ones(3)
    outer, inner = [], []

    def twice(call):
        inner.append(call.name)
        return call.arguments[0] + call.arguments[0] if call.name == "neg" else None

    with intercept(before=lambda c: outer.append(c.name)), intercept(before=twice):
        assert x.neg().tolist() == [2, 2, 2]
    assert inner[0] == "neg" and outer[0] == "add"


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_exception_becomes_the_calls(when):
    def raises(call):
        raise KeyError(call.name)

    x = libdl.ones(3)
    with intercept(**{when: raises}), pytest.raises(KeyError, match="exp"):
        x.exp()
    assert x.exp()[0] > 2


def test_a_failed_call_is_told():
    seen = []
    with intercept(after=seen.append), pytest.raises(IndexError):
        libdl.ones(2).softmax(3)
    assert [(c.name, c.failed, c.results) for c in seen if c.name == "softmax"] == [
        ("softmax", True, None)
    ]


@pytest.mark.parametrize("answer", [3, (), (1, 2), "x"])
def test_other_answers_are_refused(answer):
    x = libdl.ones(2)
    with intercept(before=lambda c: answer), pytest.raises(TypeError, match="exp: "):
        x.exp()


def test_only_this_thread_is_watched():
    seen = []
    with intercept(after=seen.append):
        other = threading.Thread(target=lambda: libdl.ones(2).exp())
        other.start()
        other.join()
    assert not seen


def test_neither_before_nor_after_is_refused():
    with pytest.raises(TypeError, match="before, after or both"):
        intercept()
    with pytest.raises(TypeError, match="callable"):
        intercept(before=3)


def test_a_step_watched_has_the_bits_of_one_unwatched():
    def train(steps=3):
        libdl.manual_seed(1)
        model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))
        optimizer = libdl.optim.AdamW(model.parameters(), lr=0.01)
        x, target = libdl.randn(32, 8), libdl.randint(0, 4, (32,))
        for _ in range(steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), target).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        return [p.detach().clone() for p in model.parameters()]

    plain = train()
    with intercept(before=lambda c: None, after=lambda c: None):
        watched = train()
    assert all(libdl.equal(a, b) for a, b in zip(plain, watched, strict=True))
