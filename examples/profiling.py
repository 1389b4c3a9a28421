# SPDX-License-Identifier: Apache-2.0
"""Profiles the training of a small network: a table, a trace for Perfetto, and pictures.

python examples/profiling.py [FOLDER]      FOLDER gets the files"""

import importlib.util
import sys
from pathlib import Path

import libdl
from libdl import nn
from libdl.profiler import profile, record_function, schedule
from libdl.utils import benchmark, draw_graph

libdl.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 26 * 26, 10))
optimizer = libdl.optim.Adam(model.parameters(), lr=0.01)
x, labels = libdl.randn(32, 1, 28, 28), libdl.randint(0, 10, (32,))


def step() -> libdl.Tensor:
    optimizer.zero_grad()
    with record_function("forward and loss"):
        loss = nn.functional.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
    return loss


with profile(
    schedule=schedule(wait=1, warmup=1, active=3),
    record_shapes=True,
    profile_memory=True,
    with_flops=True,
) as prof:
    for _ in range(5):
        step()
        prof.step()

print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=8))

timer = benchmark.Timer("step()", globals={"step": step}, label="a step", num_threads=1)
print(timer.blocked_autorange(min_run_time=0.05))

if len(sys.argv) > 1:
    folder = Path(sys.argv[1])
    prof.export_chrome_trace(str(folder / "trace.json"))  # https://ui.perfetto.dev opens it
    draw_graph(step(), model.named_parameters(), path=str(folder / "graph.dot"))
    if importlib.util.find_spec("matplotlib"):
        prof.plot(str(folder / "timeline.svg"))
    print("written:", *sorted(path.name for path in folder.iterdir()))
