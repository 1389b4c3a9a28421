# SPDX-License-Identifier: Apache-2.0
"""Functions of Tensor subclasses under every transform: values, classes inside and behind, and
whether they have history, as PyTorch's stored answers say."""

import pytest
from answered import Stored
from wrappers.func import seen_transformed_classes

import libdl

SEEN = Stored(seen_transformed_classes)


@pytest.mark.parametrize("cls", seen_transformed_classes.classes_of(libdl))
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("program", seen_transformed_classes.PROGRAMS)
def test_as_in_pytorch(program, cls, recorded):
    found = seen_transformed_classes.answer(libdl, cls, program, recorded)
    of_each = seen_transformed_classes.line("Each", recorded)
    own = seen_transformed_classes.line(cls.__name__, recorded)
    SEEN.compare(of_each if of_each in SEEN[program] else own, found, program)


def test_every_program_has_an_answer():
    assert list(SEEN.sections) == seen_transformed_classes.PROGRAMS
