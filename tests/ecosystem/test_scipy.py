# SPDX-License-Identifier: Apache-2.0
"""SciPy's functions of tensors, its minimizers with our gradients, its sparse matrices."""

import numpy as np
import pytest
from scipy import linalg, ndimage, optimize, signal, sparse, spatial, special, stats

import libdl


def x():
    return libdl.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize("function", [special.gammaln, special.expit, special.erf, special.j0])
def test_ufuncs_return_tensors(function):
    found = function(x())
    assert type(found) is libdl.Tensor and found.dtype is libdl.float32
    assert found.tolist() == function(x().numpy()).tolist()


@pytest.mark.parametrize(
    "function",
    [
        stats.norm.cdf,
        stats.zscore,
        lambda t: ndimage.gaussian_filter1d(t, 1),
        lambda t: signal.convolve(t, t),
        lambda t: stats.ttest_ind(t, t + 1).statistic,
        linalg.toeplitz,
        linalg.norm,
        lambda t: spatial.distance.cdist(t[:, None], t[:2, None]),
    ],
)
def test_other_functions_return_what_they_do_for_arrays(function):
    found, wanted = function(x()), function(x().numpy())
    assert type(found) is type(wanted)
    np.testing.assert_array_equal(found, wanted)


def test_what_requires_grad_is_refused():
    for function in (special.expit, stats.norm.cdf):
        with pytest.raises(RuntimeError, match=r"detach\(\)"):
            function(x().requires_grad_())


def rosenbrock(t):
    return (100 * (t[1:] - t[:-1] ** 2) ** 2 + (1 - t[:-1]) ** 2).sum()


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "SLSQP"])
def test_minimize_with_our_gradient(method):
    def loss_and_gradient(point):
        tensor = libdl.tensor(point, requires_grad=True)
        loss = rosenbrock(tensor)
        loss.backward()
        return loss.item(), tensor.grad.numpy()

    start = np.array([-1.2, 1, -0.5])
    found = optimize.minimize(loss_and_gradient, start, jac=True, method=method)
    # SLSQP's default ends at a change of 1e-6 of the loss, which is a thousandth in x here.
    np.testing.assert_allclose(found.x, 1, atol=1e-2 if method == "SLSQP" else 1e-3)


def test_minimize_with_our_hessian():
    def on_tensors(function):
        return lambda point: function(libdl.tensor(point)).numpy()

    gradient, hessian = libdl.func.grad(rosenbrock), libdl.func.hessian(rosenbrock)
    found = optimize.minimize(
        on_tensors(rosenbrock),
        np.array([-1.2, 1.0]),
        method="trust-exact",
        jac=on_tensors(gradient),
        hess=on_tensors(hessian),
    )
    np.testing.assert_allclose(found.x, 1, atol=1e-6)  # Newton's steps converge to rounding


def test_our_gradient_is_that_of_check_grad():
    point = np.array([0.5, -0.3])

    def gradient(p):
        return libdl.func.grad(rosenbrock)(libdl.tensor(p)).numpy()

    error = optimize.check_grad(lambda p: rosenbrock(libdl.tensor(p)).item(), gradient, point)
    assert error < 1e-4  # differences of 1.5e-8 err by that times the second derivative, some 1e3


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.coo_matrix, sparse.csr_array])
def test_sparse_from_indices(kind):
    rows, columns = libdl.tensor([0, 1, 1]), libdl.tensor([0, 0, 1])
    matrix = kind((x(), (rows, columns)), shape=(2, 2))
    assert matrix.dtype == np.float32 and matrix.toarray().tolist() == [[1, 0], [2, 3]]
    assert (matrix @ libdl.tensor([1.0, 1.0])).tolist() == [1, 5]


def test_a_sparse_gradient_becomes_a_matrix_of_scipys():
    table = libdl.nn.Embedding(5, 2, sparse=True)
    table(libdl.tensor([4, 1, 4])).sum().backward()
    gradient = table.weight.grad.coalesce()
    rows, values = gradient.indices()[0], gradient.values()
    places = (rows.repeat_interleave(2), libdl.arange(2).repeat(len(rows)))
    matrix = sparse.coo_array((values.flatten(), places), shape=tuple(gradient.shape))
    assert matrix.toarray().tolist() == gradient.to_dense().tolist()


def test_the_entries_of_a_sparse_matrix_become_a_tensor():
    matrix = sparse.random_array((4, 3), density=0.5, format="coo", rng=3)
    dense = libdl.zeros(4, 3, dtype=libdl.float64)
    rows, columns = (libdl.from_numpy(part).long() for part in matrix.coords)
    dense[rows, columns] = libdl.from_numpy(matrix.data)
    assert dense.tolist() == matrix.toarray().tolist()
