# SPDX-License-Identifier: Apache-2.0
"""Known differences of programs: views, writes, histories, tangents."""

from __future__ import annotations

import re

from known import Context, predicate


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
