# SPDX-License-Identifier: Apache-2.0
"""Programs with PyTorch's answers behind their lines, as text:

    weights
        net.weight_orig is w  # -> True
        numbers(net.weight)  # -> [3., 0., 4., 1.5, -5., 9., -2., 6.]
        told(change, s)
            # -> 1
            # -> raises('IndexError', 'RuntimeError')

A program is a function of the library in a module such as tests/wrappers/nn/seen_prune.py; its text
file lies beside it. What it returns are the answers, and the line of an answer is the expression in
its source that made it: an element of a list that it returns, or that is appended to one. Entries
of a dict have their keys as lines. Where a line is passed several times, its answers stand one
below the other; lines that have the same one stand as `add of {a | b}  # -> 3`. A module whose
calls are made by rules has a function `answers` instead, which returns a dict of the calls' texts;
their lines stand at the left. If it has `sections`, that returns such a dict for each section.

    python tests/answered.py seen_prune        # stores PyTorch's answers anew

A module's NEAR tells how near numbers must come to PyTorch's: relative to the larger of 1 and the
number, or, of two, the first relative to the number and the second absolute; 0 is to the last bit.
A file has the digits that this takes and one or two more.

Of an answer of many numbers the file has a digest, which tells what is not as near as that:

    rounded(net(x))  # -> digest('e2c5ae1f', 3.2911453, 1.0446502)

are the checksum of all that is no float, and two weighted sums of the floats; then come the kinds
of the errors among them, as 'ValueError x 3'. Of a text of several
lines, such as a program that was written, it has a checksum, and one of each line:

    text(net.code)  # -> lines('9e01f3a4', '1f2a 03bc 77d0')

A module that says TOGETHER = True has one digest of the entries of a dict that begin with the same
word; a difference that only one number makes is told with its entry:

    addmv ...  # -> several(9, 'c12fe691', 9.372403912, 9.390872449, 'RuntimeError')

A module whose tests read the answers themselves says WHOLE = True, or names such sections. An
answer that a line gave several times running stands once, as `# 6 times -> 3`.

    python tests/answered.py --whole seen_prune  # prints PyTorch's answers with all their numbers
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import itertools
import json
import math
import re
import sys
import textwrap
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

WIDTH = 100
NEAR = 2e-8  # float64 computed in another order
Near = float | tuple[float, float]


# -- values as text --------------------------------------------------------------------------------


def raises(*kinds: str) -> dict[str, list[str]]:
    """The answer of a call that fails, as wrappers.answers.told gives it."""
    return {"error": list(kinds)}


def tensor(*seen: Any) -> dict[str, list[Any]]:
    """What tests/oracle sees of a tensor."""
    return {"tensor": list(seen)}


@dataclass
class Digest:
    """An answer of many numbers."""

    checksum: str  # of its shape, dtypes, texts, integers and infinities
    sums: list[float]  # of `Scale.sums`; none if it has no floats
    errors: list[dict[str, list[str]]]  # among its parts; one if all are the same


def digest(checksum: str, *parts: Any) -> Digest:
    """Of the text in a file, where errors stand as 'ValueError|IndexError x 2'."""
    made = Digest(checksum, [part for part in parts if isinstance(part, float)], [])
    for part in parts[len(made.sums) :]:
        kinds, _, often = part.partition(" x ")
        made.errors += [raises(*kinds.split("|")) for _ in range(int(often or 1))]
    return made


@dataclass
class Text:
    """A text of several lines."""

    checksum: str
    each: list[str]  # the checksum of a line, in 16 bits


@dataclass
class Several:
    """The answers of the entries that begin with the same word."""

    count: int
    digest: Digest


NAMES = {
    "nan": math.nan,
    "inf": math.inf,
    "raises": raises,
    "tensor": tensor,
    "digest": digest,
    "several": lambda count, *parts: Several(count, digest(*parts)),
    "lines": lambda checksum, each: Text(checksum, each.split()),
    "__builtins__": {},
}


def digits_of(near: Near) -> int:
    """Significant digits whose rounding is less than a tenth of what is compared."""
    relative = near[0] if isinstance(near, tuple) else near
    return 17 if relative == 0 else math.ceil(1.7 - math.log10(relative))


def atoms(value: Any, digits: int) -> Iterator[str]:
    """The value as Python, in pieces between which a line may end. A space begins a piece."""
    if isinstance(value, (list, dict)):
        opening, closing = "[]" if isinstance(value, list) else "{}"
        if (
            isinstance(value, dict)
            and list(value) in (["error"], ["tensor"])
            and isinstance(*value.values(), list)
        ):
            opening, closing = ("raises(" if "error" in value else "tensor("), ")"
            (value,) = value.values()
        parts: list[str] = []
        for i, item in enumerate(value):
            pieces = list(atoms(value[item] if isinstance(value, dict) else item, digits))
            if isinstance(value, dict):
                pieces[0] = f"{item!r}: {pieces[0]}"
            if i:
                parts[-1] += ","
                pieces[0] = " " + pieces[0]
            parts += pieces
        if not parts:
            parts = [""]
        parts[0] = parts[0][: parts[0].startswith(" ")] + opening + parts[0].lstrip(" ")
        parts[-1] += closing
        yield from parts
    elif isinstance(value, float):
        text = repr(value) if digits > 16 else f"{value:.{digits}g}"
        if text.endswith(".0"):
            text = text[:-1]
        yield text if re.search(r"[.en]", text) else text + "."
    elif isinstance(value, Several):
        first, *more = atoms(value.digest, digits)
        yield from (first.replace("digest(", f"several({value.count}, ", 1), *more)
    elif isinstance(value, Digest):
        sums = "".join(f", {x!r}" for x in value.sums)
        pieces = [f"digest({value.checksum!r}{sums}"]
        for error, alike in itertools.groupby(value.errors):
            often = len(list(alike))
            pieces[-1] += ","
            pieces += [f" {'|'.join(error['error']) + f' x {often}' * (often > 1)!r}"]
        pieces[-1] += ")"
        yield from pieces
    elif isinstance(value, Text):
        rows = [" ".join(value.each[i : i + 16]) for i in range(0, len(value.each), 16)]
        yield f"lines({value.checksum!r},"
        yield from (f" {row + ' '!r}" for row in rows[:-1])
        yield f" {rows[-1]!r})"
    elif isinstance(value, str):
        lines = value.splitlines(keepends=True) if len(value) > 80 else [value]
        pieces = [piece for line in lines for piece in cut(line)]
        yield from ((" " if i else "") + repr(piece) for i, piece in enumerate(pieces))
    else:
        yield repr(value)


def cut(line: str) -> Iterator[str]:
    """Pieces of at most 74 characters, if possible behind a space."""
    while len(line) > 74:
        end = line.rfind(" ", 40, 74) + 1 or 74
        yield line[:end]
        line = line[end:]
    yield line


def wrapped(value: Any, digits: int, first: int, indent: int, mark: str = "# -> ") -> str:
    """The answer as a comment that begins in column `first` and goes on below at `indent`."""
    lines, room = [mark], WIDTH - first - len(mark)
    for piece in atoms(value, digits):
        if len(piece) > room and lines[-1] not in (mark, " " * indent + "#    "):
            lines.append(" " * indent + "#    ")
            room, piece = WIDTH - indent - len("#    "), piece.lstrip(" ")
        lines[-1] += piece
        room -= len(piece)
    return "\n".join(line.rstrip() for line in lines)


# -- digests ---------------------------------------------------------------------------------------

MANY = 4  # numbers that are written one by one, however long they are
LONG = 80  # characters


class Scale:
    """Numbers in units in which all of them may differ by the same amount, `near`: linear up to
    where the comparison becomes relative, logarithmic beyond."""

    def __init__(self, near: Near) -> None:
        self.near, least = near if isinstance(near, tuple) else (near, near)
        self.linear = least / self.near if self.near else 1.0
        self.digits = math.ceil(1.3 - math.log10(self.near)) if self.near else 0  # of the sums

    def __call__(self, number: float) -> float:
        size = abs(number) / self.linear
        return math.copysign(size if size <= 1 else 1 + math.log(size), number)

    def weights(self, i: int) -> tuple[float, float]:
        """Of the i-th number in the sums. Each is more than 1, so that a sum is off if one number
        is, and no two weights of a sum are the same, so that an exchange is seen; what one sum
        hides another tells."""
        return 1.25 + i * (math.sqrt(5) / 2 - 0.5) % 1, 1.25 + i * (math.sqrt(2) - 1) % 1

    def sums(self, numbers: list[float]) -> list[float]:
        scaled = [self(number) for number in numbers]
        found = [
            math.fsum(self.weights(i)[which] * x for i, x in enumerate(scaled, 1))
            for which in (0, 1)
        ]
        return [round(x, self.digits) for x in found]

    def places(self, count: int, differences: list[float]) -> list[int]:
        """Which of `count` numbers, if it alone is off, makes these differences of the sums."""
        one, other = differences
        bound = 2 * 10.0**-self.digits
        ways = ((i, *self.weights(i + 1)) for i in range(count))
        return [i for i, a, b in ways if abs(one - other * a / b) < bound]


def digest_of(value: Any, near: Near) -> Digest:
    """What is compared of a value of many numbers."""
    scale, rest = Scale(near), list[str]()
    floats, errors = list[float](), list[dict[str, list[str]]]()

    def read(part: Any) -> None:
        if isinstance(part, dict) and "error" in part:
            errors.append(part)
            rest.append("an error")
        elif isinstance(part, (list, dict)):
            rest.append(f"{'list' if isinstance(part, list) else 'dict'} of {len(part)}")
            for key in part:
                if isinstance(part, dict):
                    rest.append(repr(key))
                read(part[key] if isinstance(part, dict) else key)
        elif isinstance(part, float) and math.isfinite(part) and scale.near:
            floats.append(part)
            rest.append("a float")
        else:
            rest.append(repr(part + 0.0 if isinstance(part, float) else part))  # -0. is 0.

    read(value)
    return Digest(checksum_of("\n".join(rest)), scale.sums(floats) if floats else [], errors)


def floats_in(value: Any) -> int:
    """How many numbers of the value its digest's sums have."""
    if isinstance(value, (list, dict)):
        if isinstance(value, dict) and "error" in value:
            return 0
        return sum(map(floats_in, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and math.isfinite(value)


def checksum_of(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def lines_of(text: str) -> Text:
    return Text(checksum_of(text), [checksum_of(line)[:4] for line in text.splitlines()])


def numbers_in(value: Any) -> int:
    if isinstance(value, (list, dict)):
        return sum(map(numbers_in, value.values() if isinstance(value, dict) else value))
    return isinstance(value, (int, float))


def specific(value: Any) -> Any:
    """Errors without the kinds that each error of another kind is of: those are implied."""
    if isinstance(value, dict) and list(value) == ["error"] and isinstance(value["error"], list):
        kinds = [getattr(builtins, name) for name in value["error"]]
        return raises(
            *(k.__name__ for k in kinds if not any(o is not k and issubclass(o, k) for o in kinds))
        )
    if isinstance(value, dict):
        return {key: specific(part) for key, part in value.items()}
    return [specific(part) for part in value] if isinstance(value, list) else value


def shortened(value: Any, near: Near, digits: int) -> Any:
    """The value as files have it."""
    value = specific(value)
    length = len("".join(atoms(value, digits)))
    if isinstance(value, str):
        return lines_of(value) if length > LONG and len(value.splitlines()) > 2 else value
    if length <= (LONG if numbers_in(value) > MANY else 2 * LONG):
        return value
    short = digest_of(value, near)
    if all(error == short.errors[0] for error in short.errors):
        del short.errors[1:]
    return short if len("".join(atoms(short, digits))) < 0.75 * length else value


# -- files -----------------------------------------------------------------------------------------


@dataclass
class Answer:
    """What a line of a program gave."""

    line: str
    value: Any
    is_entry: bool = field(default=False, compare=False)  # of a dict


# Before a list of the answers that a line gave one after the other.
EACH = "# each time -> "
NONE_STORED = object()  # the value of a program's line that has no answer
Sections = dict[str, list[Answer]]  # of a program; "" has the calls that are in none


def written(sections: Sections, title: str, digits: int) -> str:
    """The text of a file."""
    out = [f"# {line}" for line in title.splitlines()]
    for name, answers in sections.items():
        indent = 4 if name else 0
        out += ["", name] if name else [""]
        for line, values in together(answers, indent, digits):
            if values[0] is NONE_STORED:
                out += [" " * indent + line] * len(values)
                continue
            mark = "# -> "
            if len(values) > 1 and all(len("".join(atoms(v, digits))) < 40 for v in values):
                values, mark = [values], EACH
            alone = wrapped(values[0], digits, indent + len(line) + 2, indent + 4, mark)
            beside = f"{' ' * indent}{line}  {alone}"
            if (
                len(values) == 1
                and len(beside.partition("\n")[0]) <= WIDTH
                and ("\n" not in alone or len(line) <= 60)
            ):
                out.append(beside)
                continue
            out.append(" " * indent + line)
            for value, alike in runs_of(values):
                mark = mark if alike == 1 else f"# {alike} times -> "
                out.append(
                    " " * (indent + 4) + wrapped(value, digits, indent + 4, indent + 4, mark)
                )
                mark = "# -> "
    return "\n".join(out) + "\n"


def runs_of(values: list[Any]) -> Iterator[tuple[Any, int]]:
    """Each value, and how often it stands there running."""
    for _, run in itertools.groupby(values, lambda value: "".join(atoms(value, 17))):
        alike = list(run)
        yield alike[0], len(alike)


def together(answers: list[Answer], indent: int, digits: int) -> Iterator[tuple[str, list[Any]]]:
    """Each line with its answers; lines that have the same short one stand as `x {a | b} y`."""
    of_lines = itertools.groupby(answers, lambda a: (a.line, a.value is NONE_STORED))
    waiting, text, value = list[str](), "", None
    for (line, none), passes in of_lines:
        if expanded(line) != [line]:
            raise ValueError(f"the line `{line}` looks like several")
        values = [answer.value for answer in passes]
        alike = None if none or len(values) > 1 else "".join(atoms(values[0], digits))
        room = WIDTH - indent - len(f"  # -> {alike}")
        if room < WIDTH // 2:  # the answer stands below
            room = WIDTH - indent
        fits = len(braced([*waiting, line])) <= room
        if waiting and (alike != text or not fits or "{" in line):
            yield braced(waiting), [value]
            waiting = []
        if alike is None or "{" in line:
            yield line, values
        else:
            waiting.append(line)
            text, value = alike, values[0]
    if waiting:
        yield braced(waiting), [value]


def braced(lines: list[str]) -> str:
    """`x a y` and `x b y` as `x {a | b} y`."""
    if len(lines) == 1:
        return lines[0]
    rows = [line.split() for line in lines]
    most = min(map(len, rows)) - 1
    same = [len(set(words)) == 1 for words in zip(*rows)][:most]
    before = (*same, False).index(False)
    same = [len(set(words)) == 1 for words in zip(*(row[::-1] for row in rows))][: most - before]
    after = (*same, False).index(False)
    inner = " | ".join(" ".join(row[before : len(row) - after]) for row in rows)
    return " ".join([*rows[0][:before], "{" + inner + "}", *rows[0][len(rows[0]) - after :]])


BRACED = re.compile(r"(?:^|(?<= ))\{([^{}]+ \| [^{}]+)\}(?= |$)")


def expanded(line: str) -> list[str]:
    """What `braced` put together."""
    if not (found := BRACED.search(line)):
        return [line]
    before, after = line[: found.start()], line[found.end() :]
    return [before + inner + after for inner in found[1].split(" | ")]


MARK = re.compile(r"(?:^|  )# (each time |\d+ times )?-> ")


def parsed(text: str) -> Sections:
    """What `written` wrote; comments at the beginning are left out."""
    sections: Sections = {}
    name, line, often, pieces = "", "", "", list[str]()

    def finish() -> None:
        if pieces:
            value = eval(" ".join(pieces), dict(NAMES))
            each = often.startswith("each")
            values = value if each else [value] * int(often.partition(" ")[0] or 1)
            found = [Answer(one, v) for one in expanded(line) for v in values]
            sections.setdefault(name, []).extend(found)
            pieces.clear()

    lines = text.split("\n")
    for i, raw in enumerate(lines):
        bare = raw.strip()
        if not bare or raw.startswith("#"):
            continue
        program, mark, answer = MARK.split(bare, 1) if MARK.search(bare) else (bare, "", None)
        if answer is None and bare.startswith("#"):
            pieces.append(bare[1:].strip())
            continue
        finish()
        if answer is not None:
            line, often = program or line, mark or ""
            pieces.append(answer)
        elif MARK.match(lines[i + 1].strip()):
            line = program
        elif raw.startswith(" "):
            sections.setdefault(name, []).append(Answer(program, NONE_STORED))
        else:
            name = program
            sections.setdefault(name, [])
    finish()
    return sections


# -- lines of programs -----------------------------------------------------------------------------


class Lines(ast.NodeTransformer):
    """Wraps the elements of returned lists, and what is added to them, in `Answer`."""

    def __init__(self, source: str, returned: set[str]) -> None:
        self.source, self.returned, self.depth = source, returned, 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        if self.depth == 1:
            self.generic_visit(node)
        self.depth -= 1
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def noted(self, node: ast.expr) -> ast.expr:
        text = " ".join((ast.get_source_segment(self.source, node) or "").split())
        text = re.sub(r"(?<=[\[({]) |,? (?=[\])}])", "", text)  # as if it stood in one line
        text = text if len(text) <= 88 else text[:84].rstrip() + " ..."
        made = ast.Call(ast.Name("Answer", ast.Load()), [ast.Constant(text), node], [])
        return ast.copy_location(made, node)

    def marked(self, node: ast.expr) -> ast.expr:
        """A list's elements; both sides of a sum of lists."""
        if isinstance(node, (ast.List, ast.Tuple)):
            node.elts = [
                e if isinstance(e, ast.Starred) or self.is_returned(e) else self.noted(e)
                for e in node.elts
            ]
        elif isinstance(node, ast.ListComp):
            node.elt = self.noted(node.elt)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            node.left, node.right = self.marked(node.left), self.marked(node.right)
        return node

    def is_returned(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.returned

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if isinstance(node.value, (ast.List, ast.Tuple, ast.ListComp, ast.BinOp)):
            node.value = self.marked(node.value)
        elif node.value and not self.is_returned(node.value):
            node.value = self.noted(node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if self.is_returned(node.target) and isinstance(node.op, ast.Add):
            node.value = self.marked(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if self.is_returned(node.targets[0]):
            node.value = self.marked(node.value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and self.is_returned(call.func.value)
            and len(call.args) == 1
        ):
            if call.func.attr == "append":
                call.args = [self.noted(call.args[0])]
            elif call.func.attr == "extend":
                call.args = [self.marked(call.args[0])]
        return node


def with_lines(program: FunctionType) -> Callable[[Any], Any]:
    """The program, whose answers know their lines."""
    source = textwrap.dedent(inspect.getsource(program))
    tree = ast.parse(source)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    lists = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for names, value in [(node.targets[0], node.value)]
        for target, made in (
            zip(names.elts, value.elts)
            if isinstance(names, ast.Tuple) and isinstance(value, ast.Tuple)
            else [(names, value)]
        )
        if isinstance(target, ast.Name) and isinstance(made, (ast.List, ast.ListComp))
    }
    read = [
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    ]
    # A list that is read only to be added to and returned.
    grown = [
        node.func.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.attr in ("append", "extend")
    ]
    returned = {
        node.id
        for statement in ast.walk(function)
        if isinstance(statement, ast.Return)
        for node in parts_of(statement.value)
        if isinstance(node, ast.Name)
    }
    returned = {name for name in lists & returned if read.count(name) == grown.count(name) + 1}
    Lines(source, returned).visit(tree)
    ast.increment_lineno(tree, program.__code__.co_firstlineno - 1)
    function.args.kwonlyargs.append(ast.arg("Answer"))
    function.args.kw_defaults.append(ast.Name("Answer", ast.Load()))
    ast.fix_missing_locations(tree)
    names: dict[str, Any] = {"Answer": Answer}
    exec(compile(tree, program.__code__.co_filename, "exec"), program.__globals__, names)
    return names[program.__name__]


def parts_of(node: ast.expr | None) -> Iterator[ast.expr]:
    """Of `[*a, b] + c`: a, b and c."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for element in node.elts:
            yield from parts_of(element)
    elif isinstance(node, ast.Starred):
        yield from parts_of(node.value)
    elif isinstance(node, ast.BinOp):
        yield from parts_of(node.left)
        yield from parts_of(node.right)
    elif node is not None:
        yield node


def stripped(value: Any) -> Any:
    """Without lines, as JSON has it: tuples are lists."""
    if isinstance(value, Answer):
        return stripped(value.value)
    if isinstance(value, (list, tuple)):
        return [stripped(item) for item in value]
    if isinstance(value, dict):
        return json.loads(json.dumps({key: stripped(item) for key, item in value.items()}))
    return value


def listed(value: Any, line: str = "the result") -> Iterator[Answer]:
    """The answers in what a program returned."""
    if isinstance(value, Answer):
        yield from listed(value.value, value.line)
    elif isinstance(value, dict) and value and list(value) != ["error"]:
        yield from (Answer(clean(str(key)), stripped(item), True) for key, item in value.items())
    elif isinstance(value, (list, tuple)) and any(isinstance(item, Answer) for item in value):
        for item in value:
            yield from listed(item, line)
    else:
        yield Answer(line, stripped(value))


def clean(key: str) -> str:
    """A dict's key as a line."""
    return key if key and key == " ".join(key.split()) else repr(key)


# -- comparison ------------------------------------------------------------------------------------


def same(found: Any, wanted: Any, near: Near = NEAR) -> bool:
    """Equal, floats nearly; an error is of PyTorch's kinds, among others."""
    if isinstance(wanted, Digest):
        return not digest_difference(found, wanted, near)
    if isinstance(wanted, Several):
        return len(found) == wanted.count and not digest_difference(found, wanted.digest, near)
    if isinstance(wanted, Text):
        return isinstance(found, str) and lines_of(found) == wanted
    if isinstance(wanted, dict) and "error" in wanted:
        return isinstance(found, dict) and set(wanted["error"]) <= set(found.get("error", ()))
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict)
            and list(found) == list(wanted)
            and all(same(found[key], wanted[key], near) for key in wanted)
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(same(f, w, near) for f, w in zip(found, wanted))
        )
    if isinstance(wanted, float) or isinstance(found, float):
        if not all(isinstance(x, (int, float)) for x in (found, wanted)):
            return False
        if found == wanted or (found != found and wanted != wanted):
            return True
        if not (math.isfinite(found) and math.isfinite(wanted)):
            return False
        if isinstance(near, tuple):
            return math.isclose(found, wanted, rel_tol=near[0], abs_tol=near[1])
        return abs(found - wanted) <= near * max(1, abs(wanted))
    return type(found) is type(wanted) and found == wanted


def digest_difference(found: Any, wanted: Digest, near: Near) -> str:
    """What of the stored digest the value has not, or nothing."""
    own, scale = digest_of(found, near), Scale(near)
    if own.checksum != wanted.checksum or len(own.sums) != len(wanted.sums):
        return "another shape, text, integer or kind of number than"
    errors = wanted.errors * (len(own.errors) if len(wanted.errors) == 1 else 1)
    if not all(same(f, w, near) for f, w in zip(own.errors, errors, strict=True)):
        return f"errors {brief(own.errors)}, not {brief(wanted.errors)}, which are"
    for i, (f, w) in enumerate(zip(own.sums, wanted.sums)):
        if abs(f - w) > scale.near:
            return f"{f!r} as the weighted sum {i} of its floats, not {w!r}, which is"
    return ""


def first_difference(found: Any, wanted: Any, near: Near = NEAR, place: str = "") -> str:
    """Where two answers are not the same, as text, or nothing."""
    if same(found, wanted, near):
        return ""
    if (
        type(found) is type(wanted)
        and isinstance(wanted, (dict, list))
        and len(found) == len(wanted)
        and "error" not in wanted
    ):
        for key in wanted if isinstance(wanted, dict) else range(len(wanted)):
            if isinstance(found, dict) and key not in found:
                break
            if text := first_difference(found[key], wanted[key], near, f"{place}[{key!r}]"):
                return text
    where = f"at {place} " if place else ""
    if isinstance(wanted, Several):
        told = digest_difference(found, wanted.digest, near)
        return f"{suspects(found, wanted.digest, near)}it gives {told} PyTorch's, in {brief(found)}"
    if isinstance(wanted, Digest):
        told = digest_difference(found, wanted, near)
        return f"{where}it gives {told} PyTorch's, in {brief(found)} (--whole prints PyTorch's)"
    if isinstance(found, str) and isinstance(wanted, Text):
        rows, each = found.splitlines(), wanted.each
        n = next(
            (n for n, (f, w) in enumerate(zip(lines_of(found).each, each)) if f != w),
            min(len(rows), len(each)),
        )
        there = repr(rows[n]) if n < len(rows) else "nothing"
        return f"{where}in line {n + 1} it gives {there}, not PyTorch's (--whole prints PyTorch's)"
    if isinstance(found, str) and isinstance(wanted, str) and "\n" in wanted:
        for n, lines in enumerate(zip(found.splitlines(), wanted.splitlines())):
            if lines[0] != lines[1]:
                where, (found, wanted) = f"{where}in line {n + 1} ", lines
                break
    return f"{where}it gives {brief(found)}, PyTorch {brief(wanted)}"


def suspects(found: list[list[Any]], wanted: Digest, near: Near) -> str:
    """Where one number alone would make the difference."""
    own, scale = digest_of(found, near), Scale(near)
    if own.checksum != wanted.checksum or not own.sums:
        return ""
    entries = [line for line, value in found for _ in range(floats_in(value))]
    differences = [f - w for f, w in zip(own.sums, wanted.sums)]
    lines = {entries[i] for i in scale.places(len(entries), differences)}
    return f"probably at `{'` or `'.join(sorted(lines))}`, " if 0 < len(lines) < 4 else ""


def brief(value: Any) -> str:
    text = "".join(atoms(stripped(value), 12))
    return text if len(text) < 400 else text[:400] + " ..."


# -- modules with programs -------------------------------------------------------------------------


def near_of(module: ModuleType, program: str) -> Near:
    near: Near | dict[str, Near] = getattr(module, "NEAR", NEAR)
    return near.get(program, near[""]) if isinstance(near, dict) else near


def is_whole(module: ModuleType, program: str) -> bool:
    kept = getattr(module, "WHOLE", ())
    return kept is True or (kept is not False and program in kept)


class Stored:
    """The stored answers to a module's programs."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.file = Path(str(module.__file__)).with_suffix(".txt")
        self.sections = parsed(self.file.read_text(encoding="utf-8"))

    def __getitem__(self, section: str) -> dict[str, Any]:
        """A section's answers by their lines; that of "" has the calls that are in none."""
        return {answer.line: answer.value for answer in self.sections[section]}

    def check(
        self,
        program: FunctionType,
        library: Any,
        ignored: bool = False,
        shown: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        """The program's answers, as `shown` has them, are the stored ones; warnings are errors
        unless they are ignored."""
        found = [
            Answer(answer.line, shown(answer.value), answer.is_entry)
            for answer in answers_of(program, library, ignored)
        ]
        wanted = self.sections[program.__name__]
        if getattr(self.module, "TOGETHER", False) and not is_whole(self.module, program.__name__):
            found = gathered(found)
        told = [self.sentence(program.__name__, f, w) for f, w in zip(found, wanted)]
        if len(found) != len(wanted):
            told.append(f"{program.__name__}: {len(found)} answers, {len(wanted)} are stored")
        assert not any(told), "\n".join(filter(None, told[:20]))

    def compare(self, line: str, value: Any, section: str = "", near: Near | None = None) -> None:
        """What one call gave is the stored answer."""
        found, wanted = Answer(line, stripped(value)), Answer(line, self[section][line])
        told = self.sentence(section or self.module.__name__, found, wanted, near)
        assert not told, told

    def sentence(
        self, program: str, found: Answer, wanted: Answer, near: Near | None = None
    ) -> str:
        """How the two differ, or nothing."""
        if found.line != wanted.line:
            return (
                f"{program}: the line is `{found.line}`, stored is `{wanted.line}`: "
                "python tests/answered.py stores PyTorch's answers anew"
            )
        near = near_of(self.module, program) if near is None else near
        text = first_difference(found.value, wanted.value, near)
        return text and f"{program}: `{wanted.line}`: {text}"


def answers_of(program: FunctionType, library: Any, ignored: bool = False) -> list[Answer]:
    """What the program answers, line by line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if ignored else "error")
        return list(listed(with_lines(program)(library)))


def store(name: str, whole: bool = False) -> None:
    """Writes PyTorch's answers, or those of what the module names as its ORACLE; whole ones are
    printed instead."""
    (found,) = (Path(__file__).parent / "wrappers").rglob(f"{name}.py")
    path = found.relative_to(Path(__file__).parent).with_suffix("")
    module = importlib.import_module(".".join(path.parts))
    torch: Any = None
    by = getattr(module, "ORACLE", "")
    if not by:
        import torch
        import torch.nn.utils.prune

        torch.manual_seed(0)
        by = f"PyTorch {torch.__version__.partition('+')[0]}"
    warnings.simplefilter("ignore")
    if hasattr(module, "sections") or hasattr(module, "answers"):
        of_all = (
            module.sections(torch) if hasattr(module, "sections") else {"": module.answers(torch)}
        )
        sections = {
            name: [Answer(clean(line), stripped(value)) for line, value in found.items()]
            for name, found in of_all.items()
        }
    else:
        sections = {p.__name__: answers_of(p, torch, True) for p in module.PROGRAMS}
    near = getattr(module, "NEAR", NEAR)
    digits = max(map(digits_of, near.values() if isinstance(near, dict) else [near]))
    if isinstance(near, dict):
        told = ", ".join(f"{v:g}{f' in {k}' * bool(k)}" for k, v in near.items())
    else:
        told = "{:g} or {:g}".format(*near) if isinstance(near, tuple) else f"{near:g}"
    title = (
        f"{by}'s answers to {name}.py, stored by tests/answered.py.\n"
        f"Numbers have {digits} digits, and are compared to {told}."
    )
    if whole:
        print(written(sections, title, digits), end="")
        return
    shorten(module, {p: rows for p, rows in sections.items() if not is_whole(module, p)}, digits)
    Path(str(module.__file__)).with_suffix(".txt").write_text(written(sections, title, digits))


class Entries(list[list[Any]]):
    """[entry, value], of several."""


def gathered(answers: list[Answer]) -> list[Answer]:
    """Entries that begin with the same word, if there are three or more and one has numbers, as one
    answer."""
    rows: dict[str, list[list[Any]]] = {}
    for answer in answers:
        if answer.is_entry:
            word = answer.line.split()[0]
            rows.setdefault(word, []).append([answer.line, answer.value])
    found: list[Answer] = []
    for answer in answers:
        row = rows.get(answer.line.split()[0], []) if answer.is_entry else []
        if len(row) < 3 or not floats_in([value for _, value in row]):
            found.append(answer)
        elif row[0][0] == answer.line:
            found.append(Answer(f"{answer.line.split()[0]} ...", Entries(row)))
    return found


def shorten(module: ModuleType, sections: Sections, digits: int) -> None:
    for program, answers in sections.items():
        if getattr(module, "TOGETHER", False):
            answers[:] = gathered(answers)
        for answer in answers:
            if isinstance(answer.value, Entries):
                near = near_of(module, program)
                rows = [[line, specific(value)] for line, value in answer.value]
                answer.value = Several(len(rows), digest_of(rows, near))
            elif answer.value is not NONE_STORED:
                answer.value = shortened(answer.value, near_of(module, program), digits)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    for given in sys.argv[1:]:
        if given != "--whole":
            store(given, whole="--whole" in sys.argv)
