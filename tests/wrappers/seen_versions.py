# SPDX-License-Identifier: Apache-2.0
"""How versions compare; run with PyTorch it writes seen_versions.json.

Usage: python tests/wrappers/seen_versions.py"""

import json
import operator
from pathlib import Path

VERSIONS = ["2.15.0+libdl.0.1.0", "2.15.0", "2.0", "2.15.0a0+git1234", "1.13.1+cu117"]
OTHERS = [
    "2.15.0", "2.15", "2.4", "1.13.1", "2.15.0+cpu", "2.15.0+libdl.0.1.0", "2.15.0+libdl.0.1",
    "2.15.0+1", "2.16", "2.15.0a0", "2.15.0b2", "2.15.0rc1", "2.15.1.dev3", "2.15.0.dev1",
    "2.15.0.post1", "3", "v2.1", "2.0.0", "2.15.0.a1", "2.15.0A0", "1.13", "no version", "",
    [2, 0], [2, 15], [2, 15, 0], [2, 15, 1], [1, 13, 1],
]  # fmt: skip
RELATIONS = ["lt", "le", "gt", "ge", "eq", "ne"]


def compared(kind):
    """[version, other, the six answers], of a class of versions; lists are given as tuples."""
    answers = []
    for version in VERSIONS:
        for other in OTHERS:
            given = tuple(other) if isinstance(other, list) else other
            answered = [getattr(operator, name)(kind(version), given) for name in RELATIONS]
            answers.append([version, other, answered])
    return answers


if __name__ == "__main__":
    from torch.torch_version import TorchVersion

    lines = ",\n".join(map(json.dumps, compared(TorchVersion)))
    Path(__file__).with_suffix(".json").write_text(f"[\n{lines}\n]\n")
