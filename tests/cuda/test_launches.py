# SPDX-License-Identifier: Apache-2.0
"""Each operator asks the device for as much as launches.txt says."""

from __future__ import annotations

import pathlib

import pytest

import libdl
from cuda import launches

BUILD = pathlib.Path(libdl.__file__).absolute().parents[2]


@pytest.mark.skipif(
    not (BUILD / "libsimulated_cuda.so").exists(), reason="the CUDA plugin was not built"
)
def test_operators_ask_for_what_the_table_says() -> None:
    found, wanted = launches.table(BUILD).splitlines(), launches.TABLE.read_text().splitlines()
    changed = sorted(set(found) ^ set(wanted), key=lambda line: line.split()[0])
    assert not changed, "tests/cuda/launches.py --refresh writes:\n" + "\n".join(
        ("+ " if line in found else "- ") + line for line in changed
    )
