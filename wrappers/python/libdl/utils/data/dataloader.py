# SPDX-License-Identifier: Apache-2.0
"""DataLoader: batches of a dataset, loaded here or by workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from ... import cuda
from ..._types import Generator
from .collate import default_collate, default_convert
from .datapipes.datapipe import IterDataPipe
from .dataset import Dataset, IterableDataset
from .epoch import Epoch, LocalEpoch
from .graph_settings import apply_sharding, apply_shuffle_settings
from .progress import Progress
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, drawn_seed
from .samples import DatasetKind, get_worker_info as get_worker_info
from .worker_epoch import WorkerEpoch

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_Sample = TypeVar("_Sample", covariant=True)


_T = TypeVar("_T")
_collate_fn_t = Callable[[list[_T]], Any]
_worker_init_fn_t = Callable[[int], None]


class _InfiniteConstantSampler(Sampler[None]):
    """In place of indices, for datasets that have none."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


# What an iteration relies on.
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader(Generic[_Sample]):
    """Iterates over the batches of a dataset. Arguments are those of PyTorch.

    num_workers: how many workers load batches ahead, 0: this thread loads each when it is wanted.
    worker_method: "process", each with a copy of the dataset, or "thread", which share it.
    Batches and their order do not depend on the number or kind of workers: what samples of a
    dataset with indices draw from libdl's default generator follows from the epoch's seed and the
    index (thread workers: what they draw from sample_generator()), unless worker_init_fn seeds it.
    state_dict() in the middle of an epoch, given to load_state_dict() of a loader that was made
    alike, makes the next iteration begin with the batch that would have come.

    With persistent_workers there is one iterator, which iter() begins anew.

    Example:
        >>> data = torch.utils.data.TensorDataset(torch.arange(5), torch.arange(5) * 10)
        >>> for x, y in torch.utils.data.DataLoader(data, batch_size=2):
        ...     print(x, y)
        tensor([0, 1]) tensor([ 0, 10])
        tensor([2, 3]) tensor([20, 30])
        tensor([4]) tensor([40])
    """

    # Here, because there are classes that have an __init__ of their own in place of this one.
    __initialized = False
    _IterableDataset_len_called: int | None = None  # what the dataset told when it was asked
    _iterator: Epoch | None = None  # that of persistent workers
    _progress: Progress | None = None
    _resumed: dict[str, Any] | None = None

    def __init__(
        self,
        dataset: Dataset[_Sample],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        worker_method: str = "process",
    ) -> None:
        self._check_workers(
            num_workers, timeout, prefetch_factor, persistent_workers, worker_method
        )
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self.worker_method = worker_method
        iterates = isinstance(dataset, IterableDataset)
        self._dataset_kind = DatasetKind.Iterable if iterates else DatasetKind.Map
        self._choose_batches(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        if pin_memory and not cuda.is_available():
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
                stacklevel=2,
            )
        self._iterator = None
        self.__initialized = True

    @property
    def multiprocessing_context(self) -> Any:
        """That by which processes are started; None: by the start method in use."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None and self.num_workers == 0:
            raise ValueError(
                "DataLoader: multiprocessing_context is for workers, but num_workers is 0"
            )
        if isinstance(context, str):
            from ...multiprocessing import get_all_start_methods, get_context

            if context not in get_all_start_methods():
                raise ValueError(
                    f"DataLoader: multiprocessing_context is {context!r}, wanted one of "
                    f"{get_all_start_methods()}"
                )
            context = get_context(context)
        elif context is not None and not hasattr(context, "Process"):
            raise TypeError(
                f"DataLoader: multiprocessing_context is a {type(context).__name__}, wanted a "
                "context of multiprocessing or the name of a start method"
            )
        self.__multiprocessing_context = context

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in _FIXED:
            raise ValueError(
                f"DataLoader: {name} cannot be set after {type(self).__name__} was initialized"
            )
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        """An iteration, and its workers, belong to one loader: a copy begins with its first."""
        return {
            **self.__dict__,
            "_iterator": None,
            "_progress": None,
            "_IterableDataset_len_called": None,
        }

    @staticmethod
    def _check_workers(
        num_workers: int,
        timeout: float,
        prefetch_factor: int | None,
        persistent: bool,
        method: str,
    ) -> None:
        def bad(text: str) -> ValueError:
            return ValueError(f"DataLoader: {text}")

        if num_workers < 0:
            raise bad(f"num_workers is {num_workers}, wanted at least 0")
        if timeout < 0:
            raise bad(f"timeout is {timeout}, wanted at least 0 seconds")
        if num_workers == 0:
            for name, given in (
                ("prefetch_factor", prefetch_factor is not None),
                ("persistent_workers", persistent),
            ):
                if given:
                    raise bad(f"{name} is for workers, but num_workers is 0")
        if prefetch_factor is not None and prefetch_factor < 1:
            raise bad(f"prefetch_factor is {prefetch_factor}, wanted at least 1")
        if method not in ("process", "thread"):
            raise bad(f"worker_method is {method!r}, wanted 'process' or 'thread'")

    def _choose_batches(
        self,
        batch_size: int | None,
        shuffle: bool | None,
        sampler: Any,
        batch_sampler: Any,
        drop_last: bool,
    ) -> None:
        if self._dataset_kind == DatasetKind.Iterable:
            if isinstance(self.dataset, IterDataPipe):
                self.dataset, shuffle = apply_shuffle_settings(self.dataset, shuffle), None
            for name, given in (
                ("shuffle", shuffle not in (None, False)),
                ("sampler", sampler is not None),
                ("batch_sampler", batch_sampler is not None),
            ):
                if given:
                    raise ValueError(
                        f"DataLoader: {name} needs indices, which an IterableDataset has not"
                    )
            sampler = _InfiniteConstantSampler()
        if sampler is not None and shuffle:
            raise ValueError("DataLoader: shuffle is for loaders without a sampler")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("DataLoader: drop_last is for batches, but batch_size is None")
        if sampler is None:
            data: Any = self.dataset
            if shuffle:
                sampler = RandomSampler(data, generator=self.generator)
            else:
                sampler = SequentialSampler(data)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler

    @property
    def _auto_collation(self) -> bool:
        """Whether indices come in lists, whose samples are collated."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """What is loaded: lists of indices, or single ones where there are no batches."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> Iterator[Any]:
        begun = self._begun()
        self._resumed = None
        return begun

    def _begun(self) -> Epoch:
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self) -> Epoch:
        return LocalEpoch(self) if self.num_workers == 0 else WorkerEpoch(self)

    def __len__(self) -> int:
        if self._dataset_kind == DatasetKind.Map:
            return len(self._index_sampler)
        self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        return self._batches_in(self._IterableDataset_len_called)

    def _batches_in(self, size: int) -> int:
        if self.batch_size is None:
            return size
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration that began last is: numbers and generators' states, and the states of
        datasets that have state_dict and load_state_dict."""
        if self._resumed is not None:
            return dict(self._resumed)
        return self._progress.state_dict() if self._progress is not None else {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The next iteration continues there. The samples before are not loaded again, except those
        of an IterableDataset without a state of its own."""
        self._resumed = dict(state_dict) if state_dict else None

    def check_worker_number_rationality(self) -> None:
        """Of PyTorch; does nothing."""


# PyTorch's own names for these, which programs derive from.
_BaseDataLoaderIter, _SingleProcessDataLoaderIter = Epoch, LocalEpoch
_MultiProcessingDataLoaderIter, _DatasetKind = WorkerEpoch, DatasetKind


def _get_distributed_settings() -> tuple[int, int]:
    """How many processes train together, and which of them this is."""
    return 1, 0


def _share_dist_seed(generator: Generator | None, pg: Any) -> int:
    """A seed for the pipes of all processes. pg is PyTorch's group of them."""
    return drawn_seed(generator)


def _sharding_worker_init_fn(
    worker_init_fn: Callable[[int], None] | None, world_size: int, rank_id: int, worker_id: int
) -> None:
    """Tells a worker's pipe which part of the samples is its own."""
    info = get_worker_info()
    assert info is not None
    total = info.num_workers * world_size
    apply_sharding(info.dataset, total, worker_id * world_size + rank_id)
    if worker_init_fn is not None:
        worker_init_fn(worker_id)
