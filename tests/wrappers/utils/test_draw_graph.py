# SPDX-License-Identifier: Apache-2.0
"""libdl.utils.draw_graph: the recorded graph in Graphviz' language."""

import re
import sys

import pytest

import libdl
from libdl import nn
from libdl.utils import draw_graph


@pytest.fixture(autouse=True)
def without_graphviz(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)  # its import fails


def parsed(text):
    """The labels by node, and the edges by labels."""
    labels = dict(re.findall(r'^  (\w+) \[label="([^"]*)"', text, re.MULTILINE))
    edges = re.findall(r"^  (\w+) -> (\w+);", text, re.MULTILINE)
    return labels, {(labels[a], labels[b]) for a, b in edges}


def test_operators_leaves_and_results_are_joined():
    layer = nn.Linear(3, 2)
    loss = layer(libdl.ones(4, 3)).relu().sum()
    labels, edges = parsed(draw_graph(loss, layer.named_parameters()))
    assert edges == {
        (r"weight\n[2, 3]", "LinearBackward0"),
        (r"bias\n[2]", "LinearBackward0"),
        ("LinearBackward0", "ReluBackward0"),
        ("ReluBackward0", "SumBackward0"),
        ("SumBackward0", "result []"),
    }
    assert len(labels) == 6


def test_a_node_that_is_used_twice_is_drawn_once():
    x = libdl.ones(2, requires_grad=True)
    y = x.exp()
    labels, _ = parsed(draw_graph([y * y, y + 1]))
    assert list(labels.values()).count("ExpBackward0") == 1
    assert [name for name in labels if name.startswith("r")] == ["r0", "r1"]


def test_a_deep_graph_needs_no_deep_stack():
    x = libdl.ones(1, requires_grad=True)
    for _ in range(3000):
        x = x + 1
    assert draw_graph(x).count("AddBackward0") == 3000


def test_a_tensor_without_history_stands_alone():
    labels, edges = parsed(draw_graph(libdl.ones(2)))
    assert (labels, edges) == ({"r0": "result [2]"}, set())


def test_a_name_with_quotes_is_escaped():
    x = libdl.ones(1)
    assert r'label="a \"b\" \\"' in draw_graph(x, {'a "b" \\': x})


def test_text_is_written_and_a_picture_is_refused_without_graphviz(tmp_path):
    x = libdl.ones(1, requires_grad=True) * 2
    text = draw_graph(x, path=str(tmp_path / "g.dot"))
    assert (tmp_path / "g.dot").read_text() == text
    with pytest.raises(ImportError, match="pip install graphviz"):
        draw_graph(x, path=str(tmp_path / "g.png"))


def test_with_graphviz_the_picture_is_its_own(tmp_path, monkeypatch):
    class Source:  # as much of graphviz.Source as is used
        def __init__(self, text):
            self.source = text

        def render(self, outfile, cleanup):
            assert cleanup
            with open(outfile, "w") as file:
                file.write(self.source)

    module = type(sys)("graphviz")
    module.Source = Source
    monkeypatch.setitem(sys.modules, "graphviz", module)
    made = draw_graph(libdl.ones(1, requires_grad=True) * 2, path=str(tmp_path / "g.svg"))
    assert isinstance(made, Source)
    assert (tmp_path / "g.svg").read_text() == made.source
