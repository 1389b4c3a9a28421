# SPDX-License-Identifier: Apache-2.0
"""Known differences of programs: views, writes, histories, tangents.

Where it can be done, a predicate changes the program for PyTorch alone into one that says what libdl
does, and looks whether the difference is gone then: so it covers that cause and no other."""

from __future__ import annotations

import re

import numpy as np

from known import Context, lines_with, predicate
from traces import bound_by, names_in, written_by

# What PyTorch says of a history that libdl does not have.
OF_HISTORY = ("is a view and", "A view was created in", "is a view of a view which was created in",
              "modified by an inplace operation", "a leaf Variable that requires grad",
              "a view of a leaf Variable", "requires_grad flags of leaf",
              "backward through the graph a second time", "derivative")  # fmt: skip


@predicate
def views_without_grad(c: Context) -> bool:
    """Made under no_grad, or before the base required grad: PyTorch says that they require grad,
    gives them gradients of their own, and forbids writes to their base."""
    if c.name:
        return False
    t, d = c.trace, c.difference
    apart = t.apart(c.until)
    if not apart:
        return False
    reached, near = t.reached(apart, c.until), t.sharing(apart, c.until)
    if d.aspect in ("requires_grad", "is_leaf", "grad"):
        return d.where in reached | near
    said = c.refuses() and bool(re.search("does not require grad|'NoneType' object has no attr|"
                                          "only that of a leaf variable|none of output has req", c.found_text()))
    raised = c.refused(*OF_HISTORY) or d.aspect == "kind" and d.wanted == "raises RuntimeError"
    return (said or raised) and bool(c.subjects & (reached | t.sharing(reached, c.until)))


@predicate
def views_of_several(c: Context) -> bool:
    error = c.difference.aspect == "error" and "is a view and" in c.wanted_text()
    if c.name or not (error or c.forbidden()):
        return False
    t = c.trace
    several = {name for facts in t.after for name, f in facts.items()
               if f.origin.startswith(("MULTI_OUTPUT", "IN_CUSTOM"))}
    return bool(c.subjects & t.reached(several, c.until))


def unshared(c: Context, lines: list[str] | None = None) -> list[str]:
    """Operands over the memory that is written are copied first."""
    def change(n: int, line: str) -> str | None:
        written = written_by(line)
        if not written or n > c.until or "out=" in line:
            return None
        mark = re.search(r"_\(| [-+*/]= |\] = ", line)
        if not mark:
            return None
        begin, rest = line[: mark.end()], line[mark.end():]
        for name in names_in(rest):
            if name == written or c.trace.share(name, written, n):
                rest = re.sub(rf"\b{name}\b", f"{name}.clone()", rest)
        return begin + rest
    return lines_with(lines or c.lines, change)


@predicate
def with_itself(c: Context) -> bool:
    """x *= x, x.mul_(a view of x)."""
    of_write = c.difference.aspect == "tangent" or c.refused(
        "modified by an inplace operation", "refer to a single memory location")
    return c.name == "" and of_write and c.gone(unshared(c))


@predicate
def retained_views(c: Context) -> bool:
    """Of views that were written since, through them or their base."""
    if c.name:
        return False
    d, old = c.difference, c.trace.old_views(c.until)
    if d.aspect == "kind" and d.wanted is None:
        asked = re.search(rf"^{re.escape(d.where)} = T.autograd.grad\(.*, (\w+), allow", c.text, re.M)
        return bool(asked) and asked[1] in old
    kept = set(re.findall(r"\b(\w+)\.(?:retain_grad\(|register_hook|grad_fn\.register_)", c.text))
    kept |= set(re.findall(r"inputs=\[(\w+)\]", c.text))
    if d.aspect == "grad" and d.where in kept & old:
        return True
    hooked = set(re.findall(r"\b(\w+)\.(?:register_hook|grad_fn\.register_)", c.text))
    asked = any("autograd.grad(" in line and bound_by(line) == d.where for line in c.lines)
    return bool(hooked & old) and (d.aspect == "grad" or asked or d.where.startswith("seen"))


@predicate
def written_by_functions(c: Context) -> bool:
    """PyTorch drops the .grad and the hooks of what a custom function writes."""
    if c.name:
        return False
    d = c.difference
    written = c.trace.objects(set(re.findall(r"Double_\.apply\((\w+)\)", c.text)), c.until)
    hooked = set(re.findall(r"\b(\w+)\.(?:register_hook|retain_grad)", c.text)) & written
    return d.aspect == "grad" and d.where in written and d.wanted is None or bool(hooked) and (
        d.aspect == "grad" or d.where.startswith("seen"))


@predicate
def defects_of_pytorch(c: Context) -> bool:
    d = c.difference
    if d.aspect == "requires_grad" and d.wanted is False:
        written = set(re.findall(r"Double_\.apply\((\w+)\)", c.text))
        made = {bound_by(line) for line in c.lines if "Double_.apply" in line}
        return d.where in c.trace.objects(written, c.until) | made and bool(
            re.search(r"no_grad|set_grad_enabled\(False\)", c.text))
    if c.refused("Expected isFloatingType(grad.scalar_type())", "INTERNAL ASSERT FAILED"):
        return True
    if d.aspect == "tangent" and isinstance(d.wanted, tuple):
        return d.wanted != c.wanted.values[d.where].shape
    tangent = d.aspect == "tangent" or d.where.startswith("t[")
    wider = {str(d.wanted), str(d.found)} == {"float64", "float32"}
    own = re.search(r"(\w+)\.(addcmul|addcdiv|lerp|mul|div|pow)_\(.*\b\1\b", c.call)
    return tangent and (wider or own is not None or c.base() in ("std", "var") and "()" in c.call)


@predicate
def failed_calls(c: Context) -> bool:
    """PyTorch has written a part when it raises: without the calls that fail there is no difference."""
    fails = [n for n in range(c.until) if c.wanted.outcomes[n] and c.found.outcomes[n]]
    if c.difference.aspect not in ("outcome", "error") and c.wanted.outcomes[-1] and (
            c.found.outcomes[-1]):
        fails.append(len(c.lines) - 1)
    if not fails:
        return False
    rest = lines_with(c.lines, lambda n, line: "pass" if n in fails else None)
    return c.gone(rest, rest) or c.gone(unshared(c, rest), rest)


@predicate
def kinds_of_lists(c: Context) -> bool:
    if c.difference.aspect != "error":
        return False
    nested = re.search(r"tensor\(|asarray\(", c.call) and (
        c.found_text().startswith(("ValueError", "TypeError: tensor: found")))
    return bool(nested) or "from_dlpack(" in c.call and c.found_text().startswith("TypeError")


@predicate
def out_in_place(c: Context) -> bool:
    if not c.refused("don't support automatic differentiation"):
        return False
    own = re.search(r"T\.\w+\((?=.*\b(\w+)\b.*out=\1\))", c.text)
    line = c.lines[c.until]
    out = written_by(line)
    same = out and any(c.trace.share(out, name, c.until) for name in names_in(line) - {out})
    return own is not None or bool(same)


@predicate
def out_views(c: Context) -> bool:
    """T.add(x, y, out=x[2:]) with nothing in x[2:]."""
    if c.name or c.difference.aspect != "value":
        return False
    for n, line in enumerate(c.lines):
        out = re.search(r"out=([a-z]\d*)\)", line)
        before = c.trace.after[n - 1].get(out[1]) if out and n else None
        if before and before.view and 0 in before.elements[1]:
            return c.difference.where in c.trace.sharing({out[1]}, c.until)
    return False


@predicate
def hooks_without_gradient(c: Context) -> bool:
    """Of leaves that are gone or require grad no more; or PyTorch gives None."""
    if c.refused("'NoneType' object has no attribute"):
        return "hook(" in c.text
    hooked = set(re.findall(r"\b(\w+)\.register_post_accumulate_grad_hook", c.text))
    ended = set(re.findall(r"^(?:del (\w+)$|(\w+)\.(?:requires_grad_\(F|detach_))", c.text, re.M))
    ended = {name for names in ended for name in names if name}
    lost = not c.name and c.trace.objects(hooked, c.until) & ended
    none = "register_post_accumulate_grad_hook" in c.text and re.search(
        r"Pair\.apply\(\w+, [a-z]", c.text)
    return c.difference.where.startswith("seen") and bool(lost or none)


@predicate
def leaves_in_the_graph(c: Context) -> bool:
    return c.refused("leaf variable has been moved into the graph interior")


@predicate
def leaves_of_another_shape(c: Context) -> bool:
    said = "which the leaf has had since it was used|add: argument 0 .dst. has shape"
    return c.refuses() and "backward(" in c.line and bool(
        re.search(said, c.found_text()) and re.search(r"\.(t|unsqueeze)_\(", c.text))


@predicate
def writes_of_views_twice(c: Context) -> bool:
    """PyTorch frees a write of a view, also where its rule reads nothing."""
    reads_nothing = re.compile(
        r"\.(add|sub|zero|fill|copy|lerp|neg|index_fill|masked_fill|gt)_\(| [-+]= |\] = ")
    return c.refused("backward through the graph a second time") and any(
        reads_nothing.search(line) and _writes_view(c, n, line)
        for n, line in enumerate(c.lines[: c.until]))


def _writes_view(c: Context, n: int, line: str) -> bool:
    written = written_by(line)
    facts = c.trace.after[n].get(written) if written else None
    return facts is not None and facts.requires_grad and (
        facts.view or re.search(rf"\b{written}\[", line) is not None)


@predicate
def late_histories(c: Context) -> bool:
    """PyTorch lets a view be written once its grad_fn has been looked at."""
    written = written_by(c.lines[c.until])
    return c.refused("is being used in an in-place operation") and c.gone(lines_with(
        c.lines, lambda n, line: f"{written}.grad_fn; {line}" if n == c.until else None))


@predicate
def values_of_data(c: Context) -> bool:
    """What was saved of x.data is what x has now: PyTorch does not notice the write."""
    if not c.refuses() or not re.search("modified by an in-place op|was overwritten after the forw",
                                        c.found_text()):
        return False
    plain = lines_with(c.lines, lambda n, line: re.sub(r"\.data\b(?! = )", ".detach()", line))
    return bool(c.theirs.run(plain, c.forward).outcomes[c.until])


@predicate
def detached_bases(c: Context) -> bool:
    """PyTorch's views lose their history once the memory is written."""
    detached = c.trace.sharing(set(re.findall(r"^(?:\w+ = )?(\w+)\.detach_\(", c.text, re.M)), c.until)
    detached &= c.trace.old_views(c.until)
    overwritten = c.refuses() and bool(re.search(
        "modified by an in-place operation|were freed by an earlier", c.found_text()))
    return bool(detached) and (overwritten or c.difference.aspect == "grad")


@predicate
def products_of_zeros(c: Context) -> bool:
    """A NaN comes back to a product of several zeros; no element is the largest any more."""
    w, f = c.difference.wanted, c.difference.found
    if not isinstance(f, np.ndarray) or not isinstance(w, np.ndarray) or f.shape != w.shape:
        return False
    product = ".prod()" in c.text and bool((np.isnan(f) & (w == 0)).any())
    largest = ".amax()" in c.text and bool((np.isnan(w) & (f == 0)).any())
    return c.difference.aspect == "grad" and (product or largest)


def _unreached(line: str) -> str:
    """Arguments that get None are detached before."""
    line = re.sub(r"Pair\.apply\((\w+), ([a-z]\d*)\)", r"Pair.apply(\1, \2.detach())", line)
    found = re.search(r"checkpoint\(lambda u, v: (.*?), (\w+), ([a-z]\d*), use_reentrant=True", line)
    if found and not re.search(r"\bv\b", found[1]):
        line = line.replace(f", {found[3]}, use_re", f", {found[3]}.detach(), use_re")
    return line


@predicate
def rules_without_gradient(c: Context) -> bool:
    """A custom function gives None: what lies behind is not run, and misses nothing that was freed or
    overwritten."""
    return c.refused("backward through the graph a second time", "modified by an inplace op") and (
        c.gone(lines_with(c.lines, lambda n, line: _unreached(line))))


@predicate
def slopes_of_steps(c: Context) -> bool:
    """clamp's slope depends on x with derivative 0; PyTorch's on a mask without history."""
    d = c.difference
    line = next((x for x in c.lines if bound_by(x) == d.where), "")
    return d.aspect in ("requires_grad", "is_leaf") and d.wanted is (d.aspect == "is_leaf") and (
        "create_graph=True" in line and "clamp_" in c.text)


@predicate
def contiguous_results(c: Context) -> bool:
    """With contiguous results PyTorch does what libdl does."""
    if c.name or c.difference.aspect not in ("outcome", "value", "grad"):
        return False

    def change(n: int, line: str) -> str | None:
        made = re.match(r"((?:with [^:]*: )?([a-z]\d*) = )(.*)", line)
        facts = c.trace.after[n].get(made[2]) if made and "_(" not in line else None
        if not facts or facts.view or facts.contiguous:
            return None
        return f"{made[1]}({made[3]}).contiguous()"
    lines = lines_with(c.lines, change)
    return lines != c.lines and c.gone(lines)


@predicate
def inputs_of_backward(c: Context) -> bool:
    """PyTorch frees what the node of a tensor saved that is itself the end of the pass."""
    ends = re.search(r"inputs=\[\w+\]", "\n".join(c.lines[: c.until + 1]))
    hooked = c.difference.where.startswith("seen") and ".grad_fn.register_" in c.text
    return bool(ends) and (hooked or c.refused("backward through the graph a second time",
                                               "modified by an inplace operation"))


@predicate
def detached_views(c: Context) -> bool:
    return c.refused("Can't detach views in-place")


@predicate
def overlapping_copies(c: Context) -> bool:
    if not c.refuses() or not re.search(
            "shares some of its memory with an operand|elements that share an address|"
            "its input overlaps itself",
            c.found_text()):
        return False
    return True


@predicate
def replaced_data(c: Context) -> bool:
    """A leaf's: what PyTorch saved of a leaf is the leaf."""
    d = c.difference
    replaced = set(re.findall(r"^(\w+)\.data = ", c.text, re.M))
    asked = {bound_by(line) for line in c.lines if "autograd.grad(" in line}
    of_gradient = d.aspect == "grad" or d.aspect in ("value", "kind") and (
        d.where in asked or d.where.startswith("seen"))
    return bool(replaced) and (of_gradient or c.refused("modified by an inplace operation"))


@predicate
def reentrant_checkpoints(c: Context) -> bool:
    if c.refuses() and "none of output has requires_grad=True" in c.found_text():
        later = set(re.findall(r"^(\w+)\.requires_grad(?:_\(\)| = True)", c.text, re.M))
        return any(names_in(line) & later for line in c.lines if "checkpoint(" in line)
    if c.refused("none of output has requires_grad=True", "A different number of tensors was saved"):
        gone = set(re.findall(r"^(\w+)\.(?:detach_\(|requires_grad_\(F)", c.text, re.M))
        return any(names_in(line) & gone for line in c.lines if "checkpoint(" in line)
    return "use_reentrant=True" in c.text and c.refused(
        "backward through the graph a second time", "When use_reentrant=True")


@predicate
def writes_of_nothing(c: Context) -> bool:
    """Without the writes of empty tensors PyTorch does not complain of one."""
    if not c.refused("modified by an inplace operation"):
        return False

    def change(n: int, line: str) -> str | None:
        written = written_by(line)
        some = c.trace.ever(written, n) if written else []
        if not some or 0 not in some[-1].elements[1] or c.wanted.outcomes[n]:
            return None
        made = bound_by(line)
        return f"{made} = {written}" if made and made != written else "pass"
    error = c.theirs.run(lines_with(c.lines, change), c.forward).errors[c.until]
    return "modified by an inplace operation" not in str(error)


@predicate
def inference_tensors(c: Context) -> bool:
    if c.name or "inference_mode" not in c.text:
        return False
    t, d = c.trace, c.difference
    made = t.inference(c.until)
    if not made:
        return False
    reached = t.reached(made, c.until)
    refused = c.refused("Inplace update to inference tensor", "must implement the jvp",
                        "none of output has requires_grad=True", *OF_HISTORY)
    said = c.refuses() and bool(re.search("inference mode|does not require grad|'NoneType' object",
                                          c.found_text()))
    base = c.raises() and "._base is None" in c.line
    return bool(c.subjects & (reached | t.sharing(reached, c.until))) and (
        refused or said or base or d.aspect in ("requires_grad", "is_leaf", "tangent", "kind"))
