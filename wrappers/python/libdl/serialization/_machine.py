# SPDX-License-Identifier: Apache-2.0
"""A restricted pickle machine: it builds plain values and what a fixed table of names makes of
them. It imports nothing and calls nothing from outside that table.

It knows the opcodes of protocols 2 to 4 that data needs (Lib/pickletools.py describes them). Its
loop never recurses, and what it allocates is bounded by a multiple of the pickle's size, because
every value costs at least one of its bytes."""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from .._errors import Error, FormatError
from .._types import Size, device as Device, dtype as Dtype

MAX_MARKS = 1000  # tuples, lists and dicts open at one place
MAX_DEPTH = 1000  # of the result: more, and Python's own repr and deepcopy could not walk it
_ATOMS = (str, int, float, bool, bytes, type(None), Dtype, Device)
_KEY_PARTS = 64  # of a tuple that is a dict's key
_WRONG = (ValueError, TypeError, LookupError, OverflowError, AttributeError, struct.error,
          RuntimeError)  # fmt: skip


class Maker:
    """A name of the table that makes a value from arguments."""

    __slots__ = ("name", "make")

    def __init__(self, name: str, make: Callable[..., Any]) -> None:
        self.name, self.make = name, make


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
        arguments: with which the file would have it called
        state: the object's state, mostly a dict of its attributes; None: the file has none
        items: what the file would put into it, as into a list, or pairs, as into a dict
    """

    def __init__(self, name: str, arguments: tuple[Any, ...]) -> None:
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


def is_key(value: Any) -> bool:
    """Whether a dict may have it as a key: hashing it is cheap, and collisions cannot be planned."""
    left, rest = _KEY_PARTS, [value]
    while rest and left:
        left -= 1
        part = rest.pop()
        if type(part) in (tuple, Size) and len(part) <= _KEY_PARTS:
            rest.extend(part)
        elif not isinstance(part, _ATOMS) or isinstance(part, int) and abs(part) >> 63:
            return False
    return not rest


def checked_key(value: Any) -> Any:
    if not is_key(value):
        raise ValueError(f"a {type(value).__name__} as a key or as an element of a set, wanted a "
                         "string, a number of 64 bits or a short tuple of them")  # fmt: skip
    return value


def attach(owner: Any, state: dict[Any, Any]) -> None:
    """Gives an object attributes; none may hide what its class has."""
    for name, value in state.items():
        if not isinstance(name, str) or hasattr(type(owner), name):
            raise ValueError(f"{name!r} as an attribute of a {type(owner).__name__}")
        owner.__dict__[name] = value


class Machine:
    def __init__(self, data: bytes, table: Table, place: str) -> None:
        self._data, self._table, self._place = data, table, place
        self._at = 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value that the pickle describes.

        Errors: FormatError and UnsupportedError, which tell the opcode's place."""
        while True:
            start = self._at
            try:
                code = self._byte()
                if code == 46:  # STOP
                    return self._result()
                step = _STEPS.get(code)
                if step is None:
                    raise ValueError(f"the opcode {bytes([code])!r}, which no such file needs")
                step(self)
            except Error as error:
                text = str(error).removeprefix("load: ")
                raise type(error)(f"load: {text} (at byte {start} of {self._place})") from None
            except _WRONG as error:
                raise FormatError(f"load: byte {start} of {self._place} has {error}") from None

    def _result(self) -> Any:
        if len(self._stack) != 1 or self._marks:
            raise ValueError("the end, with values left over")
        check_depth(self._stack[0])
        return self._stack[0]

    # -- the pickle's bytes ------------------------------------------------------------------------

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise ValueError("an opcode that reaches beyond the end")
        part, self._at = self._data[self._at : end], end
        return part

    def _byte(self) -> int:
        return self._take(1)[0]

    def _number(self, size: int) -> int:
        return int.from_bytes(self._take(size), "little")

    def _line(self) -> str:
        end = self._data.find(b"\n", self._at)
        if end < 0:
            raise ValueError("a name without an end")
        line = self._take(end + 1 - self._at)
        return line[:-1].decode("utf-8")

    # -- the stack ---------------------------------------------------------------------------------

    def _pop(self) -> Any:
        if len(self._stack) <= (self._marks[-1] if self._marks else 0):
            raise ValueError("an opcode that finds no value")
        return self._stack.pop()

    def _top(self) -> Any:
        value = self._pop()
        self._stack.append(value)
        return value

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def mark(self) -> None:
        if len(self._marks) == MAX_MARKS:
            raise ValueError(f"more than {MAX_MARKS} values begun inside each other")
        self._marks.append(len(self._stack))

    def _marked(self) -> list[Any]:
        """The values since the last mark."""
        if not self._marks:
            raise ValueError("an opcode that finds no mark")
        begin = self._marks.pop()
        values = self._stack[begin:]
        del self._stack[begin:]
        return values

    def pop(self) -> None:
        if self._marks and self._marks[-1] == len(self._stack):
            self._marks.pop()
        else:
            self._pop()

    # -- values ------------------------------------------------------------------------------------

    def protocol(self) -> None:
        if (version := self._byte()) not in (2, 3, 4):
            raise ValueError(f"pickle protocol {version}, wanted 2 to 4")

    def integer(self, size: int) -> None:
        self.push(int.from_bytes(self._take(size), "little", signed=True))

    def text(self, size: int) -> None:
        self.push(self._take(self._number(size)).decode("utf-8", "surrogatepass"))

    def octets(self, size: int) -> None:
        self.push(self._take(self._number(size)))

    def old_text(self, size: int) -> None:
        """A byte string of Python 2."""
        self.push(self._take(self._number(size)).decode("utf-8"))

    def last(self, count: int) -> None:
        values = [self._pop() for _ in range(count)]
        self.push(tuple(reversed(values)))

    # -- containers --------------------------------------------------------------------------------

    def _extend(self, values: list[Any]) -> None:
        into = self._top()
        if type(into) is list:
            into.extend(values)
        elif type(into) is Unbuilt:
            into.items.extend(values)
        else:
            raise ValueError(f"elements for a {type(into).__name__}, wanted a list")

    def append(self) -> None:
        value = self._pop()
        self._extend([value])

    def _fill(self, values: list[Any]) -> None:
        into = self._top()
        if len(values) % 2:
            raise ValueError("a key without a value")
        pairs: Iterable[tuple[Any, Any]] = zip(values[::2], values[1::2], strict=True)
        if type(into) is Unbuilt:
            into.items.extend(pairs)
        elif type(into) in (dict, OrderedDict, Counter):
            for key, value in pairs:
                into[checked_key(key)] = value
        else:
            raise ValueError(f"items for a {type(into).__name__}, wanted a dict")

    def set_item(self) -> None:
        value = self._pop()
        key = self._pop()
        self._fill([key, value])

    def add_items(self) -> None:
        values = self._marked()
        into = self._top()
        if type(into) is not set:
            raise ValueError(f"elements for a {type(into).__name__}, wanted a set")
        into.update(map(checked_key, values))

    # -- memo --------------------------------------------------------------------------------------

    def put(self, index: int) -> None:
        self._memo[index] = value = self._top()
        if isinstance(value, Unfinished):
            value.memo = index

    def get(self, size: int) -> None:
        index = self._number(size)
        if index not in self._memo:
            raise ValueError(f"number {index} of the memo, which has none")
        self.push(self._memo[index])

    # -- names -------------------------------------------------------------------------------------

    def named(self) -> None:
        module = self._line()
        self.push(self._table.named(module, self._line()))

    def named_on_stack(self) -> None:
        name, module = self._pop(), self._pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise ValueError("a name that is no string")
        self.push(self._table.named(module, name))

    def call(self) -> None:
        arguments, maker = self._pop(), self._pop()
        if type(maker) is not Maker:
            raise ValueError(f"a call of a {type(maker).__name__}, wanted a name of the table")
        if type(arguments) is not tuple:
            raise ValueError(f"a call of {maker.name} without a tuple of arguments")
        self.push(maker.make(*arguments))

    def build(self) -> None:
        """Gives the object on the stack its state."""
        state, into = self._pop(), self._top()
        if type(into) is Unbuilt:
            into.state = state
        elif type(into) in (OrderedDict, Counter) and type(state) is dict:
            attach(into, state)
        elif isinstance(into, Unfinished):
            self._stack[-1] = made = into.take_state(state)
            if into.memo >= 0:
                self._memo[into.memo] = made
        else:
            raise ValueError(f"a state for a {type(into).__name__}, wanted an OrderedDict")

    def persistent(self) -> None:
        self.push(self._table.storage(self._pop()))


_STEPS: dict[int, Callable[[Machine], None]] = {
    ord(code): step
    for code, step in {
        "\x80": Machine.protocol,
        "\x95": lambda m: m._take(8) and None,  # FRAME: its size says nothing new
        "N": lambda m: m.push(None),
        "\x88": lambda m: m.push(True),
        "\x89": lambda m: m.push(False),
        "J": lambda m: m.integer(4),
        "K": lambda m: m.push(m._byte()),
        "M": lambda m: m.push(m._number(2)),
        "\x8a": lambda m: m.integer(m._byte()),
        "\x8b": lambda m: m.integer(m._number(4)),
        "G": lambda m: m.push(struct.unpack(">d", m._take(8))[0]),
        "X": lambda m: m.text(4),
        "\x8c": lambda m: m.text(1),
        "\x8d": lambda m: m.text(8),
        "U": lambda m: m.old_text(1),
        "T": lambda m: m.old_text(4),
        "C": lambda m: m.octets(1),
        "B": lambda m: m.octets(4),
        "\x8e": lambda m: m.octets(8),
        "(": Machine.mark,
        "0": Machine.pop,
        ")": lambda m: m.push(()),
        "t": lambda m: m.push(tuple(m._marked())),
        "\x85": lambda m: m.last(1),
        "\x86": lambda m: m.last(2),
        "\x87": lambda m: m.last(3),
        "]": lambda m: m.push([]),
        "a": Machine.append,
        "e": lambda m: m._extend(m._marked()),
        "}": lambda m: m.push({}),
        "s": Machine.set_item,
        "u": lambda m: m._fill(m._marked()),
        "\x8f": lambda m: m.push(set()),
        "\x90": Machine.add_items,
        "\x91": lambda m: m.push(frozenset(map(checked_key, m._marked()))),
        "q": lambda m: m.put(m._number(1)),
        "r": lambda m: m.put(m._number(4)),
        "\x94": lambda m: m.put(len(m._memo)),
        "h": lambda m: m.get(1),
        "j": lambda m: m.get(4),
        "c": Machine.named,
        "\x93": Machine.named_on_stack,
        "R": Machine.call,
        "\x81": Machine.call,  # NEWOBJ: the same for what the table has
        "b": Machine.build,
        "Q": Machine.persistent,
    }.items()
}


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        yield from value.values()
        yield from getattr(value, "__dict__", {}).values()
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
        below = []
        for part in level:
            if isinstance(part, (dict, list, tuple, Unbuilt)) and id(part) not in seen:
                seen.add(id(part))
                below.extend(_parts(part))
        level, depth = below, depth + 1
