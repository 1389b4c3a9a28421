# SPDX-License-Identifier: Apache-2.0
"""What the host's thread has set as its rounding mode does not reach results, neither in kernels
nor in what is computed before and between them."""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import libdl
from libdl import func
from libdl.nn import functional as F

F64 = libdl.float64
MODES = {"x86_64": (0x400, 0x800, 0xC00), "aarch64": (0x800000, 0x400000, 0xC00000)}
X = libdl.tensor([[0.1, 0.7, 1.3], [2.9, 0.3, 1.1]], dtype=F64)
Y = libdl.tensor([[1.7, 0.2, 0.9], [0.4, 2.3, 0.6]], dtype=F64)
H = X.to(libdl.float16)
LABELS = libdl.tensor([2, 0])


def slope(function: Callable[[Any], Any], create_graph: bool = False) -> Any:
    x = X.clone().requires_grad_()
    (dx,) = libdl.autograd.grad(function(x).sum(), x, create_graph=create_graph)
    return libdl.autograd.grad(dx.sum(), x)[0] if create_graph else dx


def stepped(kind: Any, **options: Any) -> Any:
    weight = X.clone().requires_grad_()
    optimizer = kind([weight], **options)
    for _ in range(3):
        weight.grad = Y.clone()
        optimizer.step()
    return weight.detach()


CALLS: dict[str, Callable[[], Any]] = {
    "linspace": lambda: libdl.linspace(0.1, 0.7, 11, dtype=F64),
    "linspace float32": lambda: libdl.linspace(0.1, 0.7, 11),
    "linspace int64": lambda: libdl.linspace(0, 10, 8, dtype=libdl.int64),
    "arange": lambda: libdl.arange(0.1, 1.7, 0.1, dtype=F64),
    "arange float32": lambda: libdl.arange(0.1, 1.7, 0.1),
    "arange count": lambda: libdl.arange(0, 1, 0.1, dtype=F64),
    "full": lambda: libdl.full((2,), 0.1),
    "full half": lambda: libdl.full((2,), 0.1, dtype=H.dtype),
    "tensor": lambda: libdl.tensor([0.1, 0.7]),
    "tensor 0-d": lambda: libdl.tensor(0.1),
    "tensor half": lambda: libdl.tensor([0.1, 0.7], dtype=libdl.bfloat16),
    "tensor of integers": lambda: libdl.tensor([2**53 + 1, 3], dtype=libdl.float32),
    "fill_": lambda: libdl.zeros(2).fill_(0.1),
    "to": lambda: X.to(libdl.float32),
    "masked_fill": lambda: H.masked_fill(H > 1, 0.1),
    "eye": lambda: libdl.eye(2),
    "item": lambda: libdl.tensor(H[0, 0].item(), dtype=F64),
    "x[0] = number": lambda: assigned(0.1),
    "rand": lambda: seeded(lambda: libdl.rand(9)),
    "rand float64": lambda: seeded(lambda: libdl.rand(9, dtype=F64)),
    "randn": lambda: seeded(lambda: libdl.randn(9)),
    "uniform_": lambda: seeded(lambda: libdl.zeros(9).uniform_(0.1, 0.7)),
    "normal_": lambda: seeded(lambda: libdl.zeros(9, dtype=F64).normal_(0.1, 0.7)),
    "randint": lambda: seeded(lambda: libdl.randint(0, 7, (9,))),
    "bernoulli": lambda: seeded(lambda: libdl.zeros(99).bernoulli_(0.3)),
    "dropout": lambda: seeded(lambda: F.dropout(X, 0.3)),
    "dropout slope": lambda: seeded(lambda: slope(lambda x: F.dropout(x, 0.3))),
    "add": lambda: X + 0.1,
    "add alpha": lambda: libdl.add(X, Y, alpha=0.1),
    "half times number": lambda: H * 0.1,
    "pow": lambda: X**0.1,
    "rpow": lambda: 0.1**X,
    "div": lambda: X / 0.3,
    "lerp": lambda: libdl.lerp(X, Y, 0.3),
    "addcdiv": lambda: libdl.addcdiv(X, X, Y, value=0.3),
    "addmm": lambda: libdl.addmm(X[:, :2], X, Y.mT, beta=0.3, alpha=0.1),
    "mean": lambda: X.mean(),
    "mean half": lambda: H.mean(),
    "mean slope": lambda: slope(lambda x: x.mean(1)),
    "var": lambda: X.var(correction=0.3),
    "std": lambda: X.std(1),
    "var slope": lambda: slope(lambda x: x.var(correction=0.3)),
    "std slope": lambda: slope(lambda x: x.std(1)),
    "norm": lambda: X.norm(3),
    "norm slope": lambda: slope(lambda x: x.norm(3)),
    "norm 0.7": lambda: X.norm(0.7, 1),
    "logsumexp": lambda: X.logsumexp(1),
    "softmax": lambda: X.softmax(1),
    "cumsum": lambda: X.cumsum(1),
    "prod": lambda: X.prod(),
    "sum": lambda: X.sum(),
    "matmul": lambda: X @ Y.mT,
    "matmul float32": lambda: X.float() @ Y.float().mT,
    "layer_norm": lambda: F.layer_norm(X, (3,), eps=0.1),
    "gelu": lambda: F.gelu(X),
    "layer_norm slope": lambda: slope(lambda x: F.layer_norm(x, (3,), eps=0.1)),
    "gelu curve": lambda: slope(F.gelu, True),
    "pow curve": lambda: slope(lambda x: x**0.1, True),
    "rpow curve": lambda: slope(lambda x: 0.1**x, True),
    "lerp curve": lambda: slope(lambda x: libdl.lerp(x * x, Y * x, 0.3), True),
    "exp2 slope": lambda: slope(libdl.exp2),
    "log10 slope": lambda: slope(libdl.log10),
    "cross_entropy": lambda: F.cross_entropy(X, LABELS, label_smoothing=0.1),
    "cross_entropy of probabilities": lambda: F.cross_entropy(X, Y, label_smoothing=0.1),
    "mse_loss": lambda: F.mse_loss(X, Y),
    "cross_entropy slope": lambda: slope(lambda x: F.cross_entropy(x, LABELS, label_smoothing=0.1)),
    "jvp": lambda: func.jvp(lambda x: 0.1**x, (X,), (Y,))[1],
    "isclose": lambda: libdl.isclose(X, X * (1 + 1e-5), 1e-5, 1e-8),
    "clamp": lambda: X.clamp(0.3, 1.1),
    "round": lambda: libdl.round(X, decimals=1),
    "embedding slope": lambda: embedded(),
    "sgd": lambda: stepped(libdl.optim.SGD, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.01),
    "adam": lambda: stepped(libdl.optim.Adam, lr=0.1, weight_decay=0.01),
    "adamw": lambda: stepped(libdl.optim.AdamW, lr=0.1, amsgrad=True),
    "repeat": lambda: libdl.tensor(0.1) + libdl.tensor(0.2),
    "complex": lambda: (libdl.view_as_complex(X[:, :2].contiguous()) ** 0.1).abs(),
}


def assigned(number: float) -> Any:
    x = H.clone()
    x[0] = number
    return x


def embedded() -> Any:
    weight = X.clone().requires_grad_()
    at = libdl.tensor([0, 0, 1, 0])
    F.embedding(at, weight, scale_grad_by_freq=True).sum().backward()
    return weight.grad


def seeded(call: Callable[[], Any]) -> Any:
    libdl.manual_seed(7)
    return call()


@pytest.fixture(params=[0, 1, 2], ids=["downward", "upward", "toward zero"])
def rounding(request: pytest.FixtureRequest) -> Iterator[Callable[[bool], None]]:
    modes = MODES.get(platform.machine())
    name = ctypes.util.find_library("m")
    if modes is None or name is None:
        pytest.skip("this processor's or system's rounding modes are not known here")
    libm = ctypes.CDLL(name)

    def change(on: bool) -> None:
        assert libm.fesetround(modes[request.param] if on else 0) == 0

    yield change
    change(False)


def bits(x: Any) -> bytes:
    return bytes(memoryview(x.detach().contiguous().view(libdl.uint8).numpy()))


@pytest.mark.parametrize("name", CALLS)
def test_the_bits_are_the_same(name: str, rounding: Callable[[bool], None]) -> None:
    call = CALLS[name]
    wanted = call()
    rounding(True)
    try:
        found = call()
    finally:
        rounding(False)
    assert bits(found.reshape(-1)) == bits(wanted.reshape(-1)), (found.tolist(), wanted.tolist())
