# SPDX-License-Identifier: Apache-2.0
"""Modules, optimizers, schedules and the scaler call those of their own methods that PyTorch's
call, so that a subclass that overrides one is heard."""

import pytest
from answered import Stored
from wrappers.nn import seen_self_calls

import libdl
from libdl import nn

SEEN = Stored(seen_self_calls)

# Methods that have no meaning here: devices, and words of PyTorch's tools.
ABSENT = {"ipu", "mtia", "xpu", "_maybe_warn_non_full_backward_hook"}
# Calls that are not made: PyTorch patches a step when an optimizer is made, libdl when its class
# is.
NOT_CALLED = {"_patch_step_function", "profile_hook_step"}
# Calls that PyTorch does not make: a lazy layer checks its first input before it takes its size,
# and every step of an optimizer may be captured.
MORE_CALLED = {
    "LazyInstanceNorm1d(affine=True) <- r(1, 2, 6)": {"_check_input_dim"},
    "LBFGS": {"_accelerator_graph_capture_health_check"},
    "SGD": {"_accelerator_graph_capture_health_check"},
    "Adagrad": {"_accelerator_graph_capture_health_check"},
    "Muon": {"_accelerator_graph_capture_health_check"},
}


# What a layer calls if its answer does not tell otherwise.
ORDINARY = SEEN["calls"][seen_self_calls.CASES[0][1]]
BASES = {"Module", "Optimizer", "LRScheduler"}


def names_of(kind):
    names = set(SEEN["methods"][kind].split())
    for base in names & BASES:
        names |= names_of(base)
    return names - BASES - ABSENT


@pytest.mark.parametrize("kind", SEEN["methods"])
def test_methods_are_there(kind):
    places = (nn, libdl.optim, libdl.optim.lr_scheduler, libdl.optim.swa_utils, libdl.amp)
    made = next(getattr(place, kind) for place in places if hasattr(place, kind))
    assert sorted(name for name in names_of(kind) if not hasattr(made, name)) == []


@pytest.mark.parametrize(
    "of, case", seen_self_calls.CASES, ids=[case for _, case in seen_self_calls.CASES]
)
def test_calls_are_those_of_pytorch(of, case):
    wanted = SEEN["calls"][case]
    if of is seen_self_calls.of_layer:
        wanted = ORDINARY | wanted
    kind = of(libdl, case)[0].__name__
    found = seen_self_calls.answer(libdl, of, case, sorted(names_of(kind)))
    assert found.keys() == {phase for phase, names in wanted.items() if names != "not at all"}
    for phase in found:
        names = wanted[phase]
        theirs, ours = set(names.split()) - ABSENT - NOT_CALLED, set(found[phase].split())
        assert ours - MORE_CALLED.get(case, set()) == theirs - MORE_CALLED.get(case, set()), phase


# -- whole programs of modules with methods of their own -------------------------------------------


class Standardised(nn.Conv2d):
    """A convolution whose weights have mean 0 (Qiao et al. 2019)."""

    def _conv_forward(self, input, weight, bias):
        return super()._conv_forward(input, weight - weight.mean((1, 2, 3), keepdim=True), bias)


def test_a_convolution_with_its_own_product():
    x = libdl.arange(25.0).reshape(1, 1, 5, 5)
    layer = Standardised(1, 2, 3, padding=1, padding_mode="replicate")
    weight = layer.weight - layer.weight.mean((1, 2, 3), keepdim=True)
    wanted = nn.functional.conv2d(
        nn.functional.pad(x, (1, 1, 1, 1), "replicate"), weight, layer.bias
    )
    assert libdl.equal(layer(x), wanted)


@pytest.mark.parametrize(
    "kind, arguments",
    [
        (nn.BatchNorm1d, (3,)),
        (nn.InstanceNorm2d, (3, 1e-5, 0.1, True, True)),
        (nn.LayerNorm, (3,)),
        (nn.GroupNorm, (1, 3)),
        (nn.RMSNorm, (3,)),
        (nn.Linear, (3, 3)),
        (nn.Conv1d, (3, 3, 1)),
        (nn.ConvTranspose1d, (3, 3, 1)),
        (nn.Embedding, (3, 3)),
        (nn.EmbeddingBag, (3, 3)),
        (nn.LSTM, (3, 3)),
        (nn.GRUCell, (3, 3)),
        (nn.PReLU, (3,)),
        (nn.Bilinear, (3, 3, 3)),
    ],
)
def test_a_layer_begins_with_its_own_reset_parameters(kind, arguments):
    class Own(kind):
        def reset_parameters(self):
            for parameter in self.parameters():
                nn.init.constant_(parameter, 0.25)

    assert all((parameter == 0.25).all() for parameter in Own(*arguments).parameters())


def test_running_statistics_of_ones_own():
    class Own(nn.BatchNorm1d):
        def reset_running_stats(self):
            super().reset_running_stats()
            self.running_mean.fill_(2.0)

    assert Own(2).eval()(libdl.ones(1, 2) * 2).tolist() == [[0.0, 0.0]]


def test_a_padding_row_of_ones_own():
    class Own(nn.Embedding):
        def _fill_padding_idx_with_zero(self):
            with libdl.no_grad():
                self.weight[self.padding_idx].fill_(-1)

    assert Own(3, 2, padding_idx=1)(libdl.tensor([1])).tolist() == [[-1.0, -1.0]]


def test_checks_of_a_recurrent_layer_of_ones_own():
    class Refuses(nn.GRU):
        def check_forward_args(self, input, hidden, batch_sizes):
            raise RuntimeError(f"own check of {list(input.shape)}, {list(hidden.shape)}")

    with pytest.raises(RuntimeError, match=r"own check of \[4, 1, 2\], \[1, 1, 3\]"):
        Refuses(2, 3)(libdl.ones(4, 2))


def test_other_weights_of_a_recurrent_layer_stay_until_a_named_one_changes():
    layer = nn.RNN(1, 1, bias=False)
    layer._flat_weights = [libdl.full((1, 1), 2.0), libdl.zeros(1, 1)]
    x = libdl.full((1, 1), 0.5)
    assert layer(x)[0].item() == libdl.tensor(1.0).tanh().item()
    layer.weight_ih_l0 = nn.Parameter(libdl.zeros(1, 1))
    assert layer(x)[0].item() == 0.0


@pytest.mark.parametrize(
    "kind",
    [
        libdl.optim.SGD,
        libdl.optim.Adam,
        libdl.optim.RMSprop,
        libdl.optim.Adafactor,
        libdl.optim.Muon,
    ],
)
def test_an_optimizer_that_leaves_parameters_out(kind):
    class Half(kind):
        def _init_group(self, group, *lists):
            return super()._init_group({**group, "params": group["params"][:1]}, *lists)

    params = [nn.Parameter(libdl.ones(2, 2)) for _ in range(2)]
    for param in params:
        param.grad = libdl.ones(2, 2)
    Half(params, lr=0.1).step()
    assert (params[0] != 1).all() and (params[1] == 1).all()


def test_a_plateau_that_reduces_in_its_own_way():
    class Halves(libdl.optim.lr_scheduler.ReduceLROnPlateau):
        def _reduce_lr(self, epoch):
            self.optimizer.param_groups[0]["lr"] = 1.0 / epoch

    optimizer = libdl.optim.SGD([nn.Parameter(libdl.ones(1))], lr=1.0)
    schedule = Halves(optimizer, patience=0)
    for _ in range(4):
        schedule.step(1.0)
    assert optimizer.param_groups[0]["lr"] == 0.25


def test_a_scaler_that_lets_float16_through():
    class Lets(libdl.amp.GradScaler):
        def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
            return super()._unscale_grads_(optimizer, inv_scale, found_inf, True)

    w = nn.Parameter(libdl.ones(2, dtype=libdl.float16))
    optimizer, scaler = libdl.optim.SGD([w], lr=0.5), Lets("cpu", init_scale=4.0)
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    assert w.tolist() == [0.5, 0.5]


def test_an_optimizer_that_scales_by_itself():
    class Scales(libdl.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            self.told = self.grad_scale.item(), self.found_inf.item()

    w = nn.Parameter(libdl.ones(2))
    optimizer, scaler = Scales([w], lr=0.5), libdl.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    assert optimizer.told == (4.0, 0.0) and not hasattr(optimizer, "found_inf")
    assert w.grad.tolist() == [4.0, 4.0]


def test_a_module_with_its_own_way_of_being_called():
    class Twice(nn.Linear):
        def _call_impl(self, *args, **kwargs):
            return 2 * super()._call_impl(*args, **kwargs)

    layer, x = Twice(2, 1), libdl.ones(1, 2)
    assert libdl.equal(layer(x), 2 * layer.forward(x))


def test_a_lazy_layer_calls_its_own_forward_once():
    class Own(nn.LazyLinear):
        def forward(self, input):
            return nn.Linear.forward(self, input) * 0

    layer, x = Own(2), libdl.ones(1, 3)
    assert (layer(x) == 0).all()
    assert type(layer) is nn.Linear and (layer(x) != 0).all()
