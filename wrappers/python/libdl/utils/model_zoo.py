# SPDX-License-Identifier: Apache-2.0
"""PyTorch's older path of hub.load_state_dict_from_url, and of the package tqdm."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ..hub import load_state_dict_from_url as load_url

__all__ = ["load_url", "tqdm"]  # noqa: F822


class _Plain:
    """Progress as a count on the standard error stream, where tqdm is not installed."""

    def __init__(
        self, iterable: Iterable[Any] = (), total: Any = None, disable: bool = False, **options: Any
    ) -> None:
        self.iterable, self.total, self.disable, self.n = iterable, total, disable, 0

    def __iter__(self) -> Iterator[Any]:
        for item in self.iterable:
            yield item
            self.update(1)
        self.close()

    def update(self, n: int) -> None:
        self.n += n
        if not self.disable:
            behind = "" if self.total is None else f" / {self.total}"
            print(f"\r{self.n}{behind}", end="", file=sys.stderr, flush=True)

    def set_description(self, *args: Any, **kwargs: Any) -> None:
        pass

    def close(self) -> None:
        self.disable = True

    def __enter__(self) -> _Plain:
        return self

    def __exit__(self, *error: object) -> None:
        if not self.disable:
            print(file=sys.stderr)


def __getattr__(name: str) -> Any:
    if name != "tqdm":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return _Plain
    return tqdm
