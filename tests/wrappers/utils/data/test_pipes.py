# SPDX-License-Identifier: Apache-2.0
"""Pipes of samples give what PyTorch's give: the same programs, and its answers."""

import pytest
from answered import Stored
from wrappers.utils.data import seen_pipes

import libdl
from libdl.utils.data.datapipes import iter as pipes, map as maps

SEEN = Stored(seen_pipes)


@pytest.mark.parametrize("program", seen_pipes.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_pytorch(program):
    SEEN.check(program, libdl)


def test_each_pass_goes_over_a_copy():
    rows = [[1], [2]]
    for row in pipes.IterableWrapper(rows):
        row.append(0)
    assert rows == [[1], [2]]
    for row in pipes.IterableWrapper(rows, deepcopy=False):
        row.append(0)
    assert rows == [[1, 0], [2, 0]]


@pytest.mark.parametrize("kind", [pipes.IterableWrapper, maps.SequenceWrapper])
def test_what_cannot_be_copied_is_used_with_a_warning(kind):
    class Alone(list):
        def __deepcopy__(self, memo):
            raise TypeError("no copies")

    with pytest.warns(UserWarning, match="deepcopy=False"):
        assert list(kind(Alone([1, 2]))) == [1, 2]


def test_a_shuffled_pipe_follows_the_seed():
    pipe = pipes.IterableWrapper(range(20)).shuffle()
    libdl.manual_seed(3)
    first, second = list(pipe), list(pipe)
    libdl.manual_seed(3)
    assert first != second and [list(pipe), list(pipe)] == [first, second]
