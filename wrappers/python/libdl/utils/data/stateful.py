# SPDX-License-Identifier: Apache-2.0
"""Datasets and their iterators that have state_dict and load_state_dict: they tell where they are,
and are resumed there, instead of loading again what came before."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

_State = dict[str, Any]


def _is_stateful(x: Any) -> bool:
    return callable(getattr(x, "state_dict", None)) and callable(getattr(x, "load_state_dict", None))


def _holders(batches: Any) -> dict[str, Any]:
    """What of this way of loading batches has a state."""
    iterator = getattr(batches, "dataset_iter", None)
    found = {"dataset": batches.dataset}
    if iterator is not batches.dataset:
        found["iterator"] = iterator
    return {name: x for name, x in found.items() if _is_stateful(x)}


def state_of(batches: Any) -> _State | None:
    """Where the dataset is; None if it does not tell."""
    holders = _holders(batches)
    if not holders:
        return None
    state = {name: copy.deepcopy(x.state_dict()) for name, x in holders.items()}
    return {**state, "ended": getattr(batches, "ended", False)}


def resume_dataset(dataset: Any, state: _State | None) -> None:
    """Before an iteration over it begins."""
    if state is not None and "dataset" in state:
        dataset.load_state_dict(copy.deepcopy(state["dataset"]))


def resume_iterator(batches: Any, state: _State | None) -> None:
    """When it has begun."""
    if state is None:
        return
    if "iterator" in state:
        batches.dataset_iter.load_state_dict(copy.deepcopy(state["iterator"]))
    if hasattr(batches, "ended"):
        batches.ended = state["ended"]


class Datasets:
    """The states of the workers' datasets behind the batches that were handed out, and whose batch
    comes next. Loading without workers counts as one."""

    def __init__(self, workers: int) -> None:
        self.workers = max(workers, 1)
        self.states: dict[int, _State] = {}
        self.turns: list[int] = []

    def note(self, worker: int, state: _State | None, turns: Iterable[int]) -> None:
        """A batch of this worker was handed out."""
        if state is not None:
            self.states[worker], self.turns = state, list(turns)

    def state_dict(self) -> _State:
        if not self.states:
            return {}
        return {"datasets": dict(self.states), "turns": list(self.turns), "workers": self.workers}

    def load_state_dict(self, state: _State) -> None:
        if "datasets" not in state:
            return
        if state["workers"] != self.workers:
            raise ValueError(
                f"DataLoader.load_state_dict: the state is that of {state['workers']} workers' "
                f"datasets, wanted {self.workers}"
            )
        self.states, self.turns = dict(state["datasets"]), list(state["turns"])
