# SPDX-License-Identifier: Apache-2.0
"""Which tests a changed file is judged by in `make check`: its room's, or itself."""

from __future__ import annotations

# The first row whose prefix begins the file's path: paths for pytest, and a pattern for ctest.
# What takes minutes for any change of the core, all operators in all dtypes, is left to
# `make test`.
_OPERATORS = "tests/ops/test_operators.py tests/ops/test_refusals.py tests/ops/test_errors.py"
ROOMS: tuple[tuple[str, str, str], ...] = (
    (
        "include/",
        "tests/ops/test_coverage.py tests/wrappers/test_package.py",
        "capi_|meaning|attack",
    ),
    ("tools/", "tests/ops/test_coverage.py tests/wrappers/test_package.py", "capi_|meaning|attack"),
    ("libdl/capi/", "", "capi_|meaning|attack|fuzz"),
    ("libdl/io/", "tests/io", "core_tests|capi_safetensors"),
    ("libdl/optim/", "tests/wrappers/optim/test_optimizers.py", "capi_|core_tests"),
    ("libdl/ops/", _OPERATORS, "core_tests|attack"),
    ("libdl/backends/", "", ""),
    (
        "libdl/",
        "tests/wrappers/autograd/test_autograd.py tests/wrappers/test_lifetime.py",
        "core_tests|capi_",
    ),
    ("kernels/cuda/", "", ""),
    ("kernels/", _OPERATORS, "core_tests"),
    ("wrappers/cpp/", "", "cpp_tests"),
    ("wrappers/rust/", "tests/house/test_layers.py", ""),
    (
        "wrappers/python/libdl/utils/data/",
        "tests/wrappers/utils/data tests/wrappers/test_resume.py",
        "",
    ),
    (
        "wrappers/python/libdl/utils/",
        "tests/wrappers/utils/test_*.py tests/wrappers/nn/test_utils*.py",
        "",
    ),
    ("wrappers/python/libdl/multiprocessing/", "tests/wrappers/multiprocessing", ""),
    ("wrappers/python/libdl/serialization/", "tests/io", ""),
    ("wrappers/python/libdl/distributions/", "tests/wrappers/distributions", ""),
    ("wrappers/python/libdl/profiler/", "tests/wrappers/profiler", ""),
    ("wrappers/python/libdl/optim/", "tests/wrappers/optim", ""),
    (
        "wrappers/python/libdl/func/",
        "tests/wrappers/func/test_func*.py tests/wrappers/func/test_vmap*.py",
        "",
    ),
    ("wrappers/python/libdl/fx/", "tests/wrappers/fx", ""),
    (
        "wrappers/python/libdl/nn/",
        "tests/wrappers/nn/test_*module*.py tests/wrappers/test_pytorch_names.py",
        "",
    ),
    (
        "wrappers/python/",
        "tests/wrappers/test_package.py tests/wrappers/test_methods.py "
        "tests/wrappers/test_pytorch_names.py tests/wrappers/test_strangers.py",
        "",
    ),
    ("tests/capi/", "", "capi_"),
    ("tests/core/", "", "core_tests"),
    ("tests/cpp/", "", "cpp_tests"),
    ("tests/attack/", "", "attack"),
    ("tests/fuzz/", "", "fuzz"),
    ("tests/samples/", "", "attack|fuzz|meaning"),
    ("tests/museum/", "", "meaning|museum"),
    ("docs/", "tests/house/test_docs.py tests/wrappers/test_tutorial.py", ""),
    ("examples/", "tests/wrappers/test_examples.py", ""),
)


def tests_of(files: list[str]) -> tuple[list[str], str]:
    """What pytest and ctest are asked for these files: paths, and a pattern that may be empty."""
    paths: set[str] = set()
    patterns: set[str] = set()
    for name in files:
        is_test = name.startswith("tests/") and name.rpartition("/")[2].startswith("test_")
        if is_test and name.endswith(".py") and not name.startswith("tests/cuda/"):
            paths.add(name)
        for prefix, python, c in ROOMS:
            if name.startswith(prefix):
                paths |= set(python.split())
                patterns |= set(filter(None, c.split("|")))
                break
    return sorted(paths), "|".join(sorted(patterns))
