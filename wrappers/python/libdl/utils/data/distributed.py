# SPDX-License-Identifier: Apache-2.0
"""DistributedSampler: the part of a dataset that one of several processes trains on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sized

from ... import _functions as F
from ..._types import Generator
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every num_replicas-th index, beginning with rank, of a permutation that all processes share.

    The permutation follows from seed and from the number that set_epoch() was given. Indices at its
    beginning are used again so that all processes have equally many, or drop_last leaves out some
    at its end."""

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise RuntimeError(
                "DistributedSampler: wanted num_replicas and rank; libdl has no process group that "
                "knows them"
            )
        if not 0 <= rank < num_replicas:
            raise ValueError(f"DistributedSampler: rank is {rank}, wanted 0 to {num_replicas - 1}")
        self.dataset = dataset
        self.num_replicas, self.rank = num_replicas, rank
        self.epoch = 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        whole = len(dataset) // num_replicas
        fits = drop_last or len(dataset) % num_replicas == 0
        self.num_samples = whole if fits else whole + 1
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = F.randperm(size, generator=generator).tolist()
        else:
            order = list(range(size))
        if order:
            times = math.ceil(self.total_size / len(order))
            order = list(itertools.chain.from_iterable(itertools.repeat(order, times)))
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Of the next iteration: another epoch has another permutation."""
        self.epoch = epoch
