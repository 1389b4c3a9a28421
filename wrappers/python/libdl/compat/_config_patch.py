# SPDX-License-Identifier: Apache-2.0
"""Settings of compilers that are not there: what programs set is kept, and read by nobody."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any


def patcher(module: ModuleType) -> Any:
    """A module's function patch(name=value, ...), or patch("name", value), for a with block or as a
    decorator."""

    @contextlib.contextmanager
    def patch(arg1: Any = None, arg2: Any = None, **kwargs: Any) -> Iterator[None]:
        changes = {arg1: arg2} if isinstance(arg1, str) else dict(arg1 or {}, **kwargs)
        before = {name: vars(module)[name] for name in changes if name in vars(module)}
        vars(module).update(changes)
        try:
            yield
        finally:
            for name in changes:
                vars(module).pop(name)
            vars(module).update(before)

    return patch
