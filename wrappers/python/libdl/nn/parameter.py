# SPDX-License-Identifier: Apache-2.0
"""Tensors that belong to modules."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

from .. import _C
from .._C import Tensor
from .._functions import empty
from .._vmap_levels import Batched
from .._modes import inference_mode, no_grad
from .._overrides import _disabled_torch_function_impl
from .._tensor_str import format_tensor
from .._tensor import twin
from .._types import DeviceLike, DtypeLike


class _Kind(type):
    """Parameter and Buffer are also what they made of a tensor of another class, which keeps it."""

    _mark: str

    def __instancecheck__(cls, instance: object) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        mark = vars(cls).get("_mark")  # their own subclasses have none
        if mark is None or type(instance) is Tensor or not isinstance(instance, Tensor):
            return False
        return mark in instance.__dict__


def _of_its_class(data: Tensor, kind: str, requires_grad: bool) -> Tensor:
    result = data.detach().requires_grad_(requires_grad)
    if type(result) is type(data):
        return result
    name, actual = type(data).__name__, type(result).__name__
    raise RuntimeError(
        f"Creating a {kind} from an instance of type {name} requires that detach() returns an "
        f"instance of the same type, but it returned a {actual}"
    )


class Parameter(Tensor, metaclass=_Kind):
    """A leaf to be trained; assigned to a module, it becomes one of the module's parameters. Made
    of a tensor of a subclass, it is of that class.

    Example:
        >>> nn.Parameter(torch.zeros(2))
        Parameter containing:
        tensor([0., 0.], requires_grad=True)
    """

    _mark = "_is_param"

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        source = empty(0) if data is None else data
        if type(source) not in (Tensor, Parameter) and _keeps_class(source):
            kept: Any = _of_its_class(source, "Parameter", requires_grad)
            kept._is_param = True
            return kept
        if requires_grad and source.is_inference():
            with inference_mode(False), no_grad():  # so that it can be trained once the mode ends
                source = source.clone()
                result: Parameter = _C.make_subclass(cls, source)
                result.requires_grad = True
            return result
        result = _C.make_subclass(cls, source)
        if requires_grad:
            result.requires_grad = True
        return result

    def __repr__(self, **options: Any) -> str:
        return "Parameter containing:\n" + format_tensor(self, "tensor")

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) in memo:
            return memo[id(self)]
        instance = type(self)(twin(self), self.requires_grad)
        memo[id(self)] = instance
        instance.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return instance


_C.register("parameter", Parameter)


def _keeps_class(data: Tensor) -> bool:
    """Not a class of the package's own that stands for a plain tensor."""
    kind = type(data)
    own = (Parameter, Buffer, Batched, UninitializedTensorMixin)
    return issubclass(kind, Tensor) and not issubclass(kind, own)


class Buffer(Tensor, metaclass=_Kind):
    """A tensor that a module keeps without training it. Made of a tensor of a subclass, it is of
    that class."""

    _mark = "_is_buffer"

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        if data is not None and type(data) is not Tensor and _keeps_class(data):
            kept: Any = _of_its_class(data, "Buffer", data.requires_grad)
            kept._is_buffer, kept.persistent = True, persistent
            return kept
        result: Buffer = _C.make_subclass(cls, empty(0) if data is None else data)
        if data is not None and data.requires_grad:
            result.requires_grad = True
        result.persistent = persistent
        return result

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        pass

    persistent: bool


class UninitializedTensorMixin:
    """A parameter or buffer whose shape is not known yet. materialize() makes it one that is."""

    cls_to_become: type[Tensor]
    data: Tensor

    def materialize(
        self, shape: Sequence[int], device: DeviceLike | None = None, dtype: DtypeLike | None = None
    ) -> None:
        """Gives it a shape, and elements that are not set."""
        before = self.data
        self.data = empty(shape, device=device or before.device, dtype=dtype or before.dtype)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    @property
    def _no_shape(self) -> NoReturn:
        raise RuntimeError(
            f"the {self._kind()} is not initialized and has no shape yet: call the "
            "module once before"
        )

    if not TYPE_CHECKING:
        shape = _no_shape

        def numel(self) -> Any:
            return self._no_shape

    def share_memory_(self) -> NoReturn:
        raise RuntimeError(
            f"share_memory_: the {self._kind()} is not initialized and has no memory "
            "yet: call the module once before"
        )

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", str(func))
        if name in _OF_UNINITIALIZED:
            return _disabled_torch_function_impl(cls, func, types, args, kwargs)
        raise ValueError(
            f"{name}: found a {cls._kind()} that is not initialized: call the module once before"
        )

    @classmethod
    def _kind(cls) -> str:
        return "parameter" if issubclass(cls, Parameter) else "buffer"

    def __repr__(self, **options: Any) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        if id(self) not in memo:
            recipe: Any = self.__reduce_ex__(4)
            memo[id(self)] = recipe[0](*recipe[1])
        return memo[id(self)]


# Attributes, and conversions, which keep a parameter without a shape what it is.
_OF_UNINITIALIZED = (
    "__get__",
    "__set__",
    "to",
    "type",
    "float",
    "double",
    "half",
    "bfloat16",
    "cpu",
    "cuda",
    "is_complex",
    "is_floating_point",
    "empty_like",
)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet."""

    cls_to_become = Parameter

    def __new__(
        cls,
        requires_grad: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> UninitializedParameter:
        result: UninitializedParameter = _C.make_subclass(cls, empty(0, device=device, dtype=dtype))
        result.requires_grad = requires_grad
        return result

    def __init__(
        self,
        requires_grad: bool = True,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
    ) -> None:
        pass

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, self.data.device, self.data.dtype)


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer whose shape is not known yet."""

    cls_to_become = Buffer

    def __new__(
        cls,
        requires_grad: bool = False,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        result: UninitializedBuffer = _C.make_subclass(cls, empty(0, device=device, dtype=dtype))
        result.requires_grad = requires_grad
        result.persistent = persistent
        return result

    def __init__(
        self,
        requires_grad: bool = False,
        device: DeviceLike | None = None,
        dtype: DtypeLike | None = None,
        persistent: bool = True,
    ) -> None:
        pass

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        how = self.data.device, self.data.dtype
        return type(self), (self.requires_grad, *how, self.persistent)


def is_lazy(param: object) -> bool:
    """Whether it is a parameter or buffer without a shape."""
    return isinstance(param, UninitializedTensorMixin)
