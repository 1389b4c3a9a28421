# SPDX-License-Identifier: Apache-2.0
"""PyTorch's functions that its extension defines, by the names that they have in pickles."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from .._errors import UnsupportedError

# Modules of the extension: libdl's module, and what stands before a function's name there.
_MODULES = {
    "torch._C._fft": ("fft", "fft_"),
    "torch._C._linalg": ("linalg", "linalg_"),
    "torch._C._nested": ("nested", "nested_"),
    "torch._C._nn": ("nn.functional", ""),
    "torch._C._sparse": ("sparse", "sparse_"),
    "torch._C._special": ("special", "special_"),
}
_OTHERWISE = {"log_sigmoid": "logsigmoid"}
_CLASS = ("torch._C", "_VariableFunctionsClass")  # whose methods are torch.tanh and its like


def _functions(module: str) -> ModuleType:
    return importlib.import_module(f"libdl.{module}" if module else "libdl")


class _Functions:
    """Stands for the class of PyTorch's functions, of which pickles want attributes."""

    def __getattr__(self, name: str) -> Any:
        for module in ("", "nn.functional"):
            attribute = getattr(_functions(module), name, None)
            if attribute is not None and not name.startswith("_"):
                return attribute
        raise UnsupportedError(f"load: the file uses torch.{name:.80}, which libdl has not")


def builtin(module: str, name: str) -> Any:
    """libdl's function; None: the name is none of a builtin function.

    Errors: UnsupportedError where libdl has no such function."""
    first, _, rest = name.partition(".")
    if (module, first) == _CLASS:
        return getattr(_Functions(), rest) if rest else _Functions()
    if module not in _MODULES:
        return None
    where, prefix = _MODULES[module]
    public = name.removeprefix("_").removeprefix(prefix)
    attribute = getattr(_functions(where), _OTHERWISE.get(public, public), None)
    if attribute is None:
        raise UnsupportedError(f"load: the file uses {module}.{name:.80}, which libdl has not")
    return attribute
