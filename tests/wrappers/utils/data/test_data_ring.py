# SPDX-License-Identifier: Apache-2.0
"""Batches that workers stack where the parent reads them: whatever a collate_fn does with them,
they are those of a loader without workers."""

import ctypes
import os

import numpy
import pytest

import libdl
from libdl.utils import data
from libdl.utils.data import default_collate
from libdl.utils.data.channel import Channel
from libdl.utils.data.collate import collate_into, collated
from libdl.utils.data.ring import Ring, packed, slots_freed
from libdl.utils.data.workers import Answer
from libdl.utils.data.writer import Writer

SIZE = 8192  # elements: a batch of 4 has 128 kB, of which none is too small


class Rows(data.Dataset):
    def __init__(self, sample):
        self.sample = sample

    def __len__(self):
        return 60

    def __getitem__(self, i):
        return self.sample(i)


def _row(i):
    return libdl.arange(SIZE) + i * 1.0


def _array(i):
    return numpy.arange(SIZE) * (i + 1)


def _of_two_dtypes(i):
    return _row(i).double() if i % 4 == 3 else _row(i)


def _that_grows(i):
    return libdl.full((SIZE * (1 + i // 8),), i)


def _of_collated_parts(i):
    return default_collate([_row(i), _row(i + 1)])


def _with_a_name(i):
    return {"row": _row(i), "name": str(i), "small": i, "more": (_row(i) * 2, _array(i))}


SAMPLES = [_row, _array, _of_two_dtypes, _that_grows, _of_collated_parts, _with_a_name]


def _twice(samples):
    x = default_collate(samples)
    return x, x


def _views(samples):
    x = default_collate(samples)
    return x[1:], x[:2], x.mT, x[:, ::2], x.view(libdl.uint8), x.expand(2, *x.shape)


def _changed(samples):
    return default_collate(samples) * 2, default_collate(samples).add_(1)


def _array_of(samples):
    return default_collate(samples).numpy()


class _Keeping:
    """Adds to the sum of all batches, which is one of them."""

    def __init__(self):
        self.kept = []

    def __call__(self, samples):
        self.kept.append(default_collate(samples))
        return self.kept[-1], len(self.kept)


def _failing(samples):
    default_collate(samples)
    return _Bad() if int(samples[0][0]) % 8 == 0 else default_collate(samples)


class _Bad:
    def __reduce__(self):
        raise ValueError("not to be pickled")


def _loader(dataset, **arguments):
    return data.DataLoader(dataset, 4, multiprocessing_context="fork", **arguments)


def _same(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        a, b = list(a.values()), list(b.values())
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            _same(x, y)
    elif isinstance(a, libdl.Tensor):
        assert a.dtype == b.dtype and libdl.equal(a, b)
    else:
        assert numpy.array_equal(a, b)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("sample", SAMPLES)
def test_batches_of_all_kinds_of_samples(sample, keeps):
    wanted = iter(data.DataLoader(Rows(sample), 4))
    kept = []
    for found in _loader(Rows(sample), num_workers=1):
        _same(found, next(wanted))
        kept += [found] * keeps
    for found, right in zip(kept, data.DataLoader(Rows(sample), 4), strict=False):
        _same(found, right)


@pytest.mark.parametrize("collate", [_twice, _views, _changed, _array_of])
def test_what_a_collate_fn_makes_of_its_batch(collate):
    wanted = iter(data.DataLoader(Rows(_row), 4, collate_fn=collate))
    for found in _loader(Rows(_row), num_workers=1, collate_fn=collate):
        _same(found, next(wanted))


def test_one_tensor_twice_is_one():
    for first, second in _loader(Rows(_row), num_workers=1, collate_fn=_twice):
        assert first is second


def _needs_a_gradient(i):
    return _row(i).requires_grad_(i % 3 == 0)


def test_a_batch_with_history_is_refused_and_a_leaf_stays_one():
    """Backward ends at the border between processes: a leaf in place of history would lose it."""
    batches = iter(_loader(Rows(_needs_a_gradient), num_workers=1))
    for _ in range(5):
        with pytest.raises(
            RuntimeError, match="a tensor with history cannot go to another process"
        ):
            next(batches)
    for method in ("process", "thread"):
        single = data.DataLoader(Rows(_needs_a_gradient), None, num_workers=1, worker_method=method)
        for i, x in enumerate(single):
            assert x.is_leaf and x.requires_grad == (i % 3 == 0)
    with pytest.raises(RuntimeError, match="a tensor with history"):
        packed({"deep": [libdl.nn.Parameter(libdl.ones(2)) * 2]})
    kept = libdl.nn.Parameter(libdl.ones(2))
    found = next(
        iter(
            data.DataLoader(
                Rows(lambda i: kept), None, num_workers=1, multiprocessing_context="fork"
            )
        )
    )
    assert type(found) is libdl.nn.Parameter and found.is_leaf and found.requires_grad


def test_a_tensor_that_a_collate_fn_keeps_is_not_written_over():
    class Last(_Keeping):
        def __call__(self, samples):
            found, count = super().__call__(samples)
            return found, [x[0, 0].item() for x in self.kept], count

    numbers = []
    for _, numbers, count in _loader(Rows(_row), num_workers=1, collate_fn=Last()):
        assert count == len(numbers)
    assert numbers == [4.0 * k for k in range(15)]


def test_a_batch_that_cannot_be_sent_takes_no_slot():
    loader = iter(_loader(Rows(_row), num_workers=1, collate_fn=_failing))
    for i in range(0, 60, 4):
        if i % 8 == 0:
            with pytest.raises(ValueError, match="not to be pickled"):
                next(loader)
        else:
            _same(next(loader), default_collate([_row(i + k) for k in range(4)]))


def test_a_batch_is_stacked_in_its_slot():
    ring = Ring(5 * SIZE * 4, 2)
    mine, theirs = Channel.pair()
    writer = Writer(Channel(theirs))
    writer.use(os.dup(ring.fd), os.dup(ring.freed), 0, ring.slots.size, 2)

    def stacked():
        collate_into(writer.empty)
        try:
            x = collated(default_collate, [_row(k) for k in range(4)])
        finally:
            collate_into(None)
        assert x.data_ptr() == ctypes.addressof(writer.slot_writer.memory)
        slot = writer.slot_writer.slot
        writer.send(1, 0, Answer(x))
        message, _ = mine.receive()
        assert len(message) < 2000
        return slot, x

    first, x = stacked()
    second, y = stacked()
    assert (first, second) == (0, 1)
    ring.give_back(0)
    ring.give_back(1)
    del y
    third, y = stacked()
    assert third == 1, "x lies in the first slot"
    ring.give_back(1)
    del x
    assert stacked()[0] == 0
    mine.close()
    writer.channel.close()
    ring.close()


def test_slots_that_are_given_back():
    ring = Ring(4096, 3)
    for slot in (2, 0):
        ring.give_back(slot)
    assert slots_freed(ring.freed) == [0, 2] and slots_freed(ring.freed) == []
    ring.held.add(1)
    child = os.fork()
    if child == 0:
        ring.give_back(1)  # its copy of what the parent holds
        os._exit(0)
    os.waitpid(child, 0)
    assert slots_freed(ring.freed) == [] and ring.held == {1}
    ring.close()


class SomeLarge(data.Dataset):
    """Of these samples a few have 16 MB, and the others 64 kB."""

    def __len__(self):
        return 100

    def __getitem__(self, i):
        return libdl.full((16 << 20 if 5 <= i < 12 else 64 << 10,), i, dtype=libdl.uint8)


def _allocated(batches):
    """Bytes that the kernel has given to the rings."""
    found = 0
    for worker in batches._workers_of_epoch.workers:
        path = f"/proc/{worker.process.pid}/fd"
        for name in os.listdir(path):
            if "libdl-batches" in os.readlink(f"{path}/{name}"):
                found = max(found, os.stat(f"{path}/{name}").st_blocks * 512)
    return found


def test_large_batches_give_their_slots_back_to_the_system():
    batches = iter(
        data.DataLoader(SomeLarge(), None, num_workers=1, multiprocessing_context="fork")
    )
    most = 0
    for i, x in enumerate(batches):
        assert (x == i).all(), i
        most = max(most, _allocated(batches)) if i < 40 else most
        if i == 90:
            assert _allocated(batches) < 1 << 20
    assert 2 * (16 << 20) <= most <= 4 * (16 << 20) + (1 << 20), most


class Alike(SomeLarge):
    def __getitem__(self, i):
        return libdl.full((4 << 20,), i, dtype=libdl.uint8)


def test_slots_have_the_memory_that_their_batches_need():
    """Two that wait, and two that the trainer has between one and the next, as in PyTorch."""
    batches = iter(data.DataLoader(Alike(), None, num_workers=1, multiprocessing_context="fork"))
    for i, x in enumerate(batches):
        assert (x == i).all()
        if i == 50:
            assert _allocated(batches) <= 4 * (4 << 20) + (1 << 16)


def test_a_slot_that_gets_no_memory_is_not_written_to(monkeypatch):
    """Batches go on coming with their messages."""

    def refused(*arguments):
        raise OSError("no memory")

    monkeypatch.setattr(os, "posix_fallocate", refused)
    batches = iter(data.DataLoader(Alike(), None, num_workers=1, multiprocessing_context="fork"))
    for i in range(10):
        assert (next(batches) == i).all()
    assert batches._workers_of_epoch.workers[0].rings and _allocated(batches) == 0
