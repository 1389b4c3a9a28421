# SPDX-License-Identifier: Apache-2.0
"""A recursive network, defined by running it, that learns the value of nested sums and differences.

    python examples/tree.py

An expression is a number or (operator, left, right). Each tree gives a different graph; the network
folds two children into their parent with one small layer for each operator.
"""

from __future__ import annotations

import random

import libdl
from libdl import Tensor, nn

try:
    from tqdm import tqdm, trange

    tell = tqdm.write
except ImportError:  # no bar, plain lines
    trange, tell = range, print

WIDTH, STEPS, BATCH = 8, 600, 8
Tree = float | tuple[str, "Tree", "Tree"]


def grow(depth: int, source: random.Random) -> Tree:
    if depth == 0 or source.random() < 0.2:
        return source.uniform(-1, 1)
    return source.choice("+-"), grow(depth - 1, source), grow(depth - 1, source)


def value(tree: Tree) -> float:
    if not isinstance(tree, tuple):
        return tree
    left, right = value(tree[1]), value(tree[2])
    return left + right if tree[0] == "+" else left - right


class TreeNetwork(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.leaf = nn.Linear(1, WIDTH)
        self.fold = nn.ModuleDict({name: nn.Linear(2 * WIDTH, WIDTH) for name in ("plus", "minus")})
        self.read = nn.Linear(WIDTH, 1)

    def encode(self, tree: Tree) -> Tensor:
        if not isinstance(tree, tuple):
            return self.leaf(libdl.tensor([tree]))
        children = libdl.cat([self.encode(tree[1]), self.encode(tree[2])])
        return self.fold["plus" if tree[0] == "+" else "minus"](children)

    def forward(self, tree: Tree) -> Tensor:
        return self.read(self.encode(tree))


def main() -> None:
    libdl.manual_seed(0)
    source = random.Random(0)
    network = TreeNetwork()
    optimizer = libdl.optim.Adam(network.parameters(), lr=1e-2)
    for step in trange(STEPS):
        trees = [grow(3, source) for _ in range(BATCH)]
        wanted = libdl.tensor([[value(tree)] for tree in trees])
        loss = nn.functional.mse_loss(libdl.stack([network(tree) for tree in trees]), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            tell(f"step {step:3}  loss {loss.item():.5f}")
    deeper = [grow(5, source) for _ in range(20)]
    with libdl.no_grad():
        errors = [abs(network(tree).item() - value(tree)) for tree in deeper]
    print(f"mean error on deeper trees: {sum(errors) / len(errors):.5f}")


if __name__ == "__main__":
    main()
