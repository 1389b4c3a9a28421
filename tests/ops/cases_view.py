# SPDX-License-Identifier: Apache-2.0
"""Views and rearrangements: every bit is compared, and a view must share its input's memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import libdl
from samples import Case, Reject, Sample, numbers

SHAPES = [(2, 3), (3, 1, 2), (2, 3, 4), (1, 1), (2, 0, 3), (5, 7), (2, 1, 2, 2)]
T = libdl.Tensor


def each(calls: Any, shapes: Any = SHAPES) -> Any:
    """For each shape, the argument lists that `calls` gives for it; twice, with other numbers."""
    return lambda: [Sample((numbers(s, 50 * i + n), *c)) for i, s in enumerate(shapes)
                    for n in (1, 2) for c in calls(s)]


def view(name: str, function: Any, reference: Any, made: Any, bad: Any = None,
         words: tuple[str, ...] = (), error: Any = IndexError, **how: Any) -> Case:
    rejects = [Reject(error, (name, *words), bad)] if bad else []
    return Case(name, function, reference, made, exact=True,
                rejects=rejects, **{"view": True, **how})


def tensor_split(x: Any, size: Any, dim: int = 0) -> list[Any]:
    step = max(size, 1)
    return np.split(x, list(range(step, x.shape[dim], step)), dim) if x.shape[dim] else [x]


def chunk(x: Any, n: int, dim: int = 0) -> list[Any]:
    return tensor_split(x, -(-x.shape[dim] // n), dim)


def dims(s: Any) -> list[Any]:
    return [(d,) for d in range(-len(s), len(s))]


def unfold(x: Any, dim: int, size: int, step: int) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, size, dim)[
        (slice(None),) * (dim % x.ndim) + (slice(None, None, step),)]


def sections(s: Any) -> list[Any]:
    return [(n, d) for n in (1, 2) for d in (0, -1)]


x23 = (2, 3)
VIEWS = [
    view("reshape", libdl.reshape, np.reshape, each(lambda s: [((-1,),), (s[::-1],)],
                                                    [s for s in SHAPES if 0 not in s]),
         lambda: libdl.reshape(libdl.ones(x23), (4, 2)), ("shape",), (ValueError, RuntimeError)),
    view("view", lambda x, s: x.reshape(s), np.reshape, each(lambda s: [(s[::-1],), ((*s, 1),)])),
    view("transpose", libdl.transpose, np.swapaxes,
         each(lambda s: [(0, 1), (0, -1), (-1, -2)]),
         lambda: libdl.transpose(libdl.ones(x23), 0, 2), ("dim1",)),
    view("permute", libdl.permute, np.transpose,
         each(lambda s: [(tuple(range(len(s)))[::-1],), ((-1, *range(len(s) - 1)),)]),
         lambda: libdl.permute(libdl.ones(x23), (0, 2)), ("dims",)),
    view("movedim", libdl.movedim, np.moveaxis, each(lambda s: [(0, -1), (1, 0)]),
         lambda: libdl.movedim(libdl.ones(x23), 0, 5), ("destination",)),
    view("t", libdl.t, np.transpose, each(lambda s: [()], [(i, j) for i in (0, 1, 2, 3)
                                                           for j in (1, 2, 3)]),
         lambda: libdl.t(libdl.ones(1, 2, 3)), ("input",), (ValueError, RuntimeError)),
    view("squeeze", libdl.squeeze, lambda x, d: np.squeeze(x, d) if x.shape[d] == 1 else x,
         each(dims), lambda: libdl.squeeze(libdl.ones(x23), 2), ("dim",)),
    view("unsqueeze", libdl.unsqueeze, np.expand_dims, each(lambda s: dims(s) + [(len(s),)]),
         lambda: libdl.unsqueeze(libdl.ones(x23), 4), ("dim",)),
    view("broadcast_to", libdl.broadcast_to, np.broadcast_to,
         each(lambda s: [((2, *s),), ((3, 1, *s),)]),
         lambda: libdl.broadcast_to(libdl.ones(x23), (2, 4)), ("shape",),
         (ValueError, RuntimeError)),
    view("expand", lambda x, s: x.expand(s), np.broadcast_to,
         each(lambda s: [((2, *s),), ((3, 1, *s),)]),
         lambda: libdl.ones(x23).expand(2, 4), ("shape",), (ValueError, RuntimeError)),
    view("select", libdl.select, lambda x, d, i: np.take(x, i, d),
         each(lambda s: [(d, i) for d in (0, -1) for i in (0, -1)]),
         lambda: libdl.select(libdl.ones(x23), 0, 2), ("index",)),
    view("narrow", libdl.narrow, lambda x, d, a, n: np.take(x, range(a, a + n), d),
         each(lambda s: [(0, 0, 1), (-1, 1 % s[-1], s[-1] - 1 % s[-1]), (0, 1 % s[0], 0)]),
         lambda: libdl.narrow(libdl.ones(x23), 0, 1, 2), ("narrow",),
         (IndexError, ValueError, RuntimeError)),
    view("diagonal", libdl.diagonal, lambda x, o=0: np.diagonal(x, o),
         each(lambda s: [(), (1,), (-1,)])),
    view("unfold", lambda x, *a: x.unfold(*a), unfold,
         each(lambda s: [(0, 1, 1), (-1, min(2, s[-1]), 2)], [s for s in SHAPES if 0 not in s]),
         lambda: libdl.ones(x23).unfold(0, 3, 1), ("size",), (ValueError, RuntimeError)),
    view("flatten", libdl.flatten, lambda x: x.reshape(-1),
         each(lambda s: [()], SHAPES + [(7,), (2, 2), (4,), (1,), (0,)]),
         lambda: libdl.flatten(libdl.ones(x23), 0, 2), ("end_dim",)),
    view("unflatten", libdl.unflatten, lambda x, d, s: x.reshape(*x.shape[:d], *s),
         each(lambda s: [(1, (-1, 2)), (1, (2, -1))], [(1, 4), (2, 2), (3, 6), (2, 8), (4, 4)]),
         lambda: libdl.unflatten(libdl.ones(x23), 1, (2, 2)), ("sizes",),
         (ValueError, RuntimeError)),
    view("split", libdl.split, tensor_split, each(sections),
         lambda: libdl.split(libdl.ones(x23), 1, 2), ("dim",)),
    view("chunk", libdl.chunk, chunk, each(sections, [s for s in SHAPES if 0 not in s]),
         lambda: libdl.chunk(libdl.ones(x23), 0), ("chunks",), (ValueError, RuntimeError)),
    view("unbind", libdl.unbind, lambda x, d: list(np.moveaxis(x, d, 0)),
         each(lambda s: [(d,) for d in (0, -1)], [s for s in SHAPES if 0 not in s]),
         lambda: libdl.unbind(libdl.ones(x23), 2), ("dim",)),
    view("detach", libdl.detach, lambda x: x, each(lambda s: [(),], SHAPES * 2),
         differentiable=False),
]


def lists(n: int = 2) -> Any:
    return lambda: [Sample(([numbers(s, 9 * i + 3 * k + m) for k in range(m)], d))
                    for i, s in enumerate(SHAPES) for m in (1, 2, 3) for d in (0, -1)]


MADE = [
    view("flip", libdl.flip, np.flip, each(lambda s: [((0,),), ((0, -1),)]),
         lambda: libdl.flip(libdl.ones(x23), (2,)), ("dims",)),
    view("roll", libdl.roll, np.roll, each(lambda s: [(1, 0), (-2, -1), (5,)]),
         lambda: libdl.roll(libdl.ones(x23), 1, 2), ("dims",)),
    view("tril", libdl.tril, np.tril, each(lambda s: [(), (1,), (-1,)]),
         lambda: libdl.tril(libdl.ones(3)), ("input",), (ValueError, RuntimeError),
         out=True, inplace=True),
    view("triu", libdl.triu, np.triu, each(lambda s: [(), (1,), (-1,)]),
         lambda: libdl.triu(libdl.ones(3)), ("input",), (ValueError, RuntimeError),
         out=True, inplace=True),
    view("repeat", lambda x, r: x.repeat(r), np.tile,
         each(lambda s: [((2,) * len(s),), ((1, 2, *(1,) * len(s)),)]),
         lambda: libdl.ones(x23).repeat(2), ("repeats",), (ValueError, RuntimeError)),
    view("repeat_interleave", libdl.repeat_interleave, np.repeat,
         each(lambda s: [(2, 0), (3, -1)]),
         lambda: libdl.repeat_interleave(libdl.ones(x23), 2, 2), ("dim",)),
    view("clone", libdl.clone, lambda x: x, each(lambda s: [()], SHAPES * 2)),
    view("contiguous", lambda x: x.contiguous(), lambda x: x, each(lambda s: [()], SHAPES * 2)),
    view("cat", libdl.cat, np.concatenate, lists(),
         lambda: libdl.cat([libdl.ones(2, 3), libdl.ones(2, 4)]), ("tensors",),
         (ValueError, RuntimeError), out=True),
    view("stack", libdl.stack, np.stack, lists(),
         lambda: libdl.stack([libdl.ones(2, 3), libdl.ones(2, 4)]), ("tensors",),
         (ValueError, RuntimeError), out=True),
]
for case in MADE:
    case.view = False
CASES = VIEWS + MADE
