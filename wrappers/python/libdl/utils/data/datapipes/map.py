# SPDX-License-Identifier: Apache-2.0
"""PyTorch's pipes of samples with indices; each is a method of every such pipe, too.

Example:
    >>> from libdl.utils.data.datapipes.map import SequenceWrapper
    >>> pipe = SequenceWrapper([1, 2, 3]).map(lambda n: n * n)
    >>> pipe[2], len(pipe)
    (9, 3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ._decorator import functional_datapipe
from .datapipe import DataChunk, MapDataPipe, check_pipes, own_copy
from .iter import Shuffling

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]

Pipe = MapDataPipe[Any]


class SequenceWrapperMapDataPipe(Pipe):
    """A sequence, or a dictionary, by its indices. deepcopy: whether of a copy of it."""

    def __init__(self, sequence: Sequence[Any] | Mapping[Any, Any], deepcopy: bool = True) -> None:
        self.sequence = own_copy("SequenceWrapper", sequence) if deepcopy else sequence

    def __getitem__(self, index: int) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


@functional_datapipe("map")
class MapperMapDataPipe(Pipe):
    """fn(x) for each x."""

    def __init__(self, datapipe: Pipe, fn: Callable[[Any], Any] = lambda x: x) -> None:
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("batch")
class BatcherMapDataPipe(Pipe):
    """Lists of batch_size samples with neighbouring indices, of wrapper_class.

    Arguments:
        drop_last: whether a shorter batch at the end is left out
    """

    def __init__(
        self,
        datapipe: Pipe,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: type[Any] = DataChunk,
    ) -> None:
        assert batch_size > 0, f"batch: batch_size is {batch_size}, wanted 1 or more"
        self.datapipe, self.batch_size = datapipe, batch_size
        self.drop_last, self.wrapper_class = drop_last, wrapper_class

    def __getitem__(self, index: int) -> DataChunk[Any]:
        if not 0 <= index < len(self):
            raise IndexError(f"batch: index {index} is out of bounds of {len(self)} batches")
        count: int = len(self.datapipe)
        first = index * self.batch_size
        chunk: DataChunk[Any] = self.wrapper_class(
            [self.datapipe[i] for i in range(first, min(first + self.batch_size, count))]
        )
        return chunk

    def __len__(self) -> int:
        count: int = len(self.datapipe)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


@functional_datapipe("concat")
class ConcaterMapDataPipe(Pipe):
    """The samples of one pipe behind those of another."""

    def __init__(self, *datapipes: MapDataPipe[Any]) -> None:
        check_pipes("concat", datapipes, MapDataPipe)
        self.datapipes = datapipes

    def __getitem__(self, index: int) -> Any:
        left = index
        for pipe in self.datapipes:
            if left < len(pipe):
                return pipe[left]
            left -= len(pipe)
        raise IndexError(f"concat: index {index} is out of bounds of {len(self)} samples")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(Pipe):
    """Tuples with a sample of each pipe, as many as the shortest has."""

    def __init__(self, *datapipes: MapDataPipe[Any]) -> None:
        check_pipes("zip", datapipes, MapDataPipe)
        self.datapipes = datapipes

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return tuple(pipe[index] for pipe in self.datapipes)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


class ShufflerIterDataPipe(Shuffling):
    """The samples in a random order: a pipe to iterate over. indices: those that there are; None:
    the numbers below the pipe's length."""

    def __init__(self, datapipe: MapDataPipe[Any], *, indices: list[Any] | None = None) -> None:
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices

    def __iter__(self) -> Iterator[Any]:
        order = self.indices
        if self._shuffles:
            order = self._draws().sample(order, len(order))[::-1]
        return (self.datapipe[i] for i in order)

    def __len__(self) -> int:
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)

Batcher, Concater, Mapper = BatcherMapDataPipe, ConcaterMapDataPipe, MapperMapDataPipe
SequenceWrapper, Shuffler = SequenceWrapperMapDataPipe, ShufflerIterDataPipe
Zipper = ZipperMapDataPipe
