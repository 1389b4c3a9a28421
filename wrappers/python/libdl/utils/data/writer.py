# SPDX-License-Identifier: Apache-2.0
"""The writing end of a ring, in a worker."""

from __future__ import annotations

import os
import pickle
import weakref
from typing import Any

import libdl

from .channel import Channel
from .ring import Room, Slots, packed, slots_freed
from .workers import Answer


class Writer:
    """Sends answers, their tensors through the ring once there is one."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.ring = -1
        self.slots: Slots | None = None
        self.freed = -1
        self.free: set[int] = set()
        self.room: Room | None = None  # of the batch at hand
        # What was used of each slot: a collate_fn may have kept a tensor that it was given there.
        self.used: dict[int, weakref.ref[Any]] = {}

    def use(self, fd: int, freed: int, number: int, size: int, count: int) -> None:
        if self.freed >= 0:
            os.close(self.freed)
        self.ring, self.freed = number, freed
        self.slots = Slots(fd, size, count)
        os.close(fd)
        self.free = set(range(count))
        self.used.clear()

    def _open(self) -> Room | None:
        """The slot for the batch at hand, if one is free."""
        if self.room is None and self.slots is not None:
            self.free.update(slots_freed(self.freed))
            # The first ones again and again: they are in the caches.
            for slot in sorted(self.free):
                if slot not in self.used or self.used[slot]() is None:
                    self.room = Room(self.slots, slot)
                    self.used[slot] = weakref.ref(self.room.memory)
                    break
        return self.room

    def empty(self, shape: tuple[int, ...], dtype: libdl.dtype) -> libdl.Tensor | None:
        """A tensor in the slot of the batch at hand, or None: there is no room for it."""
        room = self._open()
        return None if room is None else room.empty(shape, dtype)

    def send(self, epoch: int, number: int, answer: Answer) -> None:
        try:
            self._send(epoch, number, answer)
        finally:
            self.room = None

    def _send(self, epoch: int, number: int, answer: Answer) -> None:
        pickled, layout = packed(answer)
        room = self._open() if layout.size > 0 else None
        layout.lay(room)
        slot, needed, inline = -1, layout.size, bytearray()
        if room is not None and needed <= room.size:
            slot = room.slot
            layout.write(room.memory)
            self.free.discard(slot)
        elif needed > 0:
            layout.lay()
            inline = bytearray(layout.size)
            layout.write(inline)
        head = (epoch, number, self.ring, slot, len(inline), needed, layout.pieces)
        first = pickle.dumps(head, protocol=5)
        self.channel.send(len(first).to_bytes(8, "little"), first, inline, pickled)
