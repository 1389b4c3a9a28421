# SPDX-License-Identifier: Apache-2.0
"""Modules whose calls are checkpointed: what is inside is computed again in the backward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any

from .... import nn
from ....autograd.graph import save_on_cpu
from ....utils.checkpoint import checkpoint

if TYPE_CHECKING:
    from ....nn.modules.module import Module

_PREFIX = "_checkpoint_wrapped_module."


class CheckpointImpl(Enum):
    """How the forward pass is repeated; utils.checkpoint has one way, whatever is chosen."""

    REENTRANT, NO_REENTRANT = auto(), auto()


class ActivationWrapper(nn.Module):
    """A module around another, whose names in states and lists are those of the inner one."""

    def __init__(self, mod: nn.Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self.register_state_dict_post_hook(self._post_state_dict_hook)
        self.register_load_state_dict_pre_hook(self._pre_load_state_dict_hook)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._checkpoint_wrapped_module, name)

    def __getitem__(self, key: int) -> Any:
        inner: Any = self._checkpoint_wrapped_module
        return inner[key]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Any]]:
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_PREFIX, ""), parameter

    @staticmethod
    def _post_state_dict_hook(module: Module, state_dict: Any, prefix: str, *args: Any) -> None:
        _rename(state_dict, f"{prefix}{_PREFIX}", prefix)

    @staticmethod
    def _pre_load_state_dict_hook(module: Module, state_dict: Any, prefix: str, *args: Any) -> None:
        _rename(state_dict, prefix, f"{prefix}{_PREFIX}")


def _rename(state: Any, old: str, new: str) -> None:
    for key in list(state):
        if key.startswith(old):
            state[new + key[len(old) :]] = state.pop(key)


class CheckpointWrapper(ActivationWrapper):
    """Calls the module under utils.checkpoint."""

    def __init__(
        self,
        mod: nn.Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., Any] | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            reentrant = checkpoint_impl is CheckpointImpl.REENTRANT
            checkpoint_fn = partial(checkpoint, use_reentrant=reentrant)
        self.checkpoint_fn = partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.checkpoint_fn(self._checkpoint_wrapped_module, *args, **kwargs)


class OffloadWrapper(ActivationWrapper):
    """Calls the module while what backward needs is kept on the CPU."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


def checkpoint_wrapper(
    module: nn.Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None,
    **checkpoint_fn_kwargs: Any,
) -> nn.Module:
    """The module, checkpointed."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def offload_wrapper(module: nn.Module) -> nn.Module:
    """The module, what it saves kept on the CPU."""
    return OffloadWrapper(module)


def apply_activation_checkpointing(
    model: nn.Module,
    checkpoint_wrapper_fn: Callable[[nn.Module], nn.Module] = checkpoint_wrapper,
    check_fn: Callable[[nn.Module], bool] = lambda _: True,
    auto_wrap_policy: Any = None,
) -> None:
    """Wraps all modules inside of which check_fn is true, the innermost first."""
    if auto_wrap_policy is not None:
        raise NotImplementedError(
            "apply_activation_checkpointing: auto_wrap_policy belongs to FSDP, "
            "which is not offered; use check_fn"
        )
    for child_name, child in list(model.named_children()):
        apply_activation_checkpointing(child, checkpoint_wrapper_fn, check_fn)
        if check_fn(child):
            setattr(model, child_name, checkpoint_wrapper_fn(child))
