# SPDX-License-Identifier: Apache-2.0
"""Programs that copy and pickle tensors, modules, optimizers and schedules, for test_pickle.py. `m`
is libdl, or PyTorch, whose answers tests/answered.py stores."""

import copy
import io
import pickle
import warnings

from wrappers.answers import digest, filled, numbers, told

TOGETHER = True


def pickled(value):
    with warnings.catch_warnings():  # PyTorch warns of hooks, which a pickle has not
        warnings.simplefilter("ignore")
        return pickle.loads(pickle.dumps(value))


def saved(m):
    """Through a file and back, as a state."""

    def way(value):
        out = io.BytesIO()
        m.save(value, out)
        out.seek(0)
        return m.load(out)

    return way


def geometry(m):
    """Strides, and which elements are one."""
    x = m.arange(12.0).reshape(3, 4)
    cases = {
        "whole": x,
        "transposed": x.t(),
        "columns": x[:, 1:3],
        "steps": x[:, ::2],
        "expanded": x[0, :1].expand(2, 3),
        "element": x[1, 1],
        "empty": x[:, :0],
        "half": x.t().half(),
        "bfloat16": x.bfloat16()[1],
        "integers": x.long()[::2],
        "complex": (x * (1 - 1j))[0],
    }
    return {
        name: [
            [
                list(made.shape),
                list(made.stride()),
                str(made.dtype).split(".")[1],
                made.abs().double().sum().item(),
            ]
            for made in map(copied, (y,))
        ]
        for name, y in cases.items()
        for copied in (pickled,)
    } | {
        f"deep {name}": [list(made.shape), list(made.stride()), made.storage_offset()]
        for name, y in cases.items()
        if name != "empty"
        for made in (copy.deepcopy(y),)
    }


def sharing(m):
    """Which copies are changed by writing one of them."""
    answers = {}
    for name, way in (("deep", copy.deepcopy), ("pickle", pickled), ("shallow", copy.copy)):
        x = m.arange(6.0)
        views, again = way([x, x[2:], x.view(2, 3).t()]), way((x, x))
        views[0][2] = 50
        answers[name] = [
            views[1][0].item(),
            views[2][2, 0].item(),
            x[2].item(),
            again[0] is again[1],
        ]
    x = m.zeros(4)
    one = copy.copy(x)
    one[0] = 1
    holder = m.nn.Module()
    holder.register_buffer("whole", m.zeros(4, 4))
    holder.register_buffer("part", holder.whole[1:3, 1:3])
    twin = copy.deepcopy(holder)
    twin.whole.fill_(7)
    bits = copy.deepcopy([x, x.view(m.int32)])
    bits[0].fill_(1)
    p = m.nn.Parameter(m.zeros(3))
    q, data = copy.deepcopy((p, p.data))
    q.data.fill_(1)
    return [
        answers,
        x[0].item(),
        twin.part.sum().item(),
        twin.part.stride(),
        bits[1][0].item(),
        holder.part.sum().item(),
        data.sum().item(),
    ]


def flags(m):
    """requires_grad, being a leaf, gradients and attributes."""
    answers = {}
    plain, leaf = m.ones(2), m.ones(2, requires_grad=True)
    frozen, p = m.nn.Parameter(m.ones(2), requires_grad=False), m.nn.Parameter(m.ones(2))
    (leaf.sum() + p.sum()).backward()
    for x in (plain, leaf, frozen, p):
        x.note = [1]
    for name, way in (("deep", copy.deepcopy), ("pickle", pickled), ("shallow", copy.copy)):
        for kind, x in (("plain", plain), ("leaf", leaf), ("frozen", frozen), ("p", p)):
            made = way(x)
            note = None if name == "deep" and "Param" in type(x).__name__ else made.note
            answers[f"{name} {kind}"] = [
                type(made).__name__,
                made.requires_grad,
                made.is_leaf,
                None if name == "shallow" else digest(m, made.grad),
                note,
                note is x.note,
            ]
    result = leaf * 2
    answers["results"] = [
        told(copy.deepcopy, result),
        pickled(result).requires_grad,
        pickled(result).is_leaf,
        copy.copy(result).requires_grad,
    ]
    return answers


class Net:
    def __new__(cls, m):
        net = m.nn.Sequential(
            m.nn.Linear(3, 4), m.nn.BatchNorm1d(4), m.nn.Tanh(), m.nn.Linear(4, 2)
        )
        net.append(net[3].__class__(2, 3))
        net[3].weight.note = 1
        net.tied = net[0]
        return filled(m, net)


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "RMSprop": {},
    "Adagrad": {},
    "Adadelta": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "ASGD": {},
    "Rprop": {},
    "Adafactor": {},
    "LBFGS": {},
}


def train(m, net, optimizer, count):
    def closure():
        optimizer.zero_grad()
        loss = net(numbers(m, 5, 3)).square().sum()
        loss.backward()
        return loss

    return [optimizer.step(closure).item() for _ in range(count)]


def modules(m):
    net, answers = Net(m), {}
    net.eval()
    hook = net[0].register_forward_hook(_doubled)
    for name, way in (("deep", copy.deepcopy), ("pickle", pickled), ("shallow", copy.copy)):
        made = way(net)
        answers[name] = [
            digest(m, made(numbers(m, 5, 3))),
            list(made.state_dict()),
            made.training,
            made.tied is made[0],
            made[0].weight is net[0].weight,
            len(made[0]._forward_hooks),
        ]
    hook.remove()
    return answers


def _doubled(module, inputs, result):
    return result * 2


def optimizers(m):
    """A copy of a module and its optimizer trains on as they do, and apart from them."""
    answers = {}
    for name, options in OPTIMIZERS.items():
        if name == "LBFGS":  # PyTorch's cannot step once it is copied
            continue
        for title, way in (("deep", copy.deepcopy), ("pickle", pickled)):
            net = Net(m)
            optimizer = getattr(m.optim, name)(net.parameters(), **options)
            train(m, net, optimizer, 2)
            twin, its = way((net, optimizer))
            params = list(twin.parameters())
            first = train(m, twin, its, 2)
            answers[f"{title} {name}"] = [
                first,
                train(m, net, optimizer, 2) == first,
                [x is y for x, y in zip(its.param_groups[0]["params"], params, strict=True)],
                all(any(x is y for y in params) for x in its.state if hasattr(x, "grad")),
            ]
    shallow = copy.copy(optimizer)
    return [
        answers,
        shallow.state is optimizer.state,
        shallow.param_groups is optimizer.param_groups,
    ]


def states(m):
    """Whole states through files: the training goes on with the same losses."""
    answers = {}
    for name, options in OPTIMIZERS.items():
        for title, way in (("deep", copy.deepcopy), ("pickle", pickled), ("file", saved(m))):
            net, other = Net(m), Net(m)
            kind = getattr(m.optim, name)
            optimizer, new = (kind(n.parameters(), **options) for n in (net, other))
            train(m, net, optimizer, 2)
            state = way({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1})
            other.load_state_dict(state["net"])
            new.load_state_dict(state["optimizer"])
            wanted = train(m, net, optimizer, 2)
            answers[f"{title} {name}"] = [
                wanted,
                train(m, other, new, 2) == wanted,
                state["epoch"],
                type(state["net"]).__name__,
            ]
    return answers


def _half(epoch):
    return 0.5**epoch


SCHEDULES = {
    "StepLR": lambda s, o: s.StepLR(o, 2),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [1, 3, 3]),
    "LambdaLR": lambda s, o: s.LambdaLR(o, _half),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 1.0, 9),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, 0.2, 3),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o), s.ExponentialLR(o, 0.5)], [2]),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.StepLR(o, 2), s.ConstantLR(o)]),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=0),
}


def schedules(m):
    answers = {}
    for name, make in SCHEDULES.items():

        def rates(pair, count, loss=1.0):
            optimizer, schedule = pair
            found = []
            for _ in range(count):
                optimizer.step()
                schedule.step(loss) if "Plateau" in type(schedule).__name__ else schedule.step()
                found.append(optimizer.param_groups[0]["lr"])
            return found

        def fresh(make=make):
            optimizer = m.optim.SGD(m.nn.Linear(1, 1).parameters(), lr=0.1, momentum=0.9)
            return optimizer, make(m.optim.lr_scheduler, optimizer)

        pair = fresh()
        rates(pair, 2)
        copies = [copy.deepcopy(pair), pickled(pair)]
        last = fresh()
        for way, into, part in zip((saved(m), pickled), last, pair, strict=True):
            into.load_state_dict(way(part.state_dict()))
        wanted = rates(pair, 4)
        answers[name] = [
            wanted,
            [c[1].optimizer is c[0] for c in copies],
            [rates(c, 4) == wanted for c in [*copies, last]],
        ]
    return answers


PROGRAMS = [geometry, sharing, flags, modules, optimizers, states, schedules]
