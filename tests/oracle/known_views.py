# SPDX-License-Identifier: Apache-2.0
"""Known differences of programs: views, and what their bases have.

Where it can be done, a predicate changes the program for PyTorch alone into one that says what libdl
does, and looks whether the difference is gone then: so it covers that cause and no other."""

from __future__ import annotations

import itertools
import re

from known import Context, lines_with, predicate
from rewritten import all_nodes, apart_detached, detached, own_out, unshared
from traces import bound_by, names_in, written_by


# What PyTorch says of a history that libdl does not have.
OF_HISTORY = (
    "is a view and",
    "A view was created in",
    "is a view of a view which was created in",
    "modified by an inplace operation",
    "a leaf Variable that requires grad",
    "a view of a leaf Variable",
    "requires_grad flags of leaf",
    "backward through the graph a second time",
    "derivative",
)


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
    if any(c.gone(lines) for lines in apart_detached(c)):
        return True
    reached, near = t.reached(apart, c.until), t.sharing(apart, c.until)
    if d.aspect in ("requires_grad", "is_leaf"):
        return d.where in reached | near
    if c.refuses() and "its history is not defined" in c.found_text():  # nor can it be read there
        return "raises RuntimeError" in [c.wanted.values.get(name) for name in c.subjects]
    if c.difference.aspect == "error" and "A view was created in" in c.wanted_text():
        return bool(c.subjects & (reached | near))
    said = c.refuses() and bool(
        re.search(
            "does not require grad|'NoneType' object has no attr|"
            "only that of a leaf variable|none of output has req",
            c.found_text(),
        )
    )
    raised = c.refused(*OF_HISTORY) or d.aspect == "kind" and d.wanted == "raises RuntimeError"
    return (said or raised) and bool(c.subjects & (reached | t.sharing(reached, c.until)))


@predicate
def views_of_several(c: Context) -> bool:
    error = c.difference.aspect == "error" and bool(
        re.search("is a view and|A view was created in", c.wanted_text())
    )
    if c.name or not (error or c.forbidden()):
        return False
    t = c.trace
    several = {
        name
        for facts in t.after
        for name, f in facts.items()
        if f.origin.startswith(("MULTI_OUTPUT", "IN_CUSTOM"))
    }
    return bool(c.subjects & t.reached(several, c.until))


HOOK = re.compile(r"(?:_\w+ = )?((\w+)\.(?:retain_grad\(|register_hook|grad_fn\.register_).*)")


def rehooked(c: Context, old: set[str], early: bool, copied: bool, once: bool) -> list[str]:
    """PyTorch makes the node of a view anew, from the base, once the memory was written. Then hooks are
    put on it again, and views of it are made again, so that they go through it. Early: hooks are there
    from the first node on. Copied: what is written into the view is computed of it, through its node.
    Once: they are not put there again."""
    hooks = [
        (mark[2], mark[1]) for line in c.lines if (mark := HOOK.match(line)) and mark[2] in old
    ]
    marked: set[str] = {name for name, _ in hooks} if early else set()
    events: list[tuple[str, str]] = []  # hooks and views so far: the tensor, the line

    def again() -> list[str]:
        through, some = set(marked), []
        if once:
            return some
        for name, text in events:
            derived = (names_in(text) - {name}) & through
            if bound_by(text) and derived:
                through.add(name)
            if derived or not bound_by(text):
                some.append(text if text.startswith("with ") else f"with T.enable_grad(): {text}")
        return some

    def change(n: int, line: str) -> str | None:
        before, now = c.trace.after[n - 1] if n else {}, c.trace.after[n]
        if c.wanted.outcomes[n]:
            return None
        made, mark = bound_by(line), HOOK.match(line)
        if copied and written_by(line) in old:
            line = re.sub(
                r"^(with [^:]*: )?((?:\w+ = )?)(\w+)((?:\[.*\])?(?:\.\w+_\(| [-+*/]?= ).*)$",
                r"\1_t = \3.clone(); _t\4; \2\3.copy_(_t)",
                line,
            )
        if mark and mark[2] in old:
            marked.add(mark[2])
            if early:
                return "pass"
            events.append((mark[2], mark[1]))
        elif made and now.get(made) and now[made].view and not written_by(line):
            events.append((made, line))
            some = [(name, text) for name, text in hooks if early and name == made]
            events.extend(some)
            return "\n".join([line, *(text for _, text in some)])
        elif any(
            name in before and name in now and now[name].version > before[name].version
            for name in marked
        ):
            return "\n".join([line, *again()])
        return line

    return lines_with(c.lines, change)


@predicate
def retained_views(c: Context) -> bool:
    """Of views that were written since, through them or their base."""
    if c.name:
        return False
    old = c.trace.objects(c.trace.old_views(c.until), c.until)
    if not old:
        return False
    if any(c.gone(lines) for lines in all_nodes(c)):
        return True
    # With a gradient as PyTorch lays it out, from the base.
    if (
        c.refuses()
        and "cannot show without a copy" in c.found_text()
        and c.gone(
            c.lines,
            lines_with(
                c.lines,
                lambda n, line: f"{line}.contiguous()" if "autograd.grad(" in line else None,
            ),
        )
    ):
        return True
    hooks = set(re.findall(r"\b(\w+)\.(?:retain_grad\(|register_hook|grad_fn\.register_)", c.text))
    if c.difference.where.startswith("seen") and c.subjects & old:
        return True  # which of its nodes saw how much is told by nobody
    if c.difference.aspect == "grad" and c.difference.where in old & hooks:
        return True  # what was computed of it before the write reaches it, too
    return bool(old & hooks) and any(
        c.gone(rehooked(c, old, *ways)) for ways in itertools.product((False, True), repeat=3)
    )


@predicate
def out_views(c: Context) -> bool:
    """T.add(x, y, out=x[2:]) with nothing in x[2:]."""
    return not c.name and "out=" in c.text and any(c.gone(lines) for lines in own_out(c))


@predicate
def late_histories(c: Context) -> bool:
    """PyTorch lets a view be written once its grad_fn has been looked at, and does not know before
    that it is no leaf."""
    written = written_by(c.line) or (names_in(c.line.partition(".")[0]) or {""}).pop()
    looked = re.sub(r"^(with [^:]*: )?", rf"\1{written}.grad_fn; ", c.line)
    said = c.refuses() and bool(
        re.search(
            "only that of a leaf variable|tensor_set_requires_grad: .* is not a leaf|history is not defined",
            c.found_text(),
        )
    )
    return bool(said or c.refused("is being used in an in-place operation")) and c.gone(
        lines_with(c.lines, lambda n, line: looked if n == c.until else None)
    )


@predicate
def detached_bases(c: Context) -> bool:
    """PyTorch's views lose their history once the memory is written; libdl's, which a write gives one
    when it is asked for, with their base."""
    if c.name or not re.search(r"^\w+\.(detach_\(|requires_grad_\(F)", c.text, re.M):
        return False
    if any(c.gone(lines) for lines in detached(c)):
        return True
    views = c.trace.sharing(
        set(re.findall(r"^(?:\w+ = )?(\w+)\.(?:detach_\(|requires_grad_\(F)", c.text, re.M)),
        c.until,
    )
    views &= c.trace.old_views(c.until)
    d = c.difference
    ended = d.aspect in ("requires_grad", "is_leaf") and d.found is (d.aspect == "is_leaf")
    if ended and d.where in views:
        return c.gone(
            c.lines,
            lines_with(
                c.lines,
                lambda n, line: (
                    f"{d.where}.requires_grad; {line}"
                    if re.match(r"\w+\.detach_\(", line)
                    else None
                ),
            ),
        )
    return (
        bool(views)
        and c.refuses()
        and bool(
            re.search("modified by an in-place operation|were freed by an earlier", c.found_text())
        )
    )


@predicate
def detached_views(c: Context) -> bool:
    return c.refused("Can't detach views in-place")


@predicate
def inference_tensors(c: Context) -> bool:
    if c.name or "inference_mode" not in c.text:
        return False

    def detached(n: int, line: str) -> str:
        return re.sub(
            r"^with T.inference_mode\(\): (\w+) = (\w+)(?=[.\[])", r"\1 = \2.detach()", line
        )

    if c.gone(lines_with(c.lines, detached)) or c.gone(lines_with(unshared(c), detached)):
        return True
    t, d = c.trace, c.difference
    made = t.inference(c.until)
    if not made:
        return False
    reached = t.reached(made, c.until)
    refused = c.refused(
        "Inplace update to inference tensor",
        "must implement the jvp",
        "none of output has requires_grad=True",
        *OF_HISTORY,
    )
    said = c.refuses() and bool(
        re.search("inference mode|does not require grad|'NoneType' object", c.found_text())
    )
    base = c.raises() and "._base is None" in c.line
    return bool(c.subjects & (reached | t.sharing(reached, c.until))) and (refused or said or base)
