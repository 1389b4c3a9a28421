# SPDX-License-Identifier: Apache-2.0
"""The texts that declare operators of a program."""

import libdl
import pytest


@pytest.mark.parametrize(
    "argument", ["bool b=maybe", "int b=abc", "int b=Sum", "str b=abc", "float b=inf"]
)
def test_a_default_that_is_no_literal_is_refused(argument):
    with pytest.raises(RuntimeError, match="the default of b is "):
        libdl.library.Library("refused_defaults", "FRAGMENT").define(f"f({argument}) -> Tensor")


@pytest.mark.parametrize(
    "name, argument",
    [
        ("reduced", "int b=Mean"),
        ("laid", "MemoryFormat b=contiguous_format"),
        ("cast", "ScalarType b=long"),
        ("named", "str b='x'"),
        ("listed", "int[] b=[1]"),
        ("absent", "int? b=None"),
    ],
)
def test_literals_and_pytorchs_words_are_defaults(name, argument):
    libdl.library.Library("given_defaults", "FRAGMENT").define(f"{name}({argument}) -> Tensor")
