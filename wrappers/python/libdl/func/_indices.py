# SPDX-License-Identifier: Apache-2.0
"""x[key] of samples, as x[key] of the batch.

A key has two halves, one after the other: slices, new dimensions and numbers give a view; then
index tensors, each for a dimension of the view, read elements together, by the shape that they have
in common. That shape stands in the result where the tensors stood if they are side by side, and in
front if they are not. For a batch the dimensions with index tensors are moved to the front, behind
the batch, where further ones can join them: a number that differs between samples is one of
those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _functions as F
from .._C import Tensor
from .._creation import as_tensor, tensor
from .._vmap_levels import Batched, needs_loop, value_at
from .._overloads import arange
from ._rules import Call, ranked


class Key:
    """A key for samples of a shape."""

    def __init__(
        self, call: Call, key: Any, shape: Sequence[int], numbers_advance: bool = False
    ) -> None:
        self.call = call
        self._numbers_advance = numbers_advance
        self.basic: list[Any] = []  # for the view: without index tensors
        self.numbers: list[
            tuple[int, Tensor]
        ] = []  # dimension of the view, a number of each sample
        self.tensors: list[tuple[int, Tensor]] = []  # dimension of the view, index tensor
        self._dim = 0  # of the view
        self._walk(_parts(key), len(shape))
        self.rank = max((part.ndim for _, part in self.tensors), default=0)
        self.place = self._place()

    # -- taking the key apart --

    def _walk(self, parts: list[Any], ndim: int) -> None:
        used = sum(_consumed(part) for part in parts)
        if used > ndim:
            raise IndexError(f"x[...]: too many indices: {used} for a tensor of {ndim} dimensions")
        rest = ndim - used
        for part in parts:
            if part is Ellipsis:
                self._whole(rest)
                rest = 0
            else:
                self._add(part)

    def _whole(self, count: int) -> None:
        self.basic += [slice(None)] * count
        self._dim += count

    def _add(self, part: Any) -> None:
        if part is None:
            self.basic.append(None)
            self._dim += 1
        elif isinstance(part, slice):
            self.basic.append(part)
            self._dim += 1
        elif isinstance(part, Tensor):
            self._add_tensor(part)
        else:
            self.basic.append(part)  # a number

    def _add_tensor(self, part: Tensor) -> None:
        if part.dtype.name in ("bool", "uint8"):
            if type(part) is Batched:
                raise needs_loop(
                    "vmap: x[mask] with a mask that differs between samples has results of "
                    "different shapes; where(mask, x, 0) has one shape"
                )
            self._add_mask(part)
        elif part.ndim == 0 and not self._numbers_advance:
            if type(part) is Batched:  # in this level or another: a view cannot follow it
                self.numbers.append((self._dim, part))
                self._whole(1)
            else:
                self.basic.append(part)
        else:
            self.tensors.append((self._dim, part))
            self._whole(1)

    def _add_mask(self, mask: Tensor) -> None:
        if mask.ndim == 0:  # takes a new dimension of size 1, or none of it
            self.basic.append(None)
            places = [mask.reshape(1).nonzero()[:, 0]]
            self.tensors.append((self._dim, places[0]))
            self._dim += 1
            return
        for place in mask.nonzero().unbind(1):
            self.tensors.append((self._dim, place))
            self._whole(1)

    def _place(self) -> int:
        """The dimension of the result at which the shape of the index tensors begins."""
        places = [dim - sum(number < dim for number, _ in self.numbers) for dim, _ in self.tensors]
        side_by_side = places and places[-1] - places[0] == len(places) - 1
        return places[0] if side_by_side else 0

    # -- using it --

    def read(self, x: Tensor) -> Tensor:
        """x[key] as values."""
        value = value_at(x, self.call.level)
        view, indices = self._moved(x, value)
        found = view[tuple(indices)] if indices else view
        return self._back(found)

    def write(self, x: Tensor, new: Any, accumulate: bool = False) -> None:
        """x[key] = new."""
        view, indices = self._moved(x, value_at(x, self.call.level))
        first = (x.dtype, view.device)
        source = self._source(view, new, first)
        if not indices:
            view.copy_(source)
        elif accumulate:
            view.index_put_(tuple(indices), source.to(view.dtype), accumulate=True)
        else:
            view[tuple(indices)] = source

    def _moved(self, x: Tensor, value: Tensor | None) -> tuple[Tensor, list[Tensor]]:
        """The view with the dimensions that index tensors read in front, the batch before them, and
        those tensors, one for each of these dimensions, the batch included."""
        batch = 0 if value is None else 1
        given = x if value is None else value
        key = (*[slice(None)] * batch, *self.basic)
        view = given[key] if self.basic else given
        joined = [*self.numbers, *self.tensors]
        if not joined:
            return view, []
        front = [dim + batch for dim, _ in joined]
        rest = [dim for dim in range(batch, view.ndim) if dim not in front]
        view = view.permute(*range(batch), *front, *rest)
        indices = []
        for _, part in joined:
            own = value_at(part, self.call.level)
            indices.append(part if own is None else ranked(own, self.rank))
        if batch:
            each = arange(view.shape[0], device=view.device)
            indices.insert(0, each.view(-1, *[1] * self.rank))
        return view, indices

    def _back(self, found: Tensor) -> Tensor:
        """The shape of the index tensors moves to its place."""
        if not self.rank or not self.place:
            return found
        here = range(1, 1 + self.rank)
        return found.movedim(tuple(here), tuple(dim + self.place for dim in here))

    def _source(self, view: Tensor, new: Any, kind: tuple[Any, Any]) -> Tensor:
        """What is written, with the dimensions that _moved gives the view."""
        if not isinstance(new, Tensor):
            new = tensor(new, dtype=kind[0], device=kind[1])
        own = value_at(new, self.call.level)
        joined = len(self.numbers) + len(self.tensors)
        ndim = view.ndim - 1 - joined + self.rank  # of a sample's result
        value = new.unsqueeze(0) if own is None else own
        while value.ndim - 1 > ndim and value.shape[1] == 1:
            value = value.squeeze(1)
        value = ranked(value, ndim)
        if value.ndim - 1 > ndim:
            raise RuntimeError(
                f"x[...] = value: value has {new.ndim} dimensions, wanted at most {ndim}"
            )
        if not self.rank or not self.place:
            return value
        here = range(1, 1 + self.rank)
        return value.movedim(tuple(dim + self.place for dim in here), tuple(here))


def _parts(key: Any) -> list[Any]:
    """The key as a list, with tensors for lists, arrays and truth values. A list is several keys if
    an entry is a sequence, a tensor, a slice, None or the Ellipsis."""
    if (
        isinstance(key, list)
        and len(key) < 32
        and any(isinstance(x, (Tensor, Sequence, slice, type(None), type(Ellipsis))) for x in key)
    ):
        key = tuple(key)
    return [_part(part) for part in (key if isinstance(key, tuple) else (key,))]


def _part(part: Any) -> Any:
    if part is None or part is Ellipsis or isinstance(part, (slice, Tensor)):
        return part
    if isinstance(part, bool):
        return tensor(part)
    if hasattr(part, "__index__") and not hasattr(part, "__len__"):
        return int(part)
    if getattr(part, "ndim", None) == 0:  # an array
        return as_tensor(part)
    if any(isinstance(x, Tensor) for x in part):
        return F.stack([as_tensor(x) for x in part])
    return as_tensor(part if hasattr(part, "dtype") else list(part))


def _consumed(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, Tensor) and part.dtype.name in ("bool", "uint8"):
        return part.ndim
    return 1
