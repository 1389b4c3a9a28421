# SPDX-License-Identifier: Apache-2.0
"""Random numbers under vmap: refused, one draw for each sample, or one for all of them, wherever
they are drawn: by functions of sizes, in place, in layers, attention, networks and
distributions."""

import warnings

import pytest

import libdl
from libdl import distributions, nn

F = nn.functional
B = 4


@pytest.fixture(autouse=True)
def quiet():
    libdl.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an operator runs sample by sample
        yield


def ones(x, *sizes):
    """Of each sample, and the same for all."""
    return (x * 0).sum() + libdl.ones(sizes)


def attention(need_weights):
    layer = nn.MultiheadAttention(8, 2, dropout=0.5)
    return lambda x: layer(*[ones(x, 6, 8)] * 3, need_weights=need_weights)[0]


def network(kind):
    layer = kind(5, 6, 2, dropout=0.5)
    return lambda x: layer(libdl.ones(3, 5))[0], lambda x: layer(ones(x, 3, 5))[0]


LSTM, GRU, RNN = (network(kind) for kind in (nn.LSTM, nn.GRU, nn.RNN))
NETWORKS = [*LSTM, *GRU, *RNN]
DRAWS = {
    "rand": lambda x: libdl.rand(9),
    "randn": lambda x: libdl.randn((3, 3), dtype=libdl.float64),
    "rand(generator=)": lambda x: libdl.rand(9, generator=libdl.Generator()),
    "randint": lambda x: libdl.randint(0, 10**6, (5,)),
    "randint(high)": lambda x: libdl.randint(10**6, size=(5,)),
    "randperm": lambda x: libdl.randperm(50),
    "normal": lambda x: libdl.normal(0.0, 1.0, (5,)),
    "normal of tensors": lambda x: libdl.normal(libdl.zeros(5), 1.0),
    "normal of samples": lambda x: libdl.normal(ones(x, 5), libdl.ones(5)),
    "bernoulli": lambda x: libdl.bernoulli(libdl.full((40,), 0.5)),
    "bernoulli_": lambda x: ones(x, 40).bernoulli_(0.5),
    "multinomial": lambda x: libdl.multinomial(libdl.ones(500), 5),
    "poisson": lambda x: libdl.poisson(libdl.full((9,), 50.0)),
    "standard gamma": lambda x: libdl._standard_gamma(libdl.ones(5)),
    "standard gamma of samples": lambda x: libdl._standard_gamma(ones(x, 5)),
    "rand_like": lambda x: libdl.rand_like(x),
    "rand_like of what all share": lambda x: libdl.rand_like(libdl.ones(5)),
    "randint_like": lambda x: libdl.randint_like(x, 10**6),
    "uniform_": lambda x: ones(x, 5).uniform_(),
    "exponential_": lambda x: libdl.empty_like(x).exponential_(),
    "random_": lambda x: ones(x, 5).random_(0, 10**6),
    "dropout": lambda x: F.dropout(ones(x, 60)),
    "dropout of what all share": lambda x: F.dropout(libdl.ones(60)),
    "dropout in place": lambda x: F.dropout(ones(x, 60), inplace=True),
    "dropout1d": lambda x: F.dropout1d(ones(x, 60, 2)),
    "alpha_dropout": lambda x: F.alpha_dropout(ones(x, 60), training=True),
    "feature_alpha_dropout": lambda x: F.feature_alpha_dropout(ones(x, 2, 60), training=True),
    "rrelu": lambda x: F.rrelu(-ones(x, 9), training=True),
    "gumbel_softmax": lambda x: F.gumbel_softmax(ones(x, 5)),
    "attention": lambda x: F.scaled_dot_product_attention(
        ones(x, 6, 6), ones(x, 6, 6), libdl.eye(6), dropout_p=0.5
    ),
    "attention of what all share": lambda x: F.scaled_dot_product_attention(
        libdl.ones(6, 6), libdl.ones(6, 6), libdl.eye(6), dropout_p=0.5
    ),
    "MultiheadAttention": attention(True),
    "MultiheadAttention, fast": attention(False),
    "fractional pooling": lambda x: F.fractional_max_pool2d(
        ones(x, 1, 1, 1) + libdl.arange(400.0).view(1, 20, 20), 2, output_size=9
    ),
    "fractional pooling of what all share": lambda x: F.fractional_max_pool2d(
        libdl.arange(400.0).view(1, 20, 20), 2, output_size=9
    ),
    "Normal": lambda x: distributions.Normal(0.0, 1.0).sample(),
    "Normal of samples": lambda x: distributions.Normal(x * 0, 1.0).rsample(),
    "Beta": lambda x: distributions.Beta(libdl.ones(3), libdl.ones(3)).sample(),
    "Dirichlet": lambda x: distributions.Dirichlet(libdl.ones(3)).sample(),
    "Categorical": lambda x: distributions.Categorical(libdl.ones(10**4)).sample((3,)),
    "Exponential": lambda x: distributions.Exponential(x * 0 + 1).sample(),
    **{f"network {i}": NETWORKS[i] for i in range(len(NETWORKS))},
}


def drawn(draw, randomness):
    return (
        libdl.vmap(lambda x: draw(x), randomness=randomness)(libdl.rand(B, 5))
        .detach()
        .reshape(B, -1)
    )


@pytest.mark.parametrize("name", DRAWS)
def test_error(name):
    with pytest.raises(RuntimeError, match="is a random operation, and randomness is 'error'"):
        drawn(DRAWS[name], "error")
    libdl.rand(2)  # outside it may draw again
    assert not libdl._C.watch_draws(False)


@pytest.mark.parametrize("name", DRAWS)
def test_different(name):
    rows = drawn(DRAWS[name], "different")
    if name == "rand(generator=)":
        assert len(rows) == B  # a new generator in the function: its own numbers, whatever they are
        return
    for i in range(B):
        for j in range(i):
            assert (rows[i] != rows[j]).any(), (i, j)


@pytest.mark.parametrize("name", DRAWS)
def test_same(name):
    rows = drawn(DRAWS[name], "same")
    assert (rows == rows[0]).all()


@pytest.mark.parametrize("name", DRAWS)
def test_levels(name):
    """Inside a level that draws for each sample the level of the function decides for its own."""
    for inner in ("different", "same"):

        def rows(x, inner=inner):
            return libdl.vmap(DRAWS[name], randomness=inner)(x).detach().reshape(len(x), -1)

        found = libdl.vmap(rows, randomness="different")(libdl.rand(3, 2, 5))
        if name == "rand(generator=)":
            continue
        assert (found[0] != found[1]).any() and (found[1] != found[2]).any()
        assert bool((found[:, 0] == found[:, 1]).all()) == (inner == "same")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.dropout(x, 0.5, training=False),
        lambda x: F.dropout(x, 0.0),
        lambda x: F.alpha_dropout(x),
        lambda x: F.rrelu(x),
        lambda x: nn.Dropout().eval()(x),
        lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None])[0],
        lambda x: LSTM[1].__closure__[0].cell_contents.eval()(x.expand(3, 5))[0][0],
    ],
)
def test_what_does_not_draw_is_allowed(call):
    x = libdl.rand(B, 5)
    found = libdl.vmap(call)(x)
    assert libdl.allclose(found, libdl.stack([call(row) for row in x]), atol=1e-6)


def test_what_all_share_cannot_be_drawn_in_place_for_each():
    with pytest.raises(RuntimeError, match="uniform_ on a tensor that all samples share"):
        drawn(lambda x: libdl.zeros(3).uniform_(), "different")
    assert (drawn(lambda x: libdl.zeros(3).uniform_(), "same") > 0).all()


def test_arguments_of_distributions_are_checked():
    x = libdl.rand(B, 5)
    found = libdl.vmap(lambda a: distributions.Beta(a + 1, a + 1).log_prob(a))(x)
    assert libdl.allclose(found, distributions.Beta(x + 1, x + 1).log_prob(x))
    with pytest.raises(ValueError, match="Normal: scale"):
        libdl.vmap(lambda a: distributions.Normal(0.0, a - 2).log_prob(a))(x)
    with pytest.raises(ValueError, match="Beta: value"):
        libdl.vmap(lambda a: distributions.Beta(a + 1, a + 1).log_prob(a + 1))(x)


def test_the_same_seed_gives_the_same_numbers():
    libdl.manual_seed(5)
    first = drawn(DRAWS["dropout"], "different")
    libdl.manual_seed(5)
    assert (drawn(DRAWS["dropout"], "different") == first).all()
