# SPDX-License-Identifier: Apache-2.0
"""Each test begins with the same seed, and leaves as many objects alive as there were."""

import gc
from collections.abc import Iterator

import pytest

import libdl
from libdl import _C


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    if call.when == "call":
        item.stash[FAILED] = call.excinfo is not None
    return (yield)


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    libdl.manual_seed(0)
    before = _C.live()[:3]
    yield
    for generation in range(3):  # the youngest first: all of them take longer than most tests
        if _C.live()[:3] == before:
            break
        gc.collect(generation)
    after = _C.live()[:3]
    # Fewer is no leak: pytest keeps the frames of a failed test until the next one has begun.
    kept = request.node.stash.get(FAILED, False) or all(a <= b for a, b in zip(after, before))
    assert kept, f"tensors, storages, nodes alive: {before}, then {after}"
