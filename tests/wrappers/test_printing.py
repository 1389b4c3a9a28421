# SPDX-License-Identifier: Apache-2.0
"""Tensors and modules as text, as PyTorch 2.15 writes them."""

import pytest

import libdl
from libdl import nn


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (1.0, "", "1.0"),
        (3.14159, ".3f", "3.142"),
        (3, ">10", "         3"),
        (3, "", "3"),
        (3.14159, "", "3.141590118408203"),
        (True, "", "True"),
        (1 + 2j, "", "(1+2j)"),
        (7, "d", "7"),
        (7, "x", "7"),
        (1e10, "", "10000000000.0"),
        (float("nan"), "", "nan"),
    ],
)
def test_format_of_numbers(value, spec, text):
    assert format(libdl.tensor(value), spec) == text


def test_format():
    x = libdl.tensor([1.0, 2.0])
    assert f"{x}" == "tensor([1., 2.])" and f"{libdl.tensor([[1.0]])}" == "tensor([[1.]])"
    assert f"{libdl.tensor(1.0, requires_grad=True) * 2:.1f}" == "2.0"
    assert f"{libdl.tensor(1.0, requires_grad=True)}" == "1.0"
    assert "{}".format(libdl.tensor(2.25)) == "2.25" and str(libdl.tensor(2.25)) == "tensor(2.2500)"
    assert f"{libdl.tensor(2.25)!r}" == "tensor(2.2500)"
    assert f"{libdl.tensor(0.1, dtype=libdl.float16)}" == "0.0999755859375"
    assert "%s %.2f" % (libdl.tensor(3.5), libdl.tensor(3.5)) == "tensor(3.5000) 3.50"
    parameter = nn.Parameter(libdl.tensor(1.0))
    assert f"{parameter}" == "Parameter containing:\ntensor(1., requires_grad=True)"
    for spec in (">10", ".2f"):
        with pytest.raises(TypeError, match="unsupported format string"):
            format(x, spec)
    with pytest.raises(ValueError, match="Unknown format code"):
        format(libdl.tensor(7.0), "d")


def test_parameters():
    assert repr(nn.Parameter(libdl.ones(2, 2))) == (
        "Parameter containing:\ntensor([[1., 1.],\n        [1., 1.]], requires_grad=True)"
    )
    assert repr(nn.Parameter(libdl.ones(1), requires_grad=False)) == (
        "Parameter containing:\ntensor([1.])"
    )
    both = [nn.Parameter(libdl.ones(2)), nn.Parameter(libdl.ones(3, 2))]
    assert repr(nn.ParameterList(both)) == (
        "ParameterList(\n    (0): Parameter containing: [libdl.float32 of size 2]\n"
        "    (1): Parameter containing: [libdl.float32 of size 3x2]\n)"
    )
    assert repr(nn.ParameterDict({"a": both[0], "b": both[1]})) == (
        "ParameterDict(\n    (a): Parameter containing: [libdl.FloatTensor of size 2]\n"
        "    (b): Parameter containing: [libdl.FloatTensor of size 3x2]\n)"
    )
    assert repr(nn.ParameterList()) == "ParameterList()"


def test_equal_modules_in_one_line():
    assert repr(nn.ModuleList([nn.Linear(1, 2), nn.ReLU(), nn.ReLU()])) == (
        "ModuleList(\n  (0): Linear(in_features=1, out_features=2, bias=True)\n"
        "  (1-2): 2 x ReLU()\n)"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"
    inner = nn.ModuleList([nn.Sequential(nn.ReLU())] * 2)
    assert repr(inner) == "ModuleList(\n  (0-1): 2 x Sequential(\n    (0): ReLU()\n  )\n)"
