# SPDX-License-Identifier: Apache-2.0
"""What programs call with tensors can be overridden by modes and classes: the headers' functions by
themselves, those written by hand with @overridable above them."""

from pathlib import Path
from types import FunctionType

import libdl
from libdl._overridable_functions import public_functions

PACKAGE = Path(libdl.__file__).resolve().parent


def without(functions) -> list[str]:
    """The names of the package's own functions that do not ask."""
    return [
        name
        for name, function, *_ in functions
        if isinstance(function, FunctionType)
        and Path(function.__code__.co_filename).resolve().is_relative_to(PACKAGE)
    ]


def test_functions_written_by_hand_ask_who_sees_them():
    functions = list(public_functions())
    assert len(functions) > 1000
    assert not without(functions), "@overridable is missing"


def test_a_function_that_does_not_ask_is_found():
    planted = libdl.nn.functional.relu.__wrapped__
    assert without([("libdl.relu", libdl.relu), ("planted", planted)]) == ["planted"]
