# SPDX-License-Identifier: Apache-2.0
"""The promise is written as the house wants it: each declaration is read, documented and owned."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from doors import door_source  # noqa: E402
from headers import read_header, read_headers  # noqa: E402
from op_table import default_text, schema  # noqa: E402
from operators import OPERATOR_HEADERS, read_operators  # noqa: E402
from python_layer import (  # noqa: E402
    check_examples,
    check_names,
    forms_by_name,
    methods_text,
    module_text,
    read_examples,
)

INCLUDE = ROOT / "include/libdl"
HEADERS = read_headers(INCLUDE)
OPERATORS = read_operators(INCLUDE)
EXAMPLES = read_examples(ROOT / "wrappers/python/examples")
FUNCTIONS = [function for header in HEADERS for function in header.functions]

# What issue 3 names in its section on operators, and the wrappers build upon.
ISSUED = """
empty zeros ones full arange linspace eye rand randn randint randperm bernoulli
empty_like zeros_like ones_like full_like rand_like randn_like randint_like
add sub mul div pow neg abs sign reciprocal square sqrt rsqrt exp expm1 log log1p sin cos tanh
sigmoid relu gelu silu floor ceil round maximum minimum clamp where isnan isinf isfinite isclose
allclose equal conj real imag view_as_real view_as_complex eq ne lt le gt ge
logical_not logical_and logical_or logical_xor bitwise_not bitwise_and bitwise_or bitwise_xor
bitwise_left_shift bitwise_right_shift
sum mean prod max min amax amin argmax argmin all any var std norm logsumexp cumsum
matmul mm bmm mv dot addmm linear
view reshape transpose permute movedim t squeeze unsqueeze expand select narrow slice diagonal
unfold flatten unflatten as_strided view_dtype detach
cat stack split chunk unbind repeat flip roll tril triu contiguous clone to copy fill zero
index index_put gather scatter scatter_add index_select index_add masked_fill masked_select
nonzero sort topk
softmax log_softmax nll_loss cross_entropy mse_loss layer_norm dropout embedding
""".split()


def test_every_operator_of_the_issue_is_declared():
    assert not set(ISSUED) - {operator.name for operator in OPERATORS}


def test_every_exported_function_is_read():
    """The parser misses none: as many declarations as the text has."""
    for header in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", header.path.read_text(), flags=re.DOTALL)
        text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.MULTILINE)
        assert len(header.functions) == len(re.findall(r"\bLIBDL_API\b", text)), header.path.name


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_declaration(function):
    assert re.fullmatch(r"libdl_[a-z0-9_]+", function.name)
    for parameter in function.parameters:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", parameter.name), parameter.name
    fallible = function.result == "libdl_error *"
    if fallible and not function.name.startswith("libdl_error_"):
        assert "LIBDL_NODISCARD" in function.result_words
    if not fallible and function.result.endswith("*"):
        assert function.result_words & {"LIBDL_NEW", "LIBDL_BORROWED"}, "whose is the result?"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_every_output_of_handles_says_whose_it_is(function):
    for parameter in function.parameters:
        if re.fullmatch(r"libdl_\w+ \*\*|void \*\*|const char \*\*", parameter.type):
            assert parameter.words & {"LIBDL_NEW", "LIBDL_BORROWED"}, parameter.name


def test_every_function_is_documented():
    """A comment stands above each function, or above the group of lines that it belongs to; the
    thread rule there, or for all of them in the header's first comment."""
    for header in HEADERS:
        previous = ()
        for function in header.functions:
            comment = function.comment or previous
            assert comment, f"{function.name} has no comment"
            told = " ".join((*comment, *header.comment))
            assert "Threads:" in told, f"{function.name}: no thread rule"
            previous = comment


@pytest.mark.parametrize("header", HEADERS, ids=lambda h: h.path.name)
def test_no_word_of_cpp_or_of_a_platform(header):
    text = re.sub(r"/\*.*?\*/", "", header.path.read_text(), flags=re.DOTALL)
    for word in ("bool", "class", "template", "namespace", "std::", "long", "unsigned", "&&"):
        pattern = rf"\b{word}\b" if word.isalpha() else re.escape(word)
        code = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
        assert not re.search(pattern, code), word


@pytest.mark.parametrize("header", HEADERS, ids=lambda h: h.path.name)
def test_lines_fit(header):
    for number, line in enumerate(header.path.read_text().split("\n"), 1):
        assert len(line) <= 100, f"{header.path.name}:{number}"


def test_the_umbrella_includes_every_header():
    text = (INCLUDE / "libdl.h").read_text()
    included = set(re.findall(r"#include <libdl/(\w+)\.h>", text))
    assert included == {header.path.stem for header in HEADERS} - {"libdl"}


def test_swig_reads_every_operator_header():
    text = (ROOT / "wrappers/libdl.i").read_text()
    read = re.findall(r'^%include "libdl/(\w+)\.h"', text, re.MULTILINE)
    assert read[-len(OPERATOR_HEADERS) :] == list(OPERATOR_HEADERS)


def test_every_operator_has_a_door():
    """The doors' text defines exactly the functions that the operator headers declare."""
    for stem in OPERATOR_HEADERS:
        own = [operator for operator in OPERATORS if operator.header == stem]
        text = door_source(stem, own)
        defined = set(re.findall(r"^libdl_error\* (libdl_\w+)\(", text, re.MULTILINE))
        declared = {f.name for f in read_header(INCLUDE / f"{stem}.h").functions}
        assert defined == declared


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_names_of_arguments(operator):
    """The same thing has the same name everywhere: names are the wrappers' keys."""
    kinds = {
        "input": "tensor",
        "other": "tensor",
        "keepdim": "bool",
        "dtype": "dtype",
        "device": "device",
        "generator": "generator",
        "shape": "ints",
        "dims": "ints",
        "tensors": "tensors",
        "reduction": "string",
    }
    for argument in operator.arguments:
        if argument.name in kinds:
            assert argument.kind == kinds[argument.name], argument.name
    for kind in ("dtype", "device", "generator"):
        assert all(a.name == kind for a in operator.arguments if a.kind == kind)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_gradient_is_told(operator):
    gradient = operator.documentation.gradient
    assert re.match(r"none|once|zero everywhere|any order", gradient), gradient


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_errors_name_codes_that_exist(operator):
    codes = set(re.findall(r"LIBDL_ERROR_(\w+) =", (INCLUDE / "error.h").read_text()))
    for text in (operator.documentation.errors, operator.documentation.gradient):
        named = re.findall(r"\b([A-Z][A-Z_]{3,})\b(?= \(|,|\.)", text)
        assert not set(named) - codes - {"NONE", "NULL"}


def test_schemas_read_as_written():
    by_name = {operator.name: operator for operator in OPERATORS}
    wanted = "add(tensor input, tensor other, tensor? alpha=1) -> tensor out"
    assert schema(by_name["add"]) == wanted
    assert schema(by_name["sort"]).endswith("-> tensor values, tensor indices")
    sum_ = by_name["sum"]
    assert [default_text(sum_, a) for a in sum_.arguments] == ["", "None", "False", "None"]


@pytest.mark.parametrize("flag", ["function", "functional"])
def test_the_python_layer_is_python(flag):
    forms = forms_by_name(OPERATORS, flag)
    compile(module_text("Operators.", forms, EXAMPLES), flag, "exec")
    assert "softmax" in forms


def test_the_methods_are_python():
    compile(methods_text(OPERATORS, EXAMPLES), "_methods.py", "exec")


def test_an_example_stands_in_the_help_and_one_for_no_function_is_refused(tmp_path):
    text = methods_text(OPERATORS, {"add_": ">>> x.add_(1)\n2"})
    assert "\n    Example:\n        >>> x.add_(1)\n        2\n" in text
    with pytest.raises(SystemExit, match="no function ad$"):
        check_examples({"add": "", "ad": ""}, OPERATORS)
    for bad in ("add", "add\n    1 + 1", "add\n    >>> 1\n\nadd\n    >>> 2"):
        (tmp_path / "sums.txt").write_text(bad)
        with pytest.raises(SystemExit, match=r"sums\.txt: wanted a new name and an example"):
            read_examples(tmp_path)


def test_a_name_declared_twice_in_the_stub_is_refused():
    overloads = "\n    @overload\n    def f(self): ...\n    @overload\n    def f(self, x): ..."
    setter = "\n    @property\n    def p(self): ...\n    @p.setter\n    def p(self, x): ..."
    check_names(f"class A:{overloads}{setter}\nx: int\ndef f(): ...\n")
    for twice in (
        f"class A:\n    def f(self): ...{overloads}",
        f"class A:{overloads}\n    f: int",
        f"class A:{overloads}{setter}{overloads}",
        "x: int\ndef x(): ...",
        f"class A:{setter}\n    @property\n    def p(self): ...",
    ):
        with pytest.raises(SystemExit, match=r"line \d+: (A|the module) declares [fpx] twice"):
            check_names(twice)
