# SPDX-License-Identifier: Apache-2.0
"""optim.lr_scheduler: the rates by formulas, jumps, states, compositions, warnings, errors."""

import copy
import gc
import math
import pickle
import warnings
import weakref

import pytest

import libdl
from libdl import nn
from libdl.optim import lr_scheduler as schedules, swa_utils

pytestmark = pytest.mark.usefixtures("no_leak")

RATES = [0.4, 0.03]  # of the two groups


def sgd(rates=RATES, **options):
    groups = [{"params": [nn.Parameter(libdl.ones(2))], "lr": rate} for rate in rates]
    return libdl.optim.SGD(groups, momentum=0.9, **options)


def path(scheduler, steps=12):
    """The rates of both groups for a number of epochs."""
    rates = [scheduler.get_last_lr()]
    for _ in range(steps):
        scheduler.optimizer.step()
        scheduler.step()
        rates.append(scheduler.get_last_lr())
    assert rates[-1] == [group["lr"] for group in scheduler.optimizer.param_groups]
    return rates


def by(formula, bases=RATES, steps=12):
    return [[formula(base, e) for base in bases] for e in range(steps + 1)]


def near(found, wanted):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert a == pytest.approx(b, rel=1e-12, abs=1e-15)  # products of up to 13 roundings


# The rate at an epoch by its definition; every scheduler reaches it from one epoch to the next.
FORMULAS = {
    "StepLR": (dict(step_size=3, gamma=0.5), lambda b, e: b * 0.5 ** (e // 3)),
    "MultiStepLR": (
        dict(milestones=[7, 2, 7, 0], gamma=0.5),
        lambda b, e: b * 0.5 ** (1 + (e >= 2) + 2 * (e >= 7)),
    ),
    "ConstantLR": (dict(factor=0.25, total_iters=4), lambda b, e: b * (0.25 if e < 4 else 1)),
    "LinearLR": (
        dict(start_factor=0.5, end_factor=0.1, total_iters=4),
        lambda b, e: b * (0.5 - 0.1 * min(e, 4)),
    ),
    "ExponentialLR": (dict(gamma=0.8), lambda b, e: b * 0.8**e),
    "PolynomialLR": (dict(total_iters=5, power=2.0), lambda b, e: b * (1 - min(e, 5) / 5) ** 2),
    "CosineAnnealingLR": (
        dict(T_max=5, eta_min=0.01),
        lambda b, e: 0.01 + (b - 0.01) * (1 + math.cos(math.pi * e / 5)) / 2,
    ),
    "CosineAnnealingWarmRestarts": (
        dict(T_0=3, T_mult=2, eta_min=0.01),
        lambda b, e: 0.01 + (b - 0.01) * (1 + math.cos(math.pi * restarts(e))) / 2,
    ),
    "LambdaLR": (dict(lr_lambda=lambda e: 1 / (1 + e)), lambda b, e: b / (1 + e)),
    "MultiplicativeLR": (
        dict(lr_lambda=[lambda e: 1 / e, lambda e: 0.5]),
        lambda b, e: b / math.factorial(e) if b == RATES[0] else b * 0.5**e,
    ),
}


def restarts(epoch):
    """The part done of a period: 3 epochs, then 6, 12 ..."""
    start, length = 0, 3
    while epoch >= start + length:
        start, length = start + length, 2 * length
    return (epoch - start) / length


@pytest.mark.parametrize("name", FORMULAS)
def test_rates(name):
    options, formula = FORMULAS[name]
    near(path(getattr(schedules, name)(sgd(), **options)), by(formula))


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("resumed", ["state", "last_epoch"])
def test_goes_on(name, resumed):
    options, formula = FORMULAS[name]
    kind = getattr(schedules, name)
    first = kind(sgd(), **options)
    path(first, 5)
    optimizer = sgd()
    optimizer.load_state_dict(first.optimizer.state_dict())
    if resumed == "state":
        second = kind(optimizer, **options)
        second.load_state_dict(first.state_dict())
        optimizer.load_state_dict(first.optimizer.state_dict())
        assert second.state_dict() == first.state_dict()
        near(path(second, 7), by(formula)[5:])
    else:
        second = kind(optimizer, last_epoch=5, **options)
        if name in ("LambdaLR", "CosineAnnealingWarmRestarts"):  # computed from the epoch alone
            near(path(second, 6), by(formula)[6:])
        assert second.last_epoch >= 6


@pytest.mark.parametrize(
    "name", [name for name in FORMULAS if "L" != name[0] and name[2] != "l" or name == "LinearLR"]
)
def test_jumps(name):
    options, formula = FORMULAS[name]
    scheduler = getattr(schedules, name)(sgd(), **options)
    for epoch in (7, 2, 0, 11):
        scheduler.optimizer.step()
        scheduler.step(epoch)
        near([scheduler.get_last_lr()], [by(formula)[epoch]])
        assert scheduler.last_epoch == epoch


def test_a_part_of_an_epoch():
    scheduler = schedules.CosineAnnealingWarmRestarts(sgd([1.0]), T_0=3, T_mult=3)
    scheduler.optimizer.step()
    scheduler.step(4.5)
    assert scheduler.get_last_lr()[0] == pytest.approx((1 + math.cos(math.pi / 6)) / 2)
    assert (scheduler.T_cur, scheduler.T_i, scheduler.last_epoch) == (1.5, 9, 4)
    scheduler.step(3 * (3**5 - 1) / 2)  # the logarithm of 3^5 to base 3 is below 5
    assert (scheduler.T_cur, scheduler.T_i) == (0, 3**6)


def test_a_line_ends_at_zero():
    rates = path(schedules.LinearLR(sgd(), 1 / 3, 0.0, 4))
    assert all(rate >= 0 for pair in rates for rate in pair) and rates[-1] == [0, 0]
    assert path(schedules.ConstantLR(sgd(), 0.0, 3), 4) == [[0, 0]] * 3 + [RATES] * 2


# -- cycles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "height"),
    [
        (dict(mode="triangular"), lambda e: 1),
        (dict(mode="triangular2"), lambda e: 0.5 ** (e // 5)),
        (dict(mode="exp_range", gamma=0.9), lambda e: 0.9**e),
        (dict(scale_fn=lambda n: 1 / n), lambda e: 1 / (e // 5 + 1)),
        (dict(scale_fn=lambda n: 2**-n, scale_mode="iterations"), lambda e: 0.5**e),
    ],
)
def test_cyclic(options, height):
    optimizer = sgd()
    scheduler = schedules.CyclicLR(optimizer, [0.1, 0.2], 1.0, 2, 3, **options)
    for e in range(13):
        rise = min(e % 5 / 2, (5 - e % 5) / 3) * height(e)
        assert scheduler.get_last_lr() == pytest.approx([0.1 + 0.9 * rise, 0.2 + 0.8 * rise])
        assert optimizer.param_groups[1]["momentum"] == pytest.approx(0.9 - 0.1 * rise)
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize("three_phase", [False, True])
@pytest.mark.parametrize("strategy", ["cos", "linear"])
def test_one_cycle(three_phase, strategy):
    params = [nn.Parameter(libdl.ones(2))]
    optimizer = libdl.optim.Adam(params, lr=1.0, betas=(0.5, 0.99))
    scheduler = schedules.OneCycleLR(
        optimizer,
        1.0,
        epochs=4,
        steps_per_epoch=5,
        anneal_strategy=strategy,
        div_factor=10.0,
        final_div_factor=100.0,
        pct_start=0.25,
        three_phase=three_phase,
    )
    corners = [(0, 0.1, 0.95), (4, 1.0, 0.85), (19, 1e-3, 0.95), (20, 1e-3, 0.95)]
    if three_phase:
        corners.insert(2, (8, 0.1, 0.95))
    seen = []
    for _ in range(21):
        group = optimizer.param_groups[0]
        seen.append((group["lr"], group["betas"][0]))
        assert group["betas"][1] == 0.99
        optimizer.step()
        if len(seen) < 21:
            scheduler.step()
    for (e, lr, beta), (end, last, _) in zip(corners, corners[1:], strict=False):
        assert seen[e] == pytest.approx((lr, beta))
        middle = lr + (last - lr) * (
            (1 - math.cos(math.pi / (end - e))) / 2 if strategy == "cos" else 1 / (end - e)
        )
        assert seen[e + 1][0] == pytest.approx(middle)
    with pytest.raises(ValueError, match="step 21 of 20"):
        scheduler.step()


def test_one_cycle_that_begins_at_its_top():
    scheduler = schedules.OneCycleLR(sgd([1.0]), 1.0, total_steps=10, pct_start=0.1)
    assert path(scheduler, 9)[0] == [1.0]


# -- a metric --------------------------------------------------------------------------------------


def plateau(metrics, **options):
    optimizer = sgd()
    scheduler = schedules.ReduceLROnPlateau(optimizer, patience=1, factor=0.5, **options)
    rates = []
    for metric in metrics:
        scheduler.step(metric)
        rates.append(round(scheduler.get_last_lr()[0] / RATES[0], 9))
    return rates, scheduler


def test_plateau():
    assert plateau([3, 2, 2, 2, 2, 2])[0] == [1, 1, 1, 0.5, 0.5, 0.25]
    assert plateau([3, 2, 2, 2, 2, 2], cooldown=1)[0] == [1, 1, 1, 0.5, 0.5, 0.5]
    assert plateau([1, 2, 3, 3, 3], mode="max")[0] == [1, 1, 1, 1, 0.5]
    assert plateau([1, 0.95, 0.95], threshold=0.1)[0] == [1, 1, 0.5]
    assert plateau([10, 9.95, 9.9], threshold=0.1, threshold_mode="abs")[0] == [1, 1, 0.5]
    assert plateau([libdl.tensor(float("nan"))] * 3, min_lr=[0.3, 0.0])[0] == [1, 0.75, 0.75]
    assert plateau([1] * 4, min_lr=0.01)[1].optimizer.param_groups[1]["lr"] == 0.015


def test_plateau_goes_on():
    _, first = plateau([3, 2, 2])
    _, second = plateau([])
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    second.step(2)
    assert second.get_last_lr()[0] == RATES[0] / 2 and second.last_epoch == 4
    second.optimizer.add_param_group({"params": [nn.Parameter(libdl.ones(1))], "lr": 1.0})
    for _ in range(2):
        second.step(2)
    assert second.get_last_lr()[2] == 0.5 and len(second.min_lrs) == 3


# -- compositions ----------------------------------------------------------------------------------


def warm_up(optimizer):
    return schedules.LinearLR(optimizer, 0.25, total_iters=3)


def test_one_after_the_other():
    def made():
        optimizer = sgd()
        parts = [
            warm_up(optimizer),
            schedules.ConstantLR(optimizer, 0.5, 2),
            schedules.ExponentialLR(optimizer, 0.5),
        ]
        return schedules.SequentialLR(optimizer, parts, [3, 6])

    factors = [0.25, 0.5, 0.75, 0.5, 0.5, 1, 1, 0.5, 0.25]
    wanted = [[base * factor for base in RATES] for factor in factors]
    first, second = made(), made()
    near(path(first, 8), wanted)
    path(third := made(), 4)
    second.load_state_dict(pickle.loads(pickle.dumps(third.state_dict())))
    second.optimizer.load_state_dict(third.optimizer.state_dict())
    near(path(second, 4), wanted[4:])


def test_several_at_once():
    optimizer = sgd()
    parts = [warm_up(optimizer), schedules.StepLR(optimizer, 2, 0.1)]
    chain = schedules.ChainedScheduler(parts)
    near(path(chain, 4), [[b * f for b in RATES] for f in (0.25, 0.5, 0.075, 0.1, 0.01)])
    assert [part["last_epoch"] for part in chain.state_dict()["_schedulers"]] == [4, 4]


@pytest.mark.filterwarnings("error")
def test_compositions_of_compositions():
    def sequence(optimizer):
        parts = [warm_up(optimizer), schedules.ConstantLR(optimizer, 0.5, 9)]
        return schedules.SequentialLR(optimizer, parts, [2])

    def chain(optimizer):
        parts = [warm_up(optimizer), schedules.ExponentialLR(optimizer, 0.5)]
        return schedules.ChainedScheduler(parts)

    factors = {sequence: [0.25, 0.5, 0.5, 0.5], chain: [0.25, 0.25, 0.1875, 0.125]}
    for first, second in ((sequence, chain), (chain, sequence)):
        optimizer = sgd()
        both = schedules.SequentialLR(optimizer, [first(optimizer), second(optimizer)], [4])
        wanted = [[base * f for base in RATES] for f in factors[first] + factors[second]]
        near(path(both, 7), wanted)


# -- rates that are tensors, states, lifetimes -----------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,)])
def test_rates_that_are_tensors(shape):
    rate = libdl.full(shape, 0.5, dtype=libdl.float64)
    scheduler = schedules.ExponentialLR(sgd([rate, 0.5]), 0.5)
    found = path(scheduler, 3)
    assert scheduler.optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.5**4
    assert [[float(a) for a in pair] for pair in found] == [[0.5**n] * 2 for n in range(1, 5)]
    assert scheduler.base_lrs[0].item() == 0.5
    scheduler.step(1)
    assert rate.item() == 0.25


class Halving:
    def __init__(self, rate=0.5):
        self.rate = rate

    def __call__(self, epoch):
        return self.rate**epoch


def test_states_of_functions():
    scheduler = schedules.LambdaLR(sgd(), [Halving(), lambda e: 1.0])
    state = scheduler.state_dict()
    assert state["lr_lambdas"] == [{"rate": 0.5}, None]
    other = schedules.LambdaLR(sgd(), [Halving(0.25), lambda e: 1.0])
    other.load_state_dict(state)
    assert other.lr_lambdas[0].rate == 0.5 and "lr_lambdas" in state
    cyclic = schedules.CyclicLR(sgd(), 0.1, 0.2, scale_fn=Halving())
    assert cyclic.state_dict()["_scale_fn_custom"] == {"rate": 0.5}
    other = schedules.CyclicLR(sgd(), 0.1, 0.2, scale_fn=Halving(0.25))
    other.load_state_dict(cyclic.state_dict())
    assert other.scale_fn(1) == 0.5


def test_a_schedule_keeps_no_cycle():
    optimizer = sgd()
    own = optimizer.step
    optimizer.step = lambda: None
    scheduler = schedules.StepLR(optimizer, 1)
    gone = weakref.ref(optimizer)
    gc.disable()
    try:
        del own, optimizer, scheduler
        assert gone() is None
    finally:
        gc.enable()


# -- warnings and errors ---------------------------------------------------------------------------


def test_get_lr_outside_of_step_warns():
    scheduler = schedules.StepLR(sgd(), 1)
    with pytest.warns(UserWarning, match=r"get_last_lr\(\)"):
        scheduler.get_lr()


def test_steps_before_the_schedule_do_not_count():
    optimizer = sgd()
    optimizer.step()
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
        schedules.StepLR(optimizer, 1).step()


def test_a_step_that_is_assigned():
    optimizer = sgd()
    optimizer.step = lambda: None  # before the schedule: its calls are seen
    scheduler = schedules.StepLR(optimizer, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        scheduler.step()
    scheduler = schedules.StepLR(optimizer, 1)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden"):
        scheduler.step()


WRONG = [
    ("StepLR", dict(step_size=0), "step_size is 0, wanted at least 1"),
    ("ConstantLR", dict(factor=1.5), "factor is 1.5, wanted 0 to 1"),
    ("LinearLR", dict(start_factor=0), "start_factor is 0"),
    ("LinearLR", dict(end_factor=-1), "end_factor is -1, wanted 0 to 1"),
    ("LambdaLR", dict(lr_lambda=[abs]), "has 1 functions, wanted one for each of 2 groups"),
    ("CosineAnnealingLR", dict(T_max=0), "T_max is 0"),
    ("CosineAnnealingWarmRestarts", dict(T_0=0), "T_0 is 0, wanted an integer"),
    ("CosineAnnealingWarmRestarts", dict(T_0=2, T_mult=1.5), "T_mult is 1.5, wanted an integer"),
    ("CosineAnnealingWarmRestarts", dict(T_0=2, eta_min="0"), "eta_min is a str"),
    ("CyclicLR", dict(base_lr=[1.0], max_lr=2.0), "base_lr has 1 values"),
    ("CyclicLR", dict(base_lr=1.0, max_lr=2.0, mode="square"), "mode is 'square', wanted one of"),
    ("CyclicLR", dict(base_lr=1.0, max_lr=2.0, step_size_up=0), "step_size_up is 0"),
    ("OneCycleLR", dict(max_lr=1.0), "wanted total_steps, or both"),
    ("OneCycleLR", dict(max_lr=1.0, total_steps=0), "total_steps is 0, wanted an integer"),
    ("OneCycleLR", dict(max_lr=1.0, epochs=2, steps_per_epoch=1.5), "steps_per_epoch is 1.5"),
    ("OneCycleLR", dict(max_lr=1.0, total_steps=9, pct_start=2.0), "pct_start is 2.0"),
    ("OneCycleLR", dict(max_lr=1.0, total_steps=9, anneal_strategy="x"), "anneal_strategy is 'x'"),
    ("ReduceLROnPlateau", dict(factor=1.0), "factor is 1.0, wanted less than 1"),
    ("ReduceLROnPlateau", dict(mode="mean"), "mode is 'mean', wanted 'min' or 'max'"),
    ("ReduceLROnPlateau", dict(threshold_mode="x"), "threshold_mode is 'x'"),
    ("ReduceLROnPlateau", dict(min_lr=[0.0]), "min_lr has 1 values"),
    ("SequentialLR", dict(schedulers=[], milestones=[]), "schedulers is empty"),
]


@pytest.mark.parametrize(("name", "options", "text"), WRONG)
def test_wrong_options(name, options, text):
    optimizer = sgd()
    before = copy.deepcopy(optimizer.state_dict())
    with pytest.raises(ValueError) as caught:
        getattr(schedules, name)(optimizer, **options)
    assert str(caught.value).startswith(f"{name}: ") and text in str(caught.value)
    assert optimizer.state_dict() == before


def test_other_errors():
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        schedules.StepLR(3, 1)
    with pytest.raises(TypeError, match="lr_lambda is a float"):
        schedules.MultiplicativeLR(sgd(), 0.5)
    with pytest.raises(KeyError, match=r"param_groups\[0\] has no initial_lr"):
        schedules.StepLR(sgd(), 1, last_epoch=3)
    with pytest.raises(ValueError, match="neither momentum nor betas"):
        bare = libdl.optim.SGD([nn.Parameter(libdl.ones(1))], lr=0.1)
        del bare.defaults["momentum"]
        schedules.CyclicLR(bare, 0.1, 0.2)
    scheduler = schedules.StepLR(sgd(), 1)
    with pytest.raises(ValueError, match=r"schedulers\[0\], a StepLR, belongs to another"):
        schedules.SequentialLR(sgd(), [scheduler], [])
    with pytest.raises(ValueError, match="milestones has 1 epochs"):
        schedules.SequentialLR(scheduler.optimizer, [scheduler], [2])
    with pytest.raises(ValueError, match="whose step wants a metric"):
        schedules.ChainedScheduler([schedules.ReduceLROnPlateau(sgd())])
    with pytest.raises(TypeError, match=r"schedulers\[0\] is a int"):
        schedules.ChainedScheduler([3])
    restarting = schedules.CosineAnnealingWarmRestarts(sgd(), 3)
    with pytest.raises(ValueError, match="epoch is -1, wanted at least 0"):
        restarting.step(-1)


def test_a_schedule_of_ones_own():
    class Root(schedules.LRScheduler):
        def get_lr(self):
            return [base / math.sqrt(1 + self.last_epoch) for base in self.base_lrs]

    near(path(Root(sgd())), by(lambda b, e: b / math.sqrt(1 + e)))
    with pytest.raises(NotImplementedError, match="LRScheduler has no method get_lr"):
        schedules.LRScheduler(sgd())


# -- averages of parameters ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "part"),
    [
        ("linear", lambda e: min(e / 4, 1)),
        ("cos", lambda e: (1 - math.cos(math.pi * min(e / 4, 1))) / 2),
    ],
)
def test_swa_rates(strategy, part):
    def made():
        return swa_utils.SWALR(sgd(), [0.1, 0.2], anneal_epochs=4, anneal_strategy=strategy)

    wanted = [
        [b + (s - b) * part(e) for b, s in zip(RATES, (0.1, 0.2), strict=True)] for e in range(7)
    ]
    near(path(made(), 6), wanted)
    first, second = made(), made()
    path(first, 2)
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    second.load_state_dict(first.state_dict())
    near(path(second, 4), wanted[2:])
    assert path(swa_utils.SWALR(sgd([1.0]), 0.5, anneal_epochs=0), 2)[1:] == [[0.5], [0.5]]


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(libdl.zeros(2, dtype=libdl.float64))
        self.bias = nn.Parameter(libdl.zeros(1, dtype=libdl.complex64))
        self.register_buffer("seen", libdl.zeros(2))
        self.register_buffer("count", libdl.tensor(0))

    def forward(self, x):
        return x * self.weight

    def set(self, value):
        with libdl.no_grad():
            for tensor in (*self.parameters(), *self.buffers()):
                tensor.fill_(value)


VALUES = [4.0, 8.0, 0.0, 12.0]


@pytest.mark.parametrize("use_buffers", [False, True])
@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (dict(), 6.0),
        (dict(avg_fn=swa_utils.get_swa_avg_fn()), 6.0),
        (dict(multi_avg_fn=swa_utils.get_swa_multi_avg_fn()), 6.0),
        (dict(avg_fn=swa_utils.get_ema_avg_fn(0.75)), 5.8125),
        (dict(multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.75)), 5.8125),
        (dict(avg_fn=lambda mean, value, n: mean + value * n.item()), 4.0 + 8 + 36),
    ],
)
def test_averages(options, wanted, use_buffers):
    model = Scaled()
    mean = swa_utils.AveragedModel(model, use_buffers=use_buffers, **options)
    for value in VALUES:
        model.set(value)
        mean.update_parameters(model)
    assert mean.n_averaged.item() == 4
    assert mean.module.weight.tolist() == pytest.approx([wanted] * 2, rel=1e-7)
    assert mean.module.bias.item() == pytest.approx(wanted, rel=1e-6)
    assert mean.module.seen.tolist() == pytest.approx([wanted if use_buffers else 12.0] * 2)
    assert mean.module.count.item() == (int(wanted) if use_buffers else 12)
    assert mean.module.weight.requires_grad and mean.module.weight.grad is None
    names = ["n_averaged", "module.weight", "module.bias", "module.seen", "module.count"]
    assert list(mean.state_dict()) == names
    assert mean(libdl.ones(2, dtype=libdl.float64)).tolist() == pytest.approx([wanted] * 2)


def test_averages_of_another_model_are_refused():
    mean = swa_utils.AveragedModel(Scaled())
    with pytest.raises(ValueError, match="zip"):
        mean.update_parameters(nn.Linear(2, 2, bias=False))
    with pytest.raises(AssertionError, match="found both"):
        swa_utils.AveragedModel(
            Scaled(),
            avg_fn=swa_utils.get_swa_avg_fn(),
            multi_avg_fn=swa_utils.get_swa_multi_avg_fn(),
        )
    for function in (swa_utils.get_ema_avg_fn, swa_utils.get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match="decay is 1.5, wanted 0 to 1"):
            function(1.5)
    for options in (dict(anneal_strategy="x"), dict(anneal_epochs=-1), dict(swa_lr=[0.1])):
        with pytest.raises(ValueError, match="SWALR: "):
            swa_utils.SWALR(sgd(), **{"swa_lr": 0.1, **options})


class _BatchNorm(nn.Module):
    """What update_bn asks of a batch normalisation, by its class's name."""

    def __init__(self):
        super().__init__()
        self.momentum, self.calls = 0.1, []
        self.register_buffer("running_mean", libdl.ones(1))

    def reset_running_stats(self):
        self.running_mean.zero_()

    def forward(self, x):
        self.calls.append((self.training, self.momentum, libdl.is_grad_enabled()))
        self.running_mean += (x.mean() - self.running_mean) / len(self.calls)
        return x


def test_statistics_are_computed_anew():
    norm = _BatchNorm()
    model = nn.Sequential(norm, nn.Identity()).eval()
    batches = [libdl.full((3,), 1.0), (libdl.full((2,), 3.0), "label"), [libdl.full((2,), 5.0)]]
    swa_utils.update_bn(batches, model)
    assert norm.calls == [(True, None, False)] * 3 and norm.running_mean.item() == 3
    assert norm.momentum == 0.1 and not model.training and not norm.training
    with pytest.raises(AttributeError):
        swa_utils.update_bn([3], model)
    assert norm.momentum == 0.1 and not model.training
    swa_utils.update_bn(iter([]), nn.Identity())  # nothing to do, so that no batch is read
