# SPDX-License-Identifier: Apache-2.0
"""Walks over a module and all that is below it, and parts by their dotted names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from .. import _C
from .._C import Tensor
from ._parts import ModuleParts
from .parameter import Parameter

if TYPE_CHECKING:
    from .module import Module

W = TypeVar("W", bound="ModuleWalks")


class ModuleWalks(ModuleParts):
    """Iteration over modules, parameters and buffers."""

    def named_modules(self, memo: set[Any] | None = None, prefix: str = "",
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:  # fmt: skip
        """The module and all of its submodules, with their names."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self  # type: ignore[misc]
        for name, module in self._modules.items():
            if module is not None:
                inner = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(seen, inner, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """The module and all of its submodules."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules, with their names."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]], prefix: str = "",
        recurse: bool = True, remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:  # fmt: skip
        seen: set[Any] = set()
        modules: Iterable[tuple[str, Any]] = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, with their names."""
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, for an optimizer."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:  # fmt: skip
        """All buffers, with their names."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # -- by name -----------------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """The submodule with that name, such as "encoder.2"; the module itself for ""."""
        module: Any = self
        for name in target.split(".") if target else ():
            module = _attribute(module, name)
            if not isinstance(module, _C.ModuleBase):
                raise AttributeError(f"{name!r} of {target!r} is a {type(module).__name__}, wanted "
                                     "a Module")  # fmt: skip
        found: Module = module
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts a module in the place of the submodule with that name, or adds it there; strict:
        whether there must be one already."""
        if not target:
            raise ValueError('set_submodule: argument 1 (target) is "", wanted a name')
        if not isinstance(module, _C.ModuleBase):
            raise ValueError(f"set_submodule: argument 2 (module) is a {type(module).__name__}, "
                             "wanted a Module")  # fmt: skip
        path, _, name = target.rpartition(".")
        holder: Any = self
        for part in filter(None, path.split(".")):
            holder = _attribute(holder, part)
            if not isinstance(holder, _C.ModuleBase):
                raise AttributeError(f"{part!r} of {target!r} is a {type(holder).__name__}, wanted "
                                     "a Module")  # fmt: skip
        if strict or hasattr(holder, name):
            before = _attribute(holder, name)
            if not isinstance(before, _C.ModuleBase):
                raise AttributeError(f"{target!r} is a {type(before).__name__}, wanted a Module to "
                                     "be replaced")  # fmt: skip
        setattr(holder, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with that name, such as "encoder.2.weight"."""
        path, _, name = target.rpartition(".")
        found = _attribute(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"{target!r} is a {type(found).__name__}, wanted a parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with that name, such as "encoder.2.running_mean"."""
        path, _, name = target.rpartition(".")
        holder = self.get_submodule(path)
        found = _attribute(holder, name)
        if name not in holder._buffers or not isinstance(found, Tensor):
            raise AttributeError(f"{target!r} is a {type(found).__name__}, wanted a buffer")
        return found

    # -- for all -----------------------------------------------------------------------------------

    def apply(self: W, fn: Callable[[Module], Any]) -> W:
        """Calls fn for each submodule, and last for the module itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)  # type: ignore[arg-type]
        return self

    def train(self: W, mode: bool = True) -> W:
        """Sets training mode for the module and its submodules."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: argument 1 (mode) is {mode!r}, wanted True or False")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: W) -> W:
        """Sets evaluation mode, in which layers such as dropout do nothing."""
        return self.train(False)

    def requires_grad_(self: W, requires_grad: bool = True) -> W:
        """Sets whether the parameters are trained or frozen."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the parameters' gradients."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                gradient = parameter.grad
                if gradient.grad_fn is not None:
                    gradient.detach_()
                else:
                    gradient.requires_grad_(False)
                gradient.zero_()


def _attribute(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute {name!r}")
    return getattr(module, name)
