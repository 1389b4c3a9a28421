# SPDX-License-Identifier: Apache-2.0
"""Known differences of programs: passes, hooks, checkpoints, tangents.

Where it can be done, a predicate changes the program for PyTorch alone into one that says what libdl
does, and looks whether the difference is gone then: so it covers that cause and no other."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from case import Seen
from known import Context, lines_with, predicate
from rewritten import kept, unshared
from traces import bound_by, names_in, written_by


@predicate
def defects_of_pytorch(c: Context) -> bool:
    d = c.difference
    refuses = c.refuses() and "made while nothing was recorded" not in c.found_text()
    if (
        "Double_.apply(" in c.text
        and not refuses
        and c.gone(
            lines_with(
                c.lines,
                lambda n, line: re.sub(
                    r"^(\w+) = Double_.apply\((\w+)\)$", r"\2.detach().mul_(2); \1 = \2", line
                ),
            )
        )
    ):
        return True  # what is written without a history is a new tensor there
    if d.aspect in ("requires_grad", "is_leaf") and d.wanted is (d.aspect == "is_leaf"):
        written = set(re.findall(r"Double_\.apply\((\w+)\)", c.text))
        made = {bound_by(line) for line in c.lines if "Double_.apply" in line}
        return d.where in c.trace.objects(written, c.until) | made and bool(
            re.search(r"no_grad|set_grad_enabled\(False\)", c.text)
        )
    if c.refuses() and "is a leaf that requires grad" in c.found_text():  # and has no history yet
        written = set(re.findall(r"Double_\.apply\((\w+)\)", c.text))
        return bool(c.trace.sharing(c.subjects, c.until) & c.trace.objects(written, c.until))
    if re.search(r"False \*\* |T\.pow\(False", c.call):  # is 0
        return c.gone(lines_with(c.lines, lambda n, line: re.sub(r"False(?= \*\*|, )", "0", line)))
    if (
        c.refused("Expected isFloatingType(grad.scalar_type())")
        or "INTERNAL ASSERT" in c.wanted_text()
    ):
        return True
    if d.aspect == "tangent" and isinstance(d.wanted, tuple):
        return d.wanted != c.wanted.values[d.where].shape
    if (
        d.aspect == "tangent"
        and ".t_()" in c.text
        and np.array_equal(d.wanted, np.transpose(d.found))
    ):
        return True  # views share the tangent, and t_() of one turns it
    if (
        d.aspect == "tangent"
        and "copy_(" in c.text
        and c.gone(
            lines_with(
                c.lines, lambda n, line: re.sub(r"copy_\(([a-z]\d*)\)", r"copy_(\1.clone())", line)
            )
        )
    ):
        return True  # a copy may share the tangent of what was copied
    if (
        c.forward
        and "[...]" in c.text
        and c.gone(
            lines_with(
                c.lines, lambda n, line: re.sub(r"\b(\w+)\[\.\.\.\]$", r"\1.view_as(\1)", line)
            )
        )
    ):
        return True  # x[...] shares the tangent itself, whose shape the change of one's changes
    tangent = d.aspect == "tangent" or d.where.startswith("t[")
    wider = {str(d.wanted), str(d.found)} == {"float64", "float32"}
    own = re.search(r"(\w+)\.(addcmul|addcdiv|lerp|mul|div|pow)_\(.*\b\1\b", c.call)
    return tangent and (wider or own is not None or c.base() in ("std", "var") and "()" in c.call)


@predicate
def failed_calls(c: Context) -> bool:
    """PyTorch has written a part when it raises: without the calls that fail there is no difference."""
    fails = [n for n in range(c.until) if c.wanted.outcomes[n] and c.found.outcomes[n]]
    if (
        c.difference.aspect not in ("outcome", "error")
        and c.wanted.outcomes[-1]
        and (c.found.outcomes[-1])
    ):
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
        c.found_text().startswith(("ValueError", "TypeError: tensor: found"))
    )
    if c.name == "__index__":  # as of Python's own integers
        return "index-sized integer" in c.found_text()
    return bool(nested) or "from_dlpack(" in c.call and c.found_text().startswith("TypeError")


@predicate
def hooks_without_gradient(c: Context) -> bool:
    """Of leaves that are gone or require grad no more; or PyTorch gives None."""
    hooked = set(re.findall(r"\b(\w+)\.register_post_accumulate_grad_hook", c.text))
    ended = set(re.findall(r"^(?:del (\w+)$|(\w+)\.(?:requires_grad_\(F|detach_))", c.text, re.M))
    ended = {name for names in ended for name in names if name}
    lost = c.trace.objects(hooked, c.until) & ended if hooked and ended else set()
    if lost and (
        c.difference.where.startswith("seen")
        or c.difference.aspect == "grad"
        and (c.difference.where in c.trace.objects(lost, c.until))
    ):
        return True
    of_hook = c.refused("'NoneType' object has no attribute", "'NoneType' and") or (
        c.difference.aspect == "grad" or c.difference.where.startswith("seen")
    )
    return (
        of_hook
        and "hook(" in c.text
        and (
            c.gone(lines_with(c.lines, lambda n, line: _unreached(line)))
            or c.gone(lines_with(c.lines, lambda n, line: _guarded(line)))
        )
    )


def _guarded(line: str) -> str:
    """Hooks that look for a gradient first."""
    line = re.sub(
        r"(?<=register_hook\()lambda g: (.*)\)$", r"lambda g: None if g is None else \1)", line
    )
    return re.sub(
        r"(?<=grad_hook\()lambda p: (.*)\)$", r"lambda p: None if p.grad is None else \1)", line
    )


@predicate
def leaves_in_the_graph(c: Context) -> bool:
    said = "leaf variable has been moved into the graph interior"
    return (
        c.refused(said)
        or c.refused("modified by an inplace operation")
        and said in str(c.theirs.run(unshared(c), c.forward).errors[c.until])
    )


def _unreached(line: str) -> str:
    """Arguments that get None are detached before."""
    line = re.sub(
        r"Pair\.apply\((\w+), ([a-z]\d*)\)",
        r"Pair.apply(\1, \2.detach().requires_grad_(\2.requires_grad))",
        line,
    )
    found = re.search(
        r"checkpoint\(lambda u, v: (.*?), (\w+), ([a-z]\d*), use_reentrant=True", line
    )
    if found and not re.search(r"\bv\b", found[1]):
        line = line.replace(f", {found[3]}, use_re", f", {found[3]}.detach(), use_re")
    return line


@predicate
def rules_without_gradient(c: Context) -> bool:
    """A custom function gives None: what lies behind is not run, and misses nothing that was freed or
    overwritten. Nor does a power whose exponent requires no grad miss its result, nor a rule whose
    operand has stopped requiring grad that operand."""
    ended = set(re.findall(r"^(\w+)\.requires_grad_\(F", c.text, re.M))

    def change(n: int, line: str) -> str:
        line = _unreached(line)
        made = re.match(r"(?:with [^:]*: )?[a-z]\d* = ", line)
        if made and not written_by(line) and "checkpoint(" not in line:
            rest = line[made.end() :]
            for name in names_in(rest) & ended:
                rest = re.sub(rf"(?<![\w.']){name}(?![\w('])", f"{name}.clone()", rest)
            line = made[0] + rest
        line = re.sub(r"= ([\w.()]+) \*\* 0$", r"= \1.sign() - \1.detach().sign() + 1", line)
        return re.sub(
            r"= ([\w.()]+) \*\* ([a-z][\w.()]*)$", r"= (\1.clone() ** \2.clone()).clone()", line
        )

    def copied(n: int, line: str) -> str | None:
        """What is saved is a copy, for passes that ask for a part of the gradients."""
        made = re.match(r"(?:with [^:]*: )?[a-z]\d* = ", line)
        if (
            not made
            or written_by(line)
            or c.trace.after[n].get(str(bound_by(line))) is None
            or (c.trace.after[n][str(bound_by(line))].view)
        ):
            return None
        rest = line[made.end() :]
        for name in names_in(rest):
            rest = re.sub(rf"(?<![\w.']){name}(?![\w('])", f"{name}.clone()", rest)
        return made[0] + rest

    part = "autograd.grad(" in c.line or "inputs=[" in c.line
    return c.refused("backward through the graph a second time", "modified by an inplace op") and (
        c.gone(lines_with(c.lines, change)) or part and c.gone(lines_with(c.lines, copied))
    )


@predicate
def zero_tensors(c: Context) -> bool:
    return c.refused("ZeroTensors are immutable")


@predicate
def converted_operands(c: Context) -> bool:
    """addcmul and addcdiv save the converted copy of an operand of another dtype."""

    def copied(n: int, line: str) -> str | None:
        call = re.search(r"\baddc(?:mul|div)_?\((.*)\)", line)
        if not call:
            return None
        operands = re.sub(r"(?<![\w.'])([a-z]\d*)(?![\w('=])", r"\1.clone()", call[1])
        return line[: call.start(1)] + operands + line[call.end(1) :]

    return (
        not c.name
        and c.refused("modified by an inplace operation")
        and c.gone(lines_with(c.lines, copied))
    )


@predicate
def products_of_zeros(c: Context) -> bool:
    """A NaN comes back to a product of several zeros; no element is the largest any more."""

    def now(name: str, n: int | None = None) -> Any:
        run = c.wanted if n is None else c.theirs.run(c.lines[:n], c.forward)
        seen = run.values.get(name)
        return seen.numbers if isinstance(seen, Seen) else np.zeros(0)

    passes = [
        n for n, line in enumerate(c.lines) if "backward(" in line or "autograd.grad(" in line
    ]
    product = any(
        np.sum(now(name[1], k) == 0) > 1
        for n, line in enumerate(c.lines)
        if (name := re.search(r"(\w+)\.prod\(\)", line))
        for k in (n, *passes)
    )
    data = ".data" in c.text
    largest = data and any(
        not np.isin(now(x[2], j), now(x[1], k)).any()
        for m, line in enumerate(c.lines)
        if (x := re.match(r"(\w+) = (\w+)(?:\.clone\(\)|\.view_as\(\w+\))?\.amax\(\)", line))
        for n in passes
        for j in (m + 1, n)
        for k in (m + 1, n)
    )
    power = data and any((now(x) == 0).any() for x in re.findall(r"(\w+) \*\* ", c.text))
    product, largest, power = (
        some and c.concerns(words)
        for some, words in ((product, r"\.prod\("), (largest, r"\.amax\("), (power, r" \*\* "))
    )
    return c.only_where(
        lambda w, f: np.isnan(f) & ~np.isnan(w) & product,
        lambda w, f: np.isnan(w) & largest,
        lambda w, f: ~np.isfinite(f) & np.isfinite(w) & power,
    )


# Results of these are held against PyTorch's to the last stride.
ELEMENTWISE = set(
    """
    abs absolute add bitwise_and bitwise_not bitwise_or bitwise_xor ceil clamp clip clone cos div divide
    double eq erf exp exp2 expm1 float float_power floor floor_divide fmod full_like ge gelu greater
    greater_equal gt half int isfinite isinf isnan le leaky_relu less less_equal lerp log log10 log1p log2
    logical_and logical_not logical_or logical_xor logsigmoid long lt masked_fill maximum minimum mul
    multiply ne neg negative not_equal ones_like pow reciprocal relu relu6 remainder round rsqrt sigmoid sign
    silu sin softplus sqrt square sub subtract tan tanh to tril triu true_divide trunc type_as where
    zeros_like""".split()
)


@predicate
def orders_of_others(c: Context) -> bool:
    """In which order the dimensions of what is not made element by element lie in memory, and those
    of an empty out= that was resized."""
    resized = "out=o" in c.call and re.search(
        r"^o = make\('\w+', \([^)]*\b0\b", c.text, re.MULTILINE
    )
    return c.difference.aspect == "order" and (c.base() not in ELEMENTWISE or bool(resized))


@predicate
def inputs_of_backward(c: Context) -> bool:
    """PyTorch frees what the node of a tensor saved that is itself the end of the pass."""
    ends = re.search(r"inputs=\[\w+\]", "\n".join(c.lines[: c.until + 1]))
    hooked = c.difference.where.startswith("seen") and ".grad_fn.register_" in c.text
    return bool(ends) and (
        hooked
        or c.refused("backward through the graph a second time", "modified by an inplace operation")
    )


@predicate
def reentrant_checkpoints(c: Context) -> bool:
    """Arguments that are detached or marked later are handed over as they were; passes keep what they
    read."""
    marks = re.compile(r"^(\w+)\.requires_grad(?:_\(\)| = True)")
    ends = re.compile(r"\b(\w+)\.(?:detach_\(|requires_grad_\(F)")
    ended = set(ends.findall(c.text))
    if c.name or "checkpoint(" not in c.text:
        return False

    def marked_after(n: int) -> set[str]:
        found = {
            mark[1]
            for m in range(n + 1, len(c.lines))
            if (mark := marks.match(c.lines[m]))
            and (facts := c.trace.after[m - 1].get(mark[1]))
            and not facts.requires_grad
        }
        return c.trace.objects(found, c.until)

    later = marked_after(0)
    if c.refused("checkpoint is incompatible with .grad() or passing an `inputs`"):
        return True
    ended = c.trace.objects(ended, c.until)

    def change(n: int, line: str) -> str | None:
        if "checkpoint(" in line:
            later = marked_after(n)
            begin, comma, rest = line.rpartition(", use_re")
            head, colon, tail = begin.rpartition(": ")
            body, *arguments = tail.rsplit(", ", 2)
            arguments = [
                f"{x}.view_as({x})" if x in ended else f"{x}.detach()" if x in later else x
                for x in arguments
            ]
            rest = rest.replace("True", "False")
            return head + colon + ", ".join([body, *arguments]) + comma + rest
        return kept(_guarded(line))

    if c.refuses() and "none of output has requires_grad=True" in c.found_text():
        return any(names_in(line) & later for line in c.lines if "checkpoint(" in line)
    marked = any(names_in(line) & (later | ended) for line in c.lines if "checkpoint(" in line)
    of_passes = (
        c.refuses()
        or c.raises()
        or c.difference.aspect == "grad"
        and (marked or "use_reentrant=True" in c.text)
    )
    return "checkpoint(" in c.text and of_passes and c.gone(lines_with(c.lines, change))
