# SPDX-License-Identifier: Apache-2.0
"""PyTorch's pipes of samples that are iterated over; each is a method of every pipe, too.

Example:
    >>> from libdl.utils.data.datapipes.iter import IterableWrapper
    >>> pipe = IterableWrapper(range(10)).filter(lambda n: n % 2 == 0).map(lambda n: n * n).batch(2)
    >>> list(pipe)
    [[0, 4], [16, 36], [64]]
"""

from __future__ import annotations

import collections
import copy
import fnmatch
import itertools
import os
import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

from .... import _functions as F
from ...._types import int64
from ..collate import default_collate
from ..sampler import Sampler as _Sampler, SequentialSampler
from ._decorator import functional_datapipe
from .datapipe import DataChunk, IterDataPipe, check_pipes, own_copy

__all__ = [
    "Batcher",
    "Collator",
    "Concater",
    "Demultiplexer",
    "FileLister",
    "FileOpener",
    "Filter",
    "Forker",
    "Grouper",
    "IterableWrapper",
    "Mapper",
    "Multiplexer",
    "Sampler",
    "ShardingFilter",
    "Shuffler",
    "StreamReader",
    "UnBatcher",
    "Zipper",
]

Pipe = IterDataPipe[Any]


def _length(pipe: object, of: Any) -> int:
    try:
        return len(of)
    except TypeError:
        raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length") from None


# -- from what others made -------------------------------------------------------------------------


class IterableWrapperIterDataPipe(Pipe):
    """The elements of anything that can be iterated over.

    Arguments:
        iterable: a list, a range, an iterator, ...
        deepcopy: whether each pass goes over a copy, so that none changes the original; what cannot
            be copied is iterated over itself, with a warning
    """

    def __init__(self, iterable: Iterable[Any], deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[Any]:
        yield from own_copy("IterableWrapper", self.iterable) if self.deepcopy else self.iterable

    def __len__(self) -> int:
        return _length(self, self.iterable)


class SamplerIterDataPipe(Pipe):
    """What a sampler, made with the pipe as its data, chooses: indices."""

    def __init__(
        self,
        datapipe: Pipe,
        sampler: type[_Sampler[Any]] = SequentialSampler,
        sampler_args: tuple[Any, ...] | None = None,
        sampler_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.datapipe = datapipe
        kwargs = {"data_source": datapipe, **(sampler_kwargs or {})}
        self.sampler: Any = sampler(*(sampler_args or ()), **kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return _length(self, self.sampler)


# -- one sample after another ----------------------------------------------------------------------


def _columns_of(row: Any, column: Any) -> tuple[Any, ...]:
    chosen = column if isinstance(column, (list, tuple)) else (column,)
    return tuple(row[c] for c in chosen)


@functional_datapipe("map")
class MapperIterDataPipe(Pipe):
    """fn(x) for each x.

    Arguments:
        input_col: the index or key of x that fn is called with, or a list of them
        output_col: where the result goes; None: in place of (the first) input_col; -1: behind a
            tuple
    """

    def __init__(
        self, datapipe: Pipe, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None
    ) -> None:
        if input_col is None and output_col is not None:
            raise ValueError("map: output_col is given without input_col")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("map: output_col has several entries, wanted one")
            output_col = output_col[0]
        self.datapipe, self.fn = datapipe, fn
        self.input_col, self.output_col = input_col, output_col

    def _mapped(self, row: object) -> Any:
        if self.input_col is None and self.output_col is None:
            return self.fn(row)
        result = self.fn(*_columns_of(row, self.input_col))
        several = isinstance(self.input_col, (list, tuple))
        created: Any = list(row) if isinstance(row, tuple) else copy.copy(row)
        place = self.output_col
        if place is None:
            place = self.input_col[0] if several else self.input_col
        if self.output_col == -1:
            created.append(result)
        else:
            created[place] = result
        if self.output_col is None and several:
            for c in sorted(self.input_col[1:], reverse=True):
                del created[c]
        return tuple(created) if isinstance(row, tuple) else created

    def __iter__(self) -> Iterator[Any]:
        return map(self._mapped, self.datapipe)

    def __len__(self) -> int:
        return _length(self, self.datapipe)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """collate_fn(x) for each x; default_collate if there is none."""

    def __init__(
        self,
        datapipe: Pipe,
        conversion: Callable[..., Any] | None = None,
        collate_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(datapipe, collate_fn or conversion or default_collate)


@functional_datapipe("filter")
class FilterIterDataPipe(Pipe):
    """Those x for which filter_fn(x), or filter_fn of its columns input_col, is true."""

    def __init__(
        self, datapipe: Pipe, filter_fn: Callable[..., Any], input_col: Any = None
    ) -> None:
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def __iter__(self) -> Iterator[Any]:
        for x in self.datapipe:
            args = (x,) if self.input_col is None else _columns_of(x, self.input_col)
            keep = self.filter_fn(*args)
            if not isinstance(keep, bool):
                raise ValueError(f"filter: filter_fn returned {type(keep).__name__}, wanted a bool")
            if keep:
                yield x


# -- batches ---------------------------------------------------------------------------------------


@functional_datapipe("batch")
class BatcherIterDataPipe(Pipe):
    """Lists of batch_size samples.

    Arguments:
        drop_last: whether a shorter batch at the end is left out
        wrapper_class: what is made of each list
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

    def __iter__(self) -> Iterator[Any]:
        source = iter(self.datapipe)
        while batch := list(itertools.islice(source, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.wrapper_class(batch)

    def __len__(self) -> int:
        count = _length(self, self.datapipe)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _unbatched(x: object, level: int) -> Iterator[Any]:
    if level == 0 or (level == -1 and not isinstance(x, (list, DataChunk))):
        yield x
        return
    if not isinstance(x, (list, DataChunk)):
        raise IndexError("unbatch: unbatch_level is more than the batches are deep")
    for inner in x:
        yield from _unbatched(inner, level if level == -1 else level - 1)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(Pipe):
    """The samples of batches, unbatch_level deep; -1: as deep as they are."""

    def __init__(self, datapipe: Pipe, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        if self.unbatch_level < -1:
            raise ValueError(f"unbatch: unbatch_level is {self.unbatch_level}, wanted -1 or more")
        for x in self.datapipe:
            yield from _unbatched(x, self.unbatch_level)


@functional_datapipe("groupby")
class GrouperIterDataPipe(Pipe):
    """Lists of samples with one key, group_key_fn(x).

    Arguments:
        keep_key: whether (key, list) is given
        buffer_size: how many samples wait at most; then the largest group is given
        group_size: the size at which a group is given; None: at the end
        guaranteed_group_size: the least size of a group that a full buffer gives
        drop_remaining: whether smaller groups are left out then; else they raise
    """

    def __init__(
        self,
        datapipe: Pipe,
        group_key_fn: Callable[[Any], Any],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        if group_size is not None and not 0 < group_size <= buffer_size:
            raise AssertionError(
                f"groupby: group_size is {group_size}, wanted 1 to buffer_size, {buffer_size}"
            )
        if guaranteed_group_size is not None and (
            group_size is None or not 0 < guaranteed_group_size <= group_size
        ):
            raise AssertionError(
                f"groupby: guaranteed_group_size is {guaranteed_group_size}, wanted 1 to "
                f"group_size, {group_size}"
            )
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.buffer_size, self.group_size = buffer_size, group_size
        self.guaranteed_group_size = guaranteed_group_size or group_size
        self.drop_remaining = drop_remaining

    def _given(
        self, key: object, group: list[Any]
    ) -> tuple[object, DataChunk[Any]] | DataChunk[Any]:
        result: DataChunk[Any] = DataChunk(group)
        return (key, result) if self.keep_key else result

    def __iter__(self) -> Iterator[Any]:
        groups: dict[Any, list[Any]] = {}
        waiting = 0
        for x in self.datapipe:
            key = self.group_key_fn(x)
            groups.setdefault(key, []).append(x)
            waiting += 1
            if self.group_size is not None and len(groups[key]) == self.group_size:
                yield self._given(key, groups.pop(key))
                waiting -= self.group_size
            elif waiting == self.buffer_size:
                largest = max(groups, key=lambda k: len(groups[k]))
                result = groups.pop(largest)
                waiting -= len(result)
                if self.guaranteed_group_size is None or len(result) >= self.guaranteed_group_size:
                    yield self._given(largest, result)
                elif not self.drop_remaining:
                    raise RuntimeError(
                        f"groupby: the buffer of {self.buffer_size} is full, and the largest group "
                        f"has {len(result)}, wanted {self.guaranteed_group_size}"
                    )
        for key, result in groups.items():
            yield self._given(key, result)


# -- order ----------------------------------------------------------------------------------------


class Shuffling(Pipe):
    """A pipe in a random order, which a loader may switch off, and seeds for each pass."""

    _shuffles = True
    _seed: int | None = None

    def set_shuffle(self, shuffle: bool = True) -> Self:
        self._shuffles = shuffle
        return self

    def set_seed(self, seed: int) -> Self:
        """Of the next pass; the passes after it draw theirs from libdl's default generator."""
        self._seed = seed
        return self

    def _draws(self) -> random.Random:
        seed, self._seed = self._seed, None
        if seed is None:
            seed = int(F.empty((), dtype=int64).random_().item())
        return random.Random(seed)


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(Shuffling):
    """The samples in a random order, as far as a buffer reaches.

    Arguments:
        buffer_size: how many samples wait; each that comes sends out one of them
        unbatch_level: how deep batches are dissolved first
    """

    def __init__(self, datapipe: Pipe, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        assert buffer_size > 0, f"shuffle: buffer_size is {buffer_size}, wanted 1 or more"
        inner: Any = datapipe
        self.datapipe: Pipe = inner.unbatch(unbatch_level=unbatch_level) if unbatch_level else inner
        self.buffer_size = buffer_size

    def __iter__(self) -> Iterator[Any]:
        if not self._shuffles:
            yield from self.datapipe
            return
        draws = self._draws()
        waiting: list[Any] = []
        for x in self.datapipe:
            if len(waiting) < self.buffer_size:
                waiting.append(x)
                continue
            place = draws.randint(0, len(waiting) - 1)
            out, waiting[place] = waiting[place], x
            yield out
        while waiting:
            yield waiting.pop(draws.randint(0, len(waiting) - 1))

    def __len__(self) -> int:
        return _length(self, self.datapipe)


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(Pipe):
    """Every n-th sample, in a loader of n workers; without workers all of them."""

    def __init__(self, source_datapipe: Pipe, sharding_group_filter: Any = None) -> None:
        self.source_datapipe, self.sharding_group_filter = source_datapipe, sharding_group_filter
        self.num_of_instances, self.instance_id = 1, 0

    def is_shardable(self) -> bool:
        return True

    def apply_sharding(
        self, num_of_instances: int, instance_id: int, sharding_group: Any = None
    ) -> None:
        if instance_id >= num_of_instances:
            raise ValueError(
                f"sharding_filter: instance_id is {instance_id}, wanted less than "
                f"num_of_instances, {num_of_instances}"
            )
        self.num_of_instances, self.instance_id = num_of_instances, instance_id

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(self.source_datapipe, self.instance_id, None, self.num_of_instances)

    def __len__(self) -> int:
        whole, rest = divmod(_length(self, self.source_datapipe), self.num_of_instances)
        return whole + (self.instance_id < rest)


# -- several pipes ---------------------------------------------------------------------------------


@functional_datapipe("concat")
class ConcaterIterDataPipe(Pipe):
    """The samples of one pipe after those of another."""

    def __init__(self, *datapipes: Pipe) -> None:
        check_pipes("concat", datapipes, IterDataPipe)
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datapipes)

    def __len__(self) -> int:
        return sum(_length(self, pipe) for pipe in self.datapipes)


@functional_datapipe("zip")
class ZipperIterDataPipe(Pipe):
    """Tuples with a sample of each pipe, until one ends."""

    def __init__(self, *datapipes: Pipe) -> None:
        check_pipes("zip", datapipes, IterDataPipe)
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        return zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(_length(self, pipe) for pipe in self.datapipes)


@functional_datapipe("mux")
class MultiplexerIterDataPipe(Pipe):
    """A sample of each pipe in turn, until one ends."""

    def __init__(self, *datapipes: Pipe) -> None:
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(zip(*self.datapipes, strict=False))

    def __len__(self) -> int:
        return len(self.datapipes) * min(_length(self, pipe) for pipe in self.datapipes)


class _Parted:
    """A pass over a pipe whose samples wait for several children."""

    def __init__(
        self,
        name: str,
        datapipe: Pipe,
        children: int,
        buffer_size: int,
        children_of: Callable[[Any], Iterable[int]],
    ) -> None:
        self.name, self.datapipe, self.buffer_size = name, datapipe, buffer_size
        self.children_of = children_of
        self.waiting: list[collections.deque[Any]] = [collections.deque() for _ in range(children)]
        self.passes = [0] * children
        self.source: Iterator[Any] | None = None

    def begin(self, child: int) -> int:
        """A child that is iterated over again begins a pass anew, for all."""
        if self.source is None or self.passes[child] == max(self.passes):
            self.source = iter(self.datapipe)
            for samples in self.waiting:
                samples.clear()
            self.passes[child] = max(self.passes) + 1
        else:
            self.passes[child] = max(self.passes)
        return self.passes[child]

    def next(self, child: int, of: int) -> Any:
        if of != max(self.passes):
            raise RuntimeError(
                f"{self.name}: this iterator has ended, for a newer one began: the children of a "
                "pipe go together"
            )
        assert self.source is not None
        while not self.waiting[child]:
            x = next(self.source)
            for place in self.children_of(x):
                self.waiting[place].append(x)
            if 0 <= self.buffer_size < max(map(len, self.waiting)):
                raise BufferError(
                    f"{self.name}: more than buffer_size, {self.buffer_size}, samples wait for a "
                    "child"
                )
        return self.waiting[child].popleft()


class _ChildDataPipe(Pipe):
    """One of the pipes that fork and demux give."""

    def __init__(self, parted: _Parted, child: int, sized: bool) -> None:
        self.main_datapipe, self.instance_id, self._sized = parted, child, sized

    def __iter__(self) -> Iterator[Any]:
        of = self.main_datapipe.begin(self.instance_id)
        while True:
            try:
                x = self.main_datapipe.next(self.instance_id, of)
            except StopIteration:
                return
            yield x

    def __len__(self) -> int:
        return _length(self, self.main_datapipe.datapipe if self._sized else None)


def _check_children(name: str, num_instances: int, buffer_size: int) -> None:
    if num_instances < 1:
        raise ValueError(f"{name}: num_instances is {num_instances}, wanted 1 or more")
    if buffer_size < 0:
        warnings.warn(f"{name}: the buffer has no limit", stacklevel=3)


@functional_datapipe("fork")
class ForkerIterDataPipe(Pipe):
    """num_instances pipes, each with all samples. They go together: of the samples that one has and
    another has not, at most buffer_size wait (-1: any number). copy: None, "shallow" or "deep"."""

    def __new__(
        cls, datapipe: Pipe, num_instances: int, buffer_size: int = 1000, copy: str | None = None
    ) -> Any:
        _check_children("fork", num_instances, buffer_size)
        if num_instances == 1:
            return datapipe
        parted = _Parted(
            "fork", datapipe, num_instances, buffer_size, lambda x: range(num_instances)
        )
        children: list[Any] = [_ChildDataPipe(parted, k, True) for k in range(num_instances)]
        if copy is None:
            return children
        return [child.map(_COPIES[copy]) for child in children]


_COPIES = {"shallow": copy.copy, "deep": copy.deepcopy}


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(Pipe):
    """num_instances pipes; x goes to number classifier_fn(x). At most buffer_size samples wait for
    one of them (-1: any number). drop_none: whether samples of class None are left out; else they
    raise."""

    def __new__(
        cls,
        datapipe: Pipe,
        num_instances: int,
        classifier_fn: Callable[[Any], int | None],
        drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> Any:
        _check_children("demux", num_instances, buffer_size)

        def places(x: object) -> Iterable[int]:
            place = classifier_fn(x)
            if place is None and drop_none:
                return ()
            if place is None or not 0 <= place < num_instances:
                raise ValueError(
                    f"demux: classifier_fn returned {place}, wanted 0 to {num_instances - 1}"
                    + (", or drop_none=True" if place is None else "")
                )
            return (place,)

        parted = _Parted("demux", datapipe, num_instances, buffer_size, places)
        return [_ChildDataPipe(parted, k, False) for k in range(num_instances)]


# -- files -----------------------------------------------------------------------------------------


@functional_datapipe("list_files")
class FileListerIterDataPipe(Pipe):
    """The paths of the files in folders.

    Arguments:
        root: a folder, or several, or a pipe of them
        masks: patterns as of a shell, of which a file's name matches one; "": all
        recursive: whether folders below are gone through
        abspath: whether paths are absolute
        non_deterministic: whether the order is the file system's; else paths are sorted
        length: what len() gives; -1: it raises
    """

    def __init__(
        self,
        root: str | Sequence[str] | IterDataPipe[str] = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        self.datapipe: Any = [root] if isinstance(root, (str, os.PathLike)) else root
        self.masks = [masks] if isinstance(masks, str) else list(masks)
        self.recursive, self.abspath = recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def _files(self, root: str) -> Iterator[str]:
        for folder, below, names in os.walk(os.path.abspath(root) if self.abspath else root):
            if not self.non_deterministic:
                below.sort()
                names.sort()
            if not self.recursive:
                below.clear()
            for name in names:
                if not any(self.masks) or any(fnmatch.fnmatch(name, m) for m in self.masks):
                    yield os.path.join(folder, name)

    def __iter__(self) -> Iterator[str]:
        for root in self.datapipe:
            yield from self._files(os.fspath(root))

    def __len__(self) -> int:
        return _length(self, range(self.length) if self.length >= 0 else None)


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(Pipe):
    """(path, file) for each path, opened as open(path, mode, encoding=encoding) does."""

    def __init__(
        self,
        datapipe: Iterable[str],
        mode: str = "r",
        encoding: str | None = None,
        length: int = -1,
    ) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"open_files: mode is {mode!r}, wanted 'r', 'rb', 'rt', 'b' or 't'")
        if "b" in mode and encoding is not None:
            raise ValueError("open_files: encoding is given for bytes")
        self.datapipe = datapipe
        self.mode = mode if "r" in mode else "r" + mode
        self.encoding, self.length = encoding, length

    def __iter__(self) -> Iterator[Any]:
        for path in self.datapipe:
            yield path, open(path, self.mode, encoding=self.encoding)  # noqa: SIM115  (the caller's)

    def __len__(self) -> int:
        return _length(self, range(self.length) if self.length >= 0 else None)


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(Pipe):
    """(path, bytes) for each (path, file), in pieces of `chunk` bytes; None: whole. Files are
    closed."""

    def __init__(self, datapipe: Iterable[Any], chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.datapipe:
            while piece := stream.read(self.chunk):
                yield path, piece
                if self.chunk is None:
                    break
            stream.close()


Batcher, Collator, Concater = BatcherIterDataPipe, CollatorIterDataPipe, ConcaterIterDataPipe
Demultiplexer, FileLister = DemultiplexerIterDataPipe, FileListerIterDataPipe
FileOpener, Filter, Forker = FileOpenerIterDataPipe, FilterIterDataPipe, ForkerIterDataPipe
Grouper, IterableWrapper = GrouperIterDataPipe, IterableWrapperIterDataPipe
Mapper, Multiplexer, Sampler = MapperIterDataPipe, MultiplexerIterDataPipe, SamplerIterDataPipe
ShardingFilter, Shuffler = ShardingFilterIterDataPipe, ShufflerIterDataPipe
StreamReader, UnBatcher, Zipper = (
    StreamReaderIterDataPipe,
    UnBatcherIterDataPipe,
    ZipperIterDataPipe,
)
