# SPDX-License-Identifier: Apache-2.0
"""Graph modules as packages of Python code, imported by another program."""

import os
import subprocess
import sys

import pytest

import libdl
from libdl import fx, nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.Conv1d(1, 2, 3), nn.ReLU(), nn.Linear(2, 2))
        self.weight = nn.Parameter(libdl.rand(4))
        self.register_buffer("mask", libdl.tensor([True, False, True, True]))

    def forward(self, x):
        x = libdl.where(self.mask, self.first(x).relu() + self.weight, float("inf")).clamp(max=2)
        return self.rest[2](self.rest[0](x[:, None])), x.sum(-1)


def test_a_package_computes_what_its_module_does(tmp_path):
    traced = fx.symbolic_trace(Net().double().eval())
    traced.rest.train()
    traced.get_submodule("rest.0").weight.requires_grad_(False)
    traced.to_folder(tmp_path / "net", "Made")
    x = libdl.rand(5, 3, dtype=libdl.float64)
    libdl.save({"x": x, "wanted": traced(x)}, tmp_path / "answer")
    program = """
import sys
import libdl
from net import Made
made, seen = Made(), libdl.load("answer")
assert all(map(libdl.equal, made(seen["x"]), seen["wanted"]))
assert not made.training and not made.first.training and made.rest.training
found = [f"{name} {x.dtype} {x.requires_grad}" for name, x in made.named_parameters()]
assert sorted(found) == sys.argv[1:], found
"""
    wanted = sorted(f"{name} {x.dtype} {x.requires_grad}" for name, x in traced.named_parameters())
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", program, *wanted],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "net").glob("*.p*")} == {
        "__init__.py",
        "module.py",
        "state_dict.pt",
        "rest.pickle",
    }


def test_what_another_program_cannot_make_is_refused(tmp_path):
    def local(x):
        return x

    graph = fx.symbolic_trace(lambda x: x * 2).graph
    with graph.inserting_before(graph.output_node()):
        graph.output_node().args = (graph.call_function(local, (next(iter(graph.nodes)),)),)
    with pytest.raises(NotImplementedError, match="local.*wanted what another program can import"):
        fx.GraphModule({}, graph).to_folder(tmp_path / "a")
    structured = fx.symbolic_trace(lambda x: x["a"], concrete_args={"x": {"a": fx.PH}})
    with pytest.raises(NotImplementedError, match="structures"):
        structured.to_folder(tmp_path / "b")
    assert not list(tmp_path.iterdir())


def test_lint_knows_ops_and_targets():
    for change, kind in (
        (lambda node: setattr(node, "op", "call"), RuntimeError),
        (lambda node: setattr(node, "target", "sin"), ValueError),
        (lambda node: setattr(node, "op", "call_method"), ValueError),
    ):
        graph = fx.symbolic_trace(lambda x: libdl.sin(x)).graph
        graph.lint()
        change(list(graph.nodes)[1])
        with pytest.raises(kind, match="lint: sin"):
            graph.lint()
