# SPDX-License-Identifier: Apache-2.0
"""Connections that send an object and the memories of its tensors in one packet: it arrives whole
or not at all, from however many writers, to however many readers, whoever is killed meanwhile."""

from __future__ import annotations

import array
import errno
import io
import pickle
import select
import socket
import struct
import time
from multiprocessing.connection import (
    Client as Client,
    Listener as Listener,
    _ConnectionBase,
    wait as wait,
)
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

from .memory import Memory, create, mapped
from .reductions import (
    _MOST_AT_ONCE,
    Bundle,
    Message,
    all_mapped,
    close_all,
    message_of,
    received,
    unbundled,
)

# Larger ones go through a memory of their own: a packet has to fit into a socket's buffer.
_LARGEST = 32 * 1024
_HEADER = struct.Struct("<BQI")  # flags, bytes of the content, bytes of the pickled places
_OUTSIDE, _BUNDLED = 1, 2
_NO_SIGNAL, DO_NOT_WAIT = int(socket.MSG_NOSIGNAL), int(socket.MSG_DONTWAIT)

__all__ = ["Client", "Connection", "Listener", "Pipe", "wait"]


class Packet:
    """A message in the form in which it is sent."""

    given = False  # to the kernel, or to a thread that will

    def __init__(self, content: Any, message: Message | None) -> None:
        self.memories: list[Memory] = list(message.memories) if message is not None else []
        places = pickle.dumps(message.begins) if message is not None and self.memories else b""
        size = len(content)
        flags = 0
        if size + len(places) > _LARGEST:
            flags |= _OUTSIDE
            outside = mapped(create(size + len(places)))
            there = outside.view()
            there[:size], there[size:] = content, places
            self.memories.append(outside)
        descriptors = [memory.fd for memory in self.memories]
        self.bundle = None
        if len(descriptors) > _MOST_AT_ONCE:
            flags |= _BUNDLED
            self.bundle = Bundle(descriptors)
            descriptors = [self.bundle.fileno()]
        self.parts = [_HEADER.pack(flags, size, len(places))]
        if not flags & _OUTSIDE:
            self.parts += [content, places]
        self.beside = []
        if descriptors:
            numbers = array.array("i", descriptors)
            self.beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)]

    def send(self, end: socket.socket, flags: int = 0) -> None:
        """Raises BlockingIOError if flags has DO_NOT_WAIT and there is no room."""
        while True:
            try:
                end.sendmsg(self.parts, self.beside, flags | _NO_SIGNAL)
                self.given = True
                return
            except OSError as error:
                if error.errno != errno.ETOOMANYREFS:
                    raise
            # As many descriptors as this user may have open are under way: a reader must come.
            if flags & DO_NOT_WAIT:
                raise BlockingIOError
            time.sleep(0.001)


def packet_of(obj: Any) -> Packet:
    message = message_of(obj)
    return Packet(message.pickled, message)


class Arrived:
    """What a packet held, before it is loaded."""

    def __init__(self, data: bytes, descriptors: list[int]) -> None:
        flags, size, places = _HEADER.unpack_from(data)
        content: Any = memoryview(data)[_HEADER.size :]
        if flags & _BUNDLED:
            descriptors = unbundled(descriptors.pop())
        memories = all_mapped(descriptors)
        if flags & _OUTSIDE:
            content = memories.pop().view()
        self.content = content[:size]
        begins = pickle.loads(content[size : size + places]) if places else []
        self.message = Message(self.content, memories, begins)

    def load(self) -> Any:
        return self.message.load()


class Connection(_ConnectionBase):
    """One end of a pipe: a Connection of multiprocessing, whose objects may hold tensors."""

    _handle: int
    _check_closed: Any
    _check_readable: Any
    _check_writable: Any

    def __init__(self, handle: int, readable: bool = True, writable: bool = True) -> None:
        super().__init__(handle, readable, writable)
        self._socket = socket.socket(fileno=handle)

    def _close(self) -> None:
        self._socket.close()

    # -- objects

    def send(self, obj: Any) -> None:
        """Sends an object. Its tensors lie in memory that both processes share from then on."""
        self._check_closed()
        self._check_writable()
        packet_of(obj).send(self._socket)

    def recv(self) -> Any:
        """The next object. Raises EOFError when nobody can send one any more."""
        return self.arrive().load()

    def arrive(self, flags: int = 0) -> Arrived:
        """The next packet. Raises BlockingIOError if flags has DO_NOT_WAIT and there is none."""
        self._check_closed()
        self._check_readable()
        try:
            data, descriptors = received(self._socket, _HEADER.size + _LARGEST, flags)
        except ConnectionResetError:
            raise EOFError from None
        if not data:
            close_all(descriptors)
            raise EOFError
        return Arrived(data, descriptors)

    def try_send(self, packet: Packet) -> bool:
        """Whether there was room for it."""
        self._check_closed()
        try:
            packet.send(self._socket, DO_NOT_WAIT)
        except BlockingIOError:
            return False
        return True

    # -- bytes, as the base class calls for them

    def _send_bytes(self, buf: Any) -> None:
        Packet(bytes(buf), None).send(self._socket)

    def _recv_bytes(self, maxsize: int | None = None) -> io.BytesIO | None:
        arrived = self.arrive()
        if arrived.message.memories:
            raise OSError("the message is an object with tensors: call recv()")
        if maxsize is not None and len(arrived.content) > maxsize:
            return None
        result = io.BytesIO()
        result.write(arrived.content)
        return result

    def _poll(self, timeout: float | None) -> bool:
        waiting = select.poll()
        waiting.register(self._handle, select.POLLIN)
        return bool(waiting.poll(None if timeout is None or timeout < 0 else timeout * 1000))


def Pipe(duplex: bool = True) -> tuple[Connection, Connection]:  # noqa: N802
    """Two connected ends; without duplex the first receives and the second sends."""
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return (
        Connection(first.detach(), writable=duplex),
        Connection(second.detach(), readable=duplex),
    )


def _rebuilt(handle: Any, readable: bool, writable: bool) -> Connection:
    return Connection(handle.detach(), readable, writable)


def _reduce(connection: Connection) -> tuple[Any, ...]:
    handle = DupFd(connection.fileno())
    return _rebuilt, (handle, connection.readable, connection.writable)


ForkingPickler.register(Connection, _reduce)
