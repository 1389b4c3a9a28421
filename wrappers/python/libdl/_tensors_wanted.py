# SPDX-License-Identifier: Apache-2.0
"""Errors of functions composed in Python that are given something else than tensors."""

from __future__ import annotations

from typing import Any

from ._C import Tensor
from ._errors import ArgumentTypeError


def want_tensors(function: str, **given: Any) -> None:
    """All of the arguments, which come in their order from the first on."""
    for i, (name, x) in enumerate(given.items()):
        if not isinstance(x, Tensor):
            raise ArgumentTypeError(
                f"{function}: argument {i + 1} ({name}) is a {type(x).__name__}, wanted a tensor"
            )


def want_a_tensor(function: str, **given: Any) -> None:
    """One of the arguments at least."""
    if not any(isinstance(x, Tensor) for x in given.values()):
        want_tensors(function, **given)
