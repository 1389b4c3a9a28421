# SPDX-License-Identifier: Apache-2.0
"""A restricted pickle machine: it builds plain values and what a fixed table of names makes of
them. It imports nothing and calls nothing from outside that table.

It knows the opcodes of protocols 2 to 4 that data needs (Lib/pickletools.py describes them). Its
loop never recurses. What it allocates is bounded: every value costs at least one byte of the
pickle, and what a call copies or computes is taken from an allowance."""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from .._errors import (
    DeviceError,
    Error,
    FileError,
    FormatError,
    OutOfMemoryError,
    UnsupportedError,
)
from ._values import (
    MAX_MARKS,
    Maker,
    Table,
    Unbuilt,
    Unfinished,
    attach,
    check_depth,
    checked_key,
    length,
)

_WRONG = (
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    AttributeError,
    struct.error,
    RuntimeError,
)
_KEPT = (UnsupportedError, DeviceError, FileError, OutOfMemoryError)  # others: the file is damaged
_LONGEST_NAME = 1000


class Machine:
    def __init__(self, data: bytes, table: Table, place: str, allowance: int = 0) -> None:
        self._data, self._table, self._place = data, table, place
        # What honest files copy stands in the pickle itself, and costs it as many bytes.
        self._allowance = allowance + 2 * len(data) + 1024
        self._at = 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value that the pickle describes.

        Errors: FormatError and UnsupportedError, which tell the opcode's place; FileError and
        OutOfMemoryError; and a Foreign's."""
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
                kind = type(error) if isinstance(error, _KEPT) else FormatError
                raise kind(f"load: {text} (at byte {start} of {self._place})") from None
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
        self._named(module, self._line())

    def named_on_stack(self) -> None:
        name, module = self._pop(), self._pop()
        self._named(module, name)

    def _named(self, module: Any, name: Any) -> None:
        for part in (module, name):
            if not isinstance(part, str) or len(part) > _LONGEST_NAME:
                raise ValueError(f"a name that is no string of at most {_LONGEST_NAME} characters")
        self.push(self._table.named(module, name))

    def call(self) -> None:
        arguments, maker = self._pop(), self._pop()
        if type(arguments) is not tuple:
            raise ValueError("a call without a tuple of arguments")
        if type(maker) is Unbuilt and maker.arguments is None:
            self.push(Unbuilt(maker.name, arguments))
            return
        if type(maker) is not Maker:
            raise ValueError(f"a call of a {type(maker).__name__}, wanted a name of the table")
        self._spend(length(arguments))
        if maker.cost:
            self._spend(maker.cost(arguments))
        self.push(maker.make(*arguments))

    def _spend(self, cost: int) -> None:
        self._allowance -= cost
        if self._allowance < 0:
            raise ValueError("calls that copy more than the file's size justifies")

    def build(self) -> None:
        """Gives the object on the stack its state."""
        state, into = self._pop(), self._top()
        self._spend(length(state))
        if type(into) is Unbuilt:
            into.state = state
        elif type(into) in (OrderedDict, Counter) and type(state) is dict:
            attach(into, state)
        elif isinstance(into, Unfinished):
            self._stack[-1] = result = into.take_state(state)
            if into.memo >= 0:
                self._memo[into.memo] = result
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
