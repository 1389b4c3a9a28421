# SPDX-License-Identifier: Apache-2.0
"""Tensors in einops.

einops asks the subclasses of its AbstractBackend which of them knows a tensor, and has none for
libdl. Ours joins them when a program imports einops. To see that, it stands first among the finders
of modules, where it costs one comparison of names for each import."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._C import Tensor
from ._creation import from_numpy
from ._functions import cat, stack
from ._overloads import arange
from .functional import einsum

if TYPE_CHECKING:
    import numpy

# The module of einops with the class AbstractBackend.
_REGISTRY = "einops._backends"


class _Backend:
    """What einops asks of a library. Results share memory where PyTorch's would."""

    framework_name = "libdl"

    def is_appropriate_type(self, tensor: object) -> bool:
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: numpy.ndarray) -> Tensor:
        result: Tensor = from_numpy(x)
        return result

    def to_numpy(self, x: Tensor) -> numpy.ndarray:
        return x.detach().cpu().numpy()

    def arange(self, start: int, stop: int) -> Tensor:
        return arange(start, stop)

    def transpose(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        return x.permute(axes)

    def reduce(self, x: Tensor, operation: str, axes: Sequence[int]) -> Tensor:
        if operation in ("min", "max"):
            # A gradient is shared by equal extremes, in these two.
            return x.amin(tuple(axes)) if operation == "min" else x.amax(tuple(axes))
        if operation in ("sum", "mean"):
            return x.sum(tuple(axes)) if operation == "sum" else x.mean(tuple(axes))
        for axis in sorted(axes, reverse=True):  # prod, any, all: one dimension at a time
            x = getattr(x, operation)(axis)
        return x

    def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
        return stack(tensors)

    def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
        return cat(tensors, axis)

    def add_axis(self, x: Tensor, new_position: int) -> Tensor:
        return x.unsqueeze(new_position)

    def add_axes(self, x: Tensor, n_axes: int, pos2len: dict[int, int]) -> Tensor:
        lengths = [-1] * n_axes
        for position, length in pos2len.items():
            x = x.unsqueeze(position)
            lengths[position] = length
        return x.expand(lengths)

    def tile(self, x: Tensor, repeats: Sequence[int]) -> Tensor:
        return x.repeat(repeats)

    def is_float_type(self, x: Tensor) -> bool:
        return x.dtype.is_floating_point

    def einsum(self, pattern: str, *x: Tensor) -> Tensor:
        return einsum(pattern, *x)


# A class knows its subclasses by weak references only.
_joined: list[type] = []


def _join(registry: ModuleType) -> None:
    bases = (_Backend, registry.AbstractBackend)
    _joined.append(type("LibdlBackend", bases, {"__module__": __name__}))


class _Finder:
    """Finds einops's registry as the other finders do, and joins it once it has been loaded."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _REGISTRY:
            return None
        for finder in sys.meta_path:
            spec = None if finder is _Finder else finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                loader: Any = spec.loader
                load = loader.exec_module

                def exec_module(module: ModuleType) -> None:
                    del loader.exec_module  # ours lay over the loader's own
                    load(module)
                    _join(module)

                loader.exec_module = exec_module
                return spec
        return None


def contribute() -> None:
    """Makes einops take tensors, whether it was imported before libdl or will be later."""
    if _REGISTRY in sys.modules:
        _join(sys.modules[_REGISTRY])
    else:
        sys.meta_path.insert(0, _Finder)
