# SPDX-License-Identifier: Apache-2.0
"""Which names of PyTorch, counted in public programs, exist in libdl.

Usage: python tests/census/census.py names.csv [how many of the most used]"""

from __future__ import annotations

import csv
import importlib
import sys
from typing import NamedTuple

_PLACES = {
    "torch": "libdl",
    "method": "libdl.Tensor",
    "functional": "libdl.nn.functional",
    "data": "libdl.utils.data",
    "init": "libdl.nn.init",
    "scheduler": "libdl.optim.lr_scheduler",
}


class Name(NamedTuple):
    path: str
    files: int


def read(path: str) -> list[Name]:
    """The names by descending use, with their place in libdl."""
    with open(path, newline="") as file:
        rows = [
            Name(
                f"{_PLACES.get(row['kind'], 'libdl.' + row['kind'])}.{name}",
                int(row["files"]),
            )
            for row in csv.DictReader(file)
            for name in row["names"].split()
        ]
    return sorted(rows, key=lambda name: -name.files)


def exists(path: str) -> bool:
    """Whether the path leads to something, through attributes and modules."""
    first, *rest = path.split(".")
    found, so_far = importlib.import_module(first), first
    for part in rest:
        so_far += f".{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(so_far)
            except ModuleNotFoundError:
                return False
    return not getattr(found, "_named_only", False)  # it would only refuse


def report(names: list[Name]) -> str:
    """The share that exists, by names and by uses, and what is missing."""
    missing = [name for name in names if not exists(name.path)]
    uses, lost = (sum(name.files for name in some) for some in (names, missing))
    there = len(names) - len(missing)
    lines = [
        f"{there} of the {len(names)} most used names exist ({there / len(names):.1%}), "
        f"{uses - lost} of their {uses} uses ({(uses - lost) / uses:.1%})",
        *(f"{name.files:6} {name.path}" for name in missing),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    print(report(read(sys.argv[1])[:most]))
