# SPDX-License-Identifier: Apache-2.0
"""What the wrapper's tests share: nothing may be alive afterwards that was not before."""

import gc
from collections.abc import Iterator

import pytest

import libdl
from libdl import _C


@pytest.fixture(autouse=True)
def state() -> Iterator[None]:
    """Each test begins with the same seed and modes, whatever the one before left."""
    libdl.manual_seed(0)
    libdl.set_default_dtype(libdl.float32)
    yield
    libdl.set_default_dtype(libdl.float32)  # for the tests of other folders
    assert libdl.is_grad_enabled()


@pytest.fixture
def no_leak() -> Iterator[None]:
    """Tensors, storages and nodes alive are as many as before."""
    gc.collect()
    before = _C.live()
    yield
    gc.collect()
    after = _C.live()
    assert after[:3] == before[:3], f"tensors, storages, nodes: {before[:3]}, then {after[:3]}"
