# SPDX-License-Identifier: Apache-2.0
"""Batches through memory that two processes have mapped once.

A batch is pickled; its tensors and NumPy's arrays lie in a slot of the ring, and the pickle says
where. Memory that is used again has no page faults, which cost more than the copy."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import ctypes
import io
import math
import os
import pickle
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import NotImplementedType
from typing import Any, NamedTuple

from ... import _C, _creation, _functions as F
from ..._C import Tensor
from ..._overrides import disabled
from ..._types import dtype as Dtype
from ...multiprocessing.memory import Mapping, create
from ...multiprocessing.reductions import refuse_history

_ALIGNMENT = 64  # bytes: a cache line, and enough for every vector
_SMALL = 4096  # bytes of an array that stays in the pickle: a place for each of many costs more
MOST_SLOTS = 62  # of a ring: the bits of an eventfd, but for those at its limit


class Piece(NamedTuple):
    """A tensor in a slot: bytes from offset on."""

    offset: int
    shape: tuple[int, ...]
    dtype: Dtype

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def end(self) -> int:
        return self.offset + self.numel * self.dtype.itemsize

    def place(self, memory: Any) -> Tensor:
        """The tensor in this memory, sharing its bytes."""
        numel = self.numel
        if numel == 0:
            return F.empty(self.shape, dtype=self.dtype)
        flat = _creation.frombuffer(memory, dtype=self.dtype, count=numel, offset=self.offset)
        return flat.view(self.shape)


class Stretch(NamedTuple):
    """Bytes in a slot, such as those of an array."""

    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.offset + self.size


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


class SlotWriter:
    """A slot that the batch at hand is written to: what is collated there need not be copied."""

    def __init__(self, slots: Slots, slot: int, reserve: Callable[[int, int], bool]) -> None:
        """reserve(slot, size) tells whether so many bytes of it may be written to."""
        self.slot, self.size, self.reserve = slot, slots.size, reserve
        self.memory = slots.memory(slot)
        self.used = 0
        self.storages: set[int] = set()  # ids of those that lie there
        self.claimed: list[tuple[int, int]] = []

    def empty(self, shape: tuple[int, ...], dtype: Dtype) -> Tensor | None:
        """A new tensor there, if it fits."""
        piece = Piece(self.used, shape, dtype)
        if piece.numel == 0 or not self.has(piece.end):
            return None
        self.used = min(_aligned(piece.end), self.size)
        result = piece.place(self.memory)
        self.storages.add(_C.tensor_storage_id(result))
        return result

    def has(self, size: int) -> bool:
        """Room for so many bytes."""
        return size <= self.size and self.reserve(self.slot, size)

    def claim(self, x: Any) -> int:
        """The offset of x, which is to be read from where it lies; -1 if it has to be copied: it
        does not lie here as a piece does, or what was claimed before has some of its bytes."""
        if type(x) is not Tensor or _C.tensor_storage_id(x) not in self.storages:
            return -1
        # An id may be another storage's by now, so the address must be here, too.
        begin = x.data_ptr() - ctypes.addressof(self.memory)
        end = begin + x.numel() * x.element_size()
        if begin < 0 or end > self.size or not x.is_contiguous():
            return -1
        if any(begin < there and first < end for first, there in self.claimed):
            return -1
        self.claimed.append((begin, end))
        return begin


class Layout:
    """Where a batch's tensors go, and other bytes, one behind the other."""

    def __init__(self) -> None:
        self.contents: list[Any] = []
        self.pieces: list[Piece | Stretch] = []
        self.there: list[bool] = []  # those that lie in their places already
        self.size = 0

    def add(self, x: Tensor) -> int:
        self.contents.append(x)
        return len(self.contents) - 1

    def add_bytes(self, buffer: pickle.PickleBuffer) -> None:
        self.contents.append(buffer.raw())

    def lay(self, slot_writer: SlotWriter | None = None) -> None:
        """Finds their places; in a room behind what was collated there."""
        self.pieces, self.there = [], []
        self.size = 0 if slot_writer is None else slot_writer.used
        for x in self.contents:
            offset = -1 if slot_writer is None else slot_writer.claim(x)
            piece = _piece(x, self.size if offset < 0 else offset)
            self.pieces.append(piece)
            self.there.append(offset >= 0)
            if offset < 0:
                self.size = _aligned(piece.end)

    def write(self, memory: Any) -> None:
        for x, piece, there in zip(self.contents, self.pieces, self.there, strict=True):
            if there:
                continue
            if isinstance(piece, Stretch):
                memoryview(memory).cast("B")[piece.offset : piece.end] = x
            elif piece.numel > 0:
                piece.place(memory).copy_(x)


def _piece(x: Any, offset: int) -> Piece | Stretch:
    if isinstance(x, memoryview):
        return Stretch(offset, x.nbytes)
    return Piece(offset, tuple(x.shape), x.dtype)


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, layout: Layout) -> None:
        super().__init__(file, protocol=5, buffer_callback=layout.add_bytes)
        self.layout = layout
        self.array = getattr(sys.modules.get("numpy"), "ndarray", None)

    # Not persistent_id: that is asked for every number and text as well.
    def reducer_override(self, obj: Any) -> tuple[Any, ...] | NotImplementedType:
        if not isinstance(obj, Tensor):
            small = type(obj) is self.array and obj.nbytes < _SMALL
            return obj.__reduce__() if small else NotImplemented
        with disabled():
            refuse_history(obj)
            # Others, such as a Parameter or a sparse gradient, pickle themselves.
            plain = type(obj) is Tensor and obj.is_cpu and not obj.is_sparse
            if plain and not obj.requires_grad:
                return _arrived, (self.layout.add(obj),)
        return NotImplemented


class _Here(threading.local):
    """What this thread unpickles: the pieces, their memory, and whether they are copied."""

    batch: tuple[list[Piece | Stretch], Any, bool]


_here = _Here()


def _arrived(number: int) -> Tensor:
    pieces, memory, copied = _here.batch
    piece = pieces[number]
    assert isinstance(piece, Piece)
    x = piece.place(memory)
    return x.clone() if copied else x


def _stretches(pieces: list[Piece | Stretch], memory: Any, copied: bool) -> Iterator[Any]:
    whole = memoryview(memory).cast("B")
    for piece in pieces:
        if isinstance(piece, Stretch):
            part = whole[piece.offset : piece.offset + piece.size]
            yield bytearray(part) if copied else part


def packed(content: Any) -> tuple[bytes, Layout]:
    """The pickle, and what of it goes elsewhere."""
    file, layout = io.BytesIO(), Layout()
    _Pickler(file, layout).dump(content)
    layout.lay()
    return file.getvalue(), layout


def unpacked(pickled: Any, pieces: list[Piece | Stretch], memory: Any, copied: bool) -> Any:
    """copied: the tensors and arrays have memory of their own."""
    try:
        _here.batch = (pieces, memory, copied)
        return pickle.loads(pickled, buffers=_stretches(pieces, memory, copied))
    finally:
        vars(_here).clear()


class Slots:
    """A mapping in equal parts."""

    def __init__(self, fd: int, size: int, count: int) -> None:
        self.size, self.count = size, count
        self.mapping = Mapping(fd, size * count)

    def memory(self, slot: int) -> ctypes.Array[ctypes.c_char]:
        """Lives as long as a tensor in it does."""
        return self.mapping.part(slot * self.size, self.size)


class Ring:
    """The reader's side: which slots batches hold. The writer is told of those that are free again
    by bits in an eventfd, at once: the fewer it uses in turn, the more of them are in the
    caches."""

    def __init__(self, size: int, count: int) -> None:
        self.freed = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.owner = os.getpid()
        # Until the writer has it, which reserves of it what it needs.
        self.fd = create(size * count, "libdl-batches", reserved=False)
        self.slots = Slots(self.fd, size, count)
        self.held: set[int] = set()

    def read(self, slot: int, pickled: Any, pieces: list[Piece | Stretch], most_held: int) -> Any:
        """The batch; in memory of its own if batches hold so many slots already."""
        memory = self.slots.memory(slot)
        copied = len(self.held) >= most_held
        try:
            batch = unpacked(pickled, pieces, memory, copied)
        except BaseException:
            self.give_back(slot)
            raise
        if copied:
            self.give_back(slot)
        else:
            self.held.add(slot)
            weakref.finalize(memory, _release, weakref.ref(self), slot).atexit = False
        return batch

    def give_back(self, slot: int) -> None:
        """To the writer; from any thread, for tensors may die there."""
        if os.getpid() == self.owner:  # a forked process has a copy of what its parent holds
            os.eventfd_write(self.freed, 1 << slot)
        self.held.discard(slot)

    def close(self) -> None:
        """Of the memory's descriptor: the mapping has its own."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __del__(self) -> None:
        if hasattr(self, "freed"):
            os.close(self.freed)
        if hasattr(self, "fd"):
            self.close()


def _release(ring: weakref.ref[Ring], slot: int) -> None:
    result = ring()
    if result is not None:
        result.give_back(slot)


def slots_freed(descriptor: int) -> list[int]:
    """Those that were given back to a ring since the last call."""
    try:
        bits = os.eventfd_read(descriptor)
    except BlockingIOError:
        return []
    return [slot for slot in range(bits.bit_length()) if bits >> slot & 1]
