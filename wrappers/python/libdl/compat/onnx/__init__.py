# SPDX-License-Identifier: Apache-2.0
"""Export to ONNX, which is not offered."""

from __future__ import annotations

import enum
from typing import Any, NoReturn

from .._named_only import NamedOnly


def export(model: object, *args: object, **kwargs: object) -> NoReturn:
    """Raises: there is no graph of a module that could be written."""
    raise NotImplementedError(
        "onnx.export: libdl runs modules eagerly and has no graph to write; "
        "libdl.save(model.state_dict(), path) keeps the weights"
    )


class TrainingMode(enum.Enum):
    """In which mode a model would be written."""

    EVAL, PRESERVE, TRAINING = range(3)


class OperatorExportTypes(enum.Enum):
    """As which operators calls would be written."""

    ONNX, ONNX_ATEN, ONNX_ATEN_FALLBACK, ONNX_FALLTHROUGH = range(4)


class TensorProtoDataType(enum.IntEnum):
    """ONNX's numbers of element types."""

    (
        UNDEFINED,
        FLOAT,
        UINT8,
        INT8,
        UINT16,
        INT16,
        INT32,
        INT64,
        STRING,
        BOOL,
        FLOAT16,
        DOUBLE,
        UINT32,
        UINT64,
        COMPLEX64,
        COMPLEX128,
        BFLOAT16,
    ) = range(17)


class ONNXProgram(NamedOnly, path="onnx.ONNXProgram", reason="models are not written as ONNX"):
    """A name for annotations: export makes none."""


class OnnxExporterError(RuntimeError):
    """What export would raise of its own."""


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: object, opset_version: int, custom_opsets: object = None
) -> None:
    """Changes nothing: nothing is exported, and so nobody asks how."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Changes nothing."""


def is_in_onnx_export() -> bool:
    """False: nothing is exported."""
    return False


_LAZY_MODULES = (
    "errors",
    "operators",
    "symbolic_helper",
    "utils",
    *(f"symbolic_opset{n}" for n in range(7, 21)),
)
