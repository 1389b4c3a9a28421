# SPDX-License-Identifier: Apache-2.0
"""Cases as files: the lines, and PyTorch's answers. tests/wrappers/test_oracle_cases.py runs them
without PyTorch."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

import answered
from answered import Answer
from case import Run, Seen
from words import numbers, numpy_type, spread, strides_of

FOUND = Path(__file__).parent / "found"


def plain_line(line: str) -> str:
    """Without what is drawn: numbers stand in the line."""

    def made(match: re.Match[str]) -> str:
        dtype, shape_text, layout, kind, seed = match.groups()
        shape = tuple(int(n) for n in re.findall(r"\d+", shape_text))
        strides = strides_of(shape, layout)
        storage = numbers(dtype, kind, spread(shape, strides), int(seed)).tolist()
        return f"laid({dtype!r}, {shape}, {strides}, {storage}"

    def indices(match: re.Match[str]) -> str:
        shape = tuple(int(n) for n in re.findall(r"\d+", match[1]))
        strides = strides_of(shape, "plain")
        storage = numbers("int64", "index", spread(shape, strides), int(match[3]), int(match[2]))
        return f"laid({match[4] or repr('int64')}, {shape}, {strides}, {storage.tolist()})"

    line = re.sub(r"make\('(\w+)', (\([^)]*\)), '(\w+)', '(\w+)', (\d+)", made, line)
    return re.sub(r"indices\((\([^)]*\)), (\d+), (\d+)(?:, ('\w+'))?\)", indices, line)


def plain(value: Any) -> Any:
    """What is seen, as lists and dicts: [dtype, shape, numbers, what else is so]."""
    if isinstance(value, Seen):
        flat = value.numbers.reshape(-1)
        if flat.dtype.kind == "c":
            flat = np.stack((flat.real, flat.imag), -1)
        numbers = flat.tolist()
        if value.dtype not in ("float64", "complex128") and flat.dtype.kind in "cf":
            numbers = [float(f"{x:.9g}") for x in flat.reshape(-1).tolist()]  # all of a float32
        elif flat.ndim == 2:
            numbers = flat.reshape(-1).tolist()
        more: dict[str, Any] = {}
        if value.strides is not None:
            more["strides"] = list(value.strides)
        for name in ("requires_grad", "is_leaf"):
            if getattr(value, name):
                more[name] = True
        for name in ("grad", "tangent"):
            if getattr(value, name) is not None:
                more[name] = plain(getattr(value, name))
        return {"tensor": [value.dtype, list(value.shape), numbers, *([more] if more else [])]}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return {"complex": [value.real, value.imag]} if isinstance(value, complex) else value


def seen(value: Any) -> Any:
    """The value that `plain` made plain."""
    if isinstance(value, list):
        return [seen(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "complex" in value:
        return complex(*value["complex"])
    dtype, shape, listed, more = [*value["tensor"], {}][:4]
    flat = np.array(listed, np.float64 if dtype == "bfloat16" else None)
    wanted = np.dtype(numpy_type(dtype))
    if wanted.kind == "c":
        flat = flat.reshape(-1, 2).astype(np.float64)
        flat = flat[:, 0] + 1j * flat[:, 1]
    strides = more.get("strides")
    return Seen(
        dtype,
        tuple(shape),
        flat.astype(wanted).reshape(shape),
        None if strides is None else tuple(strides),
        more.get("requires_grad", False),
        more.get("is_leaf", False),
        seen(more.get("grad")),
        seen(more.get("tangent")),
    )


FORWARD = "In forward mode."
WARNS = "warns"
AT_THE_END = "at the end"


def write(path: Path, told: str, lines: list[str], forward: bool, wanted: Run) -> None:
    """The lines with how they end, if not as lines should; then every variable."""
    ends: list[Answer] = []
    for n, (line, outcome) in enumerate(zip(lines, wanted.outcomes, strict=True)):
        end: Any = answered.raises(outcome) if outcome else WARNS if n in wanted.warned else None
        if outcome and n in wanted.warned:
            end = [end, WARNS]
        ends.append(Answer(line, answered.NONE_STORED if end is None else end))
    values = [Answer(name, plain(value)) for name, value in wanted.values.items()]
    title = "What PyTorch answers, stored by tests/oracle/run.py." + f"\n{FORWARD}" * forward
    text = answered.written({told.strip(): ends, AT_THE_END: values}, title, 17)
    path.write_text(text, encoding="utf-8")


def read(path: Path) -> tuple[dict[str, Any], Run]:
    text = path.read_text(encoding="utf-8")
    sections = answered.parsed(text)
    told = next(name for name in sections if name != AT_THE_END)
    run = Run(values={answer.line: seen(answer.value) for answer in sections[AT_THE_END]})
    for n, answer in enumerate(sections[told]):
        ends = answer.value if isinstance(answer.value, list) else [answer.value]
        if WARNS in ends:
            run.warned.append(n)
        run.outcomes.append(next((end["error"][0] for end in ends if isinstance(end, dict)), ""))
        run.errors.append(None)
    lines = [answer.line for answer in sections[told]]
    return {"told": told, "lines": lines, "forward": f"# {FORWARD}" in text.splitlines()}, run
