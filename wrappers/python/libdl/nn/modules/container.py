# SPDX-License-Identifier: Apache-2.0
"""Modules that hold modules or parameters."""

from __future__ import annotations

import warnings
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import groupby
from operator import index as as_index
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeVar, overload

from ..._C import Tensor
from ..parameter import Parameter
from .module import Module, _addindent as _addindent


__all__ = ["Container", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"]

if TYPE_CHECKING:
    from typing_extensions import TypeVar as WithDefault

    M = WithDefault("M", bound=Module, default=Module)
else:
    M = TypeVar("M")
T = TypeVar("T")


def _position(index: Any, count: int) -> int:
    """The index, counted from 0."""
    number = as_index(index)
    if not -count <= number < count:
        raise IndexError(f"index {number} is out of range for {count} entries")
    return number % count


def _iterable(name: str, value: object) -> Iterable[Any]:
    """What extend takes."""
    if not isinstance(value, Iterable) or isinstance(value, Tensor):
        raise TypeError(f"{name}: argument 1 is a {type(value).__name__}, wanted a sequence")
    return value


def _pairs(name: str, values: object) -> list[tuple[str, Any]]:
    """What update takes: names and values."""
    if hasattr(values, "items"):
        return list(values.items())
    results = []
    for i, pair in enumerate(_iterable(name, values)):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{name}: entry {i} is a {type(pair).__name__}, wanted a pair")
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(f"{name}: entry {i} has length {len(pair)}, wanted a pair")
        results.append(pair)
    return results


class Container(Module):
    """Modules by their names; an older class, instead of which a Module serves."""

    def __init__(self, **kwargs: Module) -> None:
        warnings.warn(
            "`nn.Container` is deprecated. All of it's functionality is now implemented "
            "in `nn.Module`. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """Modules in an order, in which they are numbered."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _name(self, index: Any) -> str:
        raise NotImplementedError

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name(index)]
        for name in names:
            delattr(self, name)
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules: list[Module | None]) -> None:
        self._modules.clear()
        self._modules.update((str(i), module) for i, module in enumerate(modules))

    def append(self, module: Module) -> Self:
        """Adds a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def _insert(self, index: int, module: Module) -> None:
        if not isinstance(module, Module):
            raise TypeError(
                f"insert: argument 2 (module) is a {type(module).__name__}, wanted a Module"
            )
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)

    def _add_all(self, modules: Iterable[Module | None]) -> None:
        """At the end; not by append, which a subclass may have written."""
        for number, module in enumerate(modules, len(self)):
            self.add_module(str(number), module)

    def pop(self, key: int | slice) -> Any:
        """Removes a module, or those of a slice, and returns it."""
        result = self[key]
        del self[key]
        return result

    def __getitem__(self, index: Any) -> Any:
        return self._modules[self._name(index)]

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Numbered):
    """Modules called in sequence, each with the result of the one before.

    Shape: the first module's input to the last module's result.

    Initialisation: that of its modules.

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> model(torch.zeros(3, 4)).shape
        libdl.Size([3, 2])
        >>> model[1]
        ReLU()
    """

    @overload
    def __init__(self, *modules: Module) -> None: ...
    @overload
    def __init__(self, modules: Mapping[str, Module], /) -> None: ...
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
        for module in self:
            input = module(input)
        return input

    def _get_item_by_idx(self, iterator: Iterable[T], idx: int) -> T:
        return list(iterator)[_position(idx, len(self))]

    def _name(self, index: Any) -> str:
        name: str = self._get_item_by_idx(self._modules.keys(), index)
        return name

    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    @overload
    def __getitem__(self, index: int) -> Module: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            items: list[Any] = list(self._modules.items())
            return type(self)(dict(items[index]))
        return self._get_item_by_idx(self._modules.values(), index)

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Adds modules at the end; returns the container."""
        for module in list(_iterable("extend", sequential)):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Adds a module in front of the one with that index; returns the container."""
        if not -len(self) <= index <= len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} entries")
        self._insert(index, module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        """The modules of both, in a new container."""
        return Sequential(*self, *_sequential("+", other))

    def __iadd__(self, other: Sequential) -> Self:
        self._add_all(_sequential("+=", other))
        return self

    def __mul__(self, other: int) -> Sequential:
        """The same modules several times, in a new container."""
        return Sequential(*(list(self) * _times(other)))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        self._add_all(list(self._modules.values()) * (_times(other) - 1))
        return self


def _sequential(operator: str, other: object) -> list[Module]:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"{operator} of a Sequential found a {type(other).__name__}, wanted a Sequential"
        )
    return list(other)


def _times(count: object) -> int:
    if not isinstance(count, int):
        raise TypeError(f"* of a Sequential found a {type(count).__name__}, wanted a number")
    if count <= 0:
        raise ValueError(f"* of a Sequential found {count}, wanted a positive number")
    return count


class ModuleList(_Numbered, Generic[M]):
    """A list of modules that are submodules of the module that holds it.

    Example:
        >>> layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers), layers[0]
        (3, Linear(in_features=2, out_features=2, bias=True))
    """

    def __init__(self, modules: Iterable[M] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def _get_abs_string_index(self, idx: object) -> str:
        return str(_position(idx, len(self)))

    def _name(self, index: Any) -> str:
        return self._get_abs_string_index(index)

    def extend(self, modules: Iterable[M]) -> Self:
        """Adds modules at the end; returns the list."""
        self._add_all(list(_iterable("extend", modules)))
        return self

    def insert(self, index: int, module: M) -> None:
        """Adds a module in front of the one with that index."""
        self._insert(index, module)

    def __add__(self, other: Iterable[M]) -> ModuleList[M]:
        """The modules of both, in a new list."""
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[M]) -> Self:
        return self.extend(modules)

    def __repr__(self) -> str:
        """Equal neighbours are shown in one line: (0-2): 3 x ReLU()."""
        lines: list[str] = []
        for text, group in groupby(enumerate(map(repr, self)), lambda pair: pair[1]):
            places = [index for index, _ in group]
            first, count = places[0], len(places)
            text = text.replace("\n", "\n  ")
            lines.append(
                f"({first}): {text}" if count == 1 else f"({first}-{places[-1]}): {count} x {text}"
            )
        name = self._get_name()
        return f"{name}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{name}()"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[M]: ...

    @overload
    def __getitem__(self, index: slice) -> ModuleList[M]: ...
    @overload
    def __getitem__(self, index: int) -> M: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            modules: list[Any] = list(self._modules.values())
            return type(self)(modules[index])
        return super().__getitem__(index)


class ModuleDict(Module, Generic[M]):
    """A dict of modules that are submodules of the module that holds it.

    Example:
        >>> heads = nn.ModuleDict({"mean": nn.Linear(4, 1), "scale": nn.Linear(4, 1)})
        >>> heads["mean"](torch.zeros(2, 4)).shape
        libdl.Size([2, 1])
    """

    _modules: dict[str, M]  # type: ignore[assignment]

    def __init__(self, modules: Mapping[str, M] | Iterable[tuple[str, M]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> M:
        return self._modules[key]

    def __setitem__(self, key: str, module: M) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> ValuesView[M]:
        """The modules."""
        return self._modules.values()

    def items(self) -> ItemsView[str, M]:
        """The names with their modules."""
        return self._modules.items()

    def update(self, modules: Mapping[str, M] | Iterable[tuple[str, M]]) -> None:
        """Adds modules from a mapping or from pairs, replacing those with the same names."""
        for name, module in _pairs("update", modules):
            self[name] = module

    def pop(self, key: str) -> M:
        """Removes a module and returns it."""
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Removes all modules."""
        self._modules.clear()


class _Holder(Module):
    """Values are attributes, so that tensors among them become parameters of the module."""

    def _hold(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def _lines(self, items: Iterable[tuple[Any, Any]], with_type: bool) -> str:
        return "\n".join(f"  ({name}): {_described(value, with_type)}" for name, value in items)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"a {type(self).__name__} holds parameters and cannot be called")


def _described(value: Any, with_type: bool) -> str:
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.shape))
    where = "" if value.device.type == "cpu" else f" ({value.device})"
    kind = value.type() if with_type else value.dtype
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"{name} containing: [{kind} of size {size}{where}]"


class ParameterList(_Holder):
    """A list of parameters of the module that holds it. Tensors become parameters; other objects
    are kept as they are."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _get_abs_string_index(self, idx: object) -> str:
        return str(_position(idx, len(self)))

    def append(self, value: Any) -> Self:
        """Adds a value at the end; returns the list."""
        number = len(self)
        self._size += 1
        self[number] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Adds values at the end; returns the list."""
        for value in list(_iterable("extend", values)):
            self.append(value)
        return self

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def extra_repr(self) -> str:
        return self._lines(enumerate(self), with_type=False)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(i)) for i in range(self._size))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, self._get_abs_string_index(index))

    def __setitem__(self, index: int, param: Any) -> None:
        self._hold(self._get_abs_string_index(index), param)


class ParameterDict(_Holder):
    """A dict of parameters of the module that holds it. Tensors become parameters; other objects
    are kept as they are."""

    def __init__(
        self,
        parameters: Any = None,
    ) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key: str) -> str:
        if not isinstance(key, str):
            raise TypeError(f"the key of a ParameterDict is a {type(key).__name__}, wanted a str")
        return key

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._key_to_attr(key)
        if key not in self._keys and hasattr(self, name):
            raise KeyError(f"attribute {key!r} exists already")
        self._hold(name, value)
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names with their values."""
        return ((key, self[key]) for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Adds values from a mapping or from pairs, replacing those with the same names; those of
        a plain dict in the order of their names, as in PyTorch."""
        argument = _pairs("update", parameters)
        for key, value in sorted(argument, key=_name) if type(parameters) is dict else argument:
            self[key] = value

    def get(self, key: str, default: Any = None) -> Any:
        """The value of that name, or the default."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of that name; the default becomes it if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Removes a value and returns it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Removes the last value, and returns its name and it."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Removes all values."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """Another dict of the same values."""
        return ParameterDict(list(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dict with the default as value of every key."""
        return ParameterDict([(key, default) for key in keys])

    def __or__(self, other: Mapping[str, Any]) -> ParameterDict:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        """Of a plain dict, a plain dict."""
        result = other.copy()
        result.update(self)
        return result

    def __ior__(self, other: Mapping[str, Any]) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return self._lines(self.items(), with_type=True)


def _name(pair: tuple[str, Any]) -> str:
    return pair[0]
