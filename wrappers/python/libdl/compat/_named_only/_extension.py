# SPDX-License-Identifier: Apache-2.0
"""Names that programs look for in torch._C, PyTorch's extension; the answers are those of a process
without accelerators, compilers and transformations."""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
from typing import Any

from .. import _C, _overrides
from .._C import Tensor
from .._types import device as Device, dtype as Dtype
from . import NamedOnly

_TensorMeta = type(Tensor)
TensorBase = _TensorBase = Tensor


def _log_api_usage_once(event: str) -> None:
    """Changes nothing: nobody counts."""


_log_api_usage_metadata = _log_api_usage_once


def _get_tracing_state() -> None:
    """None: nothing is traced."""


def _get_accelerator(check: bool | None = None) -> Any:
    """The accelerator's device, or the CPU."""
    from ..accelerator import current_accelerator

    return current_accelerator() or _C.default_device().__class__("cpu")


def _get_default_device() -> str:
    """The default device's type."""
    return str(_C.default_device().type)


def _are_functorch_transforms_active() -> bool:
    """Whether a vmap is open."""
    from .._vmap_levels import OPEN

    return bool(OPEN.levels)


def _is_torch_function_mode_enabled() -> bool:
    """Whether a TorchFunctionMode is entered."""
    return bool(_overrides.modes.stack)


def _len_torch_dispatch_stack() -> int:
    """0: there are no such modes."""
    return 0


def _get_privateuse1_backend_name() -> str:
    """PyTorch's name of a backend that nobody has named."""
    return "privateuseone"


def _current_graph_task_id() -> int:
    """-1: no backward pass is asked about."""
    return -1


def _current_autograd_node() -> None:
    """None: no node is asked about."""


def _is_alias_of(data: Tensor, other: Tensor) -> bool:
    """Whether the tensors share their memory."""
    return bool(_C.tensor_storage_id(data) == _C.tensor_storage_id(other))


def _storage_Use_Count(pointer: int) -> int:  # noqa: N802  (PyTorch's name)
    """1: how many tensors share a memory is not told."""
    return 1


def _set_math_sdp_allow_fp16_bf16_reduction(enabled: bool) -> None:
    """Changes nothing: sums of 16-bit numbers are always of float32."""


def _cuda_clearCublasWorkspaces() -> None:  # noqa: N802  (PyTorch's name)
    """Changes nothing: no library keeps workspaces of its own."""


def _jit_set_profiling_executor(enabled: bool) -> bool:
    """True, what was; nothing is compiled."""
    return True


_jit_set_profiling_mode = _jit_set_profiling_executor


def _jit_can_fuse_on_cpu() -> bool:
    """False: nothing is compiled."""
    return False


_jit_can_fuse_on_gpu = _jit_texpr_fuser_enabled = _jit_can_fuse_on_cpu


def _jit_override_can_fuse_on_cpu(enabled: bool) -> None:
    """Changes nothing: nothing is compiled."""


_jit_override_can_fuse_on_gpu = _jit_set_texpr_fuser_enabled = _jit_override_can_fuse_on_cpu
_jit_set_nvfuser_enabled = _jit_set_nvfuser_guard_mode = _jit_override_can_fuse_on_cpu

_COMPILER = "nothing is compiled here"


class Graph(NamedOnly, path="_C.Graph", reason=_COMPILER):
    """A name for annotations: no graph of TorchScript is made."""


class Node(NamedOnly, path="_C.Node", reason=_COMPILER):
    """A name for annotations: no graph of TorchScript is made."""


class Value(NamedOnly, path="_C.Value", reason=_COMPILER):
    """A name for annotations: no graph of TorchScript is made."""


class ScriptObject(NamedOnly, path="_C.ScriptObject", reason=_COMPILER):
    """A name for isinstance: nothing is one."""


class DispatchKey(enum.Enum):
    """Keys of PyTorch's dispatcher: names alone."""

    (
        Undefined,
        CPU,
        CUDA,
        Meta,
        BackendSelect,
        Python,
        ADInplaceOrView,
        AutogradOther,
        AutogradCPU,
        AutogradCUDA,
        AutogradMeta,
        Autograd,
        AutocastCPU,
        AutocastCUDA,
        AutocastXPU,
        AutocastMPS,
        CompositeImplicitAutograd,
        CompositeExplicitAutograd,
        FuncTorchBatched,
        Functionalize,
        PreDispatch,
    ) = range(21)


class DispatchKeySet:
    """A set of keys."""

    def __init__(self, *keys: DispatchKey) -> None:
        self._keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self._keys, *other._keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys & other._keys))

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys - other._keys))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def has(self, key: DispatchKey) -> bool:
        """Whether the key is in the set."""
        return key in self._keys

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(sorted(key.name for key in self._keys))})"


class _ExcludeDispatchKeyGuard(contextlib.ExitStack):
    """with _ExcludeDispatchKeyGuard(keys): the keys of autocast switch it off; others mean
    nothing."""

    def __init__(self, keys: DispatchKeySet) -> None:
        super().__init__()
        self._kinds = [
            key.name[8:].lower() for key in keys._keys if key.name.startswith("Autocast")
        ]

    def __enter__(self) -> Any:
        from .._autocast import autocast

        for kind in self._kinds:
            if kind in ("cpu", "cuda"):
                self.enter_context(autocast(kind, enabled=False))
        return super().__enter__()


@functools.cache
def _modules() -> dict[str, Any]:
    from types import ModuleType

    nn = ModuleType("libdl._C._nn")
    nn.__getattr__ = _of_nn  # type: ignore[method-assign]
    return {"_nn": nn}


def _of_nn(name: str) -> Any:
    """A name in torch._C._nn: functions of nn.functional, or of libdl itself."""
    for place in map(importlib.import_module, ("libdl.nn.functional", "libdl")):
        if not name.startswith("__") and hasattr(place, name):
            return getattr(place, name)
    if name == "_parse_to":
        return _parse_to
    raise AttributeError(f"module 'libdl._C._nn' has no attribute {name!r}")


def _parse_to(
    *args: Any,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
    **named: Any,
) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format) of the arguments of Tensor.to."""
    device, dtype = named.get("device"), named.get("dtype")
    tensor = named.get("tensor")
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        tensor = rest.pop(0)
    elif rest and isinstance(rest[0], Dtype):
        dtype = rest.pop(0)
    elif rest and (rest[0] is None or isinstance(rest[0], (str, int, Device))):
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], Dtype)):
            dtype = rest.pop(0)
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if rest and isinstance(rest[0], bool):
        non_blocking = rest.pop(0)
    if rest and isinstance(rest[0], bool):
        rest.pop(0)  # copy, which the answer does not tell
    if rest:
        raise TypeError(f"_parse_to: found {rest[0]!r}, wanted a device, a dtype or a tensor")
    return None if device is None else Device(device), dtype, non_blocking, memory_format


_ELSEWHERE = {
    **{
        name: ("libdl", name)
        for name in (
            "Event",
            "Generator",
            "OutOfMemoryError",
            "Size",
            "Stream",
            "device",
            "dtype",
            "layout",
            "memory_format",
        )
    },
    "ScriptFunction": ("libdl.jit", "ScriptFunction"),
    "ScriptModule": ("libdl.jit", "ScriptModule"),
    "StorageBase": ("libdl.storage", "UntypedStorage"),
}


def __getattr__(name: str) -> Any:
    if name in ("_functorch", "_distributed_c10d", "_distributed_rpc"):
        return importlib.import_module(f"libdl._C.{name}")
    if name in _ELSEWHERE:
        place, own = _ELSEWHERE[name]
        return getattr(importlib.import_module(place), own)
    if name == "_nn":
        return _modules()["_nn"]
    if name in ("PyTorchFileReader", "PyTorchFileWriter"):
        from ..serialization import _records

        return getattr(_records, name)
    raise AttributeError(f"module 'libdl._C' has no attribute {name!r}")
