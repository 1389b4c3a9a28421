# SPDX-License-Identifier: Apache-2.0
"""Copies of a module on several devices: there is one device."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["replicate"]


def replicate(network: Any, devices: Any, detach: bool = False) -> NoReturn:
    """Refuses: copies of a module on several devices."""
    raise NotImplementedError("nn.parallel.replicate: several devices are not offered yet, and there "
                              "is nothing to do on one")  # fmt: skip
