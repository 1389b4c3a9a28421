# SPDX-License-Identifier: Apache-2.0
"""optim: trajectories, states, hooks, options and errors of every optimizer."""

import copy
import functools
import math
import pickle
import warnings

import pytest
from answered import Stored
from wrappers.optim import seen_optimizers
from wrappers.optim.seen_optimizers import CALLS, options_of

import libdl
from libdl import nn, optim

pytestmark = pytest.mark.usefixtures("no_leak")

SEEN = Stored(seen_optimizers)
ALL = {options_of(call)[0]: {} for call in CALLS}
SIMPLE = [name for name in ALL if name not in ("LBFGS", "Muon")]  # steps of any parameter
Run = functools.partial(seen_optimizers.Run, libdl)


# Roundings of 20 steps. Muon's iteration is in bfloat16. L-BFGS stops where the loss no longer
# changes, which at a minimum leaves the parameters uncertain by the root of a rounding.
ROUNDINGS = {"float32": 2e-6, "float64": 1e-13}
LOOSE = {
    ("Muon", "float32"): 2e-3,
    ("Muon", "float64"): 2e-3,
    ("LBFGS", "float32"): 1e-3,
    ("LBFGS", "float64"): 1e-9,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("call", CALLS)
def test_trajectories_are_those_of_pytorch(call, dtype):
    bound = LOOSE.get((options_of(call)[0], dtype), ROUNDINGS[dtype])
    found = seen_optimizers.trajectory(libdl, call, dtype)
    SEEN.compare(call, found, dtype, near=(bound, bound))


@pytest.mark.parametrize("way", ["state_dict", "pickle", "deepcopy"])
@pytest.mark.parametrize("call", CALLS)
def test_goes_on_as_if_never_stopped(call, way):
    name, options = options_of(call)
    whole, part = Run(name, options, libdl.float32), Run(name, options, libdl.float32)
    whole.follow(12)
    part.follow(7)
    second = Run(name, options, libdl.float32)
    second.count = 7
    if way == "state_dict":
        with libdl.no_grad():
            for p, q in zip(second.params, part.params, strict=True):
                p.copy_(q)
        second.optimizer.load_state_dict(part.optimizer.state_dict())
        part.optimizer.zero_grad()
        part.follow(9)  # the states were copied
    else:
        both = (part.params, part.optimizer)
        copied = pickle.loads(pickle.dumps(both)) if way == "pickle" else copy.deepcopy(both)
        second.params, second.optimizer = copied
        second.kept = second.optimizer.param_groups[0]["params"]
        assert second.kept[-1] is second.params[-1]
    second.follow(12)
    assert second.values() == whole.values()


@pytest.mark.parametrize("name", SIMPLE)
def test_parameters_with_gaps_and_16_bits_take_the_same_steps(name):
    values = [[0.5, -1.5], [2.0, 0.25]]
    gradient = [[0.5, -0.25], [1.0, 2.0]]
    found = []
    for kind in ("plain", "gaps", "bfloat16"):
        p = libdl.tensor(values)
        if kind == "gaps":
            p = libdl.zeros(2, 4)[:, ::2].copy_(p)
        p = (p.bfloat16() if kind == "bfloat16" else p).requires_grad_()
        optimizer = getattr(optim, name)([p], lr=0.5)
        for _ in range(3):
            p.grad = libdl.tensor(gradient).to(p.dtype)
            optimizer.step()
        found.append(p.tolist())
        shape = {"Adafactor": "row_var"}.get(name)
        for key, state in optimizer.state[p].items():
            wanted = libdl.float32 if key in ("step", "eta", "mu", "mu_product") else p.dtype
            assert state.dtype is wanted or key == shape
    assert found[0] == found[1]
    flat = [x for row in found[0] for x in row]
    assert [x for row in found[2] for x in row] == pytest.approx(flat, rel=0.05, abs=0.05)


COMPLEX = [name for name in SIMPLE if name != "Adafactor"]


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_are_pairs_of_real_ones(name):
    number = libdl.tensor([1 + 2j, -0.5j], requires_grad=True)
    pair = libdl.view_as_real(number.detach()).clone().requires_grad_()
    ways = [getattr(optim, name)([p], lr=0.25) for p in (number, pair)]
    for n in range(4):
        number.grad = libdl.tensor([(n - 1) * 1j + 0.5, 2 - n * 1j])
        pair.grad = libdl.view_as_real(number.grad)
        for optimizer in ways:
            optimizer.step()
        assert libdl.equal(libdl.view_as_real(number.detach()), pair.detach())


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_complex_numbers_are_refused(name):
    p = libdl.ones(2, 2, dtype=libdl.complex64).requires_grad_()
    p.grad = libdl.ones(2, 2, dtype=libdl.complex64)
    with pytest.raises(RuntimeError, match=f"{name} does not take complex parameters"):
        getattr(optim, name)([p]).step()


@pytest.mark.parametrize("name", SIMPLE)
def test_a_nan_stays_where_it_is(name):
    p = libdl.ones(40, requires_grad=True)
    q = libdl.ones(40, requires_grad=True)
    for x in (p, q):
        x.grad = libdl.ones(40)
    p.grad[21] = math.nan
    getattr(optim, name)([p, q], lr=0.5).step()
    same = (p == q).tolist()
    if name == "Rprop":  # takes no step there
        assert p[21] == 1 and same.count(False) == 1
    else:
        assert p[21].isnan() and same.count(False) == 1


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,)])
@pytest.mark.parametrize("name", SIMPLE)
def test_rates_that_are_tensors(name, shape):
    rate = libdl.full(shape, 0.25, dtype=libdl.float64)
    made = [Run(name, {"lr": lr}, libdl.float64) for lr in (rate, 0.25)]
    for run in made:
        run.follow(3)
    assert made[0].values() == made[1].values()
    assert made[0].optimizer.param_groups[0]["lr"] is rate


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"])
def test_betas_that_are_tensors(name):
    betas = (libdl.tensor(0.5, dtype=libdl.float64), libdl.tensor([0.75], dtype=libdl.float64))
    optimizer = getattr(optim, name)([libdl.ones(1, requires_grad=True)], betas=betas)
    assert optimizer.param_groups[0]["betas"] == (0.5, 0.75)
    with pytest.raises(ValueError, match="one of betas is a tensor"):
        getattr(optim, name)([libdl.ones(1, requires_grad=True)], betas=(0.5, betas[1]))


WRONG = [
    *[(name, dict(lr=-1), "lr is -1") for name in ALL],
    *[(name, dict(lr=libdl.ones(2)), r"lr has shape \(2,\)") for name in ALL],
    *[
        (name, dict(weight_decay=-1), "weight_decay is -1")
        for name in ALL
        if name not in ("LBFGS", "Rprop")
    ],
    *[
        (name, dict(eps=-1), "eps is -1")
        for name in ALL
        if name in ("Adam", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop")
    ],
    *[
        (name, dict(betas=betas), rf"betas\[{n}\] is")
        for n, betas in enumerate([(1, 0), (0, -1)])
        for name in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam")
    ],
    ("NAdam", dict(momentum_decay=-1), "momentum_decay is -1"),
    ("Adagrad", dict(lr_decay=-1), "lr_decay is -1"),
    ("Adagrad", dict(initial_accumulator_value=-1), "initial_accumulator_value is -1"),
    ("Adadelta", dict(rho=1.5), "rho is 1.5, wanted 0 to 1"),
    ("ASGD", dict(lambd=-1), "lambd is -1"),
    ("ASGD", dict(alpha=-1), "alpha is -1"),
    ("RMSprop", dict(alpha=-1), "alpha is -1"),
    ("RMSprop", dict(momentum=-1), "momentum is -1"),
    ("Rprop", dict(etas=(1.0, 1.2)), r"etas is \(1.0, 1.2\)"),
    ("Rprop", dict(etas=(0.5, 1.0)), r"etas is \(0.5, 1.0\)"),
    ("Adafactor", dict(beta2_decay=1), "beta2_decay is 1"),
    ("Adafactor", dict(eps=(-1, 0)), r"eps\[0\] is -1"),
    ("Adafactor", dict(eps=(None, -1)), r"eps\[1\] is -1"),
    ("Adafactor", dict(d=0.5), "d is 0.5"),
    ("Muon", dict(momentum=-1), "momentum is -1"),
    ("Muon", dict(adjust_lr_fn="x"), "adjust_lr_fn is 'x', wanted None or one of 'original'"),
]


@pytest.mark.parametrize(("name", "options", "text"), WRONG)
def test_wrong_options(name, options, text):
    with pytest.raises(ValueError, match=text):
        getattr(optim, name)([libdl.ones(2, 2, requires_grad=True)], **options)


def test_other_wrong_options():
    p = libdl.ones(2, requires_grad=True)
    for name in ("Adam", "AdamW", "SGD", "Adagrad"):
        with pytest.raises(RuntimeError, match="fused and foreach"):
            getattr(optim, name)([p], fused=True, foreach=True)
    for name in COMPLEX:
        with pytest.raises(NotImplementedError, match="differentiable=True is not offered"):
            getattr(optim, name)([p], differentiable=True)
    with pytest.raises(ValueError, match="LBFGS takes one group"):
        optim.LBFGS([{"params": [p]}, {"params": [libdl.ones(1, requires_grad=True)]}])
    with pytest.raises(RuntimeError, match="line_search_fn is 'x'"):
        optim.LBFGS([p], line_search_fn="x").step(lambda: p.sum())
    with pytest.raises(ValueError, match=r"shape \(2,\), wanted a matrix"):
        optim.Muon([p])


# -- groups ----------------------------------------------------------------------------------------


def test_groups():
    a, b, c = (libdl.ones(2, requires_grad=True) for _ in range(3))
    group = {"params": a, "lr": 0.5}
    optimizer = optim.RMSprop([group], momentum=0.5)
    assert optimizer.param_groups[0] is group and group["params"] == [a]
    assert group["lr"] == 0.5 and group["momentum"] == 0.5
    optimizer.add_param_group({"params": (x for x in [b])})
    with pytest.raises(ValueError, match="more than one group"):
        optimizer.add_param_group({"params": [c, a]})
    with pytest.raises(TypeError, match="param_group is a list"):
        optimizer.add_param_group([c])
    with pytest.raises(TypeError, match="params is a set"):
        optimizer.add_param_group({"params": {c}})
    with pytest.warns(UserWarning, match="the same parameter twice"):
        optimizer.add_param_group({"params": [c, c]})
    with pytest.warns(FutureWarning, match="params is a set"), pytest.raises(TypeError):
        optim.SGD({1})
    lines = repr(optimizer).splitlines()
    assert lines[:4] == [
        "RMSprop (",
        "Parameter Group 0",
        "    alpha: 0.99",
        "    capturable: False",
    ]
    assert lines[lines.index("Parameter Group 1") - 1] == "" and lines[-1] == ")"


def test_required_options():
    class Own(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"rate": optim.optimizer.required})

    p = libdl.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="has no value of the option 'rate'"):
        Own([p])
    own = Own([{"params": [p], "rate": 1}])
    p.grad = libdl.ones(1)
    with pytest.raises(NotImplementedError):
        own.step()


def test_names_of_parameters():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    optimizer = optim.Adamax(net[0].named_parameters())
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="some groups have names"):
        optimizer.add_param_group({"params": net[1].parameters()})
    with pytest.raises(ValueError, match="1 of 2 parameters have no name"):
        optim.SGD([("a", net[1].weight), net[1].bias])
    saved = optimizer.state_dict()
    assert saved["param_groups"][0]["param_names"] == ["weight", "bias"]
    saved["param_groups"][0]["param_names"] = ["w", "b"]
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["param_names"] == ["w", "b"]
    optimizer.load_state_dict(optim.Adamax(net[1].parameters()).state_dict())
    assert optimizer.param_groups[0]["param_names"] == ["w", "b"]


# -- states ----------------------------------------------------------------------------------------


def test_states_get_the_dtype_of_their_parameter():
    first = optim.NAdam([libdl.ones(2, dtype=libdl.float64, requires_grad=True)])
    first.param_groups[0]["params"][0].grad = libdl.ones(2, dtype=libdl.float64)
    first.step()
    p = libdl.ones(2, requires_grad=True)
    second = optim.NAdam([p])
    second.load_state_dict(first.state_dict())
    kinds = {name: state.dtype for name, state in second.state[p].items()}
    assert set(kinds.values()) == {libdl.float32}
    third = optim.NAdam([libdl.ones(2, dtype=libdl.bfloat16, requires_grad=True)])
    third.load_state_dict(first.state_dict())
    kinds = {name: state.dtype for state in third.state.values() for name, state in state.items()}
    assert kinds.pop("step") is libdl.float32 and set(kinds.values()) == {libdl.bfloat16}


def test_older_states():
    p = libdl.ones(2, requires_grad=True)
    optimizer = optim.ASGD([p])
    old = optimizer.state_dict()
    old["state"] = {0: {"step": 3, "eta": 0.5, "mu": 1, "ax": libdl.ones(2)}, "other": 1}
    for name in ("foreach", "maximize", "differentiable", "capturable"):
        del old["param_groups"][0][name]
    optimizer.load_state_dict(old)
    assert optimizer.param_groups[0]["maximize"] is False and optimizer.state["other"] == 1
    p.grad = libdl.ones(2)
    optimizer.step()
    assert optimizer.state[p]["step"].item() == 4 and p.tolist() == pytest.approx([0.49995] * 2)


def test_states_that_do_not_fit():
    optimizer = optim.Adagrad([libdl.ones(2, requires_grad=True)])
    saved = optimizer.state_dict()
    before = copy.deepcopy(saved["param_groups"])
    with pytest.raises(ValueError, match="the state has 2 groups of parameters, the optimizer 1"):
        optimizer.load_state_dict({"state": {}, "param_groups": saved["param_groups"] * 2})
    saved["param_groups"][0]["params"] = [0, 1]
    with pytest.raises(ValueError, match="group 0 has 2 parameters in the state, 1 in the opt"):
        optimizer.load_state_dict(saved)
    assert optimizer.state_dict()["param_groups"] == before


def test_a_default_dtype_of_64_bits():
    libdl.set_default_dtype(libdl.float64)
    try:
        p = libdl.ones(2, dtype=libdl.float32, requires_grad=True)
        p.grad = libdl.ones(2, dtype=libdl.float32)
        optimizer = optim.Adam([p])
        optimizer.step()
        optimizer.step()
        assert optimizer.state[p]["step"].dtype is libdl.float64
        assert optimizer.state[p]["step"].item() == 2
    finally:
        libdl.set_default_dtype(libdl.float32)


# -- hooks -----------------------------------------------------------------------------------------


def test_hooks_of_steps():
    seen = []
    p = libdl.ones(1, requires_grad=True)
    p.grad = libdl.ones(1)
    optimizer = optim.SGD([p], lr=1.0)

    def note(name):
        return lambda *given: seen.append((name, *given))

    handles = [
        optim.optimizer.register_optimizer_step_pre_hook(note("all before")),
        optim.optimizer.register_optimizer_step_post_hook(note("all after")),
        optimizer.register_step_pre_hook(note("before")),
        optimizer.register_step_post_hook(note("after")),
    ]
    optimizer.step()
    assert [entry[0] for entry in seen] == ["all before", "before", "after", "all after"]
    assert all(entry[1:] == (optimizer, (optimizer,), {}) for entry in seen)
    with optimizer.register_step_pre_hook(lambda o, a, k: ((o, lambda: libdl.ones(1) * 3), k)):
        assert optimizer.step() == 3
    with optimizer.register_step_pre_hook(lambda o, a, k: 3):
        with pytest.raises(RuntimeError, match="pre hook returned 3, wanted None or"):
            optimizer.step()
    for handle in handles:
        handle.remove()
    seen.clear()
    optimizer.step()
    assert not seen


def test_hooks_of_states():
    seen = []
    p = libdl.ones(1, requires_grad=True)
    optimizer = optim.SGD([p], lr=1.0)
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, d: {**d, "more": 1})
    optimizer.register_state_dict_post_hook(lambda o, d: d.update(most=2))
    saved = optimizer.state_dict()
    assert seen == ["first", "second"] and (saved["more"], saved["most"]) == (1, 2)

    def halve(o, d):
        groups = [{**group, "lr": group["lr"] / 2} for group in d["param_groups"]]
        return {**d, "param_groups": groups}

    optimizer.register_load_state_dict_pre_hook(halve)
    optimizer.register_load_state_dict_pre_hook(lambda o, d: d.pop("more"))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    with pytest.raises(TypeError):  # the second one's answer is no state
        optimizer.load_state_dict(saved)
    optimizer._optimizer_load_state_dict_pre_hooks.popitem()
    optimizer.load_state_dict(saved)
    assert seen[-1] == "loaded" and optimizer.param_groups[0]["lr"] == 0.5 and "more" in saved
    again = pickle.loads(pickle.dumps(optim.SGD([p], lr=1.0)))
    assert again.register_step_post_hook(print) and again.defaults["lr"] == 1.0


def test_a_step_of_ones_own_is_hooked():
    seen = []

    class Own(optim.Optimizer):
        def step(self, closure=None):
            seen.append("step")

    class Decorated(optim.Optimizer):
        @optim.Optimizer.profile_hook_step
        def step(self, closure=None):
            seen.append("step")

    for kind in (Own, Decorated):
        optimizer = kind([libdl.ones(1, requires_grad=True)], {})
        optimizer.register_step_post_hook(lambda *given: seen.append("after"))
        optimizer.step()
        assert optimizer._opt_called
    assert seen == ["step", "after"] * 2


@pytest.mark.parametrize("name", [*SIMPLE, "Muon"])
def test_closures(name):
    p = libdl.ones(2, 2, requires_grad=True)
    optimizer = getattr(optim, name)([p])

    def closure():
        assert libdl.is_grad_enabled()
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure) == 4 and optimizer.step() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert closure() < 4


# -- clipping --------------------------------------------------------------------------------------

clip = nn.utils


def with_gradients(*values, dtype=None):
    params = [libdl.zeros(len(v), dtype=dtype, requires_grad=True) for v in values]
    for p, v in zip(params, values, strict=True):
        p.grad = libdl.tensor(v, dtype=dtype)
    return params


@pytest.mark.parametrize(
    ("order", "norm"), [(2, 13), (1, 19), (math.inf, 12), ("inf", 12), (2.0, 13)]
)
def test_norms(order, norm):
    params = with_gradients([3.0, 4.0], [-12.0])
    gradients = [p.grad for p in params]
    assert clip.get_total_norm(gradients, order).item() == pytest.approx(norm, rel=1e-6)
    assert clip.clip_grad_norm_((p for p in params), norm / 2, order).item() == pytest.approx(norm)
    assert [p.grad.tolist() for p in params] == [pytest.approx([1.5, 2.0]), pytest.approx([-6.0])]
    assert clip.clip_grad_norm_(params, norm, order).item() == pytest.approx(norm / 2)
    assert params[1].grad.tolist() == pytest.approx([-6.0])
    total = clip.get_total_norm(gradients, order)
    clip.clip_grads_with_norm_(params, norm / 4, total)
    assert params[1].grad.tolist() == pytest.approx([-3.0])
    assert clip.get_total_norm(gradients[0], order).item() < norm / 4


def test_norms_of_several_dtypes():
    for dtypes, wanted in (
        ((libdl.float32, libdl.float64), libdl.float64),
        ((libdl.bfloat16, libdl.bfloat16), libdl.bfloat16),
        ((libdl.complex64, libdl.float32), libdl.float32),
    ):
        tensors = [libdl.tensor([x], dtype=t) for x, t in zip((3, 4), dtypes, strict=True)]
        norm = clip.get_total_norm(tensors)
        assert norm.dtype is wanted and norm.shape == () and norm.item() == 5
    assert clip.get_total_norm([]).item() == 0 and clip.clip_grad_norm_([], 1.0).item() == 0


def test_norms_that_are_not_finite():
    for value, after in ((math.inf, [math.nan, 0.0]), (math.nan, [math.nan, math.nan])):
        params = with_gradients([value, 1.0])
        with pytest.raises(RuntimeError, match=f"have norm {value}, wanted a finite norm"):
            clip.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
        with pytest.raises(RuntimeError, match="finite norm"):
            clip.get_total_norm([params[0].grad], error_if_nonfinite=True)
        assert params[0].grad[1] == 1
        clip.clip_grad_norm_(params, 1.0)
        assert params[0].grad.tolist() == pytest.approx(after, nan_ok=True)


@pytest.mark.parametrize("values", [[3.0, 4.0], [0.0, 0.0], [math.inf, 1.0]])
def test_an_infinite_bound_leaves_gradients_as_they_are(values):
    params = with_gradients(values)
    norm = math.hypot(*values)
    assert clip.clip_grad_norm_(params, math.inf).item() == norm
    clip.clip_grads_with_norm_(params, math.inf, libdl.tensor(norm))
    clip.clip_grad_value_(params, math.inf)
    assert params[0].grad.tolist() == values


def test_values_are_clamped():
    params = with_gradients([3.0, -4.0, math.nan], [0.5])
    clip.clip_grad_value_(params[0], 2)
    clip.clip_grad_value_(iter(params), 1.0)
    assert params[0].grad.tolist() == pytest.approx([1.0, -1.0, math.nan], nan_ok=True)
    assert params[1].grad.tolist() == [0.5]
    with pytest.warns(FutureWarning, match="clip_grad_norm is now clip_grad_norm_"):
        clip.clip_grad_norm(params[1], 0.25)
    with pytest.warns(UserWarning, match="empty generator"):
        clip.clip_grad_norm_((p for p in []), 1.0)
    with pytest.raises(ValueError, match="total_norm"):
        clip.clip_grads_with_norm_(params, 1.0, libdl.ones(2))


@pytest.mark.parametrize("base", ["SGD", "AdamW", "RMSprop"])
def test_a_step_that_calls_its_base_has_its_hooks_once(base):
    class Derived(getattr(libdl.optim, base)):
        def step(self, closure=None):
            return super().step(closure)

    x = libdl.ones(2, requires_grad=True)
    optimizer, seen = Derived([x], lr=0.1), []
    optimizer.register_step_pre_hook(lambda *given: seen.append("before"))
    optimizer.register_step_post_hook(lambda *given: seen.append("after"))
    everywhere = libdl.optim.optimizer.register_optimizer_step_post_hook(
        lambda *given: seen.append("all")
    )
    try:
        for _ in range(2):
            x.sum().backward()
            optimizer.step()
    finally:
        everywhere.remove()
    assert seen == ["before", "after", "all"] * 2
