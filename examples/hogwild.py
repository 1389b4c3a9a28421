# SPDX-License-Identifier: Apache-2.0
"""Hogwild: several processes train one network at once, without locks (Recht et al. 2011).

Each process sees two classes of six. The network learns them all only because its parameters lie in
memory that the processes share.

    python examples/hogwild.py
"""

from typing import Any

import libdl
import libdl.multiprocessing as mp
from libdl import Tensor, nn

PROCESSES, CLASSES, UPDATES = 3, 6, 3000


def sample(classes: Tensor) -> Tensor:
    """A point near the corner of a hexagon for each class."""
    angle = classes * (2 * libdl.pi / CLASSES)
    corner = libdl.stack([angle.cos(), angle.sin()], dim=1)
    return corner + 0.15 * libdl.randn(len(classes), 2)


def train(rank: int, network: nn.Module, updates: Tensor, start: Any) -> None:
    libdl.manual_seed(rank)
    libdl.set_num_threads(1)
    optimizer = libdl.optim.SGD(network.parameters(), lr=0.1)
    start.wait()
    # All end together, at a rate that falls to nothing: a process that trained on alone would make
    # the network forget the classes of the others.
    while (done := int(updates.sum()) / UPDATES) < 1:
        optimizer.param_groups[0]["lr"] = 0.1 * (1 - done)
        classes = 2 * rank + libdl.randint(0, 2, (32,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(sample(classes)), classes).backward()
        optimizer.step()
        updates[rank] += 1


def evaluate(network: nn.Module) -> tuple[float, float]:
    """The loss over all classes, and how many points in a hundred are recognised."""
    classes = libdl.arange(600) % CLASSES
    with libdl.no_grad():
        scores = network(sample(classes))
    loss = nn.functional.cross_entropy(scores, classes).item()
    return loss, 100 * (scores.argmax(1) == classes).float().mean().item()


def main() -> None:
    libdl.manual_seed(1)
    network = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, CLASSES))
    print("loss before: {:.3f}".format(evaluate(network)[0]))
    network.share_memory()
    updates = libdl.zeros(PROCESSES, dtype=libdl.int64).share_memory_()
    start = mp.get_context("spawn").Barrier(PROCESSES)
    mp.spawn(train, args=(network, updates, start), nprocs=PROCESSES)
    loss, right = evaluate(network)
    print(f"loss after: {loss:.3f}, recognised: {right:.1f} %, updates: {updates.tolist()}")


if __name__ == "__main__":
    main()
