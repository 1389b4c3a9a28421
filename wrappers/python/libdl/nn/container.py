# SPDX-License-Identifier: Apache-2.0
"""Modules that hold modules or parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .._C import Tensor
from .module import Module
from .parameter import Parameter


if TYPE_CHECKING:
    from typing_extensions import TypeVar as WithDefault

    M = WithDefault("M", bound=Module, default=Module)
else:
    M = TypeVar("M")


def _place(index: int, count: int) -> str:
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of range for {count} entries")
    return str(index % count)


def _inserted(numbered: Any, index: int, module: Module) -> None:
    modules = list(numbered)
    modules.insert(index, module)
    numbered._modules.clear()
    numbered.extend(modules)


def _deleted(numbered: Any, index: int | slice) -> None:
    modules = list(numbered)
    del modules[index]
    numbered._modules.clear()
    numbered.extend(modules)


class Sequential(Module):
    """Modules called in sequence, each with the result of the one before."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(modules):
                self.add_module(str(i), module)

    if TYPE_CHECKING:

        def __call__(self, input: Any) -> Tensor: ...

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return list(self._modules.values())[index]

    def __setitem__(self, index: int, module: Module) -> None:
        self._modules[list(self._modules)[index]] = module

    def __delitem__(self, index: int | slice) -> None:
        _deleted(self, index)

    def append(self, module: Module) -> Sequential:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Sequential:
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        _inserted(self, index, module)
        return self

    def pop(self, index: int) -> Any:
        module = self[index]
        del self[index]
        return module


class ModuleList(Module, Generic[M]):
    """A list of modules that are submodules of the module that holds it."""

    def __init__(self, modules: Iterable[M] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def append(self, module: M) -> ModuleList[M]:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[M]) -> ModuleList[M]:
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: M) -> None:
        _inserted(self, index, module)

    def pop(self, index: int) -> M:
        module = self[index]
        del self[index]
        return module

    def __repr__(self) -> str:
        """Equal neighbours are shown in one line: (0-2): 3 x ReLU()."""
        lines: list[str] = []
        for text, group in groupby(enumerate(map(repr, self)), lambda pair: pair[1]):
            places = [index for index, _ in group]
            first, count = places[0], len(places)
            text = text.replace("\n", "\n  ")
            lines.append(
                f"({first}): {text}" if count == 1
                else f"({first}-{places[-1]}): {count} x {text}"
            )  # fmt: skip
        name = self._get_name()
        return f"{name}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{name}()"

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[M]:
        return iter(self._modules.values())

    @overload
    def __getitem__(self, index: slice) -> ModuleList[M]: ...
    @overload
    def __getitem__(self, index: int) -> M: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[_place(index, len(self))]

    def __setitem__(self, index: int, module: M) -> None:
        self._modules[_place(index, len(self))] = module

    def __delitem__(self, index: int | slice) -> None:
        _deleted(self, index)


class ModuleDict(Module, Generic[M]):
    """A dict of modules that are submodules of the module that holds it."""

    def __init__(self, modules: Mapping[str, M] | None = None) -> None:
        super().__init__()
        for name, module in (modules or {}).items():
            self.add_module(name, module)

    def __getitem__(self, name: str) -> M:
        module: M = self._modules[name]
        return module

    def __setitem__(self, name: str, module: M) -> None:
        self.add_module(name, module)

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def keys(self) -> Any:
        return self._modules.keys()

    def values(self) -> Any:
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Adds modules from a mapping or from pairs, replacing those with the same names."""
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self[name] = module

    def pop(self, name: str) -> M:
        """Removes a module and returns it."""
        module = self[name]
        del self[name]
        return module

    def clear(self) -> None:
        """Removes all modules."""
        self._modules.clear()

    def items(self) -> Any:
        return self._modules.items()


def _described(parameters: Mapping[str, Any], kind: Callable[[Tensor], Any]) -> str:
    """The lines that describe the parameters in the repr of a list or dict of them."""
    lines = []
    for name, value in parameters.items():
        if value is None:
            lines.append(f"  ({name}): None")
            continue
        size = "x".join(map(str, value.shape))
        place = "" if value.device.type == "cpu" else f" ({value.device})"
        lines.append(
            f"  ({name}): {type(value).__name__} containing: [{kind(value)} of size {size}{place}]"
        )
    return "\n".join(lines)


def _parameter(value: Any) -> Parameter:
    return value if isinstance(value, Parameter) else Parameter(value)


class ParameterList(Module):
    """A list of parameters of the module that holds it."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(values or ())

    def append(self, value: Any) -> ParameterList:
        self.register_parameter(str(len(self)), _parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return _described(self._parameters, lambda value: value.dtype)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._parameters[_place(index, len(self))]

    def __setitem__(self, index: int, value: Any) -> None:
        self._parameters[_place(index, len(self))] = _parameter(value)


class ParameterDict(Module):
    """A dict of parameters of the module that holds it."""

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        for name, value in (parameters or {}).items():
            self[name] = value

    def __getitem__(self, name: str) -> Any:
        return self._parameters[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.register_parameter(name, _parameter(value))

    def extra_repr(self) -> str:
        return _described(self._parameters, lambda value: value.type())

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def keys(self) -> Any:
        return self._parameters.keys()

    def values(self) -> Any:
        return self._parameters.values()

    def update(self, parameters: Any) -> None:
        """Adds parameters from a mapping or from pairs, replacing those with the same names."""
        for name, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[name] = value

    def __delitem__(self, name: str) -> None:
        del self._parameters[name]

    def pop(self, name: str) -> Any:
        """Removes a parameter and returns it."""
        return self._parameters.pop(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The parameter of that name, or the default."""
        return self._parameters.get(name, default)

    def clear(self) -> None:
        """Removes all parameters."""
        self._parameters.clear()

    def items(self) -> Any:
        return self._parameters.items()
