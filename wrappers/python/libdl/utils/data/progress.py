# SPDX-License-Identifier: Apache-2.0
"""How far an iteration over a DataLoader is, so that it can go on elsewhere."""

from __future__ import annotations

from typing import Any

from .draws import Draws
from .stateful import Datasets


class Progress:
    """Of one iteration. The loader keeps it when the iteration itself is gone."""

    def __init__(self, draws: Draws, workers: int) -> None:
        self.seed = 0
        self.handed, self.ended = 0, False
        self.draws = draws  # of indices; the first step begins the sampler's iteration
        self.loads: Draws | None = None  # of batches, if that draws from the program's generators
        self.datasets = Datasets(workers)

    def state_dict(self) -> dict[str, Any]:
        """After StopIteration, of the next epoch."""
        state: dict[str, Any] = {"batches": self.handed, "seed": self.seed, "ended": self.ended}
        for name, draws in (("indices", self.draws), ("loads", self.loads)):
            if draws is not None:
                none = {"noted": {}, "last": -1, "now": draws.now()}
                state[name] = none if self.ended else draws.state_dict()
        if self.ended:
            return {**state, "batches": 0, "seed": None}
        return {**state, **self.datasets.state_dict()}
