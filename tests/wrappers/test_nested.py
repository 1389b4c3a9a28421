# SPDX-License-Identifier: Apache-2.0
"""Transforms inside one another give PyTorch's answers: as they are, for backward outside, and in
inference mode."""

import json
import pathlib
import warnings

import pytest
from wrappers import seen_nested

import libdl

ANSWERS = json.loads(pathlib.Path(seen_nested.__file__).with_suffix(".json").read_text())
BY_SEED = {}
for key in ANSWERS:
    BY_SEED.setdefault(int(key.partition(":")[0]), []).append(key)


def test_most_seeds_have_answers():
    assert len(ANSWERS) > 400


@pytest.mark.parametrize("seed", BY_SEED)
def test_as_in_pytorch(seed):
    for key in BY_SEED[seed]:
        mode = key.rpartition(", ")[2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that an operator runs sample by sample
            found = seen_nested.answer(libdl, seed, mode)
        assert found == pytest.approx(ANSWERS[key], rel=1e-7, abs=1e-9), key
