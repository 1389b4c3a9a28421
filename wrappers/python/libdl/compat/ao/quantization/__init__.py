# SPDX-License-Identifier: Apache-2.0
"""The words of PyTorch's quantization. Stubs and fusing mean what they do before anything is
quantized; observing, quantizing and converting are not offered."""

from __future__ import annotations

from typing import Any

from ... import nn
from ..._missing import NoName


class QuantStub(nn.Module):
    """Where a quantized model would begin: the identity, until it is converted."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        return x


class DeQuantStub(QuantStub):
    """Where a quantized model would end: the identity, until it is converted."""


def disable_observer(mod: object) -> None:
    """Changes nothing: nothing observes."""


enable_observer = disable_fake_quant = enable_fake_quant = disable_observer


def __getattr__(name: str) -> Any:
    import importlib

    if name in ("fuse_modules", "observer", "fake_quantize", "quantize_fx", "fx"):
        return importlib.import_module(f"libdl.ao.quantization.{name}")
    if not name.startswith("_"):
        names = importlib.import_module("libdl.ao.quantization._names")
        if hasattr(names, name):
            return getattr(names, name)
    raise NoName(__name__, name)
