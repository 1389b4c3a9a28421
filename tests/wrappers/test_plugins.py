# SPDX-License-Identifier: Apache-2.0
"""Plugins from Python: the device and the provider of examples/plugins, each in a process of its
own, for what is opened stays open."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import libdl

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / os.environ.get("BUILD", "build") / "examples" / "plugins"


def run(program: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    program = f"import libdl\nfrom libdl.utils import load_plugin, set_provider_enabled\n{program}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_a_model_trains_on_a_plugins_device():
    assert run(f"""
load_plugin({str(PLUGINS / "abacus.so")!r})
where = libdl.device("abacus")
x = libdl.tensor([[0., 0.], [0., 1.], [1., 0.], [1., 1.]], device="abacus")
y = (2 * x[:, :1] - 3 * x[:, 1:] + 1)
layer = libdl.nn.Linear(2, 1).to("abacus")
optimizer = libdl.optim.SGD(layer.parameters(), lr=0.3)
for _ in range(400):
    optimizer.zero_grad()
    loss = libdl.nn.functional.mse_loss(layer(x), y)
    loss.backward()
    optimizer.step()
print(where, x.device, layer.weight.grad.device, libdl.device(12, 0))
print([round(w, 3) for w in layer.weight.cpu().flatten().tolist()], round(layer.bias.item(), 3))
""") == ["abacus abacus:0 abacus:0 abacus:0", "[2.0, -3.0] 1.0"]


def test_what_the_device_lacks_is_named():
    assert run(f"""
load_plugin({str(PLUGINS / "abacus.so")!r})
try:
    libdl.ones(3, device="abacus").sort()
except RuntimeError as error:
    print(error)
""") == ["abacus:0: the backend has no kernel sort"]


def test_a_provider_is_switched_off_and_left_out_by_the_environment(monkeypatch):
    program = f"""
import ctypes
path = {str(PLUGINS / "rotations.so")!r}
load_plugin(path)
done = ctypes.CDLL(path).rotations_done
x = libdl.eye(3).repeat(4, 1, 1)
x @ x
set_provider_enabled("rotations", False)
x @ x
print(done())
"""
    assert run(program) == ["1"]
    monkeypatch.setenv("LIBDL_DISABLE", "rotations")
    assert run(program) == ["0"]


def test_unknown_plugins_providers_and_devices_are_refused():
    with pytest.raises(RuntimeError, match=r"no-such\.so was not found"):
        libdl.utils.load_plugin("no-such.so")
    with pytest.raises(ValueError, match='is "none", wanted a provider'):
        libdl.utils.set_provider_enabled("none", False)
    with pytest.raises(RuntimeError, match="'abacus' is neither cpu, cuda, meta nor"):
        libdl.device("abacus")
