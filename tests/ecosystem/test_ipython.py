# SPDX-License-Identifier: Apache-2.0
"""What a user sees at IPython's prompt."""

import os
import subprocess
import sys

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import libdl

START = """
import libdl as torch
from libdl import nn
x = torch.arange(3.0, requires_grad=True)
"""


def environment(folder):
    path = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, "PYTHONPATH": path, "IPYTHONDIR": str(folder / "ipython")}


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell.instance(config=config)
    assert shell.run_cell(START).success
    yield shell
    InteractiveShell.clear_instance()


def shown(shell, code):
    """What IPython displays for the value of an expression."""
    formats, _ = shell.display_formatter.format(shell.run_cell(code).result)
    assert list(formats) == ["text/plain"]
    return formats["text/plain"]


def completions(shell, text, jedi):
    shell.Completer.use_jedi = jedi
    with provisionalcompleter():
        return {c.text.lstrip(".") for c in shell.Completer.completions(text, len(text))}


def failure(shell, capsys, code):
    """The traceback that a cell prints."""
    capsys.readouterr()
    assert not shell.run_cell(code).success
    return capsys.readouterr().out


def test_values_are_shown_by_their_repr(shell):
    assert shown(shell, "x.detach()") == "tensor([0., 1., 2.])"
    assert shown(shell, "x * 2") == "tensor([0., 2., 4.], grad_fn=<MulBackward0>)"
    assert shown(shell, "[x.detach(), 1]") == "[tensor([0., 1., 2.]), 1]"
    assert shown(shell, "{'x': x.shape}") == "{'x': libdl.Size([3])}"
    assert shown(shell, "nn.Linear(2, 3)") == "Linear(in_features=2, out_features=3, bias=True)"
    assert shown(shell, "nn.Sequential(nn.ReLU())") == "Sequential(\n  (0): ReLU()\n)"
    assert shown(shell, "torch.device('cpu')") == "device(type='cpu')"
    assert shown(shell, "torch.float32") == "libdl.float32"


def test_looking_for_other_representations_finds_none():
    """IPython asks for _repr_html_ and a method that cannot exist; neither may be answered."""
    for value in (libdl.ones(2), libdl.nn.Linear(1, 1), libdl.float32):
        assert not hasattr(value, "_repr_html_")
        assert not hasattr(value, "_ipython_canary_method_should_not_exist_")


@pytest.mark.parametrize("jedi", [False, True], ids=["by dir", "by jedi"])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x.requires_g", {"requires_grad", "requires_grad_"}),
        ("x.softm", {"softmax"}),
        ("torch.softm", {"softmax"}),
        ("torch.opti", {"optim"}),
        ("torch.utils.da", {"data"}),
        ("torch.nn.functional.relu", {"relu", "relu6", "relu_"}),
        ("nn.Conv", {"Conv1d", "Conv2d", "Conv3d"}),
    ],
)
def test_completion(shell, text, wanted, jedi):
    assert wanted <= completions(shell, text, jedi)


def test_attributes_of_a_module_are_completed(shell):
    shell.run_cell("net = nn.Sequential(nn.Linear(1, 1))\nnet.register_buffer('running', x)")
    assert "running" in completions(shell, "net.run", jedi=False)
    assert "parameters" in completions(shell, "net.para", jedi=False)


def test_help(shell, capsys):
    shell.run_cell("torch.softmax?")
    text = capsys.readouterr().out
    assert "Signature:" in text and "dim:" in text and "Softmax along one dimension" in text
    shell.run_cell("nn.Linear??")
    assert "class Linear(" in capsys.readouterr().out


def test_timeit(shell):
    assert shell.run_cell("r = %timeit -o -q -n 2 -r 3 (x * x).sum().backward()").success
    assert len(shell.user_ns["r"].all_runs) == 3
    assert shell.user_ns["x"].grad.tolist() == [0, 12, 24]  # six backward passes of 2x


def test_an_error_of_ours_ends_at_the_users_line(shell, capsys):
    text = failure(shell, capsys, "y = torch.ones(5)\nx @ y")
    assert "----> 2 x @ y" in text
    assert text.rstrip().splitlines()[-1].startswith("ShapeError: matmul: argument 2 (other) has")
    assert "softmax" in failure(shell, capsys, "torch.softmaxx").splitlines()[-1]


def test_a_traceback_leads_from_backward_into_the_users_function(shell, capsys):
    assert shell.run_cell("""
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return 2 * value

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("of the user")

y = Double.apply(x).sum()""").success
    text = failure(shell, capsys, "y.backward()")
    assert "----> 1 y.backward()" in text and "raise ValueError" in text
    assert text.rstrip().endswith("ValueError: of the user")
    assert text.count("\n") < 50  # with the four frames between them


def test_changed_modules_are_loaded_again(shell, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = tmp_path / "net_of_the_user.py"
    module.write_text("from libdl import nn\nclass Net(nn.Module):\n    size = 1\n")
    assert shell.run_cell("%load_ext autoreload\n%autoreload 2").success
    assert shell.run_cell("import net_of_the_user\nnet = net_of_the_user.Net()").success
    module.write_text("from libdl import nn\nclass Net(nn.Module):\n    size = 22\n")
    shell.run_cell("pass")
    assert shell.run_cell("net.size").result == 22
    del sys.modules["net_of_the_user"]


def test_a_script_is_run_by_ipython(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import libdl\nprint(libdl.ones(2))\n")
    command = [sys.executable, "-m", "IPython", "--quick", "--no-banner", str(script)]
    done = subprocess.run(
        command, text=True, capture_output=True, timeout=60, env=environment(tmp_path)
    )
    assert done.returncode == 0 and "tensor([1., 1.])" in done.stdout, done.stderr
