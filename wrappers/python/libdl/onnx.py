# SPDX-License-Identifier: Apache-2.0
"""Export to ONNX, which is not offered."""

from __future__ import annotations

from typing import Any, NoReturn


def export(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: there is no graph of a module that could be written."""
    raise NotImplementedError("onnx.export: libdl runs modules eagerly and has no graph to write; "
                              "libdl.save(model.state_dict(), path) keeps the weights")  # fmt: skip


def is_in_onnx_export() -> bool:
    """False: nothing is exported."""
    return False


import typing as _typing  # noqa: E402

from ._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
