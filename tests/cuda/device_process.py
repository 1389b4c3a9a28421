# SPDX-License-Identifier: Apache-2.0
"""Processes in which on_device.py compares cases: one that ends, or answers too late, costs its
case and is replaced."""

from __future__ import annotations

import json
import os
import pathlib
import selectors
import subprocess
import sys
from collections.abc import Callable, Sequence

HERE = pathlib.Path(__file__).resolve().parent


class Ended(Exception):
    """The process is gone, or will not answer."""


class Device:
    def __init__(
        self, environment: dict[str, str], prefix: Sequence[str] = (), patience: float | None = None
    ) -> None:
        """prefix: a program that runs it; patience: seconds for one answer."""
        self.patience = patience
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-B", str(HERE / "on_device.py")],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        self.state = self.answer()

    def answer(self) -> object:
        assert self.process.stdout
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.process.stdout, selectors.EVENT_READ)
            if not waiting.select(self.patience):
                self.process.kill()
                self.process.wait()
                raise Ended(f"no answer within {self.patience:.0f} s")
        line = self.process.stdout.readline()
        while line.startswith("===="):  # what compute-sanitizer says
            line = self.process.stdout.readline()
        if not line:
            raise Ended(f"the process ended with {self.process.wait()}")
        return json.loads(line)

    def compared(self, case: str) -> tuple[list[str], int]:
        """The failures, and how many samples were compared."""
        assert self.process.stdin
        try:
            self.process.stdin.write(case + "\n")
            self.process.stdin.flush()
        except BrokenPipeError as e:
            raise Ended(f"the process ended with {self.process.wait()}") from e
        found = self.answer()
        assert isinstance(found, dict)
        return found["failures"], found["compared"]

    def end(self) -> None:
        self.process.communicate()


class Devices:
    """One for all cases, and a new one after a case that ended it."""

    def __init__(self, start: Callable[[], Device]) -> None:
        self.start = start
        self.device = start()

    def compared(self, case: str) -> tuple[list[str], int]:
        try:
            return self.device.compared(case)
        except Ended as e:
            self.device.end()
            self.device = self.start()
            return [f"{case} ended the process: {e}"], 0

    def end(self) -> None:
        self.device.end()
