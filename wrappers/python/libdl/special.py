# SPDX-License-Identifier: Apache-2.0
"""Special functions, under the names of torch.special."""

from __future__ import annotations

from ._C import overridable
from . import _C
from ._functions import (
    digamma as digamma,
    erf as erf,
    erfc as erfc,
    erfcx as erfcx,
    erfinv as erfinv,
    exp2 as exp2,
    expm1 as expm1,
    i0 as i0,
    i0e as i0e,
    i1 as i1,
    i1e as i1e,
    log1p as log1p,
    log_ndtr as log_ndtr,
    logsumexp as logsumexp,
    ndtr as ndtr,
    ndtri as ndtri,
    polygamma as polygamma,
    round as round,
    sigmoid as expit,
)
from ._functions import digamma as psi, igamma as gammainc, igammac as gammaincc, lgamma as gammaln
from ._functions import logit as logit, sinc as sinc, xlog1py as xlog1py, xlogy as xlogy
from ._overrides import own_functions

__all__ = [
    "digamma",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]


@overridable
def softmax(input: _C.Tensor, dim: int, *, dtype: object = None) -> _C.Tensor:
    """See libdl.softmax."""
    return input.softmax(dim, dtype=dtype)  # type: ignore[arg-type]


@overridable
def log_softmax(input: _C.Tensor, dim: int, *, dtype: object = None) -> _C.Tensor:
    """See libdl.log_softmax."""
    return input.log_softmax(dim, dtype=dtype)  # type: ignore[arg-type]


# digamma and psi are the same, but a class or mode sees which one was called.
own_functions(globals(), set(__all__) - {"log_softmax", "softmax"})
