# SPDX-License-Identifier: Apache-2.0
"""Memory that processes share. It has no name: whoever has a descriptor or a mapping has it, the
kernel counts, and nothing is left when the last of them is gone, however it went."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import itertools
import mmap
import os
import threading
import weakref
from typing import Any

from .. import _C
from .._C import Tensor
from .._creation import frombuffer
from .._types import uint8

ALIGNMENT = 64  # bytes: a cache line, and enough for every vector
# Tensors up to _SMALL bytes share memory with others: each memory costs a descriptor and a page.
_SMALL = 16 * 1024
_COMMON = 256 * 1024
_MOST_APART = 64  # larger tensors of one message with memories of their own; if more, in one

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_MADV_REMOVE = 9  # of Linux
_FAILED = ctypes.c_void_p(-1).value


def create(size: int, name: str = "libdl", reserved: bool = True) -> int:
    """The descriptor of so many bytes. Raises OSError where there is no room for them, rather than
    a signal at the first write; unless they are reserved later, before they are written to."""
    try:
        fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
        raise out_of_descriptors("memory that processes share") from None
    try:
        if reserved:
            os.posix_fallocate(fd, 0, size)
        else:
            os.ftruncate(fd, size)
        # Nobody can cut it off while others read it.
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    except BaseException:
        os.close(fd)
        raise
    return fd


def out_of_descriptors(what: str) -> OSError:
    return OSError(
        errno.EMFILE,
        f"no descriptor is left for {what}: each shared memory needs one in each process that has "
        "it; raise the limit (ulimit -n), or keep fewer of the tensors that arrived",
    )


class Mapping:
    """Such memory in this process. Not the mmap module's: that would keep a descriptor, too."""

    def __init__(self, fd: int, size: int) -> None:
        self.address, self.size = 0, size
        access = mmap.PROT_READ | mmap.PROT_WRITE
        result = _libc.mmap(None, size, access, mmap.MAP_SHARED, fd, 0)
        if result == _FAILED:
            number = ctypes.get_errno()
            raise OSError(number, f"mapping {size} bytes: {os.strerror(number)}")
        self.address = result

    def __del__(self, munmap: Any = _libc.munmap) -> None:
        if self.address:
            munmap(self.address, self.size)

    def view(self) -> memoryview:
        """All of the bytes."""
        return memoryview(self.part(0, self.size)).cast("B")

    def give_back(self, offset: int, size: int) -> None:
        """Whole pages, to the system. Nobody may need their bytes; written to again, they have to
        be reserved again."""
        if size > 0:
            _libc.madvise(self.address + offset, size, _MADV_REMOVE)

    def part(self, offset: int, size: int) -> ctypes.Array[ctypes.c_char]:
        """Some of the bytes. Who has the array has the mapping; so do tensors over it."""
        array: Any = (ctypes.c_char * size).from_address(self.address + offset)
        array.mapping = self
        result: ctypes.Array[ctypes.c_char] = array
        return result


class Memory(Mapping):
    """A mapping whose descriptor can be sent."""

    def __init__(self, fd: int, size: int, key: tuple[int, int]) -> None:
        """Takes the descriptor."""
        self.fd, self.key = fd, key
        super().__init__(fd, size)

    def __del__(self, munmap: Any = _libc.munmap, close: Any = os.close) -> None:
        super().__del__(munmap)
        close(self.fd)

    def bytes(self) -> Tensor:
        """All of them as a tensor of uint8, a storage of its own."""
        summary_pb = frombuffer(self.part(0, self.size), dtype=uint8)
        _of_storage[_C.tensor_storage_id(summary_pb)] = self
        return summary_pb

    def write(self, position: int, x: Tensor) -> None:
        """Copies a row of elements there. The kernel does so in half the time: at first, each page
        of a mapping that is written to is a fault."""
        rest = memoryview(x.view(uint8))
        while rest:
            written = os.pwrite(self.fd, rest, position)
            rest, position = rest[written:], position + written


# This process's mappings by inode, so that memory which arrives again is mapped once; and by
# storage: an id may be another storage's by now, so the address must be in the mapping, too.
_mapped: weakref.WeakValueDictionary[tuple[int, int], Memory] = weakref.WeakValueDictionary()
_of_storage: weakref.WeakValueDictionary[int, Memory] = weakref.WeakValueDictionary()
_common: list[Any] = []  # the memory for small tensors, and how much of it is in use
_lock = threading.RLock()


def _forked() -> None:
    """The parent goes on placing tensors into the common memory."""
    global _lock
    _lock = threading.RLock()
    _common.clear()


os.register_at_fork(after_in_child=_forked)


def mapped(fd: int) -> Memory:
    """Takes the descriptor of memory made here or elsewhere."""
    status = os.fstat(fd)
    key = status.st_dev, status.st_ino
    with _lock:
        memory = _mapped.get(key)
        if memory is None:
            memory = _mapped[key] = Memory(fd, status.st_size, key)
        else:
            os.close(fd)
    return memory


def memory_of(x: Tensor) -> tuple[Memory, int] | None:
    """The memory in which the tensor lies and the byte at which it begins, or None."""
    memory = _of_storage.get(_C.tensor_storage_id(x))
    if memory is None:
        return None
    position = x.data_ptr() - memory.address
    return (memory, position) if 0 <= position < memory.size else None


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def reserve(size: int) -> tuple[Memory, int]:
    """Room for so many bytes: memory of its own, unless they are few."""
    if size > _SMALL:
        return mapped(create(size)), 0
    with _lock:
        if not _common or _common[1] + size > _COMMON:
            _common[:] = mapped(create(_COMMON)), 0
        memory, used = _common
        _common[1] = used + aligned(size)
    return memory, used


def rooms(sizes: list[int]) -> list[tuple[Memory, int]]:
    """Room for tensors that are sent together: one memory where they would need many."""
    if sum(size > _SMALL for size in sizes) <= _MOST_APART:
        return [reserve(size) for size in sizes]
    memory = mapped(create(sum(map(aligned, sizes))))
    begins = itertools.accumulate(map(aligned, sizes), initial=0)
    return [(memory, begin) for begin, _ in zip(begins, sizes, strict=False)]
