# SPDX-License-Identifier: Apache-2.0
"""What a program calls is one call for __torch_function__ and one node for fx, under the name that
was called, however the function is composed; as in PyTorch."""

import pytest

import libdl
from libdl import fx, func
from libdl.overrides import get_overridable_functions, resolve_name

SEEN = []


class Watching(libdl.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        SEEN.append((resolve_name(func), len(args), sorted(kwargs or {})))
        return super().__torch_function__(func, types, args, kwargs or {})


linalg, special, F = libdl.linalg, libdl.special, libdl.nn.functional
x = libdl.tensor([[0.5, 0.25, 0.75], [0.9, 0.1, 0.6], [0.2, 0.4, 0.3]])
image = x.view(1, 1, 3, 3)
grid = libdl.zeros(1, 2, 2, 2)
w, b = libdl.ones(3), libdl.zeros(3)


def of(function, *more):
    return lambda a: function(a, *more)


# name, call of a tensor, the tensor, how many arguments are told by position, and which by name
CALLS = [
    ("linalg.norm", lambda a: linalg.norm(a), x, 1, []),
    ("linalg.norm", lambda a: linalg.norm(a, 1, dim=0), x, 2, ["dim"]),
    ("linalg.vector_norm", lambda a: linalg.vector_norm(a, ord=3), x, 1, ["ord"]),
    ("linalg.matrix_norm", lambda a: linalg.matrix_norm(a, "nuc"), x, 2, []),
    ("linalg.cross", lambda a: linalg.cross(a, x), x, 2, []),
    ("linalg.vecdot", lambda a: linalg.vecdot(a, x, dim=0), x, 2, ["dim"]),
    ("linalg.matrix_power", lambda a: linalg.matrix_power(a, 3), x, 2, []),
    ("linalg.multi_dot", lambda a: linalg.multi_dot([a, x, a]), x, 1, []),
    ("linalg.vander", lambda a: linalg.vander(a, N=2), x, 1, ["N"]),
    ("linalg.diagonal", lambda a: linalg.diagonal(a, offset=1), x, 1, ["offset"]),
    ("linalg.matmul", lambda a: linalg.matmul(a, x), x, 2, []),
    *(
        (f"special.{name}", of(getattr(special, name)), x, 1, [])
        for name in (
            "digamma psi erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e log1p "
            "log_ndtr logit ndtr ndtri round sinc"
        ).split()
    ),
    *(
        (f"special.{name}", of(getattr(special, name), x), x, 2, [])
        for name in ("gammainc", "gammaincc", "xlog1py", "xlogy")
    ),
    ("special.logsumexp", lambda a: special.logsumexp(a, 0), x, 2, []),
    ("special.softmax", lambda a: special.softmax(a, dim=0), x, 1, ["dim"]),
    ("special.log_softmax", lambda a: special.log_softmax(a, 0), x, 2, []),
    ("special.polygamma", lambda a: special.polygamma(1, a), x, 2, []),
    ("constant_pad_nd", lambda a: libdl.constant_pad_nd(a, (1, 1)), x, 2, []),
    ("grid_sampler", lambda a: libdl.grid_sampler(a, grid, 0, 0, False), image, 5, []),
    ("grid_sampler_2d", lambda a: libdl.grid_sampler_2d(a, grid, 0, 0, False), image, 5, []),
    ("native_layer_norm", lambda a: libdl.native_layer_norm(a, [3], w, b, 1e-5)[0], x, 5, []),
    (
        "native_group_norm",
        lambda a: libdl.native_group_norm(a, w, b, 3, 3, 1, 1, 1e-5)[0],
        x,
        8,
        [],
    ),
    (
        "native_batch_norm",
        lambda a: libdl.native_batch_norm(a, w, b, None, None, True, 0.1, 1e-5)[0],
        x,
        8,
        [],
    ),
    (
        "batch_norm",
        lambda a: libdl.batch_norm(a, w, b, None, None, True, 0.1, 1e-5, False),
        x,
        9,
        [],
    ),
    ("layer_norm", lambda a: libdl.layer_norm(a, [3]), x, 2, []),
    ("kl_div", lambda a: libdl.kl_div(a, x), x, 2, []),
    ("embedding", lambda a: libdl.embedding(a, libdl.tensor([0, 2])), x, 2, []),
    ("threshold", lambda a: libdl.threshold(a, 0.3, 2.0), x, 3, []),
    ("abs_", lambda a: libdl.abs_(a), x, 1, []),
    ("clamp_", lambda a: libdl.clamp_(a, min=0.3), x, 1, ["min"]),
    ("row_stack", lambda a: libdl.row_stack([a, x]), x, 1, []),
    ("vstack", lambda a: libdl.vstack([a, x]), x, 1, []),
    (
        "nn.functional.interpolate",
        lambda a: F.upsample_nearest(a, 6),
        image,
        1,
        ["align_corners", "antialias", "mode", "recompute_scale_factor", "scale_factor", "size"],
    ),
    (
        "nn.functional.max_pool2d_with_indices",
        lambda a: F.max_pool2d(a, 2, return_indices=True)[1],
        image,
        None,
        None,
    ),
    (
        "nn.functional.max_pool1d_with_indices",
        lambda a: F.max_pool1d(a, 2, return_indices=True)[1],
        x[None],
        None,
        None,
    ),
    (
        "nn.functional.adaptive_max_pool2d_with_indices",
        lambda a: F.adaptive_max_pool2d(a, 2, return_indices=True)[1],
        image,
        None,
        None,
    ),
    (
        "nn.functional.max_pool2d",
        lambda a: F.max_pool2d(a, 2),
        image,
        2,
        ["ceil_mode", "dilation", "padding", "return_indices", "stride"],
    ),
]
TABLE = pytest.mark.parametrize(
    ("name", "call", "of", "given", "named"),
    CALLS,
    ids=[f"{i} {call[0]}" for i, call in enumerate(CALLS)],
)


@TABLE
def test_one_call(name, call, of, given, named):
    SEEN.clear()
    found = call(of.clone().as_subclass(Watching))
    calls = [seen for seen in SEEN if seen[0] != "libdl.Tensor.__getitem__"]
    assert len(calls) == 1 and calls[0][0] == f"libdl.{name}"
    assert given is None or calls[0][1:] == (given, named)
    assert found.as_subclass(libdl.Tensor).equal(call(of.clone()))


@TABLE
def test_one_node(name, call, of, given, named):
    traced = fx.symbolic_trace(call)
    calls = [node for node in traced.graph.nodes if node.op.startswith("call")]
    calls = [node for node in calls if node.target is not __import__("operator").getitem]
    assert [resolve_name(node.target) for node in calls] == [f"libdl.{name}"]
    assert given is None or (len(calls[0].args), sorted(calls[0].kwargs)) == (given, named)
    assert traced(of.clone()).equal(call(of.clone()))


@TABLE
def test_samples_are_computed_as_outside(name, call, of, given, named):
    """Functions of the same name in several places do not take each other's rules."""
    batch = libdl.stack([of, of * 0.5])
    found = func.vmap(call)(batch.clone())
    wanted = libdl.stack([call(of.clone()), call(of * 0.5)])
    assert libdl.allclose(found.double(), wanted.double(), rtol=1e-5, atol=1e-6)


def test_methods_tell_by_name_what_has_a_default():
    SEEN.clear()
    x.as_subclass(Watching).split(2, 1)
    x.as_subclass(Watching).norm(1)
    assert SEEN == [
        ("libdl.Tensor.split", 2, ["dim"]),
        ("libdl.Tensor.norm", 1, ["dim", "dtype", "keepdim", "p"]),
    ]


def test_overridable_functions_are_told_by_place():
    table = get_overridable_functions()
    assert linalg.norm in table[linalg] and special.psi in table[special]
    assert special.psi is not special.digamma is not libdl.digamma
    assert resolve_name(linalg.matmul) == "libdl.linalg.matmul"
