# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/numerics.md for equal bits: numbers of threads, and instruction sets."""

import json
import os
import subprocess
import sys

import large_calls
import libdl
import pytest

CALLS = large_calls.calls()


@pytest.fixture
def threads():
    before = libdl.get_num_threads()
    yield libdl.set_num_threads
    libdl.set_num_threads(before)


@pytest.mark.parametrize("name", CALLS)
def test_every_number_of_threads_gives_the_same_bits(name, threads):
    digests = {}
    for number in (1, 2, 3, 8):
        threads(number)
        digests[number] = large_calls.digest(CALLS[name]())
    assert len(set(digests.values())) == 1, digests


def digests_on(instruction_set):
    """Of all calls, or None where the processor lacks the set."""
    environment = {**os.environ, "LIBDL_CPU": instruction_set,
                   "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}  # fmt: skip
    which = "import libdl; print(libdl.show_config())"
    shown = subprocess.run([sys.executable, "-c", which], env=environment, text=True,
                           capture_output=True, check=True).stdout  # fmt: skip
    if f"cpu kernels: {instruction_set}" not in shown:
        return None
    run = subprocess.run([sys.executable, large_calls.__file__], env=environment, text=True,
                         capture_output=True)  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def avx2():
    found = digests_on("avx2")
    if found is None:
        pytest.skip("this processor has no AVX2")
    return found


def test_avx512_gives_the_bits_of_avx2(avx2):
    avx512 = digests_on("avx512")
    if avx512 is None:
        pytest.skip("this processor has no AVX-512")
    assert [name for name in CALLS if avx512[name] != avx2[name]] == []


def test_the_baseline_gives_the_bits_of_avx2_where_nothing_is_fused(avx2):
    baseline = digests_on("baseline")
    assert baseline is not None and CALLS.keys() >= large_calls.EXACT
    assert [name for name in sorted(large_calls.EXACT) if baseline[name] != avx2[name]] == []
    # Else the two would not differ in what the test is about.
    assert baseline["matmul 130 170 190 libdl.float32"] != avx2["matmul 130 170 190 libdl.float32"]
