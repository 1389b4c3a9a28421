# SPDX-License-Identifier: Apache-2.0
"""Tensors as fields of dataclasses, with PyTorch's answers."""

import copy
import dataclasses
import pickle

import pytest

import libdl


@dataclasses.dataclass
class Batch:
    x: libdl.Tensor
    y: libdl.Tensor | None = None
    names: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    x: libdl.Tensor


@dataclasses.dataclass(eq=False)
class Network(libdl.nn.Module):
    width: int = 2

    def __post_init__(self):
        super().__init__()
        self.layer = libdl.nn.Linear(self.width, 1)

    def forward(self, x):
        return self.layer(x)


def test_repr():
    assert repr(Batch(libdl.ones(2))) == "Batch(x=tensor([1., 1.]), y=None, names=[])"


def test_asdict_copies_and_keeps_what_shares_memory():
    batch = Batch(libdl.ones(2), names=["a"])
    fields = dataclasses.asdict(batch)
    assert fields["x"].tolist() == [1, 1] and fields["names"] == ["a"]
    fields["x"].zero_()
    assert batch.x.tolist() == [1, 1]
    assert dataclasses.astuple(batch)[1:] == (None, ["a"])
    assert dataclasses.replace(batch, y=batch.x).y is batch.x


@pytest.mark.parametrize(
    ("again", "original", "view"),
    [
        (copy.copy, 5, 5),  # the same tensors
        (copy.deepcopy, 1, 5),  # new ones that share as before
        (lambda batch: pickle.loads(pickle.dumps(batch)), 1, 1),  # new ones, each with its memory
    ],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies(again, original, view):
    batch = Batch(libdl.ones(2))
    batch.y = batch.x[:1]
    other = again(batch)
    other.x[0] = 5
    assert batch.x[0] == original and other.y[0] == view


def test_equality():
    """Generated __eq__ asks fields for their truth: that of one element is its value, that of
    several is refused. (Before Python 3.13 the same tensor was equal without being asked.)"""
    with pytest.raises(RuntimeError, match="more than one"):
        _ = Batch(libdl.ones(2)) == Batch(libdl.ones(2))
    assert Batch(libdl.tensor(1.0)) == Batch(libdl.tensor(1.0))
    assert Batch(libdl.tensor(1.0)) != Batch(libdl.tensor(2.0))


def test_frozen_ones_hash_by_identity_of_their_tensor():
    x = libdl.ones(1)
    assert hash(Fixed(x)) == hash(Fixed(x)) and {Fixed(x): 1}[Fixed(x)] == 1
    assert hash(Fixed(x)) != hash(Fixed(libdl.ones(1)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        Fixed(x).x = x


def test_a_default_must_come_from_a_factory_or_be_shared():
    """A tensor is hashable, so that dataclasses take it for immutable: all share it."""

    @dataclasses.dataclass
    class Shared:
        x: libdl.Tensor = libdl.zeros(1)

    assert Shared().x is Shared().x


def test_a_module_may_be_a_dataclass():
    network = Network(width=3)
    assert network(libdl.ones(1, 3)).shape == (1, 1) and len(list(network.parameters())) == 2
    assert hash(network)


def test_loaders_and_trees_leave_them_whole():
    batches = [Batch(libdl.ones(2))]
    with pytest.raises(TypeError, match="Batch"):
        libdl.utils.data.default_collate(batches)
