# SPDX-License-Identifier: Apache-2.0
"""Extensions in C++ are compiled against PyTorch, and cannot be built for libdl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

CUDA_HOME: str | None = None
ROCM_HOME: str | None = None
IS_WINDOWS = False


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"cpp_extension.{name}: extensions for PyTorch cannot be built for libdl; its C ABI and "
        "docs/plugins.md have what takes their place"
    )


def load(name: str, sources: str | Sequence[str], *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("load")


def load_inline(name: str, cpp_sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("load_inline")


def CppExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("CppExtension")


def CUDAExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("CUDAExtension")


class BuildExtension:
    """A command for setup scripts: raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """The class itself."""
        return cls
