# SPDX-License-Identifier: Apache-2.0
"""Anomaly mode: nodes keep the line that recorded them, and a NaN in a gradient is an error."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from .. import _C


class set_detect_anomaly:
    """Switches anomaly mode on or off, for good or within a with statement."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _C.set_anomaly_mode(mode)
        _C.install_site_hook()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _C.set_anomaly_mode(self._before)


class detect_anomaly:
    """with detect_anomaly(): errors in backward name the line of the forward operation."""

    def __init__(self, check_nan: bool = True) -> None:
        pass

    def __enter__(self) -> None:
        self._before = _C.set_anomaly_mode(True)
        _C.install_site_hook()

    def __exit__(self, *exception: object) -> None:
        _C.set_anomaly_mode(self._before)
