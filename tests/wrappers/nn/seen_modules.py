# SPDX-License-Identifier: Apache-2.0
"""Programs with modules, for test_modules.py. `m` is libdl, or PyTorch, whose answers
tests/answered.py stores."""

import copy
import pickle
from collections import OrderedDict

NEAR = 0  # to the last bit

KINDS = (
    KeyError,
    IndexError,
    AttributeError,
    NotImplementedError,
    TypeError,
    ValueError,
    AssertionError,
    RuntimeError,
)


def told(call, *args, **kwargs):
    """What a call returns, or the kind of its error."""
    try:
        return call(*args, **kwargs)
    except KINDS as error:
        return next(kind.__name__ for kind in KINDS if isinstance(error, kind))


def names(module):
    return [[name, type(part).__name__] for name, part in module._modules.items()]


def parts(module):
    return [
        sorted(module._parameters),
        sorted(module._buffers),
        sorted(module._modules),
        sorted(module._non_persistent_buffers_set),
    ]


def net(m):
    class Net(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.l = m.nn.Linear(2, 2)
            self.register_buffer("b", m.ones(2))
            self.register_buffer("n", m.ones(2), persistent=False)
            self.p = m.nn.Parameter(m.ones(1))

        def forward(self, x):
            return self.l(x) * self.p

    return Net()


# -- parts -----------------------------------------------------------------------------------------


def registered_names(m):
    values = {
        "register_buffer": m.ones(1),
        "register_parameter": m.nn.Parameter(m.ones(1)),
        "add_module": m.nn.ReLU(),
        "register_module": m.nn.ReLU(),
    }
    answers = []
    for way, value in values.items():
        for name in (1, "a.b", "", "forward", "training", "l", "b", "p", "q"):
            answers.append(told(getattr(net(m), way), name, value))
        answers.append(told(getattr(net(m), way), "q", 3))
        answers.append(told(getattr(net(m), way), "q", None))
    answers.append(told(net(m).register_parameter, "q", m.ones(1)))
    answers.append(told(net(m).register_parameter, "q", m.nn.Parameter(m.ones(1)) * 2))
    return answers


def assigned_attributes(m):
    answers = []
    for name in "lpbnq":
        for value in (
            m.ones(1),
            3,
            None,
            m.nn.ReLU(),
            m.nn.Parameter(m.ones(1)),
            m.nn.Buffer(m.ones(1)),
            m.nn.Buffer(m.ones(1), persistent=False),
        ):
            x = net(m)
            answers.append([told(setattr, x, name, value), parts(x)])
    for name, value in (
        ("a.b", m.nn.ReLU()),
        ("a.b", m.nn.Parameter(m.ones(1))),
        ("a.b", m.nn.Buffer(m.ones(1))),
    ):
        x = net(m)
        answers.append([told(setattr, x, name, value), parts(x)])
    return answers


def deleted_attributes(m):
    x = net(m)
    answers = [told(delattr, x, name) for name in ("zz", "n", "l", "p", "b", "p")]
    return [answers, parts(x)]


def before_init(m):
    class Early(m.nn.Module):
        def __init__(self, value):
            self.a = value

    answers = [
        told(lambda: Early(value) and "made")
        for value in (m.nn.ReLU(), m.nn.Parameter(m.ones(1)), m.nn.Buffer(m.ones(1)), 3)
    ]
    x = Early(3)
    return answers + [
        told(x, 1),
        told(lambda: x.zz),
        told(repr, x),
        told(lambda: list(x.parameters())),
        told(x.add_module, "a", None),
        told(m.nn.Module, 1),
        told(m.nn.Module, a=1),
        told(m.nn.Module(), 1),
    ]


def names_in_dir(m):
    known = dir(net(m))
    return [[name in known for name in "lbnp"], "0" in dir(m.nn.Sequential(m.nn.ReLU()))]


def parts_by_name(m):
    x, answers = net(m), []
    for target in ("", "l", "l.weight", "zz", "l.zz", "p", "b", "n", "l.bias", "b.x"):
        answers.append(
            [
                told(lambda: type(x.get_submodule(target)).__name__),
                told(lambda: list(x.get_parameter(target).shape)),
                told(lambda: list(x.get_buffer(target).shape)),
            ]
        )
    for target, module, strict in (
        ("", m.nn.ReLU(), False),
        ("l", 3, False),
        ("q", m.nn.ReLU(), False),
        ("q2", m.nn.ReLU(), True),
        ("p", m.nn.ReLU(), False),
        ("z.a", m.nn.ReLU(), False),
        ("l.a", m.nn.ReLU(), False),
        ("l.weight.a", m.nn.ReLU(), False),
    ):
        answers.append(told(x.set_submodule, target, module, strict))
    return [answers, repr(x)]


def walks(m):
    s = m.nn.Sequential(m.nn.Linear(2, 2), m.nn.ReLU())
    s.add_module("again", s[0])
    s.w = s[0].weight
    return [
        [n for n, _ in s.named_parameters("x")],
        [n for n, _ in s.named_parameters(remove_duplicate=False)],
        [n for n, _ in s.named_parameters(recurse=False)],
        [n for n, _ in s.named_modules()],
        [n for n, _ in s.named_modules(remove_duplicate=False)],
        [n for n, _ in s.named_children()],
        len(list(s.modules())),
        [n for n, _ in net(m).named_buffers("q", False)],
        len(list(s.children())),
    ]


def modes_reach_overriders(m):
    class Frozen(m.nn.Module):
        def train(self, mode=True):
            return super().train(False)

    s = m.nn.Sequential(Frozen(), m.nn.ReLU())
    s.train()
    return [s.training, s[0].training, s[1].training, told(s.train, 1), told(s.train, None)]


def conversions(m):
    x = net(m)
    p, answers = x.p, []
    x.l(m.ones(1, 2)).sum().backward()
    gradient = x.l.weight.grad
    kinds = lambda: [str(t.dtype).split(".")[-1] for t in (x.p, x.b, x.l.weight, x.l.weight.grad)]
    for convert in (
        lambda: x.double(),
        lambda: x.to(m.ones(1).half()),
        lambda: x.to("cpu", m.float64, True),
        lambda: x.to(device="cpu", non_blocking=True),
        lambda: x.float(),
        lambda: x.to(m.bfloat16),
        lambda: x.to(None),
        lambda: x.half(),
        lambda: x.type(m.float32),
        lambda: x.to(),
        lambda: x.to_empty(device="cpu"),
        lambda: x.to(m.int32),
        lambda: x.to(m.float32, "cpu"),
        lambda: x.to_empty(),
    ):
        answers.append([told(lambda: convert() is x), kinds()])
    return [answers, x.p is p, x.l.weight.grad is gradient]


def cleared_gradients(m):
    x = net(m)
    x(m.ones(1, 2)).sum().backward()
    gradient = x.l.weight.grad
    x.zero_grad(set_to_none=False)
    first = [x.l.weight.grad is gradient, gradient.abs().sum().item()]
    x.zero_grad()
    return [first, x.l.weight.grad is None]


# -- states ----------------------------------------------------------------------------------------


def normed(m):
    return m.nn.Sequential(m.nn.Linear(2, 2), m.nn.BatchNorm1d(2))


def states(m):
    s = normed(m)
    d = s.state_dict()
    return [
        type(d).__name__,
        list(d),
        list(map(list, d._metadata.items())),
        list(s.state_dict(prefix="a.")),
        list(s.state_dict(prefix="a.")._metadata),
        type(s.state_dict(destination={})).__name__,
        s.state_dict(keep_vars=True)["0.weight"] is s[0].weight,
        d["0.weight"].requires_grad,
    ]


def loaded(m, state, **options):
    s = normed(m)
    answer = told(s.load_state_dict, state, **options)
    return (
        answer
        if isinstance(answer, str)
        else [list(answer.missing_keys), list(answer.unexpected_keys)]
    )


def states_loaded(m):
    w, one = m.ones(2, 2), m.ones(1)
    full = normed(m).state_dict()
    short = OrderedDict((k, v) for k, v in full.items() if "num_b" not in k)
    old, new = copy.copy(short), copy.copy(short)
    old._metadata, new._metadata = {"1": {"version": 1}}, {"1": {"version": 2}}
    return [
        loaded(m, full),
        loaded(m, {}),
        loaded(m, {}, strict=False),
        loaded(m, 3),
        loaded(m, {"0.weight": w, "x": one, "0.y": one}, strict=False),
        loaded(m, {"0.weight": m.ones(3)}, strict=False),
        loaded(m, {"0.weight": 3}, strict=False),
        loaded(m, {"0.weight": None}, strict=False),
        loaded(m, {"0.bias": m.ones(2).double()}, strict=False),
        loaded(m, dict(short)),
        loaded(m, old),
        loaded(m, new),
        loaded(m, {**full, "0.weight.z": w}),
        loaded(m, {**full, "0._extra_state": 3}),
    ]


def states_assigned(m):
    s = normed(m)
    s.load_state_dict(
        {k: v.double() if v.is_floating_point() else v for k, v in s.state_dict().items()},
        assign=True,
    )
    first = [
        str(s[0].weight.dtype).split(".")[-1],
        type(s[0].weight).__name__,
        s[0].weight.requires_grad,
    ]
    w = m.nn.Parameter(m.ones(2, 2), requires_grad=False)
    v = m.ones(2)
    s.load_state_dict({"0.weight": w, "1.running_mean": v}, strict=False, assign=True)
    return [first, s[0].weight is w, w.requires_grad, s[1].running_mean is v]


def extra_states(m):
    class Extra(m.nn.Module):
        x = 1

        def get_extra_state(self):
            return {"x": self.x}

        def set_extra_state(self, state):
            self.x = state["x"]

    a, b = m.nn.Sequential(Extra()), m.nn.Sequential(Extra())
    a[0].x = 7
    b.load_state_dict(a.state_dict())
    plain = m.nn.Linear(1, 1)
    return [
        a.state_dict(),
        b[0].x,
        told(b.load_state_dict, {}),
        list(b.load_state_dict({}, strict=False).missing_keys),
        told(plain.get_extra_state),
        told(plain.set_extra_state, 1),
    ]


def hooks_of_states(m):
    log = []
    s = m.nn.Sequential(m.nn.Linear(2, 2), m.nn.ReLU())
    s.register_state_dict_pre_hook(lambda *a: log.append(["pre", *a[1:]]))
    s.register_state_dict_post_hook(
        lambda mod, sd, p, md: log.append(["post", len(sd), p, dict(md)])
    )
    s[0]._register_state_dict_hook(lambda mod, sd, p, md: log.append(["old", len(sd), p, dict(md)]))
    s.register_load_state_dict_pre_hook(
        lambda mod, sd, *a: log.append(["load", type(mod).__name__, sorted(sd), *copy.deepcopy(a)])
    )
    s[0]._register_load_state_dict_pre_hook(lambda sd, p, *a: log.append(["inner", sorted(sd), p]))
    s.register_load_state_dict_post_hook(lambda mod, keys: log.append(["loaded", list(keys)]))
    s.state_dict(prefix="q.")
    s.load_state_dict(s.state_dict())
    s.load_state_dict(s.state_dict(), strict=False, assign=True)
    with s[0].register_state_dict_post_hook(lambda *a: 1):
        log.append(told(s.state_dict))
    with s._register_state_dict_hook(lambda *a: {"only": 1}):
        log.append(s.state_dict())
    with s.register_load_state_dict_post_hook(lambda *a: 3):
        log.append(told(s.load_state_dict, s.state_dict()))

    def forgive(mod, keys):
        keys.missing_keys.clear()
        keys.unexpected_keys.clear()

    with s.register_load_state_dict_post_hook(forgive):
        log.append(repr(s.load_state_dict({"zz": 1})))
    return log


def states_of_a_kind_of_their_own(m):
    class Own(m.nn.Module):
        _version = 3

        def __init__(self):
            super().__init__()
            self.w = m.nn.Parameter(m.ones(1))

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            destination[prefix + "mine"] = self.w.detach() * 2

        def _load_from_state_dict(
            self,
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        ):
            seen.append([dict(local_metadata), strict])
            self.w.data.copy_(state_dict[prefix + "mine"])
            if self.w.item() > 3:
                error_msgs.append("too large")

    seen = []
    s = m.nn.Sequential(Own())
    s.load_state_dict(s.state_dict())
    return [list(s.state_dict()), s[0].w.item(), told(s.load_state_dict, s.state_dict()), seen]


# -- copies and printing ---------------------------------------------------------------------------


def copies(m):
    s = m.nn.Sequential(m.nn.Linear(2, 2), m.nn.Linear(2, 2))
    s[1].weight = s[0].weight
    s.register_forward_hook(print)
    c, p, shallow = copy.deepcopy(s), pickle.loads(pickle.dumps(s)), copy.copy(s)
    return [
        c[1].weight is c[0].weight,
        p[1].weight is p[0].weight,
        c[0].weight is s[0].weight,
        len(c._forward_hooks),
        shallow[0] is s[0],
        shallow._modules is s._modules,
        type(p[0].weight).__name__,
        bool((p[0].weight == s[0].weight).all()),
    ]


def printed(m):
    class R(m.nn.Module):
        def extra_repr(self):
            return "a=1\nb=2"

    nn, r = m.nn, R()
    r.register_module("n", None)
    return [
        repr(x).replace("libdl.", "torch.")
        for x in (
            R(),
            r,
            nn.Sequential(R(), nn.Sequential()),
            nn.Sequential(OrderedDict(a=R())),
            nn.Module(),
            nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), R(), nn.ReLU()]),
            nn.ModuleDict({"a": nn.ReLU()}),
            nn.ModuleList(),
            nn.ModuleDict(),
            nn.Parameter(m.ones(2)),
            nn.Parameter(m.ones(2), False),
            nn.Buffer(m.ones(2)),
            nn.UninitializedParameter(),
            nn.UninitializedBuffer(),
            nn.LazyLinear(2),
            nn.ParameterDict({"x": 1, "z": m.ones(1, 2).double()}),
            nn.ParameterList([m.ones(1), "s", nn.ReLU()]),
        )
    ]


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and name not in ("told", "names", "parts", "net", "normed", "loaded")
]
