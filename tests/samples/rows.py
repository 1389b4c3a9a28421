# SPDX-License-Identifier: Apache-2.0
"""Samples of calls: for each operator and function arguments that a call succeeds with.

The text files beside this one, each for headers of one kind, hold what does not follow from the
declarations. A row is a name, or several, and what the arguments of that name are:

    conv{1,2,3}d: input=(1,2,4*d) weight=(4,2,2*d) bias=(4)#b stride=1 groups=1
    addmm: input=(n,m) mat1=(n,k) mat2=(k,m)

(2,3) is a tensor of the dtype that the argument's description asks for, i(2) one of int64 (likewise
f, c, b, f32 and i32), leaf(2) one that requires grad, sparse(2,3) a matrix of rows. A letter is a
size of SIZES, ... any shape, 4*d a 4 in each of the dimensions that the operator's name tells.
Arguments of the same dtype, shape and name are the same tensor: '#' gives a name, '!' makes a fresh
one each time. [2,3] is a list of integers, 2 one of a single number, [(2,3),(2)] one of tensors.
Numbers and strings stand as they are. What tests/fuzz/host_fixtures.h has is fn:NAME, at:NAME and
made:NAME; h:KIND is a handle of that kind.

'|' stands between alternatives: the first one is the sample, and tests/oracle draws from all, sizes
for the letters, too. Behind a tensor and ':' stands what its elements are then: a kind of
tests/oracle/words.py, <n for indices, `constant` if no gradient flows there; `of` tells the dtypes,
and `finite=true` that infinities are left out. Further rows of an operator are for draws alone.

An indented line continues the one above it. `bad` tells values that are refused, where that does
not follow from the declaration: of operators shapes of a tensor, or `none` where every shape is
good. Of other functions `after` tells what is called before, and `seldom` of how many calls by
chance one is made (0: none).
"""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from function_parameters import is_count
from headers import Function, Parameter
from operators import Argument, Operator

HERE = Path(__file__).resolve().parent
SIZES = {"b": "2", "n": "2", "k": "3", "m": "4", "c": "2", "e": "2", "h": "3", "...": "2,3"}
FILLED = ("c", "e", "h")  # never drawn as 0

# What programs read: t:f64:2,3#name is such a tensor, whose elements are 0, 1, 0, 1, ...; n:0.5,
# ni:1 and nc:1 are host numbers; i: and f: are values, ip: and fp: pointers to them.
DESTINATION = "t:f64:2,3"

DTYPES = {
    name.lower(): number
    for name, number in re.findall(
        r"^ +LIBDL_DTYPE_(\w+) = (\d+)",
        (HERE.parents[1] / "include/libdl/dtype.h").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}
_DTYPES = {"f": "f64", "i": "i64", "c": "c128", "b": "bool", "f32": "f32", "i32": "i32"}
TENSOR = re.compile(
    r"(?P<fresh>!?)(?P<mark>leaf|sparse|f32|i32|[ficb]|)\((?P<sizes>[\w,*.]*)\)(?P<name>#\w+)?"
    r"(:(?P<told>[\w<,]+))?"
)
_WORD = re.compile(
    r"(at|fn|h|made|op|options|out|s|dev):.*|!?loss|custom|null|fixture|buffer|schema|descriptor"
    r"|context|recorded|values|count|results|dsts|result"
)
_WORDS_OF = {"!loss": "!loss:x", "loss": "loss:x", "custom": "custom:x"}


@dataclass
class Row:
    arguments: dict[str, list[str]]  # alternatives, as they are written
    bad: list[tuple[str, str]] = field(default_factory=list)
    after: str = ""
    seldom: int = 1
    of: list[str] = field(default_factory=list)
    finite: bool = False

    @property
    def draws(self) -> bool:
        """Whether a call is one of several."""
        texts = list(self.arguments.values())
        return bool(self.of) or any(
            len(some) > 1 or re.search(r"\([^)]*[a-ce-z.]", some[0]) for some in texts
        )


# -- reading -------------------------------------------------------------------------------------


def _expanded(name: str) -> Iterator[str]:
    """a{1,2}b: a1b and a2b."""
    match = re.search(r"\{([\w,]*)\}", name)
    if not match:
        yield name
        return
    for part in match[1].split(","):
        yield from _expanded(name[: match.start()] + part + name[match.end() :])


def _logical_lines(path: Path) -> Iterator[str]:
    joined = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        line = re.sub(r"(^| +)# .*", "", line)
        if not line:
            continue
        if line[0] == " ":
            joined += line
            continue
        if joined:
            yield joined
        joined = line
    if joined:
        yield joined


def _read(text: str) -> tuple[list[str], Row]:
    """The names of one row, and what it tells of each."""
    names, _, rest = text.partition(":")
    row = Row({})
    for part in shlex.split(rest):
        key, equals, value = part.partition("=")
        where, _, argument = key.rpartition(".")
        if not equals or argument in row.arguments and not where:
            raise SystemExit(f"tests/samples: cannot read {part!r} of {names}")
        if where == "bad":
            row.bad += [(argument, word) for word in value.split("|")]
        elif key == "after":
            row.after = value
        elif key == "seldom":
            row.seldom = int(value)
        elif key == "of":
            row.of = value.split("|")
        elif key == "finite":
            row.finite = value == "true"
        else:
            row.arguments[argument] = value.split("|")
    return [name for pattern in names.split() for name in _expanded(pattern)], row


@functools.cache
def rows() -> dict[str, list[Row]]:
    """By the name behind libdl_; the first of several is the sample."""
    found: dict[str, list[Row]] = {}
    for path in sorted(HERE.glob("*.txt")):
        for line in _logical_lines(path):
            names, row = _read(line)
            for name in names:
                found.setdefault(name, []).append(row)
    return found


def sample(name: str) -> dict[str, list[str]]:
    """What the first row of an operator or function tells of its arguments."""
    found = rows().get(name.removeprefix("libdl_"))
    return found[0].arguments if found else {}


# -- what the texts mean -------------------------------------------------------------------------


def sizes(inside: str, name: str) -> list[str]:
    """The sizes of a shape; `name` is the operator's, whose digit tells the dimensions."""
    found: list[str] = []
    for part in filter(None, inside.split(",")):
        if part == "..." and part != inside:
            part = "2"
        size, times, _ = part.partition("*")
        count = int(re.search(r"\dd", name)[0][0]) if times else 1
        found += [SIZES.get(size, size)] * count
    return found


def _tensor(match: re.Match[str], dtype: str, name: str) -> str:
    kind = match["mark"] if match["mark"] in ("leaf", "sparse") else "t"
    dtype = _DTYPES.get(match["mark"], dtype if kind == "t" else "f64")
    shape = ",".join(sizes(match["sizes"], name))
    return f"{match['fresh']}{kind}:{dtype}:{shape}{match['name'] or ''}"


def items(text: str) -> list[str]:
    """Of a list: commas inside parentheses are those of shapes."""
    return re.findall(r"[^,(]*\([^)]*\)[^,]*|[^,]+", text[1:-1])


def _word(text: str, kind: str, dtype: str, name: str) -> str:
    """A text of an argument of that kind, as programs read it."""
    if _WORD.fullmatch(text):
        return _WORDS_OF.get(text, text)
    if match := TENSOR.fullmatch(text):
        return _tensor(match, dtype, name)
    if text.startswith("["):
        if kind == "ints":
            return "ints:" + ",".join(sizes(text[1:-1], name))
        element = "string" if kind == "strings" else "tensor"
        return "list:" + "|".join(_word(item, element, dtype, name) for item in items(text))
    if kind == "ints":
        return "ints:" + text
    if kind == "string":
        return "s:" + text
    if kind == "tensor":
        return "n:" + text
    if kind == "dtype":
        return f"i:{DTYPES.get(text, text)}"
    mark = {"float": "f", "float?": "fp", "int?": "ip"}.get(kind, "i")
    return f"{mark}:{ {'false': '0', 'true': '1'}.get(text, text) }"


# -- operators -----------------------------------------------------------------------------------

_BY_KIND = {
    "int": "0",
    "int?": "1",
    "float": "0.5",
    "float?": "0.5",
    "dim": "0",
    "bool": "false",
    "dtype": "none",
    "device": "dev:1,0",
    "generator": "h:generator",
}


def dtype_of(told: str) -> str:
    """The dtype that a description asks for."""
    told = told.removeprefix("x: ")
    if told.startswith("int"):
        return "i64"
    if told.startswith("bool"):
        return "bool"
    return "f64"


def _usual(operator: Operator, argument: Argument, kind: str, dtype: str) -> str:
    """The word of an argument that no row tells of."""
    if kind == "tensor":
        elementwise = operator.is_pointwise or operator.is_elementwise
        if argument.number and (argument.nullable or not elementwise):
            return "ni:1" if dtype == "i64" else "n:0.5"
        return f"t:{dtype}:2,3#{argument.name}"
    if kind == "ints" and argument.name in ("shape", "dims"):
        return {"shape": "ints:2,3", "dims": "ints:0"}[argument.name]
    if kind not in _BY_KIND:
        raise SystemExit(f"tests/samples wants a row of {operator.name} that tells {argument.name}")
    return _word(_BY_KIND[kind], kind, dtype, operator.name)


def check(operators: Iterable[Operator], functions: Iterable[Function]) -> None:
    """Refuses rows of what does not exist."""
    known = {o.name: {a.name for a in o.arguments} for o in operators}
    other = {f.name.removeprefix("libdl_"): {p.name for p in f.parameters} for f in functions}
    other = {name: names for name, names in other.items() if name not in known}
    known |= other
    for name, told in rows().items():
        for row in told:
            wrong = {*row.arguments, *(argument for argument, _ in row.bad)} - known.get(
                name, set()
            )
            if len(told) > 1 and name in other:
                raise SystemExit(f"tests/samples: {name} has two rows")
            if wrong or name not in known:
                raise SystemExit(
                    f"tests/samples: {name} has no {min(wrong, default='declaration')}"
                )


def bad_shapes(operator: str, argument: str) -> list[str] | None:
    """The shapes that are bad beside the sample; None where the description tells them."""
    texts = [text for row in rows().get(operator, []) for name, text in row.bad if name == argument]
    if not texts:
        return None
    return [match["sizes"] for text in texts if (match := TENSOR.fullmatch(text))]


def shapes_of(word: str) -> list[str]:
    """Those of the tensors that a word of an argument is: "2,3" of "t:f64:2,3#input"."""
    texts = word.removeprefix("list:").split("|")
    return [text.split(":")[2].partition("#")[0] for text in texts if re.match("!?t:", text)]


def operator_words(operator: Operator, argument: Argument) -> list[str]:
    """The words of an argument; a list of integers or tensors is one, its count follows."""
    kind = "tensor" if argument.kind == "updated" else argument.kind
    if argument.nullable and kind in ("int", "float"):
        kind += "?"
    dtype = dtype_of(operator.documentation.parameters[argument.name])
    texts = sample(operator.name).get(argument.name)
    if texts:
        word = _word(texts[0], kind, dtype, operator.name)
    else:
        word = _usual(operator, argument, kind, dtype)
    if kind == "ints":
        return [word, f"i:{len(word.split(','))}"]
    if kind == "tensors":
        return [word, f"i:{len(word.split('|'))}"]
    if kind == "string":
        return [word, "i:-1"]
    return [word]


# -- other functions -----------------------------------------------------------------------------

# Handles by the type behind "libdl_", as words and results name them.
KINDS = """tensor list error generator state stream event file node hook text mapping dlpack
    dlpack_old op""".split()
_HANDLE_TYPES = {
    "libdl_tensor_list": "list",
    "DLManagedTensorVersioned": "dlpack",
    "DLManagedTensor": "dlpack_old",
}


def handle(kind: str) -> str:
    """What a type points to: "tensor" of "libdl_tensor **"; "" if it is no handle."""
    match = re.fullmatch(r"(?:const )?(?:struct )?(\w+) \*\*?", kind)
    if not match or match[1] == "libdl_op":
        return ""
    name = _HANDLE_TYPES.get(match[1], match[1].removeprefix("libdl_"))
    return name if name in KINDS else ""


_C_KINDS = {
    "const char *": "string",
    "const char *const *": "strings",
    "const int64_t *": "ints",
    "double": "float",
    "libdl_dtype": "dtype",
    "libdl_tensor *": "tensor",
    "const libdl_tensor *": "tensor",
}
_C_USUAL = {
    "const libdl_device *": "dev:1,0",
    "const char *": "a",
    "const libdl_tensor *": "(2,3)",
    "libdl_tensor *": "(2,3)",
    "libdl_tensor *const *": "[!(2,3)#a,!(2,3)#b]",
    "const libdl_tensor *const *": "[(2,3)#a,(2,3)#b]",
    "const libdl_tensor *LIBDL_NULLABLE const *": "[(2,3)#a,(2,3)#b]",
    "libdl_tensor *LIBDL_NULLABLE const *": "[(2,3)#a,(2,3)#b]",
    "const char *const *": "[a,b]",
    "const int64_t *": "[2,3]",
    "double": "1",
    "libdl_dtype": "float64",
    "libdl_op": "op:neg",
}


def _usual_of(parameter: Parameter) -> str | None:
    """The text of a parameter that no row tells of."""
    if parameter.name in ("ctx", "destroy"):
        return {"ctx": "fixture", "destroy": "fn:fixture_destroy"}[parameter.name]
    if parameter.nullable and parameter.type.endswith("*"):
        return "dev:1,0" if parameter.type == "const libdl_device *" else "null"
    if parameter.type in _C_USUAL:
        return _C_USUAL[parameter.type]
    if kind := handle(parameter.type):
        return "h:" + kind
    if match := re.fullmatch(r"const libdl_(\w+)_options \*", parameter.type):
        return "at:" + match[1]
    if "(" not in parameter.type and "*" not in parameter.type:
        return "0"
    return None


def _count_of(before: str) -> str:
    """How many there are of what stands before a count."""
    if before == "null":
        return "i:0"
    if before.startswith("s:"):
        return "i:-1"
    return f"i:{len(before.split('|' if before.startswith('list:') else ','))}"


def function_words(function: Function) -> list[list[str]]:
    """The alternatives of each parameter of a function that is no operator."""
    told = sample(function.name)
    words: list[list[str]] = []
    for k, parameter in enumerate(function.parameters):
        kind = _C_KINDS.get(parameter.type, "int")
        texts = told.get(parameter.name)
        if texts is not None:
            words.append([_word(text, kind, "f64", function.name) for text in texts])
        elif _is_place(parameter):
            new = "LIBDL_NEW" in parameter.words
            words.append(["out:" + (handle(parameter.type) if new else "plain")])
        elif is_count(function, k) and k and "*" in function.parameters[k - 1].type:
            words.append([_count_of(words[k - 1][0])])
        else:
            text = _usual_of(parameter)
            if text is None:
                raise function.error(f"tests/samples wants a row that tells {parameter.name}")
            words.append([_word(text, kind, "f64", function.name)])
    return words


def _is_place(parameter: Parameter) -> bool:
    """Where a function writes what it returns."""
    if parameter.type.endswith("**"):
        return True
    plain = r"libdl_(bool|value|op|dtype|device)|u?int\d+_t|double|size_t"
    return bool(re.fullmatch(rf"({plain}) \*", parameter.type))


def bad_words(function: Function) -> list[tuple[int, str]]:
    """Values that are refused besides those that follow from the types: parameter and word."""
    places = {parameter.name: k for k, parameter in enumerate(function.parameters)}
    found = []
    for row in rows().get(function.name.removeprefix("libdl_"), []):
        for argument, text in row.bad:
            kind = _C_KINDS.get(function.parameters[places[argument]].type, "int")
            found.append((places[argument], _word(text, kind, "f64", function.name)))
    return found


def before(function: str) -> str:
    """What a function wants to have been called before, most of the time."""
    row = rows().get(function.removeprefix("libdl_"), [Row({})])[0]
    return "libdl_" + row.after if row.after else ""


def seldom(function: str) -> int:
    return rows().get(function.removeprefix("libdl_"), [Row({})])[0].seldom
