# SPDX-License-Identifier: Apache-2.0
"""The driver that trains six networks beside PyTorch: what it computes is right, and the networks
are the published ones. PyTorch is not needed."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest

import libdl

FOLDER = Path(__file__).resolve().parents[2] / "bench/models"


@pytest.fixture(scope="module")
def bench():
    """Its modules by name. Other folders of scripts have modules of the same names."""
    names = {path.stem for path in FOLDER.glob("*.py")}
    outer = {name: sys.modules.pop(name) for name in names & set(sys.modules)}
    sys.path.insert(0, str(FOLDER))
    try:
        wanted = tuple(
            """
            by_operator equality intervals networks peers planted training
        """.split()
        )
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in wanted})
    finally:
        sys.path.remove(str(FOLDER))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(outer)


# AlexNet to ResNet-50: torchvision's documentation; MobileNet: Howard et al., table 8 (4.2
# million); NCF: four tables, three layers and the last. GNMT: this test's own sum, in which each
# LSTM has two biases.
LSTM = 4 * 1024 * 2048 + 8192  # of 1,024 inputs; 4 * 1024**2 more for 2,048
COUNTS = {
    "alexnet": 61_100_840,
    "vgg19": 143_667_240,
    "resnet50": 25_557_032,
    "mobilenet": 4_231_976,
    "gnmt": 32_000 * 1024
    + 16 * LSTM
    + LSTM
    + 8 * 4 * 1024**2  # 17 cells, 8 with wide inputs
    + 2 * 1024**2
    + 2 * 1024
    + 1
    + 32_000 * 1025,
    "ncf": (138_493 + 26_744) * 192 + 65_792 + 32_896 + 8_256 + 129,
}
NEEDS = {"gnmt": "LSTM", "ncf": "Embedding"}


@pytest.mark.parametrize("name", COUNTS)
def test_networks_have_the_published_number_of_parameters(bench, name):
    layer = NEEDS.get(name, "AdaptiveAvgPool2d")
    if not hasattr(libdl.nn, layer):
        pytest.skip(f"there is no nn.{layer} yet")
    assert set(COUNTS) == set(bench.networks.NETWORKS)
    with libdl.device("meta"):  # no numbers are drawn
        net = bench.networks.NETWORKS[name].network(libdl)
    assert sum(p.numel() for p in net.parameters()) == COUNTS[name]


def saved(folder, **steps):
    for step, arrays in steps.items():
        numpy.savez(folder / f"{step[1:]}.npz", **arrays)


def test_distances_are_relative_to_size_and_to_movement(bench, tmp_path):
    a, zero = numpy.full(100, 2.0, "float32"), numpy.zeros(100, "float32")
    saved(tmp_path, _0={"a": a, "z": zero}, _3={"a": a + 0.5, "z": zero + 1})
    mine = {"a": a + 0.25, "z": zero + 1}
    found = bench.equality.distance(mine, str(tmp_path), 3)
    assert found["weights"] == (pytest.approx(0.125), "a")
    assert found["movement"] == (pytest.approx(0.5), "a")
    mine = {"a": a + 0.5, "z": zero + 1.5}
    assert bench.equality.distance(mine, str(tmp_path), 3)["movement"] == (pytest.approx(0.5), "z")
    mine = {"a": a + 0.5, "z": zero + float("nan")}
    assert bench.equality.distance(mine, str(tmp_path), 3)["movement"] == (float("inf"), "z")


def test_a_training_that_moves_nothing_is_no_proof(bench, tmp_path):
    a = numpy.ones(5, "float32")
    saved(tmp_path, _0={"a": a}, _3={"a": a})
    found = bench.equality.distance({"a": a}, str(tmp_path), 3)
    assert found["movement"] == (float("inf"), "nothing moved")


def verdict(bench, losses, weights=0.0, movement=0.0):
    theirs = [1.0 - i / 100 for i in range(10)]
    distances = {"weights": (weights, "w"), "movement": (movement, "w")}
    answer = {"losses": losses or theirs, "distances": {"3": distances, "10": distances}}
    return bench.equality.judge(theirs, answer)


def test_what_exceeds_a_limit_is_told(bench):
    assert verdict(bench, None).faults == []
    assert verdict(bench, None, weights=9e-5, movement=4e-2).faults == []
    assert "weights: 2.0e-04 apart (w)" in verdict(bench, None, weights=2e-4).faults[0]
    assert len(verdict(bench, None, movement=6e-2).faults) == 2
    assert (
        "losses: inf apart (9)"
        in verdict(bench, [1 - i / 100 for i in range(9)] + [float("nan")]).faults[0]
    )
    still = {
        "losses": [1.0] * 10,
        "distances": {n: {"weights": (0, ""), "movement": (0, "")} for n in ("3", "10")},
    }
    assert "hardly change" in bench.equality.judge([1.0] * 10, still).faults[0]


def test_intervals_and_means(bench):
    intervals = bench.intervals
    assert intervals.geometric_mean([1, 4, 2]) == pytest.approx(2)
    assert intervals.interval([3.0] * 7) == (3.0, 3.0)
    low, high = intervals.interval([1, 2, 3, 4, 5, 6, 7])
    assert 1 <= low < 4 < high <= 7
    assert intervals.deviation([1.0, 3.0]) == pytest.approx(2**0.5 / 2)


def test_a_network_trains_under_autocast_as_without(bench):
    """The smallest of the six; `bench/models/run.py --autocast --check` compares them all."""
    losses = []
    before = libdl.get_num_threads()
    for autocast in (False, True):
        peer = bench.peers.Peer("libdl", "libdl", autocast=autocast)
        training = bench.training.Training(peer, "mobilenet", 1, 2)
        losses.append([training.step() for _ in range(3)])
    libdl.set_num_threads(before)
    # Operands are rounded to 8 bits, each by less than 2^-8 of itself, and not all in one
    # direction.
    assert losses[0] != losses[1] and losses[1] == pytest.approx(losses[0], rel=2e-2)


def test_under_autocast_pytorchs_own_distance_is_the_measure(bench):
    own = verdict(bench, [1.01 - i / 100 for i in range(10)], weights=3e-4, movement=2e-2)
    limits = bench.equality.autocast_limits(own)
    assert limits["losses"] == pytest.approx(2 * 0.01 / 0.91)
    assert limits["weights"] == 2 * 3e-4
    assert limits["movement"] == bench.equality.LIMITS["movement"]  # 4e-2 would be less


def tiny(bench):
    """A training of a small network, as training.Training would be."""
    net = libdl.nn.Sequential(libdl.nn.Linear(4, 4), libdl.nn.BatchNorm2d(4))
    optimizer = libdl.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step():
        loss = (net(libdl.ones(2, 4, 3, 4)) + 1).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return SimpleNamespace(m=libdl, net=net, optimizer=optimizer, step=step)


def test_a_profile_counts_each_moment_once(bench):
    measured = bench.by_operator.profile(tiny(bench))
    names = {name for _, name, *_ in measured["rows"]}
    assert {"linear", "square", "sum"} <= names
    assert {phase for phase, *_ in measured["rows"]} == {"forward", "backward", "optimizer"}
    assert 0 < sum(row[-1] for row in measured["rows"]) <= measured["seconds"]
    assert "outside of operators" in bench.by_operator.table(measured)


def test_planted_errors_change_what_they_say(bench):
    plant = bench.planted.plant
    training = tiny(bench)
    assert plant(training, "momentum is 0.85")
    assert training.optimizer.param_groups[0]["momentum"] == 0.85
    assert not plant(training, "Adam's eps is 1e-4")
    assert plant(training, "BatchNorm's eps is 1e-2") and training.net[1].eps == 1e-2
    assert plant(training, "a bias has no gradient")
    training.step()
    assert not training.net[0].bias.grad.any() and training.net[1].bias.grad.any()
    before = training.net[0].weight.detach().clone()
    assert plant(training, "no update")
    training.step()
    assert (training.net[0].weight == before).all()
