# SPDX-License-Identifier: Apache-2.0
"""Programs with nn.utils.prune and lazy modules, for test_utils_pytorch.py; tests/answered.py
stores PyTorch's answers."""

import copy
import pickle

from wrappers.nn.seen_modules import told
from wrappers.nn.seen_utils import numbers

NEAR = 1e-6  # PyTorch adds up in another order

WEIGHT = [3.0, -1.0, 4.0, 1.5, -5.0, 9.0, -2.0, 6.0, 0.5, 3.5, -0.8, 7.0]


def layer(m):
    made = m.nn.Linear(3, 4)
    with m.no_grad():
        made.weight.copy_(m.tensor(WEIGHT).view(4, 3))
        made.bias.copy_(m.arange(4.0) + 1)
    return made


def pruned(m):
    P, net = m.nn.utils.prune, layer(m)
    w = net.weight
    answers = [
        P.l1_unstructured(net, "weight", 2) is net,
        net.weight_orig is w,
        [n for n, _ in net.named_parameters()],
        list(net.state_dict()),
        numbers(net.weight),
        P.is_pruned(net),
        P.is_pruned(m.nn.Sequential(net)),
        P.is_pruned(m.nn.ReLU()),
    ]
    net(m.ones(1, 3)).sum().backward()
    answers.append(numbers(net.weight_orig.grad))
    for step in (
        lambda: P.ln_structured(net, "weight", 0.5, 2, 0),
        lambda: P.l1_unstructured(net, "weight", 0.34),
        lambda: P.ln_structured(net, "weight", 1, 1, 1),
        lambda: P.custom_from_mask(net, "weight", m.eye(4, 3)),
    ):
        step()
        methods = list(net._forward_pre_hooks.values())
        answers.append(
            [numbers(net.weight_mask), len(methods), type(methods[0]).__name__, len(methods[0])]
        )
    P.remove(net, "weight")
    return answers + [
        numbers(net.weight),
        net.weight is w,
        list(net.state_dict()),
        len(net._forward_pre_hooks),
        told(P.remove, net, "weight"),
    ]


def amounts(m):
    P, answers = m.nn.utils.prune, []
    for amount in (-1, 13, 1.5, -0.5, "a", 0, 12, 1.0, 0.0, 0.3):
        answers.append(
            told(lambda: P.l1_unstructured(layer(m), "weight", amount).weight_mask.sum().item())
        )
        answers.append(
            told(lambda: P.random_unstructured(layer(m), "weight", amount).weight_mask.sum().item())
        )
        answers.append(
            told(
                lambda: P.random_structured(layer(m), "weight", amount, 1).weight_mask.sum().item()
            )
        )
    for n, dim in ((2, 5), (float("inf"), 0), (1, -1)):
        answers.append(
            told(lambda: numbers(P.ln_structured(layer(m), "weight", 1, n, dim).weight_mask))
        )
    return answers + [
        told(P.ln_structured, layer(m), "bias", 1, 2, 0),
        told(P.l1_unstructured, layer(m), "z", 1),
    ]


def pruned_by_scores_and_globally(m):
    P = m.nn.utils.prune
    scores = m.arange(12.0).view(4, 3)
    answers = [
        numbers(P.l1_unstructured(layer(m), "weight", 3, importance_scores=scores).weight_mask)
    ]
    a, b = layer(m), layer(m)
    for amount in (4, 0.5):
        P.global_unstructured([(a, "weight"), (b, "bias")], P.L1Unstructured, amount=amount)
        answers.append([numbers(a.weight_mask), numbers(b.bias_mask)])
    c = layer(m)
    P.global_unstructured(
        [(c, "weight")], P.L1Unstructured, importance_scores={(c, "weight"): scores}, amount=4
    )
    method, x = P.L1Unstructured(amount=2), m.tensor([3.0, -1.0, 2.0, 0.5])
    return answers + [
        numbers(c.weight_mask),
        told(P.global_unstructured, [(a, "weight")], P.LnStructured, amount=1, n=1),
        numbers(method.prune(x)),
        numbers(method.prune(x, importance_scores=m.arange(4.0))),
        numbers(method.prune(x, default_mask=m.tensor([0.0, 1, 1, 1]))),
    ]


def methods_of_pruning(m):
    P = m.nn.utils.prune

    class Half(P.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    class Wrong(Half):
        PRUNING_TYPE = "x"

    net, other = layer(m), layer(m)
    Half.apply(net, "bias")
    first = numbers(net.bias_mask)
    Half.apply(net, "bias")
    Wrong.apply(other, "bias")
    answers = [
        first,
        numbers(net.bias_mask),
        told(Wrong.apply, other, "bias"),
        numbers(other.bias_mask),
        told(P.BasePruningMethod),
        told(P.PruningContainer().add_pruning_method, 3),
    ]
    a, b = P.identity(layer(m), "weight"), P.l1_unstructured(layer(m), "weight", 2)
    a.load_state_dict(b.state_dict())
    a(m.ones(1, 3))
    b.double()
    b(m.ones(1, 3).double())
    return answers + [
        numbers(a.weight),
        str(b.weight.dtype).split(".")[-1],
        str(b.weight_mask.dtype).split(".")[-1],
    ]


# -- lazy modules ----------------------------------------------------------------------------------


def lazy_layers(m):
    nn, answers = m.nn, []
    for kind, arguments, shape in (
        (nn.LazyLinear, (4,), (2, 3)),
        (nn.LazyConv1d, (4, 3), (2, 6, 9)),
        (nn.LazyConv2d, (4, 3), (6, 9, 9)),
        (nn.LazyConv3d, (4, 3), (1, 6, 5, 5, 5)),
        (nn.LazyConvTranspose1d, (4, 3), (2, 6, 9)),
        (nn.LazyConvTranspose2d, (4, 3), (2, 6, 5, 5)),
        (nn.LazyConvTranspose3d, (4, 3), (2, 6, 3, 3, 3)),
        (nn.LazyBatchNorm1d, (), (4, 3)),
        (nn.LazyBatchNorm2d, (), (4, 3, 2, 2)),
        (nn.LazyBatchNorm3d, (), (4, 3, 2, 2, 2)),
        (nn.LazyInstanceNorm1d, (), (4, 3, 5)),
        (nn.LazyInstanceNorm2d, (), (4, 3, 5, 5)),
        (nn.LazyInstanceNorm3d, (), (4, 3, 2, 5, 5)),
    ):
        net, x = kind(*arguments), m.ones(*shape)
        before = [
            repr(net),
            [n for n, _ in net.named_parameters()],
            [n for n, _ in net.named_buffers()],
            list(net.state_dict()),
            net.has_uninitialized_params(),
        ]
        weight = net.weight
        y = net(x)
        after = [
            repr(net),
            list(y.shape),
            [list(p.shape) for p in net.parameters()],
            [list(b.shape) for b in net.buffers()],
            len(net._forward_pre_hooks),
            len(net._load_state_dict_pre_hooks),
            hasattr(net, "_load_hook"),
            net.weight is weight,
            type(net.weight).__name__,
        ]
        loading = kind(*arguments)
        loading.load_state_dict(net.state_dict())
        halves = kind(*arguments).double()
        restored = pickle.loads(pickle.dumps(kind(*arguments)))
        restored(x)
        answers.append(
            [
                before,
                after,
                loading.has_uninitialized_params(),
                type(loading).__name__,
                str(halves(x.double()).dtype).split(".")[-1],
                repr(restored),
                told(net.load_state_dict, kind(*arguments).state_dict()),
            ]
        )
    return answers


def lazy_modules(m):
    nn = m.nn

    class Mine(nn.modules.lazy.LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.UninitializedParameter()

        def initialize_parameters(self, x, k=1):
            self.w.materialize((x.shape[-1],))
            nn.init.ones_(self.w)

        def forward(self, x, k=1):
            return x * self.w * k

    class Forgetful(Mine):
        def initialize_parameters(self, x):
            pass

    class Without(nn.modules.lazy.LazyModuleMixin, nn.Module):
        pass

    u, copied = nn.UninitializedParameter(dtype=m.float64), copy.deepcopy(nn.LazyLinear(2))
    s = nn.Sequential(nn.LazyLinear(3), nn.ReLU(), nn.LazyLinear(2, bias=False))
    answers = [
        Mine()(m.ones(2), k=3).tolist(),
        told(Forgetful(), m.ones(1)),
        told(Without(), m.ones(1)),
        told(lambda: u.shape),
        told(lambda: u + 1),
        told(lambda: m.add(u, 1)),
        u.requires_grad,
        str(u.dtype).split(".")[-1],
        told(u.share_memory_),
        told(lambda: u[0]),
        list(copied(m.ones(1, 5)).shape),
        told(nn.LazyLinear(3).forward, m.ones(2, 2)),
        told(nn.LazyConv2d(3, 3, groups=2), m.ones(1, 3, 5, 5)),
        told(nn.LazyConv2d(3, 3), m.ones(3, 5)),
        repr(s),
    ]
    s(m.ones(1, 5))
    u.materialize((2, 3))
    return answers + [repr(s), type(u).__name__, list(u.shape), told(lambda: u.materialize((2,)))]


PROGRAMS = [
    pruned,
    amounts,
    pruned_by_scores_and_globally,
    methods_of_pruning,
    lazy_layers,
    lazy_modules,
]
