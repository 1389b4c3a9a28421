# SPDX-License-Identifier: Apache-2.0
"""How far an iteration over a DataLoader is, so that it can go on elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .draws import Draws
from .stateful import Datasets, saved


class Progress:
    """Of one iteration. The loader keeps it when the iteration itself is gone."""

    def __init__(self, draws: Draws, workers: int) -> None:
        self.seed = 0
        self.started: int | None = None  # the seed with which the workers were started
        self.persistent = False  # whether the next epoch's workers are the same
        # Asks the workers what is not known of them yet.
        self.settle: Callable[[], None] = lambda: None
        self.handed, self.ended = 0, False
        self.overtaken = False  # whether a batch was handed out before an earlier one
        self.draws = draws  # of indices; the first step begins the sampler's iteration
        self.loads: Draws | None = None  # of batches, if that draws from the program's generators
        self.datasets = Datasets(workers)

    def state_dict(self) -> dict[str, Any]:
        """After StopIteration, of the next epoch."""
        if not self.ended:
            self.settle()
            if self.overtaken and not self.datasets.tell:
                raise RuntimeError(
                    f"DataLoader.state_dict: {self.handed} batches were handed out, but not the "
                    f"first {self.handed}: with in_order=False the rest cannot be resumed here"
                )
        state: dict[str, Any] = {"batches": self.handed, "seed": self.seed, "ended": self.ended}
        for name, draws in (("indices", self.draws), ("loads", self.loads)):
            if draws is not None:
                none = {"noted": {}, "last": -1, "now": draws.now()}
                state[name] = none if self.ended else draws.state_dict()
        if self.started is not None and (self.persistent or not self.ended):
            state["started"] = self.started
        if self.ended:
            state = {**state, "batches": 0, "seed": None}
            return {**state, "began": saved(self.datasets.numbers())} if self.persistent else state
        return {**state, **self.datasets.state_dict()}
