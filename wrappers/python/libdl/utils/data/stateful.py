# SPDX-License-Identifier: Apache-2.0
"""Datasets and their iterators that have state_dict and load_state_dict: they tell where they are,
and are resumed there, instead of loading again what came before."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from .draws import written

_State = dict[str, Any]


def _is_stateful(x: Any) -> bool:
    return callable(getattr(x, "state_dict", None)) and callable(
        getattr(x, "load_state_dict", None)
    )


def _holders(batches: Any) -> dict[str, Any]:
    """What of this way of loading batches has a state."""
    iterator = getattr(batches, "dataset_iter", None)
    found = {"dataset": batches.dataset}
    if iterator is not batches.dataset:
        found["iterator"] = iterator
    return {name: x for name, x in found.items() if _is_stateful(x)}


def state_before(dataset: Any) -> _State:
    """Where a dataset is before an iteration over it begins."""
    return {"dataset": copy.deepcopy(dataset.state_dict())} if _is_stateful(dataset) else {}


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
        batches.ended = state.get("ended", False)


class Datasets:
    """The states of the workers' datasets, and of the generators that workers which are processes
    draw from, behind the batches that were handed out; and whose batch comes next. Loading without
    workers counts as one."""

    def __init__(self, workers: int) -> None:
        self.workers = max(workers, 1)
        self.began: dict[int, _State] = {}  # before the epoch, where this is not as they started
        self.states: dict[int, _State] = {}
        self.ends: dict[int, _State] = {}  # where workers were that have no more
        self.turns: list[int] = []

    def note(self, worker: int, state: _State | None, turns: Iterable[int]) -> None:
        """A batch of this worker was handed out."""
        if state is not None:
            self.states[worker] = {**self.states.get(worker, {}), **state}
        self.turns = list(turns)

    def ended(self, worker: int, state: _State | None) -> None:
        """The worker has no more batches."""
        if state is not None:
            self.ends[worker] = state

    @property
    def tell(self) -> bool:
        """Whether datasets themselves say where they are."""
        return any(x.keys() & {"dataset", "iterator"} for x in self.states.values())

    def standing(self) -> dict[int, _State]:
        """Where each worker is from which another begins."""
        workers = dict.fromkeys([*self.began, *self.states])
        return {w: {**self.began.get(w, {}), **self.states.get(w, {})} for w in workers}

    def numbers(self) -> dict[int, _State]:
        """The same of the generators alone: what a further epoch of the same workers begins
        with."""
        known = [*self.standing().items(), *self.ends.items()]
        return {worker: {"numbers": x["numbers"]} for worker, x in known if "numbers" in x}

    def state_dict(self) -> _State:
        state = {"turns": list(self.turns), "workers": self.workers}
        return {**state, "began": saved(self.began), "datasets": saved(self.states)}

    def load_state_dict(self, state: _State) -> None:
        if "datasets" not in state:
            return
        if state["workers"] == self.workers:
            self.began, self.states = dict(state.get("began", {})), dict(state["datasets"])
            self.turns = list(state["turns"])
        elif any(x.keys() & {"dataset", "iterator"} for x in state["datasets"].values()):
            raise ValueError(
                f"DataLoader.load_state_dict: the state is that of {state['workers']} workers' "
                f"datasets, wanted {self.workers}"
            )


def saved(states: dict[int, _State]) -> dict[int, _State]:
    return {
        worker: {**state, "numbers": written(state["numbers"])} if "numbers" in state else state
        for worker, state in states.items()
    }
