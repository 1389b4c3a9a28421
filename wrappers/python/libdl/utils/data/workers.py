# SPDX-License-Identifier: Apache-2.0
"""Workers of a DataLoader: what threads and processes share."""

from __future__ import annotations

import copy
import importlib.abc
import importlib.util
import random
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any, Protocol

from ... import _random
from .datapipes.datapipe import IterDataPipe
from .draws import Generators, from_written
from .graph_settings import shard_pipes
from .samples import DatasetKind, WorkerInfo, batches_of, set_worker
from .stateful import state_before, state_of

if TYPE_CHECKING:
    from .dataloader import DataLoader


class RemoteTraceback(Exception):  # noqa: N818
    """The cause of an exception that a worker raised: the worker's traceback, as text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n{self.text}"


@dataclass
class Answer:
    """What a worker made of a request: a batch, an error, or neither at its dataset's end. state:
    of its dataset and its generators, behind the batch. began: before the epoch, told once, unless
    it is as every worker is that has just been started."""

    content: Any = None
    error: BaseException | None = None
    ended: bool = False
    state: dict[str, Any] | None = None
    began: dict[str, Any] | None = None

    def batch(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.content


class Step:
    """What is to be done whole. Left by an error, such as that of Ctrl-C, it remains broken."""

    broken = False

    def __enter__(self) -> None:
        self.broken = True

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self.broken = False


class Workers(Protocol):
    """Workers, by number. Answers to requests of an epoch before the last are dropped.

    Messages and what is noted of them belong together: begin(), ask() and take() are called as one
    step. Workers of a broken step are of no use any more."""

    step: Step

    def usable(self) -> bool:
        """Whether a new epoch can begin."""

    def begin(self, seed: int, started: int, states: Mapping[int, Any]) -> None:
        """A new epoch. started: the seed of the workers' first one. states: of the workers that are
        resumed."""

    def ask(self, worker: int, number: int, indices: Any) -> None:
        """Requests a batch."""

    def wait(self, timeout: float) -> None:
        """Until there is an answer; at most so many seconds unless 0. This is no part of a step."""

    def take(self, answers: dict[int, Answer]) -> None:
        """Puts the answers that there are among these, by their requests' numbers."""

    def running(self) -> list[Any]:
        """The processes or threads."""

    def close(self) -> None:
        """Ends the workers. A second time does nothing."""


@dataclass
class Job:
    """What a worker is given once."""

    _dataset: Any
    _collate_fn: Callable[[Any], Any]
    _auto_collation: bool
    _dataset_kind: int
    _drop_last: bool
    init: Callable[[int], None] | None
    id: int
    num_workers: int
    shared: bool  # whether other workers share this process

    @classmethod
    def of(cls, loader: DataLoader[Any], number: int, shared: bool) -> Job:
        dataset: Any = loader.dataset
        if shared and isinstance(dataset, IterDataPipe):
            dataset = copy.deepcopy(dataset)  # each worker is told its own part of the samples
        return cls(
            dataset,
            loader.collate_fn,
            loader._auto_collation,
            loader._dataset_kind,
            loader.drop_last,
            loader.worker_init_fn,
            number,
            loader.num_workers,
            shared,
        )


def traceback_of(error: BaseException, where: str) -> str:
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return f"In {where}:\n{text}"


class _SeedAtImport(importlib.abc.MetaPathFinder):
    """Seeds numpy.random when a sample imports it."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != "numpy.random":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                module.seed(self.seed)

            loader.exec_module = exec_module
        return spec


def _seed_numpy(seed: int) -> None:
    """Now, or when it is imported: NumPy need not be installed, and its import takes time."""
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(seed)
    else:
        sys.meta_path.insert(0, _SeedAtImport(seed))


class Work:
    """A worker's side: loads the batches that it is asked for."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.batches: Any = None
        self.failed: BaseException | None = None
        self.started = self.tells = False
        # A process has generators of its own; what was told of them last.
        self.generators = None if job.shared else Generators((), users=True)
        self.numbers: dict[str, Any] | None = None
        self.began: dict[str, Any] | None = None
        # Whether samples draw from the default generator as it stands: other threads do, or the
        # user's function has seeded it.
        self.left_alone = job.shared
        # In a thread, whoever waits for the answer learns of sys.exit(), too; a process ends.
        self.caught: type[BaseException] = BaseException if job.shared else Exception

    def _start(self, seed: int) -> None:
        """Once: the worker's seeds, and the user's function."""
        job = self.job
        own = seed + job.id
        method = "thread" if job.shared else "multiprocessing"
        set_worker(WorkerInfo(job.id, job.num_workers, own, job._dataset, worker_method=method))
        if not job.shared:
            random.seed(own)
            _random.manual_seed(own)
            _seed_numpy(own % 2**32)
        shard_pipes(job._dataset, job.num_workers, job.id)
        if job.init is not None:
            before = _random.initial_seed()
            job.init(job.id)
            self.left_alone |= _random.initial_seed() != before

    def begin(self, seed: int, started: int, state: Any = None) -> None:
        """A new epoch. Errors are raised by the next batch()."""
        self.failed = self.began = None
        try:
            fresh = not self.started and self.job.init is None
            if not self.started:
                self._start(started)
                self.started = True
            if self.generators is not None:
                if state is not None and "numbers" in state:
                    self.generators.write(from_written(state["numbers"]))
                self.numbers = self.generators.tell()
                if state is None and not fresh:
                    before = state_before(self.job._dataset)
                    self.began = {**before, "numbers": self.numbers}
            self.batches = batches_of(self.job, seed, self.left_alone, state)
            self.tells = state_of(self.batches) is not None
        except self.caught as error:
            self.failed = error

    def _state(self, ended: bool) -> dict[str, Any] | None:
        """What has changed behind the batch. An iteration without a state is repeated as a whole:
        only its end counts."""
        state = state_of(self.batches) if self.tells and not ended else None
        if self.generators is None or self.batches.draws_nothing:
            return state
        if not self.tells and not ended and self.job._dataset_kind == DatasetKind.Iterable:
            return None
        numbers = self.generators.tell()
        if numbers == self.numbers:
            return state
        self.numbers = numbers
        return {**(state or {}), "numbers": numbers}

    def batch(self, indices: Any) -> Answer:
        """The batch, or what went wrong."""
        answer = self._answer(indices)
        answer.began, self.began = self.began, None
        return answer

    def _answer(self, indices: Any) -> Answer:
        try:
            if self.failed is not None:
                raise self.failed
            content = self.batches.fetch(indices)
            return Answer(content, state=self._state(False))
        except StopIteration:
            return Answer(ended=True, state=self._state(True))
        except self.caught as error:
            return Answer(error=error)

    @property
    def name(self) -> str:
        kind = "thread" if self.job.shared else "process"
        return f"DataLoader worker {kind} {self.job.id}"
