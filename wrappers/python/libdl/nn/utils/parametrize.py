# SPDX-License-Identifier: Apache-2.0
"""Parameters computed by modules from other parameters.

A parametrized module becomes an object of a class of its own, in which the tensor's name is a
property. What is trained and saved lies in module.parametrizations."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from ..._C import Tensor
from ..._modes import no_grad
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_depth = 0  # of cached(), in which a tensor is computed once
_cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Within it, each parametrized tensor is computed once, at its first use."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _cache.clear()


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_alike(what: str, value: object, expected: Tensor) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"{what} returned a {type(value).__name__}, wanted a tensor")
    for name in ("dtype", "shape"):
        ours, theirs = getattr(value, name), getattr(expected, name)
        if ours != theirs:
            raise ValueError(
                f"{what} returned {name} {ours}, wanted the tensor's {name} {theirs}, "
                "or unsafe=True"
            )


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in the order in which they are applied, and the tensors
    from which it is computed: `original`, or `original0`, `original1`, ...

    Arguments:
        modules: the parametrizations
        original: the tensor; from it right_inverse of the last to the first computes the originals
        unsafe: whether a result may have another shape or dtype
    """

    def __init__(
        self, modules: Sequence[Module], original: Tensor | Parameter, unsafe: bool = False
    ) -> None:
        if not modules:
            raise ValueError("ParametrizationList: argument 1 (modules) is empty")
        super().__init__(modules)
        self.unsafe = unsafe
        result: Any = original
        with no_grad():
            for module in reversed(modules):
                result = _inverse(module, result)
        if not isinstance(result, (Tensor, Sequence)):
            raise ValueError(
                f"right_inverse returned a {type(result).__name__}, wanted a tensor or a "
                "sequence of tensors"
            )
        self.is_tensor = isinstance(result, Tensor)
        self.ntensors = 1 if isinstance(result, Tensor) else len(result)
        before = original.data
        if isinstance(result, Tensor):
            if result.dtype != original.dtype:
                raise ValueError(
                    f"right_inverse returned {result.dtype}, wanted the tensor's {original.dtype}"
                )
            original.data = result.detach()
            _register(self, "original", original)
        else:
            self._register_several(result, original)
        if not unsafe:
            try:
                _check_alike("a parametrization", self(), before)
            except BaseException:
                original.data = before
                raise

    def _register_several(self, originals: Sequence[Any], original: Tensor) -> None:
        for i, one in enumerate(originals):
            if not isinstance(one, Tensor):
                raise ValueError(
                    f"right_inverse returned a {type(one).__name__} at {i}, wanted a tensor"
                )
            if isinstance(original, Parameter):
                one = Parameter(one, original.requires_grad)
            _register(self, f"original{i}", one.requires_grad_(original.requires_grad))

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the tensor becomes value; each parametrization needs a method
        right_inverse."""
        result: Any = value
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"{type(module).__name__} has no method right_inverse, which "
                        "an assignment to the tensor needs"
                    )
                result = module.right_inverse(result)
            arguments = [result] if self.is_tensor else result
            if not isinstance(arguments, Sequence) or not all(
                isinstance(t, Tensor) for t in arguments
            ):
                raise ValueError(
                    f"right_inverse returned a {type(result).__name__}, wanted "
                    f"{self.ntensors} tensors"
                )
            if len(arguments) != self.ntensors:
                raise ValueError(
                    f"right_inverse returned {len(arguments)} tensors, wanted {self.ntensors}"
                )
            for original, tensor in zip(self._originals(), arguments):
                if original.dtype != tensor.dtype:
                    raise ValueError(
                        f"right_inverse returned {tensor.dtype}, wanted {original.dtype}"
                    )
            for original, tensor in zip(self._originals(), arguments):
                original.data = tensor.detach()

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self) -> Tensor:
        first, *others = self
        result: Any = first(*self._originals())
        for module in others:
            result = module(result)
        return result


def _inverse(module: Module, value: Any) -> Any:
    if not hasattr(module, "right_inverse"):
        return value
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


def _parametrized_class(module: Module) -> None:
    """Gives the module a class of its own, for the properties."""
    kind: Any = type(module)

    def __getstate__(self: Any) -> NoReturn:
        raise RuntimeError("a parametrized module cannot be pickled: save its state_dict()")

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            instance = memo[id(self)] = object.__new__(type(self))
            instance.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return memo[id(self)]

    members: dict[str, Any] = {"__getstate__": __getstate__}
    if not hasattr(kind, "__deepcopy__"):
        members["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), members)


def _property(name: str) -> property:
    def compute(self: Any) -> Tensor:
        if not _depth:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def assign(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(compute, assign)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """From now on, module.tensor_name is parametrization(original); several are applied one after
    the other. Returns the module.

    Arguments:
        tensor_name: of a parameter or buffer
        parametrization: a module; its right_inverse, if there is one, is used to compute the
            original from the tensor, now and at every assignment to it
        unsafe: whether the result may have another shape or dtype
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        held = module.parametrizations[tensor_name]
        if not unsafe:
            before = getattr(module, tensor_name)
            after = parametrization(before)
            _check_alike("the parametrization", after, before)
            if hasattr(parametrization, "right_inverse"):
                _check_alike("right_inverse", _inverse(parametrization, after), before)
        held.append(parametrization)
        held.unsafe |= unsafe
        return module
    original = {**module._buffers, **module._parameters}.get(tensor_name)
    if original is None:
        raise ValueError(
            f"{type(module).__name__} has neither a parameter nor a buffer {tensor_name!r}"
        )
    held = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _parametrized_class(module)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = held
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module, or that tensor of it, is parametrized."""
    held = module._modules.get("parametrizations")
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Makes the tensor a parameter or buffer again. Returns the module.

    Arguments:
        leave_parametrized: whether it keeps its value; otherwise it is the original
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"{type(module).__name__} has no parametrized tensor {tensor_name!r}")
    held = module.parametrizations[tensor_name]
    if not held.is_tensor and not leave_parametrized:
        raise ValueError(
            f"remove_parametrizations: {tensor_name!r} is computed from several "
            "tensors: only leave_parametrized=True is possible"
        )
    original = held.original if held.is_tensor else None
    if leave_parametrized:
        value = getattr(module, tensor_name)
        if original is None:
            detached = value.detach()
            original = Parameter(detached) if value.requires_grad else detached
        else:
            original.data = value.detach()
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type[Module]:
    """The module's class as it was before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Gives the parametrizations of one module's tensors, and what they are computed from, to
    another module, too. Returns that module.

    Arguments:
        tensor_name: of one tensor; None: all that are parametrized
    """
    if not is_parametrized(from_module):
        raise AssertionError(f"{type(from_module).__name__} has no parametrized tensors")
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        held = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for parametrization in held:
            register_parametrization(to_module, name, parametrization, unsafe=held.unsafe)
        for key, original in {**held._parameters, **held._buffers}.items():
            setattr(to_module.parametrizations[name], key, original)
    return to_module
