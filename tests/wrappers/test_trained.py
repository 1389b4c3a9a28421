# SPDX-License-Identifier: Apache-2.0
"""Trainings take the steps of PyTorch's: the same programs, and its answers."""

import json
import pathlib
import warnings

import pytest
from wrappers import seen_trained

import libdl

ANSWERS = json.loads((pathlib.Path(__file__).parent / "seen_trained.json").read_text())


# PyTorch rounds states in 16 bits twice a step.
TOLERANCES = {"conversions_of_16_bits": 1e-2}


def alike(a, b, tolerance):
    """Equal, numbers up to the rounding of float32: PyTorch adds up in another order. An error may
    be of further kinds."""
    if isinstance(a, dict) and isinstance(b, dict) and "error" in a and "error" in b:
        return {*a["error"]} >= {*b["error"]}
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key], tolerance) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(alike(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= tolerance * max(1, abs(b))
    return a == b


@pytest.mark.parametrize("program", seen_trained.PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_pytorch(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = json.loads(json.dumps(program(libdl)))
    wanted = ANSWERS[program.__name__]
    for i, (found, theirs) in enumerate(zip(answer, wanted, strict=True)):
        assert alike(found, theirs, TOLERANCES.get(program.__name__, 2e-6)), (i, found, theirs)


def test_a_state_of_spectral_norm_without_v_is_refused():
    net = libdl.nn.utils.spectral_norm(libdl.nn.Linear(2, 2))
    state = dict(net.state_dict(), weight=net.weight)
    del state["weight_v"]
    with pytest.raises(NotImplementedError, match="weight_v"):
        net.load_state_dict(state)


def test_spectral_norm_wants_a_parameter_with_a_shape():
    with pytest.raises(ValueError, match="has no shape yet"):
        libdl.nn.utils.spectral_norm(libdl.nn.LazyLinear(2))


def test_a_step_that_fails_for_shared_memory_and_another_reason_tells_the_other():
    p = libdl.nn.Parameter(libdl.ones(2))
    optimizer = libdl.optim.SGD([p, p], lr=0.1, momentum=0.9)
    p.grad = libdl.ones(2)
    optimizer.state[p]["momentum_buffer"] = libdl.ones(3)
    with pytest.raises(ValueError, match="momentum_buffers"):
        optimizer.step()
