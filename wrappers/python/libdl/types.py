# SPDX-License-Identifier: Apache-2.0
"""The names of types that annotations use."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

from . import SymBool, SymFloat, SymInt, device, dtype, layout
from ._types import Size

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
IntLikeType: TypeAlias = int | SymInt
FloatLikeType: TypeAlias = float | SymFloat
BoolLikeType: TypeAlias = bool | SymBool
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_dtype, _device, _layout = dtype, device, layout
_TensorOrTensors: TypeAlias = Any | Sequence[Any]

__all__ = ["BoolLikeType", "Device", "FileLike", "FloatLikeType", "IntLikeType", "Number", "Size"]
