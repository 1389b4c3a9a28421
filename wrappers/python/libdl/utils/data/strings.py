# SPDX-License-Identifier: Apache-2.0
"""Many strings in one piece of memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

from ... import _creation
from ..._types import int64, uint8

__all__ = ["StringList"]


class StringList(Sequence[str]):
    """A list of strings that cannot be changed: their bytes, one behind the other, and where each
    ends. For names of files and texts that a dataset keeps for all of its samples.

    A list of a million strings is a million objects, in each of which Python counts references: a
    worker that was forked and reads them soon has a copy of all that memory. This is two tensors.
    Processes that are spawned share them instead of unpickling a million strings."""

    def __init__(self, strings: Iterable[str] = ()) -> None:
        encoded = [_encoded(text, i) for i, text in enumerate(strings)]
        sizes = itertools.accumulate(map(len, encoded), initial=0)
        self._ends = _creation.tensor(list(sizes), dtype=int64)
        joined = bytearray(b"".join(encoded))
        self._text = _creation.frombuffer(joined, dtype=uint8) if joined else None
        self._view()

    def _view(self) -> None:
        self._bytes = memoryview(self._text) if self._text is not None else memoryview(b"")
        self._offsets = memoryview(self._ends)

    def __getstate__(self) -> tuple[Any, ...]:
        return self._text, self._ends

    def __setstate__(self, state: Any) -> None:
        self._text, self._ends = state
        self._view()

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def _at(self, i: int) -> str:
        return str(self._bytes[self._offsets[i] : self._offsets[i + 1]], "utf-8", "surrogatepass")

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        """A string, or a list of those of a slice."""
        size = len(self)
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(size))]
        i = index.__index__()
        if not -size <= i < size:
            raise IndexError(f"StringList: index {i}, wanted at least {-size} and < {size}")
        return self._at(i + size if i < 0 else i)

    def __iter__(self) -> Iterator[str]:
        return map(self._at, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (StringList, list)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = [*map(repr, self[:3]), *(["..."] if len(self) > 3 else [])]
        return f"StringList of {len(self)}: [{', '.join(first)}]"


def _encoded(text: str, i: int) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"StringList: element {i} is a {type(text).__name__}, wanted strings")
    return text.encode("utf-8", "surrogatepass")  # names of files may have halves of characters
