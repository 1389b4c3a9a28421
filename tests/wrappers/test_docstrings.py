# SPDX-License-Identifier: Apache-2.0
"""What help() tells: examples that print what they show, shapes and first values of layers, sources
of optimizers."""

from __future__ import annotations

import csv
import doctest
import inspect
import math
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import libdl as torch
from libdl import nn
from libdl.nn import functional as F

ROOT = Path(__file__).resolve().parents[2]
PLACES = {
    "torch": torch,
    "method": torch.Tensor,
    "nn": nn,
    "functional": F,
    "data": torch.utils.data,
    "init": nn.init,
    "scheduler": torch.optim.lr_scheduler,
    "optim": torch.optim,
    "utils": torch.utils,
    "autograd": torch.autograd,
    "cuda": torch.cuda,
}


def names() -> list[tuple[str, str]]:
    with (ROOT / "tests/census/names.csv").open() as file:
        rows = csv.DictReader(file)
        return [(row["kind"], name) for row in rows for name in row["names"].split()]


def found(kind: str, name: str) -> Any:
    place = PLACES.get(kind)
    for part in name.split("."):
        place = getattr(place, part, None)
    return place


def without_example(named: list[tuple[str, str]]) -> list[str]:
    return [
        f"{kind} {name}"
        for kind, name in named
        if ">>> " not in (inspect.getdoc(found(kind, name)) or "")
    ]


def documented() -> dict[str, str]:
    """Every docstring of the package, by the place where it is met first."""
    seen: dict[str, str] = {}
    met: set[int] = set()
    waiting: list[tuple[str, Any]] = [("libdl", torch)]
    while waiting:
        place, item = waiting.pop()
        if id(item) in met:
            continue
        met.add(id(item))
        text = item.__dict__.get("__doc__") if isinstance(item, type) else item.__doc__
        if isinstance(text, str) and text not in seen.values():
            seen[place] = text
        if isinstance(item, (type, ModuleType)):
            for name, member in list(vars(item).items()):
                of_module = getattr(member, "__module__", None) or getattr(member, "__name__", "")
                own = isinstance(of_module, str) and of_module.split(".")[0] == "libdl"
                method = isinstance(item, type) and callable(member)
                if (own or method) and (
                    inspect.isroutine(member) or isinstance(member, (type, ModuleType))
                ):
                    waiting.append((f"{place}.{name}", member))
    return seen


DOCUMENTED = documented()
EXAMPLES = {place: text for place, text in DOCUMENTED.items() if ">>> " in text}


def failures(place: str, text: str) -> list[str]:
    """What the examples of a docstring print, where they show something else."""
    told: list[str] = []
    names = {"torch": torch, "nn": nn, "F": F}
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), names, place, None, 0)
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=told.append)
    return told


def test_the_two_hundred_most_used_names_have_an_example():
    assert without_example(names()[:200]) == []


@pytest.mark.parametrize("place", EXAMPLES)
def test_an_example_prints_what_it_shows(place):
    assert failures(place, EXAMPLES[place]) == []


def test_the_checks_of_examples_see_what_they_are_for():
    assert len(EXAMPLES) > 150
    assert without_example([("torch", "Tensor"), ("torch", "no_such_name")]) == [
        "torch no_such_name"
    ]
    assert failures("two", "Two.\n\n    >>> 1 + 1\n    3\n")
    assert failures("two", "Two.\n\n    >>> torch.no_such_name\n")
    assert not failures("two", "Two.\n\n    >>> 1 + 1\n    2\n")


def test_help_speaks_of_python_not_of_c():
    assert len(DOCUMENTED) > 1000
    variables = set(re.findall(r"LIBDL_\w+", (ROOT / "docs/environment.md").read_text()))
    of_c = {p: set(re.findall(r"\blibdl_\w+|LIBDL_[A-Z]\w*", t)) for p, t in DOCUMENTED.items()}
    assert [place for place, words in of_c.items() if words - variables] == []


# -- layers ----------------------------------------------------------------------------------------

# They have neither an input nor a result of their own.
_HOLDERS = {"Container", "Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"}
LAYERS = {
    name: item
    for name, item in vars(nn).items()
    if isinstance(item, type) and issubclass(item, nn.Module) and name not in _HOLDERS
}
OPTIMIZERS = {
    name: item
    for name, item in vars(torch.optim).items()
    if isinstance(item, type) and issubclass(item, torch.optim.Optimizer) and name != "Optimizer"
}
CELLS = {
    name: item
    for name, item in LAYERS.items()
    if issubclass(item, (nn.RNNBase, nn.RNNCellBase)) and "Base" not in name
}
_SOURCE = r"\n\s*Source: [A-Z]\w[^:]*, (19|20)\d\d, [A-Z]"


def missing(layer: type) -> list[str]:
    """Which sections a layer's own docstring has not: an inherited one tells of another layer."""
    text = layer.__dict__.get("__doc__") or ""
    wanted = ["Shape"]
    if hasattr(layer, "reset_parameters") or hasattr(layer, "_reset_parameters"):
        wanted.append("Initialisation")
    return [section for section in wanted if not re.search(rf"\n\s*{section}: \S", text)]


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_tells_shapes_and_first_values(name):
    assert missing(LAYERS[name]) == []


@pytest.mark.parametrize("name", [*OPTIMIZERS, *CELLS])
def test_optimizers_and_cells_name_their_source(name):
    item = OPTIMIZERS.get(name) or CELLS[name]
    assert re.search(_SOURCE, item.__dict__.get("__doc__") or "")


def test_the_checks_of_layers_see_what_they_are_for():
    class Silent(nn.Linear):
        """y = x."""

    class Shaped(nn.Linear):
        """y = x.

        Shape: any; the same.
        """

    assert missing(Silent) == ["Shape", "Initialisation"]
    assert missing(Shaped) == ["Initialisation"]
    assert missing(type("Bare", (nn.ReLU,), {})) == ["Shape"]
    assert len(LAYERS) > 150 and len(OPTIMIZERS) > 13 and len(CELLS) == 6
    assert not re.search(_SOURCE, "x.\n\n    Source: a lecture.")


UNIFORM: dict[str, nn.Module] = {
    "Linear": nn.Linear(50, 40),
    "Bilinear": nn.Bilinear(20, 30, 10),
    "Conv1d": nn.Conv1d(12, 24, 5, groups=3),
    "Conv2d": nn.Conv2d(12, 24, (3, 5), groups=2),
    "Conv3d": nn.Conv3d(4, 8, (2, 3, 5)),
    "ConvTranspose1d": nn.ConvTranspose1d(12, 24, 5, groups=3),
    "ConvTranspose2d": nn.ConvTranspose2d(12, 24, (3, 5), groups=2),
    "ConvTranspose3d": nn.ConvTranspose3d(4, 8, (2, 3, 5)),
    "RNN": nn.RNN(7, 30),
    "GRU": nn.GRU(7, 30),
    "LSTM": nn.LSTM(7, 30),
    "RNNCell": nn.RNNCell(7, 30),
    "GRUCell": nn.GRUCell(7, 30),
    "LSTMCell": nn.LSTMCell(7, 30),
}


def bound(layer: nn.Module) -> float:
    """The k of what the docstring says: from U(-k, k), k = 1 / sqrt(...)."""
    text = " ".join((type(layer).__doc__ or "").split())
    told = re.search(r"U\(-k, k\), k = 1 / sqrt\(([^)]*)\)", text)
    assert told
    window = getattr(layer, "kernel_size", ())
    sizes = dict(zip(("kd", "kh", "kw")[-len(window) :], window, strict=True)) if window else {}
    names = vars(layer) | sizes | ({"kernel_size": window[0]} if len(window) == 1 else {})
    return 1 / math.sqrt(eval(re.sub(r"(?<=\w) (?=\w)", " * ", told[1]), {}, names))


@pytest.mark.parametrize("name", UNIFORM)
def test_first_values_are_drawn_as_told(name):
    layer, k = UNIFORM[name], bound(UNIFORM[name])
    for parameter in layer.parameters():
        assert parameter.abs().max() <= k
    largest = max(parameter.abs().max().item() for parameter in layer.parameters())
    assert largest > 0.95 * k  # of more than 500 numbers


def test_first_values_of_attention_are_drawn_as_told():
    layer = nn.MultiheadAttention(32, 4, kdim=8, add_bias_kv=True)
    for weight, fan in ((layer.q_proj_weight, 32 + 32), (layer.k_proj_weight, 32 + 8)):
        assert 0.95 * math.sqrt(6 / fan) < weight.abs().max() <= math.sqrt(6 / fan)
    whole = nn.MultiheadAttention(32, 4).in_proj_weight.abs().max()
    assert 0.95 * math.sqrt(6 / (4 * 32)) < whole <= math.sqrt(6 / (4 * 32))
    assert 0.95 / math.sqrt(32) < layer.out_proj.weight.abs().max() <= 1 / math.sqrt(32)
    assert layer.in_proj_bias.count_nonzero() == 0 and layer.out_proj.bias.count_nonzero() == 0
    keys = torch.stack([nn.MultiheadAttention(64, 4, add_bias_kv=True).bias_k for _ in range(40)])
    assert keys.std().item() == pytest.approx(1 / 8, rel=0.1)
