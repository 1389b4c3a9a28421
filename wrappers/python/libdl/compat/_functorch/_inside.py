# SPDX-License-Identifier: Apache-2.0
"""What programs ask of PyTorch's transformations and tracers about the tensors that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._vmap_levels import Batched


def is_batchedtensor(tensor: Any) -> bool:
    """Whether the tensor stands for one of the samples of a vmap."""
    return isinstance(tensor, Batched)


def is_legacy_batchedtensor(tensor: Any) -> bool:
    """False: PyTorch's first vmap is not here."""
    return False


def is_gradtrackingtensor(tensor: Any) -> bool:
    """False: func.grad gives its function ordinary tensors."""
    return False


def is_functorch_wrapped_tensor(tensor: Any) -> bool:
    """Whether the tensor is a stand-in of one of libdl.func's transformations."""
    return isinstance(tensor, Batched)


def is_fake(x: object) -> bool:
    """False: every tensor has elements."""
    return False


def active_fake_mode() -> None:
    """None: there are no tensors without elements."""


def detect_fake_mode(inputs: object = None) -> None:
    """None: there are no tensors without elements."""


def get_proxy_mode() -> None:
    """None: operators are not traced."""


get_innermost_proxy_mode = get_proxy_mode


@contextmanager
def unset_fake_temporarily() -> Iterator[None]:
    """Changes nothing."""
    yield


maybe_disable_fake_tensor_mode = unset_fake_temporarily
