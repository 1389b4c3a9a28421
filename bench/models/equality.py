# SPDX-License-Identifier: Apache-2.0
"""Whether two libraries train a network alike: they begin with the same weights and see the same
batches. Ten steps' losses, the weights after three of them, and how far the weights moved are
compared; the movement alone shows small errors of an optimizer."""

import dataclasses
from typing import Any

import numpy
from training import BATCHES, Training

STEPS = 10
EARLY = 3
# Losses relative to their value, weights to where they began, movement to how far it went.
LIMITS = {"losses": 1e-3, "weights": 1e-4, "movement": 5e-2}
# What training in bfloat16 may be apart from PyTorch's in float32: so many times what PyTorch's own
# in bfloat16 is. Both round at every step, and not alike.
AUTOCAST_FACTOR = 2
# A tensor that moved so much less than the one that moved most is moved by rounding.
NOISE = 1e-6
# A loss that has moved less since the same batch was last seen shows nothing.
LEAST_CHANGE = 1e-5


def lead(training: Training, folder: str) -> list[float]:
    """Saves what the others begin with and where this training arrives; returns the losses."""
    save(training, folder, 0)
    losses = []
    for n in range(1, STEPS + 1):
        losses.append(training.step())
        if n in (EARLY, STEPS):
            save(training, folder, n)
    return losses


def save(training: Training, folder: str, step: int) -> None:
    arrays: dict[str, Any] = training.arrays()
    numpy.savez(f"{folder}/{step}.npz", **arrays)


def follow(training: Training, folder: str) -> dict[str, Any]:
    """Trains from the saved beginning; returns the losses and the distances from the leader."""
    training.load(f"{folder}/0.npz")
    losses, distances = [], {}
    for n in range(1, STEPS + 1):
        losses.append(training.step())
        if n in (EARLY, STEPS):
            distances[str(n)] = distance(training.arrays(), folder, n)
    return {"losses": losses, "distances": distances}


def distance(arrays: dict[str, Any], folder: str, step: int) -> dict[str, tuple[float, str]]:
    """The largest relative distances from the leader, with the tensors' names."""
    apart, began, moved = {}, {}, {}
    with numpy.load(f"{folder}/0.npz") as first, numpy.load(f"{folder}/{step}.npz") as last:
        for name, mine in arrays.items():
            start, theirs = first[name], last[name]
            apart[name] = spread(mine - theirs)
            began[name] = spread(start)
            moved[name] = spread(theirs - start)
    least = NOISE * max(moved.values())
    return {
        # A tensor that began at 0 is judged by its movement only.
        "weights": worst({name: apart[name] / b for name, b in began.items() if b > 0}),
        "movement": worst({name: apart[name] / max(m, least) for name, m in moved.items()})
        if least > 0
        else (float("inf"), "nothing moved"),
    }


def spread(x: Any) -> float:
    """The root of the mean square."""
    size: int = x.size
    return float(numpy.linalg.norm(x.ravel())) / max(1, size) ** 0.5


def worst(distances: dict[str, float]) -> tuple[float, str]:
    # NaN compares as neither larger nor smaller, and is worst.
    return max(((d if d == d else float("inf")), name) for name, d in distances.items())


@dataclasses.dataclass
class Verdict:
    """The largest distances by kind, and what is wrong."""

    found: dict[str, float]
    faults: list[str]

    def __str__(self) -> str:
        return ", ".join(f"{kind} {value:.1e}" for kind, value in self.found.items())


def autocast_limits(theirs: Verdict) -> dict[str, float]:
    """Limits for a training in bfloat16, from how far PyTorch's own went."""
    found = theirs.found
    movement = max(found[kind] for kind in found if kind not in ("losses", "weights"))
    own = {"losses": found["losses"], "weights": found["weights"], "movement": movement}
    return {kind: max(limit, AUTOCAST_FACTOR * own[kind]) for kind, limit in LIMITS.items()}


def judge(
    theirs: list[float], answer: dict[str, Any], limits: dict[str, float] = LIMITS
) -> Verdict:
    mine, distances = answer["losses"], answer["distances"]
    apart = worst({str(i): abs(a - b) / abs(b) for i, (a, b) in enumerate(zip(mine, theirs))})
    early, late = distances[str(EARLY)], distances[str(STEPS)]
    measured = {
        "losses": (*apart, "losses"),
        "weights": (*early["weights"], "weights"),
        f"movement in {EARLY} steps": (*early["movement"], "movement"),
        f"in {STEPS}": (*late["movement"], "movement"),
    }
    faults = [
        f"{kind}: {value:.1e} apart ({name}), wanted {limits[limit]:.0e}"
        for kind, (value, name, limit) in measured.items()
        if not value <= limits[limit]
    ]
    changes = [abs(a - b) / abs(b) for a, b in zip(theirs[BATCHES:], theirs)]
    if not min(changes) > LEAST_CHANGE:
        faults.append(f"the losses hardly change: {theirs}")
    return Verdict({kind: value for kind, (value, *_) in measured.items()}, faults)
