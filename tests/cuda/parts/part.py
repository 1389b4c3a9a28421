# SPDX-License-Identifier: Apache-2.0
"""What the parts of tests/cuda/lease share: a record that is on disk after each step, the time that
is left, and PyTorch, if it is there."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pathlib
import sys
import time
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[3]
MOST = 200  # failures that are written down

# Behind everything else: bench/ itself would hide NVIDIA's package `cuda` by its cuda.py.
sys.path.append(str(ROOT))


def written(path: pathlib.Path, found: dict[str, Any]) -> None:
    """Whole or not at all, whenever the process is killed."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(found, indent=1) + "\n")
    unfinished.replace(path)


class Part:
    def __init__(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("--out", type=pathlib.Path, required=True)
        parser.add_argument("--seconds", type=float, required=True)
        parser.add_argument("--rehearsal", action="store_true")
        given = parser.parse_args()
        self.out: pathlib.Path = given.out
        self.rehearsal: bool = given.rehearsal
        self.end: float = time.monotonic() + given.seconds
        self.found: dict[str, Any] = {"summary": "", "failures": [], "failed": 0}

    def left(self) -> float:
        return self.end - time.monotonic()

    def fail(self, text: str) -> None:
        self.found["failed"] += 1
        if len(self.found["failures"]) < MOST:
            self.found["failures"].append(text[:1000])

    def expect(self, holds: bool, text: str) -> None:
        if not holds:
            self.fail(text)

    def write(self, summary: str | None = None, **more: Any) -> None:
        self.found |= more
        if summary is not None:
            self.found["summary"] = summary
        written(self.out, self.found)

    def not_run(self, reason: str) -> None:
        """Ends the part."""
        self.write(**{"not run": reason})
        sys.exit(0)

    def torch(self) -> tuple[Any, str]:
        """PyTorch, or None and the reason. A rehearsal takes libdl, whose names are the same."""
        if self.rehearsal:
            import libdl
            from libdl import nn, optim  # noqa: F401

            return libdl, "libdl itself, in a rehearsal"
        if not importlib.util.find_spec("torch"):
            return None, "PyTorch is missing"
        try:
            import torch
        except Exception as e:
            return None, f"PyTorch cannot be imported: {e}"
        if not torch.cuda.is_available():
            return None, f"PyTorch {torch.__version__} sees no device"
        return torch, f"PyTorch {torch.__version__}"


def simulation() -> bool:
    return "LIBDL_CUDA_DRIVER" in os.environ
