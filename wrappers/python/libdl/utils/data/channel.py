# SPDX-License-Identifier: Apache-2.0
"""Messages between two processes: bytes, and descriptors with them. What is under way belongs to
the kernel, and the other end notices at once when a process is gone."""

from __future__ import annotations

import array
import os
import socket
import struct
import weakref
from collections.abc import Sequence

from ...multiprocessing.memory import out_of_descriptors

_HEADER = struct.Struct("<Q")
_MOST_DESCRIPTORS = 2  # of a message

# A forked process has copies of these; while it keeps one, the other end is not told that this
# process is gone.
_open: weakref.WeakSet[Channel] = weakref.WeakSet()


class Channel:
    """One end."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        _open.add(self)

    @classmethod
    def pair(cls) -> tuple[Channel, socket.socket]:
        """This process's end, and the one to hand to another process."""
        mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return cls(mine), other

    def fileno(self) -> int:
        return self.end.fileno()

    def send(self, *parts: bytes | bytearray | memoryview, fds: Sequence[int] = ()) -> None:
        """One message. Raises OSError if the other end is gone."""
        left = [memoryview(_HEADER.pack(sum(len(part) for part in parts)))]
        left += [memoryview(part) for part in parts if len(part) > 0]
        with_it: list[tuple[int, int, array.array[int]]] = []
        if fds:
            with_it = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
        while left:
            sent = self.end.sendmsg(left[:16], with_it, socket.MSG_NOSIGNAL)
            with_it = []
            while left and sent >= len(left[0]):
                sent -= len(left.pop(0))
            if left:
                left[0] = left[0][sent:]

    def receive(self) -> tuple[bytearray, list[int]]:
        """A message and its descriptors. Raises EOFError if the other end is gone."""
        header = bytearray(_HEADER.size)
        fds = self._fill(memoryview(header))
        message = bytearray(_HEADER.unpack(header)[0])
        self._fill(memoryview(message))
        return message, fds

    def _fill(self, place: memoryview) -> list[int]:
        fds: list[int] = []
        room = socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
        while len(place) > 0:
            try:
                count, extras, flags, _ = self.end.recvmsg_into([place], room)
            except ConnectionResetError:
                raise EOFError from None
            if count == 0:
                raise EOFError
            if flags & socket.MSG_CTRUNC:
                raise out_of_descriptors("the memory of batches")
            for _, _, data in extras:
                fds += array.array("i", data)
            place = place[count:]
        return fds

    def close(self) -> None:
        """Tells the other end, though a forked process have a copy of this one."""
        try:
            self.end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is gone already
        self.end.close()


def _forked() -> None:
    for channel in list(_open):
        channel.end.close()


os.register_at_fork(after_in_child=_forked)
