# SPDX-License-Identifier: Apache-2.0
"""Batches through memory that two processes have mapped once.

A batch is pickled; its tensors lie in a slot of the ring, and the pickle says where. Memory that is
used again has no page faults, which cost more than the copy."""

from __future__ import annotations

import collections
import ctypes
import fcntl
import io
import math
import mmap
import os
import pickle
import weakref
from dataclasses import dataclass
from typing import Any

import libdl

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


class Layout:
    """Where a batch's tensors go, one behind the other."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.tensors: list[libdl.Tensor] = []
        self.size = 0

    def add(self, x: libdl.Tensor) -> int:
        self.pieces.append(Piece(self.size, tuple(x.shape), x.dtype))
        self.tensors.append(x)
        used = self.size + x.numel() * x.element_size()
        self.size = -(-used // _ALIGNMENT) * _ALIGNMENT
        return len(self.pieces) - 1

    def write(self, memory: Any) -> None:
        for x, piece in zip(self.tensors, self.pieces, strict=True):
            if piece.count > 0:
                piece.place(memory).copy_(x)


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, layout: Layout) -> None:
        super().__init__(file, protocol=5)
        self.layout = layout

    def persistent_id(self, obj: Any) -> int | None:
        # Others, such as a Parameter or a sparse gradient, pickle themselves.
        if type(obj) is libdl.Tensor and obj.is_cpu and not (obj.requires_grad or obj.is_sparse):
            return self.layout.add(obj)
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, pieces: list[Piece], memory: Any, copied: bool) -> None:
        super().__init__(file)
        self.pieces, self.memory, self.copied = pieces, memory, copied

    def persistent_load(self, pid: int) -> libdl.Tensor:
        x = self.pieces[pid].place(self.memory)
        return x.clone() if self.copied else x


def packed(content: Any) -> tuple[bytes, Layout]:
    """The pickle, and what of it goes elsewhere."""
    file, layout = io.BytesIO(), Layout()
    _Pickler(file, layout).dump(content)
    return file.getvalue(), layout


def unpacked(pickled: bytes, pieces: list[Piece], memory: Any, copied: bool) -> Any:
    """copied: the tensors have memory of their own."""
    return _Unpickler(io.BytesIO(pickled), pieces, memory, copied).load()


def create_memory(size: int) -> int:
    """The descriptor of so many bytes that have no name: the kernel counts who has them. Raises
    OSError where there is no room, rather than a signal at the first write."""
    fd = os.memfd_create("libdl-batches", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.posix_fallocate(fd, 0, size)
        # Nobody can cut it off while others read it.
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    except BaseException:
        os.close(fd)
        raise
    return fd


class Slots:
    """A mapping in equal parts."""

    def __init__(self, fd: int, size: int, count: int) -> None:
        self.size, self.count = size, count
        self.map = mmap.mmap(fd, size * count)

    def memory(self, slot: int) -> ctypes.Array[ctypes.c_char]:
        """Lives as long as a tensor in it does."""
        return (ctypes.c_char * self.size).from_buffer(self.map, slot * self.size)


class Ring:
    """The reader's side: which slots batches hold, and which the writer may use again."""

    def __init__(self, size: int, count: int) -> None:
        self.fd = create_memory(size * count)  # until the writer has it
        self.slots = Slots(self.fd, size, count)
        self.held: set[int] = set()
        # Tensors may die in any thread.
        self.given_back: collections.deque[int] = collections.deque()

    def read(self, slot: int, pickled: bytes, pieces: list[Piece], most_held: int) -> Any:
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
