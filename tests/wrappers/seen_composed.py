# SPDX-License-Identifier: Apache-2.0
"""Programs with the functions that are composed in Python, for test_composed.py. `m` is libdl; the
answers in seen_composed.json are those of PyTorch 2.15, for which the same functions run with
m = torch:

    PYTHONPATH=tests python -m wrappers.seen_composed > tests/wrappers/seen_composed.json"""

import math

from wrappers.answers import digest, gradients, leaf, numbers, told, write


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
    calls = {f"grid {how}": lambda how=how: m.meshgrid(v, w, numbers(m, 2), indexing=how)
             for how in ("ij", "xy", "yx")}
    for k in (-2, 0, 1):
        calls |= {f"diag {k}": lambda k=k: m.diag(v, k), f"diagonal {k}": lambda k=k: m.diag(a, k),
                  f"embed {k}": lambda k=k: m.diag_embed(a, k),
                  f"embed {k} turned": lambda k=k: m.diag_embed(a, k, 2, 0)}
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        calls |= {f"{name} {x.ndim}": lambda name=name, x=x: getattr(m, name)((x, x))
                  for x in (v, a, numbers(m))}
    for parts in (1, 3, 5, [1, 2], [-1], [2, 1], 0):
        calls[f"split {parts}"] = lambda parts=parts: m.tensor_split(a, parts, 1)
    for dims in (0, 1, ([0], [0])):
        calls[f"dot {dims}"] = lambda dims=dims: m.tensordot(a, numbers(m, 4, 4, shift=1)
                                                            if dims == 1 else b, dims=dims)
    calls |= {
        "outer": lambda: m.outer(v, w), "outer of a matrix": lambda: m.outer(a, w),
        "trace": lambda: m.trace(a), "tile": lambda: m.tile(a, (2, 1, 3)),
        "at least": lambda: [f(x) for f in (m.atleast_1d, m.atleast_2d, m.atleast_3d)
                             for x in (numbers(m), v, a)],
        "block": lambda: m.block_diag(a, v, b), "product": lambda: m.cartesian_prod(v, w),
        "pairs": lambda: m.combinations(w, 2), "triples": lambda: m.combinations(v, 3, True),
        "kron": lambda: m.kron(a, b), "cross": lambda: m.cross(b, b.flip(1), dim=0),
        "lists": lambda: m.einsum(a, [0, 1], w, [1], [0]),
        "dots": lambda: m.einsum(a, [..., 1], w, [1]), "no list": lambda: m.einsum(a, [60]),
        "cdist": lambda: m.cdist(a, numbers(m, 2, 4, shift=2), p=1.0),
        "baddbmm": lambda: m.baddbmm(w, a[None], numbers(m, 1, 4, 4), beta=0.5, alpha=2),
        "both": lambda: m.broadcast_tensors(b[:, :1], w),
    }  # fmt: skip
    return run(m, calls)


def selected(m):
    x, y = whole(m, 5, 4), gaps(m, 4, 5)
    calls = {}
    for dim in (None, 0, 1):
        for name in ("unique", "unique_consecutive"):
            calls[f"{name} {dim}"] = lambda name=name, dim=dim: getattr(m, name)(
                x // 2, return_inverse=True, return_counts=True, dim=dim)
        for name in ("quantile", "nanquantile"):
            for way in ("linear", "lower", "higher", "midpoint", "nearest"):
                calls[f"{name} {dim} {way}"] = lambda name=name, dim=dim, way=way: getattr(m, name)(
                    y, m.tensor([0.0, 0.3, 1.0]).double(), dim, True, interpolation=way)
    for name in ("median", "nanmedian"):
        calls |= {name: lambda name=name: getattr(m, name)(y),
                  f"{name} 1": lambda name=name: getattr(m, name)(y, 1, True)[0],
                  f"{name} 0": lambda name=name: getattr(m, name)(x, 0)[0]}
    for one in (m.tensor(3), m.tensor([3]), m.tensor([[3, 4]])):
        calls[f"one of {list(one.shape)}"] = lambda one=one: m.unique(
            one, return_inverse=True, return_counts=True, dim=0 if one.ndim == 2 else None)
    row, bounds = numbers(m, 6), numbers(m, 5).sort().values
    for right in (False, True):
        calls |= {
            f"places {right}": lambda right=right: m.searchsorted(bounds, y, right=right),
            f"places of rows {right}": lambda right=right: m.searchsorted(
                x.sort(-1).values, x, right=right),
            f"buckets {right}": lambda right=right: m.bucketize(row, bounds, right=right)}
    calls |= {
        "mode": lambda: m.mode(x, 0)[0], "mode 1": lambda: m.mode(x)[0],
        "bins": lambda: m.bincount(x.flatten(), minlength=9),
        "weights": lambda: m.bincount(x[0], row[:4]), "negative": lambda: m.bincount(x[0] - 9),
        "histogram": lambda: m.histc(row, 4), "a range": lambda: m.histc(row, 4, -1, 0.5),
        "among": lambda: m.isin(x, m.tensor([1, 3])), "not": lambda: m.isin(x, 2, invert=True),
        "take": lambda: m.take(row, m.tensor([[0, -1], [3, 2]])),
        "unravel": lambda: m.unravel_index(m.tensor([0, 7]), (2, 4)),
        "diff": lambda: m.diff(row, 2), "ends": lambda: m.diff(x, dim=0, append=x[:1]),
        "area": lambda: m.trapezoid(y, dx=0.5), "steps": lambda: m.trapezoid(x.double(), bounds,
                                                                             dim=0),
        "spread": lambda: m.var_mean(row), "deviation": lambda: m.std_mean(x.double(), dim=0),
        "ends of all": lambda: tuple(m.aminmax(row)), "q": lambda: m.quantile(row, 1.5),
    }  # fmt: skip
    return run(m, calls)


def elementwise(m):
    x = m.tensor([0.0, 0.25, -1.5, 2.5, math.nan]).double()
    names = ("deg2rad", "rad2deg", "frac", "sinc", "angle")
    calls = {name: lambda name=name: getattr(m, name)(x) for name in names}
    ends = m.tensor([math.inf, -math.inf, math.nan, 1.0])
    calls |= {"logit": lambda: m.logit(x[1:]), "limited": lambda: m.logit(x, 0.1),
              "numbers": lambda: m.nan_to_num(ends, 1.0, 2.0, -3.0),
              "extremes": lambda: m.nan_to_num(ends).double() / 1e38}
    calls |= {f"{name} {n} {periodic}": lambda name=name, n=n, periodic=periodic:
              getattr(m, name)(n, periodic, dtype=m.float64)
              for name in ("hann_window", "hamming_window", "blackman_window", "bartlett_window")
              for n in (0, 1, 7) for periodic in (True, False)}  # fmt: skip
    calls |= {
        "xlogy": lambda: m.xlogy(x, x.abs()), "least": lambda: m.clamp_min(x, 0.1),
        "most": lambda: m.clamp_max(x, 0.1), "powers": lambda: m.logspace(0, 2, 5, dtype=m.float64),
        "parts": lambda: m.view_as_real(m.polar(x[:3], x[:3])),
        "diagonal": lambda: numbers(m, 3, 4).fill_diagonal_(7.0),
        "wrapped": lambda: numbers(m, 9, 3).fill_diagonal_(7.0, wrap=True),
        "put": lambda: numbers(m, 3, 4).put_(m.tensor([0, -1]), x[:2]),
        "added": lambda: numbers(m, 3, 4).put_(m.tensor([1, 1]), x[:2], accumulate=True),
    }  # fmt: skip
    return run(m, calls)


def differentiated(m):
    functions = {
        "quantile": lambda x: m.quantile(x, 0.3, 0), "median": lambda x: m.median(x, 0)[0],
        "whole median": lambda x: m.median(x), "diag": lambda x: m.diag(x, 1),
        "embed": lambda x: m.diag_embed(x, -1), "kron": lambda x: m.kron(x, x),
        "cdist": lambda x: m.cdist(x, x[:2] + 1), "sinc": lambda x: m.sinc(x),
        "logit": lambda x: m.logit(x.abs() / 2), "xlogy": lambda x: m.xlogy(x, x.abs()),
        "outer": lambda x: m.outer(x[0], x[1]), "trace": m.trace,
        "tensordot": lambda x: m.tensordot(x, x.t(), dims=1),
    }  # fmt: skip
    answers = {}
    for name, function in functions.items():
        x = leaf(m, 3, 4)
        answers[name] = gradients(m, function(x), [x])
    return answers


def scattered(m):
    x, places = numbers(m, 3, 4), whole(m, 2, 3, most=3)
    source = numbers(m, 2, 4, shift=2)
    calls = {
        f"{how} {kept} {dim}": lambda how=how, kept=kept, dim=dim: x.scatter_reduce(
            dim, places, source, how, include_self=kept)
        for how in ("sum", "prod", "mean", "amax", "amin", "most")
        for kept in (True, False) for dim in (0, 1)}  # fmt: skip
    calls |= {
        "in place": lambda: numbers(m, 3, 4).scatter_reduce_(1, places, source, "amax"),
        "integers": lambda: (x * 9).long().scatter_reduce(0, places, (source * 9).long(), "amin",
                                                          include_self=False),
        "smaller": lambda: numbers(m, 3, 4).resize_(2, 3),
        "one shape for another": lambda: numbers(m, 3, 4).resize_((4, 3)),
        "similar": lambda: m.cosine_similarity(x, x.flip(0)),
    }  # fmt: skip
    answers = run(m, calls)
    for how in ("sum", "mean", "amax"):
        y, z = leaf(m, 3, 4), leaf(m, 2, 3, shift=2)
        answers[f"gradient of {how}"] = gradients(m, y.scatter_reduce(0, places, z, how), [y, z])
    return answers


PROGRAMS = [arranged, selected, elementwise, differentiated, scattered]

if __name__ == "__main__":
    write(PROGRAMS)
