# SPDX-License-Identifier: Apache-2.0
"""Sequences of different lengths: padded to one length, or packed without padding.

A packed batch holds step 0 of every sequence, then step 1 of those that have one, and so on, so
that the sequences still running at a step are the first rows of it: they are sorted by length,
longest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ... import _functions as F
from ..._C import Tensor
from ..._creation import tensor as tensor_of
from ..._overloads import arange
from ..._types import int64

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """A packed batch of sequences.

    Fields:
        data: [steps of all sequences, ...]
        batch_sizes: for each step, how many sequences have it: int64, in the host's memory
        sorted_indices: which sequence of the caller is the longest, the second longest, ...; None:
            they are in this order already
        unsorted_indices: the inverse; None: computed
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:  # an older form: a pair of both
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise TypeError(
                    "PackedSequence: without batch_sizes, argument 1 (data) is a pair "
                    f"of data and batch_sizes; found a {type(data).__name__}"
                )
            data, batch_sizes = data
        assert batch_sizes is not None
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                f"PackedSequence: argument 2 (batch_sizes) is on {batch_sizes.device}, wanted cpu"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequences with another dtype or on another device, as Tensor.to converts data; the
        same object if nothing changes. batch_sizes stay where they are."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        indices = (
            i if i is None else i.to(data.device)
            for i in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, *indices)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequences in the host's memory."""
        return self.to(*args, device="cpu", **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequences on a CUDA device."""
        return self.to(*(args or ("cuda",)), **kwargs)

    def float(self) -> PackedSequence:
        """The sequences as float32."""
        return self._as("float32")

    def double(self) -> PackedSequence:
        """The sequences as float64."""
        return self._as("float64")

    def half(self) -> PackedSequence:
        """The sequences as float16."""
        return self._as("float16")

    def long(self) -> PackedSequence:
        """The sequences as int64."""
        return self._as("int64")

    def int(self) -> PackedSequence:
        """The sequences as int32."""
        return self._as("int32")

    def short(self) -> PackedSequence:
        """The sequences as int16."""
        return self._as("int16")

    def char(self) -> PackedSequence:
        """The sequences as int8."""
        return self._as("int8")

    def byte(self) -> PackedSequence:
        """The sequences as uint8."""
        return self._as("uint8")

    def _as(self, dtype: str) -> PackedSequence:
        from ... import _types

        return self.to(dtype=getattr(_types, dtype))

    def pin_memory(self) -> PackedSequence:
        """The sequences in pinned memory."""
        return type(self)(
            self.data.pin_memory(), self.batch_sizes, self.sorted_indices, self.unsorted_indices
        )

    def is_pinned(self) -> bool:
        """Whether data is in pinned memory."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """Whether data is on a CUDA device."""
        return self.data.device.type == "cuda"


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another one; None stays None."""
    if permutation is None:
        return None
    places = arange(permutation.numel(), dtype=permutation.dtype, device=permutation.device)
    return F.empty_like(permutation).scatter_(0, permutation.to(int64), places)


def _runs(batch_sizes: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """First step, last step + 1 and number of sequences, where that number stays the same."""
    start = 0
    for size, same in groupby(batch_sizes):
        stop = start + len(list(same))
        yield start, stop, size
        start = stop


def _checked_lengths(name: str, lengths: Any, batch: Any, steps: Any) -> list[Any]:
    if isinstance(lengths, Tensor) and lengths.ndim != 1:
        raise RuntimeError(
            f"{name}: argument 2 (lengths) has shape {list(lengths.shape)}, wanted a vector"
        )
    counts = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    counted = [int(length) for length in counts]  # NumPy's integers have no __trunc__
    if len(counted) != batch:
        raise RuntimeError(
            f"{name}: argument 2 (lengths) has {len(counted)} entries, wanted one "
            f"for each of the {batch} sequences"
        )
    for length in counted:
        if not 0 < length <= steps:
            raise RuntimeError(
                f"{name}: argument 2 (lengths) holds {length}, wanted 1 to the "
                f"{steps} steps of the input"
            )
    return counted


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """The sequences without their padding.

    Arguments:
        input: [steps, batch, ...], or [batch, steps, ...] with batch_first
        lengths: of each sequence, at least 1
        batch_first: which of the two it is
        enforce_sorted: whether lengths must be in decreasing order; otherwise they are sorted here
    """
    name = "pack_padded_sequence"
    if input.ndim < 2:
        raise IndexError(
            f"{name}: argument 1 (input) has {input.ndim} dimensions, wanted 2 or more"
        )
    if input.numel() == 0:
        raise RuntimeError(
            f"{name}: argument 1 (input) has shape {list(input.shape)}, wanted "
            "sequences with elements"
        )
    if batch_first:
        input = input.transpose(0, 1)
    counted = _checked_lengths(name, lengths, input.shape[1], input.shape[0])
    sorted_indices = None
    if enforce_sorted:
        if any(a < b for a, b in zip(counted, counted[1:])):
            raise RuntimeError(
                f"{name}: argument 2 (lengths) is {counted}, wanted a decreasing "
                "order, or enforce_sorted=False"
            )
    else:
        order = sorted(range(len(counted)), key=lambda i: -counted[i])
        sorted_indices = tensor_of(order, dtype=int64, device=input.device)
        input = input.index_select(1, sorted_indices)
        counted = [counted[i] for i in order]
    batch_sizes = [sum(length > step for length in counted) for step in range(counted[0])]
    parts = [
        input[start:stop, :size].reshape(-1, *input.shape[2:])
        for start, stop, size in _runs(batch_sizes)
    ]
    return PackedSequence(F.cat(parts), tensor_of(batch_sizes, dtype=int64), sorted_indices)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The sequences padded to the length of the longest, or to total_length, and their lengths, in
    the order in which they were packed. The first result is [steps, batch, ...], or
    [batch, steps, ...] with batch_first."""
    data, sizes = sequence.data, sequence.batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                f"pad_packed_sequence: argument 4 (total_length) is {total_length}, "
                f"wanted at least the longest sequence's {steps} steps"
            )
        steps = total_length
    padded = data.new_full((steps, sizes[0], *data.shape[1:]), padding_value)
    row = 0
    for start, stop, size in _runs(sizes):
        rows = (stop - start) * size
        padded[start:stop, :size] = data[row : row + rows].view(stop - start, size, *data.shape[1:])
        row += rows
    lengths = tensor_of([sum(size > i for size in sizes) for i in range(sizes[0])], dtype=int64)
    if batch_first:
        padded = padded.transpose(0, 1)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.to("cpu")]
    return padded, lengths


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences [steps, ...] of different lengths in one tensor [longest, batch, ...], or
    [batch, longest, ...] with batch_first, in the dtype of the first.

    Arguments:
        padding_value: what fills the places beyond a sequence
        padding_side: "right", after it, or "left", before it
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: argument 1 (sequences) is a {type(sequences).__name__}, wanted tensors"
        )
    values = list(sequences.unbind(0) if isinstance(sequences, Tensor) else sequences)
    if not values:
        raise RuntimeError("pad_sequence: argument 1 (sequences) is empty")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"pad_sequence: argument 4 (padding_side) is {padding_side!r}, wanted 'left' or 'right'"
        )
    for i, one in enumerate(values):
        if one.ndim == 0 or one.shape[1:] != values[0].shape[1:]:
            raise RuntimeError(
                f"pad_sequence: argument 1 (sequences) has shape {list(one.shape)} "
                f"at {i}, wanted [steps, ...], equal but for steps to the first's "
                f"{list(values[0].shape)}"
            )
    steps = max(len(one) for one in values)
    shape = (len(values), steps) if batch_first else (steps, len(values))
    padded = values[0].new_full((*shape, *values[0].shape[1:]), padding_value)
    for i, one in enumerate(values):
        places = slice(0, len(one)) if padding_side == "right" else slice(steps - len(one), steps)
        padded[(i, places) if batch_first else (places, i)] = one
    return padded


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences [length, ...] in a padded tensor, as views of it."""
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    counted = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    return [sequence[:length] for sequence, length in zip(batch.unbind(0), counted)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences [steps, ...] of different lengths, packed; see pack_padded_sequence."""
    lengths = [len(one) for one in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences [steps, ...] of a packed batch, in the order in which they were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
