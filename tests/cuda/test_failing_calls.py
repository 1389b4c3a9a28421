# SPDX-License-Identifier: Apache-2.0
"""Whichever driver call fails within an operator, it raises or gives the right result, and the next
one works: nothing is left half done."""

from __future__ import annotations

import ctypes
import os

import libdl as dl
import numpy as np
import pytest

SIMULATION = os.environ.get("LIBDL_CUDA_DRIVER")
pytestmark = pytest.mark.skipif(not SIMULATION, reason="only a simulated driver fails on request")

GENERATOR = np.random.default_rng(1)
X = dl.tensor(GENERATOR.standard_normal((60, 4)).astype("f4"))
LONG = dl.tensor(GENERATOR.standard_normal(4100).astype("f2"))  # of two bytes: two passes
INDEX = dl.tensor(GENERATOR.integers(0, 60, (60, 4)))
MASK = dl.tensor(GENERATOR.random((60, 4)) < 0.5)

OPERATORS = {
    "gather": (lambda x, i: dl.gather(x, 0, i), X, INDEX),
    "scatter": (lambda x, i: dl.scatter(x, 0, i, x), X, INDEX),
    "scatter_add": (lambda x, i: dl.scatter_add(x, 0, i, x), X, INDEX),
    "index": (lambda x, i, j: x[i[:, 0], i[:, 1] % 4], X, INDEX, INDEX),
    "index_put": (lambda x, i: dl.index_put(x, [i[:, 0]], x, True), X, INDEX),
    "nonzero": (dl.nonzero, MASK),
    "sort": (lambda x: dl.sort(x)[1], LONG),
    "topk": (lambda x: dl.topk(x, 7)[1], LONG),
    "matmul": (lambda x: x.t() @ x, dl.ones(60, 4)),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("late", [0, 1])
def test_any_driver_call_may_fail(name, late):
    call, *operands = OPERATORS[name]
    simulation = ctypes.CDLL(SIMULATION)
    simulation.libdl_simulated_calls.restype = ctypes.c_int64
    fail = simulation.libdl_simulated_fail
    fail.argtypes = [ctypes.c_int64, ctypes.c_int, ctypes.c_int, ctypes.c_int]
    there = [x.to("cuda") for x in operands]
    wanted = call(*operands)
    before = simulation.libdl_simulated_calls()
    assert dl.equal(call(*there).cpu(), wanted)
    calls = simulation.libdl_simulated_calls() - before
    raised = 0
    for n in range(1, calls + 1):
        fail(n, 719, 0, late)  # CUDA_ERROR_LAUNCH_FAILED
        try:
            assert dl.equal(call(*there).cpu(), wanted)
        except dl.Error:
            raised += 1
        fail(0, 0, 0, 0)
    assert raised > 0
    assert dl.equal(call(*there).cpu(), wanted)
