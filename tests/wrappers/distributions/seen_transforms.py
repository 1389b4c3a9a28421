# SPDX-License-Identifier: Apache-2.0
"""Programs with the transforms and constraints of distributions, for
test_distributions_transforms.py. `m` is libdl, or PyTorch, whose answers tests/answered.py
stores."""

import math

from wrappers.answers import numbers, told
from wrappers.distributions.seen_distributions import covariance, parts, simplex, spread, tensor

TOGETHER = True


def every(m):
    """A transform of each kind, and what it is applied to."""
    D = m.distributions
    T = D.transforms
    real, positive = numbers(m, 2, 3) * 2, spread(m, 2, 3, low=0.1, high=4.0)
    scale = tensor(m, [2.0, -0.5, 3.0])
    return {
        "identity": (D.identity_transform, real),
        "Exp": (T.ExpTransform(), real),
        "Power": (T.PowerTransform(tensor(m, 2.5)), positive),
        "Power of three": (T.PowerTransform(tensor(m, [-1.0, 2.0, 0.5])), positive),
        "Sigmoid": (T.SigmoidTransform(), real),
        "Sigmoid far": (T.SigmoidTransform(), tensor(m, [-800.0, 40.0])),
        "Softplus": (T.SoftplusTransform(), real),
        "Tanh": (T.TanhTransform(), real),
        "Tanh far": (T.TanhTransform(), tensor(m, [-30.0, 5.0])),
        "Abs": (T.AbsTransform(), real),
        "Affine": (T.AffineTransform(1.0, scale), real),
        "Affine numbers": (T.AffineTransform(1.0, -2.0), real),
        "Affine events": (T.AffineTransform(scale, 3.0, event_dim=1), real),
        "Softmax": (T.SoftmaxTransform(), real),
        "StickBreaking": (T.StickBreakingTransform(), real),
        "LowerCholesky": (T.LowerCholeskyTransform(), numbers(m, 2, 3, 3)),
        "PositiveDefinite": (T.PositiveDefiniteTransform(), numbers(m, 2, 3, 3)),
        "CorrCholesky": (T.CorrCholeskyTransform(), numbers(m, 2, 6)),
        "CorrCholesky of two": (T.CorrCholeskyTransform(), numbers(m, 2, 1)),
        "Reshape": (T.ReshapeTransform((6,), (2, 3)), numbers(m, 4, 6)),
        "Independent": (T.IndependentTransform(T.ExpTransform(), 1), real),
        "Cat": (
            T.CatTransform([T.ExpTransform(), T.AffineTransform(1.0, 3.0)], dim=1, lengths=[1, 2]),
            real,
        ),
        "Cat events": (
            T.CatTransform(
                [
                    T.AffineTransform(0.0, 2.0, event_dim=1),
                    T.AffineTransform(1.0, 3.0, event_dim=1),
                ],
                dim=-1,
                lengths=[1, 2],
            ),
            real,
        ),
        "Stack": (
            T.StackTransform([T.ExpTransform(), T.TanhTransform(), T.SigmoidTransform()], dim=1),
            real,
        ),
        "Compose": (
            T.ComposeTransform(
                [T.AffineTransform(1.0, scale), T.ExpTransform(), T.AffineTransform(-1.0, 2.0)]
            ),
            real,
        ),
        "Compose events": (
            T.ComposeTransform([T.AffineTransform(1.0, scale), T.StickBreakingTransform()]),
            real,
        ),
        "Cumulative": (T.CumulativeDistributionTransform(D.Normal(tensor(m, 1.0), 2.0)), real),
    }


def of(m, call, *args):
    return parts(m, told(call, *args))


def values(m):
    answers = {}
    for name, (t, x) in every(m).items():
        y = t(x)
        answers[name] = [
            parts(m, y),
            of(m, t.inv, y),
            of(m, t.log_abs_det_jacobian, x, y),
            of(m, t.inv.log_abs_det_jacobian, y, x),
            list(y.shape),
            told(lambda t=t, x=x: list(t.forward_shape(x.shape))),
            told(lambda t=t, y=y: list(t.inverse_shape(y.shape))),
        ]
    return answers


def natures(m):
    answers = {}
    for name, (t, x) in every(m).items():
        answers[name] = [
            t.bijective,
            of(m, lambda t=t: t.sign),
            told(lambda t=t: t.event_dim),
            repr(t.domain),
            repr(t.codomain),
            t.domain.event_dim,
            t.codomain.event_dim,
            repr(t),
            repr(t.inv),
            t.inv.inv is t,
            repr(t.inv.domain),
            repr(t.with_cache()),
            t == t,
            t.inv == t.inv,
            parts(m, t.domain.check(x)),
            told(lambda t=t, x=x: parts(m, t.codomain.check(t(x)))),
        ]
    for name in ("Affine", "Exp", "Power", "Compose", "Tanh", "Power of three"):
        a, b = every(m)[name][0], every(m)[name][0]
        answers[f"equal {name}"] = [a == b, a.inv == b.inv, a == a.inv, a != b]
    return answers


def caches(m):
    T, x = m.distributions.transforms, numbers(m, 3)
    answers = []
    for t in (
        T.ExpTransform(cache_size=1),
        T.ExpTransform(),
        T.ExpTransform().with_cache(),
        T.ComposeTransform([T.ExpTransform(), T.TanhTransform()], cache_size=1),
        T.IndependentTransform(T.ExpTransform(), 1, cache_size=1),
    ):
        y = t(x)
        answers.append([t.inv(y) is x, t(x) is y, t.inv(y.clone()) is x])
    answers.append(told(T.ExpTransform, cache_size=2))
    return answers


def slopes(m):
    answers = {}
    for name, (t, x) in every(m).items():
        x = x.clone().requires_grad_()
        y = t(x)
        (g,) = m.autograd.grad((y * numbers(m, *y.shape)).sum(), x)
        answers[name] = [parts(m, g)]
        change = told(t.log_abs_det_jacobian, x, t(x))
        if isinstance(change, m.Tensor) and change.requires_grad:
            total = (change * numbers(m, *change.shape)).sum()
            answers[name].append(parts(m, m.autograd.grad(total, x)[0]))
    return answers


def constraint_cases(m):
    """Each constraint, and values of which some belong to it."""
    c = m.distributions.constraints
    line = tensor(m, [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, math.nan, math.inf, -math.inf])
    tril = m.tensor([[1.2, 0, 0], [0.3, 0.8, 0], [-0.4, 0.2, 1.5]], dtype=m.float64)
    S = covariance(m)
    squares = m.stack([tril, S, -S, S + 1e-3 * tril, m.eye(3, dtype=m.float64), tril * 0])
    rows = m.stack(
        [
            simplex(m, 3),
            tensor(m, [1, 0, 0]),
            tensor(m, [1, 1, 0]),
            tensor(m, [0.5, 0.6, -0.1]),
            tensor(m, [0, 0, 0]),
            tensor(m, [2, 1, 0]),
        ]
    )
    return {
        **{
            name: (getattr(c, name), line)
            for name in tuple(
                """
                real boolean positive nonnegative unit_interval nonnegative_integer positive_integer
            """.split()
            )
        },
        "greater_than": (c.greater_than(-0.5), line),
        "less_than": (c.less_than(1.0), line),
        "greater_than_eq": (c.greater_than_eq(-0.5), line),
        "interval": (c.interval(-1.0, 2.0), line),
        "half_open_interval": (c.half_open_interval(-1.0, 2.0), line),
        "integer_interval": (c.integer_interval(-1, 2), line),
        **{name: (getattr(c, name), rows) for name in ("simplex", "one_hot", "real_vector")},
        "multinomial": (c.multinomial(2), rows),
        "independent": (c.independent(c.positive, 1), rows),
        "independent 2": (c.independent(c.nonnegative, 2), rows),
        **{
            name: (getattr(c, name), squares)
            for name in tuple(
                """
                lower_triangular lower_cholesky corr_cholesky square symmetric positive_definite
            """.split()
            )
        },
        "square no": (c.square, rows),
        "symmetric no": (c.symmetric, rows),
        "cat": (c.cat([c.positive, c.unit_interval], dim=1, lengths=[1, 2]), rows),
        "stack": (c.stack([c.positive, c.unit_interval, c.real], dim=1), rows),
    }


def constraints(m):
    c = m.distributions.constraints
    answers = {}
    for name, (constraint, value) in constraint_cases(m).items():
        found = constraint.check(value)
        answers[name] = [
            found.tolist(),
            str(found.dtype).split(".")[-1],
            constraint.event_dim,
            constraint.is_discrete,
            type(constraint).__name__,
        ]
    u, D = m.distributions.Uniform(0.0, 1.0), m.distributions
    answers["dependent"] = [
        c.is_dependent(D.Uniform.support),
        c.is_dependent(u.support),
        c.is_dependent(c.dependent),
        D.Uniform.support.event_dim,
        D.Uniform.support.is_discrete,
        told(lambda: c.dependent.event_dim),
        told(lambda: c.dependent.check(numbers(m, 2))),
        c.dependent(is_discrete=True, event_dim=1).event_dim,
        repr(c.dependent),
        repr(u.support),
        told(lambda: c.independent(c.real, 2).check(numbers(m, 3))),
    ]
    answers["shown"] = [
        repr(getattr(c, name))
        for name in tuple(
            """
            real boolean positive nonnegative_integer unit_interval simplex one_hot lower_cholesky
            positive_definite real_vector
        """.split()
        )
    ]
    return answers


def registries(m):
    D, answers = m.distributions, {}
    for name, (constraint, _) in constraint_cases(m).items():
        for registry in ("biject_to", "transform_to"):
            t = told(getattr(D, registry), constraint)
            answers[f"{registry} {name}"] = t if isinstance(t, dict) else repr(t)
    own = D.constraint_registry.ConstraintRegistry()
    own.register(D.constraints.real, lambda constraint: "real")
    own.register(type(D.constraints.simplex))(lambda constraint: "simplex")
    answers["own"] = [
        own(D.constraints.real),
        own(D.constraints.simplex),
        told(own, D.constraints.boolean),
        told(own.register, 3, 4),
    ]
    return answers


def errors(m):
    D = m.distributions
    T = D.transforms
    return [
        told(call)
        for call in (
            lambda: T.ReshapeTransform((6,), (2, 2)),
            lambda: T.ReshapeTransform((6,), (2, 3))(numbers(m, 5)),
            lambda: T.ReshapeTransform((6,), (2, 3)).forward_shape((5,)),
            lambda: T.CorrCholeskyTransform().forward_shape((5,)),
            lambda: T.CorrCholeskyTransform().inverse_shape((2, 3)),
            lambda: T.SoftmaxTransform().forward_shape(()),
            lambda: T.IndependentTransform(T.ExpTransform(), 2)(numbers(m, 3)),
            lambda: T.AbsTransform().log_abs_det_jacobian(numbers(m, 3), numbers(m, 3)),
            lambda: T.AbsTransform().sign,
            lambda: T.StickBreakingTransform().sign,
            lambda: T.Transform()(numbers(m, 3)),
        )
    ]


PROGRAMS = [values, natures, caches, slopes, constraints, registries, errors]
