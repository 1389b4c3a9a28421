# SPDX-License-Identifier: Apache-2.0
"""The values that a pickle may hold, and what keeps them harmless: which keys a dict may have,
which attributes an object may get, how deep a result may nest.

A file can share one value thousands of times, so that a tuple of a few bytes has 2^60 leaves. Hence
nothing here hashes, compares or prints a value before its kind and size are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from .._C import Tensor
from .._types import Size, device as Device, dtype as Dtype

MAX_MARKS = 1000  # tuples, lists and dicts open at one place
MAX_DEPTH = 1000  # of the result: more, and Python's own repr and deepcopy could not walk it
_ATOMS = (str, int, float, bool, bytes, type(None), Dtype, Device)
_SIZED = (str, bytes, list, tuple, dict)
_KEY_PARTS = 64  # of a tuple that is a dict's key
_KEY_LENGTH = 1 << 16  # of a string


class Maker:
    """A name of the table that makes a value from arguments."""

    __slots__ = ("name", "make", "cost")

    def __init__(
        self,
        name: str,
        make: Callable[..., Any],
        cost: Callable[[tuple[Any, ...]], int] | None = None,
    ) -> None:
        self.name, self.make = name, make
        self.cost = cost  # how many bytes a call with these arguments computes


class Unfinished:
    """A value that a pickle makes in two steps; only what take_state returns may be in a result."""

    memo = -1  # its number in the memo

    def take_state(self, state: Any) -> Any:
        raise NotImplementedError


class Table(Protocol):
    """Resolves what a pickle refers to."""

    def named(self, module: str, name: str) -> Any:
        """A Maker or a value; raises for a name that it does not have."""

    def storage(self, key: Any) -> Any:
        """What a persistent id stands for."""


class Unbuilt:
    """What a file tells of an object whose class was named with add_safe_globals: none of the
    class's code has run. Attributes of the state can be read as the object's own.

    Attributes:
        name: of the class or function, as in the file
        arguments: with which the file would have it called; None: it is the class itself
        state: the object's state, mostly a dict of its attributes; None: the file has none
        items: what the file would put into it, as into a list, or pairs, as into a dict
    """

    def __init__(self, name: str, arguments: tuple[Any, ...] | None) -> None:
        self.name, self.arguments = name, arguments
        self.state: Any = None
        self.items: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__.get("state")
        if isinstance(state, dict) and name in state:
            return state[name]
        raise AttributeError(f"{self.__dict__.get('name')}, unbuilt, has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<{self.name}, unbuilt>"


class Unkept(TypeError):
    """An object that a format does not hold as it is."""


def no_meaning(value: Any, place: str) -> Unkept:
    """What is said of an object that a format does not hold."""
    hint = "save what it is made of, or without format=, which pickles it"
    if hasattr(value, "load_state_dict"):
        hint = (
            "save its state_dict(), and give that to load_state_dict() of a new one. Without "
            "format=, save pickles objects whole; reading that runs code"
        )
    kind = type(value).__qualname__
    if kind == "ndarray":
        kind += f" of {value.dtype}"
    return Unkept(
        f"save: {place or 'the object'} is a {kind}; a file holds tensors, "
        "numbers, strings, bytes, lists, tuples, sets, dicts, and NumPy's numbers and arrays of "
        f"numbers: {hint}"
    )


def is_key(value: Any) -> bool:
    """Whether a dict may have it as a key: hashing is cheap, and nobody can plan collisions."""
    left, rest = _KEY_PARTS, [value]
    while rest and left:
        left -= 1
        part = rest.pop()
        if type(part) in (tuple, Size) and len(part) <= _KEY_PARTS:
            rest.extend(part)
        elif not isinstance(part, _ATOMS):
            return False
        elif isinstance(part, int) and part.bit_length() > 63:
            return False
        elif isinstance(part, (str, bytes)) and len(part) > _KEY_LENGTH:
            return False
    return not rest


def checked_key(value: Any) -> Any:
    if not is_key(value):
        raise ValueError(
            f"a {type(value).__name__} as a key or as an element of a set, wanted a "
            "string, a number of 64 bits or a short tuple of them"
        )
    return value


def length(value: Any) -> int:
    """How much is copied when a value's parts are."""
    parts = value if isinstance(value, tuple) else (value,)
    return sum(len(part) for part in parts if isinstance(part, _SIZED))


def attach(owner: object, state: object) -> None:
    """Gives an object attributes; none may hide what its class has."""
    if type(state) is not dict:
        raise ValueError(f"attributes in a {type(state).__name__}, wanted a dict")
    for name, value in state.items():
        if not isinstance(name, str) or hasattr(type(owner), name):
            raise ValueError(f"{name!r} as an attribute of a {type(owner).__name__}")
        owner.__dict__[name] = value


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        yield from value.values()
        yield from getattr(value, "__dict__", {}).values()
    elif isinstance(value, Tensor):
        yield from value.__dict__.values()
    elif isinstance(value, (list, tuple)):
        yield from value
    elif type(value) is Unbuilt:
        yield from (value.arguments, value.state, value.items)


def check_depth(value: Any) -> None:
    """Raises for a result that nests too deeply, or that has a bare name in it."""
    seen: set[int] = set()
    level, depth = [value], 0
    while level:
        for part in level:
            if isinstance(part, (Maker, Unfinished)):
                raise ValueError("a name as a value, wanted what it makes")
        if depth == MAX_DEPTH:
            raise ValueError(f"values nested more than {MAX_DEPTH} deep")
        below: list[Any] = []
        for part in level:
            if isinstance(part, (dict, list, tuple, Tensor, Unbuilt)) and id(part) not in seen:
                seen.add(id(part))
                below.extend(_parts(part))
        level, depth = below, depth + 1
