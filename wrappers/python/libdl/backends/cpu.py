# SPDX-License-Identifier: Apache-2.0
"""The processor's instructions, as PyTorch names them."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """ "AVX512", "AVX2" or "DEFAULT": the widest that kernels use here."""
    from ..__config__ import config

    text = config().lower()
    return (
        "AVX512" if "avx512" in text or "avx3" in text else "AVX2" if "avx2" in text else "DEFAULT"
    )
