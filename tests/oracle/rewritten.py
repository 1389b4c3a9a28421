# SPDX-License-Identifier: Apache-2.0
"""Programs changed for PyTorch alone into ones that say what libdl does, which predicates use. Those in
REWRITES are tried together with the other predicates, too, for a program that shows two differences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from known import Context, lines_with
from traces import Fact, bound_by, names_in, written_by

Rewrite = Callable[[Context], Iterator[list[str]]]
REWRITES: dict[str, Rewrite] = {}  # by the predicate whose line tells of it


def rewrite(name: str) -> Callable[[Rewrite], Rewrite]:
    def keep(made: Rewrite) -> Rewrite:
        REWRITES[name] = made
        return made

    return keep


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
        begin, rest = line[: mark.end()], line[mark.end() :]
        for name in names_in(rest):
            if name == written or c.trace.share(name, written, n):
                rest = re.sub(rf"\b{name}\b", f"{name}.clone()", rest)
        return begin + rest

    return lines_with(lines or c.lines, change)


@rewrite("with_itself")
def _unshared(c: Context) -> Iterator[list[str]]:
    yield unshared(c)


def kept(line: str) -> str:
    """A pass after which another one may follow."""
    if re.search("retain_graph|create_graph", line):
        return line
    line = re.sub(r"\.backward\((?=\))", ".backward(retain_graph=True", line)
    line = re.sub(r"(\.backward\((?:\[|T\.ones|inputs).*)\)$", r"\1, retain_graph=True)", line)
    return line.replace("allow_unused=True", "allow_unused=True, retain_graph=True")


def _replaced(rest: str, names: set[str], by: str) -> str:
    for name in names:
        rest = re.sub(rf"(?<![\w.']){name}(?![\w('])", by.format(name), rest)
    return rest


def _names_of(c: Context, name: str, n: int) -> str:
    """All names that the object has before line n, to be bound anew."""
    before = c.trace.after[n - 1] if n else {}
    if name not in before:
        return name
    return " = ".join(sorted(k for k, f in before.items() if f.number == before[name].number))


def moved(c: Context, n: int, line: str) -> str | None:
    """x.data = y of a view, or of what has views: another tensor, with the same history."""
    found = re.match(r"(\w+)\.data = ", line)
    facts = c.trace.after[n - 1] if n else {}
    before = facts.get(found[1]) if found else None
    if not found or not before or c.wanted.outcomes[n]:
        return None
    x = found[1]
    stays = c.trace.after[n][x].storage == before.storage
    if (
        before.view
        and stays
        or not before.view
        and (
            before.requires_grad
            and not before.history
            or not any(f.view and f.storage == before.storage for f in facts.values())
        )
    ):
        return None
    own = (
        f"{x}.clone()"
        if before.history or not before.requires_grad
        else (f"{x}.detach().clone().requires_grad_()")
    )
    return (
        f"{x}.grad_fn; _r = {x}.retains_grad; {_names_of(c, x, n)} = {own}; "
        f"_r and not {x}.is_leaf and {x}.retain_grad(); {line}"
    )


@rewrite("replaced_data")
def data_replaced(c: Context) -> Iterator[list[str]]:
    """What PyTorch saved of a tensor that is no result is the tensor. Copies, or other tensors over its
    memory, are saved; and where a result's own rule saved it, that has one of its own."""
    replaced = {
        name: n
        for n, line in enumerate(c.lines)
        for said in re.findall(r"^(\w+)\.data = ", line)
        for name in c.trace.objects({said}, n)
    }
    if not replaced:
        return
    for saved, results, apart in itertools.product(
        ("{}.clone()", "{0}.view_as({0})"), (True, False), (True, False)
    ):

        def change(
            n: int, line: str, saved: str = saved, results: bool = results, apart: bool = apart
        ) -> str | None:
            if re.match(r"\w+\.data = ", line):
                return apart and moved(c, n, line) or f"{line.partition('.')[0]}.grad_fn; {line}"
            return _of_replaced(c, replaced, n, line, saved, results)

        yield lines_with(c.lines, change)
        yield lines_with(unshared(c), change)


def _of_replaced(
    c: Context, replaced: dict[str, int], n: int, line: str, saved: str, results: bool
) -> str | None:
    wrote = re.match(r"(?:\w+ = )?(\w+)\.(?!requires|detach)(\w+)_(\(.*\))$", line)
    if c.wanted.outcomes[n]:
        return None
    later = {name for name, at in replaced.items() if n < at}
    if results and wrote and wrote[1] in later and not c.trace.after[n][wrote[1]].view:
        names = " = ".join(sorted(c.trace.objects({wrote[1]}, n)))
        return f"{names} = {wrote[1]}.clone().{wrote[2]}_{wrote[3]}.clone()"
    made = re.match(r"((?:with [^:]*: )?[a-z]\d* = )(.*)", line)
    mark = re.search(r"_\(| [-+*/]= |\] = ", line) if written_by(line) else None
    if mark:
        rest = line[mark.end() :]
        return line[: mark.end()] + _replaced(rest, names_in(rest) & later, saved)
    if (
        not made
        or written_by(line)
        or any(c.trace.share(str(bound_by(line)), name, n + 1) for name in names_in(made[2]))
    ):
        return None
    asked = re.search(r", \w+, (?:create_graph|allow_unused).*$", made[2])  # whose gradient
    whole = made[2][: asked.start()] if asked else made[2]
    rest = _replaced(whole, names_in(line) & later, saved) + (asked[0] if asked else "")
    if results and bound_by(line) in replaced and c.trace.after[n][str(bound_by(line))].history:
        rest = f"({rest}).clone()"
    return made[1] + rest


@rewrite("detached_bases")
def detached(c: Context) -> Iterator[list[str]]:
    """Views of what is detached in place, or stops requiring grad, keep the base that they had."""

    def change(n: int, line: str) -> str | None:
        found = re.match(r"(\w+)\.(?:detach_\(|requires_grad_\(F)", line)
        if not found or c.wanted.outcomes[n]:
            return None
        x = found[1]
        return f"_g = {x}.grad; {_names_of(c, x, n)} = {x}.detach(); {x}.grad = _g"

    def looked_at(n: int, line: str) -> str | None:
        """What a view wrote, and nobody has looked at since, ends with its base."""
        changed = change(n, line)
        before = c.trace.after[n - 1] if n else {}
        views = [k for k, f in before.items() if f.view]
        return changed and "".join(f"{k}.grad_fn; " for k in views) + changed

    yield lines_with(c.lines, change)
    yield lines_with(c.lines, looked_at)
    # Later writes that are not recorded take no history from a view.
    yield lines_with(
        c.lines,
        lambda n, line: None if c.wanted.outcomes[n] else (uncounted(line, c.trace.after[n])),
    )


@rewrite("views_without_grad")
def apart_detached(c: Context) -> Iterator[list[str]]:
    """Views made under no_grad, or before their base required grad, have no history."""
    if c.forward:
        return
    apart = c.trace.apart(c.until)

    def change(n: int, line: str) -> str | None:
        made = re.match(r"((?:with [^:]*: )?([a-z]\d*) = )(.*)", line)
        if not made or made[2] not in apart or c.wanted.outcomes[n]:
            return None
        return f"{made[1]}({made[3]}).detach()"

    if apart:
        yield lines_with(c.lines, change)


@rewrite("out_views")
def own_out(c: Context) -> Iterator[list[str]]:
    """An empty view as out= gets memory of its own."""

    def change(n: int, line: str) -> str | None:
        out = re.match(r"((?:with [^:]*: )?(?:[a-z]\d* = )?)(T\.\w+\(.*), out=([a-z]\d*)\)$", line)
        before = c.trace.after[n - 1].get(out[3]) if out and n else None
        if not out or not before or not before.view or 0 not in before.elements[1]:
            return None
        return f"{out[1]}{_names_of(c, out[3], n)} = {out[2]}).to({out[3]}.dtype)"

    yield lines_with(c.lines, change)


@rewrite("written_by_functions")
def by_operators(c: Context) -> Iterator[list[str]]:
    """What a custom function writes keeps its .grad and hooks, as what an operator does."""
    yield lines_with(
        c.lines,
        lambda n, line: re.sub(
            r"^(with [^:]*: )?(\w+) = Double_\.apply\((\w+)\)$", r"\1\2 = \3.add_(\3)", line
        ),
    )


@rewrite("retained_views")
def all_nodes(c: Context) -> Iterator[list[str]]:
    """A view that is asked for is found at each node that it has had: since it was made, or since the
    last write that was recorded."""
    if c.trace.old_views(c.until):
        yield lines_with(
            c.lines,
            lambda n, line: (
                None
                if c.wanted.outcomes[n]
                else (_beside(c, n, line) or uncounted(line, c.trace.after[n]))
            ),
        )
    asked = {
        name
        for line in c.lines
        for found in ASKED.finditer(line)
        for name in found.groups()
        if name
    }
    asked = c.trace.objects(asked & c.trace.objects(c.trace.old_views(c.until), c.until), c.until)
    if not asked:
        return
    for ends in (False, True):
        yield lines_with(c.lines, lambda n, line, ends=ends: _noted(c, asked, n, line, ends))


def _beside(c: Context, n: int, line: str) -> str | None:
    """A write that gives what was detached a history: computed beside, and copied so that no view notices."""
    found = re.match(r"([a-z]\d*)(?:\.(\w+)_(\(.*\))| ([-+*/])= (.*))$", line)
    before, now = (c.trace.after[m].get(found[1]) if found and m >= 0 else None for m in (n - 1, n))
    if (
        not found
        or not before
        or not now
        or before.requires_grad
        or not now.requires_grad
        or (found[2] in ("requires_grad", "detach"))
    ):
        return None
    x = found[1]
    made = f"{x}.{found[2]}{found[3]}" if found[2] else f"{x} {found[4]} {found[5]}"
    return f"_v = {made}; {x}.data.copy_(_v.detach()); {_names_of(c, x, n)} = _v"


def uncounted(line: str, now: dict[str, Fact]) -> str:
    """A write that is not recorded, so that no view notices it."""
    line = re.sub(r"^(\w+)\.detach\(\)\.", r"\1.data.", line)
    out = re.match(
        r"(with T\.no_grad\(\): )?(?:([a-z]\d*) = )?(T\.\w+\(.*), out=([a-z]\d*)\)$", line
    )
    if out and (out[1] or out[4] in now and not now[out[4]].requires_grad):
        bound = f"; {out[2]} = {out[4]}" if out[2] else ""
        return f"with T.no_grad(): _t = {out[4]}.data; {out[3]}, out=_t){bound}"
    bound = re.match(r"([a-z]\d*) = (([a-z]\d*)\.\w+_\(.*\))$", line)
    if bound:
        written = uncounted(bound[2], now)
        return line if written == bound[2] else f"{written}; {bound[1]} = {bound[3]}"
    plain = re.match(
        r"(with T\.no_grad\(\): )?([a-z]\d*)((?:\.\w+_\(|\[.*\] [-+*/]?= | [-+*/]= ).*)$", line
    )
    if (
        not plain
        or re.search(r"\.(requires_grad|detach)_\(", line)
        or not plain[1]
        and (plain[2] not in now or now[plain[2]].requires_grad)
    ):
        return line
    return f"_t = {plain[2]}.data; _t{plain[3]}"


ASKED = re.compile(
    r"autograd\.grad\(.*, (\w+), allow_unused=True|backward\(inputs=\[(\w+)\]|"
    r"(\w+)\.retain_grad\("
)


def _noted(c: Context, asked: set[str], n: int, line: str, ends: bool) -> str | None:
    before, now = c.trace.after[n - 1] if n else {}, c.trace.after[n]

    def nodes(name: str) -> str:
        facts = now.get(name) or before.get(name)
        return f"_n_{facts.number if facts else name}"

    got = re.match(r"(\w+) = T\.autograd\.grad\((.*), (\w+), allow_unused=True(.*)\)\[0\]$", line)
    if got and got[3] in asked:
        return f"{got[1]} = at_nodes({got[2]}, {nodes(got[3])}{got[4]})"
    got = re.match(r"(total\(.*\))\.backward\(inputs=\[(\w+)\](.*)\)$", line)
    if got and got[2] in asked:
        return (
            f"collect({got[2]}, at_nodes({got[1]}, {nodes(got[2])}{got[3]})); "
            f"retain({got[2]}, {nodes(got[2])})"
        )
    got = re.match(r"(\w+)\.retain_grad\(\)$", line)
    if got and got[1] in asked:
        return f"retain({got[1]}, {nodes(got[1])})"
    again = []
    objects = {f.number: f for f in before.values()}
    for name in sorted(asked & set(now)):
        old = objects.get(now[name].number)
        if not old:
            again.append(f"{nodes(name)} = note({name}, [])")
        elif now[name].version != old.version:
            ended = ends and not re.search(r"no_grad|\.data\.|\.detach\(\)\.", line)
            again.append(f"{nodes(name)} = note({name}, {'[]' if ended else nodes(name)})")
    if n == len(c.lines) - 1:  # it is seen there
        again += [
            f"if id({name}) in retained and {name}.requires_grad: {name}.retain_grad()"
            for name in sorted(asked & set(now))
        ]
    return "\n".join([line, *again]) if again else None


@rewrite("reentrant_checkpoints")
def gone_through_again(c: Context) -> Iterator[list[str]]:
    """Checkpoints that another pass may follow."""
    if "use_reentrant=True" in c.text:
        yield lines_with(
            c.lines, lambda n, line: kept(line).replace("use_reentrant=True", "use_reentrant=False")
        )
