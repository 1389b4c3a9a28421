# SPDX-License-Identifier: Apache-2.0
"""libdl beside PyTorch: random calls of every function that both have, and random programs.

    python tests/oracle/run.py [--seed S] [--programs N] [--comparisons N] [--jobs N] [--out DIR]
                               [--only NAME,...] [--no-planted]
    python tests/oracle/run.py --store NAME TEXT [--forward]

Everything follows from the seed. What differs, and docs/coming-from-pytorch.md does not tell of, is
cut down and written to DIR as a case with PyTorch's answers; one that is mended goes to found/."""

from __future__ import annotations

import argparse
import collections
import functools
import multiprocessing
import os
import re
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "gates")]
warnings.simplefilter("ignore")

import libdl  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

import differences as known  # noqa: E402
import functions  # noqa: E402
import planted  # noqa: E402
import programs  # noqa: E402
import shrink  # noqa: E402
import steady  # noqa: E402
import stored  # noqa: E402
from arguments import Unknown  # noqa: E402
from case import Run, Seen, Stage  # noqa: E402
from compare import EPS, Difference, apart, coarsest, differences  # noqa: E402
from figures import figure  # noqa: E402

SLICE = 200  # cases that a worker tells of at once
SECONDS = 60  # that these may take


class Bench:
    """Both stages, and what is known."""

    def __init__(self, busy: Any = None) -> None:
        torch.set_num_threads(1)
        torch.set_warn_always(True)
        libdl.set_num_threads(1)
        self.theirs, self.ours = Stage(torch, busy), Stage(libdl, busy)
        self.entries = functions.entries(libdl, torch)
        self.known = known.declared()
        self.unsteady = 0  # differences that no digit is left to judge by
        # PyTorch's writes beside a tensor
        self.outside: collections.Counter[str] = collections.Counter()

    def case(self, kind: str, number: int, seed: int, entries: Any = None) -> Any:
        """name, lines, forward"""
        if kind == "call":
            some = entries or self.entries
            entry = some[number % len(some)]
            made = functions.make(entry, seed * 1_000_003 + number * 7919, self.theirs)
            return made.name, made.lines, False
        program = programs.make(seed * 1_000_003 + number, self.theirs)
        return "", program.lines, program.forward

    def judge(self, name: str, lines: list[str], forward: bool) -> tuple[Any, str | None, int]:
        """The first difference, the line of the page that covers it, how many answers there were."""
        wanted, found = self.theirs.run(lines, forward), self.ours.run(lines, forward)
        self.outside[name] += wanted.outside
        some = differences(wanted, found, coarsest(lines))
        answers = sum(map(_answers, wanted.values.values())) + 1
        covered = None, None
        for difference in some:
            if not name and self.rounding(lines, forward, difference):
                continue
            context = known.Context(
                name, lines, difference, wanted, found, forward, self.theirs, self.ours
            )
            line = known.covering(context, self.known)
            if line is None and steady.unsteady(context):
                self.unsteady += 1
            elif line is None:
                return difference, None, answers
            else:
                covered = difference, line
        return *covered, answers

    def rounding(self, lines: list[str], forward: bool, d: Difference) -> bool:
        """A digit more than usual is lost where large terms cancel; with 64 bits instead of 32 nothing
        differs."""
        coarse = coarsest(lines)
        more = 256 if coarse <= EPS["float64"] else 16  # nothing in between has float32's accuracy
        if (
            not isinstance(d.wanted, np.ndarray)
            or not isinstance(d.found, np.ndarray)
            or (apart(d.wanted.dtype.name, d.wanted, d.found, more * coarse).any())
        ):
            return False
        if coarse <= EPS["float64"]:
            return True
        wide = [
            line.replace("float32", "float64").replace(".float()", ".double()") for line in lines
        ]
        some = differences(self.theirs.run(wide, forward), self.ours.run(wide, forward))
        return all(
            (x.aspect, x.where) != (d.aspect, d.where) and x.aspect not in ("outcome", "error")
            for x in some
        )


def _answers(value: Any) -> int:
    return sum(map(_answers, value)) if isinstance(value, list) else isinstance(value, Seen)


def key_of(name: str, difference: Difference) -> str:
    """Differences with one key are taken for one."""

    def first(value: Any) -> str:
        text = value if isinstance(value, str) else ""
        return re.sub(r"[\d\[\](),.' -]+", " ", text)[:60]

    return f"{name} {difference.aspect} {first(difference.wanted)} {first(difference.found)}"


# -- workers ---------------------------------------------------------------------------------------


def work(
    kind: str,
    first: int,
    until: int,
    step: int,
    seed: int,
    place: Any,
    whose: Any,
    send: Any,
    only: Any,
) -> None:
    def busy(module: str) -> None:
        whose.value = module == "libdl"

    bench = Bench(busy)
    chosen = [e for e in bench.entries if str(e) in only] if only else None
    tally: collections.Counter[str] = collections.Counter()
    failures: list[Any] = []
    for n, number in enumerate(range(first, until, step)):
        if n % SLICE == 0:
            signal.alarm(SECONDS)
            send.send((dict(tally), failures, number))
            tally.clear()
            failures = []
        place.value = number
        name, lines, forward = bench.case(kind, number, seed, chosen)
        difference, line, answers = bench.judge(name, lines, forward)
        tally["cases"] += 1
        tally["answers"] += answers
        tally["forward"] += forward
        if line:
            tally["known " + line] += 1
        elif difference:
            tally["differ"] += 1
            failures.append(
                (key_of(name, difference), number, name, lines, forward, str(difference)[:600])
            )
    tally["unsteady"] += bench.unsteady
    tally.update({f"outside {name or 'a program'}": n for name, n in bench.outside.items() if n})
    send.send((dict(tally), failures, until))
    send.close()


def crowd(kind: str, count: int, seed: int, jobs: int, only: Any = None) -> Any:
    """All cases of a kind by several processes; one that dies is a failure too."""
    context = multiprocessing.get_context("fork")
    tally: collections.Counter[str] = collections.Counter()
    failures: list[Any] = []
    running = []

    def start(first: int) -> None:
        place, whose = context.RawValue("q", first), context.RawValue("b", 0)
        receive, send = context.Pipe(False)
        process = context.Process(
            target=work, args=(kind, first, count, jobs, seed, place, whose, send, only)
        )
        process.start()
        send.close()
        running.append((process, receive, place, whose))

    for first in range(jobs):
        start(first)
    while running:
        ready = multiprocessing.connection.wait([r for _, r, *_ in running])
        for process, receive, place, whose in list(running):
            if receive not in ready:
                continue
            try:
                some, more, _ = receive.recv()
                tally.update(some)
                failures += more
            except EOFError:
                process.join()
                running.remove((process, receive, place, whose))
                if process.exitcode and process.exitcode > 0:
                    raise RuntimeError(
                        f"case {place.value} of seed {seed}: an error of the oracle's own"
                    )
                if process.exitcode:
                    name, lines, forward = drawn_again(kind, place.value, seed, only)
                    ends = f"the process ends with {process.exitcode}"
                if process.exitcode and not whose.value:
                    tally["PyTorch died"] += 1
                    print(f"oracle: in PyTorch {ends}:", *lines, sep="\n    ", flush=True)
                elif process.exitcode:
                    failures.append((f"{name} {ends}", place.value, name, lines, forward, ends))
                    tally["died"] += 1
                if process.exitcode:
                    start(place.value + jobs)
    return tally, failures


def drawn_again(kind: str, number: int, seed: int, only: Any) -> tuple[str, list[str], bool]:
    """The case of which a process died. Programs are drawn line by line, as PyTorch runs them."""

    def case() -> tuple[str, list[str], bool]:
        bench = Bench()
        chosen = [e for e in bench.entries if str(e) in only] if only else None
        return bench.case(kind, number, seed, chosen)

    return in_child(case)() or ("", [f"{kind} {number} of seed {seed}, while it was drawn"], False)


def in_child(body: Any) -> Any:
    """A call that gives what the body gives; None where its process dies, of PyTorch or of libdl."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(False)

    def run() -> None:
        signal.alarm(SECONDS)
        send.send(body())

    process = context.Process(target=run)
    process.start()
    send.close()

    def answer() -> Any:
        try:
            return receive.recv()
        except EOFError:
            return None
        finally:
            process.join()

    return answer


def in_children(bench: Bench, chosen: list[Any], jobs: int) -> list[Any]:
    """Each failure cut down, several at once."""
    waiting: list[Any] = []
    done: list[Any] = []
    for _, _, name, lines, forward, _ in chosen:
        waiting.append(in_child(functools.partial(cut_down, bench, name, lines, forward)))
        if len(waiting) == jobs:
            done.append(waiting.pop(0)())
    return done + [one() for one in waiting]


def cut_down(bench: Bench, name: str, lines: list[str], forward: bool) -> Any:
    lines = shrink.shrunk(lines, forward, bench.theirs, bench.ours)
    difference, line, _ = bench.judge(name, lines, forward)
    if difference is None:
        return None  # it came once: the case as it was
    return "known" if line else (lines, str(difference)[:600])


# -- what is told ----------------------------------------------------------------------------------


def told(bench: Bench, failures: list[Any], out: Path, seed: int, jobs: int, most: int) -> int:
    """Each kind of failure once, cut down."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("failure-*"):
        old.unlink()
    groups: dict[str, list[Any]] = collections.defaultdict(list)
    for failure in failures:
        groups[failure[0]].append(failure)
    shown: dict[str, list[Any]] = collections.defaultdict(list)
    chosen = [
        failure
        for some in sorted(groups.values(), key=len, reverse=True)
        for failure in some[: 1 if some[0][2] else 6]
    ][:most]
    for failure, cut in zip(chosen, in_children(bench, chosen, jobs), strict=True):
        key, number, name, lines, forward, text = failure
        lines, text = (lines, text) if cut in (None, "known") else cut  # or the case as it was
        places = key if name else re.sub(r"\b[a-z]\d?\b", "x", "\n".join(lines))
        shown[places].append((number, name, lines, forward, text, len(groups[key])))
    listing = []
    for group in shown.values():
        number, name, lines, forward, text, times = min(group, key=lambda g: len("".join(g[2])))
        plain = [stored.plain_line(line) for line in lines]
        what = name or "program"
        path = out / f"failure-{re.sub(r'[^a-z_A-Z]', '-', what)}-{seed}-{number}.txt"
        first = text.splitlines()[0]
        in_child(
            lambda: stored.write(path, first, plain, forward, bench.theirs.run(plain, forward))
        )()
        listing.append(
            f"{what}{' in forward mode' if forward else ''}, {times} times, {path.name}\n    "
            + "\n    ".join(lines)
            + f"\n    -> {text}\n"
        )
    (out / "listing.txt").write_text("\n".join(listing), encoding="utf-8")
    return len(listing)


def store(bench: Bench, name: str, text: str, forward: bool) -> int:
    lines = [stored.plain_line(line.strip()) for line in text.strip().splitlines()]
    wanted = bench.theirs.run(lines, forward)
    stored.write(stored.FOUND / f"{name}.txt", name.replace("_", " "), lines, forward, wanted)
    difference, _, _ = bench.judge("", lines, forward)
    print(f"{name}: {difference or 'no difference'}")
    return 0


def show(bench: Bench, seed: int) -> list[str]:
    """The planted errors that were not found."""
    missed = []
    for error in planted.planted(libdl):
        chosen = [e for e in bench.entries if str(e) in error.calls]
        kind = "call" if error.calls else "program"
        for number in range(error.entries):
            name, lines, forward = bench.case(kind, number, seed, chosen)
            with planted.present(libdl, error):
                difference, line, _ = bench.judge(name, lines, forward)
            if difference and not line and bench.judge(name, lines, forward)[0] is None:
                print(f"planted: {error.told}: case {number}, {difference.aspect}")
                break
        else:
            missed.append(error.told)
            print(f"planted: {error.told} was NOT FOUND")
    return missed


def unknown(bench: Bench, seed: int) -> list[str]:
    """Functions that no arguments can be drawn for."""
    some = []
    for n in range(4 * len(bench.entries)):
        entry = bench.entries[n % len(bench.entries)]
        try:
            bench.case("call", n, seed)
        except Unknown as parameter:
            some.append(f"{entry}: {parameter}")
    return sorted(set(some))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--comparisons", type=int, default=0, help="0: ten times the programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("build/oracle"))
    parser.add_argument("--only", default="", help="functions, by comma")
    parser.add_argument("--most", type=int, default=60, help="failures that are cut down")
    parser.add_argument("--no-planted", action="store_true")
    parser.add_argument(
        "--store",
        nargs=2,
        metavar=("NAME", "TEXT"),
        help="writes the lines, with PyTorch's answers, to found/NAME.txt",
    )
    parser.add_argument("--forward", action="store_true", help="these run in forward mode")
    given = parser.parse_args()
    bench = Bench()
    if given.store:
        return store(bench, *given.store, given.forward)
    lost = unknown(bench, given.seed)
    for line in lost:
        print(f"oracle: nothing can be drawn for {line}; tell tests/samples or tests/oracle")
    if lost:
        return 1
    missed = [] if given.no_planted else show(bench, given.seed)
    wanted = given.comparisons or 10 * given.programs
    only = set(given.only.split(",")) if given.only else None

    begin = time.perf_counter()
    calls, failures = crowd("call", max(1, wanted * 10 // 34), given.seed, given.jobs, only)
    middle = time.perf_counter()
    print(f"calls: {middle - begin:.0f} s", flush=True)
    ran, more = crowd("program", 0 if only else given.programs, given.seed, given.jobs)
    end = time.perf_counter()
    print(f"programs: {end - middle:.0f} s", flush=True)
    failures += more
    count = told(bench, failures, given.out, given.seed, given.jobs, given.most)

    covered = {k[6:]: n for k, n in (calls + ran).items() if k.startswith("known ")}
    for name, n in sorted((calls + ran).items()):
        if name.startswith("outside "):
            print(f"oracle: PyTorch wrote beside a tensor's memory in {name[8:]}, {n} times")
    idle = sorted(set(bench.known) - set(covered)) if not only else []
    for name, n in sorted(covered.items()):
        print(f"known: {name}: {n} times, line {bench.known[name]}")
    whole = given.programs >= 100_000 and wanted >= 1_000_000  # less may miss what is rare
    for name in idle:
        print(f"oracle: line {bench.known[name]} of {known.PAGE.name} covers nothing: {name}")
    rate = calls["answers"] / max(middle - begin, 1e-3)
    print(
        f"{calls['answers']:,} comparisons in {calls['cases']:,} calls of {len(bench.entries)} "
        f"functions, {rate:,.0f} a second; {ran['cases']:,} programs, {ran['forward']:,} of them "
        f"in forward mode, {ran['cases'] / max(end - middle, 1e-3):,.0f} a second; "
        f"{calls['unsteady']:,} that PyTorch's rounding decides; "
        f"{calls['differ'] + ran['differ']:,} differ, of {count} kinds: {given.out}/listing.txt"
    )
    figure("comparisons with PyTorch", f"{calls['answers']:,}, {count} kinds of difference")
    figure("programs beside PyTorch", f"{ran['cases']:,}")
    bad = bool(missed or failures or (whole and idle))
    return 1 if bad else 0


if __name__ == "__main__":
    import multiprocessing.connection

    sys.exit(main())
