# SPDX-License-Identifier: Apache-2.0
"""Batches through memory that two processes have mapped once.

A batch is pickled; its tensors and NumPy's arrays lie in a slot of the ring, and the pickle says
where. Memory that is used again has no page faults, which cost more than the copy."""

from __future__ import annotations

import collections
import ctypes
import io
import math
import os
import pickle
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import libdl
from libdl.multiprocessing.memory import Mapping, create

_ALIGNMENT = 64  # bytes: a cache line, and enough for every vector


@dataclass(frozen=True)
class Piece:
    """A tensor in a slot: bytes from offset on."""

    offset: int
    shape: tuple[int, ...]
    dtype: libdl.dtype

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    def place(self, memory: Any) -> libdl.Tensor:
        """The tensor in this memory, sharing its bytes."""
        if self.count == 0:
            return libdl.empty(self.shape, dtype=self.dtype)
        flat = libdl.frombuffer(memory, dtype=self.dtype, count=self.count, offset=self.offset)
        return flat.view(self.shape)


@dataclass(frozen=True)
class Stretch:
    """Bytes in a slot, such as those of an array."""

    offset: int
    size: int


class Layout:
    """Where a batch's tensors go, and other bytes, one behind the other."""

    def __init__(self) -> None:
        self.pieces: list[Piece | Stretch] = []
        self.contents: list[Any] = []
        self.size = 0

    def add(self, x: libdl.Tensor) -> int:
        self._append(Piece(self.size, tuple(x.shape), x.dtype), x, x.numel() * x.element_size())
        return len(self.pieces) - 1

    def add_bytes(self, buffer: pickle.PickleBuffer) -> None:
        content = buffer.raw()
        self._append(Stretch(self.size, content.nbytes), content, content.nbytes)

    def _append(self, piece: Piece | Stretch, content: Any, size: int) -> None:
        self.pieces.append(piece)
        self.contents.append(content)
        self.size = -(-(self.size + size) // _ALIGNMENT) * _ALIGNMENT

    def write(self, memory: Any) -> None:
        for x, piece in zip(self.contents, self.pieces, strict=True):
            if isinstance(piece, Stretch):
                end = piece.offset + piece.size
                memoryview(memory).cast("B")[piece.offset : end] = x
            elif piece.count > 0:
                piece.place(memory).copy_(x)


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, layout: Layout) -> None:
        super().__init__(file, protocol=5, buffer_callback=layout.add_bytes)
        self.layout = layout

    def persistent_id(self, obj: Any) -> int | None:
        # Others, such as a Parameter or a sparse gradient, pickle themselves.
        if type(obj) is libdl.Tensor and obj.is_cpu and not (obj.requires_grad or obj.is_sparse):
            return self.layout.add(obj)
        return None


# No method of the unpickler, which keeps it: the two would hold the slot until the collector runs.
def _stretches(pieces: list[Piece | Stretch], memory: Any, copied: bool) -> Iterator[Any]:
    whole = memoryview(memory).cast("B")
    for piece in pieces:
        if isinstance(piece, Stretch):
            part = whole[piece.offset : piece.offset + piece.size]
            yield bytearray(part) if copied else part


class _Unpickler(pickle.Unpickler):
    def __init__(
        self, file: io.BytesIO, pieces: list[Piece | Stretch], memory: Any, copied: bool
    ) -> None:
        self.pieces, self.memory, self.copied = pieces, memory, copied
        super().__init__(file, buffers=_stretches(pieces, memory, copied))

    def persistent_load(self, pid: int) -> libdl.Tensor:
        piece = self.pieces[pid]
        assert isinstance(piece, Piece)
        x = piece.place(self.memory)
        return x.clone() if self.copied else x


def packed(content: Any) -> tuple[bytes, Layout]:
    """The pickle, and what of it goes elsewhere."""
    file, layout = io.BytesIO(), Layout()
    _Pickler(file, layout).dump(content)
    return file.getvalue(), layout


def unpacked(pickled: bytes, pieces: list[Piece | Stretch], memory: Any, copied: bool) -> Any:
    """copied: the tensors and arrays have memory of their own."""
    return _Unpickler(io.BytesIO(pickled), pieces, memory, copied).load()


class Slots:
    """A mapping in equal parts."""

    def __init__(self, fd: int, size: int, count: int) -> None:
        self.size, self.count = size, count
        self.mapping = Mapping(fd, size * count)

    def memory(self, slot: int) -> ctypes.Array[ctypes.c_char]:
        """Lives as long as a tensor in it does."""
        return self.mapping.part(slot * self.size, self.size)


class Ring:
    """The reader's side: which slots batches hold, and which the writer may use again."""

    def __init__(self, size: int, count: int) -> None:
        self.fd = create(size * count, "libdl-batches")  # until the writer has it
        self.slots = Slots(self.fd, size, count)
        self.held: set[int] = set()
        # Tensors may die in any thread.
        self.given_back: collections.deque[int] = collections.deque()

    def read(
        self, slot: int, pickled: bytes, pieces: list[Piece | Stretch], most_held: int
    ) -> Any:
        """The batch; in memory of its own if batches hold so many slots already."""
        memory = self.slots.memory(slot)
        copied = len(self.held) >= most_held
        batch = unpacked(pickled, pieces, memory, copied)
        if copied:
            self.given_back.append(slot)
        else:
            self.held.add(slot)
            weakref.finalize(memory, _release, weakref.ref(self), slot).atexit = False
        return batch

    def free_slots(self) -> list[int]:
        """Those that the writer is to be told of."""
        free = []
        while self.given_back:
            free.append(self.given_back.popleft())
        return free

    def close(self) -> None:
        """Of the descriptor: the mapping has its own."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __del__(self) -> None:
        if hasattr(self, "fd"):
            self.close()


def _release(ring: weakref.ref[Ring], slot: int) -> None:
    found = ring()
    if found is not None:
        found.held.discard(slot)
        found.given_back.append(slot)
