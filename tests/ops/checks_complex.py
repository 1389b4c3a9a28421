# SPDX-License-Identifier: Apache-2.0
"""Complex values, and gradients by PyTorch's convention: for a real L of a complex z the gradient
is dL/dRe z + i dL/dIm z, and the loss that `grad` follows for a result y and a seed v is
Re(sum(conj(v) y)). Everything is compared with central differences along both axes of the plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import checks
import libdl
from checks import STEP, near, run, tensor
from libdl import autograd, func
from samples import Case, Fixed, Sample, numbers

FEW = 12  # elements of all inputs together, above which a full Jacobian takes too long
# Each component of a product is a difference of products: relative to the largest result.
TOLERANCE = {libdl.complex128: 1e-14, libdl.complex64: 2e-6}


def in_plane(x: Any, seed: int) -> Any:
    """Real numbers moved off the real axis, where the branch cuts lie, by 0.3 to 1.5."""
    if isinstance(x, (list, tuple)) and any(isinstance(e, np.ndarray) for e in x):
        return type(x)(in_plane(e, seed + 7 * i) for i, e in enumerate(x))
    if not checks.is_float(x) or isinstance(x, Fixed):
        return x
    side = np.where(numbers(x.shape, seed + 1) > 0, 1.0, -1.0)
    return np.asarray(x + 1j * side * numbers(x.shape, seed, 0.3, 1.5))


def complexed(sample: Sample) -> Sample:
    args = tuple(in_plane(a, 800 + 31 * i) for i, a in enumerate(sample.args))
    return Sample(args, sample.kwargs, sample.smooth)


def takes(case: Case, sample: Sample) -> bool:
    return "c" in case.dtypes and sample.smooth


def value(case: Case, sample: Sample) -> None:
    if not takes(case, sample):
        return
    z = complexed(sample)
    wanted = checks.parts(case.reference(*z.args, **z.kwargs))
    for dtype, rtol in TOLERANCE.items():
        args = [cast(tensor(a), dtype) for a in z.args]
        found = run(case, z, args)
        assert len(found) == len(wanted), f"{len(found)} results, wanted {len(wanted)}"
        for f, w in zip(found, wanted):
            w = np.asarray(w)
            if f.dtype not in (libdl.bool, libdl.int64):
                real = libdl.float32 if dtype == libdl.complex64 else libdl.float64
                kind = dtype if np.iscomplexobj(w) else real
                assert f.dtype == kind, f"{case.name}({dtype}): gives {f.dtype}, wanted {kind}"
            largest = float(np.max(np.abs(w))) if w.size else 0.0
            near(
                checks.array(f),
                w,
                rtol * case.scale,
                rtol * case.scale * largest,
                f"{case.name}({z}) in {dtype}",
            )


def cast(x: Any, dtype: Any) -> Any:
    if isinstance(x, (list, tuple)) and any(isinstance(e, libdl.Tensor) for e in x):
        return type(x)(cast(e, dtype) for e in x)
    return x.to(dtype) if isinstance(x, libdl.Tensor) and x.dtype.is_complex else x


def strided(case: Case, sample: Sample) -> None:
    if takes(case, sample):
        checks.strided(case, complexed(sample))


def planes(sample: Sample) -> tuple[list[np.ndarray], Callable[[list[Any]], list[Any]]]:
    """The complex arrays among the arguments, those in lists too, and how to put others there."""
    found: list[np.ndarray] = []
    for a in sample.args:
        found += [e for e in (a if isinstance(a, list) else [a]) if np.iscomplexobj(e)]

    def rebuild(new: list[Any]) -> list[Any]:
        given = iter(new)
        return [
            [next(given) if np.iscomplexobj(e) else tensor(e) for e in a]
            if isinstance(a, list)
            else next(given)
            if np.iscomplexobj(a)
            else tensor(a)
            for a in sample.args
        ]

    return found, rebuild


def small(case: Case, sample: Sample) -> bool:
    xs, _ = planes(complexed(sample))
    few = 0 < sum(x.size for x in xs) <= FEW
    return takes(case, sample) and case.differentiable and few


def outputs(case: Case, sample: Sample, args: Any) -> list[Any]:
    return [o for o in run(case, sample, args) if o.dtype in (libdl.float64, libdl.complex128)]


def slopes(
    f: Callable[[list[np.ndarray]], np.ndarray], xs: list[np.ndarray], size: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each input the matrices [size, input's size] of differences along Re and along Im."""
    found = []
    for i, x in enumerate(xs):
        pair = []
        for step in (STEP, 1j * STEP):
            columns = np.zeros((size, x.size), dtype=complex)
            for k in range(x.size):
                ends = []
                for way in (step, -step):
                    moved = x.copy()
                    moved.reshape(-1)[k] += way
                    ends.append(f([*xs[:i], moved, *xs[i + 1 :]]))
                columns[:, k] = (ends[0] - ends[1]) / (2 * STEP)
            pair.append(columns)
        found.append((pair[0], pair[1]))
    return found


def flat(outs: list[Any]) -> np.ndarray:
    return np.concatenate([np.asarray(checks.array(o), dtype=complex).reshape(-1) for o in outs])


def gradient(case: Case, sample: Sample) -> None:
    """Every row of the Jacobian, with the seeds 1 and i (1 alone where the result is real)."""
    if not small(case, sample):
        return
    z = complexed(sample)
    xs, rebuild = planes(z)
    leaves = [tensor(x, grad=True) for x in xs]
    outs = outputs(case, z, rebuild(leaves))
    wanted = slopes(
        lambda at: flat(outputs(case, z, rebuild([tensor(x) for x in at]))),
        xs,
        sum(o.numel() for o in outs),
    )
    row = 0
    for o in outs:
        for k in range(o.numel()):
            for v in (1.0, 1j) if o.dtype.is_complex else (1.0,):
                seed = np.zeros(tuple(o.shape), dtype=complex if o.dtype.is_complex else float)
                seed.reshape(-1)[k] = v
                found = autograd.grad(o, leaves, tensor(seed), retain_graph=True, allow_unused=True)
                for i, (g, (along, across)) in enumerate(zip(found, wanted)):
                    g = np.zeros(xs[i].size) if g is None else checks.array(g).reshape(-1)
                    right = (np.conj(v) * along[row]).real + 1j * (np.conj(v) * across[row]).real
                    near(
                        g,
                        right,
                        1e-6,
                        1e-6,
                        f"{case.name}({z}): row {row} for the seed {v}, input {i}",
                    )
            row += 1


def forward_mode(case: Case, sample: Sample) -> None:
    if not small(case, sample):
        return
    z = complexed(sample)
    xs, rebuild = planes(z)
    tangents = [in_plane(numbers(x.shape, 40 + i), 50 + i) for i, x in enumerate(xs)]
    _, pushed = func.jvp(
        lambda *a: tuple(outputs(case, z, rebuild(list(a)))),
        tuple(tensor(x) for x in xs),
        tuple(tensor(t) for t in tangents),
    )

    def f(at: list[np.ndarray]) -> np.ndarray:
        return flat(outputs(case, z, rebuild([tensor(x) for x in at])))

    forth = f([np.asarray(x + STEP * t) for x, t in zip(xs, tangents)])
    back = f([np.asarray(x - STEP * t) for x, t in zip(xs, tangents)])
    near(flat(list(pushed)), (forth - back) / (2 * STEP), 1e-6, 1e-6, f"{case.name}({z}): forward")


def second_order(case: Case, sample: Sample) -> None:
    """Differences of Re<u, grad(x; v)> against its gradient."""
    if not small(case, sample):
        return
    z = complexed(sample)
    xs, rebuild = planes(z)

    def product(leaves: list[Any]) -> Any:
        outs = outputs(case, z, rebuild(leaves))
        seeds = [
            tensor(
                in_plane(numbers(tuple(o.shape), 60 + i), 70 + i)
                if o.dtype.is_complex
                else numbers(tuple(o.shape), 60 + i)
            )
            for i, o in enumerate(outs)
        ]
        grads = autograd.grad(outs, leaves, seeds, create_graph=True, allow_unused=True)
        total = libdl.zeros((), dtype=libdl.float64)
        for i, g in enumerate(grads):
            if g is not None:
                u = tensor(in_plane(numbers(tuple(g.shape), 80 + i), 90 + i))
                total = total + libdl.real(g * u.conj()).sum()
        return total

    leaves = [tensor(x, grad=True) for x in xs]
    total = product(leaves)
    found: Any = [None] * len(xs)
    if total.grad_fn is not None:
        found = autograd.grad(total, leaves, allow_unused=True)

    def f(at: list[np.ndarray]) -> np.ndarray:
        made = product([tensor(x, grad=True) for x in at])
        return np.asarray([complex(made.item())])

    for i, (g, (along, across)) in enumerate(zip(found, slopes(f, xs, 1))):
        g = np.zeros(xs[i].size) if g is None else checks.array(g).reshape(-1)
        near(
            g,
            along[0].real + 1j * across[0].real,
            2e-6,
            2e-6,
            f"{case.name}({z}): second order, input {i}",
        )


CHECKS: list[Callable[[Case, Sample], None]] = []
for _check in (value, strided, gradient, forward_mode, second_order):
    _check.__name__ = f"complex_{_check.__name__}"
    CHECKS.append(_check)
