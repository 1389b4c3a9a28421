# SPDX-License-Identifier: Apache-2.0
"""Known differences: what one of the two libraries refuses."""

from __future__ import annotations

import re

import numpy as np
from case import Seen
from known import Context, lines_with, predicate

# -- accepted by libdl alone -----------------------------------------------------------------------


@predicate
def more_dtypes(c: Context) -> bool:
    """PyTorch's kernels lack a dtype that libdl's have."""
    words = (
        "not implemented for",
        "not supported",
        "does not support",
        "expected scalar type",
        "not currently supported",
        "not yet supported",
        "could not be promoted",
        "Promotion for uint",
        "unsupported dtype",
        "only supports",
        "only floating",
        "must be floating",
        "can only be applied to",
        "common dtype to be floating",
        "expected dtype",
        "to have the same dtype",
        "Integer division with addcdiv",
        "should be of",
        "input dtype should be",
        "same dtype",
        "is not supported for",
        "only be",
        "Autograd not support",
        "Expected floating point type",
        "Expected a floating point or complex",
        "Bad in-place call",
        "convertible without narrowing",
        "dtype should be real for real",
        "dtype should be complex for complex",
        "converted to type int64_t without overflow",
        "convert negative int to unsigned",
        "Unsupported input type encountered for isin",
        "could not infer output dtype",
    )
    return (
        c.raises()
        and any(w in c.wanted_text() for w in words)
        and ("derivative" not in c.wanted_text())
    )


@predicate
def numbers_for_tensors(c: Context) -> bool:
    """clamp: beside a number PyTorch takes a tensor of no dimension for one, too."""
    if c.base() in ("clamp", "clip") and c.difference.aspect == "dtype":
        bound = [v for v in c.inputs()[1:] if not v.shape and v.dtype == c.found_text()]
        return len(c.inputs()) == 2 and bool(bound)
    if c.base() in ("clamp", "clip") and c.refuses():
        return "complex" in c.found_text() and any(
            not v.shape and v.dtype.startswith("complex") for v in c.inputs()[1:]
        )
    beyond = re.search(r"value (-?\d+) is outside the representable range", c.wanted_text())
    if c.base() in ("clamp", "clip") and beyond and c.raises():
        return any(not v.shape and v.numbers == int(beyond[1]) for v in c.inputs()[1:])
    if c.base() in ("clamp", "clip") and c.derivative():  # ties share it, as between tensors
        return c.gone(
            lines_with(
                c.lines, lambda n, line: _numbers_as_tensors(line) if (line == c.call) else None
            )
        )
    if not c.refused(
        "must be Tensor, not",
        "invalid combination of arguments",
        "but got int",
        "but got float",
        "expected Tensor",
        "expected np.ndarray",
        "object cannot be interpreted as an integer",
        "an integer is required",
    ):
        return False
    if not re.search(
        r"addc(mul|div)|logical|m(ax|in)imum|isclose|allclose|equal|lerp|cl[ai]mp", c.line
    ):
        return True  # the numbers of others are no operands

    def tensors(n: int, line: str) -> str | None:
        return _numbers_as_tensors(line) if line in (c.call, c.line) else None

    return c.gone(lines_with(c.lines, tensors))


def _numbers_as_tensors(line: str) -> str:
    number = r"(-?[\d.]+|True|False|[\d.]+j|[\d.]+ \+ [\d.]+j|-?float\('[^']*'\))"
    if "lerp" in line:  # whose operands have one dtype
        x = re.search(r"lerp\((\w+), |(\w+)\.lerp_?\(", line)
        like = f"{x[1] or x[2]}.new_tensor" if x else "T.tensor"
        return re.sub(rf"(?<=[(, ]){number}(?=,)", rf"{like}(\1)", line)
    mark = "(?<=[(, ]|=)" if re.search(r"cl(am|i)p", line) else "(?<=[(, ])"
    return re.sub(rf"{mark}{number}(?=[,)])", r"T.tensor(\1)", line)


@predicate
def more_signatures(c: Context) -> bool:
    words = (
        "positional argument",
        "unexpected keyword argument",
        "takes from",
        "invalid combination of arguments",
        "missing 1 required",
        "must be Tensor, not",
        "must be int, not NoneType",
        "must be a 2-tuple",
    )
    other = c.difference.aspect == "error" and any(w in c.wanted_text() for w in words)
    return other or c.refused(*words)


@predicate
def bias_of_a_vector(c: Context) -> bool:
    """linear with a vector as weight; PyTorch takes a bias there by its shape and the strides."""
    return c.base() == "linear" and c.refused("mat2 must be a matrix")


@predicate
def negative_indices(c: Context) -> bool:
    words = (
        r"(gather|scatter|scatter_add|index_select|index_add|index_copy|index_fill|index_put|"
        r"take_along_dim|embedding|embedding_bag|index_reduce|scatter_reduce)_?$"
    )
    below_zero = "-" in c.wanted_text() or ") - 1" in c.text
    return (
        bool(re.search(words, c.name))
        and below_zero
        and (c.refused("out of bounds", "out of range", "out of DATA bounds", "Expected idx >= 0"))
    )


@predicate
def products_of_views(c: Context) -> bool:
    """kron of what is not contiguous, which PyTorch's view refuses."""
    return c.base() == "kron" and c.refused("view size is not compatible")


@predicate
def overlapping_tangent(c: Context) -> bool:
    return c.refused("more than one element of the written-to") and bool(
        re.search("tangents|gradients|second|dual", c.line)
    )


@predicate
def more_derivatives(c: Context) -> bool:
    factor = re.search("addc(mul|div)", c.name) and re.search("gradients|second|tangents", c.line)
    if c.base() == "cumprod" and "gradients" in c.line and c.refused("the desired output type"):
        return True  # of dtype=complex
    if re.fullmatch("(a|arc)(cosh|sinh|tanh)", c.base()) and c.refused("for 'inplace version of"):
        return True
    words = "is not differentiable with respect to argument "
    if c.base() == "soft_margin_loss" and c.refused(words + "'target'"):
        return True
    if c.base() == "binary_cross_entropy_with_logits" and c.refused(
        words + "'weight'", words + "'pos_weight'"
    ):
        return True
    return c.refused("derivative for aten::", "Index to scalar can have only 1 value") or (
        bool(factor) and c.refused("cannot be converted to type", "Expected isFloatingType")
    )


@predicate
def out_dtype(c: Context) -> bool:
    if "out=" not in c.call:
        return False
    out = [v for k, v in c.wanted.values.items() if k.startswith("o") and isinstance(v, Seen)]
    if c.refuses() and "wanted a dtype that holds" in c.found_text():
        return c.base() in ("sum", "prod", "mean", "cumsum", "cumprod", "nansum", "logsumexp")
    words = (
        "dtype",
        "out type",
        "result type",
        "can't be cast",
        "same scalar type",
        "to have scalar type",
    )
    if c.refused(*words):
        return True
    # Rounded in another place: as many digits as the narrower dtype has.
    if not any(o.dtype != v.dtype for o in out for v in c.inputs()):
        return False

    def rounded_once(n: int, line: str) -> str | None:
        call = re.fullmatch(r"r = (T\.\w+\()(.*), out=(\w+)\)", line)
        if not call:
            return None
        rest = call[2]
        for name, v in c.wanted.values.items():
            if isinstance(v, Seen) and v.numbers.dtype.kind in "iuf" and name[0] != "o":
                rest = re.sub(rf"(?<![\w.']){name}(?![\w(='])", f"{name}.double()", rest)
        return f"r = {call[3]}.copy_({call[1]}{rest}))"

    return c.only_where(
        lambda w, f: np.isclose(w, f, rtol=1e-2 if "float16" in c.text else 1e-5, atol=1e-5),
        lambda w, f: np.mod((w.astype(complex) - f).real, 256) == 0,
    ) or (  # wrapped in the narrow one
        c.gone(lines_with(c.lines, rounded_once))
    )


# -- refused by libdl alone ------------------------------------------------------------------------


@predicate
def empty_dtype(c: Context) -> bool:
    """PyTorch calls no kernel for nothing, nor for one number in kthvalue and cumsum_, and
    so none complains."""
    nothing = any(v.numbers.size == 0 for v in c.wanted.values.values() if isinstance(v, Seen))
    nothing |= re.search(r"\(0, \d|\d, 0\)|\(0,\)", c.call) is not None
    nothing |= re.search(r"make\('\w+', \([^)]*\b0\b", c.text) is not None
    one = any(not v.shape for v in c.inputs())
    nothing |= one and c.base() in ("kthvalue", "cumsum", "cumprod")
    return nothing and c.refuses() and "DtypeError" in c.found_text()


@predicate
def unheld_numbers(c: Context) -> bool:
    return c.refuses() and bool(
        re.search(r"wanted (a number that|a value that fits|u?int\d+$)", c.found_text())
    )


@predicate
def inplace_views(c: Context) -> bool:
    if not re.search(r"\.(squeeze|unsqueeze|t|transpose|swapaxes|swapdims)_\(", c.text):
        return False
    return (
        "its history has the old shape" in c.found_text()
        or c.difference.where == "grew"
        or (c.refused("modified by an inplace operation"))
    )


@predicate
def scatter_products(c: Context) -> bool:
    return c.refuses() and "(reduce) has no gradient" in c.found_text()


@predicate
def logical_in_place(c: Context) -> bool:
    return bool(re.search(r"logical_\w+_\(", c.call)) and c.difference.aspect in (
        "value",
        "grad",
        "kind",
        "requires_grad",
    )


@predicate
def out_shape(c: Context) -> bool:
    return (
        c.refuses()
        and "out=" in c.text
        and bool(re.search(r"\((dst|out)(\[\d\])?\) has shape", c.found_text()))
    )


@predicate
def empty_reduction(c: Context) -> bool:
    return (
        c.difference.aspect == "error"
        and "have non-zero size" in c.wanted_text()
        or ("no element to choose from" in c.found_text())
    )


@predicate
def complex_to_real(c: Context) -> bool:
    return (
        c.refuses()
        and "complex" in c.found_text()
        and "wanted" in c.found_text()
        and bool(re.search(r"copy_|fill|full|setitem|tensor\(|asarray\(", c.text))
    )


@predicate
def wrong_in_two_ways(c: Context) -> bool:
    """Both raise; which of two wrong arguments is told first is nobody's promise."""
    other = (
        "Dimension out of range",
        "is not a valid value for reduction",
        "probability has to be between",
    )
    told = c.found_text().startswith(("DtypeError", "AutogradError"))
    if c.name == "__setitem__" and re.search(
        "without overflow|negative int to unsigned", c.wanted_text()
    ):
        return c.found_text().startswith("Index")
    if c.base() == "threshold" and "not implemented for" in c.wanted_text():
        return "OverflowError" in c.found_text()  # a number that the dtype does not hold, either
    return c.difference.aspect == "error" and told and any(w in c.wanted_text() for w in other)


@predicate
def recurrent_dtypes(c: Context) -> bool:
    """Recurrent networks and cells of integers or complex numbers."""
    return (
        bool(re.fullmatch(r"(rnn_tanh|rnn_relu|lstm|gru)(_cell)?", c.base()))
        and c.refuses()
        and ("argument 1 (input)" in c.found_text() and "wanted a floating dtype" in c.found_text())
    )


@predicate
def cropped_circles(c: Context) -> bool:
    """Circular padding of a dimension that a negative pad crops: PyTorch reads what it has cut off."""
    return (
        c.base() == "pad"
        and "'circular'" in c.call
        and "-" in c.call
        and c.refuses()
        and ("wanted at most the size" in c.found_text())
    )


@predicate
def last_windows(c: Context) -> bool:
    """Of fractional pooling in 3d: as many windows as fit."""
    return "fractional_max_pool3d" in c.name and c.refused("too large relative to input")


@predicate
def floating_alone(c: Context) -> bool:
    """Losses, bilinear forms and lp_pool of dtypes that they hardly have a meaning for."""
    words = (
        r"dropout\dd|bilinear|cosine_embedding_loss|triplet_margin_loss|poisson_nll_loss|lp_pool\dd"
    )
    return (
        bool(re.fullmatch(words, c.base()))
        and c.refuses()
        and bool(re.search("wanted (a )?floating|wanted a real dtype", c.found_text()))
    )
