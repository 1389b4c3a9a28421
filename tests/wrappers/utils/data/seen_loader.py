# SPDX-License-Identifier: Apache-2.0
"""Programs with DataLoader, for test_data_workers.py. `m` is libdl, or PyTorch, whose answers
tests/answered.py stores."""

import os
import random
import re
import warnings

import numpy

from wrappers.answers import told

CONTEXT = {"multiprocessing_context": "fork"}


def squares(m, size):
    class Squares(m.utils.data.Dataset):
        def __len__(self):
            return size

        def __getitem__(self, i):
            return i * i

    return Squares()


def stream(m, size, says=None, sharded=True):
    class Stream(m.utils.data.IterableDataset):
        def __iter__(self):
            info = m.utils.data.get_worker_info()
            first, step = (info.id, info.num_workers) if sharded and info is not None else (0, 1)
            return iter(range(first, size, step))

        if says is not None:

            def __len__(self):
                return says

    return Stream()


def loaded(loader):
    return [b.tolist() if hasattr(b, "tolist") else b for b in loader]


def orders(m):
    L, answers = m.utils.data.DataLoader, []
    for workers in (0, 2):
        context = CONTEXT if workers else {}
        for options in (
            {},
            {"batch_size": 3},
            {"batch_size": 3, "drop_last": True},
            {"batch_size": None},
            {"batch_sampler": [[5, 1], [2], [0, 0, 3]]},
            {"sampler": [4, 2, 6], "batch_size": 2},
            {"sampler": range(3), "batch_size": None},
            {"collate_fn": sum, "batch_size": 4},
        ):
            loader = L(squares(m, 7), num_workers=workers, **context, **options)
            answers.append([len(loader), loaded(loader), loaded(loader)])
    return answers


def streams(m):
    L, answers = m.utils.data.DataLoader, []
    for workers in (0, 1, 2, 3):
        context = CONTEXT if workers else {}
        for options in (
            {"batch_size": 3},
            {"batch_size": 3, "drop_last": True},
            {"batch_size": None},
        ):
            for sharded in (True, False):
                loader = L(stream(m, 8, sharded=sharded), num_workers=workers, **context, **options)
                answers.append([loaded(loader), told(len, loader)])
    return answers


def warned(m):
    """Of an IterableDataset that gives more than it says: how often, and with which numbers."""
    L, answers = m.utils.data.DataLoader, []
    for workers in (0, 2):
        context = CONTEXT if workers else {}
        for says, asks, sharded, size in (
            (8, True, True, 2),
            (8, False, False, None),
            (3, True, True, None),
            (20, True, True, 3),
        ):
            loader = L(stream(m, 8, says, sharded), num_workers=workers, batch_size=size, **context)
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                length = len(loader) if asks else None
                batches = len(list(loader))
            texts = [str(w.message) for w in found if "IterableDataset" in str(w.message)]
            numbers = [[int(n) for n in re.findall(r"(?<=\s)\d+(?=[\s(])", text)] for text in texts]
            answers.append(
                [
                    length,
                    batches,
                    numbers,
                    [w.category.__name__ for w in found if "IterableDataset" in str(w.message)],
                ]
            )
    return answers


def workers(m):
    """worker_init_fn, persistent workers, get_worker_info, prefetch."""
    L, D = m.utils.data.DataLoader, m.utils.data

    class Told(D.Dataset):
        made = None

        def __len__(self):
            return 8

        def __getitem__(self, i):
            info = D.get_worker_info()
            return [
                i,
                info.id,
                info.num_workers,
                info.dataset is self,
                -1 if self.made is None else self.made,
                os.getpid(),
            ]

    def begin(number):
        D.get_worker_info().dataset.made = 10 * number

    answers = []
    for persistent in (False, True):
        loader = L(
            Told(),
            batch_size=2,
            num_workers=2,
            worker_init_fn=begin,
            persistent_workers=persistent,
            prefetch_factor=3,
            collate_fn=list,
            **CONTEXT,
        )
        epochs = [[row for batch in loader for row in batch] for _ in range(2)]
        answers.append([[row[:5] for row in rows] for rows in epochs])
        pids = [{row[5] for row in rows} for rows in epochs]
        answers.append([len(pids[0]), pids[0] == pids[1], os.getpid() in pids[0]])
    return [*answers, D.get_worker_info()]


def refused(m):
    L, answers = m.utils.data.DataLoader, []
    for options in (
        {"num_workers": -1},
        {"timeout": -1},
        {"prefetch_factor": 2},
        {"persistent_workers": True},
        {"batch_sampler": [[1]], "batch_size": 2},
        {"batch_sampler": [[1]], "shuffle": True},
        {"batch_size": None, "drop_last": True},
        {"sampler": [1], "shuffle": True},
        {"batch_size": 0},
        {"num_workers": 1, "multiprocessing_context": "teleport"},
        {"multiprocessing_context": "fork"},
    ):
        answers.append(told(lambda o=options: L(squares(m, 3), **o) and None))
    answers.append(told(lambda: L(stream(m, 3), shuffle=True) and None))
    answers.append(told(lambda: loaded(L(stream(m, 3, says=2), shuffle=False))))
    answers.append(loaded(L(squares(m, 0))))
    return answers


def seeders(m):
    """Functions for worker_init_fn that seed some of the generators."""

    def by_torch(number):
        random.seed(m.initial_seed())
        numpy.random.seed(m.initial_seed() % 2**32)

    def all_of_them(number):
        m.manual_seed(7 + number)
        by_torch(number)

    return [
        None,
        numpy.random.seed,
        lambda number: random.seed(1),
        by_torch,
        lambda number: m.manual_seed(3),
        all_of_them,
    ]


def drawing(m):
    """Datasets whose samples tell their worker's seed and what they draw from three generators."""
    D = m.utils.data

    def sample(i):
        info = D.get_worker_info()
        return [
            i,
            info.id,
            info.seed,
            m.rand(()).item(),
            random.random(),
            float(numpy.random.rand()),
        ]

    class Map(D.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, i):
            return sample(i)

    class Stream(D.IterableDataset):
        def __iter__(self):
            for i in range(4):
                yield [*sample(i), m.initial_seed()]

    return [Map(), Stream()]


def draws(m):
    """What workers draw in three epochs: which numbers are equal to which, and those of random and
    NumPy where the worker_init_fn says which they are."""
    answers = []
    for dataset in drawing(m):
        for number, begin in enumerate(seeders(m)):
            for persistent in (False, True):
                for seed in (None, 5):
                    g = None if seed is None else m.Generator().manual_seed(seed)
                    before = m.get_rng_state()
                    loader = m.utils.data.DataLoader(
                        dataset,
                        2,
                        num_workers=2,
                        persistent_workers=persistent,
                        worker_init_fn=begin,
                        generator=g,
                        collate_fn=list,
                        **CONTEXT,
                    )
                    rows = [row for _ in range(3) for batch in loader for row in batch]
                    columns = list(zip(*rows, strict=True))
                    firsts = [[column.index(x) for x in column] for column in columns[2:]]
                    kept = [
                        columns[5] if number in (1, 5) else (),
                        columns[4] if number in (2, 5) else (),
                    ]
                    answers.append(
                        [columns[0], columns[1], firsts, kept, m.equal(before, m.get_rng_state())]
                    )
    return answers


def findable(kind):
    """The class as one of this module: PyTorch pickles pipes to look for others in them."""
    kind.__qualname__ = kind.__name__
    return globals().setdefault(kind.__name__, kind)


def parted(m, size):
    """A pipe whose samples are divided and seeded."""

    class Parted(m.utils.data.IterDataPipe):
        def __init__(self, size):
            self.size, self.part, self.seed, self.shuffled = size, (1, 0), None, None

        def apply_sharding(self, count, number):
            self.part = (count, number)

        def set_seed(self, seed):
            self.seed = seed

        def set_shuffle(self, shuffled):
            self.shuffled = shuffled

        def __iter__(self):
            return (
                [i, self.seed, self.shuffled] for i in range(self.part[1], self.size, self.part[0])
            )

    return findable(Parted)(size)


def joined(m, *pipes):
    class Joined(m.utils.data.IterDataPipe):
        def __init__(self, pipes):
            self.pipes = {"all": pipes}

        def __iter__(self):
            for pipe in self.pipes["all"]:
                yield from pipe

    return findable(Joined)(list(pipes))


def pipes(m):
    """Which samples workers give, and which seeds are equal, in two epochs."""
    answers = []
    for count in (0, 1, 2):
        for shuffle in (None, True, False):
            for persistent in (False, True)[: 1 + count]:
                pipe = joined(m, parted(m, 5), joined(m, parted(m, 4)))
                loader = m.utils.data.DataLoader(
                    pipe,
                    None,
                    shuffle,
                    num_workers=count,
                    persistent_workers=persistent,
                    collate_fn=list,
                    **(CONTEXT if count else {}),
                )
                rows = [row for _ in range(2) for row in loader]
                seeds = [row[1] for row in rows]
                answers.append([[row[0], seeds.index(row[1]), row[2]] for row in rows])
        twice = parted(m, 3)
        twice.inner = joined(m, parted(m, 3))
        answers.append(
            told(
                lambda n=count, p=twice: list(
                    m.utils.data.DataLoader(p, None, num_workers=n, **(CONTEXT if n else {}))
                )
            )
        )
    return answers


PROGRAMS = [orders, streams, warned, workers, refused, draws, pipes]
