# SPDX-License-Identifier: Apache-2.0
"""Second derivatives of embedding_bag and embedding, beside the same of rows that are taken, scaled
and summed; indices below 0 count from the end everywhere."""

import pytest

import libdl

F = libdl.nn.functional
INDICES = [[0, 1, 3, 3, 2, 0], [3, 3, 3, 3, 3, 3], [0, 1, -1, 2, 2, 1], [-4, -1, -4, 0, 0, 3]]
OFFSETS = [[0, 2, 4], [0, 0, 6], [0, 3]]


def table():
    return (libdl.arange(12, dtype=libdl.float64) * 0.37).sin().reshape(4, 3).requires_grad_()


def composed(weight, index, offsets, mode, padding, factors):
    """A bag after the other."""
    bags = []
    for begin, end in zip(offsets, [*offsets[1:], len(index)], strict=True):
        taken = [k for k in range(begin, end) if padding is None or index[k] % 4 != padding % 4]
        rows = weight[[index[k] % 4 for k in taken]] if taken else weight[:0]
        rows = rows * factors[taken][:, None] if factors is not None and taken else rows
        empty = weight[0] * 0
        bags.append(
            empty if not taken else rows.max(0)[0] if mode == "max" else getattr(rows, mode)(0)
        )
    return libdl.stack(bags)


def derivatives(y, inputs):
    options = {"allow_unused": True, "materialize_grads": True}
    once = libdl.autograd.grad((y**3).sum(), inputs, create_graph=True, **options)
    return [y, *once, *libdl.autograd.grad(sum((g * g).sum() for g in once), inputs, **options)]


@pytest.mark.parametrize("padding", [None, 0, 3, -1, -4])
@pytest.mark.parametrize("mode", ["sum", "mean", "max", "weighted"])
def test_bags(mode, padding):
    for index in INDICES:
        for offsets in OFFSETS:
            found = []
            for made in (0, 1):
                weight = table()
                factors = (libdl.arange(6, dtype=libdl.float64) * 0.7).cos().requires_grad_()
                given = factors if mode == "weighted" else None
                how = "sum" if mode == "weighted" else mode
                y = (
                    composed(weight, index, offsets, how, padding, given)
                    if made
                    else F.embedding_bag(
                        libdl.tensor(index),
                        weight,
                        libdl.tensor(offsets),
                        mode=how,
                        padding_idx=padding,
                        per_sample_weights=given,
                    )
                )
                found.append(derivatives(y, [weight] if given is None else [weight, factors]))
            for a, b in zip(*found, strict=True):
                assert libdl.allclose(a, b, atol=1e-12), (index, offsets)


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding", [None, 0, -1])
def test_scaled_by_frequency(mode, padding):
    """The gradient's derivative is scaled once more, as the gradient was."""
    index, offsets = [0, 1, 3, 3, 2, 0], [0, 2, 4]
    times = libdl.tensor([2.0, 1, 1, 2], dtype=libdl.float64)[:, None]
    found = []
    for made in (0, 1):
        weight = table()
        scaled = weight / times + (weight - weight / times).detach()
        y = (
            composed(scaled, index, offsets, mode, padding, None)
            if made
            else F.embedding_bag(
                libdl.tensor(index),
                weight,
                libdl.tensor(offsets),
                mode=mode,
                padding_idx=padding,
                scale_grad_by_freq=True,
            )
        )
        found.append(derivatives(y, [weight]))
    assert all(libdl.allclose(a, b, atol=1e-12) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("padding", [None, 0, 3, -1])
def test_embeddings(padding, scale):
    for index in ([0, 1, 3, 3], [-1, 0, 3, 3], [2, 2, 2, 2]):
        positive = [k % 4 for k in index]
        weight = table()
        times = libdl.tensor(
            [[float(max(positive.count(k), 1)) if scale else 1.0] for k in range(4)],
            dtype=libdl.float64,
        )
        kept = libdl.tensor([[padding is None or k != padding % 4] for k in range(4)])
        part = libdl.where(kept, weight / times, 0.0)
        rows = (part + (weight - part).detach())[positive]
        found = [
            derivatives(y, [weight])
            for y in (
                F.embedding(libdl.tensor(index), weight, padding, scale_grad_by_freq=scale),
                rows,
            )
        ]
        for a, b in zip(*found, strict=True):
            assert libdl.allclose(a, b, atol=1e-12), index
