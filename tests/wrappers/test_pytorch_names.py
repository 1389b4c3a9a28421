# SPDX-License-Identifier: Apache-2.0
"""Arguments and functions by the names that PyTorch's users write."""

import subprocess
import sys
import weakref

import numpy as np
import pytest

import libdl
from libdl.nn import functional as F

X = np.arange(6.0).reshape(2, 3) / 7


def x():
    return libdl.from_numpy(X.copy())


@pytest.mark.parametrize(
    "name",
    """
        sum mean prod max min amax amin argmax argmin var std norm all any logsumexp softmax
        log_softmax cumsum cumprod unbind
    """.split(),
)
def test_axis_is_dim(name):
    function, method = getattr(libdl, name), getattr(libdl.Tensor, name)
    wanted = function(x(), dim=1)
    for found in (function(x(), axis=1), method(x(), axis=1)):
        first = found[0] if isinstance(found, tuple) else found
        right = wanted[0] if isinstance(wanted, tuple) else wanted
        assert libdl.equal(first, right)


@pytest.mark.parametrize(
    "name", ["sum", "mean", "max", "amin", "argmax", "var", "std", "norm", "all", "logsumexp"]
)
def test_keepdims_is_keepdim(name):
    found = getattr(libdl, name)(x(), axis=1, keepdims=True)
    assert (found[0] if isinstance(found, tuple) else found).shape == (2, 1)


def test_a_dimension_must_still_be_given():
    for function in (libdl.softmax, libdl.log_softmax, libdl.cumsum, libdl.logsumexp):
        with pytest.raises(TypeError, match=f"{function.__name__}: dim must be given"):
            function(x())


def test_an_overriding_class_sees_what_was_written():
    seen = []

    class Watching(libdl.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, args[1:], kwargs))
            return super().__torch_function__(func, types, args, kwargs)

    x().as_subclass(Watching).sum(axis=1)
    assert seen == [("sum", (), {"axis": 1})]


def test_norm_by_name():
    assert libdl.norm(x(), "fro").item() == pytest.approx(np.linalg.norm(X), rel=1e-15)
    with pytest.raises(ValueError, match="norm: argument 2"):
        libdl.norm(x(), "other")


@pytest.mark.parametrize(
    ("dim", "counts"),
    [(0, [2, 0]), (1, [1, 0, 3]), (-1, [0, 0, 0]), (None, [1, 2, 0, 0, 1, 1]), (0, [2])],
)
def test_repeat_interleave_by_counts(dim, counts):
    found = libdl.repeat_interleave(x(), libdl.tensor(counts), dim)
    np.testing.assert_array_equal(found.numpy(), np.repeat(X, counts, dim), strict=True)


def test_repeat_interleave_refuses():
    for counts, error in (
        ([1, 2, 3], ValueError),
        ([1, -1], ValueError),
        ([[1, 1]], TypeError),
        ([0.5, 1.0], TypeError),
    ):
        with pytest.raises(error, match=r"repeat_interleave: argument 2 \(repeats\)"):
            libdl.repeat_interleave(x(), libdl.tensor(counts), 0)
    with pytest.raises(IndexError, match="repeat_interleave"):
        libdl.repeat_interleave(x(), libdl.tensor([1, 1]), 2)


@pytest.mark.parametrize("name", ["t", "transpose", "swapaxes", "squeeze", "unsqueeze"])
def test_shape_in_place(name):
    arguments = {"transpose": (0, 1), "swapaxes": (0, 1), "unsqueeze": (0,)}.get(name, ())
    y = x()[:1]
    found = getattr(y, f"{name}_")(*arguments)
    assert found is y and libdl.equal(y, getattr(x()[:1], name)(*arguments))
    leaf = x().requires_grad_()
    with_history = leaf * 2
    getattr(with_history, f"{name}_")(*arguments)
    assert with_history.shape == getattr(x(), name)(*arguments).shape
    with_history.sum().backward()
    assert leaf.grad.tolist() == libdl.full_like(leaf, 2).tolist()
    with pytest.raises(RuntimeError, match=f"{name}_: argument 1"):
        getattr(leaf, f"{name}_")(*arguments)


def test_tensors_as_weak_keys():
    """As in PyTorch: == is elementwise, so that only tensors of one element can be found again."""
    one, three = libdl.ones(1), libdl.ones(3)
    table = weakref.WeakKeyDictionary({one: "one"})
    assert table[one] == "one"
    with pytest.raises(RuntimeError, match="ambiguous"):
        weakref.WeakKeyDictionary({three: 3})[three]
    assert three in {three: 3}  # by identity


# -- embedding -------------------------------------------------------------------------------------


def renormalised(weight, index, max_norm, p):
    w = weight.copy()
    for i in set(np.ravel(index)):
        norm = np.sum(np.abs(w[i]) ** p) ** (1 / p)
        if norm > max_norm:
            w[i] *= max_norm / (norm + 1e-7)
    return w


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_embedding_shortens_the_rows_that_it_reads(p):
    table = np.random.default_rng(3).normal(size=(5, 3)) * 2
    index = np.array([[0, 3], [3, 1]])
    weight = libdl.from_numpy(table.copy()).requires_grad_()
    version = weight._version
    y = F.embedding(libdl.from_numpy(index), weight, max_norm=1.5, norm_type=p)
    wanted = renormalised(table, index, 1.5, p)
    np.testing.assert_allclose(weight.detach().numpy(), wanted, rtol=1e-14)
    np.testing.assert_allclose(y.detach().numpy(), wanted[index], rtol=1e-14)
    assert weight._version > version and weight.is_leaf
    y.sum().backward()
    np.testing.assert_array_equal(
        weight.grad.numpy(), np.bincount(index.ravel(), minlength=5)[:, None] * np.ones((5, 3))
    )


def test_embedding_leaves_short_rows_alone():
    weight = libdl.ones(3, 2)
    version = weight._version
    F.embedding(libdl.tensor([0, 2]), weight, max_norm=10.0)
    assert weight._version == version
    with pytest.raises(IndexError, match="embedding: argument 1"):
        F.embedding(libdl.tensor([3]), weight, max_norm=0.1)
    assert weight.tolist() == [[1, 1]] * 3


def test_embedding_module_takes_max_norm():
    layer = libdl.nn.Embedding(4, 3, max_norm=0.5, norm_type=1.0)
    rows = layer(libdl.tensor([1, 2]))
    assert (rows.abs().sum(1) <= 0.5 + 1e-6).all()
    assert "max_norm=0.5" in repr(layer)


def test_gradient_scaled_by_frequency():
    weight = libdl.ones(4, 2, requires_grad=True)
    F.embedding(libdl.tensor([1, 1, 1, 2]), weight, scale_grad_by_freq=True).sum().backward()
    assert weight.grad.tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    "name",
    """
        serialization cuda.nvtx autograd.grad_mode autograd.variable nn.attention nn.common_types
        nn.utils.rnn optim.lr_scheduler utils.checkpoint utils.data
    """.split(),
)
def test_a_submodule_is_reached_without_an_import_of_its_own(name):
    """Each in a new process: an import anywhere before would hide that the name is missing."""
    program = f"import libdl, operator; operator.attrgetter({name!r})(libdl)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# -- what dir() shows ------------------------------------------------------------------------------

MODULES = """
    nn.init nn.utils optim.lr_scheduler optim.swa_utils cuda random autograd.forward_ad
    autograd.functional autograd.graph utils.checkpoint nn nn.functional optim func autograd
""".split()


@pytest.mark.parametrize("module", MODULES)
def test_dir_shows_what_is_meant(module):
    import importlib

    found = dir(importlib.import_module(f"libdl.{module}"))
    assert found and not {"annotations", "Any", "Tensor", "math", "Callable"} & set(found)


def test_dir_of_the_package():
    assert not {"annotations", "empty_of", "Any"} & set(dir(libdl))
    assert {"check_copies", "ConversionWarning", "tensor", "nn"} <= set(dir(libdl))
