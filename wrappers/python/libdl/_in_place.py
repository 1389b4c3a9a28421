# SPDX-License-Identifier: Apache-2.0
"""In-place methods as functions, as PyTorch has them: relu_(x) is x.relu_()."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._C import Tensor, overridable

__all__ = [
    "abs_", "acos_", "acosh_", "addmv_", "arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_",
    "arctanh_", "as_strided_", "asin_", "asinh_", "atan_", "atanh_", "ceil_", "clamp_",
    "clamp_max_", "clamp_min_", "clip_", "conj_physical_", "cos_", "cosh_", "deg2rad_", "detach_",
    "erf_", "erfc_", "exp2_", "exp_", "expm1_", "fill_", "fix_", "floor_", "frac_", "gcd_", "i0_",
    "index_put_", "lcm_", "ldexp_", "log10_", "log1p_", "log2_", "log_", "logit_", "nan_to_num_", "neg_",
    "negative_", "rad2deg_", "reciprocal_", "relu_", "resize_as_", "round_", "rsqrt_", "sigmoid_",
    "sin_", "sinc_", "sinh_", "sqrt_", "square_", "tan_", "tanh_", "trunc_", "xlogy_", "zero_",
]  # fmt: skip


def _of_method(name: str) -> Callable[..., Tensor]:
    @overridable
    def function(input: Tensor, *args: Any, **named: Any) -> Tensor:
        made: Tensor = getattr(input, name)(*args, **named)
        return made

    function.__name__ = function.__qualname__ = name
    function.__module__ = "libdl"
    function.__doc__ = f"input.{name}(...): writes the result into input, and returns it."
    return function


(
    abs_, acos_, acosh_, addmv_, arccos_, arccosh_, arcsin_, arcsinh_, arctan_,
    arctanh_, as_strided_, asin_, asinh_, atan_, atanh_, ceil_, clamp_,
    clamp_max_, clamp_min_, clip_, conj_physical_, cos_, cosh_, deg2rad_, detach_,
    erf_, erfc_, exp2_, exp_, expm1_, fill_, fix_, floor_, frac_, gcd_, i0_,
    index_put_, lcm_, ldexp_, log10_, log1p_, log2_, log_, logit_, nan_to_num_, neg_,
    negative_, rad2deg_, reciprocal_, relu_, resize_as_, round_, rsqrt_, sigmoid_,
    sin_, sinc_, sinh_, sqrt_, square_, tan_, tanh_, trunc_, xlogy_, zero_,
) = map(_of_method, __all__)  # fmt: skip
