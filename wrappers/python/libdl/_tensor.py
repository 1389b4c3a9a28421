# SPDX-License-Identifier: Apache-2.0
"""The methods of libdl.Tensor written in Python, beside its C part and the generated methods."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from . import _C, _backward_passes, _functions
from ._C import Overridable, Tensor, attribute, overridable
from ._errors import AutogradError, Error, rename_error
from ._overridable_functions import is_seen_method
from ._overrides import disabled, of_values
from ._backward_passes import tensors_of
from ._types import (
    DeviceLike,
    DtypeLike,
    Number,
    Size,
    bfloat16,
    bool_,
    complex128,
    complex64,
    device as Device,
    dtype as Dtype,
    float16,
    float32,
    float64,
    in_format,
    int16,
    int32,
    int64,
    int8,
    uint8,
)

if TYPE_CHECKING:
    from ._tensor_hooks import _Hook

F = TypeVar("F", bound=Callable[..., Any])

METHODS: dict[str, Any] = {}


def method(function: F) -> F:
    """A method of Tensor, which classes and modes see unless it is Python's own business."""
    name = function.__name__.removeprefix("m_")
    METHODS[name] = overridable(function) if is_seen_method(name) else function
    return METHODS[name]


# -- metadata --------------------------------------------------------------------------------------


def _size(self: Tensor, dim: int | None = None) -> Size | int:
    if dim is None:
        return self.shape
    try:
        return tuple.__getitem__(self.shape, dim)
    except IndexError:
        _dim(self, dim)  # raises the error
        raise


_size.__name__ = _size.__qualname__ = "size"
_C.register("size_of", _size)


@method
def stride(self: Tensor, dim: int | None = None) -> tuple[int, ...] | int:
    """The strides, in elements, or the stride of one dimension."""
    strides = _C.strides(self)
    return strides if dim is None else strides[_dim(self, dim)]


def _dim(self: Tensor, dim: int) -> int:
    ndim = self.ndim
    if not -max(ndim, 1) <= dim < max(ndim, 1) or ndim == 0:
        raise IndexError(f"dimension {dim} is out of range for a tensor of {ndim} dimensions")
    return dim


@method
def is_floating_point(self: Tensor) -> bool:
    """Whether the dtype is floating."""
    return self.dtype.is_floating_point


@method
def is_complex(self: Tensor) -> bool:
    """Whether the dtype is complex."""
    return self.dtype.is_complex


@method
def is_signed(self: Tensor) -> bool:
    """Whether the dtype holds negative numbers."""
    return self.dtype.is_signed


@method
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return self.shape == other.shape


@method
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both refer to the same elements of the same memory."""
    return (self.data_ptr(), self.shape, self.stride()) == (
        tensor.data_ptr(),
        tensor.shape,
        tensor.stride(),
    )


# -- autograd --------------------------------------------------------------------------------------


@method
def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Adds the gradients of this tensor to the .grad of every leaf, or only of the inputs.

    Arguments:
        gradient: the gradient of the tensor itself; None: 1, for tensors of one element
        retain_graph: whether to keep saved values for another pass; None: as create_graph
        create_graph: whether to record the pass itself, for higher derivatives
        inputs: leaves; None: all

    Example:
        >>> x = torch.tensor([1., 2.], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """
    requested = () if inputs is None else tensors_of(inputs)
    if inputs is not None and not requested:
        raise RuntimeError("backward: inputs is an empty sequence")
    retain = create_graph if retain_graph is None else retain_graph
    gradients = () if gradient is None else (gradient,)
    run = _backward_passes.backward if _backward_passes.watches else _C.backward
    try:
        if inputs is None:
            run((self,), gradients, requested, retain, create_graph, False, False)
        else:
            options = retain, create_graph, False, False
            _backward_passes.to_inputs(run, (self,), gradients, requested, *options)
    except Error as error:
        rename_error(error, "backward", "backward", _BACKWARD)
        raise


_BACKWARD = {"outputs": (1, "self"), "gradients": (2, "gradient"), "inputs": (5, "inputs")}


@method
def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> _Hook:
    """Calls hook(gradient) when the gradient is computed; its return value replaces it."""
    from ._tensor_hooks import hooked

    return hooked(self, hook)


@method
def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> Removable:
    """Calls hook(leaf) after a gradient was added to the leaf's .grad; it must return None."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, found {hook!r}")

    def checked(leaf: Tensor) -> None:
        if hook(leaf) is not None:  # type: ignore[func-returns-value]
            raise RuntimeError(
                "register_post_accumulate_grad_hook: the hook returned a value, wanted None"
            )

    return Removable(_C.add_hook(self, 3, checked))


class Removable:
    """A registered hook, on one place or several; remove() removes it, and so does the end of a
    with statement."""

    def __init__(self, *held: Any) -> None:
        self._held = held

    def remove(self) -> None:
        for hook in self._held:
            _C.remove_hook(hook)

    def __enter__(self) -> Removable:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


@method
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Sets whether a leaf requires gradients; returns the tensor.

    Example:
        >>> torch.zeros(2).requires_grad_()
        tensor([0., 0.], requires_grad=True)
    """
    if not (requires_grad and self.requires_grad):  # results of such a leaf require it already
        self.requires_grad = requires_grad
    return self


@method
def retain_grad(self: Tensor) -> None:
    """Keeps the gradient of a non-leaf in its .grad, too."""
    _C.tensor_retain_grad(self)


@method
def detach_(self: Tensor) -> Tensor:
    """Ends the tensor's history, in place."""
    _C.tensor_detach_in_place(self)
    return self


@method
def share_memory_(self: Tensor) -> Tensor:
    """Moves the tensor into memory that processes share: what one of them writes, all see. Views
    made before stay where they were, and a view cannot be moved alone. On a device it does nothing.
    """
    from .multiprocessing.moving import share_memory_

    return share_memory_(self)


@method
def is_shared(self: Tensor) -> bool:
    """Whether other processes may have the tensor's memory; true on a device."""
    from .multiprocessing.moving import is_shared

    return is_shared(self)


# -- conversions -----------------------------------------------------------------------------------


def _converter(name: str, dtype: Dtype) -> Callable[..., Tensor]:
    def convert(self: Tensor, memory_format: object = None) -> Tensor:
        return _in_format(_C.to(self, dtype, None, False, False), self, memory_format)

    convert.__name__ = name
    convert.__doc__ = f"""The elements as {dtype}; the tensor itself if they are already.

    Example:
        >>> torch.tensor([0, 1]).{name}().dtype
        {dtype}
    """
    return convert


for _name, _dtype in (
    ("float", float32),
    ("double", float64),
    ("half", float16),
    ("bfloat16", bfloat16),
    ("int", int32),
    ("long", int64),
    ("short", int16),
    ("char", int8),
    ("byte", uint8),
    ("bool", bool_),
    ("cfloat", complex64),
    ("cdouble", complex128),
):
    METHODS[_name] = _converter(_name, _dtype)


def _in_format(result: Tensor, before: Tensor, memory_format: object) -> Tensor:
    """A conversion that returned the tensor itself keeps its layout, as in PyTorch."""
    return result if result is before else in_format(result, memory_format)


@method
def m_to(
    self: Tensor,
    *args: Any,
    dtype: DtypeLike | None = None,
    device: DeviceLike | None = None,
    other: Tensor | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: object = None,
) -> Tensor:
    """The tensor with another dtype or on another device; itself if nothing changes.

    to(dtype), to(device), to(device, dtype), to(other), each followed by non_blocking and copy.

    Example:
        >>> x = torch.tensor([1, 2])
        >>> x.to(torch.float64)
        tensor([1., 2.], dtype=libdl.float64)
        >>> x.to("cpu") is x
        True
    """
    if args:
        first, rest = args[0], list(args[1:])
        if isinstance(first, Tensor):
            dtype, device = first.dtype, first.device
        elif isinstance(first, Dtype) or first in (float, int, bool, complex):
            dtype = first
        elif first is None or isinstance(first, (Device, str, int)):
            device = first
            if rest and (rest[0] is None or isinstance(rest[0], (Dtype, type))):
                dtype = rest.pop(0)
        else:
            raise TypeError(f"to: found {first!r}, wanted a dtype, a device or a tensor")
        if rest:
            non_blocking = rest.pop(0)
        if rest:
            copy = rest.pop(0)
    if other is not None:
        dtype, device = other.dtype, other.device
    return _in_format(_C.to(self, dtype, device, non_blocking, copy), self, memory_format)


@method
def m_type(
    self: Tensor, dtype: DtypeLike | None = None, non_blocking: bool = False
) -> str | Tensor:
    """The type's name, or the tensor with another dtype."""
    from ._tensor_types import type_name, type_named

    return (
        type_name(self) if dtype is None else _C.to(self, *type_named(dtype), non_blocking, False)
    )


@method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor with the other's dtype, on its device.

    Example:
        >>> torch.tensor([1, 2]).type_as(torch.zeros(1))
        tensor([1., 2.])
    """
    return _C.to(self, other.dtype, other.device, False, False)


@method
def cpu(self: Tensor, memory_format: object = None) -> Tensor:
    """The tensor in the host's memory.

    Example:
        >>> x = torch.tensor([1, 2])
        >>> x.cpu() is x
        True
    """
    return _in_format(_C.to(self, None, "cpu", False, False), self, memory_format)


@method
def cuda(self: Tensor, device: DeviceLike | None = None, non_blocking: bool = False) -> Tensor:
    """The tensor on a CUDA device.

    Example:
        >>> x = torch.tensor([1, 2])
        >>> if torch.cuda.is_available():
        ...     x = x.cuda()
        >>> x.sum().item()
        3
    """
    return _C.to(self, None, "cuda" if device is None else device, non_blocking, False)


def _contiguous(self: Tensor, memory_format: object = None) -> Tensor:
    return _C.contiguous(self)


_contiguous.__name__ = _contiguous.__qualname__ = "contiguous"
_C.register("contiguous", _contiguous)


@method
def __complex__(self: Tensor) -> complex:
    return complex(self.item())


@method
def __format__(self: Tensor, spec: str) -> str:
    if self.ndim == 0 and (spec or type(self) is Tensor):
        return format(self.item(), spec)
    return object.__format__(self, spec)


@method
def __iter__(self: Tensor) -> Iterator[Tensor]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))  # its own: a subclass's rows are of that class


@method
def __reversed__(self: Tensor) -> Tensor:
    return self if self.ndim == 0 else _functions.flip(self, (0,))


@method
def __contains__(self: Tensor, element: object) -> bool:
    if not isinstance(element, (Tensor, int, float, complex, bool)):
        raise TypeError(f"found a {type(element).__name__} in `in`, wanted a number or a tensor")
    return bool((self == element).any())


@method
def __rdiv__(self: Tensor, other: Number) -> Tensor:
    return other / self


@method
def m___dir__(self: Tensor) -> list[str]:  # without the m_ it would be the module's own
    return sorted({*dir(type(self)), *self.__dict__})


# -- in-place and small variants that users of PyTorch know ----------------------------------------


@method
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor expanded to the other's shape."""
    return self.expand(other.shape)


@method
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """A view of the other's shape."""
    return self.view(other.shape)


@method
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The elements in the other's shape."""
    return self.reshape(other.shape)


@method
def ravel(self: Tensor) -> Tensor:
    """The elements in one contiguous dimension: a view if possible, else a copy."""
    return self.reshape(-1).contiguous()


@method
def m_apply_(self: Tensor, function: Callable[[Any], Any]) -> Tensor:
    """Replaces each element by function(element); slow, for experiments."""
    from ._creation import tensor

    with_values = tensor([function(v) for v in self.detach().reshape(-1).tolist()])
    self.copy_(with_values.view(self.shape))
    return self


def _is_dual(x: Tensor) -> bool:
    depth = 1
    while level := _C.forward_level(depth):
        if _C.forward_unpack_dual(x, level)[1] is not None:
            return True
        depth += 1
    return False


def _reshaper(name: str) -> Callable[..., Tensor]:
    def reshape_in_place(self: Tensor, *args: object, **kwargs: object) -> Tensor:
        if self.requires_grad and not self.is_leaf and _C.grad_enabled():
            base = self._base
            if base is not None and base.is_leaf and base.requires_grad:
                raise AutogradError(
                    f"{name}_: argument 1 (input) is a view of a leaf that requires grad, "
                    "wanted a view of a clone"
                )
            # Hooks stay with what the tensor was. One that is a view, or has a tangent, becomes a
            # view of what it was.
            result, retained = getattr(self, name)(*args, **kwargs), self.retains_grad
            if base is None and _C.forward_level(0) == 0:
                _C.become_view(self, result)
                return self
            _C.exchange_handles(self, result)
            if retained:
                self.retain_grad()
            return self
        if self.requires_grad and (_C.grad_enabled() or not self.is_leaf):
            raise AutogradError(
                f"{name}_: argument 1 (input) requires grad, and its history has the old shape, "
                f"wanted {name}(), or no_grad() for a leaf"
            )
        if _C.forward_level(0) == 0:
            self.data = getattr(self.data, name)(*args, **kwargs)
            return self
        # The copy has the tangents of every level; write them back, too.
        changed = getattr(self, name)(*args, **kwargs).clone() if _is_dual(self) else None
        self.data = getattr(self.data, name)(*args, **kwargs)
        return self if changed is None else self.copy_(changed)

    reshape_in_place.__doc__ = f"The tensor itself becomes its {name}."
    return reshape_in_place


for _name in ("unsqueeze", "squeeze", "t", "transpose", "swapaxes", "swapdims", "as_strided"):
    METHODS[f"{_name}_"] = _reshaper(_name)


# -- pickle and copy -------------------------------------------------------------------------------


def rebuild(
    kind: type[Tensor],
    data: bytes,
    shape: tuple[int, ...],
    dtype: Dtype,
    requires_grad: bool,
    attributes: dict[str, Any],
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    """Called when a pickled tensor is loaded."""
    if data:
        result: Tensor = _C.from_buffer(bytearray(data)).view(dtype)
        result = result.reshape(shape) if strides is None else result.as_strided(shape, strides)
        result = result.detach()  # not a view of the byte tensor
    else:
        result = _functions.empty_strided(
            shape, strides or _C.strides(_functions.empty(shape)), dtype=dtype
        )
    return _dressed(result, kind, requires_grad, attributes)


def rebuild_meta(
    kind: type[Tensor],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: Dtype,
    requires_grad: bool,
    attributes: dict[str, Any],
) -> Tensor:
    """Likewise, of a tensor on meta."""
    result = _functions.empty_strided(shape, strides, dtype=dtype, device="meta")
    return _dressed(result, kind, requires_grad, attributes)


def reduced_meta(x: Tensor) -> tuple[Any, ...]:
    """What __reduce_ex__ tells of a tensor on meta."""
    return rebuild_meta, (
        type(x),
        tuple(x.shape),
        tuple(x.stride()),
        x.dtype,
        x.requires_grad,
        dict(x.__dict__),
    )


def _dressed(
    result: Tensor, kind: type[Tensor], requires_grad: bool, attributes: dict[str, Any]
) -> Tensor:
    if kind is not Tensor:
        result = _C.make_subclass(kind, result)
    if requires_grad:
        result.requires_grad = True
    result.__dict__.update(attributes)
    return result


def _spanned(x: Tensor) -> Tensor:
    """All elements from the first to the last in memory, as one dimension."""
    x = x.detach()
    if x.is_contiguous() or x.numel() == 0:
        return x.reshape(-1)
    steps = zip(x.shape, x.stride(), strict=True)
    return x.as_strided((1 + sum((size - 1) * step for size, step in steps),), (1,))


@method
def __reduce_ex__(self: Tensor, protocol: object) -> tuple[Any, ...]:
    processes = sys.modules.get("libdl.multiprocessing.reductions")
    if processes is not None and processes.is_starting():
        return processes.Starting(self).__reduce__()
    if self.is_meta:
        return reduced_meta(self)
    flat = _spanned(self).cpu()
    data = memoryview(flat.view(uint8)).tobytes() if flat.numel() else b""
    return rebuild, (
        type(self),
        data,
        tuple(self.shape),
        self.dtype,
        self.requires_grad,
        dict(self.__dict__),
        _C.strides(self),
    )


def twin(x: Tensor) -> Tensor:
    """A copy without history that has the tensor's strides."""
    x = x.detach()
    if x.numel() == 0:
        return _functions.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device)
    if x.is_contiguous():
        return x.clone()
    return _spanned(x).clone().as_strided(x.shape, x.stride()).detach()


def _twin_in(memo: dict[Any, Any], x: Tensor) -> Tensor:
    """A copy without history over a copy of the whole storage, which one deepcopy makes once: views
    of one storage are views of its copy."""
    size, held = _C.tensor_storage_nbytes(x), x.dtype.itemsize
    if x.is_sparse or x.numel() == 0 or size % held:
        return twin(x)
    key = "storage", _C.tensor_storage_id(x)
    if key not in memo:
        whole = x.detach().as_strided((size // held,), (1,), 0)
        memo[key] = whole.clone(), x  # x keeps the number from being another storage's
    copied = memo[key][0]
    if copied.dtype is not x.dtype:
        copied = copied.view(x.dtype)
    return copied.as_strided(x.shape, x.stride(), x.storage_offset()).detach()


Copying = Callable[[Any, dict[int, Any]], Tensor]
_COPYING: dict[int, tuple[weakref.ref[Tensor], Copying]] = {}  # by id: tensors compare elements


def copy_by(x: Tensor, copying: Copying) -> None:
    """deepcopy of x, which may have history, is copying(x, memo)."""
    key = id(x)
    _COPYING[key] = weakref.ref(x, lambda _: _COPYING.pop(key, None)), copying


@method
def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if id(self) in memo:
        return memo[id(self)]
    known = _COPYING.get(id(self))
    if known is not None and known[0]() is self:
        memo[id(self)] = result = known[1](self, memo)
        return result
    if not self.is_leaf:
        raise RuntimeError("only leaves can be copied deeply: use tensor.detach() or clone()")
    import copy

    with disabled():
        result = _twin_in(memo, self)
    if type(self) is not Tensor:
        result = _C.make_subclass(type(self), result)
    if self.requires_grad:
        result.requires_grad = True
    memo[id(self)] = result
    if self.grad is not None:
        result.grad = copy.deepcopy(self.grad, memo)
    result.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return result


@method
def __copy__(self: Tensor) -> Tensor:
    result: Tensor = self.view(self.shape) if not self.is_leaf else self.detach()
    if type(self) is not Tensor:
        result = _C.make_subclass(type(self), result)
    if self.is_leaf and self.requires_grad:
        result.requires_grad = True
    result.__dict__.update(self.__dict__)
    return result


@method
def as_subclass(self: Tensor, cls: type[Tensor]) -> Tensor:
    """The tensor, with its history, as an object of the class."""
    return _C.as_subclass(self, cls)


def _make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Tensor:
    """An object of the class over the memory of data, without its history."""
    result: Tensor = _C.make_subclass(cls, data)
    result.requires_grad = require_grad
    return result


def _when_used(name: str) -> property:
    """A property of _tensor_hooks, which is imported when it is first needed."""

    def get(self: Tensor) -> Any:
        from ._tensor_hooks import PROPERTIES

        return PROPERTIES[name][0](self)

    def set_(self: Tensor, value: Any) -> None:
        from ._tensor_hooks import PROPERTIES

        PROPERTIES[name][1](self, value)

    return attribute(get, set_, doc=_USED[name])


_USED = {
    "grad_dtype": "The dtype of the gradient: the tensor's own.",
    "_backward_hooks": "The hooks of register_hook by number, or None. What is removed from the "
    "dict is not called any more; a new dict or None replaces them.",
}


def install() -> None:
    for name, function in METHODS.items():
        if isinstance(function, FunctionType) and is_seen_method(name):  # made in a loop
            function = overridable(function)
        if isinstance(function, (FunctionType, Overridable)):
            function.__name__ = name
        setattr(Tensor, name, function)
    Tensor._make_subclass = staticmethod(_make_subclass)
    for kind in (
        "ipu",
        "maia",
        "mkldnn",
        "mps",
        "mtia",
        "nested",
        "quantized",
        "sparse_csr",
        "vulkan",
        "xla",
        "xpu",
    ):
        setattr(Tensor, f"is_{kind}", False)
    Tensor._is_view = overridable(lambda self: self._base is not None)
    setattr(Tensor, "name", None)  # of PyTorch's first releases; a class may have names of its own
    Tensor.names = attribute(lambda self: (None,) * self.ndim)  # type: ignore[assignment]
    for name in ("grad_dtype", "_backward_hooks"):
        setattr(Tensor, name, _when_used(name))
    Tensor.output_nr = attribute(  # type: ignore[assignment]
        lambda self: 0 if self.is_leaf else of_values(_C.gradient_edge, self)[1]
    )
    Tensor.__module__ = "libdl"


install()
size = Tensor.size  # where pickles look for it
