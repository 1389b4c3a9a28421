# SPDX-License-Identifier: Apache-2.0
"""What is bad about an argument: by its kind, and by the words of its description.

A number that an argument takes by its description (NaN as an element, 0 as a shift) is no attack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import rows
from function_parameters import is_count
from headers import Function, Parameter
from operators import Argument, Operator

LEAST, MOST = -(2**63), 2**63 - 1

RESULT_HANDLES = {"tensor": "libdl_tensor", "tensor_list": "libdl_tensor_list"}
ALL_DESTINATION_FAULTS = (
    "null",
    "kind",
    "emptied",
    "n:1",
    "shape",
    "dtype",
    "overlap",
    "alias",
    "grad",
    "read-only",
)


def destination_faults(operator: Operator) -> list[str]:
    """An operator that only overwrites takes every shape, and what its description says."""
    if operator.has_new:
        return [*ALL_DESTINATION_FAULTS, *(name for name, _ in live("tensor"))]
    told = operator.documentation.parameters["dst"]
    left_out = {"shape", "dtype"} if told.startswith("any") else {"shape"}
    return [fault for fault in ALL_DESTINATION_FAULTS if fault not in left_out]


@dataclass(frozen=True)
class Fault:
    name: str
    words: tuple[tuple[int, str], ...]  # (C parameter, counted from the argument's first; word)
    relation: bool = False  # two tensors that do not fit: either may be blamed
    partners: list[str] = field(default_factory=list)


def one(name: str, word: str, **more) -> Fault:
    return Fault(name, ((0, word),), **more)


def listed(name: str, items: list[int]) -> Fault:
    return Fault(name, ((0, "ints:" + ",".join(map(str, items))), (1, f"i:{len(items)}")))


def faults(operator: Operator, argument: Argument, meant: str) -> list[Fault]:
    told = operator.documentation.parameters[argument.name]
    found = _BY_KIND[argument.kind](operator, argument, told, meant)
    return [fault for fault in found if fault]


# -- tensors -------------------------------------------------------------------------------------

_HANDLES = ("kind", "emptied")

# A live handle of each kind, and what errors call it. Attacks write "live-KIND".
KINDS = {
    "tensor": "a tensor",
    "list": "a list of tensors",
    "error": "an error",
    "generator": "a generator",
    "state": "a state",
    "stream": "a stream",
    "event": "an event",
    "file": "a file",
    "node": "a node",
    "hook": "a hook",
    "text": "a text",
    "mapping": "a mapping",
}


def live(kind: str) -> list[tuple[str, str]]:
    """Faults: a live handle of every other kind than the one that is wanted."""
    return [(f"live-{other}", f"h:{other}") for other in KINDS if other != kind]


def _tensor(operator: Operator, argument: Argument, told: str, meant: str) -> list[Fault]:
    found = [] if argument.nullable else [one("null", "null")]
    found += [one(name, name) for name in _HANDLES]
    found += [one(name, word) for name, word in live("tensor")]
    found += [
        one(f"dtype-{d}", _with_dtype(meant, d), relation=relation)
        for d, relation in bad_dtypes(told)
    ]
    if "SHAPE" in operator.documentation.errors:
        shown = [a.name for a in operator.arguments if a.kind in ("ints", "dim")]
        found += [
            one(
                f"shape-{shape.replace(',', 'x') or '0-d'}",
                f"t:{_dtype(meant)}:{shape}#bad",
                relation=True,
                partners=shown,
            )
            for shape in bad_shapes(operator, argument, told)
        ]
    return found


def _dtype(meant: str) -> str:
    if meant.startswith("t:"):
        return meant.split(":")[1]
    return "i64" if meant.startswith("ni") else "f64"


def _with_dtype(meant: str, dtype: str) -> str:
    if not meant.startswith("t:"):
        return "nc:1" if dtype == "c128" else f"t:{dtype}:#bad"
    return f"t:{dtype}:{meant.split(':')[2].split('#')[0]}#bad"


def bad_dtypes(told: str) -> list[tuple[str, bool]]:
    """Dtypes that the description excludes, and whether they are bad beside another tensor only."""
    told = told.removeprefix("x: ")
    if told.startswith("any but bool with"):
        return []
    if told.startswith("any but bool"):
        return [("bool", True)]
    if "of input's dtype" in told or "of one dtype" in told:
        return [("i64", True), ("c128", True)]
    if told.startswith("any"):
        return []
    if re.match(r"floating or complex, or", told):
        return [("i64", False), ("bool", False)]
    if told.startswith("floating or complex"):
        return [("i64", False), ("bool", False)]
    if re.match(r"(scores, |log-probabilities, )?floating", told):
        return [("i64", False), ("bool", False), ("c128", False)]
    if told.startswith("float32 or float64"):
        return [("i64", False), ("c128", False)]
    if told.startswith("complex"):
        return [("f64", False), ("bool", False)]
    if told.startswith("real, not bool"):
        return [("c128", False)]
    if told.startswith("real") or told.startswith("a real number"):
        return [("c128", False)]
    if told.startswith("integers or bool"):
        return [("f64", False), ("c128", False)]
    if told.startswith("int"):
        return [("f64", False), ("c128", False), ("bool", False)]
    if told.startswith("bool"):
        return [("f64", False), ("c128", False)]
    return []


def bad_shapes(operator: Operator, argument: Argument, told: str) -> list[str]:
    if (shapes := rows.bad_shapes(operator.name, argument.name)) is not None:
        return shapes
    if "one element" in told and "at least" not in told:
        return ["2,3", "0"]
    if "at least one element" in told or "not empty" in told:
        return ["0,3"]
    if "ndim >= 2" in told:
        return ["", "3"]
    if "ndim >= 1" in told:
        return [""]
    if "ndim <= 2" in told:
        return ["2,2,2"]
    if "0-d" in told and "or 0-d" not in told.replace("or 0-d tensor", ""):
        return ["2", "0"]
    tensors = [a for a in operator.arguments if a.kind in ("tensor", "tensors")]
    return ["5,7"] if len(tensors) > 1 else []


def _tensors(operator: Operator, argument: Argument, told: str, meant: str) -> list[Fault]:
    entries = meant.removeprefix("list:").split("|")

    def instead(name: str, word: str) -> Fault:
        return Fault(name, ((0, "list:" + "|".join([word, *entries[1:]])),))

    found = [
        Fault("null-list", ((0, "null"),)),
        Fault("count-negative", ((1, "i:-1"),)),
        Fault("count-least", ((1, f"i:{LEAST}"),)),
        instead("entry-kind", "kind"),
        instead("entry-emptied", "emptied"),
        *(instead(f"entry-{name}", word) for name, word in live("tensor")),
    ]
    if not argument.nullable:
        found.append(instead("entry-null", "null"))
    if "at least one" in told:
        found.append(Fault("empty", ((0, "null"), (1, "i:0"))))
        found.append(instead("entry-shape", "t:f64:5,7"))
    else:
        found.append(instead("entry-dtype", "t:f64:2#bad"))
        found.append(Fault("too-many", ((0, "list:" + "|".join(["t:i64:2"] * 3)), (1, "i:3"))))
    return found


# -- numbers ---------------------------------------------------------------------------------------

_DIMS = ("dim", "dims", "source", "destination")


def _ints(operator: Operator, argument: Argument, told: str, meant: str) -> list[Fault]:
    found = _values_of_ints(operator, argument, told, meant)
    # Two lists that do not fit: either may be blamed.
    lists = [a.name for a in operator.arguments if a.kind == "ints" and a.name != argument.name]
    return [replace(fault, partners=lists) if len(fault.words) == 2 else fault for fault in found]


def _values_of_ints(operator: Operator, argument: Argument, told: str, meant: str) -> list[Fault]:
    found = [Fault("count-negative", ((1, "i:-1"),)), Fault("count-least", ((1, f"i:{-(2**31)}"),))]
    if not argument.nullable:
        found.append(one("null-list", "null"))
    size = len(meant.split(","))
    if argument.name in _DIMS:
        rest = list(range(1, size))
        found += [listed(f"dim{d}", [d, *rest]) for d in (99, -99, LEAST, MOST)]
        found.append(listed("twice", [0, 0]))
        return [*found, listed("too-many", [0] * 65)]
    if argument.name == "shifts":
        return [*found, listed("too-many", [1, 1])]
    behind = [1] * (size - 1)
    found += [listed("negative", [-7, *behind]), listed("least", [LEAST, *behind])]
    found.append(listed("most", [MOST, *behind]))
    if argument.name in ("shape", "repeats", "sizes", "split_sizes", "normalized_shape"):
        found.append(listed("overflow", [2**62, 8]))
        found.append(listed("overflow-empty", [0, MOST, 2]))
        if argument.name != "split_sizes":
            found.append(listed("too-many", [1] * 65))
    if argument.name in ("strides", "stride", "normalized_shape", "shape", "sizes", "split_sizes"):
        found.append(listed("another-product", [5, 7]))
    if "at least one" in told or argument.name in ("strides", "stride"):
        found.append(Fault("empty", ((0, "ints:"), (1, "i:0"))))
    if operator.header in ("creation", "random") and argument.name == "shape":
        found.append(listed("huge", [2**50]))
        return [f for f in found if f.name not in ("another-product", "most")]
    return [f for f in found if not (f.name == "overflow-empty" and argument.name == "repeats")]


def _int(operator: Operator, argument: Argument, told: str, meant: str) -> list[Fault]:
    kind = meant.split(":")[0]

    def numbers(*all_of: tuple[str, int]) -> list[Fault]:
        return [one(name, f"{kind}:{value}") for name, value in all_of]

    extremes = (("least", LEAST), ("most", MOST))
    if re.match(r"(from -|which dimension|a row that)", told) or argument.name in ("start",):
        clamped = "clamped" in told
        return [] if clamped else numbers(("above", 99), ("below", -99), *extremes)
    if re.match(r"(from 0|elements of a window|how many|how often|columns|rows)", told):
        return numbers(("negative", -7), ("least", LEAST), ("most", MOST))
    if told.startswith("from 1"):
        return numbers(("zero", 0), ("negative", -7), *extremes)
    if ">= 1" in told:
        return numbers(("zero", 0), ("negative", -7), ("least", LEAST))
    if ">= 0" in told:
        return numbers(("negative", -7), *extremes)
    if told.startswith("above low"):
        return numbers(("zero", 0), ("negative", -7), ("least", LEAST))
    return []


def _float(operator: Operator, argument: Argument, told: str, meant: str) -> list[Fault]:
    kind = meant.split(":")[0]
    values: tuple[str, ...] = ()
    if "from 0 to 1" in told:
        values = ("-0.5", "1.5", "nan", "inf")
    elif ">= 0" in told:
        values = ("-1", "nan")
    elif argument.name in ("low", "high"):
        values = ("nan", "inf", "-inf") + (("-5",) if argument.name == "high" else ())
    partners = ["low", "high"] if argument.name in ("low", "high") else []
    return [one(f"is{value}", f"{kind}:{value}", partners=partners) for value in values]


def _dim(*_) -> list[Fault]:
    return [one(f"dim{d}", f"i:{d}") for d in (99, -99, -(2**31), 2**31 - 1)]


def _bool(operator: Operator, argument: Argument, told: str, meant: str) -> list[Fault]:
    return [one("true", "i:1")] if "must be false" in told else []


def _dtype_number(operator: Operator, argument: Argument, told: str, meant: str) -> list[Fault]:
    found = [one(f"number{n}", f"i:{n}") for n in (16, -1, 99, -(2**31), 2**31 - 1)]
    if told.startswith("floating or complex"):
        found += [one("int64", "i:9"), one("bool", "i:1")]
    if told.startswith(("integer or floating", "a real dtype")):
        found.append(one("complex128", "i:15"))
    return found


def _device(*_) -> list[Fault]:
    return [
        one(f"device{t}.{i}", f"dev:{t},{i}")
        for t, i in ((0, 0), (7, 0), (-1, 0), (2, 99), (1, 5), (1, -1))
    ]


def _string(operator: Operator, argument: Argument, told: str, meant: str) -> list[Fault]:
    return [
        one("another", "s:no such"),
        one("empty", "s:"),
        Fault("length-negative", ((1, "i:-2"),)),
        Fault("length-least", ((1, f"i:{LEAST}"),)),
    ]


def _generator(*_) -> list[Fault]:
    return [one("kind", "t:f64:2,3#kind"), *(one(*told) for told in live("generator"))]


_BY_KIND = {
    "tensor": _tensor,
    "updated": _tensor,
    "tensors": _tensors,
    "ints": _ints,
    "int": _int,
    "float": _float,
    "dim": _dim,
    "bool": _bool,
    "dtype": _dtype_number,
    "device": _device,
    "string": _string,
    "generator": _generator,
}


# -- functions that are no operators ---------------------------------------------------------------

# The field that a struct of zeros lacks.
_WANTED_FIELD = {
    **{
        f"const libdl_{name}_options *": "step"
        for name in ("adam", "sparse_adam", "adamax", "nadam", "radam", "adagrad", "asgd")
    },
    "const libdl_rprop_options *": "etaminus",
}


def blamed(function: Function, k: int) -> list[str]:
    """The parameter's name, a field of its struct, and for a count what the pointers before it that
    it counts are called."""
    names = [function.parameters[k].name]
    if function.parameters[k].type in _WANTED_FIELD:
        names.append(_WANTED_FIELD[function.parameters[k].type])
    if is_count(function, k):
        for parameter in reversed(function.parameters[:k]):
            if not parameter.type.endswith("*"):
                break
            names.append(parameter.name)
    return names


def kind_of(parameter: Parameter) -> str:
    """Of a handle: its kind, as in KINDS, or "context"; "" of what is no handle."""
    match = re.fullmatch(r"(?:const )?libdl_(\w+) \*", parameter.type)
    kind = (
        {"tensor_list": "list", "backward_context": "context"}.get(match[1], match[1])
        if match
        else ""
    )
    return kind if kind in (*KINDS, "context") else ""


def is_handle(parameter: Parameter) -> bool:
    return bool(kind_of(parameter))


def other_word(parameter: Parameter) -> str:
    """A value for a parameter behind the handle that is asked."""
    if parameter.type == "const char *":
        return "s:a"
    return "null" if parameter.type.endswith("*") else "i:0"


def plain_faults(function: Function, k: int, meant: list[str]) -> list[tuple[str, str]]:
    parameter = function.parameters[k]
    word, kind = meant[k], parameter.type.removeprefix("const ")
    found: list[tuple[str, str]] = []
    pointer = kind.endswith("*") and kind != "libdl_device *" or word.startswith("list:")
    if (
        (pointer or word.startswith("fn:"))
        and not parameter.nullable
        and parameter.name not in ("ctx", "destroy", "object")
    ):
        found.append(("null", "null"))
    if re.fullmatch(r"libdl_(tensor|generator|state|stream|event|file|node) \*", kind):
        found.append(("kind", "t:f64:2,3#kind" if kind == "libdl_generator *" else "kind"))
    if is_handle(parameter):
        found += live(kind_of(parameter))
    if kind == "libdl_tensor *":
        found.append(("emptied", "emptied"))
    if parameter.type == "const libdl_device *":
        found += [(f.name, f.words[0][1]) for f in _device()]
    if word.startswith("list:") and "tensor" in kind:
        entries = word.removeprefix("list:").split("|")[1:]
        found += [
            (f"entry-{bad}", "list:" + "|".join([bad, *entries]))
            for bad in ("null", "kind", "emptied")
        ]
        found += [
            (f"entry-{name}", "list:" + "|".join([word, *entries])) for name, word in live("tensor")
        ]
    if word == "null" and kind == "libdl_tensor *const *":  # a list that may be absent
        found += [(f"entry-{name}", f"list:{other}\t{k + 1}=i:1") for name, other in live("tensor")]
    if re.fullmatch(r"struct DLManagedTensor\w* \*", kind):
        found += live("")
    if word.startswith("values:"):
        found += [
            (name, word.replace("values:", "values-live:", 1) + "|" + other)
            for name, other in live("tensor")
        ]
    if re.fullmatch(r"libdl_(\w+_options|saved_hooks|function|executor|allocator) \*", kind):
        found.append(("size0", "options:0"))
    if is_count(function, k) and word != "i:-1":
        least = -(2**31) if kind == "int32_t" else LEAST
        found += [("count-negative", "i:-2"), ("count-least", f"i:{least}")]
    if kind in ("libdl_dtype", "libdl_access", "libdl_copy_policy", "libdl_hook_kind"):
        found += [(f"number{n}", f"i:{n}") for n in (99, -1, -(2**31), 2**31 - 1)]
    return found
