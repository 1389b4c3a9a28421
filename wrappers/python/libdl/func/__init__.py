# SPDX-License-Identifier: Apache-2.0
"""Derivatives as functions of functions. They nest in any order.

A derivative is computed with recording on, whatever the caller's mode. A result has history only if
the caller records and the result depends on something else that requires grad."""

from ._batch_norm import replace_all_batch_norm_modules_
from ._forward import hessian, jacfwd, jvp, linearize
from ._reverse import grad, grad_and_value, jacrev, vjp
from ._stateless import functional_call, stack_module_state
from ._vmap import debug_unwrap, vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
