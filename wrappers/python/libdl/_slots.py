# SPDX-License-Identifier: Apache-2.0
"""What the C half does by itself, as modes see it: operators, attributes, methods and the functions
that create tensors from sizes.

While a mode is on, each has a stand-in in its place. Read from the class, Tensor.shape and
Tensor.__add__ are the originals, so that what a mode is shown can be compared with them. x[i] has
none: C asks for modes itself, because CPython takes every type whose __getitem__ was ever set for a
sequence."""

from __future__ import annotations

import functools
import os
import types
from typing import Any

from . import _C
from ._C import Tensor
from ._overrides import method_of, modes, override, through_mode

_OPERATORS = {
    f"__{name}__" for name in (
        "abs add and bool contains delitem eq float floordiv ge gt iadd iand ifloordiv "
        "ilshift imod imul index int invert ior ipow irshift isub itruediv ixor le len lshift lt "
        "matmul mod mul ne neg or pos pow radd rand repr rfloordiv rlshift rmatmul rmod rmul ror "
        "rpow rrshift rshift rsub rtruediv rxor setitem sub truediv xor"
    ).split()
}  # fmt: skip
_CREATIONS = ("empty", "ones", "rand", "randn", "zeros")


class _Method:
    """A method or operator of C's."""

    def __init__(self, own: Any) -> None:
        self.own, self.shown = own, method_of(own)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.own if instance is None else types.MethodType(self._call, instance)

    def _call(self, instance: Any, *args: Any, **kwargs: Any) -> Any:
        if modes.stack:
            return through_mode(self.shown, (instance, *args), kwargs)
        if _C.has_override(instance):
            return override(self.shown, instance, *args, **kwargs)
        return self.own(instance, *args, **kwargs)


class _Operator(_Method):
    """An operator, which modes are shown as a method if that takes the operands: no arrays."""

    def __init__(self, own: Any) -> None:
        super().__init__(own)
        self.fitting = (Tensor,) if "matmul" in own.__name__ else (Tensor, int, float, complex)

    def _call(self, instance: Any, *args: Any, **kwargs: Any) -> Any:
        if not modes.stack:
            return self.own(instance, *args, **kwargs)
        fits = all(isinstance(value, self.fitting) for value in args)
        shown = self.shown if fits else self.own
        return through_mode(shown, (instance, *args), kwargs, is_operator=True)


class _Attribute:
    """An attribute of C's, or a property."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self.own
        if modes.stack:
            return through_mode(self.own.__get__, (instance,), {})
        if _C.has_override(instance):
            return override(self.own.__get__, instance)
        return self.own.__get__(instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        if modes.stack:
            through_mode(self.own.__set__, (instance, value), {})
        elif _C.has_override(instance):
            override(self.own.__set__, instance, value)
        else:
            self.own.__set__(instance, value)

    def __delete__(self, instance: Any) -> None:
        self.own.__delete__(instance)


class _Creation:
    """A creation function of C's: equal to it, so that programs find it in their tables."""

    def __init__(self, own: Any) -> None:
        self.own = own
        functools.update_wrapper(self, own)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if modes.stack:
            return through_mode(self, args, kwargs)
        return self.own(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return other is self or other == self.own

    def __hash__(self) -> int:
        return hash(self.own)


_PACKAGE = os.path.join(os.path.dirname(__file__), "")


def is_own(function: Any) -> bool:
    """Whether the package defines it. What a program puts on Tensor itself is run as it is."""
    code = getattr(function, "__code__", None)
    return code is None or code.co_filename.startswith(_PACKAGE)


_saved: dict[str, Any] = {}
_stand_ins: dict[str, Any] = {}
_creations: dict[str, Any] = {}


def _choose() -> None:
    import libdl

    for name, own in vars(Tensor).items():
        kind = type(own)
        operator = kind is types.WrapperDescriptorType and name in _OPERATORS
        if operator:
            _stand_ins[name] = _Operator(own)
        elif kind is types.MethodDescriptorType and not name.startswith("__"):
            _stand_ins[name] = _Method(own)
        elif (kind in (types.GetSetDescriptorType, property) and not name.startswith("__")
              and is_own(getattr(own, "fget", None))):
            _stand_ins[name] = _Attribute(own)
        else:
            continue
        _saved[name] = own
    for name in _CREATIONS:
        _creations[name] = _Creation(vars(libdl)[name])


def stand_in_for(cls: type[Tensor]) -> None:
    """Gives a subclass that overrides the stand-ins of attributes and methods that it inherits; of
    operators with operands C asks the class itself."""
    for name, own in originals().items():
        if not isinstance(_stand_ins[name], _Operator) and _inherited(cls, name) is own:
            setattr(cls, name, _stand_ins[name])
    for name in _UNASKED:
        inherited = _inherited(cls, name)
        if type(inherited) is _Operator:  # while a mode is on
            inherited = inherited.own
        if inherited is not None and inherited is _own(name):
            setattr(cls, name, _Method(inherited))


# What C carries out without asking the class.
_UNASKED = (
    "__bool__", "__dlpack__", "__dlpack_device__", "__float__", "__index__", "__int__", "__len__",
    "__pos__", "__repr__",
)  # fmt: skip


def _own(name: str) -> Any:
    return originals().get(name, vars(Tensor).get(name))


def _inherited(cls: type, name: str) -> Any:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def stand_in() -> None:
    """Puts the stand-ins in place."""
    import libdl

    for name in originals():
        setattr(Tensor, name, _stand_ins[name])
    vars(libdl).update(_creations)


def stand_back() -> None:
    """Puts the originals back."""
    import libdl

    for name, own in originals().items():
        setattr(Tensor, name, own)
    vars(libdl).update({name: made.own for name, made in _creations.items()})


def originals() -> dict[str, Any]:
    """What has a stand-in, by its name in Tensor."""
    if not _saved:
        _choose()
    return _saved
