# SPDX-License-Identifier: Apache-2.0
"""Observes the training of a small network: the calls of a step, by phase and operator."""

from collections import Counter

import libdl
from libdl import nn
from libdl.utils import Call, intercept

libdl.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = libdl.optim.Adam(model.parameters(), lr=0.01)
x, labels = libdl.randn(64, 16), libdl.randint(0, 4, (64,))

calls: Counter[tuple[str, str]] = Counter()
made: Counter[str] = Counter()


def count(call: Call) -> None:
    if call.depth > 0:  # made by a call that is counted itself
        return
    calls[call.phase, call.name] += 1
    tensors = [r for r in call.results or () if isinstance(r, libdl.Tensor)]
    made[call.phase] += sum(t.numel() * t.element_size() for t in tensors)


with intercept(after=count):
    loss = nn.functional.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()

for phase, size in made.items():
    names = [f"{n} x {name}" for (p, name), n in calls.items() if p == phase]
    print(f"{phase}: {size} bytes; {', '.join(names)}")
