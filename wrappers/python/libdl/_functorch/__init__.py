# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private paths of libdl.func."""

import typing as _typing

from .._missing import missing as _missing_names

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__, "eager_transforms", "vmap")
