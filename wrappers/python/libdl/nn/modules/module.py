# SPDX-License-Identifier: Apache-2.0
"""PyTorch's path of some of libdl.nn's names, and of private ones that programs use."""

from .._hooks import *  # noqa: F403
from .._hooks import (
    _global_backward_hooks as _global_backward_hooks,
    _global_backward_pre_hooks as _global_backward_pre_hooks,
    _global_buffer_registration_hooks as _global_buffer_registration_hooks,
    _global_forward_hooks as _global_forward_hooks,
    _global_forward_hooks_always_called as _global_forward_hooks_always_called,
    _global_forward_hooks_with_kwargs as _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks as _global_forward_pre_hooks,
    _global_module_registration_hooks as _global_module_registration_hooks,
    _global_parameter_registration_hooks as _global_parameter_registration_hooks,
)
from .._state import _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX
from .._state import _IncompatibleKeys as _IncompatibleKeys
from .._state import _WrappedHook as _WrappedHook
from ..module import Module as Module
from ..parameter import Buffer as Buffer, Parameter as Parameter


def _addindent(s_: str, numSpaces: int) -> str:
    """The text with all lines but the first indented."""
    return s_.replace("\n", "\n" + " " * numSpaces)
