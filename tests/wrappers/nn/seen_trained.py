# SPDX-License-Identifier: Apache-2.0
"""Whole trainings: of normalised weights, of tied weights, and of parameters that change their
dtype or share memory, for test_trained.py; tests/answered.py stores PyTorch's answers."""

import io

from wrappers.answers import leaf, numbers, told

# the rounding of float32, added up in another order
NEAR = {"": 2e-6, "conversions_of_16_bits": 1e-2}


def rounded(x):
    return [float(f"{v:.7g}") for v in x.detach().double().reshape(-1).tolist()]


def filled(m, net):
    """The same numbers everywhere in parameters, and in vectors of power iterations."""
    with m.no_grad():
        for i, (name, x) in enumerate(sorted([*net.named_parameters(), *net.named_buffers()])):
            x.copy_(numbers(m, *x.shape, shift=i * 0.37))
            if name.endswith(("_u", "_v")):
                x.div_(x.norm())
    return net


def trained(m, net, *shape, steps=4):
    filled(m, net)
    optimizer = m.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    losses = []
    for step in range(steps):
        loss = net(numbers(m, *shape, shift=step)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(f"{loss.item():.7g}"))
    net.eval()
    state = net.state_dict()
    return [
        losses,
        rounded(net(numbers(m, *shape))),
        {name: rounded(state[name]) for name in sorted(state)},
    ]


# -- normalised weights ----------------------------------------------------------------------------


def layers(m):
    return [
        (m.nn.Linear(4, 3), (5, 4)),
        (m.nn.Conv2d(2, 3, 2), (2, 2, 3, 3)),
        (m.nn.ConvTranspose1d(2, 3, 2), (2, 2, 3)),
    ]


def spectral_norms(m):
    U = m.nn.utils
    norms = [
        (U.spectral_norm, {}),
        (U.spectral_norm, {"n_power_iterations": 2, "dim": 1}),
        (U.parametrizations.spectral_norm, {}),
        (U.parametrizations.spectral_norm, {"n_power_iterations": 2}),
    ]
    return [
        trained(m, norm(layer, **how).double(), *shape)
        for norm, how in norms
        for layer, shape in layers(m)
    ]


def two_calls_before_a_backward(m):
    answers = []
    for norm in (m.nn.utils.spectral_norm, m.nn.utils.parametrizations.spectral_norm):
        net = filled(m, norm(m.nn.Linear(4, 3)).double())
        (net(numbers(m, 2, 4)) - net(numbers(m, 2, 4, shift=1))).square().sum().backward()
        answers.append([rounded(p.grad) for _, p in sorted(net.named_parameters())])
    return answers


def states_of_spectral_norms(m):
    net = filled(m, m.nn.utils.spectral_norm(m.nn.Linear(4, 3)).double())
    state = net.state_dict()
    other = m.nn.utils.spectral_norm(m.nn.Linear(4, 3)).double()
    other.load_state_dict(state)
    answers = [
        sorted(state),
        {k: dict(v) for k, v in state._metadata.items()},
        rounded(other(numbers(m, 1, 4))),
    ]
    m.nn.utils.remove_spectral_norm(net)
    return [
        *answers,
        sorted(net.state_dict()),
        {k: dict(v) for k, v in net.state_dict()._metadata.items()},
    ]


def weight_norms(m):
    U = m.nn.utils
    norms = [
        (U.weight_norm, {}),
        (U.weight_norm, {"dim": None}),
        (U.weight_norm, {"dim": 1}),
        (U.parametrizations.weight_norm, {}),
        (U.parametrizations.weight_norm, {"dim": None}),
    ]
    return [
        trained(m, norm(layer, **how).double(), *shape)
        for norm, how in norms
        for layer, shape in layers(m)
    ]


# -- tied weights ----------------------------------------------------------------------------------


def tied(m):
    class Tied(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = m.nn.Embedding(4, 3), m.nn.Linear(3, 4, bias=False)
            self.b.weight = self.a.weight
            self.register_buffer("x", m.zeros(2))
            self.register_buffer("y", self.x)

        def forward(self, index):
            return self.b(self.a(index))

    return filled(m, Tied().double())


def ties(net):
    a, b = net.a.weight, net.b.weight
    return [
        a is b,
        a.data_ptr() == b.data_ptr(),
        len(list(net.parameters())),
        net.x is net.y,
        net.x.data_ptr() == net.y.data_ptr(),
    ]


def saved(m, value):
    file = io.BytesIO()
    m.save(value, file)
    file.seek(0)
    return m.load(file)


def tied_weights_that_are_loaded(m):
    x, p = numbers(m, 4, 3), m.nn.Parameter(numbers(m, 4, 3))
    rest = {"x": m.ones(2), "y": m.ones(2)}
    states = [
        tied(m).state_dict(),
        tied(m).state_dict(keep_vars=True),
        {"a.weight": x, "b.weight": x, **rest},
        {"a.weight": p, "b.weight": p, **rest},
        {"a.weight": x, "b.weight": x.clone(), "x": rest["x"], "y": rest["x"]},
        {"a.weight": p, "b.weight": p.detach(), **rest},
    ]
    answers = []
    for assign in (False, True):
        for state in states:
            for given in (state, saved(m, state)):
                net = tied(m)
                net.load_state_dict(given, assign=assign)
                answers.append(ties(net))
    net = tied(m)
    own = net.a.weight
    net.load_state_dict({"a.weight": x}, strict=False, assign=True)
    return [*answers, ties(net), net.b.weight is own]


def steps_after_an_assignment(m):
    answers = []
    for keep in (False, True):
        net = tied(m)
        net.load_state_dict(tied(m).state_dict(keep_vars=keep), assign=True)
        for name, how in (
            ("SGD", {"lr": 0.1, "momentum": 0.9}),
            ("Adam", {"lr": 0.1}),
            ("RMSprop", {}),
            ("Rprop", {}),
            ("Adagrad", {"lr": 0.1}),
        ):
            optimizer = getattr(m.optim, name)(net.parameters(), **how)
            for _ in range(3):
                optimizer.zero_grad()
                net(m.tensor([0, 2])).square().sum().backward()
                optimizer.step()
            answers.append([rounded(net.a.weight), rounded(net.b.weight)])
    return answers


# -- optimizers ------------------------------------------------------------------------------------

OPTIMIZERS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {}),
    ("Adamax", {}),
    ("NAdam", {}),
    ("RAdam", {}),
    ("Adagrad", {"weight_decay": 0.1}),
    ("Adadelta", {}),
    ("ASGD", {}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.9}),
    ("RMSprop", {"momentum": 0.9, "centered": True}),
    ("Rprop", {}),
    ("Adafactor", {}),
]


def given_gradient(m, p, step):
    p.grad = None
    p.grad = ((p.detach().double() * 2).cos() * (step + 1)).to(p.dtype)


def converted(m, name, how, before, after):
    p = m.nn.Parameter(numbers(m, 2, 3).to(getattr(m, before)))
    net = m.nn.Module()
    net.w = p
    optimizer = getattr(m.optim, name)([p], **how)
    for step in range(4):
        if step == 2:
            net.to(getattr(m, after))
        given_gradient(m, p, step)
        optimizer.step()
    states = {
        key: str(x.dtype).split(".")[-1]
        for key, x in sorted(optimizer.state[p].items())
        if isinstance(x, m.Tensor)
    }
    return [rounded(p), states]


def conversions_in_mid_training(m):
    pairs = [("float32", "float64"), ("float64", "float32"), ("complex64", "complex128")]
    return [
        told(converted, m, name, how, *pair)
        for pair in pairs
        for name, how in OPTIMIZERS
        if "complex" not in pair[0] or name == "SGD"
    ]


def conversions_of_16_bits(m):
    pairs = [("float16", "float32"), ("float32", "bfloat16")]
    return [told(converted, m, name, how, *pair) for pair in pairs for name, how in OPTIMIZERS]


def the_same_parameter_twice(m):
    answers = []
    for name, how in OPTIMIZERS:
        p, q = (m.nn.Parameter(numbers(m, 2, 3, shift=i)) for i in range(2))
        optimizer = getattr(m.optim, name)([p, q, p], **how)
        for step in range(3):
            given_gradient(m, p, step)
            given_gradient(m, q, step)
            optimizer.step()
        answers.append([rounded(p), rounded(q), len(optimizer.state_dict()["state"])])
    return answers


def parameters_that_overlap(m):
    answers = []
    for name, how in OPTIMIZERS:
        whole = numbers(m, 3, 3)
        params = [m.nn.Parameter(x) for x in (whole, whole[:2], whole.t(), whole[1:])]
        optimizer = getattr(m.optim, name)(params, **how)
        for step in range(3):
            for p in params:
                given_gradient(m, p, step)
            optimizer.step()
        answers.append(rounded(whole))
    return answers


def gradients_that_are_zeroed(m):
    answers = []
    for by in ("optimizer", "module"):
        net = m.nn.Linear(2, 1, bias=False).double()
        optimizer = m.optim.SGD(net.parameters(), lr=0.1)
        (numbers(m, 1, 2) @ net.weight.t()).sum().backward()
        grad = net.weight.grad
        (optimizer if by == "optimizer" else net).zero_grad(set_to_none=False)
        answers.append([net.weight.grad is grad, rounded(grad)])
        w = leaf(m, 2)
        (w**3).sum().backward(create_graph=True)
        grad = w.grad
        m.optim.SGD([w], lr=0.1).zero_grad(set_to_none=False)
        answers.append([w.grad is grad, grad.requires_grad, rounded(grad)])
    return answers


def steps_as_functions(m):
    F = m.optim._functional
    p, g = numbers(m, 3), numbers(m, 3, shift=1)
    zeros, count = (lambda: [m.zeros(3).double()]), (lambda: [m.tensor(0.0)])
    buffers = [None]
    F.sgd(
        [p],
        [g],
        buffers,
        weight_decay=0.1,
        momentum=0.9,
        lr=0.1,
        dampening=0.0,
        nesterov=True,
        maximize=False,
    )
    answers = [rounded(p), rounded(buffers[0])]
    means, squares, steps = zeros(), zeros(), count()
    for _ in range(2):
        F.adam(
            [p],
            [g],
            means,
            squares,
            [],
            steps,
            amsgrad=False,
            beta1=0.9,
            beta2=0.99,
            lr=0.1,
            weight_decay=0.1,
            eps=1e-8,
            maximize=True,
        )
    answers += [rounded(p), rounded(means[0]), steps[0].item()]
    F.adamw(
        [p],
        [g],
        zeros(),
        zeros(),
        zeros(),
        count(),
        amsgrad=True,
        beta1=0.9,
        beta2=0.99,
        lr=0.1,
        weight_decay=0.1,
        eps=1e-8,
        maximize=False,
    )
    F.adamax(
        [p],
        [g],
        zeros(),
        zeros(),
        count(),
        eps=1e-8,
        beta1=0.9,
        beta2=0.99,
        lr=0.1,
        weight_decay=0.1,
    )
    F.nadam(
        [p],
        [g],
        zeros(),
        zeros(),
        [m.tensor(1.0)],
        count(),
        beta1=0.9,
        beta2=0.99,
        lr=0.1,
        weight_decay=0.1,
        momentum_decay=0.01,
        eps=1e-8,
    )
    F.radam(
        [p],
        [g],
        zeros(),
        zeros(),
        [m.tensor(7.0)],
        beta1=0.9,
        beta2=0.99,
        lr=0.1,
        weight_decay=0.1,
        eps=1e-8,
    )
    F.adagrad(
        [p], [g], zeros(), count(), lr=0.1, weight_decay=0.1, lr_decay=0.1, eps=1e-8, maximize=False
    )
    F.adadelta(
        [p],
        [g],
        zeros(),
        zeros(),
        count(),
        lr=0.1,
        rho=0.9,
        eps=1e-6,
        weight_decay=0.1,
        maximize=False,
    )
    F.asgd(
        [p],
        [g],
        zeros(),
        [m.tensor(1.0)],
        [m.tensor(0.1)],
        count(),
        lambd=0.01,
        lr=0.1,
        t0=1.0,
        alpha=0.75,
        weight_decay=0.1,
    )
    F.rmsprop(
        [p],
        [g],
        zeros(),
        zeros(),
        zeros(),
        count(),
        lr=0.1,
        alpha=0.9,
        eps=1e-8,
        weight_decay=0.1,
        momentum=0.9,
        centered=True,
    )
    F.rprop(
        [p],
        [g],
        zeros(),
        [m.full((3,), 0.1).double()],
        count(),
        step_size_min=1e-6,
        step_size_max=50.0,
        etaminus=0.5,
        etaplus=1.2,
    )
    return [*answers, rounded(p)]


PROGRAMS = [
    spectral_norms,
    two_calls_before_a_backward,
    states_of_spectral_norms,
    weight_norms,
    tied_weights_that_are_loaded,
    steps_after_an_assignment,
    conversions_in_mid_training,
    conversions_of_16_bits,
    the_same_parameter_twice,
    parameters_that_overlap,
    gradients_that_are_zeroed,
    steps_as_functions,
]
