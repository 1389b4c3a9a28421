# SPDX-License-Identifier: Apache-2.0
"""Intel's GPUs, which are not offered."""

from __future__ import annotations

from ._absent_device import *
from ._absent_device import __all__ as __all__

import typing as _typing  # noqa: E402

from ._absent_device import refused as _refused_names  # noqa: E402
from ._missing import public as _public_names  # noqa: E402

if not _typing.TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _refused_names(__name__)
__dir__ = _public_names(__name__)
