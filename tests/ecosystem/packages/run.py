# SPDX-License-Identifier: Apache-2.0
"""Runs short programs with packages that are written for PyTorch, on libdl; see README.md."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent


def environment(folder: Path) -> Path:
    """The Python of an environment in which the packages are, and PyTorch is not."""
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "-q"]
        subprocess.run([*install, "-r", str(HERE / "dependencies.txt")], check=True)
        subprocess.run([*install, "--no-deps", "-r", str(HERE / "requirements.txt")], check=True)
        (folder / "complete").touch()
    return python


def difference(python: Path, program: Path) -> str:
    """What the program prints otherwise than with PyTorch; an empty text if nothing."""
    options = {**os.environ, "HF_HUB_OFFLINE": "1"}
    command = [str(python), "-B", "-W", "ignore", "-m", "libdl.as_torch", program.name]
    try:
        done = subprocess.run(
            command, cwd=HERE, env=options, text=True, capture_output=True, timeout=600
        )
    except subprocess.TimeoutExpired:
        return "no end within 600 seconds"
    if done.returncode:
        return done.stderr[-2000:]
    wanted = program.with_suffix(".answer").read_text()
    lines = difflib.unified_diff(
        wanted.splitlines(), done.stdout.splitlines(), "PyTorch", "libdl", lineterm=""
    )
    return "\n".join(lines)


def main() -> int:
    if len(sys.argv) < 2:
        print(f"usage: {sys.argv[0]} ENVIRONMENT [NAME ...]", file=sys.stderr)
        return 2
    python = environment(Path(sys.argv[1]).resolve())
    names = sys.argv[2:] or [path.stem for path in sorted(HERE.glob("*.program"))]
    failed = []
    for name in names:
        found = difference(python, HERE / f"{name}.program")
        print(f"{name}: {'as PyTorch' if not found else 'NOT as PyTorch'}", flush=True)
        if found:
            failed.append(name)
            print(found, flush=True)
    print(f"{len(names) - len(failed)} of {len(names)} programs print what they print with PyTorch")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
