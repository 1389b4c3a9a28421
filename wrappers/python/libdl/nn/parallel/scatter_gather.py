# SPDX-License-Identifier: Apache-2.0
"""Batches cut into one part for each device, and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, overload

from ..._C import Tensor
from ..._functions import cat
from ..._types import DeviceLike, device
from ...utils._pytree import is_namedtuple_instance

__all__ = ["gather", "scatter", "scatter_kwargs"]

T = TypeVar("T")


def _of(index: Any) -> device:
    return device("cuda", index) if isinstance(index, int) else device(index)


@overload
def scatter(  # type: ignore[overload-overlap]
    inputs: Tensor, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[Tensor, ...]: ...
@overload
def scatter(inputs: T, target_gpus: Sequence[Any], dim: int = 0) -> list[T]: ...
def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """A list of the inputs for each device: tensors are cut along dim and moved, other values are
    the same for all."""
    count = len(target_gpus)
    if isinstance(inputs, Tensor):
        parts = inputs.chunk(count, dim)
        return tuple(part.to(_of(to)) for part, to in zip(parts, target_gpus, strict=False))
    if is_namedtuple_instance(inputs):
        return [
            type(inputs)(*part) for part in zip(*(scatter(x, target_gpus, dim) for x in inputs))
        ]
    if isinstance(inputs, tuple) and inputs:
        return list(zip(*(scatter(x, target_gpus, dim) for x in inputs)))
    if isinstance(inputs, list) and inputs:
        return [list(part) for part in zip(*(scatter(x, target_gpus, dim) for x in inputs))]
    if isinstance(inputs, dict) and inputs:
        parts_of = zip(*(scatter(x, target_gpus, dim) for x in inputs.values()))
        return [type(inputs)(zip(inputs, part, strict=True)) for part in parts_of]
    return [inputs for _ in target_gpus]


def scatter_kwargs(
    inputs: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    target_gpus: Sequence[DeviceLike],
    dim: int = 0,
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """The positional and the named arguments for each device."""
    values: list[Any] = scatter(inputs, target_gpus, dim) if inputs else []
    named: list[Any] = scatter(kwargs, target_gpus, dim) if kwargs else []
    values += [() for _ in range(len(named) - len(values))]
    named += [{} for _ in range(len(values) - len(named))]
    return tuple(values), tuple(named)


def gather(outputs: Sequence[Any], target_device: DeviceLike, dim: int = 0) -> Any:
    """One result of those of several devices, on the target: tensors are joined along dim."""
    first = outputs[0]
    if isinstance(first, Tensor):
        moved = [x.to(_of(target_device)) for x in outputs]
        return cat([x.reshape(1) if x.dim() == 0 else x for x in moved], dim)
    if first is None:
        return None
    if isinstance(first, dict):
        return type(first)(
            (key, gather([x[key] for x in outputs], target_device, dim)) for key in first
        )
    parts = [gather(list(column), target_device, dim) for column in zip(*outputs, strict=True)]
    return type(first)(*parts) if is_namedtuple_instance(first) else type(first)(parts)
