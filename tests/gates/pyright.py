# SPDX-License-Identifier: Apache-2.0
"""tests/gates/pyright.py BUILD: pyright reads the examples and a user's program. It must find
nothing there, and each error of a program that consists of them."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# They use one alternative of a type that has several in PyTorch, too: .grad, a node's target.
LEFT_OUT = {"rewrite.py", "tutorial.py"}
WRONG = """import libdl as torch

torch.softmaxx(torch.ones(2))  # no such function
torch.ones(2).no_such  # no such attribute
torch.zeros("3")  # no size
x: int = torch.ones(2).sum()  # a tensor
torch.nn.Linear(2)  # an argument too few
"""


def complaints(build: Path, files: list[Path]) -> list[tuple[str, int, str]]:
    """File, line and text of each error in the basic mode, the one of a new editor."""
    settings = {
        "extraPaths": [str(build / "python"), str(ROOT / "examples")],
        "pythonVersion": "3.11",
        "typeCheckingMode": "basic",
    }
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            (Path(folder) / path.name).write_bytes(path.read_bytes())
        (Path(folder) / "pyrightconfig.json").write_text(json.dumps(settings))
        command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
        done = subprocess.run([*command, "--project", folder], capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == len(files), done.stdout
    return [
        (Path(told["file"]).name, told["range"]["start"]["line"] + 1, told["message"])
        for told in found["generalDiagnostics"]
        if told["severity"] == "error"
    ]


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    examples = [p for p in sorted((ROOT / "examples").glob("*.py")) if p.name not in LEFT_OUT]
    programs = [*examples, ROOT / "tests/ecosystem/typed_program.py"]
    found = complaints(build, programs)
    with tempfile.TemporaryDirectory() as folder:
        wrong = Path(folder) / "wrong.py"
        wrong.write_text(WRONG)
        lines = [line for _, line, _ in complaints(build, [wrong])]
    for name, line, text in found:
        print(f"{name}:{line}: {text}")
    if lines != [3, 4, 5, 6, 7]:
        print(f"of the planted errors in lines 3 to 7 those in {lines} were found")
        return 1
    print(f"pyright: {len(found)} errors in {len(programs)} programs; planted errors are found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
