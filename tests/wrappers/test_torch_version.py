# SPDX-License-Identifier: Apache-2.0
"""Versions compare as PyTorch's do; as_torch tells the version of the interface."""

import operator

import pytest
from answered import Stored
from wrappers import seen_versions

import libdl
from libdl.torch_version import FOLLOWED


def test_versions_compare_as_in_pytorch():
    seen = Stored(seen_versions)
    for relation, answer in seen_versions.answers(libdl).items():
        seen.compare(relation, answer)
    assert len(seen[""]) == 140


def test_a_version_is_its_text():
    assert str(FOLLOWED) == f"2.15.0+libdl.{libdl.version.libdl}"
    assert hash(FOLLOWED) == hash(str(FOLLOWED)) and FOLLOWED.split("+")[0] == "2.15.0"
    assert {FOLLOWED: 1}[str(FOLLOWED)] == 1


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge"])
def test_a_number_is_no_version(name):
    with pytest.raises(TypeError):
        getattr(operator, name)(FOLLOWED, 2)


def test_libdl_by_itself_tells_its_own_version():
    assert libdl.__version__ == libdl.version.__version__ == libdl.version.libdl
