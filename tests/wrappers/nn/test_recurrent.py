# SPDX-License-Identifier: Apache-2.0
"""The recurrent layers and cells, as Python sees them."""

import copy
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

import libdl as torch
from libdl import nn

KINDS = [
    ("LSTM", {}),
    ("GRU", {}),
    ("RNN", {}),
    ("RNN", {"nonlinearity": "relu"}),
    ("LSTM", {"proj_size": 2}),
]


class Packed(NamedTuple):
    """The fields of a PackedSequence."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any = None
    unsorted_indices: Any = None


def layer(kind, **options):
    torch.manual_seed(3)
    return getattr(nn, kind)(3, 4, **options)


def flat(result):
    """The output and the states as a list of tensors."""
    output, states = result
    return [output, *(states if isinstance(states, tuple) else [states])]


def near(found, wanted, atol=1e-6):
    for f, w in zip(found, wanted, strict=True):
        np.testing.assert_allclose(f.detach().numpy(), w.detach().numpy(), rtol=1e-5, atol=atol)


# -- parameters ------------------------------------------------------------------------------------


def test_parameters_have_pytorch_s_names_and_shapes():
    made = nn.LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2)
    shapes = {name: tuple(p.shape) for name, p in made.named_parameters()}
    assert list(shapes)[:5] == [
        "weight_ih_l0",
        "weight_hh_l0",
        "bias_ih_l0",
        "bias_hh_l0",
        "weight_hr_l0",
    ]
    assert shapes["weight_ih_l0"] == (16, 3) and shapes["weight_ih_l1_reverse"] == (16, 4)
    assert shapes["weight_hh_l1"] == (16, 2) and shapes["weight_hr_l1_reverse"] == (2, 4)
    assert len(shapes) == 20
    assert [len(each) for each in made.all_weights] == [5] * 4
    assert made.all_weights[1][0] is made.weight_ih_l0_reverse


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_without_biases(kind, gates):
    made = getattr(nn, kind)(3, 4, bias=False)
    assert [tuple(p.shape) for p in made.parameters()] == [(gates * 4, 3), (gates * 4, 4)]


def test_parameters_are_drawn_within_their_bound():
    made = nn.GRU(30, 25)
    for p in made.parameters():
        assert 0.15 < p.abs().max().item() <= 0.2


def test_flatten_parameters_changes_nothing():
    made = layer("LSTM")
    before = copy.deepcopy(made.state_dict())
    assert made.flatten_parameters() is None
    assert all(torch.equal(before[k], v) for k, v in made.state_dict().items())


def test_repr():
    assert repr(nn.LSTM(3, 4)) == "LSTM(3, 4)"
    assert repr(nn.GRU(3, 4, 2, False, True, 0.5, True)) == (
        "GRU(3, 4, num_layers=2, bias=False, batch_first=True, dropout=0.5, bidirectional=True)"
    )
    assert repr(nn.LSTM(3, 4, proj_size=2)) == "LSTM(3, 4, proj_size=2)"
    assert repr(nn.RNNCell(3, 4, nonlinearity="relu")) == "RNNCell(3, 4, nonlinearity=relu)"
    assert repr(nn.LSTMCell(3, 4, bias=False)) == "LSTMCell(3, 4, bias=False)"


# -- the call --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_shapes_and_equivalent_layouts(kind, options):
    made = layer(kind, num_layers=2, bidirectional=True, **options)
    other = copy.deepcopy(made)
    other.batch_first = True
    x = torch.randn(5, 2, 3)
    size = options.get("proj_size", 4)
    y = flat(made(x))
    assert tuple(y[0].shape) == (5, 2, 2 * size) and tuple(y[1].shape) == (4, 2, size)
    turned = flat(other(x.transpose(0, 1)))
    near([turned[0].transpose(0, 1), *turned[1:]], y)
    # One sequence for itself.
    alone = flat(made(x[:, 1]))
    near(alone, [y[0][:, 1], *(s[:, 1] for s in y[1:])])


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_states_may_be_continued(kind, options):
    made = layer(kind, num_layers=2, **options)
    x = torch.randn(6, 2, 3)
    whole = flat(made(x))
    first, states = made(x[:4])
    second = flat(made(x[4:], states))
    near([torch.cat([first, second[0]]), *second[1:]], whole)


@pytest.mark.parametrize(("kind", "options"), KINDS)
@pytest.mark.parametrize("sorted_", [True, False])
def test_packed_sequences(kind, options, sorted_):
    made = layer(kind, num_layers=2, bidirectional=True, **options)
    lengths = [4, 2, 1] if sorted_ else [2, 4, 1]
    x = torch.randn(4, 3, 3)
    order = sorted(range(3), key=lambda s: -lengths[s])
    sizes = [sum(length > t for length in lengths) for t in range(4)]
    data = torch.cat([x[t, s][None] for t in range(4) for s in order[: sizes[t]]])
    indices = None if sorted_ else torch.tensor(order)
    back = None if sorted_ else torch.tensor([order.index(s) for s in range(3)])
    output, states = made(Packed(data, torch.tensor(sizes), indices, back))
    assert type(output) is Packed and output.batch_sizes.tolist() == sizes
    rows = [(t, s) for t in range(4) for s in order[: sizes[t]]]
    ends = states if isinstance(states, tuple) else (states,)
    for s, length in enumerate(lengths):
        alone = flat(made(x[:length, s]))
        mine = [i for i, (_, owner) in enumerate(rows) if owner == s]
        near([output.data[mine], *(state[:, s] for state in ends)], alone)


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_gradients_arrive_everywhere(kind, options):
    made = layer(kind, num_layers=2, bidirectional=True, **options)
    x = torch.randn(5, 2, 3, requires_grad=True)
    output, states = made(x)
    (output.sum() + sum(s.sum() for s in flat((output, states))[1:])).backward()
    assert x.grad.abs().min().item() >= 0
    assert all(p.grad is not None and p.grad.shape == p.shape for p in made.parameters())
    # Each has memory of its own.
    before = made.bias_hh_l0.grad.clone()
    made.bias_ih_l0.grad.zero_()
    assert torch.equal(made.bias_hh_l0.grad, before)


def test_a_recorded_layer_is_one_node():
    made = layer("LSTM")
    y, _ = made(torch.randn(5, 2, 3))
    assert "lstm" in y.grad_fn.name().lower()
    assert all(f is None or "Accumulate" in f.name() for f, _ in y.grad_fn.next_functions)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_second_derivatives(kind):
    made = layer(kind).double()
    x = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda v: made(v)[0], (x,))


def test_forward_mode():
    made = layer("GRU", num_layers=2).double()
    x, t = torch.randn(3, 2, 3).double(), torch.randn(3, 2, 3).double()
    _, along = torch.func.jvp(lambda v: made(v)[0], (x,), (t,))
    step = 1e-6
    wanted = (made(x + t * step)[0] - made(x - t * step)[0]) / (2 * step)
    near([along], [wanted], 1e-7)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bits_are_rounded_once(dtype):
    made = layer("LSTM", num_layers=2).to(dtype)
    wide = copy.deepcopy(made).float()
    x = torch.randn(30, 2, 3).to(dtype)
    for found, wanted in zip(flat(made(x)), flat(wide(x.float()))):
        assert found.dtype == dtype
        assert torch.equal(found, wanted.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("kind", "options"), KINDS)
@pytest.mark.parametrize("rows", [(1, 1, 1), (2, 2, 2), (3, 3, 3), (3, 2, 1)])
def test_weights_of_16_bits_are_those_of_float32_rounded(kind, options, rows, dtype):
    """The same bits, whether the products read 16 bits or a copy in float32."""
    made = layer(kind, bidirectional=True, **options).to(dtype)
    wide = copy.deepcopy(made).float()
    data = torch.randn(sum(rows), 3).to(dtype)
    outputs = []
    for of, x in ((made, data), (wide, data.float())):
        x.requires_grad_(True)
        output, _ = of(Packed(x, torch.tensor(rows)))
        output.data.backward(torch.ones_like(output.data))
        outputs.append([output.data, x.grad, *(p.grad for p in of.parameters())])
    for found, wanted in zip(*outputs, strict=True):
        assert found.dtype == dtype and torch.equal(found, wanted.to(dtype))


def test_dropout_applies_between_layers_in_training():
    made = layer("GRU", num_layers=2, dropout=0.5)
    x = torch.randn(5, 2, 3)
    torch.manual_seed(1)
    first = made(x)[0]
    torch.manual_seed(1)
    assert torch.equal(made(x)[0], first)
    assert not torch.equal(made(x)[0], first)
    made.eval()
    assert torch.equal(made(x)[0], made(x)[0])


def test_dropout_of_everything_leaves_the_biases():
    made = layer("RNN", num_layers=2, dropout=1.0)
    with torch.no_grad():
        made.weight_hh_l1.zero_()
    y, _ = made(torch.randn(5, 2, 3))
    wanted = (made.bias_ih_l1 + made.bias_hh_l1).tanh().expand(5, 2, 4)
    near([y], [wanted])


def test_dropout_in_one_layer_warns():
    with pytest.warns(UserWarning, match="num_layers is 1"):
        nn.LSTM(3, 4, dropout=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.LSTM(3, 4, 2, dropout=0.5)


def test_state_dict_carries_over():
    made, other = layer("LSTM", num_layers=2), nn.LSTM(3, 4, num_layers=2)
    other.load_state_dict(made.state_dict())
    x = torch.randn(5, 2, 3)
    assert torch.equal(made(x)[0], other(x)[0])


def test_an_empty_batch():
    y, (h, c) = layer("LSTM")(torch.zeros(5, 0, 3))
    assert tuple(y.shape) == (5, 0, 4) and tuple(h.shape) == tuple(c.shape) == (1, 0, 4)


def test_results_do_not_depend_on_the_number_of_threads():
    made = nn.LSTM(40, 70, num_layers=2, bidirectional=True)
    x = torch.randn(20, 9, 40, requires_grad=True)
    found = []
    before = torch.get_num_threads()
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        y, _ = made(x)
        found.append((y, *torch.autograd.grad(y.square().sum(), [x, *made.parameters()])))
    torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other))


# -- functions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
def test_the_functions_take_both_forms(kind):
    gates = {"lstm": 4, "gru": 3}.get(kind, 1)
    params = [torch.randn(gates * 4, 3), torch.randn(gates * 4, 4)]
    h = torch.zeros(1, 2, 4)
    hx = [h, h] if kind == "lstm" else h
    x = torch.randn(5, 2, 3)
    call = getattr(torch, kind)
    plain = call(x, hx, params, False, 1, 0.0, False, False, False)
    sizes = torch.tensor([2] * 5)
    packed = call(x.reshape(10, 3), sizes, hx, params, False, 1, 0.0, False, False)
    named = call(
        data=x.reshape(10, 3),
        batch_sizes=sizes,
        hx=hx,
        params=params,
        has_biases=False,
        num_layers=1,
        dropout=0.0,
        train=False,
        bidirectional=False,
    )
    near([packed[0].reshape(5, 2, 4), *packed[1:]], plain)
    near(named, packed)


# -- cells -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "options"), KINDS[:4])
def test_cells_agree_with_layers(kind, options):
    made, cell = layer(kind, **options), getattr(nn, f"{kind}Cell")(3, 4, **options)
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in made.state_dict().items()})
    x = torch.randn(5, 2, 3)
    states, outputs = None, []
    for t in range(5):
        states = cell(x[t], states)
        outputs.append(states[0] if kind == "LSTM" else states)
    near([torch.stack(outputs)], [made(x)[0]])
    one = cell(x[0, 0])
    near([one[0] if kind == "LSTM" else one], [outputs[0][0]])


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda: nn.LSTM(3, 4, dropout=1.5),
            ValueError,
            "dropout is 1.5, wanted a number from 0 to 1",
        ),
        (lambda: nn.LSTM(3, 4, dropout=True), ValueError, "dropout is True"),
        (lambda: nn.LSTM(0, 4), ValueError, "input_size is 0, wanted more than 0"),
        (lambda: nn.LSTM(3, 4, num_layers=0), ValueError, "num_layers is 0"),
        (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size is 4"),
        (lambda: nn.LSTM(3, 4.0), TypeError, "hidden_size is 4.0, wanted int"),
        (lambda: nn.LSTM(3, 4, bias=1), TypeError, "bias is 1, wanted bool"),
        (lambda: nn.RNN(3, 4, nonlinearity="sin"), ValueError, "nonlinearity is 'sin'"),
        (lambda: nn.GRU(3, 4)(torch.ones(3)), ValueError, "is 1D, wanted 2D or 3D"),
        (
            lambda: nn.GRU(3, 4)(torch.ones(2, 1, 5)),
            RuntimeError,
            "has 5 features, wanted input_size, 3",
        ),
        (
            lambda: nn.GRU(3, 4)(torch.ones(2, 1, 3).double()),
            ValueError,
            "float64, wanted the parameters'",
        ),
        (
            lambda: nn.GRU(3, 4)(torch.ones(2, 1, 3), torch.ones(1, 2, 4)),
            RuntimeError,
            r"Expected hidden size \(1, 1, 4\), got \[1, 2, 4\]",
        ),
        (
            lambda: nn.LSTM(3, 4)(torch.ones(2, 1, 3), (torch.ones(1, 1, 4), torch.ones(1, 1, 3))),
            RuntimeError,
            r"Expected hidden\[1\] size \(1, 1, 4\)",
        ),
        (lambda: nn.GRU(3, 4)(torch.ones(0, 1, 3)), RuntimeError, "at least one step"),
        (lambda: nn.GRUCell(3, 4)(torch.ones(1, 1, 3)), ValueError, "is 3D, wanted 1D or 2D"),
        (
            lambda: nn.GRUCell(3, 4)(torch.ones(2, 3), torch.ones(1, 4)),
            RuntimeError,
            r"wanted \[2, 4\]",
        ),
    ],
)
def test_errors(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
