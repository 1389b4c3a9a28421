# SPDX-License-Identifier: Apache-2.0
"""Hooks for the values that operations save for backward."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import _C
from .._C import Tensor
from .._modes import no_grad


class _State(threading.local):
    hooks = 0  # how many pairs of hooks are open
    refused: str | None = None  # why none may be opened
    mutation: _Copies | None = None


_state = _State()


class saved_tensors_hooks:
    """with saved_tensors_hooks(pack, unpack): operations save pack(tensor), and backward gets
    unpack(packed). Nothing that pack does is recorded, and it must not write to its tensor."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]):
        self._pack = pack_hook
        self._unpack = unpack_hook

    def __enter__(self) -> None:
        if _state.refused is not None:
            raise RuntimeError(_state.refused)
        pack = self._pack

        def packed(tensor: Tensor) -> Any:
            before = tensor._version
            with no_grad():
                value = pack(tensor)
            if tensor._version != before:
                raise RuntimeError(
                    "saved_tensors_hooks: pack wrote to the tensor that it was "
                    "given, wanted a new value"
                )
            return value

        _C.push_saved_hooks(packed, self._unpack)
        _state.hooks += 1

    def __exit__(self, *exception: object) -> None:
        _C.pop_saved_hooks()
        _state.hooks -= 1


class save_on_cpu(saved_tensors_hooks):
    """with save_on_cpu(): saved values are kept in the host's memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(
            lambda tensor: (tensor.device, tensor.cpu()), lambda packed: packed[1].to(packed[0])
        )


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """with disable_saved_tensors_hooks(text): saved_tensors_hooks raises a RuntimeError with this
    text; so does the disabling itself if hooks are open."""
    if _state.hooks:
        raise RuntimeError(error_message)
    before, _state.refused = _state.refused, error_message
    try:
        yield
    finally:
        _state.refused = before


class _Copies:
    """The copies of one allow_mutation_on_saved_tensors; each is kept while its graph is."""

    def __init__(self) -> None:
        self.open = True

    def clear(self) -> None:
        """Gives the copies up: graphs that were recorded until now cannot run backward."""
        self.open = False


class _Copy:
    def __init__(self, owner: _Copies, value: Tensor) -> None:
        self.owner, self.value = owner, value

    def unpacked(self) -> Tensor:
        if not self.owner.open:
            raise RuntimeError(
                "allow_mutation_on_saved_tensors: backward runs outside of the "
                "context, wanted it inside"
            )
        return self.value


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Copies]:
    """with allow_mutation_on_saved_tensors(): what was saved for backward may be overwritten, and
    gradients are those of the values before. Each saved value is copied when it is saved. Backward
    must run inside of the context. Contexts do not nest."""
    if _state.mutation is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors: the context does not nest")
    copies = _state.mutation = _Copies()
    try:
        with saved_tensors_hooks(lambda x: _Copy(copies, x.clone()), _Copy.unpacked):
            yield copies
    finally:
        copies.clear()
        _state.mutation = None
