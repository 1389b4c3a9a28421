# SPDX-License-Identifier: Apache-2.0
"""The training of one network by one library, step by step."""

import importlib
from typing import Any

import numpy
from networks import NETWORKS
from peers import Peer

BATCHES = 4


class Training:
    def __init__(self, peer: Peer, network: str, size: int, threads: int) -> None:
        self.m: Any = importlib.import_module(peer.library)
        self.m.set_num_threads(threads)
        self.m.manual_seed(1)
        self.description = NETWORKS[network]
        self.net = self.description.network(self.m)
        self.open_rectifiers()
        channels_last = peer.channels_last and self.description.CHANNELS_LAST
        layout = {"memory_format": self.m.channels_last} if channels_last else {}
        self.net.to(**layout)
        random = numpy.random.default_rng(1)
        self.batches = []
        for _ in range(BATCHES):
            tensors = map(self.m.from_numpy, self.description.batch(random, size))
            self.batches.append([x.to(**layout) if x.ndim == 4 else x for x in tensors])
        self.optimizer = self.description.optimizer(
            self.m, self.net.parameters(), **({"fused": True} if peer.fused else {})
        )
        self.trained = self.m.compile(self.net) if peer.compiled else self.net
        self.autocast = peer.autocast
        self.steps = 0

    def open_rectifiers(self) -> None:
        """Normalisations shift by 1, so that most inputs of ReLUs are positive. With shifts of 0,
        inputs close to 0 amplify rounding, and two correct trainings part in a few steps."""
        for layer in self.net.modules():
            if isinstance(layer, self.m.nn.BatchNorm2d):
                self.m.nn.init.ones_(layer.bias)

    def step(self) -> float:
        batch = self.batches[self.steps % BATCHES]
        self.steps += 1
        with self.m.autocast("cpu", dtype=self.m.bfloat16, enabled=self.autocast):
            loss = self.description.loss(self.m, self.trained, *batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.item())

    def arrays(self) -> dict[str, numpy.ndarray]:
        """Parameters and running statistics, in this training's memory."""
        tensors = self.net.state_dict().items()
        return {name: x.detach().numpy() for name, x in tensors if x.is_floating_point()}

    def load(self, path: str) -> None:
        with numpy.load(path) as file, self.m.no_grad():
            for name, x in self.net.state_dict().items():
                if x.is_floating_point():
                    x.copy_(self.m.from_numpy(file[name]))
