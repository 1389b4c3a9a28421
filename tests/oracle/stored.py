# SPDX-License-Identifier: Apache-2.0
"""Cases as files: the lines, and PyTorch's answers. tests/wrappers/test_oracle_cases.py runs them
without PyTorch."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

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


def to_json(value: Any) -> Any:
    if isinstance(value, Seen):
        flat = value.numbers.reshape(-1)
        if flat.dtype.kind == "c":
            flat = np.stack((flat.real, flat.imag), -1)
        made = {"dtype": value.dtype, "shape": list(value.shape), "numbers": flat.tolist()}
        if value.strides is not None:
            made["strides"] = list(value.strides)
        for name in ("requires_grad", "is_leaf"):
            made[name] = getattr(value, name)
        for name in ("grad", "tangent"):
            if getattr(value, name) is not None:
                made[name] = to_json(getattr(value, name))
        return made
    if isinstance(value, list):
        return [to_json(v) for v in value]
    return {"complex": [value.real, value.imag]} if isinstance(value, complex) else value


def from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [from_json(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "complex" in value:
        return complex(*value["complex"])
    flat = np.array(value["numbers"], np.float64 if value["dtype"] == "bfloat16" else None)
    wanted = np.dtype(numpy_type(value["dtype"]))
    if wanted.kind == "c":
        flat = flat.reshape(-1, 2).astype(np.float64)
        flat = flat[:, 0] + 1j * flat[:, 1]
    strides = value.get("strides")
    return Seen(value["dtype"], tuple(value["shape"]),
                flat.astype(wanted).reshape(value["shape"]),
                None if strides is None else tuple(strides), value["requires_grad"],
                value["is_leaf"], from_json(value.get("grad")), from_json(value.get("tangent")))


def write(path: Path, told: str, lines: list[str], forward: bool, wanted: Run) -> None:
    made = {"told": told, "forward": forward, "lines": lines, "outcomes": wanted.outcomes,
            "warned": wanted.warned,
            "values": {k: to_json(v) for k, v in wanted.values.items()}}
    text = json.dumps(made, indent=1)
    # A list of numbers on one line.
    text = re.sub(r"\[\s+([^\[\]{}\"]*?)\s+\]",
                  lambda m: "[" + re.sub(r"\s+", " ", m[1]) + "]", text)
    path.write_text(text + "\n", encoding="utf-8")


def read(path: Path) -> tuple[dict[str, Any], Run]:
    case = json.loads(path.read_text(encoding="utf-8"))
    run = Run(outcomes=case["outcomes"], errors=[None] * len(case["outcomes"]),
              warned=case["warned"])
    run.values = {k: from_json(v) for k, v in case["values"].items()}
    return case, run
