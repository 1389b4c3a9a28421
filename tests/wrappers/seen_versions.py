# SPDX-License-Identifier: Apache-2.0
"""How versions compare; tests/answered.py stores PyTorch's answers."""

import importlib
import operator

VERSIONS = ["2.15.0+libdl.0.1.0", "2.15.0", "2.0", "2.15.0a0+git1234", "1.13.1+cu117"]
OTHERS = [
    "2.15.0",
    "2.15",
    "2.4",
    "1.13.1",
    "2.15.0+cpu",
    "2.15.0+libdl.0.1.0",
    "2.15.0+libdl.0.1",
    "2.15.0+1",
    "2.16",
    "2.15.0a0",
    "2.15.0b2",
    "2.15.0rc1",
    "2.15.1.dev3",
    "2.15.0.dev1",
    "2.15.0.post1",
    "3",
    "v2.1",
    "2.0.0",
    "2.15.0.a1",
    "2.15.0A0",
    "1.13",
    "no version",
    "",
    [2, 0],
    [2, 15],
    [2, 15, 0],
    [2, 15, 1],
    [1, 13, 1],
]
RELATIONS = ["lt", "le", "gt", "ge", "eq", "ne"]


def answers(m):
    """The six answers for each version of a class and each other one; lists are given as tuples."""
    kind = importlib.import_module(f"{m.__name__}.torch_version").TorchVersion
    found = {}
    for version in VERSIONS:
        for other in OTHERS:
            given = tuple(other) if isinstance(other, list) else other
            relations = [getattr(operator, name)(kind(version), given) for name in RELATIONS]
            found[f"{version!r} to {given!r}"] = relations
    return found
