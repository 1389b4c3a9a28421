# SPDX-License-Identifier: Apache-2.0
"""Programs with hooks, containers and lazy modules, for test_modules.py; tests/answered.py stores
PyTorch's answers."""

import copy
import pickle
from collections import OrderedDict

from wrappers.nn.seen_modules import names, told

NEAR = 0  # to the last bit


def shapes(values):
    return [None if v is None else list(v.shape) for v in values]


class Calls:
    """A module of a function, and a log of its hooks."""

    def __init__(self, m, function):
        class Of(m.nn.Module):
            def forward(self, *args, **kwargs):
                return function(*args, **kwargs)

        self.log, self.module = [], Of()

    def backward(self, name, answer=None):
        def hook(module, grad_input, grad_output):
            self.log.append(
                [name, shapes(grad_input), [None if g is None else g.tolist() for g in grad_output]]
            )
            return answer(grad_input) if callable(answer) else answer

        return hook

    def run(self, args, loss=lambda out: out.sum(), **kwargs):
        self.log.clear()
        failed = told(lambda: loss(self.module(*args, **kwargs)).backward())
        return [failed, copy.deepcopy(self.log)]


def leaf(m, *shape):
    return m.ones(*shape, requires_grad=True)


# -- hooks -----------------------------------------------------------------------------------------


def forward_hooks(m):
    c, x = Calls(m, lambda x, **k: x * 2), m.ones(2)
    log, net = c.log, c.module
    handles = [
        net.register_forward_pre_hook(lambda mod, a: log.append(["pre1", len(a)])),
        net.register_forward_pre_hook(
            lambda mod, a, k: log.append(["pre2", sorted(k)]), with_kwargs=True, prepend=True
        ),
        net.register_forward_hook(lambda mod, a, o: log.append(["f1", o.tolist()])),
        net.register_forward_hook(
            lambda mod, a, k, o: log.append(["f2", sorted(k)]), with_kwargs=True, prepend=True
        ),
    ]
    net(x, k=1)
    state = [
        list(net._forward_hooks) == [handles[3].id, handles[2].id],
        net._forward_hooks_with_kwargs == {handles[3].id: True},
        type(handles[0]).__name__,
    ]
    for handle in handles:
        handle.remove()
        handle.remove()
    net(x)
    answers = [len(net._forward_hooks), len(net._forward_pre_hooks_with_kwargs)]
    for hook, options in (
        (lambda mod, a: (a[0] * 0,), {}),
        (lambda mod, a: a[0] * 0, {}),
        (lambda mod, a, k: a[0], {"with_kwargs": True}),
        (lambda mod, a, k: ((a[0] * 3,), {}), {"with_kwargs": True}),
    ):
        with net.register_forward_pre_hook(hook, **options):
            answers.append(told(lambda: net(x).tolist()))
    with net.register_forward_hook(lambda mod, a, o: 5):
        answers.append(net(x))
    return [log, state, answers]


def hooks_that_are_always_called(m):
    def fail(*args):
        log.append("fail")
        raise KeyError("z")

    c = Calls(m, lambda x: x.missing)
    log, net = c.log, c.module
    net.register_forward_hook(lambda mod, a, o: log.append(["always", o]), always_call=True)
    net.register_forward_hook(lambda mod, a, o: log.append("not"))
    net.register_forward_hook(fail, always_call=True)
    answers = [told(net, m.ones(2))]
    d = Calls(m, lambda x: x)
    d.module.register_forward_hook(fail)
    d.module.register_forward_hook(lambda mod, a, o: log.append(o.tolist()), always_call=True)
    return [answers, told(d.module, m.ones(2)), log]


def backward_hooks(m):
    c = Calls(m, lambda a, b: a * b)
    c.module.register_full_backward_hook(c.backward("h"))
    answers = [
        c.run((leaf(m, 2), m.ones(2))),
        c.run((leaf(m, 2), 3)),
        c.run((3, leaf(m, 2))),
        c.run((leaf(m, 2),), b=leaf(m, 2)),
        c.run((m.ones(2), m.ones(2)), lambda out: leaf(m, 1)),
    ]
    for function, args, loss in (
        (lambda a: (a * 2, a * 3), 1, lambda out: out[0].sum()),
        (lambda a: (a * 2, a * 3), 1, lambda out: out[0].sum() + out[1].sum()),
        (lambda a: (a * 2, 4), 1, lambda out: out[0].sum()),
        (lambda a, b: a * 2, 2, lambda out: out.sum()),
        (lambda a: a, 1, lambda out: out.sum()),
    ):
        c = Calls(m, function)
        c.module.register_full_backward_hook(c.backward("h"))
        answers.append(c.run([leaf(m, 2), leaf(m, 3)][:args], loss))
    c = Calls(m, lambda a: a[0] * 2)
    c.module.register_full_backward_hook(c.backward("h"))
    return [answers, c.run(([leaf(m, 2)],))]


def backward_hooks_in_order(m):
    w = leaf(m, 2)
    c = Calls(m, lambda a: a * w)
    c.module.register_full_backward_hook(c.backward("1"))
    c.module.register_full_backward_hook(c.backward("2"), prepend=True)
    c.module.register_full_backward_pre_hook(lambda mod, go: c.log.append(["pre", go[0].tolist()]))
    c.module.register_full_backward_pre_hook(lambda mod, go: (go[0] * 2,), prepend=True)
    first = c.run((leaf(m, 2),))
    return [first, c.run((m.ones(2),)), w.grad.tolist()]


def answers_of_backward_hooks(m):
    answers = []
    for answer in ((None,), (1, 2), lambda g: (g[0] * 2,), ()):
        w = leaf(m, 2)
        c = Calls(m, lambda a: a * w)
        c.module.register_full_backward_hook(c.backward("h", answer))
        x = leaf(m, 2)
        answers.append([c.run((x,)), None if x.grad is None else x.grad.tolist()])
    for answer in ((None,), (1, 2), (1,), ()):
        c = Calls(m, lambda a: a * w)
        c.module.register_full_backward_hook(c.backward("h", answer))
        answers.append(c.run((m.ones(2),)))
    for answer in ((1, 2), (), lambda g: (g[0] * 5,)):
        c = Calls(m, lambda a: a * w)
        c.module.register_full_backward_pre_hook(
            lambda mod, go: answer(go) if callable(answer) else answer
        )
        x = leaf(m, 2)
        answers.append([c.run((x,)), None if x.grad is None else x.grad.tolist()])
    return answers


def kinds_of_backward_hooks(m):
    a, b = m.nn.Linear(2, 2), m.nn.Linear(2, 2)
    log = []
    a.register_backward_hook(lambda mod, gi, go: log.append(go[0].tolist()))
    a(leaf(m, 1, 2)).sum().backward()
    b.register_full_backward_hook(print)
    return [
        log,
        told(a.register_full_backward_hook, print),
        told(b.register_backward_hook, print),
        a._is_full_backward_hook,
        b._is_full_backward_hook,
    ]


def hooks_of_all_modules(m):
    g, log = m.nn.modules.module, []
    handles = [
        g.register_module_forward_pre_hook(lambda mod, a: log.append(["pre", type(mod).__name__])),
        g.register_module_forward_hook(
            lambda mod, a, k, o: log.append(["f", type(mod).__name__]), with_kwargs=True
        ),
        g.register_module_full_backward_hook(
            lambda mod, gi, go: log.append(["b", type(mod).__name__])
        ),
        g.register_module_full_backward_pre_hook(
            lambda mod, go: log.append(["bp", type(mod).__name__])
        ),
        g.register_module_parameter_registration_hook(lambda mod, n, p: log.append(["par", n])),
        g.register_module_module_registration_hook(lambda mod, n, p: log.append(["mod", n])),
        g.register_module_buffer_registration_hook(lambda mod, n, p: log.append(["buf", n])),
    ]
    s = m.nn.Sequential(m.nn.Linear(2, 2), m.nn.BatchNorm1d(2))
    s.q = m.nn.ReLU()
    s.w = m.nn.Buffer(m.ones(1))
    s[0].register_forward_hook(lambda mod, a, o: log.append("own"))
    s[0].register_full_backward_pre_hook(lambda mod, go: log.append("own backward"))
    s.register_full_backward_hook(lambda mod, gi, go: log.append(shapes(gi)))
    s(leaf(m, 3, 2)).sum().backward()
    for handle in handles:
        handle.remove()
    before = len(log)
    m.nn.Linear(2, 2)(m.ones(2))
    with g.register_module_parameter_registration_hook(
        lambda mod, n, p: m.nn.Parameter(p * 0, False)
    ):
        log.append(m.nn.Linear(1, 1).weight.requires_grad)
    return [log, before == len(log) - 1]


def copied_hooks(m):
    net = m.nn.Linear(2, 2)
    net.register_forward_hook(lambda mod, a, o: 3)
    net.handle = net.register_forward_pre_hook(lambda mod, a: (a[0] * 0,))
    c = copy.deepcopy(net)
    c.handle.remove()
    return [c(m.ones(2)), len(c._forward_pre_hooks), len(net._forward_pre_hooks)]


# -- containers ------------------------------------------------------------------------------------


def sequentials(m):
    R, T, S, Q = m.nn.ReLU, m.nn.Tanh, m.nn.Sigmoid, m.nn.Sequential
    answers = []
    for change in (
        lambda s: s[0:2],
        lambda s: s[-1],
        lambda s: s[3],
        lambda s: s["a"],
        lambda s: s.__setitem__(-1, R()),
        lambda s: s.__setitem__(3, R()),
        lambda s: s.__setitem__(0, 3),
        lambda s: s.__delitem__(0),
        lambda s: s.__delitem__(slice(0, 2)),
        lambda s: s.__delitem__(5),
        lambda s: s.append(R()),
        lambda s: s.append(3),
        lambda s: s.extend(Q(R(), R())),
        lambda s: s.insert(1, R()),
        lambda s: s.insert(-1, R()),
        lambda s: s.insert(3, R()),
        lambda s: s.insert(4, R()),
        lambda s: s.pop(0),
        lambda s: s.pop(7),
        lambda s: s.pop(slice(0, 1)),
        lambda s: s + Q(R()),
        lambda s: s + [R()],
        lambda s: s.__iadd__(Q(R())),
        lambda s: s * 2,
        lambda s: 2 * s,
        lambda s: s.__imul__(2),
        lambda s: s * 0,
        lambda s: s * 1.5,
        lambda s: len(s),
        lambda s: R() in s,
    ):
        s = Q(R(), T(), S())
        answer = told(change, s)
        answers.append(
            [names(s), names(answer) if isinstance(answer, m.nn.Module) else answer, answer is s]
        )
    named = Q(OrderedDict(a=R(), b=T(), c=S()))
    answers.append([names(named[1:]), names(named.append(R())), names(named + named), Q()(3)])
    del named[0]
    return [answers, names(named), told(Q, 1)]


def lists_of_modules(m):
    R, T, S, L = m.nn.ReLU, m.nn.Tanh, m.nn.Sigmoid, m.nn.ModuleList
    answers = []
    for change in (
        lambda s: s[1:],
        lambda s: s[-1],
        lambda s: s[3],
        lambda s: s["a"],
        lambda s: s.__setitem__(-1, R()),
        lambda s: s.__setitem__(3, R()),
        lambda s: s.__setitem__(0, 3),
        lambda s: s.__delitem__(slice(0, 2)),
        lambda s: s.__delitem__(-1),
        lambda s: s.append(None),
        lambda s: s.append(3),
        lambda s: s.extend([R()]),
        lambda s: s.extend(3),
        lambda s: s.extend(R()),
        lambda s: s.insert(1, R()),
        lambda s: s.pop(0),
        lambda s: s.pop(slice(0, 1)),
        lambda s: s + [R()],
        lambda s: s.__iadd__([R()]),
        lambda s: s(1),
        lambda s: s[0] in s,
        lambda s: len(list(reversed(s))),
    ):
        s = L([R(), T(), S()])
        answer = told(change, s)
        answers.append(
            [names(s), names(answer) if isinstance(answer, m.nn.Module) else answer, answer is s]
        )
    return answers


def dicts_of_modules(m):
    R, T, D = m.nn.ReLU, m.nn.Tanh, m.nn.ModuleDict
    answers = []
    for change in (
        lambda s: s["a"],
        lambda s: s["z"],
        lambda s: s.__setitem__("c", R()),
        lambda s: s.__setitem__("keys", R()),
        lambda s: s.__setitem__(1, R()),
        lambda s: s.__setitem__("c", 3),
        lambda s: s.__delitem__("a"),
        lambda s: s.pop("a"),
        lambda s: s.pop("q"),
        lambda s: s.update({"z": R(), "a": T()}),
        lambda s: s.update([("z", R()), ["y", R()]]),
        lambda s: s.update(D({"q": R()})),
        lambda s: s.update(3),
        lambda s: s.update([3]),
        lambda s: s.update([(1, 2, 3)]),
        lambda s: s.clear(),
        lambda s: len(s),
        lambda s: list(s),
        lambda s: "a" in s,
        lambda s: list(s.keys()),
        lambda s: [k for k, _ in s.items()],
        lambda s: len(list(s.values())),
        lambda s: s(1),
        lambda s: s.a,
    ):
        s = D({"a": R(), "b": T()})
        answer = told(change, s)
        answers.append([names(s), names(answer) if isinstance(answer, m.nn.Module) else answer])
    return answers


def held(value):
    return [type(value).__name__, list(value.shape)] if hasattr(value, "shape") else value


def lists_of_parameters(m):
    answers = []
    for change in (
        lambda s: s[0],
        lambda s: s[-1],
        lambda s: s[5],
        lambda s: s["a"],
        lambda s: s.__setitem__(0, m.ones(9)),
        lambda s: s.__setitem__(0, 3),
        lambda s: s.__setitem__(0, None),
        lambda s: s.append(m.ones(4)),
        lambda s: s.append("x"),
        lambda s: s.extend([m.ones(4), 5]),
        lambda s: s.extend(3),
        lambda s: s.extend(m.ones(2)),
        lambda s: s.__iadd__([m.ones(4)]),
        lambda s: s + [m.ones(4)],
        lambda s: len(s),
        lambda s: s(1),
        lambda s: [held(v) for v in s[1:]],
    ):
        s = m.nn.ParameterList([m.nn.Parameter(m.ones(1)), m.ones(2), 7])
        answer = told(change, s)
        answers.append(
            [[held(v) for v in s], list(s._parameters), True if answer is s else held(answer)]
        )
    s = m.nn.ParameterList([m.ones(1), 3])
    return [
        answers,
        [held(v) for v in copy.deepcopy(s)],
        [held(v) for v in pickle.loads(pickle.dumps(s))],
    ]


def dicts_of_parameters(m):
    answers = []
    other = lambda: m.nn.ParameterDict({"z": m.ones(1)})
    for change in (
        lambda s: s["a"],
        lambda s: s.a,
        lambda s: s.__setitem__("a", m.ones(9)),
        lambda s: s.__setitem__("a", 3),
        lambda s: s.__setitem__("c", "x"),
        lambda s: s.__delitem__("a"),
        lambda s: s.__delitem__("q"),
        lambda s: s.pop("a"),
        lambda s: held(s.popitem()[1]),
        lambda s: s.get("a"),
        lambda s: s.get("q", 7),
        lambda s: s.setdefault("a", m.ones(5)),
        lambda s: s.setdefault("z", m.ones(5)),
        lambda s: s.setdefault("z"),
        lambda s: s.update({"d": 1, "c": 2}),
        lambda s: s.update(OrderedDict(d=1, c=2)),
        lambda s: s.update([("z", m.ones(3))]),
        lambda s: s.update(3),
        lambda s: s.clear(),
        lambda s: list(s.copy()),
        lambda s: list(s.fromkeys(["x", "y"])),
        lambda s: list(s | other()),
        lambda s: list(other() | s),
        lambda s: list(s.__ior__(other())),
        lambda s: list(reversed(s)),
        lambda s: "a" in s,
        lambda s: list(s.keys()),
        lambda s: len(list(s.values())),
        lambda s: s(1),
        lambda s: list({"z": 1} | s),
    ):
        s = m.nn.ParameterDict({"b": m.ones(2), "a": m.nn.Parameter(m.ones(1))})
        answer = told(change, s)
        answers.append([[[k, held(v)] for k, v in s.items()], list(s._parameters), held(answer)])
    return answers


PROGRAMS = [
    forward_hooks,
    hooks_that_are_always_called,
    backward_hooks,
    backward_hooks_in_order,
    answers_of_backward_hooks,
    kinds_of_backward_hooks,
    hooks_of_all_modules,
    copied_hooks,
    sequentials,
    lists_of_modules,
    dicts_of_modules,
    lists_of_parameters,
    dicts_of_parameters,
]
