# SPDX-License-Identifier: Apache-2.0
"""The gradient of each sample of a batch, which backward() would add up.

    python examples/per_sample.py

Prints how much the samples pull the network in different directions: the norm of their mean
gradient over the mean of their norms, before and after training.
"""

from __future__ import annotations

import libdl
from libdl import Tensor, nn
from libdl.func import functional_call, grad, vmap
from libdl.nn.functional import mse_loss

State = dict[str, Tensor]


def agreement(model: nn.Module, x: Tensor, y: Tensor) -> float:
    def loss(state: State, sample: Tensor, target: Tensor) -> Tensor:
        return mse_loss(functional_call(model, state, (sample,)), target)

    state = {name: p.detach() for name, p in model.named_parameters()}
    each = vmap(grad(loss), in_dims=(None, 0, 0))(state, x, y)
    rows = libdl.cat([g.flatten(1) for g in each.values()], dim=1)
    return float(rows.mean(0).norm() / rows.norm(dim=1).mean())


def main() -> None:
    libdl.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    x = libdl.rand(64, 2) * 2 - 1
    y = x.prod(dim=1, keepdim=True)
    optimizer = libdl.optim.Adam(model.parameters(), lr=0.02)
    print(f"agreement {agreement(model, x, y):.3f}")
    for _ in range(300):
        optimizer.zero_grad()
        mse_loss(model(x), y).backward()
        optimizer.step()
    print(f"agreement {agreement(model, x, y):.3f}")


if __name__ == "__main__":
    main()
