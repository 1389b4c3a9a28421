# SPDX-License-Identifier: Apache-2.0
"""Anomaly mode: nodes keep the line that recorded them, and a NaN in a gradient is an error."""

from __future__ import annotations

from .._C import overridable
from .. import _C


@overridable
def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _C.anomaly_mode()


@overridable
def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return _C.anomaly_check_nan()


def _switched(function: str, mode: bool, check_nan: bool) -> tuple[bool, bool]:
    for name, value in ("mode", mode), ("check_nan", check_nan):
        if not isinstance(value, bool):
            raise TypeError(f"{function}: {name} is a {type(value).__name__}, wanted a bool")
    _C.install_site_hook()
    return _C.set_anomaly_mode(mode), _C.set_anomaly_check_nan(check_nan)


class set_detect_anomaly:
    """Switches anomaly mode on or off, for good or within a with statement; with check_nan=False
    nodes keep their lines, but NaN in a gradient is no error."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _switched("set_detect_anomaly", mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _switched("set_detect_anomaly", *self._before)


class detect_anomaly:
    """with detect_anomaly(): errors in backward name the line of the forward operation, and NaN in
    a gradient is such an error, unless check_nan is False."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan

    def __enter__(self) -> None:
        self._before = _switched("detect_anomaly", True, self._check_nan)

    def __exit__(self, *exception: object) -> None:
        _switched("detect_anomaly", *self._before)
