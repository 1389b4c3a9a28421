# SPDX-License-Identifier: Apache-2.0
"""What optimizers that were written after PyTorch's own import from torch.optim.optimizer."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .._C import Tensor
from .._modes import no_grad

if TYPE_CHECKING:
    from .._types import dtype

R = TypeVar("R")
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]

# Paragraphs that docstrings are put together from.
_capturable_doc = _differentiable_doc = _foreach_doc = _fused_doc = _maximize_doc = _params_doc = ""


def _get_value(x: object) -> Any:
    """A tensor of one element as a number."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: R) -> R:
    """x: nothing is compiled."""
    return x


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """The step without history: differentiable=True is not offered."""

    @functools.wraps(step)
    def without_history(self: Any, *args: object, **kwargs: object) -> Any:
        with no_grad():
            return step(self, *args, **kwargs)

    return without_history


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """(False, False): neither is faster than one call for each tensor."""
    return False, False


def _disable_dynamo_if_unsupported(
    single_tensor_fn: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that changes nothing: nothing is compiled."""
    return lambda function: function


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Where capturable=True is accepted."""
    return ["cuda"]


def _get_scalar_dtype(is_fused: bool | None = None) -> dtype:
    """The dtype of counts of steps."""
    from .._modes import get_default_dtype
    from .._types import float32, float64

    wide = get_default_dtype() == float64 and not is_fused
    return float64 if wide else float32


def group_by_device_and_dtype(
    lists: list[list[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Lists of equal length, split by the device and dtype of the first list's tensors.

    Returns for each pair the parts of the lists and, with_indices, the places of their elements."""
    groups: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for i, row in enumerate(zip(*lists, strict=True)):
        parts, places = groups.setdefault((row[0].device, row[0].dtype), ([[] for _ in lists], []))
        for part, value in zip(parts, row, strict=True):
            part.append(value)
        if with_indices:
            places.append(i)
    return groups
