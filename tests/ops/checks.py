# SPDX-License-Identifier: Apache-2.0
"""The checkers. Each takes a case and one of its samples, and raises AssertionError."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import libdl
from libdl import autograd, func
from samples import Case, Fixed, Sample

# Relative and absolute. Elementwise results are within 2 units of the last place (float64: of
# NumPy's too, which is not exact itself); float16 and bfloat16 are rounded once, hence half a unit,
# doubled because the reference rounds the inputs as well.
TOLERANCE = {
    libdl.float64: (2e-14, 1e-15),
    libdl.float32: (5e-7, 1e-7),
    libdl.float16: (1e-3, 1e-6),
    libdl.bfloat16: (8e-3, 1e-6),
}
FLOATS = tuple(TOLERANCE)
INTEGERS = (libdl.int8, libdl.int16, libdl.int32, libdl.int64)
STEP = 1e-5  # of central differences: truncation and rounding both lie near 1e-10
SMALL = 40  # elements of all inputs together, above which a full Jacobian takes too long


def tensor(x: Any, dtype: Any = None, grad: bool = False) -> Any:
    if isinstance(x, np.ndarray):
        made = libdl.from_numpy(x.copy())
        made = made.to(dtype) if dtype else made
        return made.requires_grad_() if grad else made
    if isinstance(x, (list, tuple)) and any(isinstance(e, np.ndarray) for e in x):
        return type(x)(tensor(e, dtype, grad) for e in x)
    return x


def array(x: Any) -> np.ndarray:
    x = x.detach()
    return np.array((x.to(libdl.float64) if x.dtype == libdl.bfloat16 else x).numpy())


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def run(case: Case, sample: Sample, args: Any) -> list[Any]:
    return parts(case.function(*args, **sample.kwargs))


def is_float(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == np.float64


def near(found: np.ndarray, wanted: np.ndarray, rtol: float, atol: float, what: str) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, wanted {wanted.shape}"
    if found.dtype.kind in "fc":  # the usual outcome, at a tenth of what NumPy's own takes
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(found - wanted)
            if np.isfinite(off).all() and (off <= atol + rtol * np.abs(wanted)).all():
                return
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True, err_msg=what)


def same(found: Any, wanted: Any, what: str) -> None:
    """Bit for bit, any NaN being like any other."""
    for f, w in zip(parts(found), parts(wanted), strict=True):
        assert f.dtype == w.dtype, f"{what}: {f.dtype}, wanted {w.dtype}"
        np.testing.assert_array_equal(array(f), array(w), err_msg=what)


def value(case: Case, sample: Sample) -> None:
    with np.errstate(all="ignore"):
        wanted = parts(case.reference(*sample.args, **sample.kwargs))
    found = run(case, sample, [tensor(a) for a in sample.args])
    assert len(found) == len(wanted), f"{len(found)} results, wanted {len(wanted)}"
    rtol, atol = (0, 0) if case.exact else TOLERANCE[libdl.float64]
    for f, w in zip(found, wanted):
        near(array(f), w, rtol * case.scale, atol * case.scale, f"{case.name}({sample})")


def promotion(case: Case, sample: Sample) -> None:
    """Each dtype: the result's dtype, and its value against the reference on the rounded input."""
    if not all(not isinstance(a, (list, tuple)) for a in sample.args) or not any(
        is_float(a) for a in sample.args
    ):
        return
    if any(is_float(a) and not np.all(np.isfinite(a) & (np.abs(a) < 1e4)) for a in sample.args):
        return
    for dtype in (
        FLOATS
        + (INTEGERS if "i" in case.dtypes else ())
        + ((libdl.bool,) if "b" in case.dtypes else ())
        + ((libdl.uint8,) if "u" in case.dtypes else ())
    ):
        args = [
            tensor(np.asarray(np.abs(a) if dtype in (libdl.uint8, libdl.bool) else a)).to(dtype)
            if is_float(a)
            else tensor(a)
            for a in sample.args
        ]
        floating = dtype in TOLERANCE
        wanted_type = {
            "same": dtype,
            "bool": libdl.bool,
            "float": dtype if floating else libdl.float32,
            "sum": dtype if floating else libdl.int64,
        }.get(case.result)
        found = run(case, sample, args)
        if wanted_type is not None:
            assert found[0].dtype == wanted_type, (
                f"{case.name}({dtype}): gives {found[0].dtype}, wanted {wanted_type}"
            )
        rounded = [
            array(t).astype(np.float64) if is_float(a) else a for t, a in zip(args, sample.args)
        ]
        if not floating and case.result not in ("float", "bool"):
            continue  # integer arithmetic wraps and truncates: the cases' own samples show it
        with np.errstate(all="ignore"):
            wanted = parts(case.reference(*rounded, **sample.kwargs))
        for f, w in zip(found, wanted):
            if f.dtype in TOLERANCE and np.all(np.isfinite(w)):
                rtol, atol = TOLERANCE[f.dtype]
                if case.scale > 1.0 and np.size(w):  # terms may cancel: relative to the largest
                    atol = max(atol, rtol * float(np.max(np.abs(w))))
                near(
                    array(f).astype(np.float64),
                    w,
                    rtol * case.scale,
                    atol * case.scale,
                    f"{case.name}({sample}) in {dtype}",
                )


def is_input(x: Any) -> bool:
    return is_float(x) and not isinstance(x, Fixed)


def flat_inputs(sample: Sample) -> tuple[list[np.ndarray], Callable[[list[Any]], list[Any]]]:
    """The float64 arrays among the arguments, those in lists too, and how to put others there."""
    found: list[np.ndarray] = []
    for a in sample.args:
        found += [e for e in (a if isinstance(a, (list, tuple)) else [a]) if is_input(e)]

    def rebuild(new: list[Any]) -> list[Any]:
        given = iter(new)
        return [
            [next(given) if is_input(e) else tensor(e) for e in a]
            if isinstance(a, list)
            else next(given)
            if is_input(a)
            else tensor(a)
            for a in sample.args
        ]

    return found, rebuild


def smooth(case: Case, sample: Sample) -> bool:
    xs, _ = flat_inputs(sample)
    return case.differentiable and sample.smooth and bool(xs) and sum(x.size for x in xs) <= SMALL


@functools.lru_cache(maxsize=1000)
def drawn(shapes: tuple[tuple[int, ...], ...], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(0.5, 1.5, shape)) for shape in shapes]


def weights(outs: list[Any], seed: int) -> list[Any]:
    return list(map(tensor, drawn(tuple(tuple(o.shape) for o in outs), seed)))


def outputs(case: Case, sample: Sample, args: Any) -> list[Any]:
    return [o for o in run(case, sample, args) if o.dtype == libdl.float64]


def differences(
    f: Callable[[list[np.ndarray]], np.ndarray], xs: list[np.ndarray], size: int
) -> list[np.ndarray]:
    """For each input the matrix [size, input's size] of central differences."""
    found = []
    for i, x in enumerate(xs):
        columns = np.zeros((size, x.size))
        for k in range(x.size):
            ends = []
            for step in (STEP, -STEP):
                moved = x.copy()
                moved.reshape(-1)[k] += step
                ends.append(f([*xs[:i], moved, *xs[i + 1 :]]))
            columns[:, k] = (ends[0] - ends[1]) / (2 * STEP)
        found.append(columns)
    return found


def gradient(case: Case, sample: Sample) -> None:
    if not smooth(case, sample):
        return
    xs, rebuild = flat_inputs(sample)
    leaves = [tensor(x, grad=True) for x in xs]
    outs = outputs(case, sample, rebuild(leaves))

    def f(at: list[np.ndarray]) -> np.ndarray:
        made = outputs(case, sample, rebuild([tensor(x) for x in at]))
        return np.concatenate([array(o).reshape(-1) for o in made])

    size = sum(o.numel() for o in outs)
    wanted = differences(f, xs, size)
    found = [np.zeros((size, x.size)) for x in xs]
    row = 0
    for o in outs:
        for k in range(o.numel()):
            seed = np.zeros(tuple(o.shape))
            seed.reshape(-1)[k] = 1.0
            made = autograd.grad(o, leaves, tensor(seed), retain_graph=True, allow_unused=True)
            for i, g in enumerate(made):
                if g is not None:
                    shape = tuple(g.shape)
                    assert shape == xs[i].shape, f"gradient's shape {shape}, wanted {xs[i].shape}"
                    found[i][row] = array(g).reshape(-1)
            row += 1
    for i, (g, w) in enumerate(zip(found, wanted, strict=True)):
        near(g, w, 1e-6, 1e-7, f"{case.name}({sample}): Jacobian of input {i}")


def second_order(case: Case, sample: Sample) -> None:
    """Finite differences of <u, vjp(x; v)> in x and in v against its gradient."""
    if not smooth(case, sample):
        return
    xs, rebuild = flat_inputs(sample)

    def product(at: list[Any], vs: list[Any], create: bool) -> Any:
        outs = outputs(case, sample, rebuild(at))
        grads = autograd.grad(outs, at, vs, create_graph=create, allow_unused=True)
        kept = [g for g in grads if g is not None]
        total = libdl.zeros((), dtype=libdl.float64)
        for g, u in zip(kept, weights(kept, 5)):
            total = total + (g * u).sum()
        return total

    leaves = [tensor(x, grad=True) for x in xs]
    vs = [array(v) for v in weights(outputs(case, sample, rebuild(leaves)), 6)]
    seeds = [tensor(v, grad=True) for v in vs]
    total = product(leaves, seeds, True)
    if total.grad_fn is None:
        found: Any = [None] * (len(xs) + len(vs))
    else:
        found = autograd.grad(total, leaves + seeds, allow_unused=True)

    def f(at: list[np.ndarray]) -> np.ndarray:
        moved = [tensor(x, grad=True) for x in at[: len(xs)]]
        return array(product(moved, list(map(tensor, at[len(xs) :])), False)).reshape(1)

    for g, w, x in zip(found, differences(f, xs + vs, 1), xs + vs):
        near(
            np.zeros(x.size) if g is None else array(g).reshape(-1),
            w[0],
            1e-6,
            2e-7,
            f"{case.name}({sample}): second order",
        )


def forward_mode(case: Case, sample: Sample) -> None:
    if not smooth(case, sample):
        return
    xs, rebuild = flat_inputs(sample)
    primals = tuple(tensor(x) for x in xs)
    tangents = tuple(weights(list(primals), 7))
    outs, pushed = func.jvp(
        lambda *a: tuple(outputs(case, sample, rebuild(list(a)))), primals, tangents
    )
    vs = weights(list(outs), 8)
    leaves = [tensor(x, grad=True) for x in xs]
    pulled = autograd.grad(outputs(case, sample, rebuild(leaves)), leaves, vs, allow_unused=True)
    left = sum(float((array(v) * array(t)).sum()) for v, t in zip(vs, pushed))
    right = sum(
        float((array(g) * array(u)).sum()) for g, u in zip(pulled, tangents) if g is not None
    )
    assert abs(left - right) <= 1e-10 * max(1.0, abs(left)), (
        f"{case.name}({sample}): <v, J u> is {left!r}, <J^T v, u> is {right!r}"
    )


def strided(case: Case, sample: Sample) -> None:
    """Transposed, stepped and offset copies of the inputs give the same bits."""
    args = [tensor(a) for a in sample.args]
    wanted = run(case, sample, args)

    def transposed(x: Any) -> Any:
        order = list(range(x.ndim))[::-1]
        return x.permute(order).contiguous().permute(order)

    def stepped(x: Any) -> Any:
        if x.ndim == 0:
            return libdl.stack([x, x, x])[1]
        return libdl.stack([x, x, x], dim=x.ndim).select(x.ndim, 1)

    for layout in (transposed, stepped):
        laid = [
            layout(a)
            if isinstance(a, libdl.Tensor)
            else [layout(e) for e in a]
            if isinstance(a, list) and isinstance(a[0], libdl.Tensor)
            else a
            for a in args
        ]
        found = run(case, sample, laid)
        for f, w in zip(found, wanted, strict=True):
            if case.exact or case.scale == 1.0:
                same(f, w, f"{case.name}({sample}) {layout.__name__}")
            else:  # a sum's order may follow the layout
                rtol, atol = TOLERANCE[libdl.float64]
                near(
                    array(f),
                    array(w),
                    rtol * case.scale,
                    atol * case.scale,
                    f"{case.name}({sample}) {layout.__name__}",
                )


def inplace(case: Case, sample: Sample) -> None:
    if not case.inplace:
        return
    args = [tensor(a) for a in sample.args]
    wanted = run(case, sample, args)[0]
    if tuple(wanted.shape) != tuple(args[0].shape) or wanted.dtype != args[0].dtype:
        return
    target = args[0].clone()
    version = target._version
    found = getattr(target, case.name + "_")(*args[1:], **sample.kwargs)
    assert found is target, f"{case.name}_: does not return its tensor"
    assert target._version > version, f"{case.name}_: the version did not rise"
    same(target, wanted, f"{case.name}_({sample})")


def inplace_gradient(case: Case, sample: Sample) -> None:
    """The gradients of the in-place form, which overwrites what its rule may read, are those of the
    form that returns a new tensor."""
    first = sample.args[0]
    if not case.inplace or not smooth(case, sample) or not is_input(first):
        return
    xs, rebuild = flat_inputs(sample)
    leaves = [tensor(x, grad=True) for x in xs]
    y = outputs(case, sample, rebuild(leaves))
    if not y or y[0].shape != leaves[0].shape or not y[0].requires_grad:
        return
    seeds = weights(y[:1], 16)
    wanted = autograd.grad(y[:1], leaves, seeds, allow_unused=True)
    args = rebuild([leaves[0].clone(), *leaves[1:]])
    getattr(args[0], case.name + "_")(*args[1:], **sample.kwargs)
    found = autograd.grad(args[:1], leaves, seeds, allow_unused=True)
    for i, (f, w) in enumerate(zip(found, wanted, strict=True)):
        f, w = (libdl.zeros_like(leaves[i]) if g is None else g for g in (f, w))
        near(array(f), array(w), 1e-12, 1e-12, f"{case.name}_({sample}): gradient of input {i}")


def into(case: Case, sample: Sample) -> None:
    if not case.out:
        return
    args = [tensor(a) for a in sample.args]
    wanted = run(case, sample, args)[0]
    target = libdl.empty(tuple(wanted.shape), dtype=wanted.dtype)
    found = case.function(*args, **sample.kwargs, out=target)
    assert found is target, f"{case.name}(out=): does not return its destination"
    same(target, wanted, f"{case.name}({sample}, out=)")


def aliases(case: Case, sample: Sample) -> None:
    """A view shares its input's memory: what is written there is seen through it."""
    if not case.view:
        return
    x = tensor(sample.args[0])
    views = parts(case.function(x, *sample.args[1:], **sample.kwargs))
    x.fill_(7.0)
    for v in views:
        assert np.all(array(v) == 7.0), f"{case.name}({sample}): not a view"


CHECKS = [
    value,
    promotion,
    gradient,
    second_order,
    forward_mode,
    strided,
    inplace,
    inplace_gradient,
    into,
    aliases,
]
