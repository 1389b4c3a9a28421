# SPDX-License-Identifier: Apache-2.0
"""What scripts print, ask and save along the way, with PyTorch's answers."""

from __future__ import annotations

import collections
import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import libdl
from libdl import nn
from libdl.nn import functional as F


def test_pairs_print_under_their_function() -> None:
    x = libdl.tensor([[1.0, 2.0], [4.0, 3.0]])
    assert repr(x.max(1)) == (
        "libdl.return_types.max(\nvalues=tensor([2., 4.]),\nindices=tensor([1, 0]))"
    )
    found = {
        "max": x.max(1),
        "min": libdl.min(x, 1),
        "sort": x.sort(),
        "topk": libdl.topk(x, 1),
        "kthvalue": x.kthvalue(1),
    }
    for name, pair in found.items():
        assert type(pair) is getattr(libdl.return_types, name)
        assert str(pair).startswith(f"libdl.return_types.{name}(\nvalues=")
        values, indices = pair
        assert values is pair.values is pair[0] and indices is pair.indices
        again = pickle.loads(pickle.dumps(pair))
        assert type(again) is type(pair) and libdl.equal(again.values, pair.values)
    into = libdl.max(x, 1, out=(libdl.empty(0), libdl.empty(0, dtype=libdl.int64)))
    assert type(into) is libdl.return_types.max


def test_layout() -> None:
    x = libdl.ones(2, layout=libdl.strided)
    assert x.layout is libdl.strided and isinstance(x.layout, libdl.layout)
    assert repr(x.layout) == "libdl.strided"
    assert copy.deepcopy(x.layout) is pickle.loads(pickle.dumps(x.layout)) is libdl.strided


def _scheduled() -> tuple[libdl.optim.Optimizer, libdl.optim.lr_scheduler.StepLR]:
    optimizer = libdl.optim.SGD([nn.Parameter(libdl.ones(2))], lr=0.1)
    return optimizer, libdl.optim.lr_scheduler.StepLR(optimizer, 1)


def test_the_schedule_counts_its_steps() -> None:
    optimizer, schedule = _scheduled()
    assert schedule._step_count == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        schedule.step()
    assert (schedule._step_count, schedule.last_epoch) == (2, 1)
    assert schedule.state_dict()["_step_count"] == 2


def test_a_schedule_before_its_optimizer_warns_once() -> None:
    optimizer, schedule = _scheduled()
    with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        schedule.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()
        optimizer.step()


def test_an_optimizer_with_a_step_of_its_own() -> None:
    class Own(libdl.optim.SGD):
        def step(self, closure: object = None) -> None:
            self.count = getattr(self, "count", 0) + 1

    optimizer = Own([nn.Parameter(libdl.ones(2))], lr=0.1)
    schedule = libdl.optim.lr_scheduler.StepLR(optimizer, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        schedule.step()
    assert optimizer.count == 1


def test_a_schedule_that_goes_on_does_not_warn() -> None:
    optimizer, schedule = _scheduled()
    optimizer.step()
    schedule.step()
    _, later = _scheduled()
    later.load_state_dict(schedule.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        later.step()


def test_files_keep_the_kind_of_dict(tmp_path: Path) -> None:
    state = nn.Linear(2, 2).state_dict()
    libdl.save(state, tmp_path / "a")
    again = libdl.load(tmp_path / "a")
    assert type(state) is type(again) is collections.OrderedDict
    assert list(again) == ["weight", "bias"]
    libdl.save({"model": state, "epoch": 3}, tmp_path / "b")
    again = libdl.load(tmp_path / "b")
    assert type(again) is dict and type(again["model"]) is collections.OrderedDict


def test_the_traceback_tells_the_method_meant() -> None:
    code = "import libdl; libdl.ones(2).sofmax(0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Did you mean: 'softmax'?" in done.stderr


def test_a_tensor_that_the_dtype_does_not_hold() -> None:
    wide = libdl.tensor(300)
    for key in (libdl.tensor([True, False, True]), libdl.tensor([0])):
        x = libdl.zeros(3, dtype=libdl.int8)
        with pytest.raises(RuntimeError, match="without overflow"):
            x[key] = wide
        assert x.tolist() == [0, 0, 0]
        x[key] = libdl.tensor(-7)
        assert x[0].item() == -7
    # PyTorch wraps here: it is a copy.
    x[0] = wide
    assert x[0].item() == 44
    y = libdl.zeros(3, dtype=libdl.float32)
    y[libdl.tensor([True, False, True])] = wide
    assert y.tolist() == [300, 0, 300]


@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_truth_in_place_has_no_history(name: str) -> None:
    x = libdl.ones(2, requires_grad=True)
    y = libdl.ones(2)
    getattr(y, f"logical_{name}_")(x)
    assert not y.requires_grad and y.grad_fn is None
    assert y.tolist() == ([0, 0] if name == "xor" else [1, 1])
    history = x * 1
    getattr(history, f"logical_{name}_")(libdl.ones(2))
    history.sum().backward()
    assert x.grad.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="leaf"):
        getattr(x, f"logical_{name}_")(libdl.ones(2))


def test_second_slope_of_elu_at_0() -> None:
    for alpha, slope, second in ((1.0, 1.0, 0.36787945), (2.0, 2.0, 0.7357589)):
        x = libdl.tensor([float("nan"), 0.0, -0.0, -1.0, 1.0], requires_grad=True)
        y = F.elu(x, alpha)
        assert y.tolist()[1:3] == [0, 0] and y[0].isnan()
        (g,) = libdl.autograd.grad(y.sum(), x, create_graph=True)
        assert g.tolist() == pytest.approx([1, slope, slope, second, 1])
        (h,) = libdl.autograd.grad(g.sum(), x)
        assert h.tolist() == pytest.approx([0, 0, 0, second, 0])


@pytest.mark.parametrize("function", [F.elu, F.leaky_relu, F.softplus])
def test_numbers_of_activations(function: Callable[..., libdl.Tensor]) -> None:
    x = libdl.tensor([-1.0, 2.0])
    for wrong in (1j, "1", None):
        with pytest.raises((TypeError, RuntimeError), match=r"argument 2 \(.*wanted a number"):
            function(x, wrong)
    with pytest.raises(RuntimeError, match="without overflow"):
        function(x, 1e300)
    assert function(x.double(), 1e300).dtype is libdl.float64
    assert function(x.half(), 1e5).dtype is libdl.float16  # computed in float32
    for dtype in (libdl.bool, libdl.int64, libdl.complex64):
        with pytest.raises(RuntimeError, match="floating"):
            function(x.to(dtype))


def test_softplus_in_bfloat16_is_rounded_once() -> None:
    x = libdl.tensor([0.3, -1.7], dtype=libdl.bfloat16)
    assert libdl.equal(F.softplus(x, 0.7), F.softplus(x.float(), 0.7).bfloat16())


@pytest.mark.parametrize("recorded", [False, True])
def test_activations_in_place(recorded: bool) -> None:
    for function in (
        lambda x, i: F.elu(x, 2.0, inplace=i),
        lambda x, i: F.elu(x, inplace=i),
        lambda x, i: F.leaky_relu(x, inplace=i),
        lambda x, i: F.relu6(x, inplace=i),
        lambda x, i: F.threshold(x, 0.5, 3.0, inplace=i),
        lambda x, i: nn.ELU(inplace=i)(x),
        lambda x, i: nn.LeakyReLU(inplace=i)(x),
    ):
        gradients = []
        for inplace in (False, True):
            leaf = libdl.tensor([-1.0, 0.25, 7.0], requires_grad=recorded)
            x = leaf * 1
            y = function(x, inplace)
            assert (y is x) == inplace
            if recorded:
                y.backward(libdl.tensor([1.0, 2.0, 3.0]))
                gradients.append(leaf.grad.tolist())
            else:
                gradients.append(y.tolist())
        assert gradients[0] == gradients[1]
    assert repr(nn.ELU(inplace=True)) == "ELU(alpha=1.0, inplace=True)"
    assert repr(nn.LeakyReLU(0.1, True)) == "LeakyReLU(negative_slope=0.1, inplace=True)"
    with pytest.raises(RuntimeError, match="leaf"):
        F.elu(libdl.ones(2, requires_grad=True), inplace=True)


def test_softmin_takes_what_softmax_takes() -> None:
    x = libdl.tensor([1.0, 2.0])
    assert F.softmin(x, -1, 3, libdl.float64).dtype is libdl.float64
    assert F.softmin(x, -1, libdl.float64).dtype is libdl.float32  # the third is a stack's level
