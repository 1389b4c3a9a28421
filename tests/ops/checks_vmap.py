# SPDX-License-Identifier: Apache-2.0
"""vmap: every operator of a batch is the operator of each sample, whichever arguments are mapped
over, and so are its gradients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import libdl
from checks import array, is_input, near, parts, smooth, weights
from libdl import autograd
from samples import Case, Sample

BATCH = 3
# A batch may be summed in another order than a sample: a few roundings of float64.
TOLERANCE = 1e-11
# Their results differ in shape from sample to sample, or their samples decide what they do.
REFUSED = (
    "differ between samples",
    "differs between samples",
    "depends on the values",
    "reads the values",
    "in place is not possible",
    "sparse tensors",
    "as_strided reads",
)


def arrays_of(args: Any) -> list[np.ndarray]:
    found = []
    for a in args:
        found += [
            e for e in (a if isinstance(a, (list, tuple)) else [a]) if isinstance(e, np.ndarray)
        ]
    return found


def rebuilt(args: Any, tensors: Any) -> list[Any]:
    queue = iter(tensors)
    return [
        type(a)(next(queue) if isinstance(e, np.ndarray) else e for e in a)
        if isinstance(a, (list, tuple))
        else next(queue)
        if isinstance(a, np.ndarray)
        else a
        for a in args
    ]


def batch_of(x: np.ndarray, dim: int) -> Any:
    """Samples of the same numbers in other places."""
    return libdl.from_numpy(
        np.stack([np.roll(x.reshape(-1), b).reshape(x.shape) for b in range(BATCH)], axis=dim)
    )


def choices(count: int) -> list[tuple[bool, ...]]:
    """All arguments mapped over, and each one alone."""
    alone = [tuple(i == k for i in range(count)) for k in range(count)]
    return list(dict.fromkeys([(True,) * count, *alone]))[:5]


def mapped(case: Case, sample: Sample) -> None:
    xs = arrays_of(sample.args)
    for chosen in choices(len(xs)):
        compare(case, sample, xs, chosen)


def compare(case: Case, sample: Sample, xs: Any, chosen: tuple[bool, ...]) -> None:
    """The chosen arguments are mapped over by their first dimension, then by their last."""
    differentiable = smooth(case, sample)

    def f(*tensors: Any) -> Any:
        return case.function(*rebuilt(sample.args, tensors), **sample.kwargs)

    def given(dims: Any) -> list[Any]:
        made = [
            batch_of(x, d) if d is not None else libdl.from_numpy(x.copy())
            for x, d in zip(xs, dims, strict=True)
        ]
        return [
            g.requires_grad_() if differentiable and is_input(x) else g
            for g, x in zip(made, xs, strict=True)
        ]

    dims = [0 if c else None for c in chosen]
    first = given(dims)
    try:
        wanted = looped(f, first, dims)
    except (ValueError, RuntimeError, IndexError):
        return  # other samples than the case's are no arguments of the operator
    gradients = [array(g) for g in slopes(wanted, first)] if differentiable else []
    batched = [c for c, x in zip(chosen, xs, strict=True) if is_input(x)]
    agree(f, first, dims, wanted, gradients, f"{case.name}({sample}), in_dims {dims}")
    dims = [x.ndim if c else None for c, x in zip(chosen, xs, strict=True)]
    gradients = [np.moveaxis(g, 0, -1) if c else g for g, c in zip(gradients, batched)]
    agree(f, given(dims), dims, wanted, gradients, f"{case.name}({sample}), in_dims {dims}")


def agree(f: Any, given: Any, dims: Any, wanted: Any, gradients: Any, what: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="vmap: .* has no rule")
            found = parts(libdl.vmap(f, tuple(dims))(*given))
    except RuntimeError as error:
        if any(words in str(error) for words in REFUSED):
            return
        raise
    assert len(found) == len(wanted), what
    for y, w in zip(found, wanted, strict=True):
        assert y.dtype == w.dtype, f"{what}: {y.dtype}, wanted {w.dtype}"
        near(array(y), array(w), TOLERANCE, TOLERANCE, what)
    for g, w in zip(slopes(found, given), gradients, strict=True):
        near(array(g), w, TOLERANCE, TOLERANCE, f"{what}: gradient")


def looped(f: Any, given: Any, dims: Any) -> list[Any]:
    rows = [
        parts(f(*(x if d is None else x.select(d, b) for x, d in zip(given, dims, strict=True))))
        for b in range(BATCH)
    ]
    return [libdl.stack(list(column)) for column in zip(*rows, strict=True)]


def slopes(outs: list[Any], given: Any) -> list[Any]:
    inputs = [x for x in given if x.requires_grad]
    used = [(y, w) for y, w in zip(outs, weights(outs, 5), strict=True) if y.requires_grad]
    if not inputs or not used:
        return []
    total = sum((y * w).sum() for y, w in used)
    return list(autograd.grad(total, inputs, allow_unused=True, materialize_grads=True))
