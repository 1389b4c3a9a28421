# SPDX-License-Identifier: Apache-2.0
"""Masks of attention as packages make them: a function of indices, mapped over all of them, under
PyTorch's mode for indexing by mapped tensors."""

import pytest

import libdl as torch
from libdl._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex, trace_wrapped
from libdl._higher_order_ops.flex_attention import TransformGetItemToIndex as OfFlexAttention


def mapped(function):
    """Over batch, head, query and key."""
    for dims in (
        (None, None, None, 0),
        (None, None, 0, None),
        (None, 0, None, None),
        (0, None, None, None),
    ):
        function = torch.vmap(function, in_dims=dims, out_dims=0)
    return function


def test_a_mask_reads_tensors_at_mapped_indices():
    padding = torch.tensor([[True, True, False], [True, False, True]])
    document = torch.tensor([[0, 0, 1], [0, 1, 1]])

    def seen(b, h, q, k):
        return (k <= q) & padding[b, k] & (document[b, q] == document[b, k]) & (h >= 0)

    with TransformGetItemToIndex() as mode:
        made = mapped(seen)(torch.arange(2), torch.arange(2), torch.arange(3), torch.arange(3))
    assert isinstance(mode, torch.overrides.TorchFunctionMode)
    wanted = [
        [
            [
                [
                    k <= q
                    and padding[b][k].item()
                    and document[b][q].item() == document[b][k].item()
                    for k in range(3)
                ]
                for q in range(3)
            ]
            for _ in range(2)
        ]
        for b in range(2)
    ]
    assert made.tolist() == wanted


def test_outside_of_it_indexing_is_as_ever():
    x = torch.arange(4.0, requires_grad=True)
    with TransformGetItemToIndex(), pytest.raises(IndexError):
        x[torch.tensor(4)]
    with TransformGetItemToIndex():
        x[torch.tensor(1)].backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_the_names_beside_it():
    assert OfFlexAttention is TransformGetItemToIndex
    with pytest.raises(NotImplementedError, match="trace_wrapped: nothing is traced"):
        trace_wrapped()
