# SPDX-License-Identifier: Apache-2.0
"""PyTorch's private path of libdl.func's transformations."""

from ..func import (
    functional_call as functional_call,
    grad as grad,
    grad_and_value as grad_and_value,
    hessian as hessian,
    jacfwd as jacfwd,
    jacrev as jacrev,
    jvp as jvp,
    vjp as vjp,
)
