# SPDX-License-Identifier: Apache-2.0
"""Programs with nn.utils, for test_utils_pytorch.py; tests/answered.py stores PyTorch's answers."""

import copy
import pickle

from wrappers.nn.seen_modules import told

NEAR = 1e-6  # PyTorch adds up in another order


def numbers(tensor):
    return tensor.detach().double().reshape(-1).tolist()


def waves(m, *shape, phase=0.0):
    count = 1
    for size in shape:
        count *= size
    return (m.arange(count, dtype=m.float64) * 0.7 + phase).sin().view(shape)


def filled(m, module, phase=0.0):
    with m.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_(waves(m, *p.shape, phase=phase + i))
    return module


def linear(m, columns=3, rows=2):
    return filled(m, m.nn.Linear(columns, rows).double())


def outcome(m, module):
    """A call's result, and the gradients of its square."""
    filled(m, module, 0.3)
    y = module(m.ones(1, 3, dtype=m.float64))
    (y * y).sum().backward()
    return [
        numbers(module.weight),
        numbers(y),
        [numbers(p.grad) for p in module.parameters()],
        [n for n, _ in module.named_parameters()],
        list(module.state_dict()),
    ]


# -- sequences -------------------------------------------------------------------------------------


def packed(m, lengths, steps, batch_first=False, **options):
    rnn = m.nn.utils.rnn
    x = waves(m, steps, len(lengths), 2)
    x = (x.transpose(0, 1).contiguous() if batch_first else x).requires_grad_()
    p = rnn.pack_padded_sequence(x, lengths, batch_first, **options)
    y, back = rnn.pad_packed_sequence(p, batch_first, 0.5, steps + 1)
    (y**3).sum().backward()
    indices = [None if i is None else i.tolist() for i in (p.sorted_indices, p.unsorted_indices)]
    return [
        numbers(p.data),
        p.batch_sizes.tolist(),
        indices,
        numbers(y),
        list(y.shape),
        back.tolist(),
        numbers(x.grad),
        [numbers(one) for one in rnn.unpack_sequence(p)],
    ]


def sequences(m):
    rnn = m.nn.utils.rnn
    answers = [
        packed(m, lengths, steps, first, enforce_sorted=False)
        for lengths, steps in (([7, 1, 3, 3, 2], 7), ([2], 3), ([5, 5, 5], 5), ([1, 1], 4))
        for first in (False, True)
    ]
    answers.append(packed(m, m.tensor([4, 2]), 4))
    x = waves(m, 4, 3, 2)
    for lengths in ([2, 4, 1], [3, 2, 0], [3, 2], [], m.tensor([[4, 2, 1]]), [-1, -1, -1]):
        answers.append(told(rnn.pack_padded_sequence, x, lengths))
    for sequence in ([], [m.ones(2, 1), m.ones(3, 2)], 5):
        answers.append(told(rnn.pad_sequence, sequence))
    given = [m.arange(float(n)) for n in (2, 3, 1)]
    for options in ({}, {"batch_first": True, "padding_value": 9.0}, {"padding_side": "left"}):
        answers.append(rnn.pad_sequence(given, **options).tolist())
    p = rnn.pack_sequence(given, enforce_sorted=False)
    answers += [
        told(rnn.pack_sequence, given),
        told(rnn.pad_sequence, given, padding_side="x"),
        told(rnn.pad_packed_sequence, p, total_length=2),
        [numbers(one) for one in rnn.unpad_sequence(m.arange(6.0).view(3, 2), m.tensor([3, 1]))],
        p.to(m.float32) is p,
        str(p.double().data.dtype).split(".")[-1],
        p.is_cuda,
        p._replace(data=p.data).batch_sizes.tolist(),
        type(copy.deepcopy(p)).__name__,
        type(pickle.loads(pickle.dumps(p))).__name__,
        rnn.PackedSequence(p.data, p.batch_sizes, m.tensor([2, 0, 1])).unsorted_indices.tolist(),
        rnn.PackedSequence((p.data, p.batch_sizes)).sorted_indices,
        rnn.invert_permutation(None),
    ]
    return answers


# -- parametrizations ------------------------------------------------------------------------------


def kinds(m):
    class Kinds:
        class Symmetric(m.nn.Module):
            def forward(self, x):
                return x.triu() + x.triu(1).transpose(0, 1)

            def right_inverse(self, a):
                return a.triu()

        class Negative(m.nn.Module):
            def forward(self, x):
                return -x

        class Pair(m.nn.Module):
            def forward(self, a, b):
                return a + b

            def right_inverse(self, x):
                return x / 2, x / 2

        class Smaller(m.nn.Module):
            def forward(self, x):
                return x[:1]

        class Wider(m.nn.Module):
            def forward(self, x):
                return x.half()

        class Number(m.nn.Module):
            def forward(self, x):
                return 3

        class Inverse(m.nn.Module):
            def forward(self, x):
                return x

            def right_inverse(self, x):
                return 3

    return Kinds


def parametrized(m):
    P, K, net = m.nn.utils.parametrize, kinds(m), linear(m, 3, 3)
    w = net.weight
    P.register_parametrization(net, "weight", K.Symmetric())
    answers = [
        repr(net),
        type(net).__name__,
        P.type_before_parametrizations(net).__name__,
        net.parametrizations.weight.original is w,
        list(net.state_dict()),
        numbers(net.weight),
        outcome(m, net),
    ]
    net.weight = m.arange(9, dtype=m.float64).view(3, 3)
    answers += [
        numbers(net.weight),
        numbers(w),
        told(setattr, net, "weight", m.ones(3, 3)),
        told(pickle.dumps, net),
    ]
    P.register_parametrization(net, "weight", K.Negative())
    P.register_parametrization(net, "bias", K.Pair())
    answers += [
        repr(net),
        numbers(net.weight),
        told(setattr, net, "weight", m.ones(3, 3).double()),
        list(net.state_dict()),
        [
            P.is_parametrized(net),
            P.is_parametrized(net, "weight"),
            P.is_parametrized(net, "z"),
            P.is_parametrized(m.nn.ReLU()),
        ],
    ]
    c = copy.deepcopy(net)
    with P.cached():
        answers.append([net.weight is net.weight, type(c) is type(net), numbers(c.weight)])
    answers += [
        net.weight is net.weight,
        told(P.remove_parametrizations, net, "bias", leave_parametrized=False),
    ]
    P.remove_parametrizations(net, "bias")
    P.remove_parametrizations(net, "weight")
    answers += [
        repr(net),
        type(net).__name__,
        numbers(net.weight),
        net.weight is w,
        list(net.state_dict()),
        hasattr(net, "parametrizations"),
        told(P.remove_parametrizations, net, "weight"),
    ]
    return answers


def refused_parametrizations(m):
    P, K = m.nn.utils.parametrize, kinds(m)
    answers = []
    for kind in (K.Smaller, K.Wider, K.Number, K.Inverse):
        answers.append(told(P.register_parametrization, linear(m), "weight", kind()))
        net = P.register_parametrization(linear(m), "weight", K.Negative())
        answers += [
            told(P.register_parametrization, net, "weight", kind()),
            len(net.parametrizations.weight),
        ]
    net = P.register_parametrization(m.nn.BatchNorm1d(3), "running_mean", K.Negative())
    answers += [
        list(net.state_dict()),
        told(P.register_parametrization, linear(m), "z", K.Negative()),
        told(P.ParametrizationList, [], m.ones(1)),
        list(
            P.register_parametrization(linear(m), "weight", K.Smaller(), unsafe=True).weight.shape
        ),
    ]
    return answers


def transferred_parametrizations(m):
    P, K = m.nn.utils.parametrize, kinds(m)
    a, b = (linear(m, 3, 3) for _ in range(2))
    P.register_parametrization(
        P.register_parametrization(a, "weight", K.Symmetric()), "weight", K.Negative()
    )
    P.transfer_parametrizations_and_params(a, b)
    return [
        repr(b),
        numbers(a.weight) == numbers(b.weight),
        a.parametrizations.weight.original is b.parametrizations.weight.original,
    ]


def norms_of_weights(m):
    U, answers = m.nn.utils, []
    for dim in (0, 1, None, -1):
        for norm in (U.parametrizations.weight_norm, U.weight_norm):
            net = norm(linear(m), "weight", dim)
            answers.append([[list(p.shape) for p in net.parameters()], outcome(m, net), repr(net)])
            if norm is U.weight_norm:
                answers.append(told(norm, net))
                U.remove_weight_norm(net)
            else:
                U.parametrize.remove_parametrizations(net, "weight")
            answers.append(
                [
                    repr(net),
                    numbers(net.weight),
                    len(net._forward_pre_hooks),
                    [n for n, _ in net.named_parameters()],
                ]
            )
    older, newer = (
        U.weight_norm(linear(m)),
        U.parametrizations.weight_norm(m.nn.Linear(3, 2).double()),
    )
    newer.load_state_dict(older.state_dict())
    answers.append([numbers(newer.weight), told(U.remove_weight_norm, m.nn.ReLU())])
    newer.weight = m.ones(2, 3).double()
    return answers + [numbers(newer.parametrizations.weight.original0)]


def spectral_norms(m):
    U, answers = m.nn.utils, []
    for norm in (U.parametrizations.spectral_norm, U.spectral_norm):
        net = norm(linear(m), n_power_iterations=60)
        filled(m, net, 0.3)
        net(m.ones(1, 3, dtype=m.float64))
        answers.append([outcome(m, net), repr(net)])
        net.eval()
        answers.append(numbers(net.weight))
        net(m.ones(1, 3, dtype=m.float64))
        U.remove_spectral_norm(
            net
        ) if norm is U.spectral_norm else U.parametrize.remove_parametrizations(net, "weight")
        answers.append([repr(net), numbers(net.weight), list(net.state_dict())])
        answers += [
            [list(b.shape) for b in norm(layer).buffers()]
            for layer in (m.nn.ConvTranspose2d(2, 3, 2), m.nn.Conv2d(2, 3, 2))
        ]
        answers.append(told(norm, m.nn.Linear(2, 2), n_power_iterations=0))
    answers += [
        numbers(U.parametrizations.spectral_norm(linear(m), "bias").bias),
        told(U.parametrizations.spectral_norm, linear(m), dim=3),
        told(U.parametrizations.spectral_norm, linear(m), "z"),
        told(U.remove_spectral_norm, linear(m)),
    ]
    return answers


def orthogonal_weights(m):
    Z, answers = m.nn.utils.parametrizations, []
    for shape in ((3, 3), (4, 2), (2, 4)):
        for how in ("matrix_exp", "cayley", "householder"):
            net = m.nn.Linear(*reversed(shape)).double()
            with m.no_grad():
                net.weight.copy_(waves(m, *shape) + m.eye(*shape, dtype=m.float64))
            Z.orthogonal(net, "weight", how)
            x = net.parametrizations.weight.original
            net.parametrizations.weight[0].base.copy_(m.eye(max(shape), dtype=m.float64))
            with m.no_grad():
                shift = waves(m, *shape, phase=0.2) / 4
                tall = shape[0] >= shape[1]
                x.add_(
                    (shift.tril(-1) if tall else shift.triu(1)) if how == "householder" else shift
                )
            (net.weight * waves(m, *shape, phase=1.0)).sum().backward()
            answers.append(
                [list(net.state_dict()), repr(net), numbers(net.weight), numbers(x.grad)]
            )
    answers += [
        told(Z.orthogonal, linear(m), "bias"),
        told(Z.orthogonal, linear(m), "z"),
        told(Z.orthogonal, linear(m), "weight", "x"),
    ]
    fixed = Z.orthogonal(linear(m, 3, 3), orthogonal_map="cayley", use_trivialization=False)
    return answers + [
        numbers(fixed.weight),
        told(setattr, fixed, "weight", m.eye(3, dtype=m.float64)),
    ]


# -- fusion, vectors -------------------------------------------------------------------------------


def fused(m):
    U, nn, answers = m.nn.utils, m.nn, []
    for layer, norm, transposed in (
        (nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), False),
        (nn.Conv1d(4, 4, 2, groups=2, bias=False), nn.BatchNorm1d(4), False),
        (nn.ConvTranspose2d(2, 4, 3), nn.BatchNorm2d(4, affine=False), True),
        (nn.Linear(3, 4), nn.BatchNorm1d(4), None),
    ):
        layer, norm = filled(m, layer.double()), filled(m, norm.double(), 1.0)
        norm.running_mean.copy_(m.arange(4.0))
        norm.running_var.copy_(m.arange(4.0) + 0.5)
        fuse = (
            (lambda a, b: U.fuse_linear_bn_eval(a, b))
            if transposed is None
            else lambda a, b: U.fuse_conv_bn_eval(a, b, transposed)
        )
        answers.append(told(fuse, layer, norm))
        made = fuse(layer.eval(), norm.eval())
        answers.append(
            [
                repr(made),
                numbers(made.weight),
                numbers(made.bias),
                type(made.weight).__name__,
                made is layer,
            ]
        )
    return answers


def vectors_and_others(m):
    U, net = m.nn.utils, linear(m, 2, 1)
    answers = [numbers(U.parameters_to_vector(net.parameters()))]
    U.vector_to_parameters(m.ones(3).double(), net.parameters())
    answers += [
        numbers(net.weight),
        told(U.vector_to_parameters, m.ones(2), net.parameters()),
        told(U.vector_to_parameters, [1.0], net.parameters()),
    ]
    state = m.get_rng_state().tolist()
    made = U.skip_init(m.nn.Linear, 3, 2)
    return answers + [
        repr(made),
        m.get_rng_state().tolist() == state,
        told(U.skip_init, int),
        told(U.skip_init, m.nn.ReLU),
        U.convert_conv2d_weight_memory_format(made, m.channels_last) is made,
        numbers(
            U.stateless.functional_call(
                net, {"weight": m.zeros(1, 2).double()}, m.ones(1, 2).double()
            )
        ),
    ]


PROGRAMS = [
    sequences,
    parametrized,
    refused_parametrizations,
    transferred_parametrizations,
    norms_of_weights,
    spectral_norms,
    orthogonal_weights,
    fused,
    vectors_and_others,
]
