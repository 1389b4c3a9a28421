# SPDX-License-Identifier: Apache-2.0
"""nn.utils and lazy modules do what PyTorch's do: the same programs, and its answers."""

import json
import pathlib
import warnings

import pytest
from wrappers import seen_prune, seen_utils

import libdl

HERE = pathlib.Path(__file__).parent
ANSWERS = {
    **json.loads((HERE / "seen_utils.json").read_text()), **json.loads((HERE / "seen_prune.json").read_text())
}  # fmt: skip


def same(a, b):
    """Equal, numbers up to rounding: PyTorch adds up in another order."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-6 * max(1, abs(b))
    return a == b


@pytest.mark.parametrize("program", [*seen_utils.PROGRAMS, *seen_prune.PROGRAMS], ids=lambda p: p.__name__)
def test_as_in_pytorch(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = json.loads(json.dumps(program(libdl)))
    assert same(answer, ANSWERS[program.__name__])
