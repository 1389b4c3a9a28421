# SPDX-License-Identifier: Apache-2.0
"""Trajectories of every optimizer, for test_optimizers.py; tests/answered.py stores PyTorch's."""

NEAR = 1e-13  # test_optimizers.py tells what is compared
WHOLE = ("float32",)  # each number has its tolerance there
STEPS = 1, 5, 20
START = {"vector": [1.0, -2.0, 0.5], "matrix": [[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5]]}

CALLS = """
SGD(lr=0.1)
SGD(lr=0.1, momentum=0.9, dampening=0.25, weight_decay=0.1, maximize=True)
SGD(lr=0.05, momentum=0.8, nesterov=True)
Adam(lr=0.05)
Adam(lr=0.05, betas=(0.3, 0.9), weight_decay=0.1, amsgrad=True)
Adam(lr=0.05, maximize=True, decoupled_weight_decay=True, weight_decay=0.1)
AdamW(lr=0.05)
AdamW(lr=0.05, betas=(0.3, 0.9), weight_decay=0.2, amsgrad=True)
Adamax(lr=0.05)
Adamax(lr=0.05, betas=(0.3, 0.9), eps=0.01, weight_decay=0.1, maximize=True)
NAdam(lr=0.05)
NAdam(lr=0.05, betas=(0.3, 0.9), weight_decay=0.1, momentum_decay=0.1)
NAdam(lr=0.05, decoupled_weight_decay=True, weight_decay=0.1, maximize=True)
RAdam(lr=0.05)
RAdam(lr=0.05, betas=(0.5, 0.9), weight_decay=0.1)
RAdam(lr=0.05, betas=(0.9, 0.95), decoupled_weight_decay=True, weight_decay=0.1, maximize=True)
Adagrad(lr=0.1)
Adagrad(lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.2, maximize=True)
Adadelta()
Adadelta(lr=0.5, rho=0.5, eps=0.001, weight_decay=0.1, maximize=True)
ASGD(lr=0.1)
ASGD(lr=0.1, lambd=0.1, alpha=0.5, t0=3, weight_decay=0.1, maximize=True)
RMSprop(lr=0.05)
RMSprop(lr=0.05, alpha=0.8, eps=0.001, weight_decay=0.1, momentum=0.5, centered=True)
RMSprop(lr=0.05, centered=True, eps=0.01, maximize=True)
Rprop(lr=0.05)
Rprop(lr=0.05, etas=(0.25, 1.5), step_sizes=(0.01, 0.2), maximize=True)
Adafactor(lr=0.1)
Adafactor(lr=0.1, beta2_decay=-0.5, eps=(0.01, 0.1), d=2.0, weight_decay=0.1, maximize=True)
Muon(lr=0.02)
Muon(lr=0.02, nesterov=False, momentum=0.5, weight_decay=0.3, adjust_lr_fn='match_rms_adamw')
Muon(lr=0.02, adjust_lr_fn='spectral_unclamped')
LBFGS(lr=0.5, max_iter=2)
LBFGS(max_iter=3, history_size=2, line_search_fn='strong_wolfe')
""".strip().splitlines()


def options_of(call):
    """The optimizer's name and options."""
    name = call.partition("(")[0]
    return name, eval(call, {name: dict})


def curve(a, b, sign=1):
    return sign * ((a * a).sum() / 2 + ((b - 0.3) ** 2).sum() + (a.sum() + b.sum()).sin())


class Run:
    """The parameters and their optimizer, which skips one parameter at each fifth step."""

    def __init__(self, m, name, options, dtype):
        self.m = m
        self.params = [m.tensor(v, dtype=dtype, requires_grad=True) for v in START.values()]
        self.kept = self.params[1:] if name == "Muon" else self.params
        self.optimizer = getattr(m.optim, name)(self.kept, **options)
        self.sign = -1 if options.get("maximize") else 1
        self.count = 0

    def closure(self):
        self.optimizer.zero_grad()
        loss = curve(*self.params, self.sign)
        loss.backward()
        return loss

    def step(self):
        if isinstance(self.optimizer, self.m.optim.LBFGS):
            self.optimizer.step(self.closure)
        else:
            self.closure()
            if self.count % 5 == 4 and len(self.kept) > 1:
                self.kept[0].grad = None
            self.optimizer.step()
        self.count += 1

    def values(self):
        return [x for p in self.params for x in p.detach().reshape(-1).tolist()]

    def follow(self, steps):
        path = []
        while self.count < steps:
            self.step()
            path.append(self.values())
        return path


def trajectory(m, call, dtype):
    """The parameters after some steps."""
    path = Run(m, *options_of(call), getattr(m, dtype)).follow(max(STEPS))
    return [path[step - 1] for step in STEPS]


def sections(m):
    in_float32 = {
        call: [[float(f"{x:.8g}") for x in values] for values in trajectory(m, call, "float32")]
        for call in CALLS
    }
    return {
        "float32": in_float32,
        "float64": {call: trajectory(m, call, "float64") for call in CALLS},
    }
