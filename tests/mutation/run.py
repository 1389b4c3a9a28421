# SPDX-License-Identifier: Apache-2.0
"""Leaves out one check of the library after the other: a test that came to it has to fail.

    python tests/mutation/run.py BUILD [--tenth] [--seed N] [--only TEXT] [--changed]
                                  [--suite PATH...]

BUILD holds what `ninja mutation` makes. First the suite runs once and notes which test is refused
where; then, for each place, some of its tests run without that check. --tenth takes a sample
by the seed; --only the places whose line contains TEXT, --changed those in lines that did not land
yet; --suite other tests in Python than all. What no test notices stands in
unnoticed.txt with its reason, and that is at most one place in twenty.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "gates")]
import change  # noqa: E402
from figures import figure  # noqa: E402
from places import ROOT, Place, accepted, places  # noqa: E402

MOST = 0.05  # of the places may be unnoticed
SECONDS = 30  # for one program; what takes longer does not end
SUITE_SECONDS = 3600  # for all tests at once, on a machine that does other work as well
TESTS = 40  # asked for one place, the most particular first
SUITE = ["tests/ops", "tests/wrappers", "tests/io"]
WORKERS = os.cpu_count() or 1
MEMORY = 8 << 30  # of a process: without its check a call may want all there is


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


class Suite:
    """The tests' programs over the library whose checks can be left out."""

    def __init__(self, build: pathlib.Path, paths: list[str]):
        self.build = build.resolve()
        self.paths = paths
        # One check is left out for each run: at a tenth of the size, and their figures are none.
        whole = ("LIBDL_WHOLE", "LIBDL_FIGURES")
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in whole},
            "LD_LIBRARY_PATH": str(self.build / "mutation"),
            "PYTHONPATH": f"{self.build / 'python'}:{ROOT / 'tests/mutation'}",
            "LIBDL_NUM_THREADS": "1",
        }
        self.python = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        attack = self.build / "tests/attack"
        self.programs = {"cpp_tests": [self.build / "cpp_tests"]}
        for source in sorted((ROOT / "tests/capi").glob("*.c")):
            name = f"capi_{source.stem}"
            self.programs[name] = [self.build / "tests/capi" / name]
        self.programs["attack"] = [
            attack / "attack",
            attack / "attacks.txt",
            ROOT / "tests/attack/legal.txt",
        ]

    def command(self, test: str) -> list[object]:
        """A test of a program; pytest's are run by forked.py."""
        if test in self.programs:
            return self.programs[test]
        return [self.build / "mutation/core_tests", f"--gtest_filter={test}"]

    def run(
        self, command: list[object], seconds: float, **more: str
    ) -> subprocess.CompletedProcess:
        return subprocess.run(
            [str(word) for word in command],
            cwd=ROOT,
            timeout=seconds,
            env={**self.environment, **more},
            capture_output=True,
            preexec_fn=limit_memory,
            text=True,
            errors="replace",
        )

    def reached(self, log: pathlib.Path) -> dict[str, list[str]]:
        """The tests that are refused at each place, when all run; they have to pass."""
        commands = {name: (command, name) for name, command in self.programs.items()}
        commands["core"] = ([self.build / "mutation/core_tests", "--gtest_brief=1"], "")
        if self.paths:
            commands["pytest"] = ([*self.python, "-n", str(WORKERS), *self.paths], "")

        def run(name: str) -> None:
            command, test = commands.pop(name)
            done = self.run(command, SUITE_SECONDS, LIBDL_REACHED=str(log), LIBDL_TEST=test)
            if done.returncode:
                raise SystemExit(
                    f"checks: {name} fails though no check is left out\n"
                    + done.stdout[-6000:]
                    + done.stderr[-2000:]
                )

        if self.paths:  # first and alone: it has processes of its own
            run("pytest")
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(run, list(commands)))
        return tests_of(log)

    def asked(
        self, jobs: dict[str, list[str]], folder: pathlib.Path
    ) -> dict[str, list[str] | None]:
        """Which of its tests in Python notices that the place is left out, and how."""
        if not any(jobs.values()):
            return {}
        file, verdicts = folder / "jobs", folder / "verdicts"
        file.write_text(json.dumps({"workers": WORKERS, "jobs": jobs}))
        command = [*self.python, "-p", "forked", "-p", "no:faulthandler", *self.paths]
        done = self.run(command, 3000, LIBDL_JOBS=str(file), LIBDL_VERDICTS=str(verdicts))
        if not verdicts.exists():
            raise SystemExit(done.stdout + done.stderr)
        return json.loads(verdicts.read_text())

    def asked_program(self, place: str, tests: list[str]) -> list[str] | None:
        for test in tests:
            try:
                done = self.run(self.command(test), SECONDS, LIBDL_LEFT_OUT=place, LIBDL_TEST=test)
            except subprocess.TimeoutExpired:
                return [test, "does not end"]
            if done.returncode:
                return [test, "fails" if done.returncode > 0 else f"dies of {-done.returncode}"]
        return None

    def noticed(self, reached: dict[str, list[str]], folder: pathlib.Path) -> dict[str, list[str]]:
        in_python = {
            place: [test for test in tests if "::" in test][:TESTS]
            for place, tests in reached.items()
        }
        asked = self.asked(in_python, folder)
        found = {place: verdict for place, verdict in asked.items() if verdict}
        rest = [place for place in reached if place not in found]
        others = [
            [test for test in reached[place] if test and "::" not in test][:TESTS] for place in rest
        ]
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for place, verdict in zip(rest, pool.map(self.asked_program, rest, others)):
                if verdict:
                    found[place] = verdict
        return found


def tests_of(log: pathlib.Path) -> dict[str, list[str]]:
    """The tests that were refused at each place, the most particular first."""
    found = collections.defaultdict(set)
    for line in log.read_text().splitlines():
        place, _, test = line.partition("\t")
        if not place.startswith("libdl/"):
            continue  # a test's own
        # "tests/ops/test_x.py::test_y[z] (call)"
        found[place].add(test.rpartition(" ")[0] if "::" in test else test)
    visits = collections.Counter(test for tests in found.values() for test in tests)
    return {
        place: sorted(tests, key=lambda test: (visits[test], test))
        for place, tests in found.items()
    }


def complaints(
    chosen: list[Place],
    every: list[Place],
    reached: dict[str, list[str]],
    noticed: dict[str, list[str]],
) -> list[str]:
    known = accepted()
    keys = {place.key for place in every}
    wrong = [f"unnoticed.txt: there is no {key}" for key in known if key not in keys]
    wrong += [f"unnoticed.txt: no reason for {key}" for key, why in known.items() if not why]
    in_list = [place for place in every if place.key in known]
    if len(in_list) > MOST * len(every):
        wrong.append(f"unnoticed.txt: {len(in_list)} of {len(every)} are more than {MOST:.0%}")
    for place in chosen:
        if place.number not in noticed and place.key not in known:
            count = len(reached.get(place.number, []))
            how = f"{count} tests come here, none fails" if count else "no test comes here"
            wrong.append(f"{place.number}: {how}: {place.text}")
    for key in known:
        there = [place for place in chosen if place.key == key]
        if (
            there
            and all(place.number in noticed for place in there)
            and len(there) == sum(place.key == key for place in every)
        ):
            wrong.append(f"unnoticed.txt: a test notices {key}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--tenth", action="store_true")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("LIBDL_TURN", "0")))
    parser.add_argument("--only", default="")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--suite", nargs="*", default=SUITE)
    parser.add_argument("--reached", type=pathlib.Path, help="kept there, and used where it is")
    parser.add_argument("--verbose", action="store_true", help="say who notices each place")
    given = parser.parse_args()
    every = places()
    chosen = [place for place in every if given.only in f"{place.number}: {place.text}"]
    if given.changed:
        new = {name: change.lines(name) for name in change.files() if name.startswith("libdl/")}
        chosen = [place for place in chosen if place.line in new.get(place.file, ())]
        if not chosen:
            print("checks: none is new")
            return 0
    if given.tenth:
        chosen = random.Random(given.seed).sample(chosen, (len(chosen) + 9) // 10)
        print(f"checks: {len(chosen)} of {len(every)} places, --seed {given.seed}", flush=True)
    suite = Suite(given.build, given.suite)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log = given.reached or folder / "reached"
        reached = tests_of(log) if log.exists() else suite.reached(log)
        if unknown := sorted(reached.keys() - {place.number for place in every}):
            raise SystemExit("checks: errors without a number: " + ", ".join(unknown))
        print(f"checks: the suite took {time.monotonic() - began:.0f} s", flush=True)
        noticed = suite.noticed(
            {place.number: reached[place.number] for place in chosen if place.number in reached},
            folder,
        )
    if given.verbose:
        for place in chosen:
            print(f"{place.number}: {' '.join(noticed.get(place.number, ['-']))}")
    wrong = complaints(chosen, every, reached, noticed)
    for sentence in sorted(wrong):
        print(f"checks: {sentence}", file=sys.stderr)
    came = sum(place.number in reached for place in chosen)
    figure(
        "checks left out, one at a time",
        f"{len(chosen)} places, {len(noticed)} noticed ({len(noticed) / len(chosen):.1%}), "
        f"{len(accepted())} listed, {len(wrong)} findings",
    )
    print(
        f"checks: {len(chosen)} left out, one at a time; tests come to {came}, "
        f"notice {len(noticed)} ({len(noticed) / len(chosen):.1%}); "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
