# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: instead of the suite, runs chosen tests with one check left out, each set in a
fork of the process that has collected them all.

LIBDL_JOBS names a file of {"workers", "jobs": {place: [test, ...]}}; LIBDL_VERDICTS gets a JSON
object of place: [test, how it failed], or null where none of them did.
"""

import gc
import json
import os
import resource
import signal
import time

import pytest
from _pytest.runner import runtestprotocol

SECONDS = 20  # for a set of tests that take one together
MEMORY = 8 << 30


def run(items, place):
    """In the child: the tests in turn, up to the first that fails. Never returns."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if place:
        os.environ["LIBDL_LEFT_OUT"] = place
    for item in items:
        yield
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=None)):
            os._exit(1)
    os._exit(0)


class Fork:
    """A child that runs tests with a check left out."""

    def __init__(self, items, place):
        self.progress, out = os.pipe()
        self.deadline = time.monotonic() + SECONDS
        self.late = False
        self.pid = os.fork()
        if self.pid == 0:
            for _ in run(items, place):
                os.write(out, b".")
        os.close(out)

    def outcome(self):
        """None while it runs; then (the failing test's index, how), or () where all passed."""
        if time.monotonic() > self.deadline and not self.late:
            self.late = True
            os.killpg(self.pid, signal.SIGKILL)
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        begun = len(os.read(self.progress, 1 << 16))
        os.close(self.progress)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return ()
        how = "fails"
        if os.WIFSIGNALED(status):
            how = "does not end" if self.late else "dies of " + signal.Signals(status & 127).name
        return begun - 1, how


def judged(place, tests, sound):
    """Yields (place or None, tests) to be run and is sent the outcome; returns the verdict. A test
    counts that passes alone when nothing is left out."""
    while tests:
        outcome = yield place, tests
        if not outcome:
            return None
        index, how = outcome
        test = tests[index]
        if test not in sound:
            sound[test] = not (yield None, [test])
        if sound[test]:
            return test, how
        tests = tests[index + 1 :]
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    with open(os.environ["LIBDL_JOBS"]) as file:
        task = json.load(file)
    items = {item.nodeid: item for item in session.items}
    gc.collect()
    gc.freeze()
    sound, verdicts, running = {}, {}, []
    waiting = [(place, judged(place, tests, sound), None) for place, tests in task["jobs"].items()]
    waiting.reverse()
    while waiting or running:
        while waiting and len(running) < task["workers"]:
            place, judge, outcome = waiting.pop()
            try:
                left_out, tests = judge.send(outcome)
            except StopIteration as stop:
                verdicts[place] = stop.value
                continue
            running.append((place, judge, Fork([items[test] for test in tests], left_out)))
        time.sleep(0.002)
        for entry in list(running):
            place, judge, fork = entry
            if (outcome := fork.outcome()) is not None:
                running.remove(entry)
                waiting.append((place, judge, outcome))
    with open(os.environ["LIBDL_VERDICTS"], "w") as file:
        json.dump(verdicts, file)
    return True
