# SPDX-License-Identifier: Apache-2.0
"""Which samples a DataLoader loads: by every kind of index, by datasets that replace __getitem__ or
have a __getitems__, by samplers of the program's; beside PyTorch."""

import numpy
import pytest
from answered import Stored
from wrappers.utils.data import seen_samples

import libdl
from libdl.utils import data

SEEN = Stored(seen_samples)


@pytest.mark.parametrize("case", seen_samples.PROGRAMS, ids=lambda p: p.__name__)
def test_programs_do_what_they_do_with_pytorch(case):
    SEEN.check(case, libdl)


# -- where PyTorch reads samples past the __getitem__ that a class has -----------------------------


class Negated(data.Subset):
    def __getitem__(self, i):
        return [-x for x in super().__getitem__(i)]


class Sums(data.StackDataset):
    def __getitem__(self, i):
        first, second = super().__getitem__(i)
        return first[0] + second


class Both(data.Dataset):
    """Reads batches at once, and knows nothing of classes below it."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return i

    def __getitems__(self, indices):
        return list(indices)


class Below(Both):
    def __getitem__(self, i):
        return super().__getitem__(i) * 10


class BelowBoth(Below):
    def __getitems__(self, indices):
        return [i * 100 for i in indices]


class Wrapper:
    """Delegates all that it does not have."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, i):
        return self.inner[i] * 3


class Delegating(data.Dataset):
    """Has nothing of its own: what it delegates to reads the batches."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __len__(self):
        return len(self.inner)


def _loaded(dataset, **options):
    found = []
    for batch in data.DataLoader(dataset, 3, **options):
        while isinstance(batch, list):
            batch = batch[0]
        found += batch.tolist()
    return found


ROWS = data.TensorDataset(libdl.arange(6))
REPLACED = [
    (Negated(ROWS, [5, 1, 0]), [-5, -1, 0]),
    (data.Subset(Negated(ROWS, [5, 1, 0]), [2, 0]), [0, -5]),
    (Sums(ROWS, range(6)), [0, 2, 4, 6, 8, 10]),
    (data.StackDataset(Negated(ROWS, [5, 1]), range(2)), [-5, -1]),
    (Both(), list(range(8))),
    (Below(), [10 * i for i in range(8)]),
    (data.Subset(Below(), [3, 1]), [30, 10]),
    (BelowBoth(), [100 * i for i in range(8)]),
    (Wrapper(Both()), [3 * i for i in range(8)]),
    (Wrapper(Below()), [30 * i for i in range(8)]),
    (data.Subset(Wrapper(Both()), [7, 2]), [21, 6]),
    (
        data.ConcatDataset([Below(), Wrapper(Both())]),
        [10 * i for i in range(8)] + [3 * i for i in range(8)],
    ),
    (Delegating(Both()), list(range(8))),
]


@pytest.mark.parametrize(("dataset", "wanted"), REPLACED, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize(
    "workers", [{}, {"num_workers": 1}, {"num_workers": 1, "worker_method": "thread"}], ids=str
)
def test_a_getitem_below_an_inherited_getitems_is_called(dataset, wanted, workers):
    assert _loaded(dataset, **workers) == wanted


def test_a_patched_getitem_of_rows_is_called(monkeypatch):
    whole = data.TensorDataset.__getitem__
    monkeypatch.setattr(
        data.TensorDataset, "__getitem__", lambda self, i: tuple(x * 2 for x in whole(self, i))
    )
    assert _loaded(ROWS) == [0, 2, 4, 6, 8, 10] and _loaded(data.Subset(ROWS, [4])) == [8]


class Drawn(data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return libdl.rand((), generator=data.sample_generator())


def test_samples_of_a_part_have_random_numbers_of_their_own():
    """Not those of the first of their batch."""
    for dataset in (data.Subset(Drawn(), list(range(12))), data.StackDataset(Drawn())):
        for size in (3, 4):
            libdl.manual_seed(1)
            found = [
                x
                for batch in data.DataLoader(dataset, size)
                for x in (batch[0] if isinstance(batch, list) else batch).tolist()
            ]
            assert len(set(found)) == 12
            libdl.manual_seed(1)
            wanted = [x.item() for x in data.DataLoader(Drawn(), None)]
            assert found == wanted


@pytest.mark.parametrize("kind", [list, tuple, libdl.tensor, numpy.array], ids=lambda k: k.__name__)
def test_random_numbers_do_not_depend_on_the_kind_of_index(kind):
    order = [5, 0, 11]

    def drawn(sampler):
        libdl.manual_seed(2)
        return [x.item() for x in data.DataLoader(Drawn(), None, sampler=sampler)]

    assert drawn(kind(order)) == drawn(order) and len(set(drawn(order))) == 3


def test_an_iterator_that_has_ended_is_not_asked_again():
    """One that would begin anew gives an endless epoch."""

    class Again(data.IterableDataset):
        def __init__(self):
            self.left = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.left = (self.left or 6) - 1
            if self.left == 0:
                raise StopIteration
            return self.left

    assert [b.tolist() for b in data.DataLoader(Again(), 3)] == [[5, 4, 3], [2, 1]]
    assert [b.tolist() for b in data.DataLoader(Again(), 3, drop_last=True)] == [[5, 4, 3]]
