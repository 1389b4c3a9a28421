# SPDX-License-Identifier: Apache-2.0
"""Autocast does what PyTorch's does, its networks learn, and 16-bit products and convolutions are
those of float32, rounded."""

import inspect
import pathlib
import pickle
import threading
import warnings

import pytest
from answered import Stored
from wrappers.amp import seen_autocast

import libdl
from libdl import nn
from libdl.nn import functional as F

HERE = pathlib.Path(__file__).parent
SEEN = Stored(seen_autocast)
DIGITS = HERE.parents[2] / "data/digits.safetensors"


@pytest.mark.parametrize("program", seen_autocast.PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_pytorch(program):
    SEEN.check(program, libdl)


# -- states ----------------------------------------------------------------------------------------


def test_a_thread_has_its_own_state():
    seen = []
    with libdl.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(libdl.is_autocast_enabled("cpu")))
        thread.start()
        thread.join()
    assert seen == [False]


def test_another_dtype_or_no_device_switches_it_off():
    with pytest.warns(UserWarning, match="not supported"):
        context = libdl.autocast("cpu", dtype=libdl.float64)
    with context:
        assert not libdl.is_autocast_enabled("cpu")
    if not libdl.cuda.is_available():
        with pytest.warns(UserWarning, match="CUDA is not available"):
            context = libdl.autocast("cuda")
        with context:
            assert not libdl.is_autocast_enabled("cuda")
        with pytest.warns(UserWarning, match="CUDA is not available"):
            assert not libdl.amp.GradScaler().is_enabled()


def test_a_decorated_function_may_call_itself():
    @libdl.autocast("cpu")
    def power(x, n):
        return x if n == 1 else power(x, n - 1) @ x

    assert power(libdl.ones(2, 2), 4).dtype == libdl.bfloat16
    assert not libdl.is_autocast_enabled("cpu")


def test_backward_runs_with_autocast_off():
    seen = []
    x = libdl.ones(2, 2, requires_grad=True)
    with libdl.autocast("cpu"):
        y = x.exp()
        y.register_hook(lambda dy: seen.append(libdl.is_autocast_enabled("cpu")))
        y.sum().backward()
        assert seen == [False] and libdl.is_autocast_enabled("cpu")


# -- weights that are kept -------------------------------------------------------------------------


def test_what_is_kept_of_a_weight_follows_it():
    layer, x = nn.Linear(64, 64, bias=False), libdl.randn(4, 64)
    memory = libdl.randn(64, 64)
    view = memory.numpy()
    outside = nn.Parameter(memory)
    with libdl.no_grad(), libdl.autocast("cpu"):
        for turn in range(3):
            for _ in range(2):
                wanted = F.linear(x.bfloat16(), layer.weight.bfloat16())
                assert libdl.equal(layer(x), wanted)
                assert libdl.equal(F.linear(x, outside), F.linear(x.bfloat16(), outside.bfloat16()))
            layer.weight.mul_(2)
            view[turn] = turn
        layer.weight.data = libdl.ones(64, 64)
        assert libdl.equal(layer(x)[:, 0], layer(x)[:, 1])


def test_the_cache_changes_no_result():
    found = []
    for cache in (True, False):
        libdl.manual_seed(0)
        net = nn.Sequential(nn.Linear(30, 30), nn.ReLU(), nn.Linear(30, 30))
        optimizer = libdl.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            with libdl.autocast("cpu", cache_enabled=cache):
                loss = net(net(libdl.ones(5, 30))).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        found.append([p.detach().clone() for p in net.parameters()])
    assert all(libdl.equal(a, b) for a, b in zip(*found))


def test_a_kept_weight_cannot_be_written():
    seen = []
    layer = nn.Linear(32, 32)
    x = libdl.ones(2, 32, requires_grad=True)
    with libdl.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        with libdl.autocast("cpu"):
            layer(x)
    kept = [t for t in seen if t.shape == (32, 32)]
    with libdl.no_grad(), pytest.raises(RuntimeError, match="read-only"):
        kept[0].zero_()


@pytest.mark.usefixtures("no_leak")
def test_nothing_stays():
    layer = nn.Conv2d(16, 32, 3)
    with libdl.autocast("cpu"):
        layer(libdl.randn(1, 16, 8, 8)).sum().backward()


def test_interceptors_see_the_call_and_the_casts():
    seen = []
    x, w = libdl.ones(2, 32), libdl.ones(32, 32, requires_grad=True)

    def before(call):
        seen.append((call.name, call.depth))

    with libdl.utils.intercept(before=before), libdl.autocast("cpu"):
        F.linear(x, w)
    assert seen[0] == ("linear", 0) and [name for name, _ in seen].count("linear") == 1
    assert seen.count(("to", 1)) == 2


# -- in 16 bits as in float32, rounded -------------------------------------------------------------


def rounded(x, dtype):
    return libdl.randn(*x).to(dtype)


@pytest.fixture
def threads():
    before = libdl.get_num_threads()
    yield libdl.set_num_threads
    libdl.set_num_threads(before)


CONVOLUTIONS = {
    "winograd": ((2, 32, 28, 28), (32, 32, 3, 3), {"padding": 1}),
    "pointwise": ((2, 24, 13, 13), (300, 24, 1, 1), {}),
    "strided": ((2, 20, 15, 15), (24, 20, 3, 3), {"padding": 1, "stride": 2}),
    "first layer": ((1, 3, 30, 30), (64, 3, 7, 7), {"padding": 3, "stride": 2}),
    "dilated": ((2, 8, 20, 20), (16, 8, 3, 3), {"dilation": 2}),
    "in groups": ((2, 12, 9, 9), (6, 4, 3, 3), {"groups": 3}),
    "many channels": ((1, 130, 6, 6), (20, 130, 3, 3), {}),
    "depthwise": ((2, 40, 14, 14), (40, 1, 3, 3), {"padding": 1, "groups": 40}),
    "depthwise, few": ((1, 10, 9, 9), (10, 1, 5, 5), {"stride": 2, "groups": 10}),
    "depthwise, twice": ((1, 9, 8, 8), (18, 1, 3, 3), {"padding": 1, "groups": 9}),
    "empty": ((0, 4, 5, 5), (4, 4, 3, 3), {}),
    "1d": ((2, 5, 19), (7, 5, 4), {"stride": 3}),
    "3d": ((1, 4, 5, 6, 7), (6, 4, 2, 3, 2), {}),
    "transposed": ((2, 6, 5, 7), (6, 4, 3, 3), {"stride": 2, "output_padding": 1}),
    "transposed, in groups": ((1, 16, 9), (16, 3, 4), {"groups": 4}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("dtype", [libdl.bfloat16, libdl.float16])
def test_a_convolution_is_that_of_float32_rounded(threads, dtype, name):
    """Once, with its bias; and so are its gradients. A matrix unit sums bfloat16 in another order
    (tests/ops/test_bfloat_convolutions.py has the bounds)."""
    image, weight, options = CONVOLUTIONS[name]
    libdl.manual_seed(1)
    outputs = weight[1] * options.get("groups", 1) if "transposed" in name else weight[0]
    given = [rounded(image, dtype), rounded(weight, dtype), rounded((outputs,), dtype)]
    kind = "conv_transpose" if "transposed" in name else "conv"
    conv = getattr(F, f"{kind}{len(image) - 2}d")

    def computed(kind, dy=None):
        xs = [x.detach().to(kind).requires_grad_() for x in given]
        y = conv(*xs, **options)
        if dy is None:
            dy = libdl.randn(*y.shape).to(dtype)
        y.backward(dy.to(kind))
        return dy, [y.detach(), *(x.grad for x in xs)]

    dy, wanted = computed(libdl.float32)
    for n in (1, 2, 3):
        threads(n)
        for found, w in zip(computed(dtype, dy)[1], wanted, strict=True):
            assert found.dtype == dtype
            if dtype == libdl.float16:
                assert libdl.equal(found, w.to(dtype))
            elif w.numel():
                limit = w.abs() * 2**-8 + w.abs().max() * 2**-16
                assert bool(((found.float() - w).abs() <= limit).all())


@pytest.mark.parametrize("sizes", [(1, 70, 50), (5, 300, 40), (60, 800, 90), (130, 64, 257)])
def test_a_product_is_that_of_float32_rounded(sizes):
    """Where there is no matrix unit; it sums in another order."""
    rows, k, columns = sizes
    a, b = rounded((rows, k), libdl.bfloat16), rounded((columns, k), libdl.bfloat16)
    bias = rounded((columns,), libdl.bfloat16)
    for found, wanted in (
        (a @ b.t(), a.float() @ b.float().t()),
        (F.linear(a, b, bias), F.linear(a.float(), b.float(), bias.float())),
    ):
        assert (found.float() - wanted).abs().max() <= 2**-8 * wanted.abs().max()


# -- learning --------------------------------------------------------------------------------------


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(512, 10),
    )


def accuracy(enabled, dtype=libdl.bfloat16, scaled=False):
    data = libdl.load(str(DIGITS))
    images, labels = data["images"].view(-1, 1, 8, 8), data["labels"]
    held_out = libdl.arange(len(labels)) % 5 == 0
    x, y = images[~held_out], labels[~held_out]
    libdl.manual_seed(0)
    net = network()
    optimizer = libdl.optim.Adam(net.parameters(), lr=3e-3)
    scaler = libdl.amp.GradScaler("cpu", enabled=scaled)
    for _ in range(4):
        for batch in libdl.randperm(len(y)).split(32):
            with libdl.autocast("cpu", dtype=dtype, enabled=enabled):
                found = net(x[batch])
                loss = F.cross_entropy(found, y[batch])
            assert found.dtype == (dtype if enabled else libdl.float32)
            assert loss.dtype == libdl.float32
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    assert all(p.dtype == p.grad.dtype == libdl.float32 for p in net.parameters())
    net.eval()
    with libdl.no_grad(), libdl.autocast("cpu", dtype=dtype, enabled=enabled):
        right = net(images[held_out]).argmax(1) == labels[held_out]
    return 100 * right.float().mean().item()


@pytest.mark.skipif(not DIGITS.exists(), reason="tools/setup/run fetches the digits")
def test_digits_are_read_as_well_as_in_float32():
    wanted = accuracy(False)
    assert wanted > 97
    assert accuracy(True) > wanted - 1
    assert accuracy(True, libdl.float16, scaled=True) > wanted - 1


def test_a_scaler_can_be_pickled_between_steps():
    scaler = libdl.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(libdl.ones(()))
    assert pickle.loads(pickle.dumps(scaler)).state_dict() == scaler.state_dict()


def test_no_warning_in_everyday_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with libdl.autocast("cpu"), libdl.amp.autocast("cpu", dtype=libdl.float16):
            libdl.amp.GradScaler("cpu")


@pytest.mark.parametrize(
    "function",
    [
        libdl.baddbmm,
        libdl.addmv,
        libdl.cdist,
        libdl.quantile,
        libdl.linalg.vecdot,
        libdl.Tensor.addmv,
        libdl.Tensor.trace,
        libdl.Tensor.baddbmm,
    ],
)
def test_functions_that_cast_keep_their_signature(function):
    assert next(iter(inspect.signature(function).parameters)) in ("input", "x1", "x")
