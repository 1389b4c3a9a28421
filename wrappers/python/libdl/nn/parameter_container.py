# SPDX-License-Identifier: Apache-2.0
"""Modules that hold parameters, and possibly other objects among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .._C import Tensor
from .container import iterable, pairs, place
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self


class _Holder(Module):
    """Values are attributes, so that tensors among them become parameters of the module."""

    def _hold(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def _lines(self, items: Iterable[tuple[Any, Any]], with_type: bool) -> str:
        return "\n".join(f"  ({name}): {_described(value, with_type)}" for name, value in items)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
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

    def _get_abs_string_index(self, idx: Any) -> str:
        return str(place(idx, len(self)))

    def append(self, value: Any) -> Self:
        """Adds a value at the end; returns the list."""
        number = len(self)
        self._size += 1
        self[number] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Adds values at the end; returns the list."""
        for value in list(iterable("extend", values)):
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

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key: Any) -> str:
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

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def values(self) -> Any:
        """The values."""
        return (self[key] for key in self._keys)

    def items(self) -> Any:
        """The names with their values."""
        return ((key, self[key]) for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Adds values from a mapping or from pairs, replacing those with the same names; those of
        a plain dict in the order of their names, as in PyTorch."""
        given = pairs("update", parameters)
        for key, value in sorted(given, key=_name) if type(parameters) is dict else given:
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
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        """Of a plain dict, a plain dict."""
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: Mapping[str, Any]) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return self._lines(self.items(), with_type=True)


def _name(pair: tuple[str, Any]) -> str:
    return pair[0]
