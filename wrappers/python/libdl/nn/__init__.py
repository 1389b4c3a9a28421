# SPDX-License-Identifier: Apache-2.0
"""Networks: modules, their parameters, layers and losses."""

from . import modules  # first: the functions need the options of one of its losses
from . import attention, common_types, functional, grad, init, parallel, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "attention",
    "Buffer",
    "common_types",
    "DataParallel",
    "functional",
    "init",
    "modules",
    "parallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "utils",
]
__all__ += modules.__all__


import typing as _typing  # noqa: E402

from .._missing import missing as _missing_names, public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_names(__name__)
__dir__ = _public_names(__name__)
