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
    asked = next((line for line in c.lines if "autograd.grad(" in line and bound_by(line) == d.where), "")
    if d.aspect == "value" and names_in(asked) & (reached | near):
        return True
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
        if not written or n > c.until:
            return None
        out = re.match(r"(.*T\.\w+\()(.*)(, out=.*)", line)
        if out:
            rest = out[2]
            for name in names_in(rest) - {written}:
                if c.trace.share(name, written, n):
                    rest = re.sub(rf"\b{name}\b", f"{name}.clone()", rest)
            return out[1] + rest + out[3]
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
    """x *= x, x.mul_(a view of x), with out= too."""
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
    now = re.search(r"T.autograd.grad\(.*, (?=(\w+), allow)|inputs=\[(?=(\w+)\])", c.line)
    if c.refuses() and now and old & set(now.groups()):
        # By what PyTorch does not run.
        return bool(re.search("overwritten after the forward|modified by an in-p", c.found_text()))
    got = {made for made, name in re.findall(
        r"^(\w+) = T.autograd.grad\(.*, (\w+), allow", c.text, re.M) if name in old}
    if d.aspect == "value" and d.where in c.trace.reached(got, c.until):
        return True
    if c.refuses() and "freed by an earlier" in c.found_text():  # by a pass that ended there
        ends = {line for line in c.lines for name in re.findall(
            r"inputs=\[(\w+)\]|, (\w+), allow_unused", line) if old & set(name)}
        return c.gone(c.lines, lines_with(c.lines, lambda n, line: _kept(line) if line in ends else None))
    kept = set(re.findall(r"\b(\w+)\.(?:retain_grad\(|register_hook|grad_fn\.register_)", c.text))
    kept |= set(re.findall(r"inputs=\[(\w+)\]", c.text))
    if d.aspect == "grad" and d.where in kept & old:
        return True
    hooked = set(re.findall(r"\b(\w+)\.(?:register_hook|grad_fn\.register_)", c.text))
    found = any("autograd.grad(" in line and bound_by(line) == d.where for line in c.lines)
    return bool(hooked & old) and (d.aspect == "grad" or found or d.where.startswith("seen"))


@predicate
def written_by_functions(c: Context) -> bool:
    """PyTorch drops the .grad and the hooks of what a custom function writes."""
    if c.name:
        return False
    d = c.difference
    written = c.trace.objects(set(re.findall(r"Double_\.apply\((\w+)\)", c.text)), c.until)
    hooked = set(re.findall(r"\b(\w+)\.(?:register_hook|retain_grad)", c.text)) & written
    made = {bound_by(line) for line in c.lines if "Double_.apply(" in line}
    return d.aspect == "grad" and d.where in written | made and d.wanted is None or bool(hooked) and (
        d.aspect == "grad" or d.where.startswith("seen"))


@predicate
def defects_of_pytorch(c: Context) -> bool:
    d = c.difference
    if "Double_.apply(" in c.text and not c.refuses() and c.gone(lines_with(
            c.lines, lambda n, line: re.sub(r"^(\w+) = Double_.apply\((\w+)\)$",
                                            r"\2.detach().mul_(2); \1 = \2", line))):
        return True  # what is written without a history is a new tensor there
    if d.aspect in ("requires_grad", "is_leaf") and d.wanted is (d.aspect == "is_leaf"):
        written = set(re.findall(r"Double_\.apply\((\w+)\)", c.text))
        made = {bound_by(line) for line in c.lines if "Double_.apply" in line}
        return d.where in c.trace.objects(written, c.until) | made and bool(
            re.search(r"no_grad|set_grad_enabled\(False\)", c.text))
    if c.refused("Expected isFloatingType(grad.scalar_type())", "INTERNAL ASSERT FAILED"):
        return True
    if d.aspect == "tangent" and isinstance(d.wanted, tuple):
        return d.wanted != c.wanted.values[d.where].shape
    if d.aspect == "tangent" and ".t_()" in c.text and np.array_equal(d.wanted, np.transpose(d.found)):
        return True  # views share the tangent, and t_() of one turns it
    if d.aspect == "tangent" and "copy_(" in c.text and c.gone(lines_with(
            c.lines, lambda n, line: re.sub(r"copy_\(([a-z]\d*)\)", r"copy_(\1.clone())", line))):
        return True  # a copy may share the tangent of what was copied
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
            return c.difference.where in c.trace.reached(c.trace.sharing({out[1]}, c.until), c.until)
    return False


@predicate
def hooks_without_gradient(c: Context) -> bool:
    """Of leaves that are gone or require grad no more; or PyTorch gives None."""
    hooked = set(re.findall(r"\b(\w+)\.register_post_accumulate_grad_hook", c.text))
    ended = set(re.findall(r"^(?:del (\w+)$|(\w+)\.(?:requires_grad_\(F|detach_))", c.text, re.M))
    ended = {name for names in ended for name in names if name}
    lost = c.trace.objects(hooked, c.until) & ended if hooked and ended else set()
    if lost and (c.difference.where.startswith("seen") or c.difference.aspect == "grad" and (
            c.difference.where in c.trace.objects(lost, c.until))):
        return True
    of_hook = c.refused("'NoneType' object has no attribute", "'NoneType' and") or (
        c.difference.aspect == "grad" or c.difference.where.startswith("seen"))
    return of_hook and "hook(" in c.text and (
        c.gone(lines_with(c.lines, lambda n, line: _unreached(line)))
        or c.gone(lines_with(c.lines, lambda n, line: _guarded(line))))


def _guarded(line: str) -> str:
    """Hooks that look for a gradient first."""
    line = re.sub(r"(?<=register_hook\()lambda g: (.*)\)$",
                  r"lambda g: None if g is None else \1)", line)
    return re.sub(r"(?<=grad_hook\()lambda p: (.*)\)$",
                  r"lambda p: None if p.grad is None else \1)", line)


@predicate
def leaves_in_the_graph(c: Context) -> bool:
    return c.refused("leaf variable has been moved into the graph interior")


@predicate
def leaves_of_another_shape(c: Context) -> bool:
    """What was made before t_() has gradients of the old shape; PyTorch makes the node of a view anew."""
    if c.difference.aspect == "grad" and isinstance(c.difference.wanted, tuple):
        return bool(re.search(r"no_grad\(\): \w+\.(t|unsqueeze)_\(", c.text))
    if c.difference.aspect == "grad" and ".t_()" in c.text:
        last = max(n for n, line in enumerate(c.lines) if ".t_()" in line)
        return c.gone(lines_with(c.lines, lambda n, line: f"{line}.clone()" if (
            n < last and (made := bound_by(line)) and not written_by(line)
            and c.trace.after[n].get(made) and c.trace.after[n][made].view) else None))
    said = "which the leaf has had since it was used|a leaf's .grad has shape"
    return c.refuses() and "backward(" in c.line and bool(
        re.search(said, c.found_text()) and re.search(r"\.(t|unsqueeze)_\(", c.text))


@predicate
def writes_of_views_twice(c: Context) -> bool:
    """PyTorch frees a write of a view, also where its rule reads nothing: without these writes there
    is no difference."""
    second = "backward through the graph a second time"
    itself = c.refused("modified by an inplace operation") and second in str(
        c.theirs.run(unshared(c), c.forward).errors[c.until])
    if not itself and not c.refused(second):
        return False
    reads_nothing = re.compile(
        r"\.(add|sub|zero|fill|copy|lerp|neg|index_fill|masked_fill|gt)_\(| [-+]= |\] = ")

    def change(n: int, line: str) -> str | None:
        if n >= c.until or not reads_nothing.search(line) or not _writes_view(c, n, line):
            return None
        made = bound_by(line)
        return f"{made} = {written_by(line)}" if made else "pass"
    rest = lines_with(c.lines, change)
    return rest != c.lines and c.gone(unshared(c, rest) if itself else rest, rest)


def _writes_view(c: Context, n: int, line: str) -> bool:
    written = written_by(line)
    facts = c.trace.after[n].get(written) if written else None
    return facts is not None and facts.requires_grad and (
        facts.view or re.search(rf"\b{written}\[", line) is not None)


@predicate
def late_histories(c: Context) -> bool:
    """PyTorch lets a view be written once its grad_fn has been looked at, and does not know before
    that it is no leaf."""
    written = written_by(c.line) or (names_in(c.line.partition(".")[0]) or {""}).pop()
    looked = re.sub(r"^(with [^:]*: )?", rf"\1{written}.grad_fn; ", c.line)
    said = c.refuses() and bool(
        re.search("only that of a leaf variable|requires_grad_: .* is not a leaf", c.found_text()))
    return bool(said or c.refused("is being used in an in-place operation")) and c.gone(lines_with(
        c.lines, lambda n, line: looked if n == c.until else None))


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
    """PyTorch's views lose their history once the memory is written; libdl's, which a write gives one
    when it is asked for, with their base."""
    detached = c.trace.sharing(set(re.findall(r"^(?:\w+ = )?(\w+)\.detach_\(", c.text, re.M)), c.until)
    detached &= c.trace.old_views(c.until)
    d = c.difference
    ended = d.aspect in ("requires_grad", "is_leaf") and d.found is (d.aspect == "is_leaf")
    if ended and d.where in detached:
        return c.gone(c.lines, lines_with(c.lines, lambda n, line: (
            f"{d.where}.requires_grad; {line}" if re.match(r"\w+\.detach_\(", line) else None)))
    overwritten = c.refuses() and bool(re.search(
        "modified by an in-place operation|were freed by an earlier", c.found_text()))
    return bool(detached) and (
        overwritten or c.difference.aspect == "grad" or c.difference.where.startswith("seen"))


@predicate
def products_of_zeros(c: Context) -> bool:
    """A NaN comes back to a product of several zeros; no element is the largest any more."""
    data = ".data" in c.text
    product, largest, power = ".prod()" in c.text, ".amax()" in c.text and data, " ** " in c.text and data
    return c.only_where(
        lambda w, f: np.isnan(f) & np.isfinite(w) & product, lambda w, f: np.isnan(w) & largest,
        lambda w, f: np.isinf(f) & np.isfinite(w) & power)


def _unreached(line: str) -> str:
    """Arguments that get None are detached before."""
    line = re.sub(r"Pair\.apply\((\w+), ([a-z]\d*)\)",
                  r"Pair.apply(\1, \2.detach().requires_grad_(\2.requires_grad))", line)
    found = re.search(r"checkpoint\(lambda u, v: (.*?), (\w+), ([a-z]\d*), use_reentrant=True", line)
    if found and not re.search(r"\bv\b", found[1]):
        line = line.replace(f", {found[3]}, use_re", f", {found[3]}.detach(), use_re")
    return line


@predicate
def rules_without_gradient(c: Context) -> bool:
    """A custom function gives None: what lies behind is not run, and misses nothing that was freed or
    overwritten. Nor does a power whose exponent requires no grad miss its result."""
    def change(n: int, line: str) -> str:
        return re.sub(r"= (\w+ \*\* \w+)$", r"= (\1).clone()", _unreached(line))
    return c.refused("backward through the graph a second time", "modified by an inplace op") and (
        c.gone(lines_with(c.lines, change)))


@predicate
def slopes_of_steps(c: Context) -> bool:
    """clamp's slope depends on x with derivative 0; PyTorch's on a mask without history."""
    d = c.difference
    line = next((x for x in c.lines if bound_by(x) == d.where), "")
    return d.aspect in ("requires_grad", "is_leaf") and d.wanted is (d.aspect == "is_leaf") and (
        "create_graph=True" in line and ("clamp_" in c.text or ".var()" in c.text))


@predicate
def contiguous_results(c: Context) -> bool:
    """With contiguous results PyTorch does what libdl does."""
    if c.name or c.difference.aspect not in ("outcome", "value", "grad", "tangent"):
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
    """What is written lies over an operand, or several of its elements over each other."""
    if not c.refuses() or not re.search("shares some of its memory with an operand|"
                                        "elements that share an address|its input overlaps itself",
                                        c.found_text()):
        return False
    written = written_by(c.line)
    facts = c.trace.after[c.until - 1].get(written) if written and c.until else None
    if not written or not facts:
        return False
    _, shape, strides = facts.elements
    reach = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    return int(np.prod(shape)) > reach or any(
        c.trace.share(written, name, c.until) for name in names_in(c.line) - {written}) or (
        c.line.count(written) > 1)


@predicate
def replaced_data(c: Context) -> bool:
    """A leaf's: what PyTorch saved of a leaf is the leaf. Where copies are saved there is no difference."""
    replaced = {name: n for n, line in enumerate(c.lines)
                for said in re.findall(r"^(\w+)\.data = ", line) for name in c.trace.objects({said}, n)}

    def change(n: int, line: str) -> str | None:
        if re.match(r"\w+\.data = ", line):
            return f"{line.partition('.')[0]}.grad_fn; {line}"
        wrote = re.match(r"(?:\w+ = )?(\w+)\.(?!requires|detach)(\w+)_(\(.*\))$", line)
        if c.wanted.outcomes[n]:
            return None
        if wrote and n < replaced.get(wrote[1], 0) and not c.trace.after[n][wrote[1]].view:
            names = sorted(name for name in c.trace.objects({wrote[1]}, n))
            return f"{' = '.join(names)} = {wrote[1]}.{wrote[2]}{wrote[3]}.clone()"
        made = re.match(r"((?:with [^:]*: )?[a-z]\d* = )(.*)", line)
        mark = re.search(r"_\(| [-+*/]= |\] = ", line) if written_by(line) else None
        if mark:
            rest = line[mark.end():]
            for name in names_in(rest) & {name for name, at in replaced.items() if n < at}:
                rest = re.sub(rf"(?<![\w.']){name}(?![\w('])", f"{name}.clone()", rest)
            return line[: mark.end()] + rest
        if not made or written_by(line) or any(
                c.trace.share(str(bound_by(line)), name, n + 1) for name in names_in(made[2])):
            return None
        rest = made[2]
        for name in names_in(line) & {name for name, at in replaced.items() if n < at}:
            rest = re.sub(rf"(?<![\w.']){name}(?![\w('])", f"{name}.clone()", rest)
        if bound_by(line) in replaced and c.trace.after[n][str(bound_by(line))].history:
            rest = f"({rest}).clone()"
        return made[1] + rest
    views = any(c.trace.after[n - 1][name].view for name, n in replaced.items())
    if views and c.difference.aspect == "grad":
        return True  # there the node of a view is made anew, with the strides of other memory
    return bool(replaced) and (c.gone(lines_with(c.lines, change))
                               or c.gone(lines_with(unshared(c), change)))


def _kept(line: str) -> str:
    """A pass after which another one may follow."""
    if re.search("retain_graph|create_graph", line):
        return line
    line = re.sub(r"\.backward\((?=\))", ".backward(retain_graph=True", line)
    line = re.sub(r"(\.backward\((?:\[|T\.ones|inputs).*)\)$", r"\1, retain_graph=True)", line)
    return line.replace("allow_unused=True", "allow_unused=True, retain_graph=True")


@predicate
def reentrant_checkpoints(c: Context) -> bool:
    """Arguments that are detached or marked later are handed over as they were; passes keep what they
    read."""
    later = set(re.findall(r"^(\w+)\.requires_grad(?:_\(\)| = True)", c.text, re.M))
    ended = set(re.findall(r"^(\w+)\.(?:detach_\(|requires_grad_\(F)", c.text, re.M))

    def change(n: int, line: str) -> str | None:
        if "checkpoint(" in line:
            begin, comma, rest = line.rpartition(", use_re")
            head, colon, tail = begin.rpartition(": ")
            body, *arguments = tail.rsplit(", ", 2)
            arguments = [f"{x}.view_as({x})" if x in ended else f"{x}.detach()" if x in later else x
                         for x in arguments]
            rest = rest.replace("True", "False")
            return head + colon + ", ".join([body, *arguments]) + comma + rest
        return _kept(line)
    marked = any(names_in(line) & (later | ended) for line in c.lines if "checkpoint(" in line)
    of_passes = c.refuses() or c.raises() or c.difference.aspect == "grad" and (
        marked or "use_reentrant=True" in c.text)
    return "checkpoint(" in c.text and of_passes and c.gone(lines_with(c.lines, change))


def _is_itself(c: Context, n: int, line: str) -> bool:
    """Whether a line copies what lies there."""
    written, source = written_by(line), re.search(r"(?:\] = |copy_\()(\w+)\)?$", line)
    return bool(written and source and not bound_by(line) and c.trace.share(written, source[1], n))


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
    rest = lines_with(c.lines, change)
    with_itself = lines_with(c.lines, lambda n, line: "pass" if _is_itself(c, n, line) else None)
    if with_itself != c.lines and c.gone(with_itself):
        return True
    return rest != c.lines and any(
        "modified by an inplace operation" not in str(c.theirs.run(lines, c.forward).errors[c.until])
        for lines in (rest, unshared(c, rest)))


@predicate
def inference_tensors(c: Context) -> bool:
    if c.name or "inference_mode" not in c.text:
        return False
    def detached(n: int, line: str) -> str:
        return re.sub(r"^with T.inference_mode\(\): (\w+) = (\w+)(?=[.\[])", r"\1 = \2.detach()", line)
    if c.gone(lines_with(c.lines, detached)) or c.gone(lines_with(unshared(c), detached)):
        return True
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
        refused or said or base)
