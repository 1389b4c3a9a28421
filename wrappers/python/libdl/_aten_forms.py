# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators, torch.ops.aten.name, for which no function of libdl takes the same
arguments: here they are, composed of what there is."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import _functions
from ._C import Tensor
from ._conditions import _assert_async as _assert_async
from ._types import DeviceLike, DtypeLike, layout as Layout, Number
from .nn import functional as F

# With the overloads behind a colon, as in _aten.
NAMES = """
_conj _pin_memory randperm scaled_dot_product_attention split:Tensor split_copy:Tensor
squeeze_copy:default,dim,dims unsqueeze_copy view_as_real_copy view_copy _assert_async:default,msg
_assert_scalar _assert_tensor_metadata _is_all_true _is_any_true _grouped_mm _local_scalar_dense
_to_copy _unsafe_view alias arange:default,start,start_step detach_ eye:default,m index:Tensor
index_put index_put_ is_same_size lift_fresh lift_fresh_copy randint:default,low scalar_tensor
slice:Tensor slice_copy:Tensor sym_constrain_range sym_constrain_range_for_size sym_numel
sym_size:default,int sym_storage_offset sym_stride:default,int to:device,dtype,other,dtype_layout
"""


def _to_copy(
    self: Tensor,
    *,
    dtype: DtypeLike | None = None,
    layout: object = None,
    device: DeviceLike | None = None,
    pin_memory: object = None,
    non_blocking: bool = False,
    memory_format: object = None,
) -> Tensor:
    """A copy, of another dtype or on another device."""
    result: Tensor = self.to(device=device, dtype=dtype, copy=True)
    return result


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor itself, or a copy of another dtype or on another device."""
    kwargs.pop("layout", None)
    kwargs.pop("pin_memory", None)
    result: Tensor = self.to(*args, **kwargs)
    return result


def alias(self: Tensor) -> Tensor:
    """A view of the whole."""
    return self.view_as(self)


def _grouped_mm(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: DtypeLike | None = None,
) -> Tensor:
    return F.grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)


def _unsafe_view(self: Tensor, size: Sequence[int]) -> Tensor:
    """The elements in another shape."""
    return self.reshape(size)


def detach_(self: Tensor) -> Tensor:
    """The tensor, which is a leaf from here on."""
    return self.detach_()


def lift_fresh(self: Tensor) -> Tensor:
    """The tensor itself."""
    return self


def lift_fresh_copy(self: Tensor) -> Tensor:
    """A copy."""
    return self.clone()


def slice(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """self[start:end:step] along one dimension."""
    size = self.shape[dim]
    first, last, _ = builtins.slice(start, end, step).indices(size)
    key: Any = [builtins.slice(None)] * self.dim()
    key[dim] = builtins.slice(first, last, step)
    return self[tuple(key)]


def slice_copy(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy of self[start:end:step] along one dimension."""
    return slice(self, dim, start, end, step).clone()


def _key(indices: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(builtins.slice(None) if index is None else index for index in indices)


def index(self: Tensor, indices: Sequence[Any]) -> Tensor:
    """self[indices]; None stands for a whole dimension."""
    return self[_key(indices)]


def index_put_(
    self: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """self[indices] = values, or += with accumulate."""
    if any(i is None for i in indices):
        if accumulate:
            raise NotImplementedError("index_put_: indices hold None and accumulate is true")
        self[_key(indices)] = values
        return self
    return self.index_put_(tuple(indices), values, accumulate)


def index_put(
    self: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """A copy in which copy[indices] are the values."""
    return index_put_(self.clone(), indices, values, accumulate)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return self.shape == other.shape


def _local_scalar_dense(self: Tensor) -> Number:
    """The one element as a number."""
    return self.item()


def _is_all_true(self: Tensor) -> Tensor:
    """Whether all elements are true."""
    return self.all()


def _is_any_true(self: Tensor) -> Tensor:
    """Whether any element is true."""
    return self.any()


def _assert_scalar(self: Number, assert_msg: str) -> None:
    """Raises a RuntimeError unless the number is true."""
    if not self:
        raise RuntimeError(assert_msg)


def _assert_tensor_metadata(
    a: Tensor,
    size: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    dtype: DtypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    layout: Layout | None = None,
) -> None:
    """Raises a RuntimeError unless the tensor is as told."""
    if size is not None and list(size) != list(a.shape):
        raise RuntimeError(
            f"_assert_tensor_metadata: the sizes are {list(a.shape)}, wanted {list(size)}"
        )
    if stride is not None and list(stride) != list(a.stride()):
        raise RuntimeError(
            f"_assert_tensor_metadata: the strides are {a.stride()}, wanted {stride}"
        )
    if dtype is not None and a.dtype is not dtype:
        raise RuntimeError(f"_assert_tensor_metadata: the dtype is {a.dtype}, wanted {dtype}")


def sym_size(self: Tensor, dim: int | None = None) -> Any:
    """The sizes, or one of them."""
    return list(self.shape) if dim is None else self.shape[dim]


def sym_stride(self: Tensor, dim: int | None = None) -> Any:
    """The strides, or one of them."""
    return list(self.stride()) if dim is None else self.stride(dim)


def sym_numel(self: Tensor) -> int:
    """The number of elements."""
    return self.numel()


def sym_storage_offset(self: Tensor) -> int:
    """Where the tensor begins in its memory."""
    return self.storage_offset()


def sym_constrain_range(size: int, *, min: int | None = None, max: int | None = None) -> None:
    """Raises a RuntimeError unless the size is within the bounds."""
    if (min is not None and size < min) or (max is not None and size > max):
        raise RuntimeError(f"sym_constrain_range: the size is {size}, wanted {min} to {max}")


sym_constrain_range_for_size = sym_constrain_range


def split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """Parts of this size along one dimension; the last may be smaller."""
    return list(self.split(split_size, dim))


def split_copy(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """Copies of the parts that split gives."""
    return [part.clone() for part in self.split(split_size, dim)]


def _copying(name: str) -> Callable[..., Tensor]:
    """Of a view, its copy."""

    def make(self: Tensor, *args: object) -> Tensor:
        result: Tensor = getattr(self, name)(*args).clone()
        return result

    make.__name__ = make.__qualname__ = f"{name}_copy"
    return make


squeeze_copy, unsqueeze_copy, view_copy = (
    _copying("squeeze"),
    _copying("unsqueeze"),
    _copying("view"),
)
scaled_dot_product_attention = F.scaled_dot_product_attention


def view_as_real_copy(self: Tensor) -> Tensor:
    """Real and imaginary parts along a new last dimension."""
    return _functions.view_as_real(self).clone()


def _conj(self: Tensor) -> Tensor:
    """The complex conjugate."""
    return self.conj()


def _pin_memory(self: Tensor, device: DeviceLike | None = None) -> Tensor:
    """The tensor in pinned memory."""
    return self.pin_memory()


def _factory(name: str) -> Callable[..., Tensor]:
    def make(
        *args: object, layout: object = None, pin_memory: object = None, **kwargs: object
    ) -> Tensor:
        result: Tensor = getattr(sys.modules["libdl"], name)(*args, **kwargs)
        return result

    make.__name__ = make.__qualname__ = name
    return make


# Named by tables of operators, and refused when they are called.
REFUSED = (
    "_embedding_bag",
    "_fft_c2c",
    "_fft_c2r",
    "_fft_r2c",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_cudnn_attention_backward",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_efficient_attention_backward",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_backward",
    "_scaled_mm",
    "_sparse_addmm",
    "_sparse_mm_reduce_impl",
    "_upsample_bilinear2d_aa",
)
randperm = _factory("randperm")
arange, eye, randint = _factory("arange"), _factory("eye"), _factory("randint")
scalar_tensor = _factory("scalar_tensor")
