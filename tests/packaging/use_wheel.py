# SPDX-License-Identifier: Apache-2.0
"""Uses an installed libdl where neither NumPy nor the source tree is: a fit by gradient descent."""

import importlib.util
import subprocess
import sys

assert importlib.util.find_spec("numpy") is None, "this environment was to be empty"

import libdl as torch  # noqa: E402

torch.manual_seed(0)
x = torch.rand(64, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.25
weight = torch.zeros(3, 1, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight, bias], lr=0.5)
losses = []
for _ in range(200):
    optimizer.zero_grad()
    loss = ((torch.matmul(x, weight) + bias - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < 1e-4 < losses[0], losses[:: len(losses) - 1]
assert abs(bias.item() - 0.25) < 0.05, bias

# A sum over a product large enough for several threads.
a = torch.ones(200, 300)
assert torch.matmul(a, a.t()).sum().item() == 200 * 200 * 300

subprocess.run([sys.executable, "-I", "-m", "libdl"], check=True, stdout=subprocess.DEVNULL)
