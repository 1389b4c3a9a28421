# SPDX-License-Identifier: Apache-2.0
"""What a rule saves: a result or an operand that is overwritten before backward makes it raise,
where PyTorch raises too (REFUSED), or changes nothing about the gradient."""

from __future__ import annotations

import numpy as np
import pytest

import harness
import libdl
from refused import REFUSED
from samples import Fixed

CASES = [case for case in harness.cases() if case.differentiable and not case.view]


def is_value(argument):
    return (
        isinstance(argument, np.ndarray)
        and argument.dtype.kind in "fc"
        and not isinstance(argument, Fixed)
    )


def plain_sample(case):
    """The first one on which the operator has a gradient, and few but some numbers."""
    for sample in case.samples():
        values = [a for a in sample.args if is_value(a)]
        if not sample.smooth or not values or any(a.size == 0 or a.size > 40 for a in values):
            continue
        if any(a.ndim == 0 for a in values) and len(values) > 1:
            continue
        if all(np.isfinite(a).all() for a in values):
            return sample
    return None


def as_tensor(argument):
    if isinstance(argument, np.ndarray):
        return libdl.tensor(np.array(argument))
    if isinstance(argument, (list, tuple)) and any(isinstance(a, np.ndarray) for a in argument):
        return type(argument)(as_tensor(a) for a in argument)
    return argument


def gradients(case, sample, target):
    """Of each value, after `target` was overwritten; "raises" where backward refuses."""
    leaves, args = [], []
    for argument in sample.args:
        made = as_tensor(argument)
        if is_value(argument):
            leaves.append(made.requires_grad_())
            made = made * 1
        args.append(made)
    values = [a for a, given in zip(args, sample.args) if is_value(given)]
    libdl.manual_seed(0)
    result = case.function(*args, **{k: as_tensor(v) for k, v in sample.kwargs.items()})
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    results = [r for r in results if getattr(r, "requires_grad", False)]
    if not results:
        return None
    with libdl.no_grad():
        if target == "result":
            for r in results:
                r.mul_(3)
        elif target is not None:
            values[target].mul_(3)
    total = sum((r * r.detach().clone().fill_(1)).sum().abs() for r in results)
    try:
        total.backward()
    except RuntimeError:
        return "raises"
    return [None if x.grad is None else x.grad.tolist() for x in leaves]


def targets(case):
    sample = plain_sample(case)
    if sample is None:
        return []
    count = sum(is_value(a) for a in sample.args)
    return ["result", *range(count)]


PAIRS = [(case, target) for case in CASES for target in targets(case)]


def test_enough_operators_are_tried():
    assert len({case.name for case, _ in PAIRS}) > 100


@pytest.mark.parametrize(("case", "target"), PAIRS, ids=lambda v: getattr(v, "name", str(v)))
def test_a_value_that_is_overwritten_is_refused_or_does_not_matter(case, target):
    sample = plain_sample(case)
    wanted = gradients(case, sample, None)
    found = gradients(case, sample, target)
    if found == "raises":
        assert (case.name, target) in REFUSED, f"{case.name} saves {target}, PyTorch does not"
        return
    for g, w in zip(found, wanted):
        assert g is w is None or np.allclose(g, w, rtol=1e-12, equal_nan=True)
