# SPDX-License-Identifier: Apache-2.0
"""A module's switches, set for the time of a with statement."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def switched(module: str, **values: Any) -> Iterator[None]:
    """Sets the module's attributes; those whose value is None keep theirs."""
    owner = vars(sys.modules[module])
    arguments = {name: value for name, value in values.items() if value is not None}
    before = {name: owner[name] for name in arguments}
    owner.update(arguments)
    try:
        yield
    finally:
        owner.update(before)
