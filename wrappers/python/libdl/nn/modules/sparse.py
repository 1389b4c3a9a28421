# SPDX-License-Identifier: Apache-2.0
"""Tables that are read by indices: one row for each index, or for each bag of them."""

from __future__ import annotations

from typing import Any

from ..._C import Tensor
from ..._errors import ArgumentValueError
from ..._functions import empty
from ..._modes import no_grad
from ..._types import DeviceLike, DtypeLike
from .. import functional as F, init
from ..parameter import Parameter
from .module import Layer, Module as Module

__all__ = ["Embedding", "EmbeddingBag"]


class Table(Layer):
    """The weight of both, and what a state of it is like."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        weight: Tensor | None,
        requires_grad: bool,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = self._checked(padding_idx)
        if weight is None:
            weight = empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.weight = Parameter(weight, requires_grad)
            self.reset_parameters()
            return
        if tuple(weight.shape) != (num_embeddings, embedding_dim):
            raise ArgumentValueError(
                f"{type(self).__name__}: the weight has shape {list(weight.shape)}, wanted "
                f"{[num_embeddings, embedding_dim]}"
            )
        self.weight = Parameter(weight, requires_grad)

    def _checked(self, padding_idx: int | None) -> int | None:
        """The row from the beginning."""
        rows = self.num_embeddings
        if padding_idx is None:
            return None
        if not -rows <= padding_idx < rows:
            raise ArgumentValueError(
                f"{type(self).__name__}: padding_idx is {padding_idx}, wanted {-rows} to {rows - 1}"
            )
        return padding_idx % rows

    def reset_parameters(self) -> None:
        """Draws a new table; the padding row is zero."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _options(self, *names: str) -> str:
        """What differs from the defaults, for the representation."""
        defaults: dict[str, Any] = {"norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        shown = [(name, getattr(self, name)) for name in names]
        texts = [f"{name}={value!r}" for name, value in shown if value != defaults.get(name)]
        return ", ".join([str(self.num_embeddings), str(self.embedding_dim), *texts])


class Embedding(Table):
    """A table of num_embeddings rows of embedding_dim numbers, read by indices.

    Arguments:
        num_embeddings: the number of rows
        embedding_dim: the size of a row
        padding_idx: a row that starts as zero and receives no gradient
        max_norm: the largest norm of a row that is read; None: no limit
        norm_type: the p of the norm
        scale_grad_by_freq: whether a row's gradient is divided by how often it was read
        sparse: whether the weight's gradient is a sparse tensor

    Shape: indices [...] to [..., embedding_dim].

    Initialisation: weight from N(0, 1); its row padding_idx = 0.

    Example:
        >>> table = nn.Embedding(10, 3)
        >>> table(torch.tensor([[1, 2, 4, 5], [4, 3, 2, 9]])).shape
        libdl.Size([2, 4, 3])
    """

    __constants__ = [
        "num_embeddings",
        "embedding_dim",
        "padding_idx",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "sparse",
    ]

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, _weight, not _freeze, device, dtype
        )
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A table with the given rows; freeze: whether it is not trained."""
        rows, columns = _matrix(cls.__name__, embeddings)
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            embeddings,
            freeze,
        )

    def extra_repr(self) -> str:
        return self._options("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")


class EmbeddingBag(Table):
    """A table of num_embeddings rows of embedding_dim numbers, read by bags of indices, each of
    which gives the sum, mean or maximum of its rows.

    Arguments:
        num_embeddings: the number of rows
        embedding_dim: the size of a row
        max_norm: the largest norm of a row that is read; None: no limit
        norm_type: the p of the norm
        scale_grad_by_freq: whether a row's gradient is divided by how often it was read
        mode: "sum", "mean" or "max"
        sparse: whether the weight's gradient is a sparse tensor
        include_last_offset: whether offsets also tells where the last bag ends
        padding_idx: a row that starts as zero, is in no bag and receives no gradient

    Shape: indices [n, l], or [l] with offsets [n], to [n, embedding_dim].

    Initialisation: weight from N(0, 1); its row padding_idx = 0.
    """

    __constants__ = [
        "num_embeddings",
        "embedding_dim",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "include_last_offset",
        "padding_idx",
    ]

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, True, device, dtype)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.mode = scale_grad_by_freq, mode
        self.sparse, self.include_last_offset = sparse, include_last_offset

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A table with the given rows; freeze: whether it is not trained."""
        rows, columns = _matrix(cls.__name__, embeddings)
        made = cls(
            rows,
            columns,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made

    def extra_repr(self) -> str:
        return self._options("max_norm", "norm_type", "scale_grad_by_freq", "mode", "padding_idx")


def _matrix(name: str, embeddings: Tensor) -> tuple[int, int]:
    if embeddings.ndim != 2:
        raise ArgumentValueError(
            f"{name}.from_pretrained: embeddings have shape "
            f"{list(embeddings.shape)}, wanted two dimensions"
        )
    rows, columns = embeddings.shape
    return rows, columns
