# SPDX-License-Identifier: Apache-2.0
"""matplotlib draws tensors as it draws the arrays of their numbers."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot

import libdl

DTYPES = [libdl.float32, libdl.float64, libdl.float16, libdl.int64, libdl.uint8]


@pytest.fixture
def axes():
    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_plot(axes, dtype):
    y = libdl.tensor([3, 1, 2], dtype=dtype)
    (line,) = axes.plot(libdl.arange(3), y)
    assert line.get_xdata().tolist() == [0, 1, 2] and line.get_ydata().tolist() == [3, 1, 2]
    axes.figure.canvas.draw()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_imshow(axes, dtype):
    picture = libdl.arange(6).reshape(2, 3).to(dtype)
    image = axes.imshow(picture)
    assert np.asarray(image.get_array()).tolist() == [[0, 1, 2], [3, 4, 5]]
    axes.figure.canvas.draw()


def test_imshow_of_colours_in_their_order_of_a_network(axes):
    image = axes.imshow(libdl.rand(3, 4, 5).permute(1, 2, 0))
    assert image.get_array().shape == (4, 5, 3)
    axes.figure.canvas.draw()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_hist(axes, dtype):
    counts, edges, _ = axes.hist(libdl.tensor([0, 0, 1, 4], dtype=dtype), bins=4)
    assert counts.tolist() == [2, 1, 0, 1] and edges.tolist() == [0, 1, 2, 3, 4]


def test_a_series_for_each_column(axes):
    assert len(axes.plot(libdl.zeros(5, 2))) == 2
    counts, _, _ = axes.hist(libdl.rand(10, 3).numpy(), bins=2)
    assert counts.shape == (3, 2)


def test_hist_takes_the_rows_of_a_matrix(axes):
    """matplotlib asks for the classes of the libraries that it knows, and takes other matrices for
    lists of series. docs/coming-from-pytorch.md says so."""
    counts, _, _ = axes.hist(libdl.rand(10, 3), bins=2)
    assert counts.shape == (10, 2)


def test_other_drawings(axes):
    x = libdl.linspace(0, 1, 5)
    axes.scatter(x, x**2, c=x, s=20 * x)
    axes.errorbar(x, x, yerr=x / 10)
    axes.bar(libdl.arange(5), x)
    axes.fill_between(x, x - 1, x + 1)
    axes.contourf(x, x, libdl.outer(x, x))
    axes.axhline(x.mean())
    axes.set_xlim(x.min(), x.max())
    axes.set_title(f"{x.mean():.2f}")
    axes.figure.canvas.draw()


@pytest.mark.parametrize("draw", ["plot", "imshow", "hist"])
def test_bfloat16_is_refused_as_NumPy_has_none(axes, draw):
    tensor = libdl.ones(2, 2, dtype=libdl.bfloat16)
    with pytest.raises(TypeError, match=r"NumPy has no bfloat16; convert with .float\(\)"):
        getattr(axes, draw)(tensor)
    getattr(axes, draw)(tensor.float())


@pytest.mark.parametrize("draw", ["plot", "imshow", "hist"])
def test_what_requires_grad_is_refused_until_it_is_detached(axes, draw):
    tensor = libdl.ones(2, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        getattr(axes, draw)(tensor)
    getattr(axes, draw)(tensor.detach())
