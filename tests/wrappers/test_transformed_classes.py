# SPDX-License-Identifier: Apache-2.0
"""Functions of Tensor subclasses under every transform: values, classes inside and behind, and
whether they have history, as PyTorch's stored answers say."""

import json
from pathlib import Path

import pytest
from wrappers import seen_transformed_classes
from wrappers.answers import first_difference

import libdl

ANSWERS = json.loads(Path(seen_transformed_classes.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize("cls", seen_transformed_classes.classes_of(libdl))
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("program", seen_transformed_classes.PROGRAMS)
def test_as_in_pytorch(program, cls, recorded):
    found = seen_transformed_classes.answer(libdl, cls, program, recorded)
    name = f"{cls.__name__}, {'recorded' if recorded else 'constant'}: {program}"
    assert not first_difference(json.loads(json.dumps(found)), ANSWERS[name])


def test_every_program_has_an_answer():
    kinds = len(seen_transformed_classes.classes_of(libdl)) * 2
    assert len(ANSWERS) == kinds * len(seen_transformed_classes.PROGRAMS)
