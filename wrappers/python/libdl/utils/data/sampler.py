# SPDX-License-Identifier: Apache-2.0
"""Samplers: in which order a DataLoader reads a dataset, and which samples make a batch."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from ... import _creation, _functions as F, _overloads, _random
from ..._C import Tensor
from ..._types import Generator, float64

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

_Index = TypeVar("_Index", covariant=True)


class Sampler(Generic[_Index]):
    """Indices of samples: a subclass has __iter__, and usually __len__.

    A subclass may keep further arguments than data_source, which is accepted and ignored."""

    def __init__(self, data_source: Sized | None = None) -> None:
        pass

    def __iter__(self) -> Iterator[_Index]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")


class SequentialSampler(Sampler[int]):
    """The samples in their order."""

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def drawn_seed(generator: Generator | None) -> int:
    """63 bits, drawn from this generator or from the default one."""
    from_it = _random.default_generator if generator is None else generator
    return int(_overloads.randint(0, 2**63 - 1, (), generator=from_it).item())


def drawn_generator(generator: Generator | None) -> Generator:
    """The generator itself, or a new one whose seed is drawn from the default generator."""
    if generator is not None:
        return generator
    return Generator().manual_seed(drawn_seed(None))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class RandomSampler(Sampler[int]):
    """The samples in random order; with replacement, each index is drawn from all of them.

    num_samples is how many are drawn, by default as many as there are. Without replacement more
    than that are several permutations, one after another."""

    # Indices are drawn this many at a time, so that a long epoch starts at once.
    _AT_ONCE = 32

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"RandomSampler: replacement is {replacement!r}, wanted a bool")
        if not _is_count(self.num_samples):
            raise ValueError(
                f"RandomSampler: num_samples is {self.num_samples!r}, wanted a positive int"
            )

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size, generator = len(self.data_source), drawn_generator(self.generator)
        left = self.num_samples
        while left > 0:
            if self.replacement:
                count = min(left, self._AT_ONCE)
                drawn = _overloads.randint(0, size, (count,), generator=generator)
            else:
                drawn = F.randperm(size, generator=generator)[:left]
            yield from drawn.tolist()
            left -= drawn.numel()

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """These indices in random order, each once."""

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        generator = self.generator or _random.default_generator
        for i in F.randperm(len(self.indices), generator=generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """num_samples indices of 0 to len(weights) - 1, index i with a probability proportional to
    weights[i]; without replacement no index twice."""

    weights: Tensor
    num_samples: int
    replacement: bool

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        if not _is_count(num_samples):
            raise ValueError(
                f"WeightedRandomSampler: num_samples is {num_samples!r}, wanted a positive int"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"WeightedRandomSampler: replacement is {replacement!r}, wanted a bool"
            )
        self.weights = _creation.as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError(
                f"WeightedRandomSampler: weights has shape {list(self.weights.shape)}, wanted one "
                "dimension"
            )
        positive = int((self.weights > 0).sum())
        if not (self.weights >= 0).all() or positive == 0 or not self.weights.isfinite().all():
            raise ValueError("WeightedRandomSampler: wanted finite weights >= 0 that are not all 0")
        if not replacement and num_samples > positive:
            raise ValueError(
                f"WeightedRandomSampler: num_samples is {num_samples}, wanted at most {positive}, "
                "the number of positive weights, without replacement"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        generator = self.generator or _random.default_generator
        return iter(self._with(generator) if self.replacement else self._without(generator))

    def _with(self, generator: Generator) -> list[int]:
        """Each where a uniform number falls among the summed weights."""
        ends = self.weights.cumsum(0).tolist()
        points = F.rand(self.num_samples, dtype=float64, generator=generator) * ends[-1]
        # No index whose weight is 0, though a product be rounded up to the end.
        last = max(i for i, w in enumerate(self.weights.tolist()) if w > 0)
        return [min(bisect.bisect_right(ends, x), last) for x in points.tolist()]

    def _without(self, generator: Generator) -> list[int]:
        """The first arrivals, where index i comes after an exponential time of rate weights[i]:
        Efraimidis and Spirakis 2006."""
        uniform = F.rand(len(self.weights), dtype=float64, generator=generator)
        times = -F.log1p(-uniform) / self.weights
        first: list[int] = times.topk(self.num_samples, largest=False).indices.tolist()
        return first

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists of batch_size; drop_last leaves out a last list that
    is shorter."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not _is_count(batch_size):
            raise ValueError(f"BatchSampler: batch_size is {batch_size!r}, wanted a positive int")
        if not isinstance(drop_last, bool):
            raise ValueError(f"BatchSampler: drop_last is {drop_last!r}, wanted a bool")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
