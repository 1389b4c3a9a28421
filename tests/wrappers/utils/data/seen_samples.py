# SPDX-License-Identifier: Apache-2.0
"""Programs with datasets and samplers of their own, for test_data_samples.py. `m` is libdl, or
PyTorch, whose answers tests/answered.py stores."""

import random
from collections import namedtuple

import numpy as np
from wrappers.answers import told

Point = namedtuple("Point", "x name")


def plain(x):
    if hasattr(x, "tolist") and hasattr(x, "shape"):
        return [type(x).__name__, str(getattr(x, "dtype", "")).split(".")[-1], x.tolist()]
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, *map(plain, x)]
    return x.decode() if isinstance(x, bytes) else x


def batches(m, dataset, **options):
    return [plain(x) for x in m.utils.data.DataLoader(dataset, **options)]


def images(m):
    return m.arange(8 * 3 * 2.0).view(8, 3, 2), m.arange(8) * 10


def samplers(m):
    """Every kind of index and of batch, over rows of tensors, and parts and pairs of them."""
    D = m.utils.data
    x, y = images(m)
    rows = D.TensorDataset(x, y)
    sets = [
        rows,
        D.Subset(rows, [7, 1, 2, 3, 4, 5, 6, 0]),
        D.Subset(rows, m.tensor([3, 1, 2, 0, 4, 5, 6, 7])),
        D.Subset(rows, np.array([3, 1, 2, 0, 4, 5, 6, 7])),
        D.StackDataset(rows, range(8)),
        D.StackDataset(a=rows, b=D.Subset(rows, range(7, -1, -1))),
        D.ConcatDataset([rows, rows]),
        D.TensorDataset(y),
        D.TensorDataset(x[:, 0, 0], y),
    ]
    order, answers = [5, 2, 0, 7], []
    for dataset in sets:
        for sampler in (
            order,
            m.tensor(order),
            np.array(order),
            tuple(order),
            [np.int32(i) for i in order],
            iter(order),
        ):
            answers.append(batches(m, dataset, sampler=sampler, batch_size=2))
        for batch_sampler in (
            [(5, 2), (0, 7)],
            m.tensor(order).split(2),
            np.array(order).reshape(2, 2),
            [[m.tensor(5), 2], [np.int64(0), 7]],
            [range(5, 7)],
            [iter(order)],
            [dict.fromkeys(order)],
            [m.tensor([3])],
        ):
            # PyTorch's first would use them up.
            if not (
                isinstance(dataset, D.StackDataset) and iter(batch_sampler[0]) is batch_sampler[0]
            ):
                answers.append(
                    told(lambda d=dataset, b=batch_sampler: batches(m, d, batch_sampler=b))
                )
        answers.append(batches(m, dataset, sampler=m.tensor(order), batch_size=None))
        answers.append(plain(dataset[m.tensor(5)]))
    answers.append(batches(m, rows, sampler=m.tensor(order).split(2), batch_size=None))
    answers.append(batches(m, rows, sampler=[slice(0, 3), [1, 2]], batch_size=None))
    answers.append(batches(m, rows, batch_sampler=[[[0, 1], [2, 3]]]))
    answers.append(batches(m, rows, sampler=[-1, -8], batch_size=2))
    answers.append(
        [
            told(lambda: batches(m, rows, sampler=[8], batch_size=2)),
            told(lambda: batches(m, rows, sampler=[-9], batch_size=2)),
        ]
    )
    return answers


def replaced(m):
    """Classes that replace __getitem__, where PyTorch calls it."""
    D = m.utils.data
    x, y = images(m)

    class Augmented(D.TensorDataset):
        def __getitem__(self, i):
            image, label = super().__getitem__(i)
            return -image, label + 1

    class Renamed(D.TensorDataset):
        pass

    class Wrapped(D.Dataset):
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            if name == "inner" or name == "__getitems__":
                raise AttributeError(name)
            return getattr(self.inner, name)

        def __len__(self):
            return len(self.inner)

        def __getitem__(self, i):
            return [-v for v in self.inner[i]]

    class Patched(D.TensorDataset):
        pass

    def patched(self, i):
        return self.tensors[0][i] * 2

    Patched.__getitem__ = patched
    answers = []
    for dataset in (Augmented(x, y), Renamed(x, y), Wrapped(Augmented(x, y)), Patched(x, y)):
        for chosen in (dataset, D.Subset(dataset, [6, 1, 4]), D.StackDataset(dataset, dataset)):
            answers.append(batches(m, chosen, batch_size=2, sampler=[2, 0, 1]))
    return answers


def together(m):
    """__getitems__ of the program's, which may return any batch."""
    D = m.utils.data
    asked = []

    class Columns(D.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return i

        def __getitems__(self, indices):
            asked.append([type(indices).__name__, [int(i) for i in indices]])
            return {
                "x": m.tensor([int(i) for i in indices]) * 10,
                "y": [str(int(i)) for i in indices],
            }

    class Fewer(Columns):
        def __getitems__(self, indices):
            return [int(i) for i in indices if i % 2 == 0]

    class Off(Columns):
        __getitems__ = None

    class Mixin:
        def __getitems__(self, indices):
            return [self[i] * 100 for i in indices]

    class Mixed(Mixin, D.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return i

    same = lambda batch: batch  # noqa: E731
    answers = [
        batches(m, Columns(), batch_size=4, collate_fn=same),
        batches(m, Columns(), batch_sampler=m.arange(4).split(2), collate_fn=same),
        batches(m, D.Subset(Columns(), [5, 3, 1]), batch_size=2, collate_fn=same),
        batches(m, Fewer(), batch_size=4),
        batches(m, Off(), batch_size=4),
        batches(m, Mixed(), batch_size=4),
    ]
    given = Off()
    given.__getitems__ = lambda indices: [7 for _ in indices]
    answers.append(batches(m, given, batch_size=4))
    answers.append(told(lambda: batches(m, D.StackDataset(Fewer(), range(6)), batch_size=4)))
    return [*answers, asked]


def collated(m):
    """Texts and numbers of NumPy, and functions in the map."""
    C = m.utils.data._utils.collate
    D = m.utils.data
    answers = [
        plain(told(D.default_collate, batch))
        for batch in (
            [np.str_("a"), np.str_("b")],
            [("a", 1), ("b", 2)],
            [["a", 1], ["b", 2]],
            [Point(1, "a"), Point(2, "b")],
            [{"k": "a"}, {"k": "b"}],
            [np.float64(1), np.float64(2)],
            [np.float32(1), np.float32(2)],
            [np.int16(3)],
            [np.bool_(True)],
            [np.array([1, 2], "f2")],
            (1, 2),
            [True, False],
            [b"x", b"y"],
            [(np.str_("a"), np.arange(2)), (np.str_("b"), np.arange(2))],
            [1.5, 2],
            [range(2), range(2)],
        )
    ]
    for batch in ([np.array(["a"])], [np.array([None])], [object()], [{1}]):
        answers.append(told(D.default_collate, batch))

    class Mine:
        def __init__(self, n):
            self.n = n

    def mine(batch, *, collate_fn_map=None):
        return m.tensor([x.n for x in batch]) * 1000

    with_mine = {**C.default_collate_fn_map, Mine: mine}
    answers.append(
        plain(
            C.collate(
                [
                    (Mine(1), np.arange(2), np.float32(3), "t"),
                    (Mine(2), np.arange(2), np.float32(4), "u"),
                ],
                collate_fn_map=with_mine,
            )
        )
    )
    before = dict(C.default_collate_fn_map)
    x, y = images(m)
    try:
        C.default_collate_fn_map.update(
            {Mine: mine, m.Tensor: lambda batch, *, collate_fn_map=None: "tensors"}
        )
        answers.append(plain(D.default_collate([Mine(3), Mine(4)])))
        answers.append(batches(m, D.TensorDataset(x, y), batch_size=4))
        C.default_collate_fn_map[tuple] = lambda batch, *, collate_fn_map=None: [
            "tuples",
            len(batch),
        ]
        answers.append(batches(m, D.TensorDataset(x, y), batch_size=4))
        C.default_collate_fn_map[np.ndarray] = lambda batch, *, collate_fn_map=None: "arrays"
        answers.append(plain(D.default_collate([np.ones(2)])))
    finally:
        C.default_collate_fn_map.clear()
        C.default_collate_fn_map.update(before)
    return answers


def asked_once(m):
    """A sampler whose iterator begins anew when it is asked for one, as trainers wrap theirs; and
    when its indices are drawn."""
    D, log = m.utils.data, []

    class Wrapper:
        def __init__(self, sampler):
            self.sampler = sampler

        def __iter__(self):
            log.append("iter")
            self.seen, self.indices = [], iter(self.sampler)
            return self

        def __next__(self):
            batch = next(self.indices)
            log.append(list(batch))
            self.seen.append(batch)
            return batch

        def __len__(self):
            return len(self.sampler)

    class Numbers(D.Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, i):
            return i

    loader = D.DataLoader(
        Numbers(), batch_sampler=Wrapper(D.BatchSampler(D.SequentialSampler(range(5)), 2, False))
    )
    begun = iter(loader)
    log.append("begun")
    answers = [next(begun).tolist(), list(log), [x.tolist() for x in begun], list(log)]
    return [*answers, loader.batch_sampler.seen]


def drawn_by_random(m):
    """Samplers that draw from random: the same numbers, for they are not libdl's."""
    D = m.utils.data

    class Lazy(D.Sampler):
        def __len__(self):
            return 6

        def __iter__(self):
            for _ in range(6):
                yield random.randrange(100)

    class Eager(Lazy):
        def __iter__(self):
            return iter(random.sample(range(100), 6))

    class Stream(D.IterableDataset):
        def __iter__(self):
            for _ in range(6):
                yield random.randrange(100)

    answers = []
    for make in (
        lambda: D.DataLoader(range(100), 2, sampler=Lazy()),
        lambda: D.DataLoader(range(100), 2, sampler=Eager()),
        lambda: D.DataLoader(Stream(), 2),
    ):
        random.seed(5)
        loader = make()
        answers.append([[x.tolist() for x in loader] for _ in range(2)])
        answers.append(random.random())
    return answers


def iterators(m):
    """What programs that derive their own iterators reach for."""
    D = m.utils.data
    from importlib import import_module

    L = import_module(f"{m.__name__}.utils.data.dataloader")

    class Doubled(L._SingleProcessDataLoaderIter):
        def _next_data(self):
            return super()._next_data() * 2

        def _next_index(self):
            return list(reversed(super()._next_index()))

    class Loader(D.DataLoader):
        def _get_iterator(self):
            return Doubled(self)

    loader = Loader(range(7), 3)
    begun = iter(loader)
    answers = [
        isinstance(begun, L._BaseDataLoaderIter),
        next(begun).tolist(),
        begun._num_yielded,
        len(begun),
        begun._num_workers,
        begun._auto_collation,
        begun._drop_last,
        begun._dataset_kind == L._DatasetKind.Map,
        begun._dataset is loader.dataset,
        begun._index_sampler is loader.batch_sampler,
        next(begun._sampler_iter),
        begun._timeout,
        begun._persistent_workers,
        [x.tolist() for x in begun],
        loader._iterator,
        loader._dataset_kind,
        loader._IterableDataset_len_called,
    ]
    answers.append(told(begun.__getstate__))
    fetcher = L._DatasetKind.create_fetcher(L._DatasetKind.Map, range(5), True, sum, False)
    answers.append([fetcher.fetch([1, 2, 3]), fetcher.auto_collation])

    class Stream(D.IterableDataset):
        def __iter__(self):
            return iter(range(5))

    fetcher = L._DatasetKind.create_fetcher(L._DatasetKind.Iterable, Stream(), True, list, False)
    answers += [
        fetcher.fetch([None] * 3),
        fetcher.ended,
        next(fetcher.dataset_iter),
        fetcher.fetch([None] * 3),
        fetcher.ended,
        next(fetcher.dataset_iter, "end"),
    ]
    for name in tuple(
        """
        batch_size batch_sampler sampler drop_last dataset persistent_workers
    """.split()
    ):
        answers.append(told(setattr, loader, name, None))
    loader.num_workers = 0
    return answers


PROGRAMS = [samplers, replaced, together, collated, asked_once, drawn_by_random, iterators]
