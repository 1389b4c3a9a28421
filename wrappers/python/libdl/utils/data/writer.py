# SPDX-License-Identifier: Apache-2.0
"""The writing end of a ring, in a worker."""

from __future__ import annotations

import os
import pickle
import weakref
from collections.abc import Iterable
from typing import Any

from ..._C import Tensor
from ..._types import dtype as Dtype
from .channel import Channel
from .ring import SlotWriter, Slots, packed, slots_freed
from .workers import Answer


_PAGE = 4096
_OFTEN = 16  # batches: what none of so many needed is given back to the system


class _Reserved:
    """How much memory each slot has."""

    def __init__(self, fd: int, slots: Slots) -> None:
        """Takes the descriptor."""
        self.fd, self.slots = fd, slots
        self.sizes = [0] * slots.count
        self.last_used = [0] * slots.count
        self.needed = [0] * _OFTEN  # by the last batches
        self.batches = 0

    def __del__(self) -> None:
        os.close(self.fd)

    def reserve(self, slot: int, size: int) -> bool:
        """Whether so many bytes of the slot may be written to."""
        have, want = self.sizes[slot], -(-size // _PAGE) * _PAGE
        if want > have:
            try:
                os.posix_fallocate(self.fd, slot * self.slots.size + have, want - have)
            except OSError:
                return False  # memory is short
            self.sizes[slot] = want
        return True

    def used(self, slot: int, size: int, free: Iterable[int]) -> None:
        """A batch of this size is in the slot. That is cut to what batches need, and now and then
        so are others."""
        self.needed[self.batches % _OFTEN] = size
        self.last_used[slot] = self.batches
        self.batches += 1
        most = -(-max(self.needed) // _PAGE) * _PAGE
        self._cut(slot, most)
        for other in free if self.batches % _OFTEN == 0 else ():
            self._cut(other, most if self.last_used[other] > self.batches - _OFTEN else 0)

    def _cut(self, slot: int, size: int) -> None:
        if size < self.sizes[slot]:
            begin = slot * self.slots.size + size
            self.slots.mapping.give_back(begin, self.sizes[slot] - size)
            self.sizes[slot] = size


class Writer:
    """Sends answers, their tensors through the ring once there is one."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.ring = -1
        self.slots: Slots | None = None
        self.reserved: _Reserved | None = None
        self.freed = -1
        self.free: set[int] = set()
        self.slot_writer: SlotWriter | None = None  # of the batch at hand
        # What was used of each slot: a collate_fn may have kept a tensor that it was given there.
        self.in_use: dict[int, weakref.ref[Any]] = {}

    def use(self, fd: int, freed: int, number: int, size: int, count: int) -> None:
        if self.freed >= 0:
            os.close(self.freed)
        self.ring, self.freed = number, freed
        self.slots = Slots(fd, size, count)
        self.reserved = _Reserved(fd, self.slots)
        self.free = set(range(count))
        self.in_use.clear()

    def _unused(self) -> list[int]:
        """Slots that neither the reader has nor anybody here, the first ones again and again: they
        are in the caches."""
        self.free.update(slots_freed(self.freed))
        return [
            slot
            for slot in sorted(self.free)
            if slot not in self.in_use or self.in_use[slot]() is None
        ]

    def _open(self) -> SlotWriter | None:
        """The slot for the batch at hand, if one is free."""
        if self.slot_writer is None and self.slots is not None and self.reserved is not None:
            for slot in self._unused()[:1]:
                self.slot_writer = SlotWriter(self.slots, slot, self.reserved.reserve)
                self.in_use[slot] = weakref.ref(self.slot_writer.memory)
        return self.slot_writer

    def empty(self, shape: tuple[int, ...], dtype: Dtype) -> Tensor | None:
        """A tensor in the slot of the batch at hand, or None: there is no room for it."""
        slot_writer = self._open()
        return None if slot_writer is None else slot_writer.empty(shape, dtype)

    def send(self, epoch: int, number: int, answer: Answer) -> None:
        try:
            self._send(epoch, number, answer)
        finally:
            self.slot_writer = None

    def _send(self, epoch: int, number: int, answer: Answer) -> None:
        pickled, layout = packed(answer)
        slot_writer = self._open() if layout.size > 0 else None
        layout.lay(slot_writer)
        slot, needed, inline = -1, layout.size, bytearray()
        if slot_writer is not None and slot_writer.has(needed):
            slot = slot_writer.slot
            layout.write(slot_writer.memory)
            self.free.discard(slot)
            if self.reserved is not None:
                self.reserved.used(slot, needed, self._unused())
        elif needed > 0:
            layout.lay()
            inline = bytearray(layout.size)
            layout.write(inline)
        head = (epoch, number, self.ring, slot, len(inline), needed, layout.pieces)
        first = pickle.dumps(head, protocol=5)
        self.channel.send(len(first).to_bytes(8, "little"), first, inline, pickled)
