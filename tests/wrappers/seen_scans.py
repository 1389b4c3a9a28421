# SPDX-License-Identifier: Apache-2.0
"""Programs with running extrema, parts of numbers, reductions by index and methods in place, for
test_methods.py. `m` is libdl, or PyTorch, whose answers tests/answered.py stores."""

import math

from wrappers.answers import leaf, numbers
from wrappers.seen_methods import complexes, run, slopes

TOGETHER = True


def scans(m):
    x, flat = numbers(m, 3, 5), m.tensor([1.0, math.nan, 0.0, math.nan, 2.0])
    rows = m.tensor([[1.0, 1.0, 0.5, 1.0, 2.0, 2.0], [3.0, 2.0, 2.0, -1.0, 3.0, -1.0]])
    low = m.tensor([-math.inf, -math.inf, 1.0, -math.inf])
    wide = numbers(m, 40, 2).half()
    calls = {}
    for name in ("cummax", "cummin"):
        f = getattr(m, name)
        calls |= {
            f"{name} {i} {dim}": lambda f=f, g=given, d=dim: tuple(f(g, d))
            for i, given in enumerate(
                (
                    x,
                    flat,
                    rows,
                    (rows * 2).long(),
                    rows > 1,
                    wide,
                    m.zeros(0),
                    m.zeros(2, 0),
                    m.ones(()),
                )
            )
            for dim in (0, -1, 1, 2)
        }
        calls[f"{name} out"] = lambda f=f: tuple(
            f(x, 0, out=(m.empty(0).double(), m.empty(0, dtype=m.int64)))
        )
    return run(
        m,
        calls
        | {
            "complex": lambda: m.cummax(complexes(m, 3), 0),
            "names": lambda: [x.cummax(1).values, x.cummin(0).indices],
            "logs": lambda: (
                [m.logcumsumexp(x, d) for d in (0, 1, -1)]
                + [
                    m.logcumsumexp(x * 400, 1),
                    x.logcumsumexp(0),
                    m.logcumsumexp(m.ones(()), 0),
                    m.logcumsumexp(m.zeros(0), 0),
                ]
            ),
            "logs of infinities": lambda: [
                m.logcumsumexp(low, 0),
                m.logcumsumexp(-low, 0),
                m.logcumsumexp(flat, 0),
            ],
            "logs of integers": lambda: m.logcumsumexp(m.arange(3), 0),
            "logs out of range": lambda: m.logcumsumexp(x, 2),
            "slopes": lambda: [
                slopes(m, lambda x: m.cummax(x, 1)[0], leaf(m, 3, 5)),
                slopes(m, lambda x: m.cummin(x, 0)[0], leaf(m, 3, 5)),
                slopes(m, lambda x: m.logcumsumexp(x, 1), leaf(m, 3, 5)),
            ],
        },
    )


def bits(m):
    odd = m.tensor([1.0, -0.0, 0.0, math.nan, -2.0, math.inf, 1e-45, -3e38, 0.1, 1.0])
    to = m.tensor([2.0, 1.0, -1.0, 1.0, -3.0, 0.0, 0.0, -math.inf, math.nan, 1.0])
    whole, other = m.tensor([4, -6, 0, 35, 12, 2**40]), m.tensor([6, 4, 0, -14, 0, 2**38 * 3])
    calls = {}
    for name in ("float16", "bfloat16", "float32", "float64"):
        dtype = getattr(m, name)
        calls |= {
            f"next {name}": lambda d=dtype: [
                m.nextafter(odd.to(d), to.to(d)).double(),
                m.nextafter(odd.to(d), to[:1].to(d)).double(),
                m.nextafter(to.to(d), odd.to(d)),
            ],
            f"parts {name}": lambda d=dtype: (
                [y.double() for y in m.frexp(odd[:6].to(d))]
                + [y for y in m.frexp(numbers(m, 3, 4).to(d) * 1000)]
            ),
        }
    for name in ("int8", "uint8", "int16", "int32", "int64"):
        dtype = getattr(m, name)
        calls |= {
            f"divisors {name}": lambda d=dtype: [
                m.gcd(whole[:5].to(d), other[:5].to(d)),
                m.lcm(whole[:5].to(d), other[:5].to(d)),
                m.gcd(whole[:5].to(d), other[1]),
            ],
            f"limits {name}": lambda d=dtype: [
                m.gcd(m.tensor([-128, 127, 100]).to(d), m.tensor([-128, 3, 99]).to(d)),
                m.lcm(m.tensor([100, 120]).to(d), m.tensor([99, 50]).to(d)),
            ],
        }
    return run(
        m,
        calls
        | {
            "large": lambda: [m.gcd(whole, other), m.lcm(whole[-1:], other[-1:])],
            "broadcast": lambda: m.gcd(whole.view(2, 3), other[:3]),
            "promoted": lambda: m.gcd(whole.to(m.int8), other.to(m.uint8)),
            "in place": lambda: [
                whole.clone().gcd_(other),
                whole.clone().lcm_(other),
                m.gcd_(whole.clone(), other),
                odd.clone().nextafter_(to),
            ],
            "of floats": lambda: m.gcd(odd, to),
            "of bools": lambda: m.lcm(whole > 0, whole > 0),
            "next of integers": lambda: m.nextafter(whole, other),
            "parts of integers": lambda: m.frexp(whole),
            "next promoted": lambda: [
                m.nextafter(odd, to.double()),
                m.nextafter(odd, m.tensor(2.0).double()),
            ],
            "names": lambda: [m.frexp(odd[:3]).mantissa, m.frexp(odd[:3]).exponent],
            "subnormal": lambda: m.frexp(m.tensor([1e-40, 3e-45])),
            "slopes": lambda: [
                slopes(m, lambda x: m.frexp(x)[0], leaf(m, 3)),
                slopes(m, lambda x: m.nextafter(x, x.detach() + 1), leaf(m, 3)),
            ],
        },
    )


def reduced(m):
    x, src = numbers(m, 4, 3), numbers(m, 5, 3, shift=1)
    at = m.tensor([0, 2, 0, 3, 2])
    calls = {
        f"{how} {keep} {dim}": lambda h=how, k=keep, d=dim: m.index_reduce(
            x if d == 0 else x.T, d, at, src if d == 0 else src.T, h, include_self=k
        )
        for how in ("prod", "mean", "amax", "amin", "sum")
        for keep in (True, False)
        for dim in (0, 1)
    }
    return run(
        m,
        calls
        | {
            "in place": lambda: x.clone().index_reduce_(0, at, src, "amax"),
            "of integers": lambda: m.arange(4).index_reduce(0, at, m.arange(5), "prod"),
            "wrong": lambda: m.index_reduce(x, 0, at[:3], src, "prod"),
            "slopes": lambda: [
                slopes(
                    m,
                    lambda x, y: m.index_reduce(x, 0, at, y, h),
                    leaf(m, 4, 3),
                    leaf(m, 5, 3, shift=1),
                )
                for h in ("prod", "mean", "amax")
            ],
        },
    )


def written(m):
    """Slopes through methods that overwrite what they read."""
    b, at = numbers(m, 2, 3), m.tensor([0, 1])
    calls = {
        "renorm": lambda x: x.renorm_(2, 0, 0.5),
        "logit": lambda x: x.sigmoid().logit_(),
        "sinc": lambda x: x.sinc_(),
        "xlogy": lambda x: x.xlogy_(b.abs() + 1),
        "xlogy of a constant": lambda x: b.clone().xlogy_(x.abs() + 1),
        "deg2rad": lambda x: x.deg2rad_(),
        "frac": lambda x: x.frac_(),
        "clamp_min": lambda x: x.clamp_min_(0.1),
        "ldexp": lambda x: x.ldexp_(b),
        "ldexp of a constant": lambda x: b.clone().ldexp_(x),
        "mvlgamma": lambda x: (x + 4).mvlgamma_(2),
        "polygamma": lambda x: (x + 4).polygamma_(1),
        "float_power": lambda x: (x + 4).float_power_(1.5),
        "addmv": lambda x: b[:, 0].clone().addmv_(x, b[0]),
        "addr": lambda x: x.addr_(b[:, 0], b[0]),
        "addbmm": lambda x: (x @ x.T).addbmm_(x[None], x.T[None]),
        "baddbmm": lambda x: (x @ x.T)[None].clone().baddbmm_(x[None], x.T[None]),
        "index_reduce": lambda x: x.index_reduce_(0, at, b, "prod"),
        "copysign": lambda x: x.copysign_(b),
        "nextafter": lambda x: x.nextafter_(b),
        "nan_to_num": lambda x: x.nan_to_num_(),
    }
    return run(
        m,
        {
            name: lambda f=f: slopes(m, lambda x: f(x * 1), leaf(m, 2, 3, shift=2))
            for name, f in calls.items()
        },
    )


PROGRAMS = [scans, bits, reduced, written]
