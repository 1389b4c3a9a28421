# SPDX-License-Identifier: Apache-2.0
"""Where the library refuses: every call of fail(), of fail_argument() and of what hands through to
them, read from the sources. A place is numbered by its file and line: libdl/ops/nn/softmax.cc:66.

What hands through says so: LIBDL_SOURCE_LOCATION ends its parameters, LIBDL_SAME_SOURCE_LOCATION
its arguments.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
UNNOTICED = ROOT / "tests/mutation/unnoticed.txt"
_MACROS = "libdl/base/source_location.h"
# An error that is another's, told on; and memory, which may run out anywhere.
_TOLD_ON = re.compile(r"throw(;| Error::take\(| std::bad_alloc\(\))")
# Where an Error is made by hand: the three functions themselves, and the allocator's own, for which
# there is no check to leave out.
_BY_HAND = {"libdl/base/error.cc", "libdl/memory/allocator_statistics.cc"}


@dataclasses.dataclass(frozen=True)
class Place:
    number: str
    text: str  # the call, to tell it from others when lines have moved

    @property
    def file(self) -> str:
        return self.number.partition(":")[0]

    @property
    def line(self) -> int:
        return int(self.number.partition(":")[2])

    @property
    def key(self) -> str:
        return f"{self.file}: {self.text}"


def bare(text: str) -> str:
    """The code alone: comments and the insides of literals are blanked, nothing moves."""
    return _NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def closing(code: str, opening: int) -> int:
    """Where the bracket ends that is open at `opening`."""
    depth = 0
    for i in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i
    raise ValueError("a bracket is not closed")


def handing(code: str) -> set[str]:
    """The functions and lambdas whose parameters end in LIBDL_SOURCE_LOCATION."""
    names = set()
    for match in re.finditer(r"\bLIBDL_SOURCE_LOCATION\b", code):
        depth, at = 1, match.start()
        while depth:
            at -= 1
            depth += {")": 1, "(": -1}.get(code[at], 0)
        before = code[:at]
        named = re.search(r"(\w+)$", before) or re.search(r"(\w+) = \[[^\]]*\]$", before)
        assert named, before[-80:]
        names.add(named[1])
    return names


def calls(name: str, text: str, names: set[str]) -> list[Place]:
    """The places of one file."""
    code, found = bare(text), []
    for match in re.finditer(rf"\b(?:{'|'.join(sorted(names))})\(", code):
        end = closing(code, match.end() - 1)
        if re.search(r"\bLIBDL_(SAME_|GIVEN_)?SOURCE_LOCATION\b", code[match.end() : end]):
            continue
        line = text.count("\n", 0, match.start()) + 1
        found.append(Place(f"{name}:{line}", " ".join(text[match.start() : end + 1].split())))
    return found


def sources() -> dict[str, str]:
    paths = sorted([*ROOT.glob("libdl/**/*.h"), *ROOT.glob("libdl/**/*.cc")])
    paths = [path for path in paths if "backends" not in path.parts]  # libraries of their own
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in paths}
    del texts[_MACROS]
    return texts


def places() -> list[Place]:
    texts = sources()
    names = declared(texts)
    return [p for n, t in texts.items() for p in calls(n, t, names | handing(bare(t)))]


def declared(texts: dict[str, str]) -> set[str]:
    """What hands through in any header."""
    return set().union(*(handing(bare(t)) for n, t in texts.items() if n.endswith(".h")))


def without_location(name: str, text: str, names: set[str]) -> list[str]:
    """Lambdas of a file that are called as what hands through, `names`, but keep the place of their
    calls for themselves: no test would seem to come there."""
    code = bare(text)
    found = re.finditer(rf"\b({'|'.join(sorted(names))}) = \[[^\]]*\]", code)
    own = handing(code)
    return [f"{name}: {match[1]}" for match in found if match[1] not in own]


def unnumbered(name: str, text: str) -> list[str]:
    """The errors of a file that no number stands for."""
    if name in _BY_HAND:
        return []
    code = bare(text)
    wrong = [m for m in re.finditer(r"\bthrow\b", code) if not _TOLD_ON.match(code, m.start())]
    return [f"{name}:{text.count(chr(10), 0, m.start()) + 1}" for m in wrong]


def accepted() -> dict[str, str]:
    """The places that no test notices, and why: a line each, the reason indented behind it."""
    found, last = {}, ""
    for line in UNNOTICED.read_text().splitlines():
        if line.startswith(" "):
            found[last] = (found[last] + " " + line.strip()).strip()
        elif line and not line.startswith("#"):
            last, found[line] = line, ""
    return found
