# SPDX-License-Identifier: Apache-2.0
"""Trainings take the steps of PyTorch's: the same programs, and its answers."""

import pytest
from answered import Stored
from wrappers.nn import seen_trained

import libdl

SEEN = Stored(seen_trained)


@pytest.mark.parametrize("program", seen_trained.PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_pytorch(program):
    SEEN.check(program, libdl, ignored=True)


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
