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
    return lambda: [
        Sample((numbers(s, 50 * i + n), *c))
        for i, s in enumerate(shapes)
        for n in (1, 2)
        for c in calls(s)
    ]


def view(
    name: str,
    function: Any,
    reference: Any,
    made: Any,
    bad: Any = None,
    words: tuple[str, ...] = (),
    error: Any = IndexError,
    **how: Any,
) -> Case:
    rejects = [Reject(error, (name, *words), bad)] if bad else []
    return Case(
        name, function, reference, made, exact=True, rejects=rejects, **{"view": True, **how}
    )


def tensor_split(x: Any, size: Any, dim: int = 0) -> list[Any]:
    step = max(size, 1)
    return np.split(x, list(range(step, x.shape[dim], step)), dim) if x.shape[dim] else [x]


def chunk(x: Any, n: int, dim: int = 0) -> list[Any]:
    return tensor_split(x, -(-x.shape[dim] // n), dim)


def dims(s: Any) -> list[Any]:
    return [(d,) for d in range(-len(s), len(s))]


def unfold(x: Any, dim: int, size: int, step: int) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, size, dim)[
        (slice(None),) * (dim % x.ndim) + (slice(None, None, step),)
    ]


def sections(s: Any) -> list[Any]:
    return [(n, d) for n in (1, 2) for d in (0, -1)]


def cut(x: Any, sizes: Any, dim: int) -> list[Any]:
    return np.split(x, np.cumsum(sizes)[:-1], dim)


def as_strided(x: Any, size: Any, stride: Any, offset: int) -> Any:
    """Elements may be seen several times: their gradients add up."""
    steps = [n * x.itemsize for n in stride]
    return np.lib.stride_tricks.as_strided(x.reshape(-1)[offset:], size, steps)


x23 = (2, 3)
VIEWS = [
    view(
        "reshape",
        libdl.reshape,
        np.reshape,
        each(lambda s: [((-1,),), (s[::-1],)], [s for s in SHAPES if 0 not in s]),
        lambda: libdl.reshape(libdl.ones(x23), (4, 2)),
        ("shape",),
        (ValueError, RuntimeError),
    ),
    view(
        "view",
        lambda x, s: x.contiguous().view(s),
        np.reshape,
        each(lambda s: [(s[::-1],), ((*s, 1),)]),
        lambda: libdl.ones(x23).t().view(6),
        ("shape", "strides"),
        (ValueError, RuntimeError),
    ),
    view(
        "transpose",
        libdl.transpose,
        np.swapaxes,
        each(lambda s: [(0, 1), (0, -1), (-1, -2)]),
        lambda: libdl.transpose(libdl.ones(x23), 0, 2),
        ("dim1",),
    ),
    view(
        "permute",
        libdl.permute,
        np.transpose,
        each(lambda s: [(tuple(range(len(s)))[::-1],), ((-1, *range(len(s) - 1)),)]),
        lambda: libdl.permute(libdl.ones(x23), (0, 2)),
        ("dims",),
    ),
    view(
        "movedim",
        libdl.movedim,
        np.moveaxis,
        each(lambda s: [(0, -1), (1, 0)]),
        lambda: libdl.movedim(libdl.ones(x23), 0, 5),
        ("destination",),
    ),
    view(
        "t",
        libdl.t,
        np.transpose,
        each(lambda s: [()], [(i, j) for i in (0, 1, 2, 3) for j in (1, 2, 3)]),
        lambda: libdl.t(libdl.ones(1, 2, 3)),
        ("input",),
        (ValueError, RuntimeError),
    ),
    view(
        "squeeze",
        libdl.squeeze,
        lambda x, d: np.squeeze(x, d) if x.shape[d] == 1 else x,
        each(dims),
        lambda: libdl.squeeze(libdl.ones(x23), 2),
        ("dim",),
    ),
    view(
        "unsqueeze",
        libdl.unsqueeze,
        np.expand_dims,
        each(lambda s: dims(s) + [(len(s),)]),
        lambda: libdl.unsqueeze(libdl.ones(x23), 4),
        ("dim",),
    ),
    view(
        "broadcast_to",
        libdl.broadcast_to,
        np.broadcast_to,
        each(lambda s: [((2, *s),), ((3, 1, *s),)]),
        lambda: libdl.broadcast_to(libdl.ones(x23), (2, 4)),
        ("size", "broadcasts"),
        (ValueError, RuntimeError),
        operators=("expand",),
    ),
    view(
        "expand",
        lambda x, s: x.expand(s),
        np.broadcast_to,
        each(lambda s: [((2, *s),), ((3, 1, *s),)]),
        lambda: libdl.ones(x23).expand(2, 4),
        ("shape",),
        (ValueError, RuntimeError),
    ),
    view(
        "select",
        libdl.select,
        lambda x, d, i: np.take(x, i, d),
        each(lambda s: [(d, i) for d in (0, -1) for i in (0, -1)]),
        lambda: libdl.select(libdl.ones(x23), 0, 2),
        ("index",),
    ),
    view(
        "narrow",
        libdl.narrow,
        lambda x, d, a, n: np.take(x, range(a, a + n), d),
        each(lambda s: [(0, 0, 1), (-1, 1 % s[-1], s[-1] - 1 % s[-1]), (0, 1 % s[0], 0)]),
        lambda: libdl.narrow(libdl.ones(x23), 0, 1, 2),
        ("narrow",),
        (IndexError, ValueError, RuntimeError),
    ),
    view(
        "diagonal",
        libdl.diagonal,
        lambda x, o=0: np.diagonal(x, o),
        each(lambda s: [(), (1,), (-1,)]),
        lambda: libdl.diagonal(libdl.ones(x23), 0, 1, 1),
        ("dim2",),
        (IndexError, ValueError, RuntimeError),
    ),
    view(
        "unfold",
        lambda x, *a: x.unfold(*a),
        unfold,
        each(lambda s: [(0, 1, 1), (-1, min(2, s[-1]), 2)], [s for s in SHAPES if 0 not in s]),
        lambda: libdl.ones(x23).unfold(0, 3, 1),
        ("size",),
        (ValueError, RuntimeError),
    ),
    view(
        "flatten",
        libdl.flatten,
        lambda x: x.reshape(-1),
        each(lambda s: [()], SHAPES + [(7,), (2, 2), (4,), (1,), (0,)]),
        lambda: libdl.flatten(libdl.ones(x23), 0, 2),
        ("end_dim",),
    ),
    view(
        "unflatten",
        libdl.unflatten,
        lambda x, d, s: x.reshape(*x.shape[:d], *s),
        each(lambda s: [(1, (-1, 2)), (1, (2, -1))], [(1, 4), (2, 2), (3, 6), (2, 8), (4, 4)]),
        lambda: libdl.unflatten(libdl.ones(x23), 1, (2, 2)),
        ("sizes",),
        (ValueError, RuntimeError),
    ),
    view(
        "split",
        libdl.split,
        tensor_split,
        each(sections),
        lambda: libdl.split(libdl.ones(x23), 1, 2),
        ("dim",),
    ),
    view(
        "chunk",
        libdl.chunk,
        chunk,
        each(sections, [s for s in SHAPES if 0 not in s]),
        lambda: libdl.chunk(libdl.ones(x23), 0),
        ("chunks",),
        (ValueError, RuntimeError),
    ),
    view(
        "unbind",
        libdl.unbind,
        lambda x, d: list(np.moveaxis(x, d, 0)),
        each(lambda s: [(d,) for d in (0, -1)], [s for s in SHAPES if 0 not in s]),
        lambda: libdl.unbind(libdl.ones(x23), 2),
        ("dim",),
    ),
    view(
        "detach",
        libdl.detach,
        lambda x: x,
        each(
            lambda s: [
                (),
            ],
            SHAPES * 2,
        ),
        lambda: libdl.detach("a"),
        ("input",),
        TypeError,
        differentiable=False,
    ),
    view(
        "split_with_sizes",
        libdl.split_with_sizes,
        cut,
        each(lambda s: [([1, s[0] - 1], 0), ([s[-1]], -1), ([0, s[-1]], -1)]),
        lambda: libdl.split_with_sizes(libdl.ones(x23), [1, 2], 0),
        ("split_sizes",),
        (ValueError, RuntimeError),
    ),
    view(
        "slice",
        lambda x, key: x[key],
        lambda x, key: x[key],
        each(
            lambda s: [
                (slice(None, None, 2),),
                ((slice(1), slice(-2, None)),),
                ((Ellipsis, slice(0, 0)),),
            ]
        ),
        lambda: libdl.ones(x23)[::-1],
        ("step",),
        (ValueError, RuntimeError),
    ),
    view(
        "as_strided",
        lambda x, *a: libdl.as_strided(x.contiguous(), *a),
        as_strided,
        each(
            lambda s: [((2, 2), (1, 2), 0), ((3,), (0,), 1), ((2,), (3,), 2)],
            [(2, 3), (3, 1, 2), (2, 3, 4), (5, 7)],
        ),
        lambda: libdl.as_strided(libdl.ones(x23), (7,), (1,)),
        ("storage",),
        (ValueError, RuntimeError),
    ),
]


def lists(n: int = 2) -> Any:
    return lambda: [
        Sample(([numbers(s, 9 * i + 3 * k + m) for k in range(m)], d))
        for i, s in enumerate(SHAPES)
        for m in (1, 2, 3)
        for d in range(-len(s), len(s))
    ]


MADE = [
    view(
        "flip",
        libdl.flip,
        np.flip,
        each(lambda s: [((0,),), ((0, -1),)]),
        lambda: libdl.flip(libdl.ones(x23), (2,)),
        ("dims",),
    ),
    view(
        "roll",
        libdl.roll,
        np.roll,
        each(lambda s: [(1, 0), (-2, -1), (5,)]),
        lambda: libdl.roll(libdl.ones(x23), 1, 2),
        ("dims",),
    ),
    view(
        "tril",
        libdl.tril,
        np.tril,
        each(lambda s: [(), (1,), (-1,)]),
        lambda: libdl.tril(libdl.ones(3)),
        ("input",),
        (ValueError, RuntimeError),
        out=True,
        inplace=True,
    ),
    view(
        "triu",
        libdl.triu,
        np.triu,
        each(lambda s: [(), (1,), (-1,)]),
        lambda: libdl.triu(libdl.ones(3)),
        ("input",),
        (ValueError, RuntimeError),
        out=True,
        inplace=True,
    ),
    view(
        "repeat",
        lambda x, r: x.repeat(r),
        np.tile,
        each(lambda s: [((2,) * len(s),), ((1, 2, *(1,) * len(s)),)]),
        lambda: libdl.ones(x23).repeat(2),
        ("repeats",),
        (ValueError, RuntimeError),
    ),
    view(
        "repeat_interleave",
        libdl.repeat_interleave,
        np.repeat,
        each(lambda s: [(2, 0), (3, -1)]),
        lambda: libdl.repeat_interleave(libdl.ones(x23), 2, 2),
        ("dim",),
    ),
    view(
        "clone",
        libdl.clone,
        lambda x: x,
        each(lambda s: [()], SHAPES * 2),
        lambda: libdl.clone("a"),
        ("input",),
        TypeError,
    ),
    view(
        "contiguous",
        lambda x: x.contiguous(),
        lambda x: x,
        each(lambda s: [()], SHAPES * 2),
        lambda: libdl._C.contiguous("a"),
        ("input",),
        TypeError,
    ),
    view(
        "pin_memory",
        lambda x: x.pin_memory(),
        lambda x: x,
        each(lambda s: [()], SHAPES * 2),
        lambda: libdl._C.pin_memory("a", None),
        ("input",),
        TypeError,
    ),
    view(
        "to",
        lambda x: x.to(x.dtype, copy=True),
        lambda x: x,
        each(lambda s: [()], SHAPES * 2),
        lambda: libdl.ones(x23).to("cuda:63"),
        ("device",),
        (ValueError, RuntimeError),
    ),
    view(
        "copy",
        lambda x, y: x.clone().copy_(y),
        lambda x, y: np.broadcast_to(y, x.shape),
        each(lambda s: [(numbers(s, 5),), (numbers(s[1:], 6),)]),
        lambda: libdl.ones(x23).copy_(libdl.ones(2)),
        ("src", "copy_: argument 2"),
        (ValueError, RuntimeError),
    ),
    view(
        "fill",
        lambda x, y: x.clone().fill_(y),
        lambda x, y: np.broadcast_to(y, x.shape),
        each(lambda s: [(numbers((), 5),), (numbers((), 6),)]),
        lambda: libdl.ones(x23).fill_(libdl.ones(2)),
        ("fill_: argument 2 (value)",),
        (ValueError, RuntimeError),
    ),
    view(
        "zero",
        lambda x: x.clone().zero_(),
        np.zeros_like,
        each(lambda s: [()], SHAPES * 2),
        lambda: libdl._C.zero_into(libdl.ones(1).expand(3)),
        ("zero_", "dst"),
        (ValueError, RuntimeError),
    ),
    view(
        "cat",
        libdl.cat,
        np.concatenate,
        lists(),
        lambda: libdl.cat([libdl.ones(2, 3), libdl.ones(2, 4)]),
        ("tensors",),
        (ValueError, RuntimeError),
        out=True,
    ),
    view(
        "stack",
        libdl.stack,
        np.stack,
        lists(),
        lambda: libdl.stack([libdl.ones(2, 3), libdl.ones(2, 4)]),
        ("tensors",),
        (ValueError, RuntimeError),
        out=True,
    ),
]
for case in MADE:
    case.view = False


def planes() -> list[Sample]:
    """Complex arrays."""
    return [
        Sample((np.asarray(numbers(s, i + n) + 1j * numbers(s, 70 * i + n + 5)),))
        for i, s in enumerate([(), (1,), (5,), (2, 2), *SHAPES])
        for n in (1, 2)
    ]


def by_pairs(x: Any) -> Any:
    """There are no complex numbers of 16-bit parts."""
    wide = (x if x.itemsize > 2 else x.float()).contiguous()
    return libdl.view_as_real(libdl.view_as_complex(wide)).to(x.dtype)


PLANES = [
    view(
        "view_as_real",
        libdl.view_as_real,
        lambda z: np.stack([z.real, z.imag], -1),
        planes,
        lambda: libdl.view_as_real(libdl.ones(2)),
        ("input", "float32"),
        TypeError,
    ),
    view(
        "imag",
        libdl.imag,
        np.imag,
        planes,
        lambda: libdl.imag(libdl.ones(2)),
        ("input", "float32"),
        TypeError,
    ),
    # Seen from the real side, where differences are real.
    view(
        "view_as_complex",
        by_pairs,
        lambda x: x,
        each(lambda s: [()], [(*s, 2) for s in SHAPES] * 2),
        lambda: libdl.view_as_complex(libdl.ones(2, 3)),
        ("input",),
        (ValueError, RuntimeError),
    ),
]
for case in PLANES:
    case.view = False  # `aliases` fills with a real number
    case.dtypes = "f" if case.name == "view_as_complex" else "c"
for case in VIEWS + MADE:
    case.dtypes += "c"
LISTS = ("split", "split_with_sizes", "unbind")
WRONG: dict[str, Any] = {
    "view": lambda f: f(libdl.ones(x23).t(), (6,)),
    "transpose": lambda f: f(libdl.ones(x23), 0, 2),
    "permute": lambda f: f(libdl.ones(x23), (0, 2)),
    "t": lambda f: f(libdl.ones(1, 2, 3)),
    "squeeze": lambda f: f(libdl.ones(x23), 2),
    "unsqueeze": lambda f: f(libdl.ones(x23), 4),
    "expand": lambda f: f(libdl.ones(x23), (2, 4)),
    "select": lambda f: f(libdl.ones(x23), 0, 2),
    "narrow": lambda f: f(libdl.ones(x23), 0, 1, 2),
    "diagonal": lambda f: f(libdl.ones(x23), 0, 1, 1),
    "unfold": lambda f: f(libdl.ones(x23), 0, 3, 1),
    "split": lambda f: f(libdl.ones(x23), 1, 2),
    "split_with_sizes": lambda f: f(libdl.ones(x23), [1, 2], 0),
    "unbind": lambda f: f(libdl.ones(x23), 2),
    "detach": lambda f: f("a"),
    "as_strided": lambda f: f(libdl.ones(x23), (7,), (1,)),
    "view_as_real": lambda f: f(libdl.ones(2)),
}


def copied(case: Case) -> Case:
    """The copy of what a view shows, with the view's samples."""
    name = f"{case.name}_copy"
    function = getattr(libdl, name)
    call: Any = function
    if case.name in ("view", "as_strided"):  # which read memory as it lies
        call = lambda x, *a, **k: function(x.contiguous(), *a, **k)  # noqa: E731
    return view(
        name,
        call,
        case.reference,
        case.samples,
        lambda: WRONG[case.name](function),
        (),
        (IndexError, ValueError, RuntimeError, TypeError),
        view=False,
        dtypes=case.dtypes,
        differentiable=case.differentiable,
        out=case.name not in LISTS and case.name != "view_as_real",
    )


COPIES = [
    *(copied(case) for case in VIEWS + PLANES if case.name in WRONG),
    view(
        "alias_copy",
        libdl.alias_copy,
        lambda x: x,
        each(lambda s: [()], SHAPES * 2),
        lambda: libdl.alias_copy("a"),
        ("input",),
        TypeError,
        view=False,
        dtypes="fiubc",
        out=True,
    ),
    view(
        "slice_copy",
        libdl.slice_copy,
        lambda x, d, a, b, k: x[(slice(None),) * (d % x.ndim) + (slice(a, b, k),)],
        each(lambda s: [(0, None, None, 2), (-1, -2, None, 1), (0, 0, 0, 1), (1, 1, -1, 3)]),
        lambda: libdl.slice_copy(libdl.ones(x23), 0, None, None, 0),
        ("argument 5 (step) is 0",),
        (ValueError, RuntimeError),
        view=False,
        dtypes="fiubc",
        out=True,
    ),
    view(
        "view_dtype_copy",
        lambda x: libdl.view_copy(x.contiguous(), x.dtype),
        lambda x: x,
        each(lambda s: [()], SHAPES * 2),
        lambda: libdl.view_copy(libdl.ones(()), libdl.float64),
        ("view_copy: argument 1 (input) is 0-d",),
        (ValueError, RuntimeError),
        view=False,
        dtypes="fiubc",
    ),
    view(
        "view_as_complex_copy",
        lambda x: libdl.view_as_real(
            libdl.view_as_complex_copy((x if x.itemsize > 2 else x.float()).contiguous())
        ).to(x.dtype),
        lambda x: x,
        each(lambda s: [()], [(*s, 2) for s in SHAPES] * 2),
        lambda: libdl.view_as_complex_copy(libdl.ones(2, 3)),
        ("input",),
        (ValueError, RuntimeError),
        view=False,
        dtypes="f",
    ),
]
COPIES[-2].rejects[0].words = COPIES[-2].rejects[0].words[1:]  # Python's name is another
CASES = VIEWS + MADE + PLANES + COPIES
