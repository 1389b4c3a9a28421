# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/numerics.md for equal bits: numbers of threads, and instruction sets."""

import json
import math
import os
import subprocess
import sys

import large_calls
import libdl
import pytest

CALLS = large_calls.calls()


@pytest.fixture
def threads():
    before = libdl.get_num_threads()
    yield libdl.set_num_threads
    libdl.set_num_threads(before)


@pytest.mark.parametrize("name", CALLS)
def test_every_number_of_threads_gives_the_same_bits(name, threads):
    digests = {}
    for number in (1, 2, 3, 8):
        threads(number)
        digests[number] = large_calls.digest(CALLS[name]())
    assert len(set(digests.values())) == 1, digests


UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan tanh sigmoid silu gelu erf sqrt rsqrt "
    "reciprocal"
).split()
RARE = (
    0.0,
    -0.0,
    1e-42,
    1e-30,
    88.5,
    9e3,
    3e6,
    -3e6,
    1e30,
    float("inf"),
    float("-inf"),
    float("nan"),
)


@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64], ids=str)
@pytest.mark.parametrize("name", [*UNARY, "cube"])
def test_rare_values_leave_the_bits_of_their_neighbours(name, dtype):
    """Many functions go another way where a vector holds such a value."""
    function = getattr(libdl, name, lambda x: libdl.pow(x, 3))
    x = libdl.linspace(0.01, 7, 256, dtype=dtype)
    alone = function(x)
    for i, rare in enumerate(RARE):
        y = x.clone()
        y[5 + i :: 16] = rare
        found = function(y)
        found[5 + i :: 16] = alone[5 + i :: 16]
        assert libdl.equal(found, alone), rare


def digests_on(instruction_set):
    """Of all calls, or None where the processor lacks the set."""
    environment = {
        **os.environ,
        "LIBDL_CPU": instruction_set,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    which = "import libdl; print(libdl.show_config())"
    shown = subprocess.run(
        [sys.executable, "-c", which], env=environment, text=True, capture_output=True, check=True
    ).stdout
    if f"cpu kernels: {instruction_set}" not in shown:
        return None
    run = subprocess.run(
        [sys.executable, large_calls.__file__], env=environment, text=True, capture_output=True
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def avx2():
    found = digests_on("avx2")
    if found is None:
        pytest.skip("this processor has no AVX2")
    return found


def test_avx512_gives_the_bits_of_avx2(avx2):
    avx512 = digests_on("avx512")
    if avx512 is None:
        pytest.skip("this processor has no AVX-512")
    assert [name for name in CALLS if avx512[name] != avx2[name]] == []


@pytest.mark.skipif(
    "LIBDL_SANITIZED" in os.environ,
    reason="a sanitizer's build has kernels for one instruction set alone",
)
def test_the_baseline_gives_the_bits_of_avx2_where_nothing_is_fused(avx2):
    baseline = digests_on("baseline")
    assert baseline is not None and CALLS.keys() >= large_calls.EXACT
    assert [name for name in sorted(large_calls.EXACT) if baseline[name] != avx2[name]] == []
    # Else the two would not differ in what the test is about.
    assert baseline["matmul 130 170 190 libdl.float32"] != avx2["matmul 130 170 190 libdl.float32"]


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
@pytest.mark.parametrize("dtype", [libdl.float32, libdl.float64, libdl.bfloat16], ids=str)
@pytest.mark.parametrize("value", [1, 2.5, -3])
def test_one_pass_gives_the_bits_of_recorded_steps(name, dtype, value):
    x, a, b = (libdl.linspace(0.1, 3 + i, 3001).to(dtype) for i in range(3))
    function = getattr(libdl, name)
    alone = function(x, a, b, value=value)
    recorded = function(x.clone().requires_grad_(), a, b, value=value)
    assert recorded.requires_grad and libdl.equal(alone, recorded.detach())
    version = x._version
    into = getattr(x, name + "_")(a, b, value=value)
    assert into is x and x._version > version and libdl.equal(x, alone)


@pytest.mark.parametrize("dtype", [libdl.bfloat16, libdl.float16], ids=str)
@pytest.mark.parametrize("width", [1, 15, 64, 100, 129])
def test_narrow_elements_have_the_bits_of_one_at_a_time(dtype, width):
    """Rows go by vectors: sums at indices, rounded from float32, and running sums, from doubles."""
    x = (libdl.arange(8 * width) * 37 % 101 / 7).reshape(8, width).to(dtype)
    x[0, 0] = float("nan")
    index = libdl.tensor([1, 0, 1, 2, 2, 1, 0, 2])
    rows = libdl.zeros(3, width, dtype=dtype)
    one = rows.float()
    for i, to in enumerate(index.tolist()):
        one[to] += x[i].float()
    one = one.to(dtype)
    assert libdl.equal(rows.index_add(0, index, x).view(libdl.int16), one.view(libdl.int16))
    sums = x.cumsum(0)
    for c in range(width):
        alone = x[:, c].clone().cumsum(0)
        assert libdl.equal(sums[:, c].clone().view(libdl.int16), alone.view(libdl.int16))


@pytest.mark.parametrize("dtype", [libdl.bfloat16, libdl.float16], ids=str)
@pytest.mark.parametrize("shape", [(33,), (40, 33), (40, 1), (1, 33), (1,), ()], ids=str)
def test_addmm_of_narrow_elements_rounds_once(dtype, shape):
    """As the sum in float64 does here, whose terms are exact in float32: also its gradients."""
    x = ((libdl.arange(40 * 48) % 17 - 8) / 8).reshape(40, 48).to(dtype).requires_grad_()
    w = ((libdl.arange(48 * 33) % 13 - 6) / 8).reshape(48, 33).to(dtype).requires_grad_()
    b = ((libdl.arange(40 * 33) % 101) / 64)[: math.prod(shape)].reshape(shape).to(dtype)
    b.requires_grad_()
    y = libdl.addmm(b, x, w)
    wide = [t.detach().double().requires_grad_() for t in (b, x, w)]
    z = libdl.addmm(*wide)
    assert y.dtype == dtype and libdl.equal(y, z.to(dtype))
    assert y.grad_fn.name() == "AddmmBackward0"
    dy = (libdl.arange(40 * 33) % 3 - 1).reshape(40, 33)
    found = libdl.autograd.grad(y, (b, x, w), dy.to(dtype))
    for given, wanted in zip(found, libdl.autograd.grad(z, wide, dy.double())):
        assert given.shape == wanted.shape and libdl.equal(given, wanted.to(dtype))
    tangents = [libdl.ones_like(t.detach()) for t in (b, x, w)]
    _, moved = libdl.func.jvp(libdl.addmm, (b.detach(), x.detach(), w.detach()), tuple(tangents))
    wanted = 1 + w.detach().double().sum(0) + x.detach().double().sum(1, keepdim=True)
    assert moved.dtype == dtype and libdl.allclose(moved.double(), wanted, rtol=0, atol=0.1)
    out = libdl.empty(40, 33, dtype=dtype)
    assert libdl.equal(libdl.addmm(b.detach(), x.detach(), w.detach(), out=out), y.detach())
    kept = y.detach().clone()
    if shape == (40, 33):
        assert libdl.equal(b.detach().clone().addmm_(x.detach(), w.detach()), kept)


@pytest.mark.parametrize("dtype", [libdl.bfloat16, libdl.float16], ids=str)
def test_addmm_of_narrow_elements_adds_last(dtype):
    """To the whole sum over k in float32, where no matrix unit sums in an order of its own."""
    drawn = libdl.Generator().manual_seed(3)
    for n, k, m in [(300, 700, 129), (1, 500, 77), (64, 1, 64), (20, 3000, 50)]:
        a, b, c = (libdl.randn(*s, generator=drawn).to(dtype) for s in ((n, k), (k, m), (n, m)))
        for x in (c, c[0]):
            wide = (libdl.mm(a.float(), b.float()) + x.float()).to(dtype)
            found = libdl.addmm(x, a, b)
            if dtype == libdl.bfloat16:
                assert libdl.allclose(found.float(), wide.float(), rtol=0.01, atol=1e-3)
            else:
                assert libdl.equal(found, wide)


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("dtype", [libdl.bfloat16, libdl.float16], ids=str)
def test_addmm_of_narrow_elements_scales_before_it_rounds(dtype, recorded):
    """Its factors are applied in float32, whether the call is recorded or not."""
    drawn = libdl.Generator().manual_seed(4)
    for n, k, m in [(300, 700, 129), (1, 500, 77), (64, 1, 64), (20, 30, 1), (5, 6, 7)]:
        a, b, c = (libdl.randn(*s, generator=drawn).to(dtype) for s in ((n, k), (k, m), (n, m)))
        a.requires_grad_(recorded)
        for x, beta, alpha in ((c, 0.3, -1.7), (c[0], 2, 1), (c[:, :1], 1, 0.1), (c, -0.5, 1)):
            wide = (beta * x.float() + alpha * libdl.mm(a.float(), b.float())).to(dtype)
            found = libdl.addmm(x, a, b, beta=beta, alpha=alpha)
            assert found.requires_grad == recorded and found.dtype == dtype
            near = 0.01 if dtype == libdl.bfloat16 else 2e-3
            assert libdl.allclose(found.float(), wide.float(), rtol=near, atol=near)
            if not recorded:
                out = libdl.empty(n, m, dtype=dtype)
                assert libdl.equal(libdl.addmm(x, a, b, beta=beta, alpha=alpha, out=out), found)
                assert libdl.equal(out, found)
        # A term whose factor is 0 is not looked at.
        lost = libdl.full((n, m), float("nan"), dtype=dtype)
        assert libdl.isfinite(libdl.addmm(lost, a, b, beta=0, alpha=0.5)).all()
        assert libdl.equal(libdl.addmm(c, a * float("nan"), b, beta=0.5, alpha=0), c * 0.5)
        twice = c.clone()
        assert libdl.equal(
            twice.addmm_(a.detach(), b, beta=2, alpha=3),
            libdl.addmm(c, a.detach(), b, beta=2, alpha=3),
        )


@pytest.mark.parametrize(
    "dtype", [libdl.float32, libdl.float64, libdl.bfloat16, libdl.float16], ids=str
)
def test_addcmul_has_the_bits_of_its_steps(dtype):
    """Of a product and a sum; the 16-bit floats round once."""
    drawn = libdl.Generator().manual_seed(5)
    for n in (1, 7, 1000, 100_003):
        x, y, z = (libdl.randn(n, generator=drawn).to(dtype) for _ in range(3))
        wide = libdl.float64 if dtype == libdl.float64 else libdl.float32
        wanted = (x.to(wide) + y.to(wide) * z.to(wide)).to(dtype)
        assert libdl.equal(libdl.addcmul(x, y, z), wanted)
        assert libdl.equal(libdl.addcmul(x.clone().requires_grad_(), y, z).detach(), wanted)
        assert libdl.equal(x.clone().addcmul_(y, z, value=1), wanted)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(3, 5), (40, 4), (130, 300), (1500, 17)], ids=str)
def test_narrow_columns_have_the_bits_of_rows(name, shape):
    """Those of a copy that lies by rows, at the ends of what the columns are cut into, too."""
    function = getattr(libdl, name)
    for dtype in (libdl.bfloat16, libdl.float16):
        x = (libdl.arange(math.prod(shape)) * 37 % 101 / 9 - 4).reshape(shape).to(dtype)
        x[0, 1], x[1, 2] = float("nan"), float("-inf")
        by_rows = function(x.t().contiguous(), 1).t().contiguous()
        assert libdl.equal(function(x, 0).view(libdl.int16), by_rows.view(libdl.int16))
