# SPDX-License-Identifier: Apache-2.0
"""Which of their own methods modules, optimizers, schedules and the scaler call, for
test_self_calls.py: a subclass may override any of them. Each case makes a subclass of which every
method notes that it was called; tests/answered.py stores PyTorch's answers."""

import functools
import inspect
import warnings

WHOLE = True

# A class with its arguments, and what it is called with: r is random, i has indices.
LAYERS = """
Linear(3, 4) <- r(2, 3) | Bilinear(3, 4, 5) <- r(2, 3), r(2, 4) | LazyLinear(4) <- r(2, 3)
Conv1d(2, 4, 3) <- r(1, 2, 6) | Conv2d(2, 4, 3, padding=1, padding_mode='circular') <- r(1, 2, 6, 6)
Conv3d(2, 4, 3, padding='same') <- r(1, 2, 6, 6, 6) | LazyConv2d(4, 3) <- r(1, 2, 6, 6)
ConvTranspose1d(2, 4, 3) <- r(1, 2, 6) | ConvTranspose2d(2, 4, 3) <- r(1, 2, 6, 6), [8, 8]
LazyConvTranspose3d(4, 3) <- r(1, 2, 6, 6, 6) | BatchNorm1d(2) <- r(3, 2, 6)
BatchNorm2d(2, affine=False) <- r(1, 2, 6, 6) | BatchNorm3d(2, track_running_stats=False) <- r(1, 2, 6, 6, 6)
InstanceNorm1d(2) <- r(1, 2, 6) | InstanceNorm2d(2, affine=True, track_running_stats=True) <- r(1, 2, 6, 6)
InstanceNorm3d(2) <- r(2, 6, 6, 6) | LazyInstanceNorm1d(affine=True) <- r(1, 2, 6)
LayerNorm(3) <- r(2, 3) | LayerNorm(3, elementwise_affine=False) <- r(2, 3) | RMSNorm(3) <- r(2, 3)
GroupNorm(2, 4) <- r(2, 4, 3) | LocalResponseNorm(2) <- r(2, 4, 3) | CrossMapLRN2d(2) <- r(2, 4, 3, 3)
CircularPad1d(1) <- r(1, 2, 6) | CircularPad3d(1) <- r(1, 2, 6, 6, 6) | ReflectionPad2d(1) <- r(1, 2, 6, 6)
MaxPool2d(2) <- r(1, 2, 6, 6) | LPPool1d(2, 2) <- r(1, 2, 6) | FractionalMaxPool2d(2, output_size=3) <- r(1, 2, 6, 6)
Dropout() <- r(2, 3) | Dropout2d() <- r(1, 2, 6, 6) | AlphaDropout() <- r(2, 3) | PReLU() <- r(2, 3)
RReLU() <- r(2, 3) | Hardtanh() <- r(2, 3) | Softmax2d() <- r(2, 4, 3, 3) | Unflatten(1, (2, 2)) <- r(2, 4)
AdaptiveLogSoftmaxWithLoss(4, 10, [2, 5]) <- r(6, 4), i(1, 9, 3, 2, 0, 7)
MultiheadAttention(4, 2) <- r(3, 2, 4), r(3, 2, 4), r(3, 2, 4) | MultiheadAttention(4, 2, kdim=3, vdim=5) <- r(3, 2, 4), r(5, 2, 3), r(5, 2, 5)
Embedding(5, 3, padding_idx=1) <- i(1, 2) | EmbeddingBag(5, 3, padding_idx=1) <- i(1, 2).view(1, 2)
RNN(3, 4, num_layers=2) <- r(5, 2, 3) | RNN(3, 4) <- r(5, 2, 3), r(1, 2, 4) | RNN(3, 4) <- packed()
GRU(3, 4) <- r(5, 3) | GRU(3, 4) <- packed(), r(1, 2, 4) | GRUCell(3, 4) <- r(2, 3) | RNNCell(3, 4) <- r(2, 3)
LSTM(3, 4) <- r(5, 2, 3) | LSTM(3, 4) <- r(5, 2, 3), (r(1, 2, 4), r(1, 2, 4)) | LSTM(3, 4) <- packed()
LSTM(3, 4, proj_size=2) <- r(5, 2, 3) | LSTM(3, 4, bidirectional=True) <- r(5, 3) | LSTMCell(3, 4) <- r(2, 3)
Transformer(4, 2, 1, 1, 8) <- r(3, 2, 4), r(3, 2, 4) | TransformerEncoderLayer(4, 2, 8) <- r(3, 2, 4)
TransformerDecoderLayer(4, 2, 8, norm_first=True) <- r(3, 2, 4), r(3, 2, 4)
Upsample(scale_factor=2) <- r(1, 4, 3, 3) | UpsamplingBilinear2d(scale_factor=2) <- r(1, 4, 3, 3)
MSELoss() <- r(4, 3), r(4, 3) | CrossEntropyLoss() <- r(4, 3), i(0, 1, 2, 0) | BCEWithLogitsLoss() <- r(4, 3), r(4, 3)
Sequential(nn.Linear(3, 4), nn.ReLU()) <- r(2, 3)
"""

CONTAINERS = """
Sequential: c = S(L(), L()); c.append(L()); c.insert(1, L()); c[0]; c[1] = L(); del c[1]; c.extend([L()]); c.pop(0); c + c
Sequential: c = S(L()); c += S(L()); c *= 2; c * 2; c[0:1]
ModuleList: c = S([L()]); c.append(L()); c.insert(0, L()); c.extend([L()]); c[0]; c[0:1]; c[0] = L(); del c[0]; c.pop(0)
ModuleDict: c = S({'a': L()}); c['b'] = L(); c.update({'c': L()}); c['a']; 'a' in c; c.pop('a'); del c['b']; c.clear()
ParameterList: c = S([P(), P()]); c.append(P()); c.extend([P()]); c[0]; c[0] = P(); list(c); len(c)
ParameterDict: c = S({'a': P()}); c['c'] = P(); c['a']; c.setdefault('q', P()); c.pop('a'); c.popitem(); c.update({'x': P()}); c.get('x'); del c['x']
"""

OPTIMIZERS = {
    "SGD": {"momentum": 0.9},
    "Adam": {},
    "AdamW": {"amsgrad": True},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Adagrad": {},
    "Adadelta": {},
    "ASGD": {},
    "RMSprop": {},
    "Rprop": {},
    "Adafactor": {},
    "Muon": {},
    "LBFGS": {},
}

SCHEDULES = """
LambdaLR(o, lambda e: 0.9**e) | MultiplicativeLR(o, lambda e: 0.9) | StepLR(o, 2) | MultiStepLR(o, [2, 4])
ConstantLR(o) | LinearLR(o) | ExponentialLR(o, 0.9) | PolynomialLR(o) | CosineAnnealingLR(o, 4)
CosineAnnealingWarmRestarts(o, 4) | CyclicLR(o, 0.01, 0.1) | CyclicLR(o, 0.01, 0.1, mode='triangular2')
CyclicLR(o, 0.01, 0.1, mode='exp_range') | OneCycleLR(o, 0.1, total_steps=10)
OneCycleLR(o, 0.1, total_steps=10, anneal_strategy='linear')
SequentialLR(o, [s.ConstantLR(o), s.ExponentialLR(o, 0.9)], [2])
ChainedScheduler([s.ConstantLR(o), s.ExponentialLR(o, 0.9)]) | ReduceLROnPlateau(o, patience=1, cooldown=1)
"""

# What Python or a wrapper calls, and what a subclass does not replace.
UNSEEN = set(
    """
    __getattr__ __setattr__ __delattr__ __init_subclass__ __class_getitem__ __dir__ __new__
    __reduce__ __getstate__ __reduce_ex__ __call__ _call_impl _wrapped_call_impl get_extra_state
    set_extra_state
""".split()
)


def methods(kind):
    own = [
        c
        for c in kind.__mro__
        if c is not object and c.__module__.partition(".")[0] in ("torch", "libdl")
    ]
    kinds = (classmethod, staticmethod, property)
    return sorted(
        {
            name
            for c in own
            for name, value in vars(c).items()
            if (inspect.isfunction(value) or isinstance(value, kinds)) and name not in UNSEEN
        }
    )


def noting(name, function, log):
    @functools.wraps(function, updated=())
    def noted(*args, **kwargs):
        log.append(name)
        return function(*args, **kwargs)

    return noted


def spy(kind, names, log):
    """A subclass of which each method of these names notes its calls."""
    body = {}
    for name in names:
        raw = inspect.getattr_static(kind, name, None)
        if isinstance(raw, property):
            body[name] = property(noting(name, raw.fget, log), raw.fset, raw.fdel)
        elif isinstance(raw, (staticmethod, classmethod)):
            body[name] = type(raw)(noting(name, raw.__func__, log))
        elif callable(raw):
            body[name] = noting(name, raw, log)
    return type(kind.__name__, (kind,), body)


def seen(kind, names, use):
    """The names that are called in each phase of a use, which yields the phases' names."""
    log, found = [], {}
    for phase in use(spy(kind, methods(kind) if names is None else names, log)):
        found[phase] = " ".join(sorted(set(log)))
        log.clear()
    return found


def split(table):
    return [case.strip() for line in table.strip().splitlines() for case in line.split(" | ")]


def of_layer(m, case):
    name, _, rest = case.partition("(")
    arguments, _, given = rest.rpartition(") <- ")

    def packed():
        return m.nn.utils.rnn.pack_padded_sequence(m.randn(5, 2, 3), [3, 5], enforce_sorted=False)

    words = {"r": m.randn, "i": lambda *v: m.tensor(v), "nn": m.nn, "packed": packed}

    def use(S):
        net = eval(f"S({arguments})", {**words, "S": S})
        yield "init"
        values = eval(f"({given},)", words)
        net(*values)
        yield "forward"
        net.load_state_dict(net.state_dict())
        yield "state"
        net.to(m.float64)
        yield "to"
        net.share_memory()
        yield "share"
        repr(net)
        yield "repr"
        if hasattr(net, "reset_parameters"):
            net.reset_parameters()
            yield "reset"

    return getattr(m.nn, name), use


def of_container(m, case):
    name, _, body = case.partition(": ")

    def use(S):
        exec(body, {"S": S, "L": m.nn.ReLU, "P": lambda: m.nn.Parameter(m.ones(2))})
        yield "use"

    return getattr(m.nn, name), use


def of_optimizer(m, case):
    def use(S):
        w, b = m.nn.Parameter(m.randn(3, 3)), m.nn.Parameter(m.randn(3, 3))
        optimizer = S([w], **OPTIMIZERS[case])
        yield "init"

        def closure():
            w.grad = None
            loss = (w * w).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        yield "step"
        if case != "LBFGS":
            optimizer.add_param_group({"params": [b]})
        else:
            optimizer.param_groups[0]["line_search_fn"] = "strong_wolfe"
            optimizer.step(closure)
        yield "more"
        optimizer.load_state_dict(optimizer.state_dict())
        yield "state"

    return getattr(m.optim, case), use


def of_schedule(m, case):
    name = case.partition("(")[0]
    s = m.optim.lr_scheduler

    def use(S):
        optimizer = m.optim.SGD([m.nn.Parameter(m.ones(2))], lr=0.1, momentum=0.9)
        schedule = eval(case, {name: S, "o": optimizer, "s": s})
        yield "init"
        for _ in range(6):
            optimizer.step()
            schedule.step(*[1.0] * (name == "ReduceLROnPlateau"))
        yield "step"
        schedule.load_state_dict(schedule.state_dict())
        yield "state"

    return getattr(s, name), use


def of_averages(m, case):
    averages = m.optim.swa_utils

    def swalr(S):
        optimizer = m.optim.SGD([m.nn.Parameter(m.ones(2))], lr=0.1)
        schedule = S(optimizer, 0.05)
        schedule.step()
        schedule.load_state_dict(schedule.state_dict())
        yield "use"

    def model(S):
        net = m.nn.Linear(2, 2)
        S(net).update_parameters(net)
        yield "use"

    return getattr(averages, case), {"SWALR": swalr, "AveragedModel": model}[case]


def of_scaler(m, case):
    def use(S):
        scaler, w = S("cpu", init_scale=8.0), m.nn.Parameter(m.ones(2))
        optimizer = m.optim.SGD([w], lr=0.1)
        scaler.scale((w * w).sum()).backward()
        scaler.unscale_(optimizer)
        yield "unscale"
        scaler.step(optimizer)
        yield "step"
        scaler.update()
        scaler.get_scale()
        yield "update"
        scaler.load_state_dict(scaler.state_dict())
        yield "state"

    return m.amp.GradScaler, use


CASES = [
    *((of_layer, case) for case in split(LAYERS)),
    *((of_container, case) for case in CONTAINERS.strip().splitlines()),
    *((of_optimizer, case) for case in OPTIMIZERS),
    *((of_schedule, case) for case in split(SCHEDULES)),
    (of_averages, "SWALR"),
    (of_averages, "AveragedModel"),
    (of_scaler, "GradScaler"),
]


def answer(m, of, case, names=None):
    kind, use = of(m, case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return seen(kind, names, use)


def bases(m):
    return (m.nn.Module, m.optim.Optimizer, m.optim.lr_scheduler.LRScheduler)


def calls(m):
    """The methods that each case calls; of a layer the phases in which it calls others than the
    first one."""
    ordinary = answer(m, *CASES[0])
    found = {case: answer(m, of, case) for of, case in CASES}
    for (of, case), phases in list(zip(CASES, found.values()))[1:]:
        if of is of_layer:
            found[case] = {p: names for p, names in phases.items() if names != ordinary.get(p)}
            found[case] |= {p: "not at all" for p in ordinary if p not in phases}
    return found


def sections(m):
    """The methods of each class, those of its base by the base's name, and what each case calls."""
    kinds = {*bases(m), *(of(m, case)[0] for of, case in CASES)}
    of_all = {kind.__name__: methods(kind) for kind in sorted(kinds, key=lambda k: k.__name__)}
    own = dict(of_all)
    for kind in kinds:
        for base in bases(m):
            if kind is not base and issubclass(kind, base):
                rest = {*of_all[kind.__name__]} - {*of_all[base.__name__]}
                own[kind.__name__] = [base.__name__, *sorted(rest)]
    return {
        "methods": {name: " ".join(found) for name, found in own.items()},
        "calls": calls(m),
    }
