# SPDX-License-Identifier: Apache-2.0
"""The CUDA plugin from Python: on the simulated driver, and where something is missing. Each case is a
process of its own, for a process opens one driver."""

import os
import pathlib
import subprocess
import sys
import textwrap

import libdl
import pytest

BUILD = pathlib.Path(libdl.__file__).absolute().parents[2]
SIMULATION = BUILD / "libsimulated_cuda.so"

pytestmark = pytest.mark.skipif(
    not SIMULATION.exists(), reason="the CUDA plugin was not built: no nvcc was found"
)


def run(program: str, **environment: str) -> str:
    """What the program prints with the simulated driver, or with the variables given."""
    variables = {"LIBDL_CUDA_DRIVER": str(SIMULATION), "LIBDL_SIMULATED_LOUD": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "simulated driver:" not in done.stderr, done.stderr
    return done.stdout


MOVE = """
    import libdl
    assert {available} == libdl.cuda.is_available()
    try:
        libdl.ones(2).to("cuda")
    except RuntimeError as error:
        print(error)
"""


def test_without_a_driver_the_error_names_the_library():
    text = run(MOVE.format(available=False), LIBDL_CUDA_DRIVER="libno_such_driver.so")
    assert "no NVIDIA driver" in text and "libno_such_driver.so" in text


def test_a_driver_that_is_too_old_is_told_with_both_versions():
    text = run(MOVE.format(available=False), LIBDL_SIMULATED_VERSION="11040")
    assert "too old" in text and "11.4" in text


def test_without_a_device_the_count_is_told():
    text = run(MOVE.format(available=False), LIBDL_SIMULATED_DEVICES="0")
    assert "there are 0" in text


def test_elements_go_there_and_come_back():
    text = run("""
        import libdl
        x = libdl.arange(6.0).reshape(2, 3)
        y = x.to("cuda")
        assert y.device.type == "cuda" and y.cpu().tolist() == x.tolist()
        assert y.t().cpu().tolist() == x.t().tolist()
        assert y[0, 1].item() == 1.0 and y.to(libdl.int16).tolist() == [[0, 1, 2], [3, 4, 5]]
        z = libdl.zeros(2, 3, device="cuda")
        z.copy_(x.t().contiguous().t())
        x.copy_(z * 2)
        print(x.tolist(), z)
    """)
    assert text == (
        "[[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]] tensor([[0., 1., 2.],\n"
        "        [3., 4., 5.]], device='cuda:0')\n"
    )


def test_the_gradient_goes_the_way_back():
    assert run("""
        import libdl
        x = libdl.tensor([1.0, 2.0], requires_grad=True)
        y = x.to("cuda")
        (y * y * 3).backward(libdl.ones(2, device="cuda"))
        print(x.grad)
    """) == "tensor([ 6., 12.])\n"


def test_operands_on_two_devices_are_refused_by_name():
    text = run("""
        import libdl
        x, y = libdl.ones(3).to("cuda"), libdl.ones(3)
        for call in (lambda: x + y, lambda: libdl.matmul(x, y), lambda: libdl.cat([x, y]),
                     lambda: libdl.add(x, x, out=y), lambda: x.numpy()):
            try:
                call()
            except (RuntimeError, TypeError) as error:
                print(error)
        print((x + 2 + libdl.tensor(1.0)).cpu().tolist())
    """).splitlines()
    assert text[0].startswith("add: argument 2 (other) is on cpu, wanted cuda:0")
    assert text[1].startswith("matmul: argument 2") and text[2].startswith("cat: argument 1")
    assert "dst" in text[3] and len(text) == 6 and text[5] == "[4.0, 4.0, 4.0]"


def test_the_memory_statistics_are_the_devices_own():
    assert run("""
        import libdl
        assert libdl.cuda.memory_allocated() == 0
        x = libdl.zeros(1000, device="cuda")
        assert libdl.cuda.memory_allocated() == 4096  # blocks are multiples of 512 bytes
        del x
        assert libdl.cuda.memory_allocated() == 0 and libdl.cuda.memory_reserved() > 0
        libdl.cuda.empty_cache()
        print(libdl.cuda.memory_reserved(), libdl.cuda.get_device_name())
    """) == "0 simulated device\n"
