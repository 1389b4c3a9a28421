# SPDX-License-Identifier: Apache-2.0
"""Objects as messages: a pickle, and beside it the memories in which its tensors lie."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import array
import io
import os
import pickle
import socket
import threading
import weakref
from collections.abc import Iterable, Sequence
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import DupFd, ForkingPickler
from types import NotImplementedType
from typing import Any

from .. import _C
from .._C import Tensor
from .._functions import empty_strided
from .._overrides import disabled
from .._sparse import sparse_coo_tensor
from .._tensor import reduced_meta
from .._types import dtype as Dtype
from .memory import Memory, mapped, memory_of, out_of_descriptors, rooms
from .moving import Group, is_reversed, place

__all__ = ["init_reductions"]

_MOST_AT_ONCE = 253  # descriptors that one sendmsg takes: SCM_MAX_FD of Linux
_ROOM = socket.CMSG_SPACE(_MOST_AT_ONCE * array.array("i").itemsize)
_CLOSED_BY_EXEC = int(socket.MSG_CMSG_CLOEXEC)  # plain ints: an enum's | takes a microsecond


class Message:
    """A pickled object, the memories beside it, and where in them its groups of tensors begin."""

    def __init__(self, pickled: Any, memories: list[Memory], begins: list[tuple[int, int]]) -> None:
        self.pickled, self.memories, self.begins = pickled, memories, begins

    def load(self) -> Any:
        before = getattr(_here, "message", None)
        self.bases: dict[int, Tensor] = {}  # one storage for what was one
        try:
            _here.message = self
            return pickle.loads(self.pickled)
        finally:
            _here.message = before

    def tensor(self, group: int, first: int, shape: Any, strides: Any, dtype: Dtype) -> Tensor:
        number, begin = self.begins[group]
        base = self.bases.get(group)
        if base is None:
            base = self.bases[group] = self.memories[number].bytes()
        return place(base, begin + first, shape, strides, dtype)


_here = threading.local()  # the message that this thread loads, and whether it makes one


def _arrived(
    kind: type[Tensor],
    requires_grad: bool,
    dtype: Dtype,
    shape: Sequence[int],
    strides: Sequence[int],
    group: int,
    first: int,
) -> Tensor:
    """Called when the pickle of a message is loaded. group -1: a tensor without elements."""
    if group < 0:
        result = empty_strided(shape, strides, dtype=dtype)
    else:
        result = _here.message.tensor(group, first, shape, strides, dtype)
    if kind is not Tensor:
        result = _C.make_subclass(kind, result)
    if requires_grad:
        result.requires_grad = True
    return result


def _sparse(shape: Sequence[int], indices: Tensor, values: Tensor) -> Tensor:
    result: Tensor = sparse_coo_tensor(indices, values, shape)
    return result


class _Pickler(ForkingPickler):
    """Leaves tensors' bytes out: they go where other processes can read them."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.keys: dict[Any, int] = {}  # the number of each storage or memory
        self.groups: list[Group | Memory] = []

    @disabled()
    def reducer_override(self, obj: Any) -> tuple[Any, ...] | NotImplementedType:
        if not isinstance(obj, Tensor):
            return NotImplemented
        if type(obj).__reduce_ex__ is not Tensor.__reduce_ex__:
            return NotImplemented  # such as a parameter without a shape
        _check(obj)
        if obj.is_meta:
            return reduced_meta(obj)
        if obj.is_sparse:
            return _sparse, (tuple(obj.shape), obj._indices(), obj._values())
        attributes = dict(obj.__dict__) or None
        kind, requires_grad, dtype = type(obj), obj.requires_grad, obj.dtype
        if is_reversed(obj):
            obj = obj.detach().contiguous()
        how = kind, requires_grad, dtype, tuple(obj.shape), obj.stride()
        return _arrived, (*how, *self._put(obj)), attributes

    def _put(self, x: Tensor) -> tuple[int, int]:
        """The number of the tensor's group, and the byte at which it begins there."""
        if x.numel() == 0:
            return -1, 0
        there = memory_of(x)
        if there is not None:
            memory, position = there
            return self._number(memory.key, memory), position
        number = self._number(_C.tensor_storage_id(x), Group())
        group = self.groups[number]
        assert isinstance(group, Group)
        return number, group.add(x)

    def _number(self, key: object, new: Group | Memory) -> int:
        if key not in self.keys:
            self.keys[key] = len(self.groups)
            self.groups.append(new)
        return self.keys[key]

    @disabled()
    def settle(self) -> tuple[list[Memory], list[tuple[int, int]]]:
        """The memories, and for each group which of them it is in and where it begins; what is not
        in one yet moves there."""
        new = [group for group in self.groups if isinstance(group, Group)]
        places = iter(rooms([group.size for group in new]))
        memories: dict[tuple[int, int], tuple[int, Memory]] = {}
        begins = []
        for group in self.groups:
            if isinstance(group, Memory):
                memory, begin = group, 0
            else:
                memory, at = next(places)
                # The sender shares as well, unless it has other views: those sent stay with them.
                group.move(memory, at, follow=group.may_move())
                begin = at - group.start
            number, _ = memories.setdefault(memory.key, (len(memories), memory))
            begins.append((number, begin))
        return [memory for _, memory in memories.values()], begins


def refuse_history(x: Tensor) -> None:
    if not x.is_leaf:
        raise RuntimeError(
            "a tensor with history cannot go to another process, since backward ends at the border "
            "between processes: send its detach()"
        )


def _check(x: Tensor) -> None:
    refuse_history(x)
    if not (x.is_cpu or x.is_meta):
        raise NotImplementedError(
            f"a tensor on {x.device} cannot go to another process yet: send its cpu()"
        )


def message_of(obj: Any) -> Message:
    """The object as a message. Its tensors lie in memory that processes share from then on."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    before = getattr(_here, "packing", None)
    try:
        # Weakly: where Ctrl-C comes in the way of the last line, it ends with the pickler.
        _here.packing = weakref.ref(pickler)
        pickler.dump(obj)
    finally:
        _here.packing = before
    places = pickler.settle() if pickler.groups else ([], [])
    return Message(file.getbuffer(), *places)


# -- descriptors ----------------------------------------------------------------------------------


class Bundle:
    """Many descriptors in place of one: they wait in a socket, whose descriptor is sent."""

    def __init__(self, descriptors: list[int]) -> None:
        first, self.end = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with first:
            for at in range(0, len(descriptors), _MOST_AT_ONCE):
                part = array.array("i", descriptors[at : at + _MOST_AT_ONCE])
                first.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, part)])

    def fileno(self) -> int:
        return self.end.fileno()


def unbundled(fd: int) -> list[int]:
    """Takes the descriptor of a bundle; those that are in it."""
    with socket.socket(fileno=fd) as end:
        results: list[int] = []
        while True:
            data, part = received(end, 1)
            if not data:
                return results
            results += part


def received(end: socket.socket, size: int, flags: int = 0) -> tuple[bytes, list[int]]:
    """A packet and the descriptors that came with it."""
    data, extras, text, _ = end.recvmsg(size, _ROOM, flags | _CLOSED_BY_EXEC)
    result = array.array("i")
    for _, _, content in extras:
        result.frombytes(content[: len(content) // result.itemsize * result.itemsize])
    if text & socket.MSG_CTRUNC:
        close_all(result)
        raise out_of_descriptors("the tensors that came with a message")
    return data, list(result)


def close_all(descriptors: Iterable[int]) -> None:
    for fd in descriptors:
        os.close(fd)


def all_mapped(descriptors: list[int]) -> list[Memory]:
    """Takes the descriptors."""
    results = []
    while descriptors:
        try:
            results.append(mapped(descriptors.pop(0)))
        except BaseException:
            close_all(descriptors)
            raise
    return results


# -- arguments of a process that is started -------------------------------------------------------


class Starting:
    """An object that a new process, made by spawn or forkserver, is given."""

    def __init__(self, obj: Any) -> None:
        self.obj = obj

    def __reduce__(self) -> tuple[Any, ...]:
        message = message_of(self.obj)
        bundle = None
        if message.memories:
            waiting = Bundle([memory.fd for memory in message.memories])
            popen: Any = get_spawning_popen()
            # Open until the process is made.
            popen.__dict__.setdefault("libdl_bundles", []).append(waiting)
            bundle = DupFd(waiting.fileno())
        return _started, (bytes(message.pickled), message.begins, bundle)


def _started(pickled: bytes, begins: list[tuple[int, int]], bundle: Any) -> Any:
    memories = all_mapped(unbundled(bundle.detach())) if bundle is not None else []
    return Message(pickled, memories, begins).load()


def is_starting() -> bool:
    """Whether a pickler of the standard library is making what a new process is given: tensors in
    it are shared, too. What it sends through pipes are copies."""
    packing = getattr(_here, "packing", None)
    return get_spawning_popen() is not None and (packing is None or packing() is None)


def init_reductions() -> None:
    """Of PyTorch; Tensor.__reduce_ex__ asks is_starting() once this module is there."""
