# SPDX-License-Identifier: Apache-2.0
"""Which differences docs/coming-from-pytorch.md tells of: a line there ends in
<!-- oracle: NAME -->, and NAME is a predicate here. A difference that no line covers is a failure,
and so is a line that covers nothing in a whole run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from case import Run, Seen
from compare import Difference

PAGE = Path(__file__).parents[2] / "docs" / "coming-from-pytorch.md"


@dataclass
class Context:
    """What a predicate looks at."""

    name: str  # the function's; "" for programs
    lines: list[str]
    difference: Difference
    wanted: Run
    found: Run

    @property
    def line(self) -> str:
        d = self.difference
        return self.lines[int(d.where)] if d.aspect in ("outcome", "error") else self.lines[-1]

    @property
    def call(self) -> str:
        """The line that makes the result."""
        for line in self.lines:
            if line.startswith(("r = ", "r, grew = ", "f = ")):
                return line
        return ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def raises(self) -> bool:
        """PyTorch raises, and libdl does not."""
        return self.difference.aspect == "outcome" and self.difference.found == "no error"

    def refuses(self) -> bool:
        """The other way."""
        return self.difference.aspect == "outcome" and self.difference.wanted == "no error"

    def refused(self, *words: str) -> bool:
        return self.raises() and any(w in self.wanted_text() for w in words)

    def forbidden(self) -> bool:
        """PyTorch: a view whose base was written must not be used any more."""
        d = self.difference
        return d.aspect == "kind" and d.wanted == "raises RuntimeError" or self.refused(
            "is a view and", "A view was created in")

    def dtype(self) -> str:
        """The result's."""
        seen = self.wanted.values.get("r") or (self.inputs() or [None])[0]
        return getattr(seen, "dtype", "")

    def found_text(self) -> str:
        return str(self.difference.found)

    def wanted_text(self) -> str:
        return str(self.difference.wanted)

    def inputs(self) -> list[Seen]:
        return [v for k, v in self.wanted.values.items() if isinstance(v, Seen) and len(k) == 1
                and k != "r"]

    def base(self) -> str:
        return self.name.split(".")[-1].rstrip("_")


Predicate = Callable[[Context], bool]
PREDICATES: dict[str, Predicate] = {}


def predicate(made: Predicate) -> Predicate:
    PREDICATES[made.__name__] = made
    return made


# -- accepted by libdl alone -----------------------------------------------------------------------


@predicate
def more_dtypes(c: Context) -> bool:
    """PyTorch's kernels lack a dtype that libdl's have."""
    words = ("not implemented for", "not supported", "does not support", "expected scalar type",
             "not currently supported", "not yet supported", "could not be promoted",
             "Promotion for uint", "unsupported dtype", "only supports", "only floating",
             "must be floating", "can only be applied to", "common dtype to be floating",
             "expected dtype", "to have the same dtype", "Integer division with addcdiv",
             "should be of", "input dtype should be", "same dtype", "is not supported for",
             "only be", "Autograd not support", "Expected floating point type",
             "Expected a floating point or complex", "Bad in-place call")  # fmt: skip
    return c.raises() and any(w in c.wanted_text() for w in words) and (
        "derivative" not in c.wanted_text())


@predicate
def numbers_for_tensors(c: Context) -> bool:
    return c.refused("must be Tensor, not", "invalid combination of arguments", "but got int",
                     "but got float", "expected Tensor", "expected np.ndarray")


@predicate
def more_signatures(c: Context) -> bool:
    words = ("positional argument", "unexpected keyword argument", "takes from",
             "invalid combination of arguments", "missing 1 required", "must be Tensor, not")
    other = c.difference.aspect == "error" and any(w in c.wanted_text() for w in words)
    return other or c.refused(*words)


@predicate
def negative_indices(c: Context) -> bool:
    return c.refused("out of bounds", "out of range") and "-" in c.wanted_text()


@predicate
def overlapping_tangent(c: Context) -> bool:
    return c.refused("more than one element of the written-to") and bool(
        re.search("tangents|gradients|second|dual", c.line))


@predicate
def more_derivatives(c: Context) -> bool:
    return c.refused("derivative for aten::")


@predicate
def out_dtype(c: Context) -> bool:
    if "out=" not in c.call:
        return False
    out = [v for k, v in c.wanted.values.items() if k.startswith("o") and isinstance(v, Seen)]
    return c.refused("dtype", "out type", "result type", "can't be cast", "same scalar type") or (
        c.difference.aspect == "value" and any(o.dtype != c.dtype() for o in out))


# -- refused by libdl alone ------------------------------------------------------------------------


@predicate
def bool_matmul(c: Context) -> bool:
    return c.refuses() and "bool, wanted a numeric dtype" in c.found_text()


@predicate
def empty_dtype(c: Context) -> bool:
    """PyTorch calls no kernel for nothing, and so none complains."""
    nothing = any(v.numbers.size == 0 for v in c.wanted.values.values() if isinstance(v, Seen))
    return nothing and c.refuses() and "DtypeError" in c.found_text()


@predicate
def unheld_numbers(c: Context) -> bool:
    return c.refuses() and bool(re.search(
        r"wanted (a number that|a value that fits|u?int\d+$)", c.found_text()))


@predicate
def inplace_views(c: Context) -> bool:
    if not re.search(r"\.(squeeze|unsqueeze|t|transpose|swapaxes|swapdims)_\(", c.text):
        return False
    return "its history has the old shape" in c.found_text() or c.difference.where == "grew" or (
        c.refused("modified by an inplace operation"))


@predicate
def scatter_products(c: Context) -> bool:
    return c.refuses() and "(reduce) has no gradient" in c.found_text()


@predicate
def logical_in_place(c: Context) -> bool:
    return bool(re.search(r"logical_\w+_\(", c.call)) and c.difference.aspect in (
        "value", "grad", "kind", "requires_grad")


@predicate
def out_shape(c: Context) -> bool:
    return c.refuses() and "out=" in c.text and bool(
        re.search(r"\((dst|out)(\[\d\])?\) has shape", c.found_text()))


@predicate
def empty_reduction(c: Context) -> bool:
    return c.difference.aspect == "error" and "have non-zero size" in c.wanted_text() or (
        "no element to choose from" in c.found_text())


@predicate
def complex_to_real(c: Context) -> bool:
    return c.refuses() and "complex" in c.found_text() and "wanted" in c.found_text() and bool(
        re.search(r"copy_|fill|full|setitem|tensor\(", c.text))


# -- other values ----------------------------------------------------------------------------------


@predicate
def ties(c: Context) -> bool:
    if c.difference.aspect not in ("value", "grad"):
        return False
    return c.base() in ("topk", "kthvalue") and _repeated(c.inputs()[:1])


@predicate
def stable_sort(c: Context) -> bool:
    return c.base() in ("sort", "argsort") and c.difference.aspect == "value" and (
        "stable=True" not in c.call) and _repeated(c.inputs()[:1])


def _repeated(some: list[Seen]) -> bool:
    return any(v.numbers.size > len(np.unique(v.numbers)) for v in some)


@predicate
def float_to_integer(c: Context) -> bool:
    """A number that the integers do not hold is on the way."""
    if c.difference.aspect not in ("value", "dtype"):
        return False
    whole = re.search(r"int|byte|char|short|long|copy_|T\.bool|type_as|to\(", c.text)
    some = [v.numbers for v in c.inputs() if v.numbers.dtype.kind in "fc"]
    far = any(not np.isfinite(x).all() or (np.abs(x) >= 127).any() or (x.real < 0).any()
              for x in some)
    target = [v for v in c.wanted.values.values() if isinstance(v, Seen)]
    return bool(whole) and far and any(v.dtype.startswith(("int", "uint")) for v in target)


@predicate
def wrapped_numbers(c: Context) -> bool:
    """uint8_tensor > -3."""
    ranges = [np.iinfo(v.dtype) for v in c.inputs() if v.dtype.startswith(("int", "uint"))]
    if c.difference.aspect != "value" or not ranges:
        return False
    some = [float(n) for n in re.findall(r"(?<![\w.])-?\d+\.?\d*|inf|nan", c.call)]
    some += [float(v.numbers) for v in c.inputs() if not v.shape and v.numbers.dtype.kind in "iuf"]
    low, high = max(r.min for r in ranges), min(r.max for r in ranges)
    return any(not low <= n <= high for n in some)


@predicate
def sign_of_nan(c: Context) -> bool:
    before = [v for run in (c.wanted, c.found) for v in run.values.values() if isinstance(v, Seen)]
    nans = any(np.isnan(v.numbers).any() for v in before if v.numbers.dtype.kind in "fc")
    words = r"\b(sign|sgn|abs|absolute|l1_loss|norm|normalize|cosine_similarity)_?\b|__abs__"
    return nans and c.difference.aspect in ("value", "grad", "tangent") and bool(
        re.search(words, c.name + c.text))


@predicate
def gradients_beside_nan(c: Context) -> bool:
    """PyTorch divides by how many are the largest, or by the factor, and all become NaN."""
    w, f = c.difference.wanted, c.difference.found
    if c.difference.aspect not in ("value", "grad") or not isinstance(w, np.ndarray):
        return False
    if not isinstance(f, np.ndarray) or w.shape != f.shape or w.dtype.kind not in "fc":
        return False
    finer = bool(np.isnan(w[~((w == f) | (np.isnan(w) & np.isnan(f)))]).all())
    return finer and np.isnan(w).any() and bool(
        re.search(r"\b(amax|amin|aminmax|max|min|prod)\(", c.text))


@predicate
def product_times_zero(c: Context) -> bool:
    return c.difference.aspect in ("value", "grad") and bool(re.search(r"alpha=(0\b|False)", c.call))


@predicate
def index_of_nothing(c: Context) -> bool:
    return c.refuses() and "no index into a dimension of size 0" in c.found_text()


@predicate
def reentrant_checkpoints(c: Context) -> bool:
    return "use_reentrant=True" in c.text and c.refused(
        "backward through the graph a second time", "When use_reentrant=True")


@predicate
def writes_of_nothing(c: Context) -> bool:
    return c.refused("modified by an inplace operation") and any(
        v.numbers.size == 0 for v in c.wanted.values.values() if isinstance(v, Seen))


@predicate
def topk_of_one(c: Context) -> bool:
    return c.refuses() and c.base() == "topk" and "for input is 0-d" in c.found_text()


@predicate
def inference_tensors(c: Context) -> bool:
    if "inference_mode" not in c.text:
        return False
    d = c.difference
    return d.aspect == "tangent" and (d.wanted is None or d.found is None) or c.refused("Inplace update to inference tensor") or (
        c.refuses() and "inference mode" in c.found_text())


@predicate
def limits_of_silu(c: Context) -> bool:
    low = any((v.numbers == -np.inf).any() for v in c.inputs() if v.numbers.dtype.kind in "fc")
    return low and c.difference.aspect == "value" and bool(re.search("silu|gelu", c.name))


@predicate
def all_of_nothing(c: Context) -> bool:
    return c.base() in ("all", "any") and ("()" in c.call or c.dtype() == "uint8")


@predicate
def power_at_zero(c: Context) -> bool:
    zero = re.search(r"False \*\*|\b0(\.0)? \*\*|pow", c.text) is not None
    zero |= any((v.numbers == 0).any() for v in c.inputs())
    wanted = c.difference.wanted
    endless = isinstance(wanted, np.ndarray) and not np.isfinite(wanted).all()
    return zero and endless and c.difference.aspect in ("value", "grad", "tangent") and (
        "pow" in c.name or "**" in c.text)


@predicate
def conj_copy(c: Context) -> bool:
    return c.difference.aspect == "view" and "conj" in c.text or c.name == "property.H" and (
        c.difference.aspect in ("view", "stride"))


@predicate
def fewer_warnings(c: Context) -> bool:
    return c.difference.aspect == "warning" and set(c.found.warned) < set(c.wanted.warned) and (
        c.name not in ("F.mse_loss", "F.l1_loss") or "size_average" in c.call or "reduce=" in c.call)


@predicate
def views_without_grad(c: Context) -> bool:
    """Made under no_grad, or before the base required grad: PyTorch says that they require grad,
    gives them gradients of their own, and forbids writes to their base."""
    made = re.search(r"no_grad|inference_mode|set_grad_enabled\(False\)|requires_grad", c.text)
    d = c.difference
    quirk = d.aspect == "requires_grad" and d.wanted is True and d.found is False
    quirk |= d.aspect == "is_leaf" and d.wanted is False
    # A view of a base that required grad later, and was written before.
    quirk |= d.aspect == "grad" and bool(re.search(r"requires_grad(_\(\)| = True)", c.text))
    said = c.refuses() and "does not require grad" in c.found_text()
    return bool(made) and (quirk or said or c.forbidden())


@predicate
def views_of_several(c: Context) -> bool:
    made = re.search(r"unbind|split|chunk|Same\.apply", c.text)
    return bool(made) and c.forbidden()


@predicate
def with_itself(c: Context) -> bool:
    """x *= x."""
    name = r"\b(\w+)(?:\[[^]]*\])?"
    own = re.search(name + r"(?:\.\w+_\((?:.*\W)?\1\b| [-+*/]= \1\b)|\((\w+), .*out=\2\b", c.text)
    return own is not None and c.refused("modified by an inplace operation")


@predicate
def retained_views(c: Context) -> bool:
    kept = "retain_grad" in c.text and c.difference.wanted is None
    hooked = re.search(r"(\w+)\.register_hook", c.text)
    view = hooked and re.search(rf"^{hooked[1]} = \w+(\[|\.)", c.text, re.MULTILINE)
    written = re.search(r"_\(|\] [-+*]?= ", re.sub(r"requires_grad_\(|\w+hook\(", "", c.text))
    if not written:
        return False
    of_node = c.difference.where == "seen" and ".grad_fn.register_" in c.text
    # What flows to the view as it is after the write: PyTorch has a new node there.
    asked = c.difference.aspect == "kind" and c.difference.wanted is None and re.search(
        rf"^{re.escape(c.difference.where)} = T.autograd.grad\(", c.text, re.MULTILINE)
    return of_node or bool(asked) or c.difference.aspect == "grad" and bool(kept or view)


@predicate
def defects_of_pytorch(c: Context) -> bool:
    """Tangents that PyTorch doubles: x.addcmul_(x, x), std(dim=())."""
    own = re.search(r"(\w+)\.(addcmul|addcdiv|lerp|mul|div|pow)_\(.*\b\1\b|(\w+) [*/]= \3\b", c.text)
    tangent = c.difference.aspect == "tangent" or c.difference.where.startswith("t[")
    if c.difference.aspect == "requires_grad" and c.difference.wanted is False:
        return bool(re.search(r"Double_\.apply", c.text)) and bool(
            re.search(r"no_grad|set_grad_enabled\(False\)", c.text))
    if c.refused("Expected isFloatingType(grad.scalar_type())"):
        return True
    wider = {str(c.difference.wanted), str(c.difference.found)} == {"float64", "float32"}
    return tangent and (wider or own is not None or c.base() in ("std", "var") and "()" in c.call)


@predicate
def failed_calls(c: Context) -> bool:
    """PyTorch has written a part when it raises."""
    failed = [line for line, o in zip(c.lines, c.wanted.outcomes, strict=False) if o]
    if c.difference.aspect == "grad" and any("backward(" in line for line in failed):
        return True
    return c.difference.aspect in ("value", "shape") and any(
        re.search(r"_\(|out=|\.__\w+__\(|[-+*/]= |\] = ", line) for line in failed)


@predicate
def kinds_of_lists(c: Context) -> bool:
    return c.difference.aspect == "error" and bool(re.search(r"tensor\(|asarray\(|from_dlpack\(", c.call))


@predicate
def out_in_place(c: Context) -> bool:
    own = re.search(r"T\.\w+\((?=.*\b(\w+)\b.*out=\1\))", c.text)
    return own is not None and c.refused("don't support automatic differentiation")


@predicate
def detached_views(c: Context) -> bool:
    return c.refused("Can't detach views in-place")


@predicate
def overlapping_copies(c: Context) -> bool:
    return c.refuses() and bool(re.search(
        "shares some of its memory with an operand|elements that share an address",
        c.found_text()))


@predicate
def replaced_data(c: Context) -> bool:
    changed = c.difference.aspect in ("grad", "value")
    return ".data = " in c.text and (changed or c.refused("modified by an inplace operation"))


def declared() -> dict[str, int]:
    """The names on the page, and their lines."""
    found = {}
    for n, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        for names in re.findall(r"<!-- oracle: ([\w, ]+) -->", line):
            for name in re.split(r"[, ]+", names):
                found[name] = n
    return found


def covering(context: Context, known: Any) -> str | None:
    """The name of the line that covers it."""
    for name in known:
        if PREDICATES[name](context):
            return name
    return None
