# SPDX-License-Identifier: Apache-2.0
"""testing.assert_close passes, raises and says what PyTorch's does."""

import pytest
from answered import Stored
from wrappers import seen_testing

import libdl

SEEN = Stored(seen_testing)


@pytest.mark.parametrize("call", seen_testing.CALLS)
def test_it_says_what_pytorch_says(call):
    found = seen_testing.said(libdl, call)
    SEEN.compare(call, found and found.replace("libdl", "torch"))


@pytest.mark.parametrize("given, missing", [("rtol", "atol"), ("atol", "rtol")])
def test_one_tolerance_alone_is_refused(given, missing):
    with pytest.raises(ValueError, match=f"got no {missing}"):
        libdl.testing.assert_close(1.0, 1.0, **{given: 1.0})


def test_history_does_not_matter():
    x = libdl.ones(2, requires_grad=True)
    libdl.testing.assert_close(x * 2, libdl.full((2,), 2.0))
