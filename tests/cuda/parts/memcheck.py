# SPDX-License-Identifier: Apache-2.0
"""compute-sanitizer over a sample of the operators' cases: memcheck, with every tensor an
allocation of its own, and racecheck. First each must find a planted fault."""

from __future__ import annotations

import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from correctness import operators, refused, started
from device_process import Ended
from part import ROOT, Part, simulation

CARRIED = ROOT / "compute-sanitizer/compute-sanitizer"
SUMMARY = re.compile(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)")
TOOLS = {"memcheck": 0.6, "racecheck": 0.35}  # of the time
PATIENCE = 90  # seconds for one case, or for the kernels to be loaded and instrumented


def sanitizer() -> str | None:
    return str(CARRIED) if CARRIED.exists() else shutil.which("compute-sanitizer")


def complaints(log: pathlib.Path) -> tuple[int | None, str]:
    """How many, None where the tool did not come to its end; and the text."""
    text = log.read_text() if log.exists() else ""
    summary = SUMMARY.search(text)
    lines = [line.removeprefix("=========").strip() for line in text.splitlines()]
    shown = "; ".join(line for line in lines if line)[:900]
    return (int(summary[1] or summary[2]) if summary else None), shown


def finds_planted(tool: str, program: str, folder: pathlib.Path) -> bool:
    log = folder / f"planted-{tool}.log"
    planted = pathlib.Path(__file__).with_name("planted_fault.py")
    command = [program, "--tool", tool, "--log-file", str(log), sys.executable, str(planted), tool]
    subprocess.run(command, capture_output=True, timeout=60, check=False)
    return bool(complaints(log)[0])


def checked(part: Part, tool: str, program: str, folder: pathlib.Path, seconds: float) -> str:
    """Some samples of operators drawn at random under the tool, until its time is up."""
    end = time.monotonic() + seconds
    log = folder / f"{tool}.log"
    names = operators()
    random.Random(1).shuffle(names)
    reached = compared = 0
    try:
        device = started(
            (program, "--tool", tool, "--log-file", str(log)),
            {"LIBDL_DISABLE": "allocator"},
            PATIENCE,
        )
        for k, name in enumerate(names[:3] if part.rehearsal else names):
            if time.monotonic() > end:
                break
            failures, samples = device.compared(f"{name} {k % 16}/16")
            for text in failures:
                part.fail(f"{tool}: {name}: {text}")
            reached, compared = reached + 1, compared + samples
        device.end()
    except Ended as e:
        part.fail(f"{tool}: {e}")
    found, text = complaints(log)
    if found is None:
        part.fail(f"{tool} did not come to its end: {text}")
    elif found:
        part.fail(f"{tool}: {text}")
    told = "unfinished" if found is None else f"{found} complaints"
    return f"{tool}: {compared:,} samples of {reached} operators, {told}"


def main() -> None:
    part = Part()
    program = sanitizer()
    if not program:
        part.not_run("compute-sanitizer is neither on the path nor carried")
    if refused():
        part.not_run(refused())
    assert program
    told = []
    seconds = part.left()
    with tempfile.TemporaryDirectory() as folder:
        for tool, share in TOOLS.items():
            if not simulation() and not finds_planted(tool, program, pathlib.Path(folder)):
                part.fail(f"{tool} does not find a planted fault")
            else:
                told.append(checked(part, tool, program, pathlib.Path(folder), share * seconds))
            part.write("; ".join(told), tool=program)


if __name__ == "__main__":
    main()
