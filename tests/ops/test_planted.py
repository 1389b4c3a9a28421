# SPDX-License-Identifier: Apache-2.0
"""Checkers that let a planted error pass would prove nothing: each must fail here."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import checks
import checks_complex
import checks_dtypes
import checks_forward
import checks_overlap
import harness
import libdl
from libdl.autograd import Function
from refusals import refusals
from samples import Case, Fixed, Sample, numbers, unary

GOOD = Case(
    "sin", libdl.sin, np.sin, unary(), result="float", out=True, inplace=True, dtypes="fiubc"
)
FIXED = numbers((3,), 1).view(Fixed)
WHOLE = Case("add", lambda x: libdl.add(x, x), lambda x: x + x, unary(), differentiable=False)


class WrongGradient(Function):
    """sin with a gradient that is 0.1 % too large."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return libdl.sin(x)

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return dy * libdl.cos(x) * 1.001

    @staticmethod
    def jvp(ctx, dx):
        (x,) = ctx.saved_tensors
        return dx * libdl.cos(x)


class WrongSecond(Function):
    """sin whose backward detaches its input: right once, zero at the second order."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return libdl.sin(x)

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return dy * libdl.cos(x.detach())


class WrongSecondForward(WrongSecond):
    """The same, and right in forward mode."""

    @staticmethod
    def jvp(ctx, dx):
        (x,) = ctx.saved_tensors
        return dx * libdl.cos(x)


def bad(**changes) -> Case:
    return dataclasses.replace(GOOD, **changes)


def by_stride(x):
    """Wrong where the input is stepped, right elsewhere."""
    return libdl.sin(x) if x.is_contiguous() else libdl.sin(x) * 1.0000001


def forgets_out(x, out=None):
    if out is None:
        return libdl.sin(x)
    return out.copy_(libdl.sin(x) * 1.0000001)


class NoConjugate(Function):
    """sin whose gradient forgets the conjugate: right for real numbers, wrong for complex ones."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return libdl.sin(x)

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        return dy * libdl.cos(x)


def writes_first(x, out=None):
    """Checks its destination after it has written there."""
    if out is not None and out.numel():
        libdl._C.zero_into(out[(0,) * out.ndim])
    return libdl.sin(x, out=out)


def twice_rounded(x):
    return (libdl.sin(x) * 3) / 3


PLANTED = [
    (checks_complex.value, bad(function=lambda x: libdl.sin(x).conj())),
    (checks_complex.value, bad(function=lambda x: libdl.sin(x).to(libdl.complex128))),
    (checks_complex.strided, bad(function=by_stride)),
    (checks_complex.gradient, bad(function=NoConjugate.apply)),
    (checks_complex.forward_mode, bad(function=lambda x: libdl.sin(x.detach()))),
    (checks_complex.second_order, bad(function=WrongSecond.apply)),
    (
        checks_dtypes.integers,
        dataclasses.replace(WHOLE, function=lambda x: (x.double() * 2).to(x.dtype)),
    ),  # saturates
    (checks_dtypes.integers, dataclasses.replace(WHOLE, function=lambda x: x.long() + x.long())),
    (checks_dtypes.one_rounding, bad(function=twice_rounded)),
    (checks_overlap.partly, bad(function=lambda x, out=None: libdl.sin(x.clone(), out=out))),
    (checks_overlap.partly, bad(function=writes_first)),
    (checks_overlap.itself, bad(function=writes_first)),
    (
        checks_overlap.whole,
        bad(
            function=lambda x, out=None: (
                libdl.sin(x, out=out) if out is None else libdl.cos(x, out=out)
            )
        ),
    ),
    (checks.value, bad(function=lambda x: libdl.sin(x) * (1 + 1e-12))),
    (checks.value, bad(function=lambda x: libdl.sin(x).reshape(-1))),
    (checks.promotion, bad(function=lambda x: libdl.sin(x).to(libdl.float64))),
    (checks.promotion, bad(function=lambda x: libdl.sin(x) * (1 + 1e-2))),
    (checks.gradient, bad(function=WrongGradient.apply)),
    (checks.forward_mode, bad(function=WrongGradient.apply)),
    (checks.second_order, bad(function=WrongSecond.apply)),
    (checks_forward.nested, bad(function=WrongSecondForward.apply)),
    (
        checks_forward.constants,
        bad(function=lambda x: libdl.sin(x.detach()), samples=lambda: [Sample((FIXED,))]),
    ),
    (checks.strided, bad(function=by_stride)),
    (checks.into, bad(function=forgets_out)),
    (checks.into, bad(function=lambda x, out=None: libdl.sin(x))),
    (checks.aliases, bad(function=lambda x: x.clone(), view=True)),
]


@pytest.mark.parametrize("checker", harness.CHECKS)
def test_right_operator_passes(checker):
    harness.check(GOOD, checker)


@pytest.mark.parametrize(("checker", "case"), PLANTED)
def test_planted_error_is_found(checker, case):
    with pytest.raises(AssertionError) as caught:
        harness.check(case, checker)
    assert "AssertionError" in str(caught.value), f"not found, but broken: {caught.value}"


def test_wrong_in_place_is_found(monkeypatch):
    right = libdl.Tensor.sin_
    monkeypatch.setattr(libdl.Tensor, "sin_", lambda x: right(x).mul_(1.0000001))
    with pytest.raises(AssertionError, match="sin_"):
        harness.check(GOOD, checks.inplace)


def test_a_gradient_of_the_overwritten_value_is_found(monkeypatch):
    """As if the rule had read the operand after the write, and nothing had noticed."""

    def reads_late(x):
        before = x.clone()
        x.copy_(before.sin().detach() + (before - before.detach()) * x.detach().sin().cos())
        return x

    monkeypatch.setattr(libdl.Tensor, "sin_", reads_late)
    with pytest.raises(AssertionError, match="gradient of input 0"):
        harness.check(GOOD, checks.inplace_gradient)


def test_a_lost_tangent_in_place_is_found(monkeypatch):
    right = libdl.Tensor.sin_

    def loses(x):
        return right(x).copy_(x.detach())

    monkeypatch.setattr(libdl.Tensor, "sin_", loses)
    with pytest.raises(AssertionError, match="in place"):
        harness.check(GOOD, checks_forward.written)


def test_kept_tensor_is_found():
    """What `nothing_left` compares does count a tensor that somebody keeps."""
    before = libdl._C.live()[:3]
    kept = libdl.ones(3)
    assert libdl._C.live()[:3] != before
    del kept
    assert libdl._C.live()[:3] == before


def test_samples_reach_finite_differences():
    """Enough of the kinds' samples are small and smooth: else no gradient would be looked at."""
    for case in harness.cases():
        if case.differentiable:
            plane = case.dtypes == "c"
            seen = sum(checks.smooth(case, s) for s in case.samples())
            assert plane or seen >= 3, f"{case.name}: {seen} samples for the gradient"
            seen = sum(checks_complex.small(case, s) for s in case.samples())
            assert "c" not in case.dtypes or seen >= 3, f"{case.name}: {seen} complex samples"


def test_numbers_stay_away_from_kinks():
    x = numbers((1000,), 3, away=0.01)
    assert np.min(np.abs(x - np.round(x))) >= 0.01
    assert isinstance(Sample((x,)).smooth, bool)


TOLD = """
    ## A call of several lines, whose error has two parts, one of them told in two lines.
    pad(
        [1], "mirror"
    )
        # ValueError | NONE: pad: argument 2 (mode)
        #    is 'mirror' ... 'reflect'
    pad([], 3)
        # TypeError: pad: argument 1
"""


def test_refusals_as_text_are_calls_with_their_errors():
    def pad(*args):
        raise TypeError(args)

    first, second = refusals(TOLD, {"pad": pad, "NONE": (IndexError, KeyError)})
    assert first.error == (ValueError, IndexError, KeyError) and second.error == (TypeError,)
    assert first.words == ("pad: argument 2 (mode) is 'mirror'", "'reflect'")
    for reject, args in ((first, ([1], "mirror")), (second, ([], 3))):
        with pytest.raises(TypeError) as caught:
            reject.call()
        assert caught.value.args == (args,)
    with pytest.raises(SyntaxError):
        refusals("pad([], 3)", {"pad": pad})  # without an error
