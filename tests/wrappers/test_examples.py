# SPDX-License-Identifier: Apache-2.0
"""The examples run (the digits, which need their data, run in `make demo`)."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def output(*command) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tree_network_learns():
    losses = re.findall(r"loss ([\d.]+)", output(sys.executable, ROOT / "examples/tree.py"))
    assert float(losses[-1]) < 0.01 * float(losses[0])


def test_memory_is_shared_with_numpy():
    lines = output(sys.executable, ROOT / "examples/exchange.py").splitlines()
    assert lines[0].endswith("10.0") and lines[1].endswith("20.0")
    assert "(3, 2) (1, 3)" in lines[2] and lines[3].endswith("True") and "detach" in lines[4]


def test_who_looks_on_counts_a_whole_step():
    counted = output(sys.executable, ROOT / "examples/look_on.py")
    phases = [line.split(":")[0] for line in counted.splitlines()]
    assert phases == ["forward", "backward", "optimizer"]
    assert "2 x linear" in counted and "1 x adam" in counted and "derivative" in counted


def test_who_looks_on_in_c_counts_a_whole_step():
    program = ROOT / os.environ.get("BUILD", "build") / "examples" / "look_on"
    lines = [line.split() for line in output(program).splitlines()]
    assert [line[0] for line in lines] == ["forward", "backward", "optimizer"]
    assert lines[0][1] == "3" and int(lines[1][1]) > 3 and lines[2][1] == "1"


def test_a_function_in_c_has_the_gradient_of_differences():
    program = ROOT / os.environ.get("BUILD", "build") / "examples" / "custom_function"
    assert output(program).count("gradient") == 3  # its exit status tells whether they agree
