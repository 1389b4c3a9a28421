# SPDX-License-Identifier: Apache-2.0
"""Batches that are put together at once are what their samples make one by one."""

import numpy
import pytest

import libdl
from libdl.utils import data

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(), (1,), (3,), (0, 3), (2, 3), (2, 0), (2, 3, 4)]


def one_by_one(samples):
    return libdl.stack([libdl.as_tensor(x) for x in samples])


def alike(x, y):
    return x.dtype == y.dtype and x.shape == y.shape and x.is_contiguous() and libdl.equal(x, y)


def arrays(shape, dtype, count=5):
    random = numpy.random.default_rng(0)
    return [numpy.asarray(random.integers(0, 9, shape)).astype(dtype) for _ in range(count)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_and_numbers_of_every_dtype(dtype):
    for shape in SHAPES:
        samples = arrays(shape, dtype)
        assert alike(data.default_collate(samples), one_by_one(samples)), shape
    numbers = [x[()] for x in arrays((), dtype)]
    found = data.default_collate(numbers)
    assert alike(found, one_by_one(numbers)) and found.shape == (5,)


def test_arrays_however_they_lie(tmp_path):
    plain = arrays((4, 6), "f4")
    file = numpy.memmap(tmp_path / "rows", "f4", "w+", shape=(5, 4, 6))
    file[:] = plain
    frozen = [x.copy() for x in plain]
    for x in frozen:
        x.flags.writeable = False
    for samples in (
        [numpy.asfortranarray(x) for x in plain],
        [x.T for x in plain],
        [x[::2, ::-1] for x in plain],
        [x[:, 1:2] for x in plain],
        list(file),
        [*file[:2], *plain],
        [plain[0]] * 3,
        plain[:1],
    ):
        assert alike(data.default_collate(samples), one_by_one([numpy.array(x) for x in samples]))
    found = data.default_collate(frozen)
    assert alike(found, one_by_one(plain))
    found.zero_()
    assert (frozen[0] == plain[0]).all()


@pytest.mark.parametrize(
    "samples",
    [
        [numpy.ones(2), numpy.ones(3)],
        [numpy.ones((2, 3)), numpy.ones((3, 2))],
        [numpy.ones(2), numpy.ones(())],
        [numpy.ones((0, 3)), numpy.ones((0, 2))],
    ],
    ids=str,
)
def test_arrays_of_different_shapes_are_refused(samples):
    with pytest.raises(RuntimeError, match="shape"):
        data.default_collate(samples)


@pytest.mark.parametrize(
    "sample",
    [
        numpy.array("2026-01-01", "M8[D]"),
        numpy.zeros(2, "i4,f4"),
        numpy.array(["a"]),
        numpy.array([None]),
        numpy.datetime64("2026-01-01"),
    ],
    ids=repr,
)
def test_what_no_tensor_holds(sample):
    with pytest.raises(TypeError):
        data.default_collate([sample] * 2)


def test_arrays_of_two_dtypes_and_of_another_byte_order():
    assert data.default_collate([numpy.ones(2, "f4"), numpy.ones(2, "f8")]).dtype == libdl.float64
    assert data.default_collate([numpy.float32(1), numpy.float64(2)]).dtype == libdl.float64
    with pytest.raises(ValueError, match=r"byte order \(>f\) is not this machine's"):
        data.default_collate(arrays((2,), ">f4"))


class Nested(data.Dataset):
    """A sample loads others, and draws before and after that."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        first = libdl.rand((), generator=data.sample_generator())
        for _ in data.DataLoader(range(3), 2):
            pass
        return i, first, libdl.rand((), generator=data.sample_generator())


def draws_while_collating(samples):
    return [i for i, *_ in samples], float(libdl.rand((), generator=data.sample_generator()))


@pytest.mark.parametrize("workers", [0, 2])
def test_generators_of_samples_that_load_others(workers):
    for _, first, second in data.DataLoader(Nested(), None, num_workers=workers):
        assert first == second

    def drawn(size):
        libdl.manual_seed(3)
        loader = data.DataLoader(
            Nested(), size, collate_fn=draws_while_collating, num_workers=workers
        )
        return list(loader)

    assert [number for _, number in drawn(2)] == [number for _, number in drawn(1)][1::2]


@pytest.mark.parametrize("kind", [int, bool, numpy.int64, libdl.tensor, str, lambda i: (i, "a")])
def test_an_index_of_any_kind_seeds_its_sample(kind):
    class Drawn(data.Dataset):
        def __getitem__(self, i):
            return libdl.rand(()).item(), libdl.rand((), generator=data.sample_generator()).item()

    def drawn(sampler, size):
        libdl.manual_seed(1)
        return list(data.DataLoader(Drawn(), size, sampler=sampler, collate_fn=lambda batch: batch))

    indices = [kind(1), kind(0)]
    first, second = drawn(indices, 2)[0]
    assert first[0] == first[1] and second[0] == second[1] and first != second
    assert drawn(indices, None) == [first, second] == drawn(indices[::-1], 2)[0][::-1]
    if kind is not str and not isinstance(indices[0], tuple):
        assert drawn([1, 0], 2) == [[first, second]]


def test_what_loads_samples_says_what_is_wrong():
    with pytest.raises(TypeError, match="object is not subscriptable"):
        next(iter(data.DataLoader(iter([]), sampler=[0])))

    class Odd:
        ndim = 0

        def __index__(self):
            raise KeyError("no number")

    with pytest.raises(KeyError, match="no number"):
        next(iter(data.DataLoader([1, 2], sampler=[Odd()])))
