# SPDX-License-Identifier: Apache-2.0
"""Programs with functions of networks from torch's top namespace, where numbers stand for words,
and with in-place methods as functions, for test_methods.py. `m` is libdl, or PyTorch, whose answers
tests/answered.py stores."""

from wrappers.answers import leaf, numbers
from wrappers.seen_methods import run, slopes

TOGETHER = True


def normalised(m):
    x, image = numbers(m, 2, 4, 3), numbers(m, 2, 4, 3, 3)
    w, b = numbers(m, 4, shift=1), numbers(m, 4, shift=2)
    mean, var = numbers(m, 4, shift=3), numbers(m, 4, shift=4).abs()

    def updated(name, *options):
        running = mean.clone(), var.clone()
        return getattr(m, name)(image, w, b, *running, *options), running

    return run(
        m,
        {
            "layer": lambda: [
                m.layer_norm(x, (3,)),
                m.layer_norm(x, [4, 3], numbers(m, 4, 3), None, 1e-3),
                m.layer_norm(x, (3,), cudnn_enable=False),
            ],
            "layer wrong": lambda: m.layer_norm(x, (4,)),
            "group": lambda: [m.group_norm(image, 2), m.group_norm(image, 4, w, b, 1e-3)],
            "batch": lambda: [updated("batch_norm", t, 0.3, 1e-3, False) for t in (True, False)],
            "instance": lambda: [
                updated("instance_norm", t, 0.3, 1e-3, False) for t in (True, False)
            ],
            "native layer": lambda: m.native_layer_norm(x, (4, 3), None, None, 1e-5),
            "native group": lambda: m.native_group_norm(image, w, b, 2, 4, 9, 2, 1e-5),
            "native group wrong": lambda: m.native_group_norm(image, w, b, 2, 3, 9, 2, 1e-5),
            "native batch": lambda: [
                m.native_batch_norm(image, w, b, None, None, True, 0.1, 1e-5),
                m.native_batch_norm(image, w, b, mean, var, False, 0.1, 1e-5),
            ],
            "norms": lambda: [
                m.norm_except_dim(image, p, d) for p in (1, 2) for d in (-1, 0, 1, 3)
            ],
            "slopes": lambda: [
                slopes(m, lambda x, w: m.layer_norm(x, (3,), w), leaf(m, 2, 3), leaf(m, 3)),
                slopes(
                    m,
                    lambda x, w: m.batch_norm(x, w, None, None, None, True, 0.1, 1e-5, True),
                    leaf(m, 3, 2),
                    leaf(m, 2),
                ),
                slopes(
                    m, lambda x: m.native_layer_norm(x, (3,), None, None, 1e-5)[0], leaf(m, 2, 3)
                ),
            ],
        },
    )


def losses(m):
    x, y, z = numbers(m, 4, 3), numbers(m, 4, 3, shift=1), numbers(m, 4, 3, shift=2)
    signs = m.tensor([1.0, -1.0, 1.0, -1.0]).double()
    p, calls = y.abs(), {}
    logs = m.log_softmax(numbers(m, 6, 2, 4), 2)
    for k in (0, 1, 2):
        calls |= {
            f"logits {k}": lambda k=k: m.binary_cross_entropy_with_logits(
                x, p, None, z.abs()[0], k
            ),
            f"cosine {k}": lambda k=k: m.cosine_embedding_loss(x, y, signs, 0.2, k),
            f"hinge {k}": lambda k=k: m.hinge_embedding_loss(x[:, 0], signs, 0.5, k),
            f"kl {k}": lambda k=k: [m.kl_div(x, p, k), m.kl_div(x, y, k, log_target=True)],
            f"ranking {k}": lambda k=k: m.margin_ranking_loss(x[:, 0], y[:, 0], signs, 0.3, k),
            f"poisson {k}": lambda k=k: [
                m.poisson_nll_loss(x, p * 3, log, full, 1e-8, k)
                for log, full in ((True, False), (True, True))
            ],
            f"triplet {k}": lambda k=k: m.triplet_margin_loss(x, y, z, 0.5, 2, 1e-6, True, k),
            f"ctc {k}": lambda k=k: m.ctc_loss(
                logs, m.tensor([[1, 2], [3, 3]]), m.tensor([6, 5]), m.tensor([2, 2]), 0, k
            ),
        }
    return run(
        m,
        calls
        | {
            "defaults": lambda: [
                m.kl_div(x, p),
                m.margin_ranking_loss(x[:, 0], y[:, 0], signs),
                m.binary_cross_entropy_with_logits(x, p),
                m.triplet_margin_loss(x, y, z),
                m.hinge_embedding_loss(x[:, 0], signs),
                m.cosine_embedding_loss(x, y, signs),
            ],
        },
    )


def tables(m):
    table, at = numbers(m, 5, 3), m.tensor([0, 4, 4, 2])
    starts = m.tensor([0, 1, 4])
    return run(
        m,
        {
            "rows": lambda: [m.embedding(table, at), m.embedding(table, at.view(2, 2), 4)],
            "no such row": lambda: m.embedding(table, at + 1),
            "bags": lambda: [m.embedding_bag(table, at, starts, False, k)[0] for k in (0, 1, 2)],
            "weights": lambda: m.embedding_bag(
                table, at, starts[:2], False, 0, False, numbers(m, 4), False, 4
            )[0],
            "last offset": lambda: m.embedding_bag(table, at, starts, include_last_offset=True)[0],
            "shortened": lambda: m.embedding_renorm_(table.clone(), at, 0.5, 2.0),
            "slopes": lambda: [
                slopes(m, lambda w: m.embedding(w, at, k), leaf(m, 5, 3)) for k in (-1, 4)
            ],
        },
    )


def images(m):
    image, grid = numbers(m, 1, 2, 4, 5), numbers(m, 1, 3, 3, 2) * 1.3
    x, w = numbers(m, 1, 4, 7), numbers(m, 6, 2, 3, shift=1)
    return run(
        m,
        {
            **{
                f"sampled {i} {j} {c}": lambda i=i, j=j, c=c: m.grid_sampler(image, grid, i, j, c)
                for i in (0, 1, 2)
                for j in (0, 1, 2)
                for c in (True, False)
            },
            "sampled in 2d and 3d": lambda: [
                m.grid_sampler_2d(image, grid, 0, 0, False),
                m.grid_sampler_3d(image[:, :, None], numbers(m, 1, 2, 2, 2, 3), 0, 1, True),
            ],
            "grids": lambda: [
                m.affine_grid_generator(numbers(m, 2, 2, 3), [2, 1, 3, 4], c) for c in (True, False)
            ],
            "padded": lambda: [
                m.constant_pad_nd(image, (1, 2)),
                m.constant_pad_nd(image, (1, -1, 0, 2), 7),
            ],
            "padded wrong": lambda: m.constant_pad_nd(image, (1,)),
            "shuffled": lambda: m.native_channel_shuffle(x, 2),
            "steps": lambda: m.conv_tbc(numbers(m, 5, 2, 3), numbers(m, 3, 3, 4), numbers(m, 4), 1),
            "convolved": lambda: [
                m.convolution(x, w, numbers(m, 6), [2], [1], [1], False, [0], 2),
                m.convolution(x, numbers(m, 4, 3, 3), None, [2], [1], [1], True, [1], 1),
                m.convolution(
                    image, numbers(m, 3, 2, 2, 2), None, [1, 1], [0, 1], [1, 2], False, [0, 0], 1
                ),
            ],
        },
    )


def units(m):
    x = numbers(m, 3, 4)
    ones = m.ones(3, 4, 2).double()
    names = (
        "abs sigmoid exp relu square sqrt neg tanh round trunc frac sinc erf expm1 selu celu "
        "deg2rad nan_to_num zero reciprocal"
    ).split()

    def written(name, *args):
        given = x.abs()
        made = getattr(m, name + "_")(given, *args)
        return [made, made is given]

    return run(
        m,
        {
            **{name: lambda name=name: written(name) for name in names},
            "with arguments": lambda: [
                written("fill", 2),
                written("clamp", 0.2, 0.5),
                written("clip", 0.1),
                written("clamp_min", 0.5),
                written("xlogy", x.abs() + 1),
                written("threshold", 0.3, 7.0),
                written("ldexp", m.tensor(2)),
                written("index_put", (m.tensor([0]),), m.zeros(4).double()),
            ],
            "thresholds": lambda: [
                m.threshold(x, 0.1, 5.0),
                m.threshold(x, 0, 5, out=m.empty(0).double()),
            ],
            "leaky": lambda: [m.rrelu(x), m.rrelu_(x.clone(), 0.1, 0.3)],
            "kept": lambda: [
                m.dropout_(x.clone(), 0.5, False),
                m.alpha_dropout_(x.clone(), 0.5, False),
                m.feature_dropout_(x.clone(), 0.5, False),
                m.feature_alpha_dropout_(x.clone(), 0.5, False),
                list(m.native_dropout(x, 0.5, False)),
            ],
            "dropped": lambda: [
                m.dropout_(x.clone(), 1.0, True),
                m.feature_dropout_(ones.clone(), 1.0, True),
                list(m.native_dropout(x, 1.0, True)),
            ],
            "a vector has no channels": lambda: m.feature_dropout_(x[0].clone(), 0.5, True),
            "a leaf is not written": lambda: m.relu_(leaf(m, 3)),
            "slopes": lambda: slopes(m, lambda x: m.sigmoid_(m.exp_(x * 1)), leaf(m, 3)),
        },
    )


PROGRAMS = [normalised, losses, tables, images, units]
