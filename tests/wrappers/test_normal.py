# SPDX-License-Identifier: Apache-2.0
"""libdl.normal: shapes, dtypes, places and gradients are PyTorch's."""

import math

import pytest

import libdl


def test_numbers_and_tensors_broadcast():
    mean, nothing = libdl.tensor([[1.0], [2.0]]), libdl.zeros(3)
    assert libdl.normal(mean, nothing).tolist() == [[1.0] * 3, [2.0] * 3]
    assert libdl.normal(0.0, libdl.zeros(2)).tolist() == [0.0, 0.0]
    assert libdl.normal(libdl.ones(2), 0.0).tolist() == [1.0, 1.0]
    assert libdl.normal(2, 0, (2, 1)).tolist() == [[2.0], [2.0]]
    assert libdl.normal(libdl.ones(2, dtype=libdl.float64), libdl.ones(2)).dtype is libdl.float64
    assert libdl.normal(libdl.ones(0), libdl.ones(0)).shape == (0,)


def test_samples_have_the_mean_and_the_deviation_asked_for():
    generator = libdl.Generator().manual_seed(0)
    x = libdl.normal(libdl.full((40_000,), 3.0), 2.0, generator=generator)
    # five standard errors of the mean and of the deviation of 40 000 samples
    assert abs(x.mean().item() - 3) < 0.05 and abs(x.std().item() - 2) < 0.036


def test_the_place_of_the_result():
    place = libdl.empty(3)
    assert libdl.normal(libdl.zeros(3), libdl.zeros(3), out=place) is place
    assert libdl.normal(2.0, 0.0, (2,), out=place) is place and place.tolist() == [2.0, 2.0]
    x = libdl.normal(0, 1, size=(2,), requires_grad=True, layout=libdl.strided, pin_memory=False)
    assert x.requires_grad and x.is_leaf


def test_a_sample_has_the_gradient_zero():
    mean, std = libdl.ones(3, requires_grad=True), libdl.ones(1, requires_grad=True)
    y = libdl.normal(mean, std)
    (y + mean).sum().backward()
    assert mean.grad.tolist() == [1.0] * 3 and std.grad.tolist() == [0.0]
    assert not libdl.normal(mean.detach(), 1.0).requires_grad


@pytest.mark.parametrize("std", [-1.0, libdl.tensor([1.0, -1.0])])
def test_deviations_below_zero_are_refused(std):
    with pytest.raises(RuntimeError, match="below 0"):
        libdl.normal(libdl.ones(2), std)
    assert not libdl.normal(libdl.ones(2), math.inf).isfinite().any()
