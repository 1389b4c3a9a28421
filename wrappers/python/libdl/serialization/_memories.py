# SPDX-License-Identifier: Apache-2.0
"""Which of the tensors in a file share memory. Each is stored under its own name, for readers that
know nothing of views; of those that overlap, the file also tells which one's bytes hold all of
them, so that libdl makes views of it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import _C
from .._C import Tensor
from .._types import bool_, complex128, int64, uint8


class View(NamedTuple):
    """A tensor to be stored: its entry's name, and the node that describes it."""

    name: str
    node: dict[str, Any]
    tensor: Tensor  # without history, of its own dtype

    def extent(self) -> tuple[int, int]:
        """First byte in the storage, and the one behind the last."""
        x = self.tensor
        steps = zip(x.shape, x.stride(), strict=True)
        last = sum((size - 1) * step for size, step in steps)
        begin = x.storage_offset() * x.dtype.itemsize
        return begin, begin + (last + 1) * x.dtype.itemsize

    def geometry(self) -> tuple[Any, ...]:
        x = self.tensor
        return x.storage_offset(), tuple(x.shape), tuple(x.stride()), x.dtype

    def holds(self, begin: int, end: int, width: int) -> bool:
        """Whether its own bytes in a file are those of the memory from begin to end, and are
        aligned for elements of that width."""
        wide = self.tensor.dtype.itemsize == width
        return wide and self.extent() == (begin, end) and self.tensor.is_contiguous()


def overlapping(views: list[View]) -> Iterator[list[View]]:
    """Groups of at least two of different geometry whose memory overlaps."""
    by_storage: dict[tuple[int, bool], list[tuple[int, int, int]]] = {}
    for i, view in enumerate(views):
        if view.tensor.numel():
            # Bytes of truth values are 0 or 1: they share memory with each other only.
            key = _C.tensor_storage_id(view.tensor), view.tensor.dtype is bool_
            by_storage.setdefault(key, []).append((*view.extent(), i))
    for places in by_storage.values():
        group: list[View] = []
        reached = 0
        for begin, end, i in sorted(places):
            if group and begin >= reached:
                yield from _several(group)
                group = []
            group.append(views[i])
            reached = max(reached, end)
        yield from _several(group)


def _several(group: list[View]) -> Iterator[list[View]]:
    if len({view.geometry() for view in group}) > 1:
        yield group


def tell(group: list[View], name: str) -> Tensor | None:
    """Writes into the group's nodes where each lies in the bytes of one entry. This is one of
    theirs, or a further one of that name, which is returned."""
    extents = [view.extent() for view in group]
    begin, end = min(first for first, _ in extents), max(last for _, last in extents)
    width = max(view.tensor.dtype.itemsize for view in group)
    base = next((view for view in group if view.holds(begin, end, width)), None)
    further = None
    if base is None:
        begin -= begin % width
        further = _memory(group[0].tensor, begin, end)
    for view in group:
        if view is not base:
            x = view.tensor
            at = x.storage_offset() * x.dtype.itemsize - begin
            place = base.name if base else name
            view.node.pop("same", None)
            view.node["memory"] = [place, at, list(x.shape), list(x.stride()), x.dtype.name]
    return further


def _memory(x: Tensor, begin: int, end: int) -> Tensor:
    """The storage's bytes, which a file aligns for elements of every width."""
    from .. import _functions

    if x.dtype is bool_:
        return x.as_strided((end - begin,), (1,), begin).detach()
    octets = x.as_strided((1,), (1,), 0).view(uint8).as_strided((end - begin,), (1,), begin)
    filling = -len(octets) % int64.itemsize
    zeros = _functions.zeros((filling,), dtype=uint8, device=x.device)
    return _functions.cat([octets, zeros]).view(int64)


def stored(x: Tensor) -> Tensor:
    """As the file holds it: safetensors have no complex128."""
    from .. import _functions

    if x.dtype is not complex128:
        return x
    return _functions.view_as_real(x.resolve_conj() if hasattr(x, "resolve_conj") else x)
