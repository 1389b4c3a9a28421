# SPDX-License-Identifier: Apache-2.0
"""cloudpickle carries what pickle cannot: functions and classes of __main__ around tensors."""

import os
import subprocess
import sys

import cloudpickle
import pytest

import libdl
from libdl import nn


def there_and_back(value):
    return cloudpickle.loads(cloudpickle.dumps(value))


@pytest.mark.parametrize(
    "dtype", [libdl.float32, libdl.bfloat16, libdl.int64, libdl.bool, libdl.complex64], ids=str
)
def test_tensors(dtype):
    tensor = libdl.tensor([[0, 1], [1, 0]], dtype=dtype).T
    again = there_and_back(tensor)
    assert again.dtype is dtype and again.stride() == tensor.stride() and (again == tensor).all()


def test_a_lambda_over_a_module():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    function = lambda x: net(x).sum(dim=1)  # noqa: E731
    x = libdl.ones(4, 2)
    assert (there_and_back(function)(x) == function(x)).all()


def test_a_class_of_a_module_and_of_a_function_defined_here():
    class Double(libdl.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return 2 * value

        @staticmethod
        def backward(ctx, gradient):
            return 2 * gradient

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(libdl.tensor(3.0))

        def forward(self, x):
            return Double.apply(x) * self.scale

    net = there_and_back(Net())
    x = libdl.tensor(1.0, requires_grad=True)
    net(x).backward()
    assert x.grad == 6 and net.scale.grad == 2


def test_functions_of_libdl_and_of_its_transforms():
    assert there_and_back(libdl.softmax) is libdl.softmax
    assert there_and_back(nn.functional.relu) is nn.functional.relu
    assert there_and_back(libdl.float16) is libdl.float16
    gradient = there_and_back(libdl.func.grad(lambda x: (x * x).sum()))
    assert gradient(libdl.tensor([1.0, 2.0])).tolist() == [2, 4]


def test_an_optimizer_and_its_network_stay_together():
    net = nn.Linear(1, 1)
    optimizer = libdl.optim.SGD(net.parameters(), lr=1.0, momentum=0.9)
    net, optimizer = there_and_back((net, optimizer))
    before = net.weight.item()
    net(libdl.ones(1, 1)).sum().backward()
    optimizer.step()
    assert net.weight.item() == before - 1


def test_another_process_runs_it(tmp_path):
    net = nn.Linear(2, 1)
    path = tmp_path / "function"
    path.write_bytes(cloudpickle.dumps(lambda x: net(x).item()))
    code = """
import pickle, sys, libdl
with open(sys.argv[1], "rb") as file:
    print(pickle.load(file)(libdl.ones(1, 2)))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code, path],
        env=environment,
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == net(libdl.ones(1, 2)).item()
