# SPDX-License-Identifier: Apache-2.0
"""Weights and the states of optimizers from libdl to PyTorch and back.

    python tests/oracle/exchange.py [--only NAME,...]

The six networks of bench/models train in one library for some steps. The other takes their weights,
in a safetensors file, in a checkpoint of PyTorch's format, as a state_dict through NumPy and through
DLPack, and computes the same outputs. It also takes the state of the optimizer: both then train on, with the same
losses. Then each optimizer by itself, in double precision. The run ends with errors planted in what
is handed over, which must be found."""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench/models"))

import libdl  # noqa: E402
import safetensors.torch  # noqa: E402
import torch  # noqa: E402
from networks import NETWORKS  # noqa: E402
from peers import DEFAULT, LIBDL  # noqa: E402
from training import Training  # noqa: E402

BATCH = {"ncf": 256}  # of the others: 2
SMALLER = {"gnmt": {"HIDDEN": 256, "VOCABULARY": 8000}}  # whole, it takes 14 GB in two libraries
STEPS = 2  # before weights are handed over, and afterwards
# Relative to the largest output, and to the loss. A step amplifies the roundings before it.
OUTPUTS, FIRST_LOSS, LATER_LOSSES = 1e-5, 1e-5, 1e-4
State = dict[str, Any]


class Difference(Exception):
    pass


def converted(value: Any, tensor: Callable[[Any], Any]) -> Any:
    """A state with its tensors converted."""
    if isinstance(value, (libdl.Tensor, torch.Tensor)):
        return tensor(value.detach())
    if isinstance(value, dict):
        return {key: converted(entry, tensor) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(converted(entry, tensor) for entry in value)
    return value


def by_file(state: State, to: Any) -> State:
    """Of a module. Parameters that are the same tensor are two in the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/weights.safetensors"
        if to is torch:
            libdl.save(state, path)
            return safetensors.torch.load_file(path)
        safetensors.torch.save_file({name: x.clone() for name, x in state.items()}, path)
        return dict(libdl.load(path))


def by_checkpoint(state: State, to: Any) -> State:
    """In PyTorch's format, as the other library writes it; of modules and optimizers."""
    file = io.BytesIO()
    if to is torch:
        libdl.save(state, file, format="torch")
    else:
        torch.save(state, file)
    file.seek(0)
    return dict((torch if to is torch else libdl).load(file, weights_only=True))


def by_numpy(state: State, to: Any) -> State:
    return dict(converted(state, lambda x: to.from_numpy(x.numpy()).clone()))


def by_dlpack(state: State, to: Any) -> State:
    """PyTorch's optimizers keep the tensors that they load, so these are copies."""
    return dict(converted(state, lambda x: to.from_dlpack(x).clone()))


Way = Callable[[State, Any], State]
WAYS_OF_STATES: tuple[Way, ...] = (by_dlpack, by_checkpoint)  # of optimizers
WAYS: dict[str, Way] = {
    "file": by_file,
    "checkpoint": by_checkpoint,
    "NumPy": by_numpy,
    "DLPack": by_dlpack,
}


# -- the networks ---------------------------------------------------------------------------------


def outputs(training: Training) -> torch.Tensor:
    """Of the first batch, without what only training does."""
    m, net = training.m, training.net
    *inputs, last = training.batches[0]
    if last.ndim > 1:  # GNMT's target, which its decoder reads
        inputs.append(last[:-1])
    net.eval()
    with m.no_grad():
        found = net(*inputs)
    net.train()
    return found if m is torch else torch.from_dlpack(found)


def apart(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found - wanted).abs().max() / wanted.abs().max())


def within(what: str, found: float, limit: float) -> float:
    if not found <= limit:
        raise Difference(f"{what}: {found:.1e} apart, wanted {limit:.0e}")
    return found


def same_state(mine: State, other: State) -> None:
    """Names in one order, shapes, dtypes and every bit."""
    if list(mine) != list(other):
        raise Difference(f"other names: {sorted(set(mine) ^ set(other))}")
    for name, x in by_dlpack(mine, torch).items():
        y = torch.from_dlpack(other[name])
        if x.shape != y.shape or x.dtype != y.dtype or not torch.equal(x, y):
            raise Difference(f"{name} has changed on its way")


def hand_over(source: Training, target: Training, spoil: Callable[[State], None]) -> list[float]:
    """How far the outputs are apart, for each way, and the losses of the steps that follow."""
    weights = source.net.state_dict()
    wanted, found = outputs(source), []
    for name, way in WAYS.items():
        given = way(weights, target.m)
        spoil(given)
        for x in target.net.parameters():  # what is left of it would be seen
            x.data.fill_(0.1)
        target.net.load_state_dict(given)
        found.append(within(f"outputs by {name}", apart(outputs(target), wanted), OUTPUTS))
        same_state(weights, target.net.state_dict())
    optimizer = by_dlpack(source.optimizer.state_dict(), target.m)
    spoil(optimizer)
    target.optimizer.load_state_dict(optimizer)
    target.steps = source.steps
    for n in range(STEPS):
        loss, other = source.step(), target.step()
        limit = LATER_LOSSES if n else FIRST_LOSS
        found.append(within(f"loss of step {n + 1}", abs(loss - other) / abs(loss), limit))
    return found


def nothing(state: State) -> None:
    pass


def network(name: str, spoil: Callable[[State], None] = nothing) -> str:
    threads = len(os.sched_getaffinity(0))
    size = BATCH.get(name, 2)
    for constant, value in SMALLER.get(name, {}).items():
        setattr(NETWORKS[name], constant, value)
    ours, theirs = (Training(peer, name, size, threads) for peer in (LIBDL, DEFAULT))
    figures = []
    for source, target in ((ours, theirs), (theirs, ours)):
        for _ in range(STEPS):
            source.step()
        figures += hand_over(source, target, spoil)
    half = len(figures) // 2
    return " -> PyTorch {}; <- PyTorch {}".format(
        *(" ".join(f"{x:.1e}" for x in part) for part in (figures[:half], figures[half:]))
    )


# -- optimizers -----------------------------------------------------------------------------------

OPTIMIZERS: dict[str, list[dict[str, Any]]] = {
    "SGD": [{}, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}],
    "Adam": [{"amsgrad": True}, {"betas": (0.8, 0.99), "weight_decay": 0.1}],
    "AdamW": [{}, {"maximize": True}],
    "Adamax": [{}],
    "NAdam": [{}, {"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "RAdam": [{}],
    "RMSprop": [{"momentum": 0.5, "centered": True}],
    "Adagrad": [{"lr_decay": 0.1}],
    "Adadelta": [{}],
    "ASGD": [{"t0": 2}],
    "Rprop": [{}],
    "Adafactor": [{}],
    "LBFGS": [{"line_search_fn": "strong_wolfe"}],
    "Muon": [{}],
}
ROUNDING = 1e-12
LOOSE = {"Muon": 1e-2, "LBFGS": 1e-8}  # bfloat16 inside; stops where the loss no longer changes


class Run:
    """Two matrices on the way to a minimum, which is the same in both libraries."""

    def __init__(self, m: Any, name: str, options: dict[str, Any]) -> None:
        start = [[[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5]], [[1.0, -2.0, 0.5]]]
        self.params = [m.tensor(x, dtype=m.float64, requires_grad=True) for x in start]
        self.m, self.optimizer = m, getattr(m.optim, name)(self.params, **options)

    def closure(self) -> Any:
        self.optimizer.zero_grad()
        a, b = self.params
        loss = ((b @ a) ** 2).sum() + (a * a).sum() / 2 + ((b - 0.3) ** 2).sum() + b.sum().sin()
        loss.backward()
        return loss

    def step(self, count: int) -> None:
        for _ in range(count):
            if "LBFGS" in type(self.optimizer).__name__:
                self.optimizer.step(self.closure)
            else:
                self.closure()
                self.optimizer.step()

    def values(self) -> torch.Tensor:
        return torch.cat([torch.from_dlpack(p.detach()).flatten() for p in self.params])

    def take(self, source: Run, way: Way, spoil: Callable[[State], None]) -> None:
        with self.m.no_grad():
            for mine, other in zip(self.params, source.params, strict=True):
                mine.copy_(self.m.from_dlpack(other.detach()))
        state = way(source.optimizer.state_dict(), self.m)
        spoil(state)
        self.optimizer.load_state_dict(state)


def optimizer(name: str, options: dict[str, Any], spoil: Callable[[State], None] = nothing) -> str:
    found = []
    for first, second, way in (
        (m, other, way) for m, other in ((libdl, torch), (torch, libdl)) for way in WAYS_OF_STATES
    ):
        source, target = Run(first, name, options), Run(second, name, options)
        source.step(5)
        target.take(source, way, spoil)
        groups = [set(run.optimizer.state_dict()["param_groups"][0]) for run in (source, target)]
        if groups[0] != groups[1]:
            raise Difference(f"options: {sorted(groups[0] ^ groups[1])}")
        for run in (source, target):
            run.step(5)
        found.append(
            within("parameters", apart(target.values(), source.values()), LOOSE.get(name, ROUNDING))
        )
    return " -> PyTorch {:.1e} {:.1e}; <- PyTorch {:.1e} {:.1e}".format(*found)


# -- errors that must be found --------------------------------------------------------------------


def one_weight_moved(state: State) -> None:
    if "param_groups" not in state:
        name = next(name for name in state if name.endswith("weight"))
        state[name].view(-1)[0] += 1e-3


def no_momentum(state: State) -> None:
    for own in state.get("state", {}).values():
        for key, x in own.items():
            if key in ("momentum_buffer", "exp_avg"):
                x.zero_()


def another_rate(state: State) -> None:
    for group in state.get("param_groups", []):
        group["lr"] *= 1.01


def planted(report: Callable[[str, Callable[[], str], bool], None]) -> None:
    for spoil in (one_weight_moved, no_momentum):
        report(f"mobilenet, {spoil.__name__}", lambda: network("mobilenet", spoil), False)
    for spoil in (no_momentum, another_rate):
        report(f"Adam, {spoil.__name__}", lambda: optimizer("Adam", {}, spoil), False)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    only = parser.parse_args().only
    failed = []

    def report(title: str, call: Callable[[], str], passes: bool) -> None:
        try:
            found, passed = call(), True
        except Difference as difference:
            found, passed = f" {difference}", False
        print(f"{title}:{found}", flush=True)
        if passed != passes:
            failed.append(title)

    for name in NETWORKS:
        if not only or name in only:
            report(name, lambda: network(name), True)
    for name, some in OPTIMIZERS.items():
        for options in some if not only or name in only else []:
            title = ", ".join([name, *(f"{k}={v}" for k, v in options.items())])
            report(title, lambda: optimizer(name, options), True)
    if not only:
        print("planted errors, each of which must be found:")
        planted(report)
    if failed:
        print("exchange: these did not hold: " + "; ".join(failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
