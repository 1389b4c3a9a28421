# SPDX-License-Identifier: Apache-2.0
import libdl
from libdl import nn

x = libdl.linspace(-3, 3, 200).unsqueeze(1)
y = x.sin()
network = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = libdl.optim.Adam(network.parameters(), lr=0.01)
for _ in range(1000):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(network(x), y)
    loss.backward()
    optimizer.step()
print(f"the mean error is {loss.item() ** 0.5:.3f}")
