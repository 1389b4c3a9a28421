# SPDX-License-Identifier: Apache-2.0
"""How often an operator calls the driver, exactly, once its memory is cached and its kernels are
found. A call costs a microsecond or more on a device: a number that grows is a loss to be
explained, one that falls is written down here."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import libdl

SIMULATION = pathlib.Path(libdl.__file__).absolute().parents[2] / "libsimulated_cuda.so"
pytestmark = pytest.mark.skipif(not SIMULATION.exists(), reason="the CUDA plugin was not built")

# Which context is current is asked each time: another library may have changed it. The driver keeps
# it in the thread's own memory.
LAUNCH = {"cuCtxGetCurrent": 1, "cuLaunchKernel": 1}


def launches(n: int, others: int = 0) -> dict[str, int]:
    """Kernels; and other looks at the context: where to tell of an index that is out of range."""
    return {"cuCtxGetCurrent": n + others, "cuLaunchKernel": n}


STEPS = [
    "SGD",
    "Adam",
    "AdamW",
    "Adagrad",
    "RMSprop",
    "Rprop",
    "ASGD",
    "Adamax",
    "NAdam",
    "RAdam",
    "Adadelta",
]
READ_BACK = {"cuCtxGetCurrent": 2, "cuMemcpyAsync": 1, "cuStreamSynchronize": 1}
CALLS: dict[str, dict[str, int]] = {
    "add": LAUNCH,
    "add_": LAUNCH,
    "mul": LAUNCH,
    "matmul": {"cuCtxGetCurrent": 2, "cuLaunchKernel": 1},
    "softmax": LAUNCH,
    "sum": LAUNCH,
    "sum_of_rows": LAUNCH,
    "layer_norm": LAUNCH,
    "copy": LAUNCH,
    "copy_transposed": LAUNCH,
    "to_host": READ_BACK,
    "item": READ_BACK,
    # The rows' losses and their total; the gradient 1 of the loss; the gradient of the input.
    "cross_entropy_and_backward": launches(4, 1),
    "cross_entropy_weighted_smoothed": launches(4, 1),
    "cross_entropy_of_images": launches(4, 1),
    "cross_entropy_by_row": launches(1, 1),
    "cross_entropy_of_probabilities": launches(6),
    "nll_loss_and_backward": launches(4, 1),
    # A list of any length and of several dtypes.
    **{
        f"{name}_of_{count}": launches(n)
        for count in (20, 160, 400)
        for name, n in {
            "total_norm": 1,
            "clip_norm": 2,
            "clip_with_norm": 1,
            "clip_value": 1,
            **dict.fromkeys(STEPS, 1),
        }.items()
    },
}

COUNT = """
import ctypes, json, os, sys
import libdl as dl
from libdl import nn, optim
from libdl.nn import functional as F

driver = ctypes.CDLL(os.environ["LIBDL_CUDA_DRIVER"])
driver.libdl_simulated_calls_of.restype = ctypes.c_int64
NAMES = {names}

def calls():
    return {{name: driver.libdl_simulated_calls_of(name.encode()) for name in NAMES}}

x, y = (dl.ones(64, 64, device="cuda") for _ in range(2))
classes, pixels = (dl.zeros(*shape, dtype=dl.int64, device="cuda") for shape in ((64,), (2, 5, 7)))
logits = dl.ones(64, 64, device="cuda").requires_grad_()
images = dl.ones(2, 3, 5, 7, device="cuda").requires_grad_()

def and_backward(loss, x=logits):
    x.grad = None
    loss().backward()

def listed(count):
    ps = [nn.Parameter(dl.ones(30 + i, dtype=(dl.float32, dl.float64)[i % 5 == 0], device="cuda"))
          for i in range(count)]
    mixed = [nn.Parameter(dl.ones(30 + i, dtype=(dl.float32, dl.bfloat16)[i % 2], device="cuda"))
             for i in range(count)]
    for p in ps + mixed:
        p.grad = dl.ones_like(p)
    total = dl.ones((), device="cuda")
    made = {{
        "total_norm": lambda: nn.utils.get_total_norm([p.grad for p in mixed]),
        "clip_norm": lambda: nn.utils.clip_grad_norm_(mixed, 1.0),
        "clip_with_norm": lambda: nn.utils.clip_grads_with_norm_(mixed, 1.0, total),
        "clip_value": lambda: nn.utils.clip_grad_value_(mixed, 1.0),
    }}
    for name in {steps}:
        made[name] = getattr(optim, name)(ps, lr=0.1).step
    return {{name + f"_of_{{count}}": call for name, call in made.items()}}

OPERATORS = {{
    "add": lambda: x + y,
    "add_add": lambda: x + y + y,
    "add_": lambda: x.add_(y),
    "mul": lambda: x * 2.0,
    "matmul": lambda: x @ y,
    "softmax": lambda: x.softmax(1),
    "sum": lambda: x.sum(),
    "sum_of_rows": lambda: x.sum(1),
    "layer_norm": lambda: F.layer_norm(x, (64,)),
    "copy": lambda: x.copy_(y),
    "copy_transposed": lambda: x.copy_(y.t()),
    "to_host": lambda: x.cpu(),
    "item": lambda: x[0, 0].item(),
    "cross_entropy_and_backward": lambda: and_backward(lambda: F.cross_entropy(logits, classes)),
    "cross_entropy_weighted_smoothed": lambda: and_backward(
        lambda: F.cross_entropy(logits, classes, weight=x[0], label_smoothing=0.1)),
    "cross_entropy_of_images": lambda: and_backward(
        lambda: F.cross_entropy(images, pixels, reduction="sum"), images),
    "cross_entropy_by_row": lambda: F.cross_entropy(x, classes, reduction="none"),
    "cross_entropy_of_probabilities": lambda: F.cross_entropy(x, y),
    "nll_loss_and_backward": lambda: and_backward(lambda: F.nll_loss(logits, classes)),
    **listed(20), **listed(160), **listed(400),
}}
found = {{}}
for name, operator in OPERATORS.items():
    for _ in range(3):
        before = calls()
        result = operator()
        del result
        after = calls()
    found[name] = {{n: after[n] - before[n] for n in NAMES if after[n] != before[n]}}
print(json.dumps(found))
"""

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = re.findall(r"DRIVER\((\w+)\)", (ROOT / "libdl/backends/cuda/driver.h").read_text())


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, int]]:
    environment = {"LIBDL_CUDA_DRIVER": str(SIMULATION), "LIBDL_SIMULATED_NOOP": "1"}
    done = subprocess.run(
        [sys.executable, "-c", COUNT.format(names=NAMES, steps=STEPS)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_an_operator(name, found):
    assert found[name] == CALLS[name]


def test_one_call_more_is_seen(found):
    assert found["add_add"] == {n: 2 * calls for n, calls in CALLS["add"].items()} != CALLS["add"]
    assert found.keys() == CALLS.keys() | {"add_add"}
