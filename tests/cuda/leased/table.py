# SPDX-License-Identifier: Apache-2.0
"""What the parts have written, as the tables of docs/cuda.md. Of what has not run it says so."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from plan import PARTS

NEVER = "not run on a device yet"


def read(folder: pathlib.Path, name: str) -> dict[str, Any]:
    path = folder / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def machine(found: dict[str, Any]) -> str:
    if not found.get("device"):
        return "Device: none yet.\n"
    versions, cublaslt = found["versions"], found["cuBLASLt"]
    capability = ".".join(map(str, found["capability"]))
    told = (
        f"Device: {found['device']} (compute capability {capability}, "
        f"{found['memory'] / 2**30:.0f} GiB), driver {found['driver']} (CUDA {found['CUDA']}), "
        f"cuBLASLt {cublaslt['version']}, PyTorch {versions['torch']}, NumPy {versions['numpy']}; "
        f"libdl {found['libdl']}"
        f"{' at ' + found['carried']['commit'] if found.get('carried') else ''}, {found['date']}: "
        f"`{found['command']}`.\n"
    )
    if found["device"] == "simulated device":
        told += "\nA rehearsal on the simulated driver: its figures say nothing about any device.\n"
    return told


def state(found: dict[str, Any]) -> str:
    if not found:
        return NEVER
    if "not run" in found:
        return f"not run: {found['not run']}"
    told = ": ".join(text for text in (found["outcome"], found.get("summary", "")) if text)
    return f"{told} ({found['seconds']:.0f} s)"


def figures(folder: pathlib.Path) -> str:
    lines = []
    for name in PARTS:
        for row in read(folder, name).get("rows", []):
            theirs = f"{row['PyTorch']:.4g}" if "PyTorch" in row else "not run"
            ratio = (
                f"{row['ratio']:.2f} ({row['least']:.2f} to {row['most']:.2f})"
                if "ratio" in row
                else "not run"
            )
            lines.append(
                f"| {row['kind']} | {row['name']} | {row['unit']} | {row['libdl']:.4g} | "
                f"{theirs} | {ratio} |\n"
            )
    if not lines:
        return ""
    return (
        "\nA ratio above 1 means that libdl is faster.\n\n"
        "| Kind | Operator | Unit | libdl | PyTorch | Ratio |\n|---|---|---|---|---|---|\n"
        + "".join(lines)
    )


def table(folder: pathlib.Path) -> str:
    lines = [
        f"| `{name}` | {planned.tries} | {state(read(folder, name)).replace('|', ' ')} |\n"
        for name, planned in PARTS.items()
    ]
    head = "\n| Part | What it tries | On a device |\n|---|---|---|\n"
    return machine(read(folder, "machine")) + head + "".join(lines) + figures(folder)
