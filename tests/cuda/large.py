# SPDX-License-Identifier: Apache-2.0
"""Sizes at which kernels change their ways: many blocks of values, several parts, rows longer than
a team of threads holds, rows side by side. Each check yields failures as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import libdl
import libdl.nn.functional as F
from libdl import optim

FLOATS = (libdl.float32, libdl.float64, libdl.float16, libdl.bfloat16)
WHOLES = (libdl.int64, libdl.uint8, libdl.bool)
# Elementary functions of the device and the CPU are each within 2 ulp; 16-bit results are the same
# number rounded once, hence within one step.
STEPS = {libdl.float32: 1e-6, libdl.float64: 4e-15, libdl.float16: 1e-3, libdl.bfloat16: 8e-3}
# (shape, reduced dimension or dimensions)
REDUCED: list[tuple[tuple[int, ...], Any]] = [
    ((0, 3), 0),
    ((1025,), 0),
    ((40000,), 0),
    ((7, 33), 1),
    ((7, 33), 0),
    ((3000, 3), 0),
    ((2000, 40), 0),
    ((4, 3, 1500), (0, 2)),
    ((2, 1700, 5, 3), (1, 3)),
    ((3, 17000), 1),
    ((2, 40, 8, 8), (0, 2, 3)),
]


def array(x: Any) -> np.ndarray:
    x = x.detach().cpu()
    return np.array((x.to(libdl.float64) if x.dtype == libdl.bfloat16 else x).numpy())


def numbers(shape: tuple[int, ...], dtype: Any, seed: int, scale: float = 1.0) -> Any:
    x = np.random.default_rng(seed).normal(size=shape) * scale
    return libdl.from_numpy(np.asarray(np.abs(x) if dtype == libdl.uint8 else x)).to(dtype)


def as_it_is(x: Any) -> Any:
    return x


def transposed(x: Any) -> Any:
    order = list(range(x.ndim))[::-1]
    return x.permute(order).contiguous().permute(order)


def differ(
    f: Callable[[str], Any],
    what: str,
    step: float = 0.0,
    floor: float = 0.0,
    beside: float | None = None,
) -> list[str]:
    """f on either device; step: the relative difference that is allowed, or of the largest, or of
    the number `beside`."""
    results = []
    for device in ("cpu", "cuda"):
        libdl.manual_seed(5)
        result = f(device)
        results.append(list(result) if isinstance(result, (tuple, list)) else [result])
    failed = []
    for w, g in zip(*results, strict=True):
        wanted, found = array(w), array(g)
        place = f"{what}: "
        if w.dtype != g.dtype or wanted.shape != found.shape or g.device.type != "cuda":
            failed.append(f"{place}{g.dtype} {found.shape} on {g.device}")
        elif step == 0:
            same = np.array_equal(found, wanted, equal_nan=wanted.dtype.kind in "fc")
            failed += [] if same else [f"{place}{found.ravel()[:3]}, wanted {wanted.ravel()[:3]}"]
        else:
            largest = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=floor))
            top = largest if beside is None else beside
            near = np.allclose(found, wanted, rtol=step, atol=step * top, equal_nan=True)
            failed += [] if near else [f"{place}{found.ravel()[:3]}, wanted {wanted.ravel()[:3]}"]
    return failed


def reductions(
    operators: dict[str, Callable[..., Any]],
    dtypes: tuple[Any, ...],
    several: bool = True,
    scale: float = 1.0,
    step: dict[Any, float] | None = None,
) -> Iterator[str]:
    for i, (shape, dim) in enumerate(REDUCED):
        for dtype in dtypes:
            x = numbers(shape, dtype, i, scale)
            for lay in (as_it_is, transposed) if len(shape) > 1 else (as_it_is,):
                for name, f in operators.items():
                    if several or isinstance(dim, int):
                        yield from differ(
                            lambda d: f(lay(x.to(d)), dim),
                            f"{name} of {shape} {dtype} over {dim}, {lay.__name__}",
                            step[dtype] if step else 0.0,
                        )


def sums() -> Iterator[str]:
    """Bit for bit: the order of a sum is the CPU's."""
    both = {
        "sum": lambda x, d: x.sum(dim=d),
        "any": lambda x, d: libdl.any(x, dim=d),
        "all": lambda x, d: libdl.all(x, dim=d),
    }
    yield from reductions(both, FLOATS + WHOLES, scale=3)
    yield from reductions({"prod": lambda x, d: x.prod(dim=d)}, FLOATS + WHOLES, several=False)
    yield from reductions({"sum": lambda x, d: x.sum(dim=d)}, (libdl.complex64, libdl.uint64))
    x = numbers((600000,), libdl.float32, 1)
    yield from differ(lambda d: x.to(d).sum(), "sum of many parts")
    deep = numbers((2,) * 18, libdl.float32, 2)
    for dims in (tuple(range(17)), tuple(range(10, 18))):
        yield from differ(lambda d: transposed(deep.to(d)).sum(dim=dims), f"sum over {dims} of 18")


def orders() -> Iterator[str]:
    def with_gaps(f: Callable[..., Any]) -> Callable[..., Any]:
        def of(x: Any, dim: Any) -> Any:
            return () if x.numel() == 0 else f(x, dim=dim)

        return of

    both = {name: with_gaps(getattr(libdl, name)) for name in ("amax", "amin")}
    some = (libdl.float32, libdl.float64, libdl.bfloat16, libdl.int32, libdl.bool)
    yield from reductions(both, some, scale=30)
    one = {name: with_gaps(getattr(libdl, name)) for name in ("argmax", "argmin", "max", "min")}
    yield from reductions(one, some, several=False, scale=30)
    x = numbers((5, 40000), libdl.float32, 1)
    x[1, 39000] = float("nan")
    x[1, 39001] = float("nan")
    x[2, 7] = x[2, 30000] = 100.0
    x[3] = -float("inf")
    yield from differ(lambda d: libdl.max(x.to(d), dim=1), "NaN, equal and infinite extrema")


def moments() -> Iterator[str]:
    exact: dict[str, Callable[..., Any]] = {
        f"norm {p}": lambda x, d, p=p: libdl.norm(x, p, dim=d) if x.numel() or p < 3 else ()
        for p in (0, 1, 2, float("inf"))
    }
    exact["norm -inf"] = lambda x, d: libdl.norm(x, -float("inf"), dim=d) if x.numel() else ()
    exact["var"] = lambda x, d: libdl.var(x, dim=d)
    exact["std"] = lambda x, d: libdl.std(x, dim=d)
    yield from reductions(exact, FLOATS[:2])
    near = {
        "norm 3.3": lambda x, d: libdl.norm(x, 3.3, dim=d),
        "logsumexp": lambda x, d: libdl.logsumexp(x, dim=d),
    }
    yield from reductions(near, FLOATS, step=STEPS)


ROWS = [
    ((5,), 0),
    ((3, 10), 1),
    ((10, 3), 0),
    ((7, 100), 1),
    ((4, 1000), 1),
    ((3, 9000), 1),
    ((9000, 3), 0),
    ((2, 300, 33), 1),
    ((2, 20, 5), 2),
]


def softmax() -> Iterator[str]:
    for i, (shape, dim) in enumerate(ROWS):
        for dtype in FLOATS:
            x, g = numbers(shape, dtype, i, 5), numbers(shape, dtype, 100 + i)
            for f in (libdl.softmax, libdl.log_softmax):

                def both(device: str, f: Any = f) -> Any:
                    leaf = x.to(device).detach().requires_grad_()
                    y = f(leaf, dim)
                    y.backward(g.to(device))
                    return y.detach(), leaf.grad

                yield from differ(
                    both,
                    f"{f.__name__} of {shape} {dtype} along {dim}",
                    2 * STEPS[dtype],
                    floor=1e-2,
                )


def layer_norm() -> Iterator[str]:
    for i, shape in enumerate([(3, 10), (600, 5), (5, 1000), (2, 9000), (0, 4)]):
        for dtype in FLOATS:
            given = [numbers(s, dtype, i + k) for k, s in enumerate((shape, shape[1:], shape[1:]))]
            g = numbers(shape, dtype, 50 + i)

            def both(device: str, affine: bool) -> Any:
                leaves = [x.to(device).detach().requires_grad_() for x in given]
                used = leaves if affine else leaves[:1]
                y = F.layer_norm(leaves[0], shape[1:], *used[1:])
                y.backward(g.to(device))
                return [y.detach(), *(leaf.grad for leaf in used)]

            for affine in (False, True):
                yield from differ(
                    lambda d: both(d, affine), f"layer_norm of {shape} {dtype}", 8 * STEPS[dtype]
                )


def random() -> Iterator[str]:
    """Bit for bit."""
    for shape in ((0,), (1,), (3,), (5,), (70001,), (7, 9)):
        for dtype in FLOATS:
            kinds: dict[str, Callable[..., Any]] = {
                "rand": lambda d: libdl.rand(*shape, dtype=dtype, device=d),
                "randn": lambda d: libdl.randn(*shape, dtype=dtype, device=d),
                "uniform_": lambda d: libdl.zeros(*shape, dtype=dtype, device=d).uniform_(-3, 5),
                "bernoulli_": lambda d: libdl.zeros(*shape, dtype=dtype, device=d).bernoulli_(0.3),
                "dropout": lambda d: F.dropout(libdl.ones(*shape, dtype=dtype, device=d), 0.3),
            }
            for name, f in kinds.items():
                yield from differ(f, f"{name} {shape} {dtype}")
        for low, high, dtype in (
            (-5, 100, libdl.int8),
            (0, 256, libdl.uint8),
            (-(2**62), 2**62, libdl.int64),
            (0, 3, libdl.float16),
        ):
            yield from differ(
                lambda d: libdl.randint(low, high, shape, dtype=dtype, device=d),
                f"randint {low} to {high} {dtype}",
            )
        yield from differ(
            lambda d: libdl.zeros(6, *shape, device=d).transpose(0, -1)[::2].normal_(),
            f"normal_ into a stepped view {shape}",
        )
    chances = libdl.linspace(0, 1, 999, dtype=libdl.float64)
    yield from differ(lambda d: libdl.bernoulli(chances.to(d)), "bernoulli of given chances")


def optimizers() -> Iterator[str]:
    """Bit for bit. More tensors than a launch's table holds, and longer ones than a block takes."""
    shapes = [(1,), (5,), (9000,), (3, 7), (0,), *[(2,)] * 140]
    rules: list[tuple[Any, dict[str, Any]]] = [
        (optim.SGD, {"lr": 0.1}),
        (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        (optim.SGD, {"lr": 0.1, "momentum": 0.8, "dampening": 0.1, "maximize": True}),
        (optim.Adam, {"lr": 0.01}),
        (optim.Adam, {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1}),
        (optim.AdamW, {"lr": 0.01}),
        (optim.Adamax, {"weight_decay": 0.1}),
        (optim.NAdam, {"decoupled_weight_decay": True, "weight_decay": 0.1}),
        (optim.RAdam, {"betas": (0.9, 0.5), "maximize": True}),
        (optim.Adagrad, {"lr_decay": 0.1}),
        (optim.Adadelta, {"weight_decay": 0.1}),
        (optim.ASGD, {"lambd": 0.1, "t0": 1}),
        (optim.RMSprop, {"momentum": 0.5, "weight_decay": 0.1}),
        (optim.RMSprop, {"centered": True, "eps": 0.1}),
        (optim.Rprop, {}),
    ]
    for dtype in (libdl.float32, libdl.float64):
        for rule, options in rules:

            def steps(device: str) -> Any:
                params = [
                    numbers(s, dtype, k).to(device).requires_grad_() for k, s in enumerate(shapes)
                ]
                stepper = rule(params, **options)
                for n in range(3):
                    for k, p in enumerate(params):
                        p.grad = numbers(shapes[k], dtype, 1000 * n + k).to(device)
                    stepper.step()
                return [p.detach() for p in params]

            yield from differ(steps, f"{rule.__name__} {options} {dtype}")


def scans() -> Iterator[str]:
    for i, (shape, dim) in enumerate(
        [((300,), 0), ((3, 300), 1), ((300, 3), 0), ((2, 5000), 1), ((5000, 2), 0), ((4, 20, 5), 1)]
    ):
        for dtype in FLOATS + WHOLES:
            x = numbers(shape, dtype, i, 3)
            step = STEPS.get(dtype, 0.0)  # sums of either device go by other orders, in double
            yield from differ(
                lambda d: libdl.cumsum(x.to(d), dim), f"cumsum {shape} {dtype}", 8 * step
            )
            if dtype in FLOATS:  # factors near 1, for a product that overflows depends on the order
                y = (1 + 0.01 * numbers(shape, libdl.float64, i)).to(dtype)
                yield from differ(
                    lambda d: libdl.cumprod(y.to(d), dim), f"cumprod {shape} {dtype}", 200 * step
                )


REAL = (
    "erfc",
    "erfinv",
    "erfcx",
    "lgamma",
    "digamma",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "ndtr",
    "ndtri",
    "log_ndtr",
)
PLANE = ("sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh")
PAIRED = ("atan2", "hypot", "igamma", "igammac", "logaddexp", "logaddexp2")
# Sums that cancel: where they are nearly 0, the error is that of the terms, which are of this size.
TERMS = {
    "lgamma": 1.0,
    "digamma": 10.0,
    "logaddexp": 1.0,
    "logaddexp2": 1.0,
    "igamma": 1.0,
    "igammac": 1.0,
}


def special() -> Iterator[str]:
    """Every branch of every function, by values of all sizes, in tensors of any strides. Most are
    made of three or four elementary functions, so the errors add up."""

    def function(name: str) -> Callable[..., Any]:
        return getattr(libdl, name, None) or getattr(libdl.special, name)

    sizes = [k * 10.0**e for e in (-300, -20, -9, -2, -1, 0, 1, 2, 3) for k in (1, 2.5, 7)]
    values = [
        *sizes,
        *(-x for x in sizes),
        *(k / 16 - 8.03 for k in range(256)),
        0.0,
        np.inf,
        -np.inf,
        np.nan,
    ]
    ends = libdl.tensor(values, dtype=libdl.float64)
    usual = numbers((70, 90), libdl.float64, 1)
    for dtype in FLOATS:
        step, tiny = 8 * STEPS[dtype], libdl.finfo(dtype).tiny  # below it numbers have fewer digits
        xs = {
            "values": ends.to(dtype),
            "many blocks": usual.to(dtype),
            "strides": transposed(usual.to(dtype))[::3, 1::2],
        }
        functions = {name: function(name) for name in REAL + PLANE}
        for name, f in functions.items():
            for what, x in xs.items():
                yield from differ(
                    lambda d: f(x.to(d)),
                    f"{name} of {what} {dtype}",
                    step,
                    beside=TERMS.get(name, tiny),
                )
        for n in (0, 1, 2, 7):  # the terms of negative numbers are as large as those near the poles
            for what, x in xs.items():
                yield from differ(
                    lambda d: libdl.polygamma(n, x.to(d)), f"polygamma {n} of {what} {dtype}", step
                )
        x, y = xs["values"][::3, None], xs["values"][1::4]
        for name in PAIRED:
            f, top = function(name), TERMS.get(name, tiny)
            yield from differ(
                lambda d: f(x.to(d), y.to(d)), f"{name} of any two {dtype}", step, beside=top
            )
            yield from differ(
                lambda d: f(y.abs().to(d), 1.5), f"{name}, a number {dtype}", step, beside=top
            )
    parts = libdl.tensor(
        [k * s for k in (0.0, 1e-20, 1e-9, 0.3, 1, 1.5, 30, 1e9) for s in (1, -1)],
        dtype=libdl.float64,
    )
    z = libdl.complex(*(v.contiguous() for v in libdl.meshgrid(parts, parts, indexing="ij")))
    for dtype, step in ((libdl.complex128, STEPS[libdl.float64]), (libdl.complex64, 1e-6)):
        for name in PLANE:
            limited = z.clone()
            if name in ("sinh", "cosh"):  # which overflow, to infinity or NaN as the device likes
                limited[z.real.abs() > 100] = 1
            for part in (libdl.real, libdl.imag):
                yield from differ(
                    lambda d: part(function(name)(limited.to(dtype).to(d))),
                    f"{name}, {part.__name__} {dtype}",
                    8 * step,
                    beside=libdl.finfo(dtype).tiny,
                )


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "sums": sums,
    "orders": orders,
    "moments": moments,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "random": random,
    "optimizers": optimizers,
    "scans": scans,
    "special": special,
}


def failures(check: Callable[[], Iterator[str]]) -> list[str]:
    try:
        return list(check())
    except Exception as e:
        return [f"{type(e).__name__}: {e}"]
