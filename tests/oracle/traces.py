# SPDX-License-Identifier: Apache-2.0
"""What PyTorch holds of a program's variables after each line: who shares memory with whom, which views
were made while nothing was recorded, what was written since."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from case import Run, Stage


def names_in(line: str) -> set[str]:
    """The program's variables in a line, without the parameters of functions."""
    line = re.sub(r"lambda u, v: .*?, (?=\w+, [^,]+, use_reentrant)", "", line)
    line = re.sub(r"(register_\w*hook\()lambda .*", r"\1", line)
    return set(re.findall(r"(?<![\w.'])[a-z]\d*(?![\w('])", line))


def bound_by(line: str) -> str | None:
    """The variable that a line makes."""
    made = re.match(r"(?:with [^:]*: )?([a-z]\d*) = ", line)
    return made and made[1]


def written_by(line: str) -> str | None:
    """The variable that a line writes."""
    line = re.sub(r"^with [^:]*: ", "", line)
    line = re.sub(r"^[a-z]\d* = (?=[a-z]\d*[.\[].*_\()", "", line)
    found = re.match(
        r"([a-z]\d*)(?:\.data|\.detach\(\)|\[[^=]*?\])?(?:\.[a-z_]+_\(| [-+*/]= |(?<=\]) = )", line
    )
    out = re.search(r"out=([a-z]\d*)\)", line)
    dirty = re.search(r"Double_\.apply\(([a-z]\d*)\)", line)
    some = found or out or dirty
    return some[1] if some and "requires_grad_" not in line else None


@dataclass
class Fact:
    """Of one variable."""

    storage: int
    elements: tuple[Any, ...]  # offset, shape, strides
    view: bool
    inference: bool
    requires_grad: bool
    history: bool
    origin: str  # of a view
    version: int
    number: int  # of the object
    contiguous: bool


class Trace:
    def __init__(self, lines: list[str], stage: Stage, forward: bool) -> None:
        self.lines, self.module = lines, stage.module
        self.after: list[dict[str, Fact]] = []
        names = dict(stage.words.names)
        words = set(names)
        ad = stage.module.autograd.forward_ad
        if forward:
            ad.enter_dual_level()
        try:
            run = Run()
            for line in lines:
                stage.step(run, line, names)
                self.after.append(
                    {
                        k: self._fact(v)
                        for k, v in names.items()
                        if k not in words and isinstance(v, stage.Tensor)
                    }
                )
        finally:
            if forward:
                ad.exit_dual_level()
            stage.module.set_grad_enabled(True)
        self.outcomes = run.outcomes

    def _fact(self, x: Any) -> Fact:
        inside = self.module._C._autograd
        view = x._is_view()
        try:
            origin = str(inside._get_creation_meta(x)).rpartition(".")[2] if view else ""
        except RuntimeError:
            origin = ""
        try:
            history = x.grad_fn is not None
        except RuntimeError:  # a view that must not be read any more
            history = True
        inference = x.is_inference()
        return Fact(
            x.untyped_storage()._cdata,
            (x.storage_offset(), tuple(x.shape), x.stride()),
            view,
            inference,
            x.requires_grad,
            history,
            origin,
            0 if inference else x._version,
            id(x),
            x.is_contiguous(),
        )

    def ever(self, name: str, until: int) -> list[Fact]:
        return [facts[name] for facts in self.after[: until + 1] if name in facts]

    def apart(self, until: int) -> set[str]:
        """Views that were made while nothing was recorded, or before their base required grad."""
        some = {
            name
            for facts in self.after[: until + 1]
            for name, f in facts.items()
            if f.view
            and (
                f.origin in ("NO_GRAD_MODE", "INFERENCE_MODE")
                or (f.requires_grad and not f.history)
            )
        }
        for n in range(1, min(until + 1, len(self.after))):
            if "requires_grad" in self.lines[n]:
                before, now = self.after[n - 1], self.after[n]
                some |= {
                    name
                    for name, f in before.items()
                    if f.view and not f.requires_grad and (name in now and now[name].requires_grad)
                }
        return some

    def old_views(self, until: int) -> set[str]:
        """Views whose elements were written after they were made: PyTorch makes their node anew."""
        return {
            name
            for name in {k for facts in self.after[: until + 1] for k in facts}
            if (some := [f for f in self.ever(name, until) if f.view])
            and some[-1].version > some[0].version
        }

    def inference(self, until: int) -> set[str]:
        """Made in inference mode, views too."""
        return {
            name
            for n, facts in enumerate(self.after[: until + 1])
            for name, f in facts.items()
            if f.inference
            or f.origin == "INFERENCE_MODE"
            or ("inference_mode" in self.lines[n] and bound_by(self.lines[n]) == name)
        }

    def reached(self, names: set[str], until: int) -> set[str]:
        """These, what was made of them, and what they were written into."""
        some = set(names)
        for line in self.lines[: until + 1]:
            if names_in(line) & some:
                some |= {name for name in (bound_by(line), written_by(line)) if name}
        return some

    def concerned(self, names: set[str], until: int) -> set[str]:
        """These, what was made of them, and what they were made of."""
        some = self.reached(names, until)
        for line in reversed(self.lines[: until + 1]):
            if {bound_by(line), written_by(line)} & some:
                some |= names_in(line)
        return some

    def sharing(self, names: set[str], until: int) -> set[str]:
        """All variables over the memory of these."""
        storages = {f.storage for name in names for f in self.ever(name, until)}
        return names | {
            name
            for facts in self.after[: until + 1]
            for name, f in facts.items()
            if f.storage in storages
        }

    def objects(self, names: set[str], until: int) -> set[str]:
        """All names of these objects."""
        numbers = {f.number for name in names for f in self.ever(name, until)}
        return {
            name
            for facts in self.after[: until + 1]
            for name, f in facts.items()
            if f.number in numbers
        }

    def share(self, a: str, b: str, line: int) -> bool:
        """Whether they shared memory before the line."""
        facts = self.after[line - 1] if line else {}
        return a in facts and b in facts and facts[a].storage == facts[b].storage
