# SPDX-License-Identifier: Apache-2.0
"""Datasets: what a DataLoader reads samples from."""

from __future__ import annotations

import bisect
import itertools
import math
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ... import _functions as F, _random
from ..._C import Tensor
from ..._types import Generator, bool_

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

_Sample = TypeVar("_Sample", covariant=True)


class Dataset(Generic[_Sample]):
    """Samples by index: a subclass has __getitem__, and usually __len__.

    If it also has __getitems__(indices), which returns the samples of a whole batch (or whatever
    the collate_fn takes for them), a DataLoader calls that instead; but not one that was inherited
    from a class whose __getitem__ was replaced since: see batch_reader.

    Example:
        >>> class Squares(torch.utils.data.Dataset):
        ...     def __len__(self):
        ...         return 4
        ...     def __getitem__(self, index):
        ...         return index * index
        >>> list(torch.utils.data.DataLoader(Squares(), batch_size=2))
        [tensor([0, 1]), tensor([4, 9])]
    """

    def __getitem__(self, index: Any) -> _Sample:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_Sample], Iterable[_Sample]):
    """Samples in a row: a subclass has __iter__.

    Every worker of a DataLoader iterates over a copy of its own: a dataset that does not divide its
    samples by get_worker_info() gives each of them once per worker."""

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors: sample i has element i along the first dimension of each tensor."""

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        sizes = [x.size(0) for x in tensors]
        if any(size != sizes[0] for size in sizes):
            raise ValueError(f"TensorDataset: the tensors have {sizes} rows, wanted equally many")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(x[index] for x in self.tensors)

    def _columns(self, indices: Sequence[Any]) -> list[Tensor] | None:
        """The rows at these indices out of each tensor at once; None if an index is not a
        number."""
        numbers = _as_numbers(indices)
        return None if numbers is None else [x[numbers] for x in self.tensors]

    def _rows(self, indices: Sequence[Any]) -> list[tuple[Tensor, ...]]:
        columns = self._columns(indices)
        if columns is None:
            return [self[index] for index in indices]
        return list(zip(*(x.unbind(0) for x in columns), strict=True))

    def __len__(self) -> int:
        return self.tensors[0].size(0)


_row = TensorDataset.__getitem__


def is_rows(dataset: object) -> bool:
    """Whether a sample is a row of the dataset's tensors and nothing else."""
    return isinstance(dataset, TensorDataset) and type(dataset).__getitem__ is _row


def _as_numbers(indices: Iterable[Any]) -> list[int] | None:
    """Indices along one dimension: a list of numbers means that to a tensor, as neither a tuple
    does nor a list of tensors; None if there is another index, such as a slice or a bool."""
    results = [index if type(index) is int else _as_number(index) for index in indices]
    return results if results and None not in results else None  # type: ignore[return-value]


def _as_number(index: Any) -> int | None:
    # A bool is a mask, and what has a dimension keeps it.
    if isinstance(index, bool) or getattr(index, "dtype", None) is bool_:
        return None
    if getattr(index, "ndim", 0) > 0:
        return None
    try:
        return operator.index(index)
    except TypeError:
        return None


class StackDataset(Dataset[Any]):
    """Datasets side by side: a sample is a tuple of theirs, or a dictionary of keyword
    arguments'."""

    datasets: Any

    def __init__(self, *args: Dataset[Any], **kwargs: Dataset[Any]) -> None:
        if args and kwargs:
            raise ValueError("StackDataset takes datasets, or keywords with datasets, not both")
        if not args and not kwargs:
            raise ValueError("StackDataset: wanted at least one dataset")
        self.datasets = args or kwargs
        lengths = [len(dataset) for dataset in self._parts()]  # type: ignore[arg-type]
        if any(n != lengths[0] for n in lengths):
            raise ValueError(f"StackDataset: datasets have {lengths} samples, wanted equally many")
        self._length = lengths[0]

    def _parts(self) -> list[Dataset[Any]]:
        parts = self.datasets
        return list(parts.values() if isinstance(parts, dict) else parts)

    def _like(self, values: Iterable[Any]) -> dict[str, Any] | tuple[Any, ...]:
        """The values of one sample, in the order of the datasets."""
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, values, strict=True))
        return tuple(values)

    def __getitem__(self, index: Any) -> Any:
        return self._like(dataset[index] for dataset in self._parts())

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        columns = [_samples_of(dataset, indices) for dataset in self._parts()]
        return [self._like(values) for values in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


def batch_reader(dataset: Any) -> Callable[[Any], Any] | None:
    """How the samples of a batch are read together, if the dataset can do so: by its __getitems__.

    One that a class inherited from another does not know of a __getitem__ defined below it, which
    may augment samples; neither does one that a wrapper finds in what it wraps, nor that of a
    Subset whose dataset has none of its own. Then samples are read one by one."""
    if is_rows(dataset):
        rows: Callable[[Any], Any] = dataset._rows
        return rows
    together: Callable[[Any], Any] | None = getattr(dataset, "__getitems__", None)
    if not callable(together):
        return None
    if "__getitems__" in getattr(dataset, "__dict__", ()):
        return together
    kind, single = type(dataset), getattr(type(dataset), "__getitem__", None)
    owner = next((base for base in kind.__mro__ if "__getitems__" in vars(base)), None)
    if owner is None:
        return together if single in (None, Dataset.__getitem__) else None
    meant = getattr(owner, "__getitem__", None)
    if meant not in (None, Dataset.__getitem__, single):
        return None
    if vars(owner)["__getitems__"] is _subset_samples and batch_reader(dataset.dataset) is None:
        return None
    if vars(owner)["__getitems__"] is _stacked_samples and not any(
        map(batch_reader, dataset._parts())
    ):
        return None
    return together


def _samples_of(dataset: Any, indices: Sequence[Any]) -> list[Any]:
    """The samples at these indices."""
    together = batch_reader(dataset)
    if together is None:
        return [dataset[index] for index in indices]
    samples: list[Any] = together(indices)
    if len(samples) != len(indices):
        raise ValueError(
            f"{type(dataset).__name__}.__getitems__ returned {len(samples)} samples, wanted "
            f"{len(indices)}"
        )
    return samples


class ConcatDataset(Dataset[_Sample]):
    """Datasets one after another."""

    datasets: list[Dataset[_Sample]]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        return list(itertools.accumulate(len(part) for part in sequence))

    def __init__(self, datasets: Iterable[Dataset[_Sample]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: datasets is empty, wanted at least one")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise TypeError(
                    "ConcatDataset: an IterableDataset has no indices; wanted ChainDataset"
                )
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: Any) -> _Sample:
        size = len(self)
        if not -size <= index < size:
            kind = ValueError if index < 0 else IndexError  # as in PyTorch
            raise kind(f"ConcatDataset: index {index}, wanted at least {-size} and < {size}")
        index += size if index < 0 else 0
        which = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which > 0 else 0
        return self.datasets[which][index - before]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The older spelling of cumulative_sizes."""
        warnings.warn(
            "ConcatDataset: cummulative_sizes is spelled cumulative_sizes",
            FutureWarning,
            stacklevel=2,
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """IterableDatasets one after another."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise TypeError(
                    f"ChainDataset: found a {type(dataset).__name__}, wanted IterableDatasets"
                )
            yield from dataset

    def __len__(self) -> int:
        sizes: list[int] = [len(part) for part in self.datasets]  # type: ignore[arg-type]
        return sum(sizes)


class Subset(Dataset[_Sample]):
    """Some samples of a dataset: sample i is the dataset's at indices[i]."""

    dataset: Dataset[_Sample]
    indices: Sequence[int]

    def __init__(self, dataset: Dataset[_Sample], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> _Sample:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        chosen = [self.indices[index] for index in indices]
        together = batch_reader(self.dataset)
        return [self.dataset[index] for index in chosen] if together is None else together(chosen)

    def __len__(self) -> int:
        return len(self.indices)


_subset_samples, _stacked_samples = Subset.__getitems__, StackDataset.__getitems__


def random_split(
    dataset: Dataset[_Sample],
    lengths: Sequence[int | float],
    generator: Generator | None = None,
) -> list[Subset[_Sample]]:
    """Divides a dataset at random into parts of these lengths, which do not overlap.

    Lengths that are fractions and sum to 1 are rounded down; what remains goes one by one to the
    first parts."""
    size = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"random_split: fraction {i} is {fraction}, wanted 0 to 1")
        counts = [math.floor(size * fraction) for fraction in lengths]
        for i in range(size - sum(counts)):
            counts[i % len(counts)] += 1
        for i, count in enumerate(counts):
            if count == 0:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.",
                    stacklevel=2,
                )
    else:
        counts = [int(n) for n in lengths]
    if sum(counts) != size:
        raise ValueError(
            f"random_split: lengths sum to {sum(counts)}, wanted {size}, the number of samples"
        )
    order = F.randperm(size, generator=generator or _random.default_generator).tolist()
    ends = itertools.accumulate(counts)
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, counts, strict=True)]
