# SPDX-License-Identifier: Apache-2.0
"""Small modules that programs import from PyTorch, and paths of names."""

import importlib

import pytest

import libdl
from libdl import nn


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("optim.adamw", "AdamW"),
        ("autograd.grad_mode", "no_grad"),
        ("autograd.variable", "Variable"),
        ("utils.hooks", "RemovableHandle"),
        ("utils.collect_env", "get_pretty_env_info"),
        ("utils.cpp_extension", "CUDA_HOME"),
        ("nn.attention", "SDPBackend"),
    ],
)
def test_a_path_has_the_name_that_programs_import(path, name):
    assert hasattr(importlib.import_module(f"libdl.{path}"), name)


def test_extensions_in_cpp_are_refused_with_a_sentence():
    with pytest.raises(NotImplementedError, match="cannot be built"):
        libdl.utils.cpp_extension.load("x", [])


def test_choices_of_attention_change_nothing():
    q = libdl.randn(1, 2, 4, 8)
    backend = nn.attention.SDPBackend
    with nn.attention.sdpa_kernel([backend.MATH, backend.FLASH_ATTENTION]):
        y = nn.functional.scaled_dot_product_attention(q, q, q)
    assert libdl.equal(y, nn.functional.scaled_dot_product_attention(q, q, q))
    with pytest.raises(TypeError, match="wanted SDPBackend"), nn.attention.sdpa_kernel(["math"]):
        pass
