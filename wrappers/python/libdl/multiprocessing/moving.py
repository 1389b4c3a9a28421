# SPDX-License-Identifier: Apache-2.0
"""Tensors that move into memory that processes share."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

from .. import _C
from .._C import Tensor
from .._overrides import disabled
from .._types import dtype as Dtype
from .memory import ALIGNMENT, Memory, aligned, memory_of, reserve


def place(
    base: Tensor,
    position: int,
    shape: Iterable[int],
    strides: Iterable[int],
    dtype: Dtype,
) -> Tensor:
    """A tensor over the bytes of a memory, from position on, in the storage of base."""
    usable = (base.numel() - position) // dtype.itemsize * dtype.itemsize
    elements = base[position : position + usable].view(dtype)
    offset = position // dtype.itemsize
    result: Tensor = elements.as_strided(tuple(shape), tuple(strides), offset).detach()
    return result


class Group:
    """Tensors of one storage, which keep what they share when they move."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.low, self.high = 0, 0  # the bytes of the storage that they reach

    def add(self, x: Tensor) -> int:
        """Returns the byte of the storage at which it begins."""
        first = x.storage_offset() * x.element_size()
        last = first + span(x) * x.element_size()
        if not self.tensors:
            self.low, self.high = first, last
        self.low, self.high = min(self.low, first), max(self.high, last)
        self.tensors.append(x)
        return first

    def may_move(self) -> bool:
        """Whether no view is known that would stay behind. What requires grad may always move, as
        modules' parameters do when they are converted."""
        if any(x.requires_grad for x in self.tensors):
            return True
        members = {id(x) for x in self.tensors}
        for x in self.tensors:
            # Of a base that nobody else has, getrefcount sees the reference that it is given.
            if x._base is not None and sys.getrefcount(x._base) > 1 and id(x._base) not in members:
                return False
        bases = [x if x._base is None else x._base for x in self.tensors]
        related = Counter(map(id, bases))
        # A view has a reference to its base, and so has the base's object, which may be a member.
        return all(
            _C.tensor_use_count(base) == related[id(base)] + (id(base) not in members)
            for base in bases
        )

    @property
    def start(self) -> int:
        """low, rounded down so that every element stays aligned."""
        return self.low // ALIGNMENT * ALIGNMENT

    @property
    def size(self) -> int:
        return self.high - self.start

    def move(self, memory: Memory, at: int, follow: bool) -> None:
        """Copies the bytes there. follow: the tensors lie there from now on."""
        base = memory.bytes()
        for x in self.tensors:
            begin = at + x.storage_offset() * x.element_size() - self.start
            whole = x.detach().as_strided((span(x),), (1,))
            memory.write(begin, whole)
            if follow:
                x.data = place(base, begin, x.shape, x.stride(), x.dtype)


def span(x: Tensor) -> int:
    """Elements from the first to the last in memory."""
    steps = zip(x.shape, x.stride(), strict=True)
    return 1 + sum((size - 1) * step for size, step in steps) if x.numel() > 0 else 0


def is_reversed(x: Tensor) -> bool:
    """Whether its elements lie before the first, as those of an array that was turned round."""
    return min(x.stride(), default=0) < 0


@disabled()
def is_shared(x: Tensor) -> bool:
    """Whether other processes may have the memory; true of tensors on a device, as in PyTorch."""
    return not (x.is_cpu or x.is_meta) or memory_of(x) is not None


@disabled()
def share(tensors: Iterable[Tensor]) -> None:
    """Moves the tensors, those of one storage together, into one memory that processes share."""
    groups: dict[int, Group] = {}
    for x in {id(x): x for x in tensors}.values():
        if x.is_meta:
            raise RuntimeError("share_memory_: the tensor is on meta, and has no memory to share")
        if x.is_sparse:
            raise NotImplementedError(
                "share_memory_: a sparse tensor is not moved; share its "
                "values before it is made of them"
            )
        if x.is_cpu and x.numel() > 0 and memory_of(x) is None:
            if is_reversed(x):
                x.data = x.detach().contiguous()
            groups.setdefault(_C.tensor_storage_id(x), Group()).add(x)
    size = sum(aligned(group.size) for group in groups.values())
    if size == 0:
        return
    memory, at = reserve(size)
    for group in groups.values():
        group.move(memory, at, follow=True)
        at += aligned(group.size)


@disabled()
def share_memory_(x: Tensor) -> Tensor:
    """Tensor.share_memory_."""
    if x.is_cpu and x.numel() > 0 and memory_of(x) is None:
        group = Group()
        group.add(x)
        if not group.may_move():
            raise RuntimeError(
                "share_memory_: argument 1 (self) shares its memory with other views of it, which "
                "would stay where they are: share the tensor before they are made"
            )
    share((x,))
    return x
