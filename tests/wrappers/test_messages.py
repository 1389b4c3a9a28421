# SPDX-License-Identifier: Apache-2.0
"""Errors name the operator and its arguments as the caller wrote them, and carry the words that
people search for."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

import libdl
from libdl import nn
from libdl.nn import functional as F

X = libdl.arange(6.0).view(2, 3)


def leaf():
    return libdl.tensor([1.0, 2.0], requires_grad=True)


def again():
    loss = (leaf() * leaf()).sum()
    loss.backward()
    loss.backward()


def overwritten():
    y = leaf().exp()
    y.add_(1)
    y.sum().backward()


def assign(x, key, value):
    x[key] = value


LEAF = "is a leaf that requires grad, used in an in-place operation"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: leaf().add_(1), f"add_: argument 1 (input) {LEAF}"),
        (lambda: leaf().__iadd__(1), f"add_: argument 1 (input) {LEAF}"),
        (lambda: leaf().__ipow__(2), f"pow_: argument 1 (input) {LEAF}"),
        (lambda: leaf().zero_(), f"zero_: argument 1 (input) {LEAF}"),
        (lambda: leaf().copy_(libdl.ones(2)), f"copy_: argument 1 (input) {LEAF}"),
        (lambda: libdl.ones(2).copy_(libdl.ones(3)), "copy_: argument 2 (src) has shape [3]"),
        (
            lambda: libdl.tensor([1]).add_(1.5),
            "add_: argument 1 (input) is int64, wanted a dtype that",
        ),
        (
            lambda: libdl.tensor([1]).__iadd__(1.5),
            "add_: argument 1 (input) is int64, wanted a dtype",
        ),
        (
            lambda: libdl.ones(1).expand(3).mul_(2),
            "mul_: argument 1 (input) has elements that share",
        ),
        (lambda: libdl.add(X, X, out=libdl.ones(2)), "add: argument 4 (out) has shape [2], wanted"),
        (lambda: libdl.add(X, X, out=5), "add: argument 4 (out) is an int, wanted a tensor"),
        (lambda: libdl.ones(2).add_("a"), "add_: argument 2 (other) is a str, wanted"),
        (
            lambda: libdl.max(X, 0, out=(libdl.ones(3), libdl.ones(2).long())),
            "max: argument 4 (out[1]) has",
        ),
        (lambda: X.sum(5), "sum: argument 2 (dim) is 5, wanted -2 to 1"),
        (lambda: libdl.zeros(-1), "zeros: argument 1 (size) is [-1], wanted sizes of 0 or more"),
        (
            lambda: libdl.relu([1.0]),
            "relu: argument 1 (input) is a list, wanted a tensor or a number; "
            "tensor() makes one of it",
        ),
        (
            lambda: libdl.matmul(X, np.ones(3)),
            "matmul: argument 2 (other) is a numpy.ndarray, wanted a "
            "tensor or a number; from_numpy() makes one of it",
        ),
        (
            lambda: libdl.cat([X, [1.0]]),
            "cat: argument 1 (tensors) has at 1 a list, wanted a tensor; tensor() makes one of it",
        ),
        (
            lambda: libdl.stack((X, "a")),
            "stack: argument 1 (tensors) has at 1 a str, wanted a tensor",
        ),
        (
            lambda: libdl.autograd.grad([leaf().sum(), X.sum()], [leaf()]),
            "grad: argument 1 (outputs) "
            "holds a tensor at position 1 that does not require grad and has no history",
        ),
        # x[key]
        (lambda: X[5], "x[...]: index is 5 and is out of bounds, wanted -2 to 1"),
        (lambda: X[0, 7], "x[...]: index is 7 and is out of bounds, wanted -3 to 2"),
        (
            lambda: X[libdl.tensor([5])],
            "x[...]: index holds 5 at position [0] and is out of bounds",
        ),
        (lambda: X[0, 0, 0], "x[...]: too many indices: 3 for a tensor of 2 dimensions"),
        (lambda: libdl.tensor(1)[0], "x[...]: too many indices"),
        (lambda: X[libdl.tensor([True])], "x[...]: the shape of the mask does not match"),
        (lambda: assign(X, X > 1, libdl.ones(5)), "x[...] = value: value has shape [5], wanted"),
        (lambda: assign(X, 0, libdl.ones(5)), "x[...] = value: value has shape [5], wanted"),
        (lambda: assign(X, libdl.tensor([7]), 1), "x[...] = value: index holds 7 at position [0]"),
        (lambda: assign(leaf(), 0, 1), "x[...] = value: x is a view of a leaf that requires grad"),
        (lambda: assign(leaf(), leaf() > 1, 1), f"x[...] = value: x {LEAF}"),
        (
            lambda: assign(libdl.tensor([1]), 0, 1j),
            "x[...] = value: value is complex128, wanted a real number",
        ),
        # the words of the field
        (
            lambda: (leaf() * 2).backward(),
            "backward: argument 2 (gradient) is absent for an output of "
            "shape [2], wanted a gradient of that shape (only scalar outputs, of one element, "
            "have one implicitly)",
        ),
        (lambda: libdl.autograd.backward([leaf() * 2]), "backward: argument 2 (grad_tensors) is"),
        (
            lambda: libdl.autograd.grad(leaf().sum(), leaf()),
            "grad: argument 2 (inputs) was not used in the graph",
        ),
        (
            lambda: (lambda x: libdl.autograd.grad(x * 2, x))(leaf()),
            "grad: argument 3 (grad_outputs)",
        ),
        (
            lambda: X.sum().backward(),
            "backward: argument 1 (self) does not require grad and has no history (no grad_fn)",
        ),
        (
            again,
            "mul: its saved values were freed by an earlier backward; pass retain_graph=True to go "
            "backward through the graph a second time",
        ),
        (
            overwritten,
            "exp: a value that exp saved for backward (float32 [2], saved value 0) was "
            "modified by an in-place operation: it was overwritten by add",
        ),
        (
            lambda: libdl.mm(X, X),
            "mm: argument 2 (mat2) has shape [2, 3], wanted 3 rows: shapes [2, 3] "
            "and [2, 3] cannot be multiplied",
        ),
        (
            lambda: nn.Linear(2, 2)(X),
            "linear: argument 1 (input) has shape [2, 3], wanted 2 columns: "
            "shapes [2, 3] and [2, 2] cannot be multiplied",
        ),
        (
            lambda: bool(libdl.ones(2)),
            "bool: the Boolean value of a tensor with more than one value is "
            "ambiguous (it has 2 elements): use any() or all()",
        ),
        (lambda: bool(libdl.ones(0)), "bool: the Boolean value of a tensor with no values is"),
        (
            lambda: libdl.ones(2).item(),
            "item: only one element tensors can be converted to Python scalars, found 2 elements",
        ),
        (lambda: float(libdl.ones(2)), "item: only one element tensors can be converted"),
        (
            lambda: nn.Linear(2, 2).load_state_dict({"weight": libdl.ones(3, 3)}),
            "Error(s) in loading state_dict for Linear:\n\t"
            'Missing key(s) in state_dict: "bias". \n\t'
            "size mismatch for weight: the state has shape libdl.Size([3, 3]), the model "
            "libdl.Size([2, 2]).",
        ),
        (
            lambda: nn.Linear(1, 1, False).load_state_dict({"weight": libdl.ones(1, 1), "b": X}),
            'Error(s) in loading state_dict for Linear:\n\tUnexpected key(s) in state_dict: "b". ',
        ),
        (lambda: leaf().numpy(), "numpy: can't call numpy() on a tensor that requires grad"),
        (lambda: F.embedding(libdl.tensor([5]), X), "embedding: argument 1 (input) holds 5"),
    ],
)
def test_words(call, text):
    with pytest.raises(RuntimeError if "x[" not in text else Exception) as caught:
        call()
    assert str(caught.value).startswith(text)


def test_fields_follow_the_words():
    with pytest.raises(libdl.Error) as caught:
        leaf().add_(1)
    error = caught.value
    assert (error.operator, error.argument, error.argument_name) == ("add_", 1, "input")
    with pytest.raises(libdl.Error) as caught:
        assign(X, 0, libdl.ones(5))
    error = caught.value
    assert (error.operator, error.argument, error.argument_name) == ("__setitem__", 3, "value")
    with pytest.raises(TypeError) as caught:
        libdl.ones(2).add_("a")
    assert caught.value.operator == "add_" and caught.value.argument_name == "other"


@pytest.mark.parametrize(
    "module",
    """
        libdl libdl.nn libdl.nn.functional libdl.utils libdl.multiprocessing libdl.optim
    """.split(),
)
def test_to_ask_for_a_name_lists_no_names(module, monkeypatch):
    """Programs ask often, and seldom read the error."""
    from libdl import _missing

    def listed(module):
        raise AssertionError(f"the names of {module} are listed")

    monkeypatch.setattr(_missing, "_names", listed)
    place = importlib.import_module(module)
    assert not hasattr(place, "no_such_thing")
    with pytest.raises(AttributeError) as error:
        place.no_such_thing
    monkeypatch.undo()
    assert f"module {module!r} has no attribute 'no_such_thing'" in str(error.value)


@pytest.mark.parametrize(
    ("owner", "name", "hint"),
    [
        (nn.Linear(2, 2), "weigth", "near it: weight"),
        (nn.Linear(2, 2), "fowrard", "forward"),
        (nn.Sequential(nn.ReLU()), "apend", "append"),
        (nn, "qat", "docs/coming-from-pytorch.md"),
        (libdl.utils, "hipify", "coming-from-pytorch"),
        (libdl, "optm", "near it: optim"),
    ],
)
def test_typos_get_a_hint(owner, name, hint):
    assert not hasattr(owner, name)
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert hint in str(caught.value)


def test_typos_of_methods_get_pythons_hint():
    """Python's own words in the traceback: a hook of ours would slow every attribute down."""
    program = "import libdl\nlibdl.ones(2).sofmax(0)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Did you mean: 'softmax'?" in done.stderr


@pytest.mark.parametrize("value", [5, None, libdl.ones(2), []])
def test_a_state_must_be_a_dict(value):
    with pytest.raises(TypeError, match="load_state_dict: argument 1"):
        nn.Linear(1, 1).load_state_dict(value)
