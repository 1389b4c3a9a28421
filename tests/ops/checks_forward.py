# SPDX-License-Identifier: Apache-2.0
"""Forward mode beyond the first tangent: nested with itself and with reverse mode, of arguments
that have no gradient, and of what is written in place."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from checks import STEP, array, flat_inputs, is_float, near, outputs, smooth, tensor, weights
from libdl import autograd, func
from libdl.autograd import forward_ad
from samples import Case, Fixed, Sample


def weighted(case: Case, sample: Sample, rebuild: Any, at: list[Any]) -> Any:
    """One number: the outputs times fixed weights."""
    outs = outputs(case, sample, rebuild(at))
    return sum((o * w).sum() for o, w in zip(outs, weights(outs, 11), strict=True))


def slopes(y: Any, at: list[Any], create: bool) -> list[Any]:
    if not y.requires_grad:
        return [libdl.zeros_like(x.detach()) for x in at]
    return list(
        autograd.grad(y, at, create_graph=create, allow_unused=True, materialize_grads=True)
    )


def product(lists: tuple[list[Any], list[Any]]) -> Any:
    return sum((a * b).sum() for a, b in zip(*lists, strict=True))


def curvature(case: Case, sample: Sample, rebuild: Any, at: list[Any], us: list[Any]) -> list[Any]:
    """The Hessian times u by reverse mode alone, which second_order holds against differences."""
    leaves = [x.clone().requires_grad_() for x in at]
    first = slopes(weighted(case, sample, rebuild, leaves), leaves, True)
    return slopes(product((first, us)), leaves, False)


def agree(found: list[Any], wanted: list[Any], what: str) -> None:
    for f, w in zip(found, wanted, strict=True):
        near(array(f).reshape(-1), array(w).reshape(-1), 1e-9, 1e-9, what)


def nested(case: Case, sample: Sample) -> None:
    """Forward over reverse, reverse over forward and forward over forward give one Hessian."""
    if not smooth(case, sample):
        return
    xs, rebuild = flat_inputs(sample)
    at = [tensor(x) for x in xs]
    us, vs = weights(at, 12), weights(at, 13)
    wanted = curvature(case, sample, rebuild, at, us)
    name = f"{case.name}({sample}): "

    def f(*given: Any) -> Any:
        return weighted(case, sample, rebuild, list(given))

    with forward_ad.dual_level():
        duals = [
            forward_ad.make_dual(x.clone().requires_grad_(), u) for x, u in zip(at, us, strict=True)
        ]
        pairs = [forward_ad.unpack_dual(g) for g in slopes(f(*duals), duals, False)]
    agree(
        [libdl.zeros_like(g) if t is None else t for g, t in pairs],
        wanted,
        name + "forward over reverse",
    )

    leaves = [x.clone().requires_grad_() for x in at]
    pushed = func.jvp(f, tuple(leaves), tuple(us))[1]
    agree(slopes(pushed, leaves, False), wanted, name + "reverse over forward")

    twice = func.jvp(lambda *y: func.jvp(f, y, tuple(us))[1], tuple(at), tuple(vs))[1]
    agree([twice], [product((wanted, vs))], name + "forward over forward")


def constants(case: Case, sample: Sample) -> None:
    """Arguments that no gradient flows to, as the weights of classes, have a tangent."""
    places = [i for i, a in enumerate(sample.args) if is_float(a) and isinstance(a, Fixed)]
    if not places or not sample.smooth:
        return

    def f(at: Any) -> list[Any]:
        args = list(map(tensor, sample.args))
        args[place] = at
        return outputs(case, sample, args)

    for place in places:
        x = np.asarray(sample.args[place])
        u = array(weights([tensor(x)], 14)[0])
        _, moved = func.jvp(lambda at: tuple(f(at)), (tensor(x),), (tensor(u),))
        ends = [[array(o) for o in f(tensor(x + step * u))] for step in (STEP, -STEP)]
        for t, high, low in zip(moved, *ends, strict=True):
            near(
                array(t),
                (high - low) / (2 * STEP),
                1e-6,
                1e-7,
                f"{case.name}({sample}): forward mode of argument {place + 1}",
            )


def written(case: Case, sample: Sample) -> None:
    """The in-place form gives the tangent of the other, also where it writes through a view, and
    the tangent of what surrounds the view stays."""
    if not case.inplace or not smooth(case, sample) or len(flat_inputs(sample)[0]) == 0:
        return
    xs, rebuild = flat_inputs(sample)
    first = sample.args[0]
    if not is_float(first) or isinstance(first, Fixed):
        return
    primals = tuple(tensor(x) for x in xs)
    tangents = tuple(weights(list(primals), 15))

    def plain(*at: Any) -> Any:
        return case.function(*rebuild(list(at)), **sample.kwargs)

    def in_place(*at: Any) -> Any:
        args = rebuild(list(at))
        y = args[0].clone()
        getattr(y, case.name + "_")(*args[1:], **sample.kwargs)
        return y

    def through_a_view(*at: Any) -> Any:
        args = rebuild(list(at))
        base = libdl.stack([args[0], args[0] * 2, args[0] * 3], dim=args[0].ndim)
        early, view = base.select(args[0].ndim, 1), base.select(args[0].ndim, 1)
        view.copy_(args[0])
        getattr(view, case.name + "_")(*args[1:], **sample.kwargs)
        return view, early, base

    value, wanted = func.jvp(plain, primals, tangents)
    if tuple(value.shape) != np.shape(first) or value.dtype != libdl.float64:
        return
    name = f"{case.name}_({sample}): "
    agree([func.jvp(in_place, primals, tangents)[1]], [wanted], name + "in place")
    view, early, base = func.jvp(through_a_view, primals, tangents)[1]
    around = base.select(base.ndim - 1, 2)
    middle = base.select(base.ndim - 1, 1)
    agree(
        [view, early, middle, around],
        [wanted, wanted, wanted, 3 * tangents[0]],
        name + "through a view",
    )


CHECKS = [nested, constants, written]
