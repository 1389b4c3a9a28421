# SPDX-License-Identifier: Apache-2.0
"""PyTorch's torch.special: functions that libdl itself has, under their second path or name."""

from __future__ import annotations

from typing import Any

# Names of PyTorch, and of libdl where they differ; each is answered as soon as libdl has it.
_NAMES = {
    "digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2",
    "expit": "sigmoid", "expm1": "expm1", "gammaln": "lgamma", "i0": "i0", "log1p": "log1p",
    "log_softmax": "log_softmax", "logit": "logit", "logsumexp": "logsumexp",
    "multigammaln": "mvlgamma", "polygamma": "polygamma", "psi": "digamma", "round": "round",
    "sinc": "sinc", "softmax": "softmax", "xlogy": "xlogy",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    import libdl

    if name in _NAMES and hasattr(libdl, _NAMES[name]):
        return getattr(libdl, _NAMES[name])
    from ._missing import explain

    raise AttributeError(explain(name, __name__))


def __dir__() -> list[str]:
    import libdl

    return [name for name, own in _NAMES.items() if hasattr(libdl, own)]
