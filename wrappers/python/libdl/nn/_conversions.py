# SPDX-License-Identifier: Apache-2.0
"""Conversions of a module's parameters and buffers to other dtypes and devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import _functions as F
from .._C import Tensor
from .._errors import UnsupportedError
from .._modes import no_grad
from .._types import device as Device, dtype as Dtype
from ._calls import ModuleCalls
from .parameter import is_lazy

C = TypeVar("C", bound="ModuleConversions")


class ModuleConversions(ModuleCalls):
    """A parameter stays the same object, with other elements; so does its gradient."""

    def _apply(self: C, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> C:
        """Replaces the elements of parameters, gradients and buffers by fn of them."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is not None:
                    _convert_parameter(parameter, fn)
            for name, buffer in self._buffers.items():
                if is_lazy(buffer):
                    buffer.data = fn(buffer.data)  # type: ignore[union-attr]
                elif buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self: C, *args: Any, **kwargs: Any) -> C:
        """Moves parameters and buffers to a device, and converts floating ones to a dtype.

        to(device), to(dtype), to(device, dtype), to(tensor), each followed by non_blocking.
        memory_format is accepted and changes nothing.
        """
        device, dtype, non_blocking = _wanted(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"to: a module's dtype is floating or complex, found {dtype}")

        def convert(x: Tensor) -> Tensor:
            wanted = dtype if x.is_floating_point() or x.is_complex() else None
            if x.is_meta and device is not None and device.type != "meta":
                raise UnsupportedError(
                    "Module.to: Cannot copy out of meta tensor; no data! Please use "
                    "Module.to_empty() instead of Module.to() when moving module from meta to a "
                    "different device."
                )
            converted: Tensor = x.to(dtype=wanted, device=device, non_blocking=non_blocking)
            return converted

        return self._apply(convert)

    def to_empty(self: C, *, device: Any, recurse: bool = True) -> C:
        """Gives parameters and buffers new memory on a device, without copying their elements."""
        return self._apply(lambda x: F.empty_like(x, device=device), recurse)

    def float(self: C) -> C:
        """Converts floating parameters and buffers to float32."""
        return self._apply(lambda x: x.float() if x.is_floating_point() else x)

    def double(self: C) -> C:
        """Converts floating parameters and buffers to float64."""
        return self._apply(lambda x: x.double() if x.is_floating_point() else x)

    def half(self: C) -> C:
        """Converts floating parameters and buffers to float16."""
        return self._apply(lambda x: x.half() if x.is_floating_point() else x)

    def bfloat16(self: C) -> C:
        """Converts floating parameters and buffers to bfloat16."""
        return self._apply(lambda x: x.bfloat16() if x.is_floating_point() else x)

    def type(self: C, dst_type: Any) -> C:
        """Converts all parameters and buffers to a dtype."""
        return self._apply(lambda x: x.type(dst_type))

    def cpu(self: C) -> C:
        """Moves parameters and buffers to the host's memory."""
        return self._apply(lambda x: x.cpu())

    def cuda(self: C, device: Any = None) -> C:
        """Moves parameters and buffers to a CUDA device."""
        return self._apply(lambda x: x.cuda(device))

    def _replicate_for_data_parallel(self: C) -> C:
        """A shallow copy without parameters, for others to be set as plain tensors."""
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers = replica._buffers.copy()
        replica._modules = replica._modules.copy()
        replica._is_replica = True
        return replica

    def share_memory(self: C) -> C:
        """Moves all parameters, their gradients and the buffers into one memory that processes
        share: what one of them writes, all see."""
        from ..multiprocessing.moving import share

        def refuse_lazy(x: Tensor) -> Tensor:
            return x.share_memory_() if is_lazy(x) else x  # which raises

        self._apply(refuse_lazy)
        tensors = list(_held(self).values())
        share([*tensors, *(x.grad for x in tensors if x.grad is not None)])
        return self


def _held(module: Any) -> dict[int, Tensor]:
    """The parameters and buffers of a module and of those in it, each once."""
    found: dict[int, Tensor] = {}
    for inner in module._modules.values():
        if inner is not None:
            found |= _held(inner)
    own = [*module._parameters.values(), *module._buffers.values()]
    return found | {id(x): x for x in own if x is not None}


def _convert_parameter(parameter: Any, fn: Callable[[Tensor], Tensor]) -> None:
    gradient = parameter.grad
    converted = fn(parameter.data)
    of_gradient = None if gradient is None else fn(gradient.detach())
    parameter.grad = None  # which must have the parameter's dtype at every moment
    parameter.data = converted
    if gradient is not None:
        gradient.data = of_gradient
        parameter.grad = gradient


def _wanted(args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any, bool]:
    """Device, dtype and non_blocking of the forms of to()."""
    given = dict(kwargs)
    rest = list(args)
    tensor = given.pop("tensor", None)
    if rest and isinstance(rest[0], Tensor):
        tensor = rest.pop(0)
    device, dtype = given.pop("device", None), given.pop("dtype", None)
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    elif rest and isinstance(rest[0], Dtype):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], Dtype)):
            dtype = rest.pop(0)
    non_blocking = given.pop("non_blocking", False)
    if rest and isinstance(rest[0], bool):
        non_blocking = rest.pop(0)
    given.pop("memory_format", None)
    if rest or given:
        raise TypeError(f"to: found {[*rest, *given]}, wanted a device, a dtype or a tensor, and "
                        "non_blocking")  # fmt: skip
    if device is not None:
        device = Device(device)
    return device, dtype, non_blocking
