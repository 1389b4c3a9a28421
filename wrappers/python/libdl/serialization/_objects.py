# SPDX-License-Identifier: Apache-2.0
"""Objects of any class in PyTorch's format, by Python's own pickle. Loading one imports what the
file names and calls it: load does so only if its caller said weights_only=False.

The names in files are PyTorch's ("torch.nn.modules.linear.Linear"), so that both libraries read a
module of their common classes from the same file."""

from __future__ import annotations

import importlib
import io
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType, NotImplementedType
from typing import Any

from .. import _C, storage
from .._C import Tensor
from .._errors import FormatError, UnsupportedError
from .._overrides import DisableTorchFunctionSubclass
from .._types import Size, device as Device, dtype as Dtype, layout as Layout, uint8
from . import _names
from ._archive import Archive
from ._builtins import builtin
from ._checkpoint import Storages, archive_of
from ._paths import is_pytorchs, own, path_of
from ._places import Foreign, Placing
from ._source import Source

# -- what makes tensors ----------------------------------------------------------------------------


def _of_type(function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
    """A tensor of a class, with its attributes, or what its __setstate__ makes of them."""
    result: Tensor = function(*arguments)
    if type(result) is not kind:
        requires_grad, result = result.requires_grad, _C.make_subclass(kind, result.detach())
        result.requires_grad = requires_grad
    setstate = getattr(type(result), "__setstate__", None)
    if setstate is not None and setstate is not getattr(Tensor, "__setstate__", None):
        setstate(result, state)
    elif state is not None:
        if isinstance(state, tuple):  # attributes, and those in slots
            for name, value in (state[1] or {}).items():
                setattr(result, name, value)
            state = state[0]
        result.__dict__.update(state or {})
    return result


def _parameter_with_state(data: Tensor, requires_grad: bool, hooks: Any, state: Any) -> Tensor:
    result: Tensor = _PARAMETER(data, requires_grad, hooks)
    result.__dict__.update(state)
    return result


_MAKERS: dict[str, Callable[..., Any]] = {
    **{path: make for path, make in _names.TABLE.items() if path.startswith("torch._utils.")},
    "torch._utils._rebuild_parameter_with_state": _parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": _of_type,
    "torch.serialization._get_layout": _names.TABLE["torch.serialization._get_layout"],
}
_LAYOUT = _MAKERS["torch.serialization._get_layout"]
_PATHS = {make: path for path, make in _MAKERS.items()}
_PLAIN = _MAKERS["torch._utils._rebuild_tensor_v2"]
_ANY = _MAKERS["torch._utils._rebuild_tensor_v3"]
_SPARSE = _MAKERS["torch._utils._rebuild_sparse_tensor"]
_META = _MAKERS["torch._utils._rebuild_meta_tensor_no_storage"]
_PARAMETER = _MAKERS["torch._utils._rebuild_parameter"]


class _Memory:
    """A tensor's storage, on its way into a persistent id."""

    def __init__(self, x: Tensor) -> None:
        self.tensor = x


# -- out -------------------------------------------------------------------------------------------


class _Pickling:
    """What a pickler does about tensors. A mixin before a class with pickle.Pickler's methods."""

    def begin(self) -> None:
        self.tensors: list[Tensor] = []  # one of each storage, in the order of their keys
        self._storages: dict[int, tuple[str, Any]] = {}  # key and kind, by number

    def persistent_id(self, obj: Any) -> tuple[Any, ...] | None:
        if isinstance(obj, storage.StorageBase):
            x = obj.elements(obj.dtype if isinstance(obj, storage.TypedStorage) else uint8)
        elif isinstance(obj, _Memory):
            x = obj.tensor
        else:
            return None
        key, kind = self._storage(x)
        size = _C.tensor_storage_nbytes(x)
        count = size if kind is storage.UntypedStorage else size // kind.dtype.itemsize
        return "storage", kind, key, str(x.device), count

    def _storage(self, x: Tensor) -> tuple[str, Any]:
        number = _C.tensor_storage_id(x)
        if number not in self._storages:
            kind = storage.TYPES.get(x.dtype, storage.UntypedStorage)
            self._storages[number] = str(len(self.tensors)), kind
            self.tensors.append(x)
        return self._storages[number]

    def reducer_override(self, obj: Any) -> tuple[Any, ...] | NotImplementedType:
        if isinstance(obj, Tensor):
            return self._reduced(obj)
        further = getattr(super(), "reducer_override", None)
        return further(obj) if further else NotImplemented

    def _reduced(self, x: Tensor) -> tuple[Any, ...]:
        """As copyreg's functions tell it."""
        from ..nn import Buffer, Parameter

        if type(x).__reduce_ex__ is not Tensor.__reduce_ex__:
            kind: tuple[Any, ...] = type(x).__reduce_ex__(x, 2)
            return kind
        with DisableTorchFunctionSubclass():
            state, requires_grad = dict(x.__dict__), x.requires_grad
            plain = x.detach()
            if type(x) is Parameter:
                arguments: tuple[Any, ...] = (plain, requires_grad, OrderedDict())
                if state:
                    return _parameter_with_state, (*arguments, state)
                return _PARAMETER, arguments
            function, arguments = self._recipe(plain, requires_grad)
        if type(x) is Buffer or (type(x) is Tensor and not state):
            return function, arguments
        return _of_type, (function, type(x), arguments, state)

    def _recipe(self, x: Tensor, requires_grad: bool) -> tuple[Any, tuple[Any, ...]]:
        """What makes the tensor, without its class and attributes."""
        if x.is_sparse:
            return _SPARSE, (x.layout, (x.indices(), x.values(), x.shape, True))
        if x.is_meta:
            return _META, (x.dtype, tuple(x.shape), tuple(x.stride()), requires_grad)
        arguments: tuple[Any, ...] = (
            _Memory(x),
            x.storage_offset(),
            tuple(x.shape),
            tuple(x.stride()),
            requires_grad,
            OrderedDict(),
        )
        kind = self._storage(x)[1]
        if kind is not storage.UntypedStorage and kind.dtype is x.dtype:
            return _PLAIN, arguments
        return _ANY, (*arguments, x.dtype)


def _owner(obj: object, name: str) -> Any:
    """The class of libdl that has a function or class as its attribute; None: none has."""
    owner, _, last = name.rpartition(".")
    attribute = sys.modules.get(getattr(obj, "__module__", None) or "")
    if not owner or attribute is None or attribute.__name__.partition(".")[0] != "libdl":
        return None
    for part in owner.split("."):
        attribute = getattr(attribute, part, None)
    return attribute if getattr(attribute, last, None) is obj else None


_Python: Any = pickle._Pickler  # in Python: the one that asks save_global


class _Pickler(_Pickling, _Python):  # type: ignore[misc]
    """Writes the names of libdl's classes as PyTorch's."""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        if isinstance(obj, FunctionType) and obj in _PATHS:
            path: str | None = _PATHS[obj]
        elif isinstance(obj, Dtype):
            path = f"torch.{obj.name}"
        else:
            called = name or getattr(obj, "__qualname__", obj.__name__)
            owner = _owner(obj, called)
            if owner is not None:
                self.save_reduce(getattr, (owner, called.rpartition(".")[2]), obj=obj)
                return
            result = path_of(obj, called)
            path = ".".join(result) if result else None
        if path is None:
            super().save_global(obj, name)
            return
        module, _, name = path.rpartition(".")
        self.write(f"c{module}\n{name}\n".encode())
        self.memoize(obj)

    dispatch = {**_Python.dispatch, FunctionType: save_global}

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Size):
            return Size, (tuple(obj),)
        if isinstance(obj, Device):
            return Device, (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, Dtype):
            return obj.name
        if isinstance(obj, Layout):
            return _LAYOUT, (f"torch.{str(obj).rpartition('.')[2]}",)
        return super().reducer_override(obj)


def pickled(value: Any, module: Any, protocol: int) -> tuple[bytes, list[Tensor]]:
    """The pickle, and one tensor of each storage that it refers to.

    Arguments:
        module: pickle, or one that has its Pickler
    """
    out = io.BytesIO()
    if module is None or module is pickle:
        pickler: Any = _Pickler(out, protocol)
    else:
        kind = type("_OthersPickler", (_Pickling, module.Pickler), {})
        pickler = kind(out, protocol)
    pickler.begin()
    pickler.dump(value)
    return out.getvalue(), pickler.tensors


# -- in --------------------------------------------------------------------------------------------


class _Storages(Storages):
    """The storages of a pickle that names real classes."""

    @staticmethod
    def dtype_of(kind: Any) -> Dtype:
        if kind is storage.UntypedStorage:
            return uint8
        if not isinstance(kind, storage.StorageType):
            raise FormatError("load: a storage of no kind")
        return kind.dtype


class _Reading:
    """What an unpickler does about names and tensors: a mixin before pickle.Unpickler's like."""

    storages: _Storages

    def persistent_load(self, key: Any) -> Tensor:
        return self.storages.storage(key)

    def find_class(self, module: str, name: str) -> Any:
        result = _MAKERS.get(f"{module}.{name}")
        if result is not None:
            return result
        function = builtin(module, name)
        if function is not None:
            return function
        if not is_pytorchs(module):
            return super().find_class(module, name)  # type: ignore[misc]
        try:
            imported: Any = importlib.import_module(own(module))
            for part in name.split("."):
                imported = getattr(imported, part)
        except (ImportError, AttributeError) as error:
            raise UnsupportedError(
                f"load: the file uses {module}.{name:.80}, which libdl has not ({error})"
            ) from None
        return imported


def read(source: Source, map_location: Any, module: Any, options: dict[str, Any]) -> Any:
    """The object in a checkpoint. The file's code runs."""
    archive: Archive = archive_of(source)
    unpickler = type("_Unpickler", (_Reading, (module or pickle).Unpickler), {})
    reader = unpickler(io.BytesIO(archive.read("data.pkl")), **options)
    reader.storages = _Storages(source, archive, Placing(map_location))
    try:
        return reader.load()
    except Foreign as foreign:
        raise foreign.error from None
    except (pickle.UnpicklingError, EOFError) as error:
        raise FormatError(f"load: data.pkl has {error}") from None
