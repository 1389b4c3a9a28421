# SPDX-License-Identifier: Apache-2.0
"""The examples run (the digits, which need their data, run in `make demo`)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


# -- training -------------------------------------------------------------------------------------

needs_digits = pytest.mark.skipif(
    not (ROOT / "data/digits.safetensors").exists(), reason="tools/setup/run fetches the digits")
# Under a sanitizer they would take the time of all other tests together.
trains = pytest.mark.skipif("LIBDL_SANITIZED" in os.environ, reason="too slow under a sanitizer")


def figure(pattern: str, name: str, *arguments: str) -> float:
    """The last number that an example prints behind the pattern."""
    printed = output(sys.executable, ROOT / "examples" / name, *arguments)
    return float(re.findall(pattern + r"\s*([\d.]+)", printed)[-1])


DIGITS = str(ROOT / "data/digits.safetensors")


@trains
@needs_digits
def test_a_convolutional_network_reads_digits():
    assert figure("held out:", "digits_cnn.py", DIGITS) >= 98.5


@trains
@needs_digits
def test_the_papers_first_listing_reads_digits_of_nine_pixels():
    assert figure("held out:", "full_model.py", DIGITS) >= 70


@trains
@needs_digits
def test_the_papers_second_listing_draws_digits():
    """Noise is at 0.3 from their mean; what was drawn comes near, and is not always the same."""
    assert figure("mean", "gan.py", DIGITS) < 0.07


@trains
def test_an_lstm_learns_a_text():
    assert figure("held out:", "char_lstm.py", "250") < 3.2


@trains
def test_a_gpt_learns_a_text_and_its_cache_agrees():
    printed = output(sys.executable, ROOT / "examples/gpt.py", "200")
    assert float(re.findall(r"held out: ([\d.]+)", printed)[0]) < 3.4
    assert "the scores are the same: True" in printed


@trains
def test_films_of_one_genre_are_found():
    printed = output(sys.executable, ROOT / "examples/recommend.py")
    assert float(re.findall(r"rate at 10: ([\d.]+)", printed)[0]) > 20
    assert float(re.findall(r"nearer by ([\d.]+)", printed)[0]) > 0.2


@trains
def test_a_u_net_finds_discs():
    assert figure("union:", "unet.py") > 0.6
