# SPDX-License-Identifier: Apache-2.0
"""Tensors on meta in Python, and what programs do with them: large models are made there, looked at
and filled. The operators' shapes are tested in tests/ops/checks_meta.py. Texts and classes of
errors are PyTorch 2.15's."""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest

import libdl
from libdl import nn

META = libdl.device("meta")


def on_meta(*shape, **kwargs):
    return libdl.empty(*shape, device="meta", **kwargs)


# -- the device ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["meta", "meta:0", "meta:3", META, libdl.device("meta", 1)])
def test_there_is_one_device_whatever_its_index(name):
    x = libdl.empty(2, device=name)
    assert x.device == META and x.device.index is None and x.device.type == "meta"
    assert x.is_meta and not x.is_cpu and not x.is_cuda and not libdl.ones(1).is_meta
    assert x.get_device() == -1 and x.data_ptr() == 0


def test_a_tensor_as_large_as_no_memory_costs_nothing():
    x = on_meta(10**6, 10**6, requires_grad=True)
    y = (x @ x).relu().sum(0)
    y.sum().backward()
    assert y.shape == (10**6,) and x.grad.shape == x.shape and x.grad.is_meta
    assert on_meta(2**62, dtype=libdl.int8).numel() == 2**62


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: on_meta(3), "tensor(..., device='meta', size=(3,))"),
        (lambda: on_meta(()), "tensor(..., device='meta', size=())"),
        (lambda: on_meta(2, 0), "tensor(..., device='meta', size=(2, 0))"),
        (
            lambda: on_meta(2, dtype=libdl.int64),
            "tensor(..., device='meta', size=(2,), dtype=libdl.int64)",
        ),
        (
            lambda: on_meta(2, dtype=libdl.bool),
            "tensor(..., device='meta', size=(2,), dtype=libdl.bool)",
        ),
        (
            lambda: on_meta(2, requires_grad=True) * 2,
            "tensor(..., device='meta', size=(2,), grad_fn=<MulBackward0>)",
        ),
        (
            lambda: nn.Parameter(on_meta(1)),
            "Parameter containing:\ntensor(..., device='meta', size=(1,), requires_grad=True)",
        ),
    ],
)
def test_what_is_printed(make, text):
    assert repr(make()) == text
    assert on_meta(1).type() == "libdl.meta.FloatTensor"


@pytest.mark.parametrize(
    "make",
    [
        lambda: libdl.zeros(2, 3, device="meta"),
        lambda: libdl.rand(2, 3, device="meta"),
        lambda: libdl.full((2, 3), 1.0, device="meta"),
        lambda: libdl.tensor([[1.0] * 3] * 2, device="meta"),
        lambda: libdl.ones(2, 3).to("meta"),
        lambda: libdl.ones(2, 3).type_as(on_meta(1)),
        lambda: libdl.ones_like(libdl.empty(2, 3), device="meta"),
        lambda: libdl.empty(2, 3).to(on_meta(1)),
        lambda: libdl.as_tensor(libdl.ones(2, 3), device="meta"),
        lambda: on_meta(6).view(2, 3),
        lambda: libdl.empty(2, 3).new_zeros(2, 3, device="meta"),
        lambda: on_meta(9).new_ones(2, 3),
        lambda: libdl.normal(on_meta(2, 3), on_meta(3)),
        lambda: libdl.bernoulli(on_meta(2, 3)),
        lambda: libdl.poisson(on_meta(2, 3)),
        lambda: on_meta(2, 3).exponential_(),
        lambda: nn.init.orthogonal_(on_meta(2, 3)),
        lambda: nn.init.trunc_normal_(on_meta(2, 3)),
        lambda: nn.functional.dropout(on_meta(2, 3)),
        lambda: libdl.from_numpy(np.ones((2, 3), "f")).to("meta"),
    ],
)
def test_ways_to_make_one(make):
    made = make()
    assert made.is_meta and made.shape == (2, 3) and made.dtype is libdl.float32


def test_random_numbers_on_meta_take_none_of_the_generator():
    libdl.manual_seed(3)
    before = libdl.get_rng_state()
    libdl.randn(5, device="meta")
    libdl.randperm(5, device="meta")
    nn.Linear(3, 4, device="meta")
    nn.functional.dropout(on_meta(4), 0.5)
    libdl.multinomial(on_meta(4), 2)
    on_meta(4).geometric_(0.5)
    assert libdl.equal(libdl.get_rng_state(), before)


def test_the_default_device():
    with libdl.device("meta"):
        x, layer = libdl.ones(2), nn.Linear(2, 3)
        assert libdl.empty(1, device="cpu").is_cpu
    assert x.is_meta and layer.weight.is_meta and libdl.ones(1).is_cpu
    libdl.set_default_device("meta")
    try:
        assert libdl.arange(3).is_meta and libdl.get_default_device() == META
    finally:
        libdl.set_default_device(None)
    assert libdl.ones(1).is_cpu and libdl.get_default_device() == libdl.device("cpu")


@pytest.mark.parametrize(
    "make",
    [
        lambda c: libdl.tensor(c),
        lambda c: libdl.as_tensor(c),
        lambda c: libdl.asarray(c),
        lambda c: libdl.as_tensor(np.ones(2)),
        lambda c: libdl.tensor(np.float32(2)),
        lambda c: libdl.tensor([np.ones(2)]),
    ],
)
def test_copies_of_data_go_to_the_default_device(make):
    c = libdl.ones(2)
    with libdl.device("meta"):
        assert make(c).is_meta
        assert (
            libdl.from_numpy(np.ones(2)).is_cpu
            and libdl.frombuffer(bytearray(4), dtype=libdl.int32).is_cpu
        )
    assert make(c).is_cpu


@pytest.mark.parametrize(
    "work",
    [
        lambda layer, c: libdl.tensor(2.0, device="cpu").item() == 2,
        lambda layer, c: repr(c + 1)[:6] == "tensor",
        lambda layer, c: (
            libdl.tensor([[1, 2]], device="cpu", dtype=libdl.float32).tolist() == [[1, 2]]
        ),
        lambda layer, c: c.quantile(0.5).item() == 1,
        lambda layer, c: copy.deepcopy(layer).weight.is_cpu,
        lambda layer, c: pickle.loads(pickle.dumps(c)).tolist() == [1, 1],
        lambda layer, c: c.unique().tolist() == [1],
        lambda layer, c: libdl.quasirandom.SobolEngine(2, True).draw(2).is_cpu,
        lambda layer, c: nn.functional.threshold(c.int(), 1, 7).tolist() == [7, 7],
        lambda layer, c: libdl.tril_indices(2, 2).is_meta,
        lambda layer, c: nn.LSTM(2, 3)(on_meta(1, 2))[0].is_meta,
        lambda layer, c: (
            layer(c).sum().backward() or libdl.optim.Adam(layer.parameters()).step() or c.is_cpu
        ),
        lambda layer, c: (
            layer(c).sum().backward() or libdl.optim.NAdam(layer.parameters()).step() or c.is_cpu
        ),
    ],
)
def test_work_on_the_cpu_goes_on_inside(work):
    layer, c = nn.Linear(2, 2), libdl.ones(2)
    with libdl.device("meta"):
        assert work(layer, c)


# -- no elements -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.cpu(),
        lambda x: x.to("cpu"),
        lambda x: x.tolist(),
        lambda x: libdl.ones(3).copy_(x),
        lambda x: on_meta(0).cpu(),
        lambda x: libdl.ones(4).__setitem__(slice(0, 3), x),
        lambda x: libdl.ones(3).__setitem__(0, x[0]),
        lambda x: on_meta(10**6, 10**6).cpu(),
        lambda x: libdl.tensor(x, device="cpu"),
        lambda x: list(x.untyped_storage()),
    ],
)
def test_nothing_is_copied_out(read):
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        read(on_meta(3))


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.item(),
        bool,
        float,
        int,
        complex,
        lambda x: x if x else 0,
        lambda x: 3 in x,
        libdl.is_nonzero,
        lambda x: libdl.allclose(x, x),
        lambda x: libdl.equal(x, x),
        lambda x: nn.functional.one_hot(x.long()),
    ],
)
def test_no_item_is_read(read):
    with pytest.raises(RuntimeError, match=r"Tensor.item\(\) cannot be called on meta tensors"):
        read(on_meta(1))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.nonzero(),
        lambda x: x[x > 0],
        lambda x: x.masked_select(x > 0),
        lambda x: x.unique(),
        lambda x: libdl.where(x > 0),
        lambda x: libdl.argwhere(x),
        lambda x: libdl.unique_consecutive(x),
        lambda x: libdl.bincount(x.long()),
        lambda x: libdl.repeat_interleave(x, x.long()),
    ],
)
def test_shapes_that_depend_on_elements_are_refused(call):
    with pytest.raises(RuntimeError):
        call(on_meta(3))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: x.numpy(), TypeError),
        (np.asarray, TypeError),
        (lambda x: x.__dlpack__(), BufferError),
        (lambda x: x.__dlpack_device__(), ValueError),
        (np.from_dlpack, (ValueError, BufferError)),
        (memoryview, RuntimeError),
        (lambda x: x.pin_memory(), RuntimeError),
        (lambda x: x.share_memory_(), RuntimeError),
        (lambda x: x.set_(libdl.ones(3)), RuntimeError),
        (lambda x: libdl.ones(3).set_(x), RuntimeError),
    ],
)
def test_no_memory_is_shared(call, error):
    with pytest.raises(error):
        call(on_meta(3))
    assert not on_meta(3).is_shared() and not on_meta(3).is_pinned()


@pytest.mark.parametrize(
    "call",
    [
        lambda x, c: x + c,
        lambda x, c: c * x,
        lambda x, c: libdl.cat([x, c]),
        lambda x, c: c @ x,
        lambda x, c: libdl.stack([c, x]),
        lambda x, c: libdl.add(c, c, out=x),
        lambda x, c: c.add_(x),
        lambda x, c: nn.functional.linear(c, x.view(1, 3)),
        lambda x, c: libdl.where(c > 0, c, x),
        lambda x, c: c + on_meta(()),
    ],
)
def test_devices_do_not_mix(call):
    with pytest.raises(RuntimeError, match="is on (meta|cpu), wanted (cpu|meta)"):
        call(on_meta(3), libdl.ones(3))


@pytest.mark.parametrize(
    "call, shape, dtype",
    [
        (lambda x, i: libdl.quantile(x, 0.5, 1), (2,), "float32"),
        (lambda x, i: libdl.isin(x, 1), (2, 3), "bool"),
        (lambda x, i: libdl.gcd(i, i), (2, 3), "int64"),
        (lambda x, i: libdl.lcm(i, 4 * i), (2, 3), "int64"),
        (lambda x, i: libdl.histc(x, 5), (5,), "float32"),
        (lambda x, i: libdl.nonzero_static(x, size=4), (4, 2), "int64"),
        (lambda x, i: nn.functional.one_hot(i, 7), (2, 3, 7), "int64"),
        (lambda x, i: x[0, 0].mode().indices, (), "int64"),
        (lambda x, i: nn.Embedding(5, 4, max_norm=1.0, device="meta")(i), (2, 3, 4), "float32"),
        (lambda x, i: libdl.full((2, 2), 1.0, out=on_meta(2, 2)), (2, 2), "float32"),
        (lambda x, i: libdl.linspace(0, 1, 4, out=on_meta(4)), (4,), "float32"),
        (lambda x, i: libdl.rand(4, out=on_meta(4)), (4,), "float32"),
        (lambda x, i: libdl.diag_embed(x), (2, 3, 3), "float32"),
        (lambda x, i: libdl.tril_indices(3, 3, device="meta"), (2, 6), "int64"),
        (lambda x, i: x.triu(1), (2, 3), "float32"),
        (lambda x, i: libdl.combinations(x[0]), (3, 2), "float32"),
        (lambda x, i: x.masked_scatter(x > 0, x), (2, 3), "float32"),
        (lambda x, i: libdl.multinomial(x, 2), (2, 2), "int64"),
        (
            lambda x, i: nn.functional.embedding_bag(i.view(-1), on_meta(9, 4), i[0]),
            (3, 4),
            "float32",
        ),
        (lambda x, i: nn.functional.multi_margin_loss(x, i[:, 0]), (), "float32"),
        (lambda x, i: libdl.func.jacrev(libdl.sin)(x), (2, 3, 2, 3), "float32"),
        (lambda x, i: libdl.vmap(libdl.sum)(x), (2,), "float32"),
    ],
)
def test_shapes_that_no_element_changes(call, shape, dtype):
    made = call(on_meta(2, 3), on_meta(2, 3, dtype=libdl.int64))
    assert made.is_meta and made.shape == shape and made.dtype is getattr(libdl, dtype)


def test_large_temporaries_are_not_made_on_the_host():
    x = on_meta(10**7, 10**7, requires_grad=True)
    y = x.tril().diagonal().diag_embed() + libdl.eye(10**7, device="meta")
    libdl.arange(10**13, device="meta"), libdl.linspace(0, 1, 10**13, device="meta")
    libdl.randperm(10**13, device="meta")
    (y.as_strided((10**7, 10**6), (1, 1)) * 2).sum().backward()
    assert x.grad.shape == x.shape
    with pytest.raises(NotImplementedError):
        x.detach().clone()[0].tolist()


def test_nothing_to_compare():
    libdl.testing.assert_close(on_meta(2, 3), on_meta(2, 3))
    with pytest.raises(AssertionError, match="attribute 'shape'"):
        libdl.testing.assert_close(on_meta(2, 3), on_meta(2, 4))


def test_numbers_and_what_goes_in():
    x = on_meta(3)
    for y in (
        x + libdl.tensor(1.0),
        x + 1,
        2 - x,
        x.copy_(libdl.ones(3)),
        x[libdl.tensor([0, 1, 2])],
    ):
        assert y.is_meta and y.shape == (3,)
    assert x[libdl.tensor([True, False, True])].shape == (2,)
    x[0] = 1.0
    x[1] = libdl.tensor(2.0)
    x[x > 0] = 3.0
    x[x > 0] = on_meta(2)
    x[:2] = libdl.ones(2)


# -- modules ---------------------------------------------------------------------------------------


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.body = nn.Sequential(nn.Conv1d(8, 8, 3, padding=1), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.out = nn.Linear(8, 11)
        self.out.weight = self.embedding.weight

    def forward(self, x):
        h = self.embedding(x).transpose(1, 2)
        return self.out(self.head(self.body(h).transpose(1, 2)))


def made_on_meta():
    with META:
        return Net()


def same_state(a, b):
    mine, yours = a.state_dict(), b.state_dict()
    assert list(mine) == list(yours)
    return all(libdl.equal(mine[key], yours[key]) for key in mine)


def test_a_model_is_planned_there():
    net, twin = made_on_meta(), Net()
    assert all(x.is_meta for x in net.state_dict().values())
    assert net.out.weight is net.embedding.weight
    y = net(libdl.zeros(4, 6, dtype=libdl.int64, device="meta"))
    assert y.is_meta and y.shape == twin(libdl.zeros(4, 6, dtype=libdl.int64)).shape
    y.sum().backward()
    assert all(p.grad.is_meta and p.grad.shape == p.shape for p in net.parameters())


def test_it_is_filled_by_assignment():
    net, full = made_on_meta(), Net()
    net.load_state_dict(full.state_dict(), assign=True)
    assert same_state(net, full) and all(isinstance(p, nn.Parameter) for p in net.parameters())


def test_a_copy_into_it_warns_and_does_nothing():
    layer = nn.Linear(2, 3, device="meta")
    with pytest.warns(UserWarning, match="a meta parameter in the current model, which is a no-op"):
        layer.load_state_dict(nn.Linear(2, 3).state_dict())
    assert layer.weight.is_meta
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer.load_state_dict(nn.Linear(2, 3, device="meta").state_dict())
    with pytest.raises(RuntimeError, match="no data!"):
        nn.Linear(2, 3).load_state_dict(layer.state_dict())


def test_it_moves_only_without_elements():
    net = made_on_meta()
    with pytest.raises(NotImplementedError, match=r"Please use Module.to_empty\(\) instead"):
        net.to("cpu")
    with pytest.raises(NotImplementedError, match="no data!"):
        net.cpu()
    net.to_empty(device="cpu")
    assert all(x.is_cpu for x in net.state_dict().values())
    assert Net().to("meta").out.weight.is_meta
    assert made_on_meta().half().out.weight.dtype is libdl.float16


def test_skip_init_draws_nothing():
    libdl.manual_seed(1)
    before = libdl.get_rng_state()
    layer = nn.utils.skip_init(nn.Linear, 3, 2)
    assert layer.weight.is_cpu and layer.weight.shape == (2, 3) and layer.weight.requires_grad
    assert nn.utils.skip_init(nn.Linear, 3, 2, device="meta").weight.is_meta
    assert libdl.equal(libdl.get_rng_state(), before)


def test_copies():
    net = made_on_meta()
    twin = copy.deepcopy(net)
    assert twin.out.weight.is_meta and twin.out.weight is not net.out.weight
    assert twin.out.weight is twin.embedding.weight
    x = libdl.empty_strided((3, 2), (1, 3), device="meta")
    for made in (copy.deepcopy(x), copy.copy(x), x.clone(), pickle.loads(pickle.dumps(x))):
        assert made.is_meta and made.shape == (3, 2) and made.stride() == (1, 3)
    again = pickle.loads(pickle.dumps(net))
    assert all(x.is_meta for x in again.state_dict().values())


def test_parameters_are_exchanged():
    """As accelerate and transformers fill a model, tensor by tensor."""
    layer = nn.Linear(2, 3, device="meta")
    value = libdl.ones(3, 2)
    layer._parameters["weight"] = nn.Parameter(value.to("cpu"), requires_grad=False)
    setattr(layer, "bias", nn.Parameter(libdl.zeros(3)))
    assert libdl.equal(layer(libdl.ones(1, 2)), libdl.full((1, 3), 2.0))
    a, b = nn.Parameter(on_meta(2)), nn.Parameter(libdl.ones(2))
    libdl.utils.swap_tensors(a, b)
    assert a.is_cpu and b.is_meta
    b.data = libdl.zeros(2)
    assert b.tolist() == [0, 0]


def test_empty_weights(monkeypatch):
    """accelerate's init_empty_weights: register_parameter moves what it gets."""
    register = nn.Module.register_parameter

    def registered(module, name, param):
        register(module, name, param)
        if param is not None:
            kind, options = type(module._parameters[name]), module._parameters[name].__dict__
            options["requires_grad"] = param.requires_grad
            module._parameters[name] = kind(module._parameters[name].to(META), **options)

    monkeypatch.setattr(nn.Module, "register_parameter", registered)
    layer = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.LSTM(3, 4))
    assert all(p.is_meta and p.requires_grad for p in layer.parameters())
    assert len(list(layer.parameters())) == 8


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam"])
@pytest.mark.parametrize("foreach", [None, True, False])
def test_optimizers_step_there(name, foreach):
    layer = nn.Linear(2, 3, device="meta")
    optimizer = getattr(libdl.optim, name)(layer.parameters(), lr=0.1, foreach=foreach)
    for _ in range(2):
        optimizer.zero_grad()
        layer(on_meta(5, 2)).pow(2).mean().backward()
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        optimizer.step()
    assert layer.weight.is_meta and layer.weight.shape == (3, 2)
    held = [
        x
        for s in optimizer.state_dict()["state"].values()
        for k, x in s.items()
        if isinstance(x, libdl.Tensor) and k not in ("step", "mu_product")
    ]
    assert all(x.is_meta for x in held)


# -- files and processes ---------------------------------------------------------------------------


@pytest.mark.parametrize("format", [None, "torch"])
def test_a_file_has_their_shapes(format):
    x = libdl.empty_strided((3, 2), (1, 3), device="meta", dtype=libdl.bfloat16)
    held = {
        "x": x,
        "layer": nn.Linear(2, 3, device="meta").state_dict(),
        "full": libdl.ones(2),
        "p": nn.Parameter(on_meta(4)),
    }
    file = io.BytesIO()
    libdl.save(held, file, format=format)
    for where in (None, "cpu", "meta"):
        file.seek(0)
        found = libdl.load(file, map_location=where)
        assert found["x"].is_meta and found["x"].stride() == (1, 3)
        assert found["x"].dtype is libdl.bfloat16 and found["layer"]["weight"].shape == (3, 2)
        assert type(found["p"]) is nn.Parameter and found["p"].requires_grad
        assert found["full"].is_meta == (where == "meta")


def test_a_whole_module_is_saved():
    file = io.BytesIO()
    libdl.save(nn.Sequential(nn.Linear(2, 3, device="meta")), file)
    file.seek(0)
    found = libdl.load(file, weights_only=False)
    assert found[0].weight.is_meta and found[0].weight.shape == (3, 2)


@pytest.mark.parametrize("format", ["safetensors", "torch"])
def test_a_file_is_loaded_there(format):
    file = io.BytesIO()
    libdl.save({"x": libdl.ones(2, 3), "n": 1}, file, format=format)
    file.seek(0)
    found = libdl.load(file, map_location="meta")
    assert found["x"].is_meta and found["x"].shape == (2, 3) and found["n"] == 1


def test_safetensors_hold_no_shapes_without_elements():
    with pytest.raises(TypeError, match="Tensor"):
        libdl.save({"x": on_meta(2)}, io.BytesIO(), format="safetensors")


def test_they_go_to_other_processes():
    queue = libdl.multiprocessing.get_context("fork").SimpleQueue()
    queue.put({"x": on_meta(3, 2), "p": nn.Parameter(on_meta(2)), "full": libdl.ones(2)})
    found = queue.get()
    assert found["x"].is_meta and found["x"].shape == (3, 2) and found["full"].tolist() == [1, 1]
    assert type(found["p"]) is nn.Parameter and found["p"].is_meta


# -- operators of programs -------------------------------------------------------------------------


def test_a_fake_function_gives_the_shapes():
    @libdl.library.custom_op("meta_test::twice", mutates_args=())
    def twice(x: libdl.Tensor) -> libdl.Tensor:
        return libdl.from_numpy(np.repeat(x.numpy(), 2))

    @twice.register_fake
    def _(x):
        return x.new_empty(2 * x.shape[0])

    twice.register_autograd(lambda ctx, g: g.view(-1, 2).sum(1))
    x = on_meta(3, requires_grad=True)
    y = twice(x)
    y.sum().backward()
    assert y.is_meta and y.shape == (6,) and x.grad.is_meta and x.grad.shape == (3,)
    assert twice(libdl.tensor([1.0, 2.0])).tolist() == [1, 1, 2, 2]


def test_a_library_has_a_kernel_for_it():
    library = libdl.library.Library("meta_test_library", "DEF")
    library.define("half(Tensor x) -> Tensor")
    library.impl("half", lambda x: x[: len(x) // 2].clone(), "CompositeImplicitAutograd")
    library.impl("half", lambda x: x.new_empty(len(x) // 2, dtype=libdl.int8), "Meta")
    half = libdl.ops.meta_test_library.half
    assert half(on_meta(8)).dtype is libdl.int8 and half(libdl.ones(4)).tolist() == [1, 1]
