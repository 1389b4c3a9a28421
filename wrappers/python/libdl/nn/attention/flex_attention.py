# SPDX-License-Identifier: Apache-2.0
"""Attention whose scores a function changes. All scores are computed: the blocks that a mask leaves
out are told, and save nothing here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, overload

from ..._C import Tensor
from ..._functions import logsumexp, zeros
from ..._overloads import arange, where
from ..._types import DeviceLike, float32, int32, int64
from ...func import vmap

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

_DEFAULT_SPARSE_BLOCK_SIZE = 128
_Function = Callable[..., Any]
_score_mod_signature = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
_mask_mod_signature = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
FlexKernelOptions = dict[str, Any]


class AuxRequest(NamedTuple):
    """What flex_attention returns beside its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The logarithms of sums of exponentials of scores, and the largest scores, if asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def _everywhere(function: _Function, shape: tuple[int, ...], scores: Tensor | None) -> Tensor:
    """function(score, batch, head, query, key), or without a score, for each place: [B, H, Q,
    K]."""
    places = [arange(size) for size in shape]
    value = () if scores is None else (0,)
    for k in range(3, -1, -1):  # the innermost maps the keys
        axes = tuple(0 if i == k else None for i in range(4))
        function = vmap(function, in_dims=value + axes)
    values = () if scores is None else (scores,)
    result: Tensor = function(*values, *places)
    return result


# -- masks -----------------------------------------------------------------------------------------


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """A mask that leaves nothing out."""
    return batch.new_ones(batch.shape, dtype=bool)


def and_masks(*mask_mods: _Function) -> _Function:
    """What all of the masks leave."""
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def both(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=bool)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return both


def or_masks(*mask_mods: _Function) -> _Function:
    """What any of the masks leaves."""
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def either(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=bool)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return either


def create_mask(
    mod_fn: _Function,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: DeviceLike | None = None,
) -> Tensor:
    """mask(batch, head, query, key) for each place: [B, H, Q, K], bool."""
    return _everywhere(mod_fn, (B or 1, H or 1, Q_LEN, KV_LEN), None)


class BlockMask:
    """A mask, and which blocks of queries and keys it leaves: for each row of blocks how many
    (kv_num_blocks) and which (kv_indices). Of those, full_kv_ blocks need no mask inside."""

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int],
        mask_mod: _Function,
    ) -> None:
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: _Function | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """A mask of the blocks that are listed."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
        rows, columns = kv_indices.shape[-2:]
        lengths = seq_lengths or (rows * size[0], columns * size[1])
        return cls(
            lengths,
            kv_num_blocks,
            kv_indices,
            full_kv_num_blocks,
            full_kv_indices,
            (size[0], size[1]),
            mask_mod or noop_mask,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Batch, heads, queries and keys."""
        return *self.kv_indices.shape[:-2], *self.seq_lengths

    def to_dense(self) -> Tensor:
        """1 for each block that is left, 0 for others: [B, H, rows, columns]."""
        result = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            result = result | _dense(self.full_kv_num_blocks, self.full_kv_indices)
        return result

    def sparsity(self) -> float:
        """How many percent of the blocks are left out."""
        dense = self.to_dense()
        return 100 * (1 - int(dense.sum()) / dense.numel())

    def numel(self) -> int:
        """The number of places."""
        return math.prod(self.shape)

    def to(self, device: DeviceLike) -> BlockMask:
        """The mask with its lists on a device."""
        lists = (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)
        moved: Any = [None if x is None else x.to(device) for x in lists]
        return BlockMask(
            self.seq_lengths, moved[0], moved[1], moved[2], moved[3], self.BLOCK_SIZE, self.mask_mod
        )

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def _dense(count: Tensor, indices: Tensor) -> Tensor:
    columns = indices.shape[-1]
    used = (arange(columns) < count[..., None]).to(int32)
    return zeros(indices.shape, dtype=int32).scatter_add(-1, indices.to(int64), used)


def _listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks of each row are true, and which, those that are first."""
    order = blocks.to(int32).argsort(dim=-1, descending=True, stable=True)
    return blocks.sum(-1).to(int32), order.to(int32)


def create_block_mask(
    mask_mod: _Function,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: DeviceLike | None = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    **options: Any,
) -> BlockMask:
    """The blocks that mask_mod(batch, head, query, key) leaves."""
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN)
    rows, columns = math.ceil(Q_LEN / size[0]), math.ceil(KV_LEN / size[1])
    padded = zeros(*mask.shape[:2], rows * size[0], columns * size[1], dtype=bool)
    padded[..., :Q_LEN, :KV_LEN] = mask
    counts = padded.reshape(*mask.shape[:2], rows, size[0], columns, size[1]).sum((3, 5))
    whole = counts == size[0] * size[1]
    partial, full_ = _listed((counts > 0) & ~whole), _listed(whole)
    return BlockMask((Q_LEN, KV_LEN), *partial, *full_, (size[0], size[1]), mask_mod)


# -- attention -------------------------------------------------------------------------------------


def _check(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.dim() != 4:
            raise NotImplementedError(
                f"flex_attention: {name} has {x.dim()} dimensions, wanted 4: [B, H, L, E]"
            )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"flex_attention: query has {query.shape[-1]} features, key {key.shape[-1]}, wanted "
            "as many"
        )
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise ValueError(
            f"flex_attention: query has {query.shape[1]} heads, key {key.shape[1]}, wanted as "
            "many, or enable_gqa=True"
        )


@overload
def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: _Function | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: Literal[False] = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: None = None,
) -> Tensor: ...
@overload
def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: _Function | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    return_lse: Literal[True],
    kernel_options: dict[str, Any] | None = None,
    return_aux: None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: _Function | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: Literal[False] = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest,
) -> tuple[Tensor, AuxOutput]: ...
def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: _Function | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query key^T scale)) value: [B, H, Q, E]. score_mod(score, batch, head,
    query, key) sees one score at a time, as 0-d tensors under vmap; where block_mask.mask_mod is
    false, a score is left out. A query that nothing is left for gets zeros.

    Arguments:
        scale: None: 1 / sqrt(E)
        enable_gqa: fewer heads of keys and values, each for as many heads of queries
        return_lse: also log(sum(exp(scores))); return_aux asks for it by name
    """
    _check(query, key, value, enable_gqa)
    if enable_gqa and key.shape[1] != query.shape[1]:
        times = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)) * scale
    scores = scores.to(float32) if scores.dtype.itemsize < 4 else scores
    shape = (scores.shape[0], scores.shape[1], scores.shape[2], scores.shape[3])
    if score_mod is not None:
        scores = _everywhere(score_mod, shape, scores)
    if block_mask is not None:
        scores = where(_everywhere(block_mask.mask_mod, shape, None), scores, -math.inf)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    result = weights.to(query.dtype) @ value
    lse = logsumexp(scores, -1)
    if return_aux is not None:
        return result, AuxOutput(
            lse if return_aux.lse else None, scores.amax(-1) if return_aux.max_scores else None
        )
    return (result, lse) if return_lse else result
