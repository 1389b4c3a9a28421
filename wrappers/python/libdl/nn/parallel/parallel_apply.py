# SPDX-License-Identifier: Apache-2.0
"""Modules on several devices, called at the same time: there is one device."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["parallel_apply"]


def parallel_apply(
    modules: Any, inputs: Any, kwargs_tup: Any = None, devices: Any = None
) -> NoReturn:
    """Refuses: modules on several devices, called at the same time."""
    raise NotImplementedError("nn.parallel.parallel_apply: several devices are not offered yet, and there "
                              "is nothing to do on one")  # fmt: skip
