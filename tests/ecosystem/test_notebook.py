# SPDX-License-Identifier: Apache-2.0
"""A notebook of Jupyter, run by nbconvert in a kernel of its own."""

import base64
import os
import sys

import nbconvert
import nbformat
import pytest
from nbconvert.preprocessors import CellExecutionError, ExecutePreprocessor

CELLS = [
    """
%matplotlib inline
import libdl as torch
from matplotlib import pyplot
from torch_free import answer
x = torch.linspace(0, 1, 20)
x[:3]
""",
    """
net = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
losses = []
for step in range(50):
    loss = ((net(x[:, None]) - answer * x[:, None]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
net
""",
    """
pyplot.plot(x, net(x[:, None]).detach())
pyplot.show()
""",
    """
print("fell:", losses[-1] < losses[0])
""",
]


def executed(cells, folder):
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell.strip()) for cell in cells]
    executor = ExecutePreprocessor(timeout=60, kernel_name="python3")
    notebook, _ = executor.preprocess(notebook, {"metadata": {"path": str(folder)}})
    return notebook


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The kernel is this Python, finds what this process finds, and writes below the folder."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    (tmp_path / "torch_free.py").write_text("answer = 3\n")
    return tmp_path


def test_a_notebook_trains_and_draws(folder):
    notebook = executed(CELLS, folder)
    first, second, third, fourth = (cell.outputs for cell in notebook.cells)
    assert first[0].data == {"text/plain": "tensor([0.0000, 0.0526, 0.1053])"}
    assert second[0].data["text/plain"] == "Linear(in_features=1, out_features=1, bias=True)"
    (picture,) = (output for output in third if output.output_type == "display_data")
    assert base64.b64decode(picture.data["image/png"]).startswith(b"\x89PNG")
    assert fourth[0].text == "fell: True\n"
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert "tensor([0.0000, 0.0526, 0.1053])" in page and "data:image/png;base64," in page


def test_an_error_in_a_cell_shows_the_users_line(folder):
    with pytest.raises(CellExecutionError) as caught:
        executed(["import libdl as torch", "x = torch.ones(2)\nx @ torch.ones(3)"], folder)
    assert caught.value.ename == "ShapeError"
    assert "matmul: argument 2 (other) has shape [3]" in caught.value.evalue
    assert "torch.ones(3)" in caught.value.traceback


def test_loader_workers_run_below_a_kernel(folder):
    cells = [
        """
import libdl as torch
from tqdm import tqdm
data = torch.utils.data.TensorDataset(torch.arange(8))
loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=2)
print([batch.tolist() for (batch,) in tqdm(loader, disable=True)])
"""
    ]
    (cell,) = executed(cells, folder).cells
    assert cell.outputs[0].text == "[[0, 1, 2, 3], [4, 5, 6, 7]]\n"
