# SPDX-License-Identifier: Apache-2.0
"""vmap: what a function of samples gives for a batch, alone and with the other transforms."""

import pytest

import libdl
from libdl import func, nn

F = nn.functional
B = 4


@pytest.fixture
def x():
    return libdl.randn(B, 3, dtype=libdl.float64)


W = libdl.tensor([0.5, -1.0, 2.0], dtype=libdl.float64)


def close(found, wanted):
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    # The same sums in another order, in float64.
    assert libdl.allclose(found, wanted, rtol=1e-12, atol=1e-12), (found, wanted)


def loop(f, *batches):
    return libdl.stack([f(*samples) for samples in zip(*batches, strict=True)])


def wave(a):
    return (a.sin() * W).sum() ** 2


def push(f):
    return lambda a: func.jvp(f, (a,), (W,))[1]


def pull(f):
    return lambda a: func.vjp(f, a)[1](f(a))[0]


TRANSFORMS = [
    wave,
    func.grad(wave),
    push(wave),
    pull(wave),
    func.jacrev(libdl.sin),
    func.jacfwd(libdl.sin),
    func.hessian(wave),
    push(func.grad(wave)),
    func.grad(push(wave)),
    pull(pull(libdl.exp)),
    func.grad(lambda a: func.grad(wave)(a).sum()),
    push(push(wave)),
    func.jacfwd(func.jacrev(wave)),
]


@pytest.mark.parametrize("f", TRANSFORMS)
def test_a_transform_of_each_sample(f, x):
    close(libdl.vmap(f)(x), loop(f, x))


@pytest.mark.parametrize("f", TRANSFORMS)
def test_a_transform_of_what_vmap_gives(f, x):
    def whole(batch):
        return libdl.vmap(f)(batch).sum()

    def each(batch):
        return loop(f, batch).sum()

    for transform in (func.grad, func.jacfwd):
        close(transform(whole)(x), transform(each)(x))


def test_vmap_of_vmap(x):
    def product(a, b):
        return (a * b).sin()

    y = libdl.arange(5.0, dtype=libdl.float64)
    inner = libdl.vmap(func.grad(product), in_dims=(None, 0))
    close(libdl.vmap(inner, in_dims=(0, None))(W, y), y * (W[:, None] * y).cos())


def test_gradients_of_each_sample():
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double()
    state = {name: p.detach() for name, p in model.named_parameters()}
    x, classes = libdl.randn(B, 3, dtype=libdl.float64), libdl.tensor([0, 1, 1, 0])

    def loss(state, sample, c):
        y = func.functional_call(model, state, (sample.unsqueeze(0),))
        return F.cross_entropy(y, c.unsqueeze(0))

    found = libdl.vmap(func.grad(loss), in_dims=(None, 0, 0))(state, x, classes)
    for i in range(B):
        for name, wanted in func.grad(loss)(state, x[i], classes[i]).items():
            close(found[name][i], wanted)


def test_backward_through_vmap(x):
    x.requires_grad_()
    libdl.vmap(wave)(x).sum().backward()
    close(x.grad, func.grad(lambda batch: loop(wave, batch).sum())(x.detach()))


def test_each_sample_of_an_argument_that_all_share(x):
    """The gradient by a shared argument is one for each sample, not their sum."""

    def f(w, a):
        return (w * a).sum() ** 2

    found = libdl.vmap(func.grad(f), in_dims=(None, 0))(W, x)
    close(found, 2 * (x @ W)[:, None] * x)


def test_the_same_numbers_in_every_chunk(x):
    found = libdl.vmap(lambda a: a * 0 + libdl.randn(3), randomness="same", chunk_size=3)(x)
    assert (found == found[0]).all() and found[0].std() > 0


# -- what vmap refuses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda a: a.sum().item(), "item.* reads the values"),
        (lambda a: a if a.sum() > 0 else -a, "branch depends on the values"),
        (lambda a: float(a[0]), "reads the values"),
        (lambda a: a + libdl.randn(3), "randn is a random operation"),
        (lambda a: libdl.zeros(3).add_(a), "add_ in place is not possible"),
        (lambda a: a[a > 0], "mask that differs between samples"),
        (lambda a: a.nonzero(), "depends on the values"),
        (lambda a: a.sum().backward(), "backward.. cannot be called"),
        (lambda a: a.as_strided((2,), (1,)), "as_strided reads memory"),
        (lambda a: F.one_hot(a.long()), "one_hot needs num_classes"),
    ],
)
def test_what_a_sample_cannot_do(f, words, x):
    with pytest.raises(RuntimeError, match=f"vmap: .*{words}"):
        libdl.vmap(f)(x)
    assert libdl.vmap(wave)(x).shape == (B,)  # the level has ended


def test_a_loop_warns_and_names_the_operator(x):
    def f(a):
        return a.masked_scatter(W > 0, W)

    with pytest.warns(UserWarning, match="vmap: masked_scatter has no rule"):
        found = libdl.vmap(f)(x)
    close(found, loop(f, x))


def test_a_tensor_of_a_vmap_that_has_ended(x):
    kept = []
    libdl.vmap(lambda a: kept.append(a) or a)(x)
    with pytest.raises(RuntimeError, match="vmap that has ended"):
        kept[0] + 1


def test_the_directions_of_a_vjp_outside(x):
    _, pull = func.vjp(lambda a: a.sin() * W, W)
    close(libdl.vmap(pull)(x)[0], loop(lambda a: pull(a)[0], x))
    # under two levels, of which one or both map the cotangents, the inputs, or what is computed

    def product(w, at):
        return func.vjp(lambda a: a.sin() * w, at)[1]

    twice = libdl.stack([x, x + 1, x * 2])
    each = libdl.vmap(libdl.vmap(pull))(twice)[0]
    close(each, loop(lambda b: loop(lambda a: pull(a)[0], b), twice))
    each = libdl.vmap(lambda w: libdl.vmap(product(w, w))(x)[0])(x[:3])
    close(each, loop(lambda w: loop(lambda a: product(w, w)(a)[0], x), x[:3]))
    each = libdl.vmap(lambda w: libdl.vmap(lambda v: product(v * w, w)(v)[0])(x))(x[:3])
    close(each, loop(lambda w: loop(lambda v: product(v * w, w)(v)[0], x), x[:3]))


def test_inputs_that_samples_share_have_a_gradient_for_each_of_them(x):
    shared = W.clone().requires_grad_()

    def slope(a, v=None):
        y = (a * shared).exp() * a.sum()
        return libdl.autograd.grad(y, shared, libdl.ones_like(y) if v is None else v)[0]

    def wanted(a, v):
        return (a * shared.detach()).exp() * a.sum() * a * v

    close(libdl.vmap(slope)(x), loop(lambda a: wanted(a, 1), x))
    rows = libdl.stack([wanted(a, v) for a, v in zip(x, x.sin(), strict=True)])
    close(libdl.vmap(slope)(x, x.sin()), rows)
    pairs = libdl.stack([x, x]), libdl.stack([x.sin(), x.sin()])
    close(libdl.vmap(libdl.vmap(slope))(*pairs)[1], rows)
    crossed = libdl.vmap(lambda a: libdl.vmap(lambda v: slope(a, v))(x.sin()))(x)
    close(crossed, loop(lambda a: loop(lambda v: wanted(a, v), x.sin()), x))
    crossed = libdl.vmap(lambda v: libdl.vmap(lambda a: slope(a, v))(x))(x.sin())
    close(crossed, loop(lambda v: loop(lambda a: wanted(a, v), x), x.sin()))


# -- functions with their own gradient -------------------------------------------------------------


class Cube(libdl.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        assert a.shape == (3,)
        return a**3

    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.saved_tensors[0] ** 2 * g


class Scaled(libdl.autograd.Function):
    @staticmethod
    def forward(ctx, a, w):
        ctx.save_for_backward(a, w)
        return a * w

    @staticmethod
    def backward(ctx, g):
        a, w = ctx.saved_tensors
        return g * w, g * a

    @staticmethod
    def vmap(info, in_dims, a, w):
        assert info == (B, "error") and in_dims == (0, None)
        return Scaled.apply(a, w.expand(a.shape)), 0


@pytest.mark.parametrize("f", [Cube.apply, lambda a: Scaled.apply(a, W)])
def test_a_function_with_its_own_gradient(f, x):
    close(libdl.vmap(f)(x), loop(f, x))
    x.requires_grad_()
    found = libdl.autograd.grad(libdl.vmap(f)(x).sum(), x)[0]
    close(found, libdl.autograd.grad(loop(f, x).sum(), x)[0])
    close(libdl.vmap(func.grad(lambda a: Cube.apply(a).sum()))(x.detach()), 3 * x.detach() ** 2)


def test_a_function_without_a_rule(x):
    class Bare(libdl.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

    with pytest.raises(RuntimeError, match="Bare is a Function without a rule"):
        libdl.vmap(Bare.apply)(x)


# -- modules ---------------------------------------------------------------------------------------

LAYERS = {
    "linear": (lambda: nn.Linear(3, 2), (5, 3)),
    "conv1d": (lambda: nn.Conv1d(4, 2, 3, groups=2, padding=1), (2, 4, 5)),
    "conv2d, no batch": (lambda: nn.Conv2d(2, 3, 2, stride=2), (2, 4, 4)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(2, 3, 2), (1, 2, 3, 3)),
    "batch_norm": (lambda: nn.BatchNorm2d(3, track_running_stats=False), (2, 3, 4, 4)),
    "group_norm": (lambda: nn.GroupNorm(2, 4), (2, 4, 3)),
    "layer_norm": (lambda: nn.LayerNorm(4), (2, 4)),
    "attention": (lambda: nn.MultiheadAttention(4, 2, batch_first=True), (2, 3, 4)),
    "transformer": (lambda: nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), (1, 3, 4)),
}


@pytest.mark.filterwarnings("error:vmap")
@pytest.mark.parametrize("layer", LAYERS)
def test_gradients_of_a_layer_without_a_loop(layer):
    make, shape = LAYERS[layer]
    module = make().double()
    state = {name: p.detach() for name, p in module.named_parameters()}
    x = libdl.randn(B, *shape, dtype=libdl.float64)

    def loss(state, a):
        args = (a, a, a) if layer == "attention" else (a,)
        y = func.functional_call(module, state, args)
        return (y[0] if isinstance(y, tuple) else y).sin().sum()

    found = libdl.vmap(func.grad(loss, argnums=(0, 1)), in_dims=(None, 0))(state, x)
    for i in range(B):
        wanted, by_input = func.grad(loss, argnums=(0, 1))(state, x[i])
        assert libdl.allclose(found[1][i], by_input, rtol=1e-9, atol=1e-9)
        for name in state:  # sums in another order, through a division by a small spread
            assert libdl.allclose(found[0][name][i], wanted[name], rtol=1e-9, atol=1e-9), name


def test_running_statistics_that_all_samples_share():
    norm = nn.BatchNorm1d(3)
    with pytest.raises(RuntimeError, match="batch_norm would write running statistics"):
        libdl.vmap(norm)(libdl.randn(B, 5, 3))
    norm.eval()
    x = libdl.randn(B, 5, 3)
    assert libdl.allclose(libdl.vmap(norm)(x), norm(x.flatten(0, 1)).unflatten(0, (B, 5)))


def test_grad_of_a_batch_of_gradients():
    x = W.clone().requires_grad_()
    found = libdl.autograd.grad(x**2, x, libdl.eye(3, dtype=libdl.float64), is_grads_batched=True)
    close(found[0], libdl.diag(2 * W))
    with pytest.raises(RuntimeError, match="grad: is_grads_batched"):
        libdl.autograd.grad(x**2, x, is_grads_batched=True)


def test_autograd_grad_inside():
    x = W.clone().requires_grad_()
    y = x**3
    rows = libdl.vmap(lambda v: libdl.autograd.grad(y, x, v, retain_graph=True)[0])
    close(rows(libdl.eye(3, dtype=libdl.float64)), libdl.diag(3 * W**2))
    batch = libdl.stack([W, 2 * W]).requires_grad_()

    def slope(a):
        return libdl.autograd.grad((a**2).sum(), a, create_graph=True)[0]

    close(libdl.vmap(slope)(batch), 2 * batch)
    close(
        libdl.vmap(lambda a: libdl.autograd.grad(slope(a).prod(), a)[0])(batch),
        loop(lambda a: 8 * libdl.stack([a[1] * a[2], a[0] * a[2], a[0] * a[1]]), batch.detach()),
    )
    both = libdl.vmap(lambda a: libdl.stack(libdl.autograd.grad((a * x).sum(), (a, x))))(batch)
    close(both, libdl.stack([libdl.stack([W, row]) for row in batch.detach()]))
    unused = libdl.vmap(
        lambda a: (
            libdl.autograd.grad((a * a).sum(), (a, x), allow_unused=True, materialize_grads=True)[1]
            + a
        )
    )(batch)
    close(unused, batch)
    with pytest.raises(RuntimeError, match="grad_outputs are implied for outputs of one element"):
        libdl.vmap(lambda a: libdl.autograd.grad(a * 2, a)[0])(batch)


def test_questions_about_history_under_two_levels():
    seen = []

    def square(a):
        y = a * a
        seen.append((a.requires_grad, a.is_leaf, y.requires_grad, y.grad_fn is not None))
        return y

    close(libdl.vmap(libdl.vmap(func.grad(square)))(W.expand(2, 3)), (2 * W).expand(2, 3))
    assert seen == [(True, True, True, True)]


def test_debug_unwrap_shows_all_samples(x):
    seen = []

    def look(a):
        seen.append([func.debug_unwrap(a), func.debug_unwrap(a, recurse=False)])
        return a.sum()

    libdl.vmap(look)(x)
    assert seen[0][0] is seen[0][1] and seen[0][0].tolist() == x.tolist()
    pairs = libdl.stack([x, x + 1])
    libdl.vmap(libdl.vmap(look))(pairs)
    assert seen[1][0].tolist() == pairs.tolist() and seen[1][1].shape == x.shape
    func.grad(look)(x[0])
    assert seen[2][0].shape == x[0].shape and func.debug_unwrap(x) is x
    with pytest.raises(TypeError, match="debug_unwrap: found a int"):
        func.debug_unwrap(3)


# -- views stay views ------------------------------------------------------------------------------

VIEWS = {
    "transpose": lambda x: x.transpose(0, 0),
    "swapaxes": lambda x: x.swapaxes(0, -1),
    "movedim": lambda x: x.movedim(0, 0),
    "flatten": lambda x: x.flatten(),
    "unfold": lambda x: x.unfold(0, 1, 1),
    "ravel": lambda x: x.ravel(),
    "mT": lambda x: x.mT,
    "adjoint": lambda x: x.adjoint(),
    "H": lambda x: x.H,
    "T": lambda x: x.T,
    "t": lambda x: x.t(),
    "squeeze": lambda x: x.squeeze(),
    "contiguous": lambda x: x.contiguous(),
}


@pytest.mark.parametrize("in_dims", [0, 1])
@pytest.mark.parametrize("name", VIEWS)
def test_a_write_through_a_view_of_a_0d_sample_arrives(name, in_dims):
    def write(row):
        kept = row * 1
        VIEWS[name](kept[0]).mul_(10)
        return kept

    x = libdl.arange(6.0).view(3, 2)
    found = func.vmap(write, in_dims=in_dims)(x)
    assert libdl.equal(found, libdl.stack([write(row) for row in x.unbind(in_dims)]))


def test_a_squeezed_0d_sample_is_another_tensor():
    def reshaped(x):
        y = x.squeeze()
        y.unsqueeze_(0)
        return x, y

    x, y = func.vmap(reshaped)(libdl.arange(3.0))
    assert x.shape == (3,) and y.shape == (3, 1)


@pytest.mark.parametrize("view", [lambda x: x.t(), lambda x: x.H])
def test_a_view_is_refused_as_of_one_sample(view):
    x = libdl.ones(2, 1, 2, 3)
    with pytest.raises(RuntimeError) as alone:
        view(x[0])
    with pytest.raises(type(alone.value)):
        func.vmap(view)(x)


@pytest.mark.parametrize("name", ["coalesce", "indices", "values"])
def test_a_call_without_a_rule_is_a_runtime_error(name):
    with pytest.raises(RuntimeError, match="vmap: a call has no rule"):
        func.vmap(lambda x: getattr(x * 1, name)())(libdl.ones(3))
