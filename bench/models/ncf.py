# SPDX-License-Identifier: Apache-2.0
"""Neural collaborative filtering (He et al. 2017): NeuMF with MLPerf's sizes for MovieLens-20M."""

from typing import Any

import numpy

__all__ = ["CHANNELS_LAST", "SIZES", "UNIT", "batch", "loss", "network", "optimizer", "units"]

UNIT = "samples"
SIZES = (2048, 65536)
CHANNELS_LAST = False

USERS = 138_493
ITEMS = 26_744
FACTORS = 64  # of the matrix factorisation
LAYERS = [256, 256, 128, 64]  # of the perceptron; its input is a user's and an item's half


def network(m: Any) -> Any:
    nn = m.nn

    class NeuMF(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.mf_user = nn.Embedding(USERS, FACTORS)
            self.mf_item = nn.Embedding(ITEMS, FACTORS)
            self.mlp_user = nn.Embedding(USERS, LAYERS[0] // 2)
            self.mlp_item = nn.Embedding(ITEMS, LAYERS[0] // 2)
            layers: list[Any] = []
            for inputs, outputs in zip(LAYERS[:-1], LAYERS[1:], strict=True):
                layers += [nn.Linear(inputs, outputs), nn.ReLU()]
            self.mlp = nn.Sequential(*layers)
            self.final = nn.Linear(FACTORS + LAYERS[-1], 1)
            for table in (self.mf_user, self.mf_item, self.mlp_user, self.mlp_item):
                nn.init.normal_(table.weight, std=0.01)

        def forward(self, user: Any, item: Any) -> Any:
            mf = self.mf_user(user) * self.mf_item(item)
            mlp = self.mlp(m.cat((self.mlp_user(user), self.mlp_item(item)), dim=1))
            return self.final(m.cat((mf, mlp), dim=1)).squeeze(1)

    return NeuMF()


def batch(random: numpy.random.Generator, size: int) -> tuple[numpy.ndarray, ...]:
    seen = random.integers(0, 2, size).astype(numpy.float32)
    return random.integers(0, USERS, size), random.integers(0, ITEMS, size), seen


def units(size: int) -> int:
    return size


def loss(m: Any, net: Any, user: Any, item: Any, seen: Any) -> Any:
    return m.nn.functional.binary_cross_entropy_with_logits(net(user, item), seen)


def optimizer(m: Any, parameters: Any, **options: Any) -> Any:
    return m.optim.Adam(parameters, lr=1e-4, **options)
