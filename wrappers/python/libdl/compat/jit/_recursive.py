# SPDX-License-Identifier: Apache-2.0
"""Where PyTorch's compiler keeps what it compiled: nothing is."""

from __future__ import annotations

from typing import Any


class _ConcreteTypeStore:
    type_store: dict[Any, Any] = {}


concrete_type_store = _ConcreteTypeStore()
