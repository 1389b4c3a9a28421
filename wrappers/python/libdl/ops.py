# SPDX-License-Identifier: Apache-2.0
"""torch.ops: operators that programs define with libdl.library, by namespace and name, and libdl's
own under the names of PyTorch's, ops.aten.name.

Example:
    >>> torch.ops.aten.add(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([4, 6])
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from ._C import Tensor
from ._named_only import refusing

if TYPE_CHECKING:
    from .library._schema import Schema

_OWN = ("aten", "prims", "prim")
_REFUSED = "this operator of PyTorch's is not offered by itself"
_FOREACH = ["default", "List", "Scalar", "ScalarList", "Tensor"]


class OpOverload:
    """One operator with one kind of arguments: ops.aten.add.Tensor."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket, self._overloadname = packet, overload
        self.namespace = packet._namespace
        self.__name__ = f"{packet.__name__}.{overload}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def name(self) -> str:
        """aten::add.Tensor, or without .default."""
        behind = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.overloadpacket._qualified_op_name}{behind}"

    @property
    def _name(self) -> str:
        return self.name()

    @property
    def _schema(self) -> Schema:
        return self.overloadpacket._schema_of_program()


class OpOverloadPacket:
    """An operator by its name: called itself, it is the overload that the arguments fit."""

    def __init__(
        self,
        namespace: str,
        name: str,
        overloads: list[str],
        find: Callable[[], Callable[..., Any]],
    ) -> None:
        self._namespace, self.__name__, self._overload_names = namespace, name, overloads
        self._qualified_op_name = f"{namespace}::{name}"
        self._find = find

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._find()(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__") or overload not in self._overload_names:
            raise AttributeError(
                f"{self} has no overload {overload!r}; there are {', '.join(self._overload_names)}"
            )
        result = OpOverload(self, overload)
        setattr(self, overload, result)
        return result

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return list(self._overload_names)

    def _schema_of_program(self) -> Schema:
        from .library._operators import found

        if self._namespace in _OWN:
            raise AttributeError(f"{self}: libdl's own operators have no schema")
        return found(self._qualified_op_name).schema


class _Namespace(ModuleType):
    def __getattr__(self, name: str) -> OpOverloadPacket:
        short = self.__name__.rpartition(".")[2]
        if not name.startswith("__"):
            result = _of_libdl(name) if short == "aten" else _of_program(short, name)
            if result is not None:
                return result
        raise AttributeError(f"ops.{short} has no operator {name!r}")


@functools.cache
def _of_libdl(name: str) -> OpOverloadPacket | None:
    from . import _aten, _aten_forms, _foreach

    if name.startswith("_foreach_") and hasattr(_foreach, name):
        return OpOverloadPacket("aten", name, _FOREACH, lambda: getattr(_foreach, name))
    listed = (_aten.NAMES, _aten.MORE, _aten.FACTORIES, _aten_forms.NAMES)
    names = next((result for text in listed if name in (result := _aten.overloads(text))), None)
    if names is None and name in _aten_forms.REFUSED:
        return OpOverloadPacket(
            "aten", name, ["default"], lambda: refusing(f"ops.aten.{name}", _REFUSED)
        )
    return (
        None if names is None else OpOverloadPacket("aten", name, names[name], lambda: _own(name))
    )


@functools.cache
def _own(name: str) -> Any:
    from . import _aten, _aten_forms
    from .nn import functional

    if name in _aten.overloads(_aten_forms.NAMES):
        return getattr(_aten_forms, name)
    method = getattr(Tensor, name, None)
    if name.endswith("_") and method is not None:
        return method
    for place in (sys.modules["libdl"], functional):
        if hasattr(place, name):
            return getattr(place, name)
    return method


@functools.cache
def _packet(namespace: str, name: str) -> OpOverloadPacket:
    from .library._operators import found

    return OpOverloadPacket(namespace, name, ["default"], lambda: found(f"{namespace}::{name}"))


def _of_program(namespace: str, name: str) -> OpOverloadPacket | None:
    from .library._operators import OPERATORS

    return _packet(namespace, name) if name in OPERATORS.get(namespace, {}) else None


def refuse_library(place: str, path: Any) -> NoReturn:
    raise OSError(
        f"{place}.load_library: {path} would be compiled against PyTorch; "
        "utils.load_plugin loads libdl's plugins"
    )


def load_library(path: str | PathLike[str]) -> None:
    """Raises OSError, as for what cannot be loaded: such a library is compiled against PyTorch. In
    place of torchvision's, its operators are defined by libdl's own."""
    from pathlib import Path

    where = Path(str(path))
    if where.parent.name == "torchvision" and where.name.split(".")[0] in ("_C", "_C_stable"):
        from .library._torchvision import register

        register()
        return
    refuse_library("ops", path)


import typing as _typing  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names

    @functools.cache
    def _namespace(name: str) -> _Namespace:
        return _Namespace(f"{__name__}.{name}")

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return _namespace(name)
