# SPDX-License-Identifier: Apache-2.0
"""Programs with functions and methods that PyTorch composes of others, for test_methods.py. `m` is
libdl, or PyTorch, whose answers tests/answered.py stores."""

import math
import warnings

from wrappers.answers import digest, gradients, leaf, numbers, told

TOGETHER = True


def shown(m, x):
    """The dtype and the digest of tensors, wherever they are."""
    if isinstance(x, m.Tensor):
        if x.is_floating_point():  # an infinity by a number of its own
            x = m.where(m.isinf(x), x.sign() * 7.5, x)
        return [
            str(x.dtype).split(".")[-1],
            *digest(m, m.view_as_real(x.resolve_conj()) if x.is_complex() else x),
        ]
    if isinstance(x, (tuple, list)):
        return [shown(m, y) for y in x]
    if isinstance(x, dict):
        return x
    return x if isinstance(x, (bool, int, float, str)) or x is None else str(x)


def run(m, calls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: shown(m, told(call)) for name, call in calls.items()}


def slopes(m, function, *leaves):
    """The gradients of all results of a function with all leaves."""
    made = function(*leaves)
    each = made if isinstance(made, (tuple, list)) else [made]
    return gradients(m, m.cat([y.reshape(-1) for y in each]), list(leaves))


def gaps(m, *shape):
    x = numbers(m, *shape)
    x[1] = math.nan
    x[0, 2] = math.nan
    return x


def complexes(m, *shape):
    return m.complex(numbers(m, *shape), numbers(m, *shape, shift=0.4))


def products(m):
    a, v, w = numbers(m, 2, 3), numbers(m, 3), numbers(m, 2, shift=1)
    p, q = numbers(m, 4, 2, 3), numbers(m, 4, 3, 5)
    calls = {}
    for beta, alpha in ((1, 1), (0.5, 2), (0, 3)):
        for start in (numbers(m), numbers(m, 1), w):
            calls[f"addmv {beta} {list(start.shape)}"] = lambda s=start, b=beta, k=alpha: m.addmv(
                s, a, v, beta=b, alpha=k
            )
        for start in (numbers(m), v, a, numbers(m, 3, 3)):
            calls[f"addr {beta} {list(start.shape)}"] = lambda s=start, b=beta, k=alpha: m.addr(
                s, w, v, beta=b, alpha=k
            )
        for start in (numbers(m), numbers(m, 2, 1), numbers(m, 2, 5), numbers(m, 3, 5)):
            calls[f"addbmm {beta} {list(start.shape)}"] = lambda s=start, b=beta, k=alpha: m.addbmm(
                s, p, q, beta=b, alpha=k
            )
    nothing = m.full((2,), math.nan).double()
    return run(
        m,
        calls
        | {
            "NaN is not read": lambda: [
                nothing.addmv(a, v, beta=0),
                m.full((2, 3), math.nan).double().addr(w, v, beta=0),
            ],
            "wrong": lambda: m.addmv(w, a, w),
            "wrong too": lambda: m.addmv(v, v, v),
            "wrong batch": lambda: m.addbmm(w, p, q[:3]),
            "wrong vectors": lambda: m.addr(a, a, v),
            "in place": lambda: [
                w.clone().addmv_(a, v),
                a.clone().addr_(w, v, alpha=2),
                numbers(m, 2, 5).addbmm_(p, q, beta=2),
                numbers(m, 4, 2, 5).baddbmm_(p, q),
                a.clone().renorm_(2, 0, 0.5),
            ],
            "of integers": lambda: [
                m.addmv(m.arange(2), m.arange(6).view(2, 3), m.arange(3)),
                m.addr(m.arange(3), m.arange(2), m.arange(3), alpha=2),
            ],
            "vdot": lambda: [m.vdot(v, v), m.vdot(complexes(m, 3), complexes(m, 3)), v.vdot(v)],
            "vdot of matrices": lambda: m.vdot(a, a),
            "chain": lambda: [m.chain_matmul(a), m.chain_matmul(a, a.T, a)],
            "power": lambda: [numbers(m, 2, 3, 3).matrix_power(n) for n in (0, 1, 3)],
            **{
                f"renorm {k} {dim}": lambda k=k, dim=dim: m.renorm(a, k, dim, 1.0)
                for k in (1, 2, 3.5, math.inf, -1)
                for dim in (0, -1, 2)
            },
            "renorm of a vector": lambda: m.renorm(v, 2, 0, 1.0),
            "out": lambda: m.addmv(w, a, v, out=m.empty(0).double()),
            "slopes": lambda: [
                slopes(m, m.addmv, leaf(m, 2), leaf(m, 2, 3), leaf(m, 3)),
                slopes(m, m.addr, leaf(m, 2, 3), leaf(m, 2), leaf(m, 3)),
                slopes(m, m.addbmm, leaf(m, 2, 5), leaf(m, 4, 2, 3), leaf(m, 4, 3, 5)),
                slopes(m, lambda x: m.renorm(x, 2, 0, 1.0), leaf(m, 3, 4)),
                slopes(m, m.vdot, leaf(m, 3), leaf(m, 3, shift=1)),
            ],
        },
    )


def parts(m):
    x, y, c = numbers(m, 3, 4), numbers(m, 2, 3, 4), numbers(m, 4, shift=2)
    src, calls = numbers(m, 3, shift=1), {}
    for name in ("hsplit", "vsplit", "dsplit"):
        for given in (m.ones(()), c, x, y):
            for wanted in (2, 0, [1], [1, -1], (3,)):
                calls[f"{name} {given.ndim} {wanted}"] = lambda n=name, g=given, w=wanted: getattr(
                    m, n
                )(g, w)
    for name, args in (
        ("alias", ()),
        ("as_strided", ((2,), (3,), 1)),
        ("detach", ()),
        ("diagonal", (1,)),
        ("expand", ((2, 3, 4),)),
        ("narrow", (1, 1, 2)),
        ("permute", ((1, 0),)),
        ("select", (1, 2)),
        ("slice", (1, 0, 3, 2)),
        ("split", (2, 1)),
        ("split_with_sizes", ([1, 3], 1)),
        ("squeeze", ()),
        ("t", ()),
        ("transpose", (0, 1)),
        ("unbind", (1,)),
        ("unfold", (1, 2, 1)),
        ("unsqueeze", (1,)),
        ("view", ((2, 6),)),
    ):

        def strided(name=name, args=args):
            made = getattr(m, name + "_copy")(x, *args)
            each = made if isinstance(made, (tuple, list)) else [made]
            return [made, [list(z.stride()) for z in each], each[0].data_ptr() == x.data_ptr()]

        calls[f"{name}_copy"] = strided
    return run(
        m,
        calls
        | {
            "select": lambda: [m.select_scatter(x, src, 1, k) for k in (0, -1)],
            "select wrong": lambda: x.select_scatter(c, 1, 0),
            "slice": lambda: [m.slice_scatter(x, src[:, None], 1, k, k + 1) for k in (0, 2)],
            "slice steps": lambda: x.slice_scatter(numbers(m, 3, 2), dim=-1, step=2),
            "slice wrong": lambda: m.slice_scatter(x, src, 1, 1),
            "no such dim": lambda: m.slice_scatter(x, src, 2, 1),
            "diagonal": lambda: [
                m.diagonal_scatter(x, src),
                m.diagonal_scatter(x, src, 1),
                x.diagonal_scatter(src[:2], -1),
            ],
            "diagonal wrong": lambda: m.diagonal_scatter(x, src[:1]),
            "strided": lambda: (
                [m.as_strided_scatter(z, src, (3,), (2,), k) for k in (0, 1) for z in (x, x.T)]
                + [m.as_strided_scatter(x[1:], src, (3,), (1,), 5)]
            ),
            "kept dtype": lambda: m.select_scatter(m.arange(3), m.tensor(2.5), 0, 0),
            "chunks": lambda: [
                m.unsafe_chunk(x, 3, 1),
                m.unsafe_split(x, 2),
                x.unsafe_split(3, 1),
                m.unsafe_split_with_sizes(x, [1, 2]),
                x.unsafe_chunk(2),
            ],
            "argwhere": lambda: [
                m.argwhere(x > 0),
                (x > 0).argwhere(),
                m.argwhere(m.tensor(1.0)),
                m.nonzero_static(x > 0, size=4),
                (x > 2).nonzero_static(size=2, fill_value=7),
            ],
            "flips": lambda: [m.fliplr(x), x.flipud(), m.flipud(c), y.fliplr()],
            "fliplr of a vector": lambda: m.fliplr(c),
            "flipud of a number": lambda: m.flipud(m.ones(())),
            "turned": lambda: [
                m.adjoint(y),
                m.ravel(x.T),
                m.row_stack((c, c)),
                complexes(m, 2, 3).adjoint(),
            ],
            "diagflat": lambda: [m.diagflat(x), c.diagflat(1), m.diagflat(m.ones(()), -1)],
            "msort": lambda: [m.msort(x), c.msort(), m.msort(m.ones(())), m.msort(x > 0)],
            "slopes": lambda: [
                slopes(m, lambda a, b: m.select_scatter(a, b, 1, 0), leaf(m, 3, 4), leaf(m, 3)),
                slopes(
                    m, lambda a, b: m.slice_scatter(a, b, 1, 1, 3), leaf(m, 3, 4), leaf(m, 3, 2)
                ),
                slopes(m, lambda a, b: m.diagonal_scatter(a, b), leaf(m, 3, 4), leaf(m, 3)),
                slopes(m, m.msort, leaf(m, 3, 4)),
                slopes(m, m.diagflat, leaf(m, 2, 2)),
            ],
        },
    )


def statistics(m):
    x, v = numbers(m, 3, 5), numbers(m, 6)
    often, much = m.tensor([1, 2, 0, 3, 1]), numbers(m, 5).abs()
    calls = {
        f"{name} {i}": lambda f=name, g=given: getattr(m, f)(g)
        for name in ("cov", "corrcoef")
        for i, given in enumerate(
            (
                x,
                v,
                complexes(m, 3, 4),
                m.arange(8).view(2, 4) ** 2,
                numbers(m),
                numbers(m, 2, 3, 4),
                x > 0,
            )
        )
    }
    for correction in (0, 1, 2):
        calls |= {
            f"often {correction}": lambda c=correction: m.cov(x, correction=c, fweights=often),
            f"much {correction}": lambda c=correction: m.cov(x, correction=c, aweights=much),
            f"both {correction}": lambda c=correction: x.cov(
                correction=c, fweights=often, aweights=much
            ),
        }
    for density in (False, True):
        calls |= {
            f"bins {density}": lambda d=density: [
                tuple(m.histogram(v, 3, density=d)),
                tuple(m.histogram(v, 4, range=(-0.5, 0.5), weight=v.abs(), density=d)),
                tuple(x.histogram(m.tensor([-1.0, 0.0, 0.3, 1.0]).double(), density=d)),
            ],
            f"many {density}": lambda d=density: [
                tuple(m.histogramdd(x[:, :2].contiguous(), [2, 3], density=d)),
                tuple(
                    m.histogramdd(x[:, :2].contiguous(), 2, range=[-1.0, 1.0, 0.0, 2.0], density=d)
                ),
                tuple(
                    m.histogramdd(
                        x.view(5, 3),
                        [m.tensor([-1.0, 0.0, 1.0]).double()] * 3,
                        weight=much,
                        density=d,
                    )
                ),
            ],
        }
    for dim in (None, 0, (0, 1), -1):
        for keep in (False, True):
            for name in ("nansum", "nanmean"):
                calls[f"{name} {dim} {keep}"] = lambda n=name, d=dim, k=keep: getattr(m, n)(
                    gaps(m, 3, 5), d, k
                )
    return run(
        m,
        calls
        | {
            "negative weights": lambda: m.cov(x, aweights=-much),
            "weights of another size": lambda: m.cov(x, fweights=often[:3]),
            "weights of another kind": lambda: m.cov(x, fweights=much),
            "equal": lambda: tuple(m.histogram(m.ones(4).double(), 2)),
            "nothing": lambda: tuple(m.histogram(m.ones(0).double(), 2)),
            "with NaN": lambda: tuple(m.histogram(gaps(m, 3, 4), 2, range=(-1.0, 1.0))),
            "of integers": lambda: m.histogram(m.arange(4), 2),
            "no bins": lambda: m.histogram(v, 0),
            "reversed": lambda: m.histogram(v, 2, range=(1.0, 0.0)),
            "names": lambda: [m.histogram(v, 2).hist, m.histogram(v, 2).bin_edges],
            "sums": lambda: [
                m.nansum(m.arange(4)),
                m.nansum(x > 0, 0),
                m.nansum(x, dtype=m.float32),
            ],
            "means of integers": lambda: m.nanmean(m.arange(4)),
            "sums of complex": lambda: m.nansum(complexes(m, 3)),
            "to size": lambda: [
                x.sum_to_size(5),
                x.sum_to_size(1, 5),
                x.sum_to_size((3, 1)),
                x.sum_to_size(()),
                x.sum_to_size(3, 5),
            ],
            "to a wrong size": lambda: x.sum_to_size(2),
            "to a larger one": lambda: v.sum_to_size(3, 6),
            "slopes": lambda: [
                slopes(m, m.cov, leaf(m, 3, 4)),
                slopes(m, m.corrcoef, leaf(m, 3, 4)),
                slopes(m, lambda x: x.sum_to_size(1, 3), leaf(m, 2, 3)),
                slopes(m, lambda x: m.nansum(x, 0), leaf(m, 2, 3)),
            ],
        },
    )


def calculus(m):
    x, v = numbers(m, 3, 4), numbers(m, 4)
    at, calls = m.tensor([0.0, 1.0, 2.5, 3.0]).double(), {}
    for order in (1, 2):
        for i, spacing in enumerate((None, 0.5, (2.0, 0.1), [at[[0, 1, 3]], at], [at])):
            for dim in (None, 1, (0, 1), -1, 2):
                named = {} if spacing is None else {"spacing": spacing}
                calls[f"{order} {i} {dim}"] = lambda n=named, d=dim, o=order: m.gradient(
                    x, dim=d, edge_order=o, **n
                )
    for name in ("trapezoid", "trapz", "cumulative_trapezoid"):
        f = getattr(m, name)
        calls |= {
            name: lambda f=f: [
                f(v),
                f(x),
                f(x, dim=0),
                f(x, at),
                f(x, x, dim=0),
                f(m.arange(4)),
                f(x[:, :1]),
            ],
            f"{name} in steps": lambda f=f: [f(x, dx=0.5), f(x, dx=2, dim=0)],
        }
    return run(
        m,
        calls
        | {
            "of two": lambda: m.gradient(v[:2]),
            "of one": lambda: m.gradient(v[:1]),
            "of integers": lambda: m.gradient(m.arange(5) ** 2),
            "order 3": lambda: m.gradient(v, edge_order=3),
            "complex": lambda: m.gradient(complexes(m, 5)),
            "differences": lambda: [m.diff(x), m.diff(x, 2, 0), m.diff(v, prepend=v, append=at)],
            "slopes": lambda: [
                slopes(m, m.gradient, leaf(m, 3, 4)),
                slopes(
                    m,
                    lambda x, p: m.gradient(x, spacing=[p], edge_order=2),
                    leaf(m, 5),
                    m.arange(5).double().square().requires_grad_(),
                ),
                slopes(m, m.cumulative_trapezoid, leaf(m, 3, 4)),
            ],
        },
    )


def arithmetic(m):
    x, whole = numbers(m, 2, 3), m.arange(3)
    odd = m.tensor([1.0, -math.inf, math.nan, math.inf, 0.0])
    base = [x.abs(), 2, whole, 0.5, x.abs().float(), complexes(m, 3), 1j]
    calls = {
        f"power {i} {j}": lambda a=a, b=b: m.float_power(a, b)
        for i, a in enumerate(base)
        for j, b in enumerate(base)
        if isinstance(a, m.Tensor) or isinstance(b, m.Tensor)
    }
    for dtype in ("float32", "int64", "bool", "complex64", "uint8", "float16"):
        given = m.ones(2, dtype=getattr(m, dtype))
        calls |= {
            f"tests {dtype} {name}": lambda g=given, n=name: getattr(m, n)(g)
            for name in ("isreal", "isposinf", "isneginf", "positive", "is_signed")
        } | {
            f"rsub {dtype}": lambda g=given: m.rsub(g if g.dtype != m.bool else whole, 3),
            f"rsub tensor {dtype}": lambda g=given: m.rsub(
                g if g.dtype != m.bool else whole[:2], whole[:2], alpha=2
            ),
            f"fill {dtype}": lambda g=given: [m.fill(g, 1), m.fill(g, m.tensor(1))],
            f"ldexp {dtype}": lambda g=given: m.ldexp(g, whole[:2]),
        }
    return run(
        m,
        calls
        | {
            "infinities": lambda: [m.isposinf(odd), odd.isneginf(), m.isreal(complexes(m, 3))],
            "in place": lambda: [
                x.clone().float_power_(2),
                x.clone().ldexp_(m.tensor(2)),
                (x.abs() + 2).mvlgamma_(2),
                x.abs().polygamma_(1),
            ],
            "in place wrong": lambda: whole.clone().float_power_(2),
            "float power of float32": lambda: x.float().float_power_(2),
            "gamma": lambda: (
                [m.mvlgamma(x.abs() + 2, p) for p in (1, 2, 3)]
                + [m.mvlgamma(whole + 4, 2), (x.abs() + 1).polygamma(2)]
            ),
            "gamma of order 0": lambda: m.mvlgamma(x, 0),
            "fill by a vector": lambda: m.fill(x, m.ones(1)),
            "put": lambda: (
                [m.put(x, m.tensor([0, 5, 0]), numbers(m, 3), accumulate=k) for k in (True,)]
                + [x.put(m.tensor([0, 5]), numbers(m, 2))]
            ),
            "rsub numbers": lambda: [m.rsub(x, x.T.reshape(2, 3)), m.rsub(x, 1, alpha=0.5)],
            "scaled": lambda: m.ldexp(
                m.tensor([2e-38, 1e-40, 0.0, 1.0]), m.tensor([130, 140, 200, -140])
            ),
            "slopes": lambda: [
                slopes(m, lambda x: m.float_power(x * x + 1, 1.5), leaf(m, 3)),
                slopes(m, lambda x: m.mvlgamma(x * x + 2, 2), leaf(m, 3)),
                slopes(m, m.ldexp, leaf(m, 3), leaf(m, 3, shift=1)),
                slopes(m, lambda x: m.fill(x, 2) + 0 * x, leaf(m, 3)),
                slopes(m, m.rsub, leaf(m, 3), leaf(m, 3)),
                slopes(m, lambda x, y: m.put(x, m.tensor([3, 0]), y), leaf(m, 2, 3), leaf(m, 2)),
            ],
        },
    )


def made(m):
    v, x = numbers(m, 3), numbers(m, 2, 3)
    calls = {
        f"{name} {row} {col} {k}": lambda n=name, r=row, c=col, k=k: getattr(m, n)(r, c, k)
        for name in ("tril_indices", "triu_indices")
        for row, col in ((3, 2), (2, 4), (0, 3), (-1, 2))
        for k in (-1, 0, 2, -5)
    }
    for bounds in ((1, 4), (1, 4, 0.5), (0, 1, 0.3), (3, 0, -1), (4, 1), (0, 1, 0), (2, 2)):
        calls[f"range {bounds}"] = lambda b=bounds: m.range(*b)
    for n in (None, 0, 1, 2, 5, -1):
        for up in (False, True):
            calls[f"powers {n} {up}"] = lambda n=n, up=up: m.vander(v, n, up)
    return run(
        m,
        calls
        | {
            "other dtypes": lambda: [
                m.tril_indices(2, 3, dtype=m.int32),
                m.range(0, 2, dtype=m.int64),
                m.vander(m.arange(3)),
            ],
            "no end": lambda: m.range(),
            "powers of a matrix": lambda: m.vander(x),
            "orders": lambda: [
                list(m.empty_permuted((2, 3, 4), p).stride()) for p in ((2, 0, 1), (0, 1, 2))
            ],
            "no order": lambda: m.empty_permuted((2, 3), (0, 0)),
            "strided": lambda: list(x.new_empty_strided((2, 2), (1, 2)).stride()),
            "dim order": lambda: [list(x.dim_order()), list(x.T.dim_order())],
            "questions": lambda: [
                x.get_device(),
                m.get_device(x),
                m.is_nonzero(m.ones(1, 1)),
                m.zeros(1).is_nonzero(),
                m.is_same_size(x, v),
                m.is_inference(x),
                m.is_conj(x),
                x.is_neg(),
                m.is_signed(m.ones(1, dtype=m.uint8)),
                x.is_distributed(),
                m.resolve_conj(x) is x,
                x.resolve_neg() is x,
            ],
            "not one": lambda: m.is_nonzero(v),
            "none": lambda: m.is_nonzero(m.ones(0)),
            "sizes": lambda: [
                m.sym_max(1, 2),
                m.sym_max(1, 0.5),
                m.sym_min(3, 2),
                m.sym_not(0),
                m.sym_int(2.5),
                m.sym_float(2),
                m.sym_ite(True, 1, 2),
                m.sym_sum([1, 2]),
            ],
        },
    )


def memory(m):
    def set_to(*args):
        x = m.zeros(2, 3)
        return x.set_(*args)

    y = m.arange(6.0)
    kinds = tuple(
        """
        Float Double Half BFloat16 Long Int Short Char Byte Bool ComplexFloat ComplexDouble
    """.split()
    )
    return run(
        m,
        {
            "set": lambda: [
                set_to(),
                set_to(y),
                set_to(y.storage(), 1, (2, 2), (2, 1)),
                set_to(y.untyped_storage(), 1, (2,), (3,)),
                set_to(y, 2, (3,)),
            ],
            "set to another dtype": lambda: set_to(m.arange(3)),
            "resize": lambda: [y.resize(2, 3), y.resize_as(m.ones(6, 1))],
            "resize to another size": lambda: y.resize(7),
            "strided": lambda: m.as_strided_(m.arange(6.0), (2,), (3,), 1),
            "map": lambda: m.zeros(2).map_(m.arange(2.0), lambda a, b: a + b + 1),
            "map of two": lambda: m.ones(2).map2_(
                m.arange(2.0), m.ones(2), lambda a, b, c: a + b * c
            ),
            "reinforce": lambda: y.reinforce(1),
            "kinds": lambda: [
                [
                    isinstance(y.storage(), getattr(m, k + "Storage")),
                    getattr(m, k + "Storage")(3).size(),
                    str(getattr(m, k + "Storage")([1, 0]).dtype).split(".")[-1],
                    getattr(m, k + "Storage")([1, 0]).tolist() == [1, 0],
                ]
                for k in kinds
            ],
            "of tensors": lambda: [
                y.storage_type() is m.FloatStorage,
                m.Storage is m.FloatStorage,
                isinstance(y.untyped_storage(), m.UntypedStorage),
                isinstance(y.storage(), m.TypedStorage),
                isinstance(y, m.FloatStorage),
                m.UntypedStorage(5).nbytes(),
            ],
        },
    )


PROGRAMS = [products, parts, statistics, calculus, arithmetic, made, memory]
