# SPDX-License-Identifier: Apache-2.0
"""Anomaly mode: nodes keep the line that recorded them, and a NaN in a gradient is an error."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from .. import _C


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _C.anomaly_mode()


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN, which it always does."""
    return True


def _switched(function: str, mode: bool, check_nan: bool) -> bool:
    if not isinstance(mode, bool):
        raise TypeError(f"{function}: mode is a {type(mode).__name__}, wanted a bool")
    if mode and not check_nan:
        raise NotImplementedError(f"{function}: check_nan=False, but the mode always looks for NaN")
    before: bool = _C.set_anomaly_mode(mode)
    _C.install_site_hook()
    return before


class set_detect_anomaly:
    """Switches anomaly mode on or off, for good or within a with statement."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _switched("set_detect_anomaly", mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _C.set_anomaly_mode(self._before)


class detect_anomaly:
    """with detect_anomaly(): errors in backward name the line of the forward operation."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan

    def __enter__(self) -> None:
        self._before = _switched("detect_anomaly", True, self._check_nan)

    def __exit__(self, *exception: object) -> None:
        _C.set_anomaly_mode(self._before)
