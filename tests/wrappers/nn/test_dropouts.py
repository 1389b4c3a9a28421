# SPDX-License-Identifier: Apache-2.0
"""Dropout that drops nothing returns its input, as PyTorch's."""

import pytest

import libdl
from libdl import nn
from libdl.overrides import TorchFunctionMode

F = nn.functional
FUNCTIONS = [
    (F.dropout, (2, 3)),
    (F.dropout1d, (2, 3, 4)),
    (F.dropout2d, (2, 3, 4, 4)),
    (F.dropout3d, (2, 3, 4, 4, 4)),
    (F.alpha_dropout, (2, 3)),
    (F.feature_alpha_dropout, (2, 3, 4)),
    (libdl.dropout, (2, 3)),
    (libdl.feature_dropout, (2, 3, 4)),
    (libdl.alpha_dropout, (2, 3)),
    (libdl.feature_alpha_dropout, (2, 3, 4)),
]


@pytest.mark.parametrize("function, shape", FUNCTIONS)
@pytest.mark.parametrize("p, training", [(0.5, False), (1.0, False), (0.0, True), (0.0, False)])
def test_the_input_is_the_result(function, shape, p, training):
    for x in (
        libdl.ones(shape),
        libdl.ones(shape, requires_grad=True),
        libdl.ones(shape, dtype=libdl.int64),
    ):
        assert function(x, p, training) is x


@pytest.mark.parametrize("function, shape", FUNCTIONS)
def test_nothing_to_drop(function, shape):
    x = libdl.ones(0, *shape[1:])
    assert function(x, 0.5, True) is x


@pytest.mark.parametrize("function, shape", FUNCTIONS)
def test_what_drops_is_a_new_tensor_and_what_is_wrong_is_refused(function, shape):
    x = libdl.ones(shape)
    assert function(x, 0.5, True).data_ptr() != x.data_ptr()
    for p in (-0.1, 1.1):
        with pytest.raises(ValueError, match="p"):
            function(x, p, False)
    with pytest.raises((TypeError, AttributeError)):
        function([1.0], 0.5, False)


@pytest.mark.parametrize(
    "kind, shape",
    [
        (nn.Dropout, (2, 3)),
        (nn.Dropout1d, (2, 3, 4)),
        (nn.Dropout2d, (2, 3, 4, 4)),
        (nn.Dropout3d, (2, 3, 4, 4, 4)),
        (nn.AlphaDropout, (2, 3)),
        (nn.FeatureAlphaDropout, (2, 3, 4)),
    ],
)
def test_modules(kind, shape):
    x = libdl.ones(shape)
    assert kind(0.5).eval()(x) is x and kind(0.0)(x) is x
    assert kind(0.5)(x) is not x


@pytest.mark.parametrize("function, shape", [(F.dropout1d, (3, 4)), (F.dropout3d, (3, 4, 4, 4))])
def test_a_sample_without_a_batch_is_a_view(function, shape):
    x = libdl.ones(shape)
    assert function(x, 0.5, False).data_ptr() == x.data_ptr()


def test_a_result_of_its_own_and_modes_are_served():
    x, y = libdl.ones(3), libdl.zeros(3)
    assert libdl.dropout(x, 0.5, False, out=y) is y and y.tolist() == [1.0, 1.0, 1.0]

    seen = []

    class Sees(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(function.__name__)
            return function(*args, **(kwargs or {}))

    with Sees():
        F.dropout(x, 0.5, False)
    assert seen == ["dropout"]
