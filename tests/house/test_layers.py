# SPDX-License-Identifier: Apache-2.0
"""The layers for Rust and C++ call every operator, in every form, with all of its arguments."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "wrappers/rust"))

from operators import read_operators  # noqa: E402
from safe_crate import operators_source  # noqa: E402

OPERATORS = read_operators(ROOT / "include/libdl")
DECLARED = {
    f"libdl_{o.name}{form}"
    for o in OPERATORS
    for form, there in (("", o.has_new), ("_into", o.has_into))
    if there
}


def calls(text: str) -> dict[str, int]:
    """The functions of C that a source calls, and with how many arguments."""
    found = {}
    for match in re.finditer(r"check\((?:::)?(libdl_\w+)\(", text):
        depth, count, end = 1, 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            count += text[end] == "," and depth == 1
            end += 1
        found[match[1]] = count
    return found


def parameter_counts() -> dict[str, int]:
    text = "".join(path.read_text() for path in (ROOT / "include/libdl").glob("*.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    declared = re.finditer(r"LIBDL_API[^;(]*\b(libdl_\w+)\(([^;]*)\);", text)
    return {match[1]: match[2].count(",") + 1 for match in declared if match[1] in DECLARED}


@pytest.fixture(scope="module")
def cpp_text(tmp_path_factory):
    out = tmp_path_factory.mktemp("cpp")
    command = [sys.executable, "-B", ROOT / "wrappers/cpp/generate.py"]
    subprocess.run([*command, "--headers", ROOT / "include/libdl", "--out", out], check=True)
    return (out / "libdl.hpp").read_text()


def test_rust_calls_every_operator():
    found = calls(operators_source(OPERATORS))
    assert {name: found.get(name) for name in DECLARED} == parameter_counts()


def test_cpp_calls_every_operator(cpp_text):
    found = calls(cpp_text)
    assert {name: found.get(name) for name in DECLARED} == parameter_counts()


def test_the_check_counts_arguments():
    assert calls("check(libdl_f(a, g(b, c), &d))") == {"libdl_f": 3}


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_numbers_are_marked(operator):
    """What the comment calls a number has the word LIBDL_NUMBER: users may write one there."""
    for argument in operator.arguments:
        told = operator.documentation.parameters[argument.name]
        if argument.kind == "tensor" and re.match(r"a (real )?number|.*\bor (a )?number", told):
            assert argument.number, argument.name
