# SPDX-License-Identifier: Apache-2.0
"""nn and optim: modules, hooks, state, and the optimizers' trajectories by their formulas."""

import io
import math

import numpy
import pytest
import safetensors.numpy

import libdl
from libdl import nn

pytestmark = pytest.mark.usefixtures("no_leak")


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def test_module_parts():
    net = network()
    names = [name for name, _ in net.named_parameters()]
    assert names == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in net.parameters())
    assert sum(p.numel() for p in net.parameters()) == 4 * 8 + 8 + 8 * 3 + 3
    assert net.get_parameter("2.bias") is net[2].bias
    assert [type(m).__name__ for m in net.modules()] == ["Sequential", "Linear", "ReLU", "Linear"]
    assert "(0): Linear(in_features=4, out_features=8, bias=True)" in repr(net)


def test_module_wants_init_first():
    class Late(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match="super"):
        Late()


def test_state_dict_round_trip():
    a, b = network(), network()
    assert not libdl.equal(a[0].weight, b[0].weight)
    result = b.load_state_dict(a.state_dict())
    assert result.missing_keys == [] and result.unexpected_keys == []
    assert libdl.equal(a[0].weight, b[0].weight)
    wrong = dict(a.state_dict())
    wrong["extra"] = libdl.zeros(1)
    del wrong["0.bias"]
    wrong["2.bias"] = libdl.zeros(7)
    with pytest.raises(RuntimeError, match="0.bias") as caught:
        b.load_state_dict(wrong)
    assert "extra" in str(caught.value) and "[7]" in str(caught.value)


def test_buffers():
    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", libdl.zeros(1))
            self.register_buffer("scratch", libdl.zeros(1), persistent=False)

    module = Counted()
    assert list(module.state_dict()) == ["count"]
    module.count = libdl.ones(1)
    assert dict(module.named_buffers())["count"].item() == 1
    assert module.double().count.dtype is libdl.float64


def test_forward_hooks():
    net, seen = network(), []
    handle = net[0].register_forward_hook(lambda m, args, out: seen.append(tuple(out.shape)))
    net[0].register_forward_pre_hook(lambda m, args: (args[0] * 0,))
    out = net(libdl.ones(2, 4))
    assert seen == [(2, 8)]
    assert libdl.allclose(out[0], out[1])
    handle.remove()
    net(libdl.ones(2, 4))
    assert len(seen) == 1


def test_backward_hooks():
    layer, seen = nn.Linear(3, 2), []
    layer.register_full_backward_hook(
        lambda m, gin, gout: seen.append((tuple(gin[0].shape), tuple(gout[0].shape)))
    )
    x = libdl.ones(4, 3, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [((4, 3), (4, 2))]


def test_train_and_eval():
    dropout = nn.Dropout(0.5)
    x = libdl.ones(1000)
    assert not libdl.equal(dropout(x), x)
    assert libdl.equal(dropout.eval()(x), x)


def test_modules_of_modules():
    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
            self.named = nn.ModuleDict({"a": nn.Linear(2, 2)})
            self.extra = nn.ParameterList([libdl.zeros(2)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.named["a"](x) + self.extra[0]

    deep = Deep()
    assert len(list(deep.parameters())) == 9
    assert tuple(deep(libdl.ones(5, 2)).shape) == (5, 2)
    assert len(deep.layers[1:]) == 2


def quadratic(optimizer_of, steps=5):
    """The path of p under the gradient of p^2 / 2 + p, in float64."""
    p = libdl.tensor([1.0, -2.0], dtype=libdl.float64, requires_grad=True)
    optimizer = optimizer_of([p])
    path = []
    for _ in range(steps):
        optimizer.zero_grad()
        (p * p / 2 + p).sum().backward()
        optimizer.step()
        path.append(p.detach().clone().numpy())
    return numpy.array(path)


@pytest.mark.parametrize(
    ("momentum", "dampening", "decay", "nesterov"),
    [(0, 0, 0, False), (0.9, 0, 0, False), (0.9, 0.5, 0.1, False), (0.8, 0, 0.01, True)],
)
def test_sgd(momentum, dampening, decay, nesterov):
    found = quadratic(lambda ps: libdl.optim.SGD(ps, 0.1, momentum, dampening, decay, nesterov))
    p, buffer, wanted = numpy.array([1.0, -2.0]), None, []
    for _ in range(5):
        g = p + 1 + decay * p
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p = p - 0.1 * g
        wanted.append(p)
    numpy.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("kind", [libdl.optim.Adam, libdl.optim.AdamW])
def test_adam(kind, amsgrad):
    decay, lr, b1, b2, eps = 0.1, 0.05, 0.9, 0.99, 1e-8
    found = quadratic(lambda ps: kind(ps, lr, (b1, b2), eps, decay, amsgrad))
    p, m, v, largest, wanted = numpy.array([1.0, -2.0]), 0.0, 0.0, 0.0, []
    for step in range(1, 6):
        g = p + 1
        if kind is libdl.optim.AdamW:
            p = p * (1 - lr * decay)
        else:
            g = g + decay * p
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        largest = numpy.maximum(largest, v)
        root = numpy.sqrt(largest if amsgrad else v) / math.sqrt(1 - b2**step)
        p = p - lr / (1 - b1**step) * m / (root + eps)
        wanted.append(p)
    numpy.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_optimizer_groups_and_state():
    net = network()
    optimizer = libdl.optim.Adam(
        [{"params": net[0].parameters()}, {"params": net[2].parameters(), "lr": 0.5}], lr=0.1
    )
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]
    net(libdl.ones(2, 4)).sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    assert sorted(state["state"]) == [0, 1, 2, 3]
    twin = libdl.optim.Adam([{"params": net[0].parameters()}, {"params": net[2].parameters()}])
    twin.load_state_dict(state)
    assert twin.param_groups[1]["lr"] == 0.5
    assert twin.state[net[0].weight]["step"].item() == 1
    with pytest.raises(ValueError):
        libdl.optim.SGD([], lr=0.1)
    with pytest.raises(ValueError):
        libdl.optim.SGD(net.parameters(), lr=-1)
    with pytest.raises(TypeError):
        libdl.optim.SGD([1.0], lr=0.1)
    with pytest.raises(ValueError):
        libdl.optim.SGD([net[0].weight * 2], lr=0.1)


@pytest.mark.parametrize("dtype", [libdl.float16, libdl.bfloat16, libdl.complex64])
def test_optimizer_of_other_dtypes(dtype):
    p = libdl.ones(3).to(dtype).requires_grad_()
    optimizer = libdl.optim.Adam([p], lr=0.1)
    (p * p.conj()).real.sum().backward()
    optimizer.step()
    assert p.dtype is dtype and abs(p[0].item() - 0.9) < 0.01


def test_learning_rates():
    p = libdl.ones(1, requires_grad=True)
    optimizer = libdl.optim.SGD([p], lr=1.0)
    scheduler = libdl.optim.lr_scheduler.StepLR(optimizer, 2, 0.1)
    rates = []
    for _ in range(5):
        rates.append(optimizer.param_groups[0]["lr"])
        scheduler.step()
    assert rates == pytest.approx([1, 1, 0.1, 0.1, 0.01])


def test_clipping():
    p = libdl.ones(4, requires_grad=True)
    (p * 3).sum().backward()
    norm = nn.utils.clip_grad_norm_([p], 1.0)
    assert norm.item() == pytest.approx(6.0)
    assert p.grad.norm().item() == pytest.approx(1.0, rel=1e-5)
    nn.utils.clip_grad_value_([p], 0.1)
    assert p.grad.tolist() == pytest.approx([0.1] * 4)


def test_it_learns():
    libdl.manual_seed(1)
    x = libdl.randn(64, 4)
    y = (x.sum(1, keepdim=True) > 0).float()
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = libdl.optim.AdamW(net.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.02


def test_init():
    x = libdl.empty(200, 100)
    nn.init.xavier_uniform_(x)
    assert abs(x.std().item() - math.sqrt(2 / 300)) < 0.002
    nn.init.kaiming_normal_(x, nonlinearity="relu")
    assert abs(x.std().item() - math.sqrt(2 / 100)) < 0.004
    nn.init.trunc_normal_(x, std=1.0, a=-1.0, b=1.0)
    assert x.abs().max().item() <= 1
    assert nn.init.eye_(libdl.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert nn.init.constant_(libdl.empty(2), 3.0).tolist() == [3, 3]


def test_functional():
    F = nn.functional
    x = libdl.tensor([[-1.0, 0.5, 2.0]])
    assert F.relu(x).tolist() == [[0, 0.5, 2]]
    assert F.relu(x.clone(), inplace=True).tolist() == [[0, 0.5, 2]]
    numpy.testing.assert_allclose(F.leaky_relu(x, 0.1).numpy(), [[-0.1, 0.5, 2]], rtol=1e-6)
    numpy.testing.assert_allclose(F.softplus(x).numpy(), numpy.log1p(numpy.exp(x.numpy())), 1e-6)
    numpy.testing.assert_allclose(F.elu(x).numpy(), [[math.exp(-1) - 1, 0.5, 2]], rtol=1e-6)
    numpy.testing.assert_allclose(F.normalize(x).norm().item(), 1, rtol=1e-6)
    assert F.one_hot(libdl.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert F.l1_loss(x, x + 1).item() == pytest.approx(1)
    loss = F.cross_entropy(x, libdl.tensor([2]))
    assert loss.item() == pytest.approx(-math.log(F.softmax(x, 1)[0, 2].item()), rel=1e-5)


def test_save_and_load(tmp_path):
    path = tmp_path / "model.safetensors"
    net = network()
    content = {"model": net.state_dict(), "epoch": 3, "rates": [0.1, math.inf], "pair": (1, None)}
    libdl.save(content, path)
    back = libdl.load(path)
    assert back["epoch"] == 3 and back["rates"] == [0.1, math.inf] and back["pair"] == (1, None)
    assert list(back["model"]) == list(net.state_dict())
    network().load_state_dict(back["model"])
    assert libdl.equal(back["model"]["0.weight"], net[0].weight)
    buffer = io.BytesIO()
    libdl.save(libdl.ones(2), buffer)
    buffer.seek(0)
    assert libdl.load(buffer).tolist() == [1, 1]


def test_load_what_the_package_wrote(tmp_path):
    path = str(tmp_path / "other.safetensors")
    safetensors.numpy.save_file({"a": numpy.arange(3.0), "b": numpy.ones((2, 2), "i4")}, path)
    found = libdl.load(path)
    assert found["a"].tolist() == [0, 1, 2] and found["b"].dtype is libdl.int32
    libdl.save({"x": libdl.arange(3)}, path)
    assert safetensors.numpy.load_file(path)["x"].tolist() == [0, 1, 2]


def test_load_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        libdl.load(tmp_path / "none")
    bad = tmp_path / "bad"
    bad.write_bytes(b"\xff" * 64)
    with pytest.raises(ValueError):
        libdl.load(bad)
    with pytest.raises(TypeError, match="object"):
        libdl.save({"f": object()}, tmp_path / "x", format="safetensors")


@pytest.mark.parametrize(
    "text",
    [
        "ELU(alpha=0.5)",
        "Hardshrink(0.3)",
        "LeakyReLU(negative_slope=0.2)",
        "Softplus(beta=1.0, threshold=20.0)",
        "LayerNorm((2, 3), eps=1e-05, elementwise_affine=True, bias=False)",
        "Unflatten(dim=1, unflattened_size=(2, 2))",
        "GELU(approximate='tanh')",
        "Softmax(dim=1)",
    ],
)
def test_layers_print_what_makes_them(text):
    assert repr(eval(text, vars(nn))) == text


def test_a_module_without_forward_says_so():
    class Half(nn.Module):
        pass

    with pytest.raises(NotImplementedError, match="Half has no method forward"):
        Half()(libdl.ones(1))


@pytest.mark.parametrize("kind", [lambda *m: nn.Sequential(*m), lambda *m: nn.ModuleList(m)])
def test_numbered_modules_change_as_lists_do(kind):
    a, b, c, d = (nn.Identity() for _ in range(4))
    modules = kind(a, b, c)
    del modules[1]
    assert list(modules) == [a, c] and list(modules._modules) == ["0", "1"]
    modules.insert(1, b)
    modules[-1] = d
    assert list(modules.extend([c])) == [a, b, d, c]
    assert modules.pop(0) is a and list(modules) == [b, d, c]
    del modules[:2]
    assert list(modules) == [c]
    with pytest.raises(IndexError):
        modules[1] = a
    with pytest.raises(IndexError):
        del modules[3]


def test_containers_by_name():
    both = libdl.nn.ModuleDict({"a": libdl.nn.ReLU()})
    both.update({"b": libdl.nn.Tanh()})
    both.update([("a", libdl.nn.Sigmoid())])
    assert [type(m).__name__ for m in both.values()] == ["Sigmoid", "Tanh"]
    assert type(both.pop("a")) is libdl.nn.Sigmoid and list(both) == ["b"]
    both.clear()
    assert len(both) == 0
    named = libdl.nn.ParameterDict({"a": libdl.ones(1)})
    named.update({"b": libdl.zeros(2)})
    assert named.get("c") is None and named.pop("a").shape == (1,) and list(named) == ["b"]
    del named["b"]
    assert list(named.parameters()) == []


def test_what_load_state_dict_tells():
    layer = libdl.nn.Linear(1, 1)
    assert repr(layer.load_state_dict(layer.state_dict())) == "<All keys matched successfully>"
    found = layer.load_state_dict({}, strict=False)
    assert repr(found) == "_IncompatibleKeys(missing_keys=['weight', 'bias'], unexpected_keys=[])"
    assert libdl.nn.Linear(1, 1).type(libdl.float64).weight.dtype is libdl.float64


def test_a_module_must_be_begun():
    class Begun(libdl.nn.Module):
        def __init__(self):
            self.layer = libdl.nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call: Begun must call"):
        Begun()


def test_broadcast_to_takes_sizes():
    x = libdl.ones(2, 1)
    for found in (
        x.broadcast_to(2, 3),
        x.broadcast_to((2, 3)),
        x.broadcast_to(size=(2, 3)),
        libdl.broadcast_to(x, (2, 3)),
    ):
        assert found.shape == (2, 3)


@pytest.mark.parametrize("options", [{}, {"momentum": 0.5}, {"momentum": 0.5, "nesterov": True}])
def test_sgd_steps_all_small_parameters_at_once_as_one_by_one(options):
    class OneByOne(libdl.optim.SGD):  # an _init_group of its own: no group is stepped in C
        def _init_group(self, *lists):
            return super()._init_group(*lists)

    made = []
    for kind in (libdl.optim.SGD, OneByOne):
        params = [libdl.nn.Parameter(libdl.arange(1.0, 4.0) * i) for i in (1, 2, 3)]
        optimizer = kind(params, lr=0.25, weight_decay=0.5, **options)
        for n in range(3):
            params[0].grad = libdl.ones(3) * n
            params[1].grad = libdl.ones(6)[::2]  # with gaps
            if n == 2:
                params[2].grad = libdl.ones(3)  # its first step, the others' third
            optimizer.step()
        made.append([param.tolist() for param in params])
    assert made[0] == made[1]
