# SPDX-License-Identifier: Apache-2.0
"""Results at the ends of a dtype's range, and shapes at the ends of what is allowed. The answers
are PyTorch 2.15's, or where it loses a representable result on the way, that result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import libdl
from libdl.nn import functional as F

INF, NAN = math.inf, math.nan
F16, BF16, F32, F64 = libdl.float16, libdl.bfloat16, libdl.float32, libdl.float64
U8, I32, I64, U64 = libdl.uint8, libdl.int32, libdl.int64, libdl.uint64
t = libdl.tensor

NUMBERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "std": (lambda: t([1e30, 0.0]).std(), 7.071067565216947e29),
    "std, uncorrected": (lambda: t([1e30, 0.0]).std(unbiased=False), 5.000000075237331e29),
    "std of many": (lambda: t([1e30, 0.0] * 20).std(), 5.0636968655155514e29),
    "std of very many": (lambda: t([1e30, 0.0] * 200_000).std(), 5.00000625e29),
    "std of rows": (
        lambda: t([[1e30, 0.0], [1, 2]]).std(1),
        [7.071067565216947e29, 0.7071067690849304],
    ),
    "std of columns": (
        lambda: t([[1e30, 1.0], [0, 2]]).std(0),
        [7.071067565216947e29, 0.7071067690849304],
    ),
    "std of many columns": (
        lambda: t([[1e30, 1.0, 1e-30, 3.0, 4.0], [0, 2, 0, 3, NAN]]).std(0),
        [7.071067565216947e29, 0.7071067690849304, 7.071067777540908e-31, 0, NAN],
    ),
    "std, small": (lambda: t([1e-30, 0.0]).std(), 7.071067777540908e-31),
    "std, small, of many": (lambda: t([1e-30, 0.0] * 20).std(), 5.063696763342262e-31),
    "std, mean too large": (lambda: t([3e38, 3e38, 2.9e38]).std(), 5.773502e36),
    "std, too large": (lambda: t([3e38, 3e38, -3e38]).std(), INF),
    "std of equals": (lambda: t([5.0, 5, 5]).std(), 0.0),
    "std with infinity": (lambda: t([INF, 1]).std(), NAN),
    "std with NaN": (lambda: t([1e30, NAN]).std(), NAN),
    "std, bfloat16": (lambda: t([1e30, 0.0], dtype=BF16).std(), 7.081017024712375e29),
    "std, float64": (lambda: t([1e200, 0.0], dtype=F64).std(), 7.071067811865476e199),
    "std, float64, small": (lambda: t([1e-200, 0.0], dtype=F64).std(), 7.071067811865476e-201),
    "std, complex": (lambda: t([1e30j, 0]).std(), 7.071067565216947e29),
    "var": (lambda: t([1e30, 0.0]).var(), INF),
    "var, large squares": (lambda: t([1e19, 0.0] * 20).var(), 2.564102475623764e37),
    "var, small": (lambda: t([1e-22, 0.0]).var(), 5.605193857299268e-45),
    "norm of one": (lambda: t([1e30]).norm(), 1.0000000150474662e30),
    "norm of one, small": (lambda: t([1e-30]).norm(), 1.0000000031710769e-30),
    "norm of single rows": (lambda: t([[1e30, 2.0]]).norm(2, 0), [1.0000000150474662e30, 2.0]),
    "norm of one, p 3": (lambda: t([[1e30]]).norm(3, 1), [1.0000000150474662e30]),
    "norm of one, p 0": (lambda: t([[-2.0]]).norm(0, 1), [1.0]),
    "norm of one, complex": (lambda: t([1e30 + 1e30j]).norm(), 1.4142135130433894e30),
    "norm of one, complex128": (lambda: t([1e200 + 0j], dtype=libdl.complex128).norm(), 1e200),
    "norm of two": (lambda: t([1e30, 1e30]).norm(), 1.4142135e30),
    "norm of two, float64": (lambda: t([1e200, 1e200], dtype=F64).norm(), math.sqrt(2) * 1e200),
    "norm of two, too large": (lambda: t([3e38, 3e38]).norm(), INF),
    "norm of zeros": (lambda: t([[0.0, -0.0], [INF, 1], [NAN, INF]]).norm(2, 1), [0, INF, NAN]),
    "norm of subnormal numbers": (lambda: t([1e-45, 1e-45, 0]).norm(1.5), 2.802596928649634e-45),
    "norm 3 of zero and one": (lambda: t([[0.0, 0], [1, 0]]).norm(3, 1), [0, 1]),
    "norm -2 of two": (lambda: t([1e-30, 1e-30]).norm(-2), 7.0710678e-31),
    "norm -2 with zero": (lambda: t([1e-30, 0]).norm(-2), 0),
    "norm 0.5 with infinity": (lambda: t([INF, 1e30]).norm(0.5), INF),
    "norm of many": (lambda: libdl.full((300_000,), 1e30).norm(), 5.4772256e32),
    "norm, bfloat16": (lambda: t([1e30, 1e30], dtype=BF16).norm(), 1.416203404942475e30),
    "total norm, float16": (
        lambda: libdl.nn.utils.get_total_norm(
            [libdl.full((300,), 6e4, dtype=F16)] * 2, foreach=False
        ),
        INF,
    ),
    "mean": (lambda: t([3e38, 3e38, 2e38]).mean(), 2.6666667e38),
    "mean, float64": (lambda: t([1.5e308, 1.5e308], dtype=F64).mean(), 1.5e308),
    "mean of rows": (
        lambda: t([[3e38, 3e38], [INF, 1], [INF, -INF], [1, 2]]).mean(1),
        [3e38, INF, NAN, 1.5],
    ),
    "mean, complex": (lambda: libdl.view_as_real(t([3e38 + 1j, 3e38]).mean()), [3e38, 0.5]),
    "mean with dtype": (lambda: t([2**62, 2**62]).mean(dtype=F32), 2.0**62),
    "l1_loss": (lambda: F.l1_loss(t([3e38, 3e38]), libdl.zeros(2)), 3e38),
    "layer_norm": (
        lambda: F.layer_norm(t([1.0, 2, 3]) * 2.0**83, (3,)),
        [-1.2247449, 0, 1.2247449],
    ),
    "layer_norm of equals": (lambda: F.layer_norm(t([1e30, 1e30]), (2,)), [0, 0]),
    "layer_norm with NaN": (
        lambda: F.layer_norm(t([[1e30, NAN], [1e30, 2e30]]), (2,)),
        [[NAN, NAN], [-1, 1]],
    ),
    "layer_norm with infinity": (lambda: F.layer_norm(t([1e30, INF]), (2,)), [NAN, NAN]),
    "cosine_embedding_loss": (
        lambda: F.cosine_embedding_loss(t([[1e30, 0.0]]), t([[1e30, 1e30]]), t([1])),
        0.29289323,
    ),
    "normalize one": (lambda: F.normalize(t([[1e30, -1e-30]]), dim=0, eps=0), [[1.0, -1.0]]),
    "cosine, broadcast": (
        lambda: F.cosine_similarity(t([[1.0], [1], [1]]), t([[1.0, 2], [3, 4], [5, 6]])),
        [0.9486832618713379, 0.9899495244026184, 0.995893120765686],
    ),
    "cosine, more dimensions": (
        lambda: F.cosine_similarity(t([[[1.0, 1, 1]]]), t([[0.0, 1, 2], [3, 4, 5]]), dim=-1),
        [[0.7745966911315918, 0.9797959327697754]],
    ),
    "cosine, one vector": (
        lambda: F.cosine_similarity(t([1.0, 1]), t([[0.0, 1], [3, 4]]), dim=0),
        [0.7071067690849304, 0.857492983341217],
    ),
    "cosine, tiny": (
        lambda: F.cosine_similarity(t([[1e-20, 0.0]]), t([[1e-20, 0.0]])),
        [1.0000000195414814e-24],
    ),
    "cosine of both dtypes": (
        lambda: F.cosine_similarity(t([[1.0, 2]]), t([[1.0, 2]], dtype=F64)),
        [1.0],
    ),
    # Integers are counted by whole numbers; the count itself is not cut.
    "arange": (lambda: libdl.arange(0, 5, 1.5, dtype=I64), [0, 1, 2, 3]),
    "arange by halves": (lambda: libdl.arange(0, 2, 0.5, dtype=I64), [0, 0, 0, 0]),
    "arange from a half": (lambda: libdl.arange(-2.7, 3, 1.9, dtype=I32), [-2, -1, 0, 1]),
    "arange down": (lambda: libdl.arange(5, 0, -1.5, dtype=I64), [5, 4, 3, 2]),
    "arange, uint8": (lambda: libdl.arange(-2.5, 2, 1, dtype=U8), [254, 255, 0, 1, 2]),
    "linspace of integers": (lambda: libdl.linspace(0.5, 9.9, 5, dtype=I64), [0, 2, 4, 6, 9]),
    "linspace, cut": (lambda: libdl.linspace(-5.7, 6.9, 6, dtype=I64), [-5, -2, 0, 1, 3, 6]),
    "linspace down": (lambda: libdl.linspace(7, -3, 4, dtype=I32), [7, 3, 0, -3]),
    "masked_scatter, mask larger": (
        lambda: libdl.zeros(1).masked_scatter(t([True, False, True]), t([1.0, 2, 3])),
        [1.0, 0, 2],
    ),
    "masked_scatter, more dimensions": (
        lambda: libdl.zeros(2).masked_scatter(libdl.ones(3, 2) > 0, libdl.arange(6.0)),
        [[0.0, 1], [2, 3], [4, 5]],
    ),
    "gather, empty index": (
        lambda: libdl.gather(libdl.zeros(3, 3), 1, libdl.zeros(0, 2, 2, dtype=I64)).shape,
        (0, 2, 2),
    ),
    "gather, flat empty index": (
        lambda: libdl.gather(libdl.zeros(3, 3), 0, libdl.zeros(0, dtype=I64)).shape,
        (0,),
    ),
    "scatter, empty index": (
        lambda: libdl.scatter(libdl.ones(3), 0, libdl.zeros(0, 2, dtype=I64), 7.0),
        [1.0, 1, 1],
    ),
    "scatter_add, empty index": (
        lambda: libdl.scatter_add(
            libdl.ones(3), 0, libdl.zeros(0, 2, dtype=I64), libdl.zeros(0, 2)
        ),
        [1.0, 1, 1],
    ),
    "linear, vector": (lambda: F.linear(t([[1.0, 2], [3, 4]]), t([5.0, 6])), [17.0, 39.0]),
    "linear, two vectors": (lambda: F.linear(t([1.0, 2]), t([5.0, 6]), t(1.0)), 18.0),
    "linear, batch and vector": (
        lambda: F.linear(libdl.ones(2, 4, 3), libdl.ones(3)),
        [[3.0] * 4] * 2,
    ),
    "linear, one bias": (
        lambda: F.linear(libdl.ones(2, 3), libdl.ones(2, 3), t([1.0])),
        [[4.0, 4], [4, 4]],
    ),
    "linear, 0-d bias": (
        lambda: F.linear(libdl.ones(2, 3), libdl.ones(2, 3), t(1.0)),
        [[4.0, 4], [4, 4]],
    ),
    "where of a truth": (lambda: libdl.where(t(True))[0], [0]),
    "where of no truth": (lambda: libdl.where(t(False))[0], []),
    "where of a number": (lambda: libdl.where(t(5.0))[0], [0]),
}


def close(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(close, found, wanted))
    if wanted != wanted:
        return found != found
    return found == wanted or abs(found - wanted) <= 1e-6 * abs(wanted)


@pytest.mark.parametrize("name", NUMBERS)
def test_values(name: str) -> None:
    call, wanted = NUMBERS[name]
    found = call()
    if isinstance(wanted, tuple):
        assert tuple(found) == wanted
    else:
        assert close(found.tolist(), wanted), found


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod"])
@pytest.mark.parametrize(
    "dtype", [libdl.bool, U8, libdl.uint16, libdl.uint32, U64, libdl.int8, I64]
)
def test_integers_are_added_as_int64(name: str, dtype: Any) -> None:
    arguments = (0,) if name.startswith("cum") else ()
    made = getattr(libdl, name)(libdl.ones(3, dtype=dtype), *arguments)
    assert made.dtype is I64
    assert made.tolist() == {"sum": 3, "prod": 1, "cumsum": [1, 2, 3], "cumprod": [1, 1, 1]}[name]


def test_the_gradient_of_a_large_std() -> None:
    x = libdl.tensor([1e30, 0.0], requires_grad=True)
    x.std().backward()
    assert close(x.grad.tolist(), [0.7071067690849304, -0.7071067690849304])


def test_linear_by_a_vector_has_gradients() -> None:
    x, w = libdl.ones(2, 3, requires_grad=True), libdl.arange(3.0).requires_grad_()
    bias = libdl.tensor(1.0, requires_grad=True)
    F.linear(x, w, bias).sum().backward()
    assert x.grad.tolist() == [[0, 1, 2], [0, 1, 2]] and w.grad.tolist() == [2, 2, 2]
    assert bias.grad.item() == 2


def test_gradients_of_empty_indices() -> None:
    x = libdl.ones(3, requires_grad=True)
    index = libdl.zeros(0, 2, dtype=I64)
    (x.gather(0, index).sum() + x.scatter(0, index, 1.0).sum()).backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_masked_scatter_of_a_broadcast_input_has_gradients() -> None:
    x, source = libdl.ones(1, requires_grad=True), libdl.ones(3, requires_grad=True)
    mask = libdl.tensor([True, False, False])
    (libdl.masked_scatter(x, mask, source) * libdl.tensor([1.0, 2, 3])).sum().backward()
    assert x.grad.tolist() == [5] and source.grad.tolist() == [1, 0, 0]
    with pytest.raises(RuntimeError, match="masked_scatter"):
        libdl.zeros(1).masked_scatter_(mask, source.detach())


# PyTorch's older keywords.
@pytest.mark.filterwarnings("ignore:size_average")
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, "mean"),
        ({"size_average": False}, "sum"),
        ({"size_average": True}, "mean"),
        ({"reduce": False}, "none"),
        ({"reduce": True}, "mean"),
        ({"size_average": False, "reduce": False}, "none"),
        ({"reduction": "sum"}, "sum"),
        ({"size_average": True, "reduction": "sum"}, "mean"),
    ],
)
def test_older_keywords_of_losses(given: dict[str, Any], wanted: str) -> None:
    x, y, labels = libdl.arange(6.0).view(3, 2), libdl.ones(3, 2), libdl.tensor([0, 1, 1])
    for function, module, target in (
        (F.mse_loss, libdl.nn.MSELoss, y),
        (F.l1_loss, libdl.nn.L1Loss, y),
        (F.nll_loss, libdl.nn.NLLLoss, labels),
        (F.cross_entropy, libdl.nn.CrossEntropyLoss, labels),
    ):
        right = function(x, target, reduction=wanted).tolist()
        assert function(x, target, **given).tolist() == right
        assert module(**given)(x, target).tolist() == right
    assert (
        F.nll_loss(x, labels, None, False).item() == F.nll_loss(x, labels, reduction="sum").item()
    )
    assert F.mse_loss(x, y, None, None, "sum").item() == F.mse_loss(x, y, False).item()
    with pytest.raises(ValueError, match="reduction"):
        F.l1_loss(x, y, reduction="bad")


def test_addmm_looks_at_no_term_whose_factor_is_0() -> None:
    nan = float("nan")
    x, w, bias = libdl.tensor([[nan, 1.0]]), libdl.ones(2, 3), libdl.full((3,), nan)
    assert libdl.addmm(bias, x, w, beta=0, alpha=0).tolist() == [[0, 0, 0]]
    assert libdl.addmm(libdl.ones(3), x, w, alpha=0).tolist() == [[1, 1, 1]]
    assert libdl.ones(1, 3).addmm_(x, w, beta=0, alpha=0).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(("dtype", "size"), [(F16, 6e4), (BF16, 1e30), (F32, 1e30), (F64, 1e200)])
@pytest.mark.parametrize("order", [2.0, 3.0])
def test_clipping_of_gradients_whose_squares_overflow(
    dtype: Any, size: float, order: float
) -> None:
    parameters = [libdl.zeros(100, dtype=dtype, requires_grad=True) for _ in range(3)]
    for p in parameters:
        p.grad = libdl.full((100,), size, dtype=dtype)
    libdl.nn.utils.clip_grad_norm_(parameters, 1.0, order)
    for p in parameters:
        assert p.grad[0].item() == pytest.approx(300 ** (-1 / order), rel=1e-2)
