# SPDX-License-Identifier: Apache-2.0
"""Transforms and constraints of distributions answer as PyTorch's."""

import copy
import pickle

import pytest
from answered import Stored
from wrappers.distributions import seen_transforms
from wrappers.answers import numbers

import libdl as torch
from libdl import distributions as D
from libdl.distributions import transforms as T
from libdl.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix

SEEN = Stored(seen_transforms)


@pytest.mark.parametrize("program", seen_transforms.PROGRAMS, ids=lambda p: p.__name__)
def test_it_answers_as_pytorch(program):
    SEEN.check(program, torch)


@pytest.mark.parametrize(
    "name",
    [
        "Exp",
        "Power",
        "Sigmoid",
        "Softplus",
        "Tanh",
        "Affine",
        "StickBreaking",
        "CorrCholesky",
        "Compose events",
    ],
)
def test_log_abs_det_jacobian_is_that_of_the_jacobian(name):
    t, x = seen_transforms.every(torch)[name]
    x = x[0]
    y = t(x)

    def free(x):
        """As many numbers of y as x has: the last on the simplex, the diagonal follow."""
        y = t(x)
        if name == "CorrCholesky":
            return tril_matrix_to_vec(y, -1)
        return y[: len(x)]

    jacobian = torch.func.jacrev(free)(x)
    # The Jacobians are triangular.
    wanted = jacobian.diagonal().abs().log().sum()
    # float64, a few roundings of each of at most 6 terms
    assert abs(t.log_abs_det_jacobian(x, y).sum() - wanted) < 1e-12


def test_an_inverse_is_kept_while_it_is_used_and_pickles():
    t = T.ComposeTransform([T.AffineTransform(1.0, torch.tensor(2.0)), T.ExpTransform()])
    inverse = t.inv
    assert t.inv is inverse and inverse.inv is t
    for other in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert other == t and other.inv == t.inv


def test_triangles_and_vectors_are_inverse_to_each_other():
    for diag in (-1, 0, 1):
        m = numbers(torch, 2, 4, 4)
        vector = tril_matrix_to_vec(m, diag)
        assert (vec_to_tril_matrix(vector, diag) == m.tril(diag)).all()
    with pytest.raises(ValueError, match="5 elements fill no triangle"):
        vec_to_tril_matrix(numbers(torch, 5))
    with pytest.raises(ValueError, match="diag is 4, wanted -3 to 3"):
        tril_matrix_to_vec(numbers(torch, 4, 4), 4)


def test_positive_semidefinite_says_what_it_needs():
    with pytest.raises(NotImplementedError, match="eigenvalues"):
        D.constraints.positive_semidefinite.check(torch.eye(2))


def test_an_affine_scale_may_be_broadcast_over_events():
    t = T.AffineTransform(0.0, torch.tensor(2.0), event_dim=1)
    x = torch.zeros(4, 3)
    wanted = 3 * torch.tensor(2.0).log()
    assert torch.allclose(t.log_abs_det_jacobian(x, t(x)), wanted.expand(4))
