# SPDX-License-Identifier: Apache-2.0
"""Tensors arranged anew: every bit is compared, but of sums and powers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import libdl
from cases_view import SHAPES, each, view
from refusals import refusals
from samples import Case, Reject, Sample, integers, numbers

REFUSED = (ValueError, RuntimeError)
SMALL = [(), (1,), (3,), (0,), (2, 3), (1, 1), (0, 2), (2, 1), (4, 33), (2, 0), (2, 3, 2), (7,)]
VECTORS = [s for s in SMALL if len(s) == 1] + [(2,), (5,), (65,)]
MATRICES = [s for s in SMALL if len(s) == 2] + [(3, 3), (5, 2)]


def x23() -> Any:
    return libdl.ones(2, 3)


def rejects(*calls: Any) -> list[Reject]:
    """Of (error, words of the message, what raises it), or of texts of calls."""
    found = []
    for call in calls:
        if isinstance(call, str):
            found += refusals(call, globals())
        else:
            error, words, raising = call
            found.append(
                Reject((error, *REFUSED) if isinstance(error, type) else error, words, raising)
            )
    return found


def made(name: str, function: Any, reference: Any, samples: Any, *bad: Any, **how: Any) -> Case:
    """What is no view."""
    case = view(name, function, reference, samples, view=False, **{"dtypes": "fiubc", **how})
    case.rejects = rejects(*bad)
    return case


# -- diagonals and turned matrices -----------------------------------------------------------------


def diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    size, i = x.shape[-1] + abs(offset), np.arange(x.shape[-1])
    y = np.zeros((*x.shape[:-1], size, size), x.dtype)
    y[..., i + max(-offset, 0), i + max(offset, 0)] = x
    return np.moveaxis(y, (-2, -1), (dim1, dim2))


DIAGONALS = [
    made(
        "diag_embed",
        libdl.diag_embed,
        diag_embed,
        each(lambda s: [(), (1,), (-2,), (1, 0, -1), (0, -1, 0)], [s for s in SMALL if s]),
        """
        libdl.diag_embed(x23(), 0, 3, 0)
            # IndexError | REFUSED: argument 3 (dim1) is 3, wanted -3 to 2
        libdl.diag_embed(x23(), 0, 0, -4)
            # IndexError | REFUSED: argument 4 (dim2) is -4
        libdl.diag_embed(x23(), 0, 0, -3)
            # ValueError | REFUSED: argument 4 (dim2) is -3, the dimension of dim1
        libdl.diag_embed(x23(), 2**63 - 1)
            # OverflowError | REFUSED: argument 2 (offset)
        libdl.diag_embed(libdl.ones([1] * 64))
            # RuntimeError | REFUSED: argument 1 (input) has 64 dimensions
        """,
    ),
    made(
        "diag",
        libdl.diag,
        np.diag,
        each(lambda s: [(), (1,), (-1,), (4,)], VECTORS + MATRICES),
        """
        libdl.diag(libdl.ones(()))
            # ValueError | REFUSED: argument 1 (input) has shape [] ... 1-d or 2-d
        """,
        out=True,
    ),
    made(
        "diagflat",
        libdl.diagflat,
        np.diagflat,
        each(lambda s: [(), (2,), (-1,)], SMALL),
        """
        libdl.diagflat(x23(), 2**63 - 1)
            # OverflowError | REFUSED: diagflat: argument 2 (offset)
        """,
    ),
    Case(
        "trace",
        libdl.trace,
        np.trace,
        each(lambda s: [()], MATRICES * 3),
        dtypes="fiubc",
        result="sum",
        scale=64,
        terms=4.0,
        rejects=rejects(
            """
            libdl.trace(libdl.ones(3))
                # ValueError | REFUSED: trace: argument 1 (input) has shape [3]
            """
        ),
    ),
    made(
        "rot90",
        libdl.rot90,
        lambda x, k, d: np.rot90(x, k, d),
        each(lambda s: [(k, d) for k in (-1, 0, 1, 2, 7) for d in ((0, 1), (-1, 0))], SHAPES[:5]),
        (ValueError, ("argument 1 (input) has shape [3]",), lambda: libdl.rot90(libdl.ones(3))),
        (ValueError, ("argument 3 (dims) is [0]",), lambda: libdl.rot90(x23(), 1, [0])),
        (ValueError, ("argument 3 (dims) is [0, -2]",), lambda: libdl.rot90(x23(), 1, [0, -2])),
        (IndexError, ("argument 3 (dims) is 2",), lambda: libdl.rot90(x23(), 1, [0, 2])),
        (IndexError, ("argument 3 (dims) is -3",), lambda: libdl.rot90(x23(), 1, [-3, 0])),
    ),
    made(
        "fliplr",
        libdl.fliplr,
        np.fliplr,
        each(lambda s: [()], SHAPES * 2),
        (ValueError, ("fliplr: argument 1 (input)",), lambda: libdl.fliplr(libdl.ones(3))),
    ),
    made(
        "flipud",
        libdl.flipud,
        np.flipud,
        each(lambda s: [()], SHAPES + VECTORS),
        (ValueError, ("flipud: argument 1 (input)",), lambda: libdl.flipud(libdl.ones(()))),
    ),
    made(
        "adjoint",
        libdl.adjoint,
        lambda x: np.conj(np.swapaxes(x, -1, -2)) if x.ndim else np.conj(x),
        each(lambda s: [()], [*SHAPES, (), *MATRICES]),
        """
        libdl.adjoint(libdl.ones(3))
            # ValueError | REFUSED: adjoint: argument 1 (input) has shape [3]
        """,
    ),
    made(
        "ravel",
        libdl.ravel,
        np.ravel,
        each(lambda s: [()], SMALL),
        (TypeError, ("ravel", "input"), lambda: libdl.ravel("a")),
    ),
    made(
        "tile",
        libdl.tile,
        np.tile,
        each(lambda s: [((2,),), ((1, 2, 0),), ((),)], SMALL),
        (ValueError, ("tile: argument 2", "-1"), lambda: libdl.tile(x23(), (-1,))),
    ),
]

# -- joined, and with more dimensions --------------------------------------------------------------

ROWS = [
    [(2, 3), (1, 3)],
    [(3,), (3,)],
    [(2, 2)],
    [(0, 3), (2, 3)],
    [(1,)],
    [(4,), (4,), (4,)],
    [(2, 2, 2), (1, 2, 2)],
    [(), ()],
    [(2, 33), (2, 33)],
    [(3,), (2, 3)],
]
COLUMNS = [
    [(2, 3), (2, 1)],
    [(3,), (2,)],
    [(2, 2)],
    [(3, 0), (3, 2)],
    [(1,)],
    [(4,), (0,), (4,)],
    [(2, 2, 2), (2, 1, 2)],
    [(), (2,), ()],
    [(2, 33), (2, 33)],
    [(1, 3), (1, 2)],
]
PILES = [
    [(2, 3), (2, 3)],
    [(3,), (3,)],
    [(2, 2)],
    [(2, 0), (2, 0)],
    [(1,)],
    [(4,), (4,), (4,)],
    [(2, 2, 2), (2, 2, 1)],
    [(), ()],
    [(2, 33), (2, 33)],
    [(3,), (1, 3)],
    [(5,)],
]
NEXT = [
    [(2, 3), (2, 1)],
    [(3,), (3,)],
    [(2, 2), (2,)],
    [(3, 0), (3, 2)],
    [(1,)],
    [(4,), (4,), (4,)],
    [(2, 2, 2), (2, 1, 2)],
    [(), ()],
    [(2, 33), (2, 33)],
    [(3,), (3, 3)],
]


def lists(groups: Any, *more: Any) -> Any:
    return lambda: [
        Sample(([numbers(s, 30 * i + n + k) for k, s in enumerate(shapes)], *more))
        for i, shapes in enumerate(groups)
        for n in (1, 20)
    ]


def joined(name: str, groups: Any, bad: Any) -> Case:
    function = getattr(libdl, name)
    return made(
        name,
        function,
        getattr(np, name),
        lists(groups),
        (ValueError, (f"{name}: argument 1 (tensors)",), lambda: function(bad)),
        (ValueError, (f"{name}: argument 1 (tensors) is empty",), lambda: function([])),
        out=True,
    )


def raised(name: str) -> Case:
    function = getattr(libdl, name)
    return made(
        name,
        function,
        getattr(np, name),
        each(lambda s: [()], SMALL),
        (TypeError, (name,), lambda: getattr(libdl._C, name)("a")),
    )


def block_diag(xs: Any) -> Any:
    xs = [np.atleast_2d(x) for x in xs]
    y = np.zeros((sum(x.shape[0] for x in xs), sum(x.shape[1] for x in xs)), xs[0].dtype)
    row = column = 0
    for x in xs:
        y[row : row + x.shape[0], column : column + x.shape[1]] = x
        row, column = row + x.shape[0], column + x.shape[1]
    return y


BLOCKS = [
    [(2, 3)],
    [(2, 3), (1, 1)],
    [(3,), (2, 2)],
    [(), (2,)],
    [(0, 2), (2, 0)],
    [(1, 1)] * 4,
    [(2, 2), (0, 0), (1, 3)],
    [(0,), (3,)],
    [(5, 1), (1, 5)],
    [(2, 33), (33, 2)],
    [(3,)],
]
JOINED = [
    joined("hstack", COLUMNS, [libdl.ones(2, 3), libdl.ones(3, 3)]),
    joined("vstack", ROWS, [libdl.ones(2, 3), libdl.ones(2)]),
    joined("dstack", PILES, [libdl.ones(2, 3), libdl.ones(3, 3)]),
    joined("column_stack", NEXT, [libdl.ones(2, 3), libdl.ones(3)]),
    raised("atleast_1d"),
    raised("atleast_2d"),
    raised("atleast_3d"),
    made(
        "block_diag",
        lambda xs: libdl.block_diag(*xs),
        block_diag,
        lists(BLOCKS),
        """
        libdl.block_diag(x23(), libdl.ones(1, 1, 1))
            # ValueError | REFUSED: block_diag: argument 1 (tensors) holds shape [1, 1, 1] at
            #    position 1
        libdl.block_diag(*[libdl.ones(1, dtype=libdl.int8).expand(2**62)] * 2)
            # OverflowError | REFUSED: block_diag: argument 1 (tensors) have too many columns
        """,
    ),
]

# -- grids -----------------------------------------------------------------------------------------

GRIDS = [
    [(3,)],
    [(2,), (3,)],
    [(1,), (2,), (3,)],
    [(0,), (2,)],
    [(4,), (4,)],
    [(2,), (1,)],
    [(2,)] * 4,
    [(5,), (7,)],
    [(1,), (1,)],
    [(3,), (2,), (2,)],
]


def product(xs: Any) -> Any:
    if len(xs) == 1:
        return xs[0]
    return np.stack([x.ravel() for x in np.meshgrid(*xs, indexing="ij")], 1)


def combinations(x: Any, r: int = 2, with_replacement: bool = False) -> Any:
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(choose(x, r)), x.dtype).reshape((-1, r) if r else 0)


def sum_to_size(x: Any, size: Any) -> Any:
    lead = x.ndim - len(size)
    repeated = [d for d in range(x.ndim) if d < lead or size[d - lead] != x.shape[d]]
    return x.sum(tuple(repeated), keepdims=True).reshape(size) if repeated else x


SPREAD = [
    [(2, 3), (3,)],
    [(2, 1), (1, 3)],
    [()],
    [(), (2,)],
    [(0,), (1,)],
    [(3, 1, 2), (2, 2)],
    [(2,), (2,), (2,)],
    [(1, 1), (5, 7)],
    [(1,), (2, 0)],
    [(4, 1), (), (3,)],
]
SUMS = [
    ((2, 3), (3,)),
    ((2, 3), (1, 3)),
    ((2, 3), (2, 1)),
    ((2, 3), ()),
    ((2, 3), (2, 3)),
    ((2, 1, 3), (1, 1)),
    ((2, 0, 3), (1, 3)),
    ((3, 2, 2), (2, 1)),
    ((1, 4), (4,)),
    ((5,), (1,)),
    ((4, 3), (1, 1)),
]
GRID_CASES = [
    made(
        "meshgrid",
        lambda xs: libdl.meshgrid(*xs),
        lambda xs: np.meshgrid(*xs, indexing="ij"),
        lists(GRIDS),
        """
        libdl.meshgrid(libdl.ones(2), indexing="yx")
            # ValueError | REFUSED: meshgrid: argument 2 (indexing) is 'yx'
        libdl.meshgrid()
            # ValueError | REFUSED: meshgrid: argument 1 (tensors) is empty
        libdl.meshgrid(libdl.ones(2), x23())
            # ValueError | REFUSED: meshgrid: argument 1 (tensors) holds shape [2, 3] at position 1
        libdl.meshgrid(libdl.ones(2), libdl.arange(2))
            # ValueError | REFUSED: meshgrid: argument 1 (tensors) holds int64 at position 1
        """,
    ),
    made(
        "meshgrid_xy",
        lambda xs: libdl.meshgrid(*xs, indexing="xy"),
        lambda xs: np.meshgrid(*xs),
        lists(GRIDS),
        (ValueError, ("empty",), lambda: libdl.meshgrid([], indexing="xy")),
        operators=("meshgrid",),
    ),
    made(
        "cartesian_prod",
        lambda xs: libdl.cartesian_prod(*xs),
        product,
        lists(GRIDS),
        """
        libdl.cartesian_prod()
            # ValueError | REFUSED: cartesian_prod: argument 1 (tensors) is empty
        libdl.cartesian_prod(libdl.ones(2), libdl.ones(()))
            # ValueError | REFUSED: cartesian_prod: argument 1 (tensors) holds a 0-d tensor at
            #    position 1
        """,
    ),
    made(
        "combinations",
        libdl.combinations,
        combinations,
        each(
            lambda s: [(r, w) for r in (0, 1, 2, 3) for w in (False, True)],
            [(0,), (1,), (3,), (5,)],
        ),
        """
        libdl.combinations(x23())
            # ValueError | REFUSED: combinations: argument 1 (input) has shape [2, 3]
        libdl.combinations(libdl.ones(3), -1)
            # ValueError | REFUSED: combinations: argument 2 (r) is -1
        libdl.combinations(libdl.ones(600), 300)
            # OverflowError | REFUSED: combinations: argument 2 (r) is 300
        libdl.combinations(libdl.ones(1).expand(2**21), 3)
            # OverflowError | REFUSED: combinations: argument 2 (r)
        """,
    ),
    made(
        "broadcast_tensors",
        lambda xs: libdl.broadcast_tensors(*xs),
        lambda xs: np.broadcast_arrays(*xs),
        lists(SPREAD),
        """
        libdl.broadcast_tensors(libdl.ones(1, 2), libdl.ones(3))
            # ValueError | REFUSED: broadcast_tensors: argument 1 (tensors) holds shape [3] at
            #    position 1 ... [1, 2]
        """,
    ),
    Case(
        "sum_to_size",
        lambda x, size: x.sum_to_size(size),
        sum_to_size,
        lambda: [
            Sample((numbers(s, 9 * i + n), size))
            for i, (s, size) in enumerate(SUMS)
            for n in (1, 2)
        ],
        dtypes="fiubc",
        result="own",
        scale=64,
        terms=4.0,
        rejects=rejects(
            """
            x23().sum_to_size(2)
                # ValueError | REFUSED: sum_to_size: argument 2 (size) is [2] ... [2, 3]
            """
        ),
    ),
]

# -- parts -----------------------------------------------------------------------------------------


def along(function: Any, reference: Any, name: str, least: int, shapes: Any) -> list[Case]:
    """The two cases of hsplit and its like."""
    wrong = libdl.ones([2] * (least - 1))
    return (
        [
            view(name, function, reference, each(lambda s: [(n,) for n in (1, 2)], shapes)),
            view(
                f"{name}_indices",
                function,
                reference,
                each(lambda s: [((1,),), ((-1, 1),), ((),)], shapes),
            ),
        ],
        rejects(
            (ValueError, (f"{name}: argument 1 (input) has shape",), lambda: function(wrong, 1)),
        ),
        rejects(
            (ValueError, (f"{name}: argument 1 (input) has shape",), lambda: function(wrong, (1,))),
        ),
    )


def splits() -> list[Case]:
    found = []
    for name, least, shapes in (
        ("hsplit", 1, [(2,), (4,), (3, 2), (2, 4, 1), (0,), (3, 0), (2, 2)]),
        ("vsplit", 2, [(2, 3), (4, 1), (2, 2, 2), (0, 3), (6, 2), (2, 1)]),
        ("dsplit", 3, [(1, 3, 2), (2, 1, 4), (1, 1, 2, 2), (2, 2, 0), (1, 2, 6), (3, 1, 2)]),
    ):
        function = getattr(libdl, name)
        cases, first, second = along(function, getattr(np, name), name, least, shapes)
        odd = libdl.ones(3, 3, 3)
        first += rejects(
            (
                ValueError,
                (f"{name}: argument 2", "a divisor of size 3"),
                lambda function=function, odd=odd: function(odd, 2),
            ),
            (
                ValueError,
                (f"{name}: argument 2", "0"),
                lambda function=function, odd=odd: function(odd, 0),
            ),
        )
        cases[0].rejects, cases[1].rejects = first, second
        found += cases
    return found


def with_part(x: Any, src: Any, key: Any) -> Any:
    y = x.copy()
    y[key] = src
    return y


def select_scatter(x: Any, src: Any, dim: int, index: int) -> Any:
    return with_part(x, src, (slice(None),) * (dim % x.ndim) + (index,))


def slice_scatter(
    x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    return with_part(x, src, (slice(None),) * (dim % x.ndim) + (slice(start, end, step),))


def diagonal_scatter(x: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    y, i = x.copy(), np.arange(src.shape[-1])
    matrices = np.moveaxis(y, (dim1, dim2), (-2, -1))
    matrices[..., i + max(-offset, 0), i + max(offset, 0)] = src
    return y


def as_strided_scatter(x: Any, src: Any, size: Any, stride: Any, offset: int) -> Any:
    y = x.copy()
    steps = [n * y.itemsize for n in stride]
    np.lib.stride_tricks.as_strided(y.reshape(-1)[offset:], size, steps)[...] = src
    return y


def scattered(view_of: Any, calls: Any, shapes: Any) -> Any:
    """Arguments (x, src, ...) for what view_of(x, ...) shows."""

    def samples() -> list[Sample]:
        found = []
        for i, s in enumerate(shapes):
            for k, call in enumerate(calls(s)):
                x = numbers(s, 50 * i + k)
                shown = view_of(libdl.from_numpy(x), *call).shape
                found.append(Sample((x, numbers(tuple(shown), 50 * i + k + 25), *call)))
        return found

    return samples


def show_slice(x: Any, dim: int, start: Any, end: Any, step: int) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def contiguous_scatter(x: Any, src: Any, size: Any, stride: Any, offset: int) -> Any:
    """Of the elements in row-major order, however they lie."""
    rows = x.clone(memory_format=libdl.contiguous_format)
    return libdl.as_strided_scatter(rows, src, size, stride, offset)


def src(*shape: int) -> Any:
    return libdl.ones(shape)


c64 = libdl.complex64
PART_CASES = [
    view(
        "tensor_split",
        libdl.tensor_split,
        np.array_split,
        each(lambda s: [(n, d) for n in (1, 3) for d in (0, -1)]),
        lambda: libdl.tensor_split(libdl.ones(2, 3), 0),
        ("argument 2", "1 or more"),
        REFUSED,
    ),
    view(
        "tensor_split_indices",
        libdl.tensor_split,
        np.array_split,
        each(lambda s: [(c, d) for c in ((1,), (-1,), (2, 1), (0, 9), ()) for d in (0, -1)]),
    ),
    *splits(),
    made(
        "select_scatter",
        libdl.select_scatter,
        select_scatter,
        scattered(
            libdl.select,
            lambda s: [(d, i) for d in (0, -1) for i in (0, -1)],
            [s for s in SHAPES if 0 not in s] + [(3,), (1,)],
        ),
        """
        libdl.select_scatter(x23(), src(3), 2, 0)
            # IndexError | REFUSED: select_scatter: argument 3 (dim) is 2
        libdl.select_scatter(x23(), src(3), 0, 2)
            # IndexError | REFUSED: select_scatter: argument 4 (index) is 2
        libdl.select_scatter(src(), src(), 0, 0)
            # IndexError | REFUSED: select_scatter: argument 1 (input) is 0-d
        libdl.select_scatter(x23(), src(2), 0, 0)
            # ValueError | REFUSED: select_scatter: argument 2 (src) has shape [2] ... [3]
        libdl.select_scatter(x23(), src(3).to(c64), 0, 0)
            # TypeError | REFUSED: select_scatter: argument 2 (src) is complex64
        """,
    ),
    made(
        "slice_scatter",
        libdl.slice_scatter,
        slice_scatter,
        scattered(
            show_slice,
            lambda s: [
                (0, None, None, 1),
                (-1, 1, None, 1),
                (1, -2, 9, 1),
                (-1, 0, None, 2),
                (0, 1, 1, 1),
            ],
            SHAPES,
        ),
        """
        libdl.slice_scatter(x23(), x23(), 2)
            # IndexError | REFUSED: slice_scatter: argument 3 (dim) is 2
        libdl.slice_scatter(x23(), x23(), 0, step=0)
            # ValueError | REFUSED: slice_scatter: argument 6 (step) is 0
        libdl.slice_scatter(x23(), x23(), 0, 1)
            # ValueError | REFUSED: slice_scatter: argument 2 (src) has shape [2, 3] ... [1, 3]
        """,
    ),
    made(
        "diagonal_scatter",
        libdl.diagonal_scatter,
        diagonal_scatter,
        scattered(libdl.diagonal, lambda s: [(), (1,), (-1,), (0, -1, 0)], SHAPES),
        """
        libdl.diagonal_scatter(x23(), src(2), 0, 2, 0)
            # IndexError | REFUSED: diagonal_scatter: argument 4 (dim1) is 2
        libdl.diagonal_scatter(x23(), src(2), 0, 1, 1)
            # ValueError | REFUSED: diagonal_scatter: argument 5 (dim2)
        libdl.diagonal_scatter(x23(), src(3))
            # ValueError | REFUSED: diagonal_scatter: argument 2 (src) has shape [3] ... [2]
        """,
    ),
    made(
        "as_strided_scatter",
        contiguous_scatter,
        as_strided_scatter,
        scattered(
            lambda x, *a: x.as_strided(*a),
            lambda s: [((2,), (1,), 0), ((1, 2), (2, 1), 1), ((), (), 1)],
            [(4,), (2, 3), (3, 2, 1), (5, 7), (2, 2), (6,), (1, 5)],
        ),
        """
        libdl.as_strided_scatter(x23(), src(2), (2,), (6,))
            # ValueError | REFUSED: as_strided_scatter: argument 4 (stride)
        libdl._C.as_strided_scatter(1.0, src(1), (1,), (1,), None)
            # ValueError | REFUSED: as_strided_scatter: argument 1 (input) is a host number
        libdl.as_strided_scatter(x23(), src(2), (2,), (1,), 9)
            # ValueError | REFUSED: as_strided_scatter: argument 5 (storage_offset)
        libdl.as_strided_scatter(x23(), src(3), (2,), (1,))
            # ValueError | REFUSED: as_strided_scatter: argument 2 (src) has shape [3] ... [2]
        """,
    ),
]
for case in PART_CASES:
    case.dtypes = "fiubc"
PART_CASES[0].rejects += rejects(
    """
    libdl.tensor_split(libdl.ones(()), 2)
        # ValueError | REFUSED: tensor_split: argument 1 (input) is 0-d
    libdl.tensor_split(x23(), 2, 2)
        # IndexError | REFUSED: tensor_split: argument 3 (dim) is 2
    libdl.tensor_split(x23(), 2**62)
        # RuntimeError | REFUSED: tensor_split: argument 2 ... tensors
    """,
)
PART_CASES[1].rejects += rejects(
    """
    libdl.tensor_split(x23(), (1,), 2)
        # IndexError | REFUSED: tensor_split: argument 3 (dim) is 2
    """
)

# -- by their values -------------------------------------------------------------------------------


def powers(*calls: Any) -> Any:
    return each(lambda s: calls, [(0,), (1,), (3,), (5,)])


def sparse(shape: Any, seed: int) -> Any:
    return np.asarray(integers(shape, seed, -1, 2) * 1.0)


def nonzero_static(x: Any, size: int, fill_value: int = -1) -> Any:
    rows = np.argwhere(x)[:size]
    return np.concatenate([rows, np.full((size - len(rows), x.ndim), fill_value)])


BY_VALUE = [
    made(
        "argwhere",
        libdl.argwhere,
        np.argwhere,
        lambda: [Sample((sparse(s, 40 * i + n),)) for i, s in enumerate(SMALL) for n in (1, 2, 3)],
        (TypeError, ("argwhere",), lambda: libdl.argwhere("a")),
        differentiable=False,
        result="own",
    ),
    made(
        "nonzero_static",
        libdl.nonzero_static,
        nonzero_static,
        lambda: [
            Sample((sparse(s, 40 * i),), {"size": n, "fill_value": n - 3})
            for i, s in enumerate(SMALL)
            for n in (0, 2, 9)
        ],
        """
        libdl.nonzero_static(x23(), size=-1)
            # ValueError | REFUSED: nonzero_static: argument 2 (size) is -1
        libdl.nonzero_static(x23(), size=2**62)
            # OverflowError | REFUSED: nonzero_static: argument 2 (size)
        """,
        differentiable=False,
        result="own",
        out=True,
    ),
    made(
        "msort",
        libdl.msort,
        lambda x: np.sort(x, 0) if x.ndim else x,
        each(lambda s: [()], SMALL),
        (TypeError, ("msort",), lambda: libdl.msort("a")),
        dtypes="fiub",
        out=True,
    ),
    Case(
        "vander",
        libdl.vander,
        np.vander,
        powers((3,), (2, True), (4, True)),
        dtypes="fiubc",
        result="sum",
        scale=64,
        terms=64.0,
        rejects=rejects(
            """
            libdl.vander(x23())
                # ValueError | REFUSED: vander: argument 1 (x) has shape [2, 3]
            libdl.vander(libdl.ones(2), -1)
                # ValueError | REFUSED: vander: argument 2 (N) is -1
            """,
        ),
    ),
]
BY_VALUE.append(
    Case(
        "linalg_vander",
        lambda x, n=None: libdl.linalg.vander(x, N=n),
        lambda x, n=None: np.atleast_1d(x)[..., None] ** np.arange(n or x.shape[-1]),
        each(lambda s: [(2,), (4,)] + ([()] if s and 1 < s[-1] < 9 else []), SMALL),
        dtypes="fiuc",
        result="sum",
        scale=64,
        terms=64.0,
        rejects=rejects(
            """
            libdl.linalg.vander(x23(), N=1)
                # ValueError | REFUSED: linalg.vander: argument 2 (N) is 1
            libdl.linalg.vander(x23().bool())
                # NotImplementedError | REFUSED: linalg.vander: argument 1 (x) is bool
            """,
        ),
    )
)
# Of no power but the first there is no slope.
BY_VALUE.append(
    Case(
        "vander_of_few",
        libdl.vander,
        np.vander,
        powers((0,), (1,), (1, True)),
        operators=("vander",),
        dtypes="fiubc",
        result="sum",
        differentiable=False,
        rejects=BY_VALUE[-2].rejects,
    )
)
CASES = DIAGONALS + JOINED + GRID_CASES + PART_CASES + BY_VALUE
