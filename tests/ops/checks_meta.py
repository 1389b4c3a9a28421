# SPDX-License-Identifier: Apache-2.0
"""Tensors on meta have no elements: there an operator gives the shapes, strides and dtypes that it
gives on the CPU, and so does its gradient. What needs elements says that there are none."""

from __future__ import annotations

from typing import Any

import libdl
from checks import SMALL, flat_inputs, is_float, outputs, parts, run, tensor, weights
from libdl import _C, autograd, func
from samples import Case, Sample

# Whose results, or their shapes, are made of elements that the host reads.
NEEDS_ELEMENTS = set(
    """
    allclose argwhere bincount equal histogram histogram_with_edges histogramdd masked_select
    nonzero one_hot_counted sparse_from_rows sparse_rows unique unique_consecutive unique_slices
""".split()
)
ON_HOST = {"pin_memory"}  # of the CPU's tensors alone


def moved(x: Any) -> Any:
    if isinstance(x, (list, tuple)) and any(isinstance(e, libdl.Tensor) for e in x):
        return type(x)(moved(e) for e in x)
    if not isinstance(x, libdl.Tensor) or x.is_meta:
        return x
    # The same strides, which a copy would not keep.
    there = libdl.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
    return there.requires_grad_(x.requires_grad)


def compare(found: Any, wanted: Any, what: str, strides: bool = True) -> None:
    if not isinstance(wanted, libdl.Tensor):
        assert found == wanted, f"{what}: {found!r}, wanted {wanted!r}"
        return
    assert found.device.type == "meta", f"{what}: lies on {found.device}"
    assert found.dtype == wanted.dtype, f"{what}: {found.dtype}, wanted {wanted.dtype}"
    assert found.shape == wanted.shape, f"{what}: {found.shape}, wanted {wanted.shape}"
    if strides and 0 not in found.shape:
        assert found.stride() == wanted.stride(), f"{what}: {found.stride()}, {wanted.stride()}"
    assert found.requires_grad == wanted.requires_grad, f"{what}: requires_grad"


def outcome(case: Case, sample: Sample, args: list[Any]) -> list[Any] | Exception:
    libdl.manual_seed(0)
    try:
        return run(case, sample, args)
    except Exception as e:
        return e


def refused(error: object) -> bool:
    return isinstance(error, libdl.Error) and error.code == _C.LIBDL_ERROR_UNSUPPORTED


def differ(case: Case, args: list[Any]) -> bool:
    """Tensors of different shapes are not equal, whatever their elements."""
    return case.name == "equal" and args[0].shape != getattr(args[1], "shape", None)


def shapes(case: Case, sample: Sample) -> None:
    if case.name in ON_HOST:
        return
    for dtype in (libdl.float64, libdl.float32, libdl.bfloat16):
        if dtype != libdl.float64 and not any(map(is_float, sample.args)):
            return
        args = [tensor(a, dtype if is_float(a) else None) for a in sample.args]
        there = [moved(a) for a in args]
        found, wanted = outcome(case, sample, there), outcome(case, sample, args)
        what = f"{case.name}({sample}) in {dtype}"
        if case.name in NEEDS_ELEMENTS:
            told = refused(found) or isinstance(wanted, Exception) or differ(case, args)
            assert told, f"{what}: {found!r}, not refused"
            continue
        if isinstance(wanted, Exception):  # unseen elements may be right
            assert not isinstance(found, Exception) or type(found) is type(wanted), what
            continue
        assert not isinstance(found, Exception), f"{what}: {found!r}"
        for f, w in zip(found, wanted, strict=True):
            compare(f, w, what)


def slopes(case: Case, sample: Sample) -> None:
    """In reverse mode, and in forward mode. Strides of gradients follow the road that made them,
    which may be another one here."""
    if not case.differentiable or case.name in NEEDS_ELEMENTS | ON_HOST:
        return
    xs, rebuild = flat_inputs(sample)
    seen: list[list[Any]] = []
    for where in (lambda x: x, moved):
        leaves = [where(tensor(x, grad=True)) for x in xs]

        def forward(*at: Any, where: Any = where) -> tuple[Any, ...]:
            libdl.manual_seed(0)
            return tuple(outputs(case, sample, [where(a) for a in rebuild(list(at))]))

        outs = forward(*leaves)
        if not leaves or not outs:
            return
        seeds = [where(v) for v in weights(list(outs), 3)]
        grads = autograd.grad(outs, leaves, seeds, create_graph=True, allow_unused=True)
        seen.append([*grads])
        if sum(x.size for x in xs) <= SMALL:
            given = tuple(x.detach() for x in leaves)
            seen[-1] += parts(func.jvp(forward, given, given)[1])
    for f, w in zip(seen[1], seen[0], strict=True):
        assert (f is None) == (w is None), f"{case.name}({sample}): a gradient is missing"
        if f is not None:
            compare(f, w, f"{case.name}({sample}): gradient", strides=False)


CHECKS = [shapes, slopes]
