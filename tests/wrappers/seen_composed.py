# SPDX-License-Identifier: Apache-2.0
"""Programs with the functions that are composed in Python, for test_composed.py. `m` is libdl, or
PyTorch, whose answers tests/answered.py stores."""

import math

from wrappers.answers import digest, gradients, leaf, numbers, told

TOGETHER = True


def digests(m, x):
    return [digest(m, y) for y in x] if isinstance(x, (tuple, list)) else digest(m, x)


def run(m, calls):
    made = {name: told(call) for name, call in calls.items()}
    return {name: x if isinstance(x, dict) else digests(m, x) for name, x in made.items()}


def whole(m, *shape, most=4):
    return (numbers(m, *shape).abs() * most).long()


def gaps(m, *shape):
    x = numbers(m, *shape)
    x[1] = math.nan
    x[0, 2] = math.nan
    return x


def arranged(m):
    a, b, v, w = numbers(m, 3, 4), numbers(m, 3, 2), numbers(m, 3), numbers(m, 4)
    calls = {
        f"grid {how}": lambda how=how: m.meshgrid(v, w, numbers(m, 2), indexing=how)
        for how in ("ij", "xy", "yx")
    }
    for k in (-2, 0, 1):
        calls |= {
            f"diag {k}": lambda k=k: m.diag(v, k),
            f"diagonal {k}": lambda k=k: m.diag(a, k),
            f"embed {k}": lambda k=k: m.diag_embed(a, k),
            f"embed {k} turned": lambda k=k: m.diag_embed(a, k, 2, 0),
        }
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        calls |= {
            f"{name} {x.ndim}": lambda name=name, x=x: getattr(m, name)((x, x))
            for x in (v, a, numbers(m))
        }
    for parts in (1, 3, 5, [1, 2], [-1], [2, 1], 0):
        calls[f"split {parts}"] = lambda parts=parts: m.tensor_split(a, parts, 1)
    for dims in (0, 1, ([0], [0])):
        calls[f"dot {dims}"] = lambda dims=dims: m.tensordot(
            a, numbers(m, 4, 4, shift=1) if dims == 1 else b, dims=dims
        )
    calls |= {
        "outer": lambda: m.outer(v, w),
        "outer of a matrix": lambda: m.outer(a, w),
        "trace": lambda: m.trace(a),
        "tile": lambda: m.tile(a, (2, 1, 3)),
        "at least": lambda: [
            f(x) for f in (m.atleast_1d, m.atleast_2d, m.atleast_3d) for x in (numbers(m), v, a)
        ],
        "block": lambda: m.block_diag(a, v, b),
        "product": lambda: m.cartesian_prod(v, w),
        "pairs": lambda: m.combinations(w, 2),
        "triples": lambda: m.combinations(v, 3, True),
        "kron": lambda: m.kron(a, b),
        "cross": lambda: m.cross(b, b.flip(1), dim=0),
        "lists": lambda: m.einsum(a, [0, 1], w, [1], [0]),
        "dots": lambda: m.einsum(a, [..., 1], w, [1]),
        "no list": lambda: m.einsum(a, [60]),
        "cdist": lambda: m.cdist(a, numbers(m, 2, 4, shift=2), p=1.0),
        "baddbmm": lambda: m.baddbmm(w, a[None], numbers(m, 1, 4, 4), beta=0.5, alpha=2),
        "both": lambda: m.broadcast_tensors(b[:, :1], w),
    }
    return run(m, calls)


def selected(m):
    x, y = whole(m, 5, 4), gaps(m, 4, 5)
    calls = {}
    for dim in (None, 0, 1):
        for name in ("unique", "unique_consecutive"):
            calls[f"{name} {dim}"] = lambda name=name, dim=dim: getattr(m, name)(
                x // 2, return_inverse=True, return_counts=True, dim=dim
            )
        for name in ("quantile", "nanquantile"):
            for way in ("linear", "lower", "higher", "midpoint", "nearest"):
                calls[f"{name} {dim} {way}"] = lambda name=name, dim=dim, way=way: getattr(m, name)(
                    y, m.tensor([0.0, 0.3, 1.0]).double(), dim, True, interpolation=way
                )
    for name in ("median", "nanmedian"):
        calls |= {
            name: lambda name=name: getattr(m, name)(y),
            f"{name} 1": lambda name=name: getattr(m, name)(y, 1, True)[0],
            f"{name} 0": lambda name=name: getattr(m, name)(x, 0)[0],
        }
    for one in (m.tensor(3), m.tensor([3]), m.tensor([[3, 4]])):
        calls[f"one of {list(one.shape)}"] = lambda one=one: m.unique(
            one, return_inverse=True, return_counts=True, dim=0 if one.ndim == 2 else None
        )
    row, bounds = numbers(m, 6), numbers(m, 5).sort().values
    for right in (False, True):
        calls |= {
            f"places {right}": lambda right=right: m.searchsorted(bounds, y, right=right),
            f"places of rows {right}": lambda right=right: m.searchsorted(
                x.sort(-1).values, x, right=right
            ),
            f"buckets {right}": lambda right=right: m.bucketize(row, bounds, right=right),
        }
    calls |= {
        "mode": lambda: m.mode(x, 0)[0],
        "mode 1": lambda: m.mode(x)[0],
        "bins": lambda: m.bincount(x.flatten(), minlength=9),
        "weights": lambda: m.bincount(x[0], row[:4]),
        "negative": lambda: m.bincount(x[0] - 9),
        "histogram": lambda: m.histc(row, 4),
        "a range": lambda: m.histc(row, 4, -1, 0.5),
        "among": lambda: m.isin(x, m.tensor([1, 3])),
        "not": lambda: m.isin(x, 2, invert=True),
        "take": lambda: m.take(row, m.tensor([[0, -1], [3, 2]])),
        "unravel": lambda: m.unravel_index(m.tensor([0, 7]), (2, 4)),
        "diff": lambda: m.diff(row, 2),
        "ends": lambda: m.diff(x, dim=0, append=x[:1]),
        "area": lambda: m.trapezoid(y, dx=0.5),
        "steps": lambda: m.trapezoid(x.double(), bounds, dim=0),
        "spread": lambda: m.var_mean(row),
        "deviation": lambda: m.std_mean(x.double(), dim=0),
        "ends of all": lambda: tuple(m.aminmax(row)),
        "q": lambda: m.quantile(row, 1.5),
    }
    return run(m, calls)


def elementwise(m):
    x = m.tensor([0.0, 0.25, -1.5, 2.5, math.nan]).double()
    names = ("deg2rad", "rad2deg", "frac", "sinc", "angle")
    calls = {name: lambda name=name: getattr(m, name)(x) for name in names}
    ends = m.tensor([math.inf, -math.inf, math.nan, 1.0])
    calls |= {
        "logit": lambda: m.logit(x[1:]),
        "limited": lambda: m.logit(x, 0.1),
        "numbers": lambda: m.nan_to_num(ends, 1.0, 2.0, -3.0),
        "extremes": lambda: m.nan_to_num(ends).double() / 1e38,
    }
    calls |= {
        f"{name} {n} {periodic}": lambda name=name, n=n, periodic=periodic: getattr(m, name)(
            n, periodic, dtype=m.float64
        )
        for name in ("hann_window", "hamming_window", "blackman_window", "bartlett_window")
        for n in (0, 1, 7)
        for periodic in (True, False)
    }
    calls |= {
        "xlogy": lambda: m.xlogy(x, x.abs()),
        "least": lambda: m.clamp_min(x, 0.1),
        "most": lambda: m.clamp_max(x, 0.1),
        "powers": lambda: m.logspace(0, 2, 5, dtype=m.float64),
        "parts": lambda: m.view_as_real(m.polar(x[:3], x[:3])),
        "diagonal": lambda: numbers(m, 3, 4).fill_diagonal_(7.0),
        "wrapped": lambda: numbers(m, 9, 3).fill_diagonal_(7.0, wrap=True),
        "put": lambda: numbers(m, 3, 4).put_(m.tensor([0, -1]), x[:2]),
        "added": lambda: numbers(m, 3, 4).put_(m.tensor([1, 1]), x[:2], accumulate=True),
    }
    return run(m, calls)


def differentiated(m):
    functions = {
        "quantile": lambda x: m.quantile(x, 0.3, 0),
        "median": lambda x: m.median(x, 0)[0],
        "whole median": lambda x: m.median(x),
        "diag": lambda x: m.diag(x, 1),
        "embed": lambda x: m.diag_embed(x, -1),
        "kron": lambda x: m.kron(x, x),
        "cdist": lambda x: m.cdist(x, x[:2] + 1),
        "sinc": lambda x: m.sinc(x),
        "logit": lambda x: m.logit(x.abs() / 2),
        "xlogy": lambda x: m.xlogy(x, x.abs()),
        "outer": lambda x: m.outer(x[0], x[1]),
        "trace": m.trace,
        "tensordot": lambda x: m.tensordot(x, x.t(), dims=1),
    }
    answers = {}
    for name, function in functions.items():
        x = leaf(m, 3, 4)
        answers[name] = gradients(m, function(x), [x])
    return answers


def scattered(m):
    x, places = numbers(m, 3, 4), whole(m, 2, 3, most=3)
    source = numbers(m, 2, 4, shift=2)
    calls = {
        "most": lambda: x.scatter_reduce(0, places, source, "most"),
        "in place": lambda: numbers(m, 3, 4).scatter_reduce_(1, places, source, "amax"),
        "integers": lambda: (
            (x * 9)
            .long()
            .scatter_reduce(0, places, (source * 9).long(), "amin", include_self=False)
        ),
        "smaller": lambda: numbers(m, 3, 4).resize_(2, 3),
        "one shape for another": lambda: numbers(m, 3, 4).resize_((4, 3)),
        "similar": lambda: m.cosine_similarity(x, x.flip(0)),
    }
    return run(m, calls)


def at_their_ends(m):
    """Shapes and numbers at the ends of what is allowed, and just beyond."""
    x, v, one = numbers(m, 2, 3), numbers(m, 4), numbers(m, 1)
    calls = {}
    for word in ("prepend", "append"):
        for name, part in (
            ("0-d", numbers(m)),
            ("a row", one),
            ("a matrix", numbers(m, 2, 2)),
            ("one row", numbers(m, 1, 3)),
            ("empty", numbers(m, 2, 0)),
        ):
            for dim in (0, 1, -1):
                calls[f"{word} {name} along {dim}"] = lambda word=word, part=part, dim=dim: m.diff(
                    x, dim=dim, **{word: part}
                )
            calls[f"{word} {name} to a vector"] = lambda word=word, part=part: m.diff(
                v, **{word: part}
            )
    calls |= {
        "no differences": lambda: m.diff(v, n=0, prepend=one),
        "of 0-d": lambda: m.diff(one[0]),
        "too many": lambda: m.diff(v, n=7),
        "less than none": lambda: m.diff(v, n=-1),
        "of nothing": lambda: m.diff(v[:0]),
        "differences of both": lambda: m.diff(v.float(), prepend=one.double(), append=one.double()),
    }
    for n in (None, -1, 0, 1, 2, 5):
        for name, y in (
            ("one", one),
            ("column", numbers(m, 3, 1)),
            ("0-d", one[0]),
            ("empty", v[:0]),
            ("integers", m.arange(3)),
            ("four", v),
            ("truth", v > 0),
        ):
            calls[f"powers of {name}, {n}"] = lambda y=y, n=n: m.linalg.vander(y, N=n)
    for name in ("quantile", "nanquantile"):
        f = getattr(m, name)
        for kept in (True, False):
            calls |= {
                f"{name} of 0-d {kept}": lambda f=f, kept=kept: f(one[0], 0.5, 0, kept),
                f"{name} of 0-d, last {kept}": lambda f=f, kept=kept: f(
                    one[0], m.ones(2).double(), -1, kept
                ),
                f"{name} of all of 0-d {kept}": lambda f=f, kept=kept: f(one[0], 0.5, None, kept),
                f"{name} of nothing {kept}": lambda f=f, kept=kept: f(v[:0], 0.5, keepdim=kept),
                f"{name} of no rows {kept}": lambda f=f, kept=kept: f(x[:0], 0.5, 0, kept),
                f"{name} of empty rows {kept}": lambda f=f, kept=kept: f(x[:, :0], 0.5, 1, kept),
                f"{name} of no columns {kept}": lambda f=f, kept=kept: f(x[:, :0], 0.5, 0, kept),
                f"no {name} {kept}": lambda f=f, kept=kept: f(x, m.ones(0).double(), 1, kept),
            }
    points = m.tensor([[0.0, 0], [1, 1], [0.5, 0.5], [2, 2], [0.7, 0.2], [1, 0], [0.1, 1.1]])
    edges = m.tensor([0.0, 0.5, 1])
    calls |= {
        "counts": lambda: m.histogramdd(points, 3)[0],
        "counts up to 1": lambda: m.histogramdd(points, [2, 2], range=[0.0, 1, 0, 1])[0],
        "counts between edges": lambda: m.histogramdd(points, [edges, edges])[0],
        "one edge": lambda: m.histogramdd(points[:, :1].contiguous(), [edges[:1]]),
        "one edge of all": lambda: m.histogram(points, edges[:1]),
        "counts of one point": lambda: m.histogramdd(points[:1], 2)[0],
        "counts of tenths": lambda: m.histogramdd(
            points[:, :1].contiguous() / 10 + 0.1, [10], range=[0.1, 0.3]
        )[0],
        "histogram of tenths": lambda: m.histogram(points / 10 + 0.1, 10, range=(0.1, 0.3))[0],
        "shares": lambda: m.histogramdd(points, 2, weight=points[:, 0].contiguous(), density=True)[
            0
        ],
    }
    return run(m, calls)


def extremes(m):
    """Values and slopes as texts, six digits: digests would hide what a small number is off."""
    inf, nan, calls = math.inf, math.nan, {}
    x = m.tensor([0.0, -0.0, 1, 5e-324, 1.7e308, 2.0**100, 3, inf, -inf, nan], dtype=m.float64)
    for e in (1024, -1074, -1100, 2000, 5, -5, 2098, -2098, 3000):
        calls[f"ldexp {e}"] = lambda e=e: m.ldexp(x, m.tensor([e]))
        calls[f"ldexp {e} of float32"] = lambda e=e: m.ldexp(x.float(), m.tensor([e]))
    calls["there and back"] = lambda: m.ldexp(*m.frexp(x))
    for e in (3, -4, 100):
        y = m.tensor([0.0, -3, 1e-310], dtype=m.float64, requires_grad=True)
        calls[f"slope of ldexp {e}"] = lambda y=y, e=e: m.autograd.grad(
            m.ldexp(y, m.tensor(e)).sum(), y
        )[0]
    for eps in (None, 0.0, 1e-6, 0.1, 0.5, 0.7, 1.0):
        for dtype in (m.float32, m.float64):
            low = eps or 0.1
            y = m.tensor([low, 1 - low, 0, 1, 0.3, -1, 2], dtype=dtype, requires_grad=True)
            calls |= {
                f"logit {eps} {dtype.itemsize}": lambda y=y, eps=eps: m.logit(y, eps),
                f"slope of logit {eps} {dtype.itemsize}": lambda y=y, eps=eps: m.autograd.grad(
                    m.logit(y, eps).sum(), y
                )[0],
            }
    for name in ("xlogy", "xlog1py"):
        function = getattr(m.special, name)
        y = m.tensor([-3.0, -1, 0, 0.5, 1, 1e300], dtype=m.float64)
        for first in (0.0, -0.0, 2.0):
            z = m.full((6,), first, dtype=m.float64, requires_grad=True)
            calls[f"{name} {first}"] = lambda f=function, y=y, z=z: f(z, y)
            calls[f"slope of {name} {first}"] = lambda f=function, y=y, z=z: m.autograd.grad(
                f(z, y).sum(), z
            )[0]
    return {name: rounded(told(call)) for name, call in calls.items()}


def rounded(x):
    """Numbers to six digits, as texts: infinities and NaN, too. -0 is 0."""
    return x if isinstance(x, dict) else [f"{float(y) + 0.0:.6g}" for y in x.tolist()]


PROGRAMS = [arranged, selected, elementwise, differentiated, scattered, at_their_ends, extremes]
