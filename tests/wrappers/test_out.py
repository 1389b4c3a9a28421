# SPDX-License-Identifier: Apache-2.0
"""out=: an empty tensor takes the result's shape, as in PyTorch; any other has to fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import libdl

X = libdl.arange(6.0).view(2, 3)
I64 = libdl.int64
ONE: dict[str, Callable[[Any], Any]] = {
    "add": lambda out: libdl.add(X, 1, out=out),
    "exp": lambda out: libdl.exp(X, out=out),
    "sum": lambda out: libdl.sum(X, dim=0, out=out),
    "std": lambda out: libdl.std(X, 1, out=out),
    "matmul": lambda out: libdl.matmul(X, X.mT, out=out),
    "cat": lambda out: libdl.cat([X, X], out=out),
    "stack": lambda out: libdl.stack([X], out=out),
    "linspace": lambda out: libdl.linspace(0, 1, 5, out=out),
    "arange": lambda out: libdl.arange(5.0, out=out),
    "eye": lambda out: libdl.eye(2, out=out),
    "ones": lambda out: libdl.ones(2, 2, out=out),
    "full": lambda out: libdl.full((2,), 3.0, out=out),
    "where": lambda out: libdl.where(X > 1, X, X, out=out),
    "norm": lambda out: libdl.norm(X, dim=1, out=out),
    "max": lambda out: libdl.max(X, out=out),
    "maximum": lambda out: libdl.max(X, X, out=out),
    "masked_select": lambda out: libdl.masked_select(X, X > 1, out=out),
    "index_select": lambda out: libdl.index_select(X, 0, libdl.tensor([0]), out=out),
    "gather": lambda out: libdl.gather(X, 1, libdl.tensor([[0], [1]]), out=out),
    "scatter": lambda out: libdl.scatter(X, 1, libdl.tensor([[0], [1]]), 9.0, out=out),
    "softmax": lambda out: libdl.softmax(X, 0, out=out),
    "cumsum": lambda out: libdl.cumsum(X, 1, out=out),
    "clamp": lambda out: libdl.clamp(X, 1, out=out),
    "var": lambda out: libdl.var(X, out=out),
    "sub": lambda out: libdl.sub(X, 1, alpha=2, out=out),
}
TWO: dict[str, Callable[[Any], Any]] = {
    "max": lambda out: libdl.max(X, 1, out=out),
    "min": lambda out: libdl.min(X, 0, out=out),
    "sort": lambda out: libdl.sort(X, out=out),
    "topk": lambda out: libdl.topk(X, 2, out=out),
    "kthvalue": lambda out: libdl.kthvalue(X, 2, out=out),
}


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("shape", [(0,), (0, 7)])
def test_an_empty_tensor_is_resized(name: str, shape: tuple[int, ...]) -> None:
    out = libdl.empty(shape)
    wanted = ONE[name](None)
    assert ONE[name](out) is out
    assert out.shape == wanted.shape and out.tolist() == wanted.tolist()


@pytest.mark.parametrize("name", TWO)
def test_both_of_two_are_resized(name: str) -> None:
    out = (libdl.empty(0), libdl.empty(0, dtype=I64))
    made, wanted = TWO[name](out), TWO[name](None)
    for got, place, right in zip(made, out, wanted, strict=True):
        assert got is place and place.shape == right.shape and place.tolist() == right.tolist()


def test_integers_and_truths() -> None:
    out = libdl.empty(0, dtype=I64)
    assert libdl.nonzero(X > 1, out=out) is out and out.shape == (4, 2)
    out = libdl.empty(0, dtype=libdl.bool)
    assert libdl.ge(X, 2, out=out).tolist() == [[False, False, True], [True, True, True]]
    out = libdl.empty(0, dtype=I64)
    libdl.manual_seed(3)
    libdl.randperm(9, out=out)
    libdl.manual_seed(3)
    assert out.tolist() == libdl.randperm(9).tolist()  # drawn once


def test_a_wider_dtype_is_kept_and_a_narrower_one_refused() -> None:
    out = libdl.empty(0, dtype=libdl.float64)
    assert libdl.add(X, 1, out=out).dtype is libdl.float64 and out.shape == (2, 3)
    out = libdl.empty(0, dtype=I64)
    with pytest.raises(TypeError, match="add"):
        libdl.add(X, 1, out=out)


def test_what_is_not_empty_has_to_fit() -> None:
    out = libdl.ones(2)
    with pytest.raises(RuntimeError, match=r"has shape \[2\], wanted \[2, 3\]"):
        libdl.add(X, 1, out=out)
    assert out.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="shape"):
        libdl.kthvalue(X, 2, out=(libdl.ones(7), libdl.empty(0, dtype=I64)))


def test_in_place_methods_never_resize() -> None:
    x = libdl.empty(0)
    with pytest.raises(RuntimeError, match="shape"):
        x.add_(X)
    assert x.shape == (0,)


def test_wrong_operands_are_their_own_error() -> None:
    out = libdl.empty(0)
    with pytest.raises(RuntimeError, match="does not broadcast"):
        libdl.add(libdl.ones(3), libdl.ones(2), out=out)
    assert out.shape == (0,)


def test_out_is_not_recorded() -> None:
    leaf = X.clone().requires_grad_()
    for call in (
        lambda out: libdl.add(leaf, 1, out=out),
        lambda out: libdl.kthvalue(leaf, 1, out=(out, libdl.empty(0, dtype=I64))),
    ):
        with pytest.raises(RuntimeError, match="requires grad"):
            call(libdl.empty(0))
    with pytest.raises(RuntimeError):
        libdl.add(X, 1, out=libdl.empty(0, requires_grad=True))


def test_sums_are_computed_for_their_place() -> None:
    """In the dtype of a wider place; of integers, which int64 may not hold, in float64."""
    large = libdl.tensor([2**62, 2**62, 2**62])
    small = libdl.tensor([1, 2**-30])
    half = libdl.tensor([300, 300], dtype=libdl.float16)
    for op, x, dtype, wanted in [
        (libdl.sum, large, libdl.float64, 3 * 2.0**62),
        (libdl.prod, large, libdl.float64, 2.0**186),
        (libdl.cumsum, large, libdl.float32, [2.0**62, 2.0**63, 3 * 2.0**62]),
        (libdl.cumprod, large, libdl.float64, [2.0**62, 2.0**124, 2.0**186]),
        (libdl.prod, large.to(libdl.uint64), libdl.float16, float("inf")),
        (libdl.sum, large.to(libdl.uint64), libdl.complex64, 3 * 2.0**62),
        (libdl.sum, large, libdl.int32, 0),
        (libdl.sum, libdl.tensor([True, True]), libdl.float16, 2.0),
        (libdl.sum, small, libdl.float64, 1 + 2.0**-30),
        (libdl.mean, small, libdl.float64, 0.5 + 2.0**-31),
        (libdl.cumsum, small, libdl.float64, [1, 1 + 2.0**-30]),
        (libdl.prod, half, libdl.float32, 9e4),
        (libdl.cumprod, half, libdl.float32, [300, 9e4]),
        (libdl.mean, half, libdl.float32, 300.0),
    ]:
        out = libdl.empty(len(wanted) if isinstance(wanted, list) else (), dtype=dtype)
        assert op(x, 0, out=out) is out and out.tolist() == wanted, (op, x.dtype, dtype)
    out = libdl.empty((), dtype=libdl.float64)
    libdl.logsumexp(small, 0, out=out)
    assert abs(out.item() - 1.313261687768694) < 1e-14


@pytest.mark.parametrize("dim", [0, 1])
def test_joined_straight_into_a_destination_of_any_layout(dim: int) -> None:
    parts = [X, X.mT.contiguous().mT * 2]
    wanted = libdl.cat(parts, dim)
    rows, cols = wanted.shape
    for out in (
        libdl.zeros(rows, cols),
        libdl.zeros(cols, rows).mT,
        libdl.zeros(2 * rows, 3 * cols)[::2, 1::3],
        libdl.zeros(rows, cols, dtype=libdl.float64),
    ):
        assert libdl.cat(parts, dim, out=out) is out and out.tolist() == wanted.tolist()
    # 1/3 is rounded to float32, the promoted dtype, before it becomes float64.
    thirds = [libdl.tensor([1.0]) / 3, libdl.tensor([2])]
    out = libdl.zeros(2, dtype=libdl.float64)
    assert libdl.cat(thirds, out=out).tolist() == libdl.cat(thirds).tolist()


def test_what_is_joined_may_not_share_the_destinations_memory_in_part() -> None:
    whole = libdl.arange(6.0)
    for tensors in ([whole[:3], whole[3:]], [whole[1:4], whole[:3]]):
        with pytest.raises(RuntimeError, match="shares some of its memory"):
            libdl.cat(tensors, out=whole)
    assert whole.tolist() == [0, 1, 2, 3, 4, 5]
    assert libdl.cat([whole, libdl.empty(0)], out=whole).tolist() == [0, 1, 2, 3, 4, 5]
    between = libdl.zeros(2, 6)
    libdl.cat([between[1, :3] + 1, libdl.ones(3) * 2], out=between[0])
    assert between.tolist() == [[1, 1, 1, 2, 2, 2], [0] * 6]


def test_a_version_counts_one_write_however_many_parts_there_are() -> None:
    out = libdl.zeros(6, 3)
    before = out._version
    libdl.cat([X, X, X], out=out)
    assert out._version == before + 1


# -- what has no derivative ------------------------------------------------------------------------

TRUTH: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda x, out, name=name: getattr(libdl, name)(x, x, out=out)
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor")
    },
    **{
        name: lambda x, out, name=name: getattr(libdl, name)(x, out=out)
        for name in ("logical_not", "signbit", "isposinf", "isneginf")
    },
}


@pytest.mark.parametrize("name", TRUTH)
def test_truth_is_written_without_history(name):
    x = libdl.tensor([1.0, 0.0, 2.0], requires_grad=True)
    out = libdl.empty(3, dtype=libdl.bool)
    assert TRUTH[name](x, out) is out
    assert not out.requires_grad
    assert libdl.equal(out, TRUTH[name](x.detach(), libdl.empty(3, dtype=libdl.bool)))


def test_coordinates_are_written_without_history():
    x = libdl.tensor([1.0, 0.0, 2.0], requires_grad=True)
    out = libdl.empty(2, 1, dtype=I64)
    assert libdl.nonzero(x, out=out).tolist() == [[0], [2]]


@pytest.mark.parametrize("name, recorded", [("eq_", True), ("lt_", True), ("logical_and_", False)])
def test_truth_in_place_is_recorded_where_pytorch_does_so(name, recorded):
    x = libdl.tensor([1.0, 0.0, 2.0], requires_grad=True)
    assert getattr(libdl.ones(3), name)(x).requires_grad is recorded
    assert getattr(x * 1, name)(x).requires_grad  # its history, which then gives a gradient of 0


@pytest.mark.parametrize("name", ["median", "nanmedian", "mode", "kthvalue"])
def test_a_pair_is_written_into_leaves_while_nothing_is_recorded(name):
    values, places = libdl.zeros(2, requires_grad=True), libdl.zeros(2, dtype=I64)
    arguments = (X, 1, 1) if name == "kthvalue" else (X, 1)
    with libdl.no_grad():
        getattr(libdl, name)(*arguments, out=(values, places))
    assert libdl.equal(values, getattr(libdl, name)(*arguments)[0])
    with pytest.raises(RuntimeError, match=f"{name}: out= is not recorded"):
        getattr(libdl, name)(*arguments, out=(values, places))
