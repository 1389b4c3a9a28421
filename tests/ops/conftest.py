# SPDX-License-Identifier: Apache-2.0
"""Each test begins with the same seed, and leaves as many objects alive as there were."""

import gc
from collections.abc import Iterator

import pytest

import libdl
from libdl import _C


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    libdl.manual_seed(0)
    before = _C.live()[:3]
    yield
    if _C.live()[:3] != before:
        gc.collect()  # only then: a collection takes longer than most of these tests
    after = _C.live()[:3]
    assert after == before, f"tensors, storages, nodes alive: {before}, then {after}"
