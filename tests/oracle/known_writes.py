# SPDX-License-Identifier: Apache-2.0
"""Known differences of programs: writes in place, out=, .data.

Where it can be done, a predicate changes the program for PyTorch alone into one that says what libdl
does, and looks whether the difference is gone then: so it covers that cause and no other."""

from __future__ import annotations

import re

import numpy as np
from case import Seen
from compare import apart, coarsest
from known import Context, lines_with, predicate
from rewritten import by_operators, data_replaced, unshared
from traces import bound_by, names_in, written_by


@predicate
def with_itself(c: Context) -> bool:
    """x *= x, x.mul_(a view of x), with out= too."""
    d = c.difference
    derived = d.aspect == "grad" or d.aspect == "value" and c.asked()
    hidden = derived and ".data" in c.text  # from PyTorch's check of versions
    of_write = (
        hidden
        or c.difference.aspect == "tangent"
        or c.refused("modified by an inplace operation", "refer to a single memory location")
    )
    if c.name or not of_write:
        return False
    return c.gone(unshared(c)) or c.difference.aspect == "tangent" and _tangent_of_copies(c)


def _tangent_of_copies(c: Context) -> bool:
    """The tangent is that of copied operands, up to endless_derivatives."""
    seen = c.theirs.run(unshared(c), c.forward).values.get(c.difference.where)
    exact = seen.tangent.numbers if isinstance(seen, Seen) and seen.tangent else None
    found = c.difference.found
    if exact is None or not isinstance(found, np.ndarray) or exact.shape != found.shape:
        return False
    far = apart(exact.dtype.name, exact, found, coarsest(c.lines))
    return c.only_where(lambda w, f: ~far, lambda w, f: ~np.isfinite(exact) & ~np.isfinite(f))


@predicate
def out_in_place(c: Context) -> bool:
    other = c.refused("refer to a single memory location") and re.search(
        "don't support automatic diff|it is an out= function",
        str(c.theirs.run(unshared(c), c.forward).errors[c.until]),
    )
    if not other and not c.refused("don't support automatic differentiation"):
        return False
    own = re.search(r"T\.\w+\((?=.*\b(\w+)\b.*out=\1\))", c.text)
    line = c.lines[c.until]
    out = written_by(line)
    same = out and any(c.trace.share(out, name, c.until) for name in names_in(line) - {out})
    return own is not None or bool(same)


@predicate
def writes_of_views_twice(c: Context) -> bool:
    """PyTorch frees a write of a view, also where its rule reads nothing: without these writes there
    is no difference."""
    second = "backward through the graph a second time"
    itself = c.refused("modified by an inplace operation") and second in str(
        c.theirs.run(unshared(c), c.forward).errors[c.until]
    )
    if not itself and not c.refused(second):
        return False
    reads_nothing = re.compile(
        r"\.(add|sub|zero|fill|copy|lerp|neg|index_fill|masked_fill|gt)_\(| [-+]= |\] = "
    )

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
    return (
        facts is not None
        and facts.requires_grad
        and (facts.view or re.search(rf"\b{written}\[", line) is not None)
    )


@predicate
def writes_of_nothing(c: Context) -> bool:
    """Without the writes of empty tensors PyTorch does not complain of one; nor does libdl where what
    was saved is empty."""
    if not c.refused("modified by an inplace operation"):
        return False
    saved = re.search(r"Tensor \[([\d, ]*)\]", str(c.wanted.errors[c.until]))
    if saved and "0" in saved[1].split(", "):
        return True

    def change(n: int, line: str) -> str | None:
        written = written_by(line)
        some = c.trace.ever(written, n) if written else []
        if not some or 0 not in some[-1].elements[1] or c.wanted.outcomes[n]:
            return None
        made = bound_by(line)
        return f"{made} = {written}" if made and made != written else "pass"

    rest = lines_with(c.lines, change)
    with_itself = lines_with(
        c.lines,
        lambda n, line: (
            (f"{bound_by(line)} = {written_by(line)}" if bound_by(line) else "pass")
            if (_is_itself(c, n, line))
            else None
        ),
    )
    if with_itself != c.lines and c.gone(with_itself):
        return True
    return rest != c.lines and any(
        "modified by an inplace operation"
        not in str(c.theirs.run(lines, c.forward).errors[c.until])
        for lines in (rest, unshared(c, rest))
    )


def _is_itself(c: Context, n: int, line: str) -> bool:
    """Whether a line copies what lies there."""
    written, source = written_by(line), re.search(r"(?:\] = |copy_\()(\w+)\)?$", line)
    return bool(written and source and c.trace.share(written, source[1], n))


@predicate
def values_of_data(c: Context) -> bool:
    """What was saved of x.data is what x has now: PyTorch does not notice the write. What a recorded pass
    has saved is a value of its own in one of the libraries: without later writes nothing differs."""
    if not c.name and c.derivative() and "create_graph=True" in c.text:
        passes = [n for n, line in enumerate(c.lines) if "create_graph=True" in line]
        rest = lines_with(
            c.lines,
            lambda n, line: (
                "pass" if n > passes[0] and re.match(r"\w+\.data\.\w+_\(", line) else None
            ),
        )
        if rest != c.lines:
            return c.gone(rest, rest)
    raises = c.refuses() or c.difference.aspect == "error"
    if not raises or not re.search(
        "modified by an in-place op|was overwritten after the forw", c.found_text()
    ):
        return False
    plain = lines_with(c.lines, lambda n, line: re.sub(r"\.data\b(?! = )", ".detach()", line))
    return bool(c.theirs.run(plain, c.forward).outcomes[c.until])


@predicate
def replaced_data(c: Context) -> bool:
    """What was saved of the tensor, and what its views have; PyTorch counts later writes with those of
    the old memory."""
    if c.name or not re.search(r"\.data = ", c.text):
        return False
    if c.refuses() and re.search(
        "given other data since|that of the tensor's history", c.found_text()
    ):
        return True
    if c.refused("with grad_dtype"):
        return True
    # PyTorch's view has the old shape, libdl's is of the new part.
    if c.refused("returned an invalid gradient"):
        return bool(re.search(r"\.data = \w+\.data\[", c.text))
    d = c.difference
    if d.aspect in ("requires_grad", "is_leaf") or c.refuses():  # of what cannot be read
        until = c.lines[: c.until] if c.refuses() else c.lines
        for name in c.subjects:
            end = c.ours.run([*until, f"{name} * 1"], c.forward).errors[-1]
            if "given other data since" in str(end):
                return True
    if any(c.gone(lines) for lines in data_replaced(c)):
        return True
    replaced = {
        name: n
        for n, line in enumerate(c.lines)
        for said in re.findall(r"^(\w+)\.data = ", line)
        for name in c.trace.objects({said}, n)
    }
    if replaced and c.refused("modified by an inplace operation"):
        first, shared = min(replaced.values()), c.trace.sharing(set(replaced), c.until)
        plain = lines_with(
            c.lines,
            lambda n, line: (
                (re.sub(r"\.\w+_\(.*\)$", "", line) if bound_by(line) else "pass")
                if (n > first and written_by(line) in shared)
                else None
            ),
        )
        return plain != c.lines and not c.theirs.run(plain, c.forward).outcomes[c.until]
    return False


@predicate
def overlapping_copies(c: Context) -> bool:
    """What is written lies over an operand, or several of its elements over each other."""
    if not c.refuses() or not re.search(
        "shares some of its memory with an operand|"
        "elements that share an address|its input overlaps itself",
        c.found_text(),
    ):
        return False
    written = written_by(c.line)
    facts = c.trace.after[c.until - 1].get(written) if written and c.until else None
    if not written or not facts:
        return False
    got = {str(bound_by(line)) for line in c.lines if "autograd.grad(" in line}
    if written in c.trace.sharing(got, c.until) and "share an address" in c.found_text():
        return True  # the gradient of a mean
    if "overlaps itself" in c.found_text() and any(
        n > 1 and s == 0
        for name, fact in c.trace.after[c.until - 1].items()
        if c.trace.share(written, name, c.until)
        for n, s in zip(*fact.elements[1:])
    ):
        return True  # the tangent of what an expanded one shares
    _, shape, strides = facts.elements
    reach = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    return (
        int(np.prod(shape)) > reach
        or any(c.trace.share(written, name, c.until) for name in names_in(c.line) - {written})
        or (c.line.count(written) > 1)
    )


@predicate
def leaves_of_another_shape(c: Context) -> bool:
    """What was made before t_() has gradients of the old shape; PyTorch makes the node of a view anew."""
    turned = c.trace.objects(set(re.findall(r"(\w+)\.(?:t|unsqueeze)_\(", c.text)), c.until)
    shape = isinstance(c.difference.wanted, tuple)
    if c.difference.aspect == "grad" and shape:
        return c.difference.where in turned
    if c.difference.aspect == "shape":
        asked = re.search(
            rf"^{c.difference.where} = T.autograd.grad\(.*, (\w+), allow_un", c.text, re.M
        )
        return bool(asked) and asked[1] in turned
    if c.refused("returned an invalid gradient"):
        return bool(turned & c.trace.concerned(c.subjects, c.until))
    if c.difference.aspect == "grad" and ".t_()" in c.text:
        last = max(n for n, line in enumerate(c.lines) if ".t_()" in line)
        return c.gone(
            lines_with(
                c.lines,
                lambda n, line: (
                    f"{line}.clone()"
                    if (
                        n < last
                        and (made := bound_by(line))
                        and not written_by(line)
                        and c.trace.after[n].get(made)
                        and c.trace.after[n][made].view
                    )
                    else None
                ),
            )
        )
    said = "which the leaf has had since it was used|a leaf's .grad has shape"
    return (
        c.refuses() and "backward(" in c.line and bool(turned and re.search(said, c.found_text()))
    )


@predicate
def written_by_functions(c: Context) -> bool:
    """PyTorch drops the .grad and the hooks of what a custom function writes."""
    return (
        not c.name
        and "Double_.apply(" in c.text
        and any(c.gone(lines) for lines in by_operators(c))
    )
