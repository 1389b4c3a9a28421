# SPDX-License-Identifier: Apache-2.0
"""Runs checkers over declared cases."""

from __future__ import annotations

import functools
import importlib
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

import checks
import checks_complex
import checks_dtypes
import checks_forward
import checks_meta
import checks_overlap
import checks_vmap
from known import KNOWN
from refusals import rejected
from samples import Case, Sample

if TYPE_CHECKING:
    import pytest

CHECKS = [
    *checks.CHECKS,
    *checks_forward.CHECKS,
    *checks_complex.CHECKS,
    *checks_dtypes.CHECKS,
    *checks_overlap.CHECKS,
    checks_vmap.mapped,
    *checks_meta.CHECKS,
]
SEEN = 20  # different samples that a case must have


def cases() -> list[Case]:
    folder = pathlib.Path(__file__).parent
    found: list[Case] = []
    for path in sorted(folder.glob("cases_*.py")):
        module = importlib.import_module(path.stem)
        for case in module.CASES:
            case.rejects = rejected(case.rejects, vars(module))
        found += module.CASES
    return found


@functools.lru_cache(maxsize=2)
def samples(case: Case) -> list[Sample]:
    """Made once for the checkers that come one after another, none of which may write into them."""
    made = list(case.samples())
    for sample in made:
        for a in sample.args:
            for e in a if isinstance(a, (list, tuple)) else [a]:
                if isinstance(e, np.ndarray):
                    e.flags.writeable = False
    return made


def check(case: Case, checker: Callable[[Case, Sample], None]) -> None:
    """Every sample, then one report of those that failed."""
    failed = []
    for sample in samples(case):
        try:
            checker(case, sample)
        except Exception as e:
            lines = str(e).strip().splitlines()[:12]
            failed.append(f"{sample}: {type(e).__name__}: " + "\n    ".join(lines))
    assert not failed, f"{len(failed)} samples of {case.name}:\n" + "\n".join(failed[:3])


def marks(name: str, what: str) -> list[pytest.MarkDecorator]:
    import pytest  # here: who only reads the cases, on another machine, may have none

    reason = KNOWN.get((name, what))
    return [pytest.mark.xfail(strict=True, reason=reason)] if reason else []


def applies(case: Case, checker: Callable[[Case, Sample], None]) -> bool:
    needs = {
        checks.inplace: case.inplace,
        checks.inplace_gradient: case.inplace and case.differentiable,
        checks.into: case.out,
        checks.aliases: case.view,
        checks.gradient: case.differentiable,
        checks.second_order: case.differentiable,
        checks.forward_mode: case.differentiable,
        checks_forward.nested: case.differentiable,
        checks_forward.written: case.inplace and case.differentiable,
        checks_dtypes.integers: "i" in case.dtypes and case.result != "float",
    }
    needs[checks_vmap.mapped] = not case.name.startswith("sparse_")  # no tensor to map over
    plane = "c" in case.dtypes
    needs |= {checker: plane and case.differentiable for checker in checks_complex.CHECKS}
    needs |= {checks_complex.value: plane, checks_complex.strided: plane}
    needs |= dict.fromkeys(checks_overlap.CHECKS, case.out)
    return needs.get(checker, True)
